package pagination_test

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/api/pagination"
	"github.com/slipway-qa/slipway/storage"
)

func query(t *testing.T, s string) url.Values {
	t.Helper()
	q, err := url.ParseQuery(s)
	require.NoError(t, err)
	return q
}

func requireInvalid(t *testing.T, field string, err error) {
	t.Helper()
	var invalid *storage.InvalidError
	require.True(t, errors.As(err, &invalid), "%v", err)
	require.Equal(t, field, invalid.Field)
}

func TestParse(t *testing.T) {
	t.Parallel()
	strict := pagination.Options{Default: 50, Max: 100, Reject: true}
	for _, tc := range []struct {
		query   string
		options pagination.Options
		want    pagination.Request
		invalid string
	}{
		{"", pagination.Small(), pagination.Request{Page: 1, PerPage: 25}, ""},
		{"page=&per_page=", pagination.Large(), pagination.Request{Page: 1, PerPage: 50}, ""},
		{"page=3&per_page=10", pagination.Small(), pagination.Request{Page: 3, PerPage: 10}, ""},
		{"per_page=100", pagination.Small(), pagination.Request{Page: 1, PerPage: 100}, ""},
		{"per_page=101", pagination.Small(), pagination.Request{Page: 1, PerPage: 100}, ""},
		{"per_page=201", pagination.Large(), pagination.Request{Page: 1, PerPage: 200}, ""},
		{"per_page=99999999999999999999", pagination.Small(), pagination.Request{Page: 1, PerPage: 100}, ""},
		{"per_page=101", strict, pagination.Request{}, "per_page"},
		{"per_page=0", pagination.Small(), pagination.Request{}, "per_page"},
		{"per_page=-1", pagination.Small(), pagination.Request{}, "per_page"},
		{"per_page=ten", pagination.Small(), pagination.Request{}, "per_page"},
		{"per_page=-99999999999999999999", pagination.Small(), pagination.Request{}, "per_page"},
		{"per_page=1.5", pagination.Small(), pagination.Request{}, "per_page"},
		{"page=0", pagination.Small(), pagination.Request{}, "page"},
		{"page=-7", pagination.Small(), pagination.Request{}, "page"},
		{"page=x", pagination.Small(), pagination.Request{}, "page"},
		{"page=1000001", pagination.Small(), pagination.Request{}, "page"},
	} {
		got, err := pagination.Parse(query(t, tc.query), tc.options)
		if tc.invalid != "" {
			requireInvalid(t, tc.invalid, err)
			continue
		}
		require.NoError(t, err, tc.query)
		require.Equal(t, tc.want, got, tc.query)
	}
}

func TestEnvelope(t *testing.T) {
	t.Parallel()
	r := pagination.Request{Page: 3, PerPage: 25}
	require.Equal(t, 50, r.Offset())
	for total, pages := range map[int]int{0: 0, 1: 1, 25: 1, 26: 2, 75: 3} {
		require.Equal(t, pagination.Pagination{Page: 3, PerPage: 25, Total: total, TotalPages: pages}, r.Envelope(total))
	}
}

func TestList(t *testing.T) {
	t.Parallel()
	got, err := pagination.List(query(t, "id=a&id=b,c&id[]=d&id[]=a,%20e%20,,&other=x"), "id")
	require.NoError(t, err)
	require.Equal(t, []string{"a", "b", "c", "d", "e"}, got)
	got, err = pagination.List(query(t, "id[10]=c&id[2]=b,d&id[0]=a&id[]=z&id[x]=no&id[=no&id[1=no&id[-1]=no&idx[0]=no&id[00]=b"), "id")
	require.NoError(t, err)
	require.Equal(t, []string{"z", "a", "b", "d", "c"}, got)
	var far []string
	for i := range 201 {
		far = append(far, fmt.Sprintf("id[%d]=%d", i, i))
	}
	_, err = pagination.List(query(t, strings.Join(far, "&")), "id")
	requireInvalid(t, "id", err)
	got, err = pagination.List(query(t, "id=,,"), "id")
	require.NoError(t, err)
	require.Nil(t, got)
	_, err = pagination.List(url.Values{"id": {strings.Repeat("x", 256)}}, "id")
	requireInvalid(t, "id", err)
	var many []string
	for i := range 201 {
		many = append(many, fmt.Sprint(i))
	}
	_, err = pagination.List(url.Values{"id": {strings.Join(many, ",")}}, "id")
	requireInvalid(t, "id", err)
}

func TestRange(t *testing.T) {
	t.Parallel()
	day := func(d int) time.Time { return time.Date(2026, 3, d, 0, 0, 0, 0, time.UTC) }
	from, to, err := pagination.Range(query(t, "from=2026-03-01&to=2026-03-02"), "from", "to")
	require.NoError(t, err)
	require.Equal(t, day(1), from)
	require.Equal(t, day(3), to, "a bare end date covers the whole day")
	from, to, err = pagination.Range(query(t, "from=2026-03-01T02:00:00%2B02:00&to=2026-03-02T00:00:00Z"), "from", "to")
	require.NoError(t, err)
	require.Equal(t, day(1), from)
	require.Equal(t, day(2).Add(time.Millisecond), to, "the named instant is inside")
	for text, ms := range map[string]int{"10:00:00.123Z": 124, "10:00:00.123456Z": 124, "10:00:00.1239999Z": 124, "10:00:00.999Z": 1000} {
		_, to, err = pagination.Range(query(t, "to=2026-03-02T"+text), "from", "to")
		require.NoError(t, err)
		require.Equal(t, day(2).Add(10*time.Hour+time.Duration(ms)*time.Millisecond), to, "%s with its millisecond, not more", text)
	}
	from, to, err = pagination.Range(query(t, "from=2026-03-01T10:00:00.5Z&to=2026-03-01T10:00:00.5Z"), "from", "to")
	require.NoError(t, err)
	require.Equal(t, time.Millisecond, to.Sub(from))
	from, _, err = pagination.Range(query(t, "from=2026-03-01T02:00:00+02:00"), "from", "to")
	require.NoError(t, err, "a plus that was not escaped")
	require.Equal(t, day(1), from)
	from, to, err = pagination.Range(query(t, ""), "from", "to")
	require.NoError(t, err)
	require.True(t, from.IsZero() && to.IsZero())
	for q, field := range map[string]string{"from=yesterday": "from", "to=2026-13-01": "to", "to=7": "to",
		"from=2026-03-02&to=2026-03-01": "to", "from=2026-03-01T10:00:00.002Z&to=2026-03-01T10:00:00.001Z": "to",
		"from=9999-12-31&to=9999-01-01": "to", "from=99999-01-01": "from",
		"from=2026-02-30": "from", "from=2026-03-01T25:00": "from", "from=2026-03-01T": "from", "from=2026-03-01T10:00Zx": "from",
		"from=2026-3-1": "from", "from=202603-01": "from", "from=2026-03-01T10:00%2B99:00": "from", "from=-2026-03-01": "from",
		"from=2026-03-01T10:00:00.": "from", "from=2026-03-01T10:00:00." + strings.Repeat("0", 100): "from", "from=1772323200": "from"} {
		_, _, err := pagination.Range(query(t, q), "from", "to")
		requireInvalid(t, field, err)
	}
}

func TestRangeTakesISO8601(t *testing.T) {
	t.Parallel()
	at := func(hour, minute, second, ms int) time.Time {
		return time.Date(2026, 11, 21, hour, minute, second, ms*1_000_000, time.UTC)
	}
	for text, want := range map[string]time.Time{
		"2026-11-21": at(0, 0, 0, 0), "20261121": at(0, 0, 0, 0),
		"2026-11-21T10:20:30": at(10, 20, 30, 0), "2026-11-21T10:20": at(10, 20, 0, 0), "2026-11-21 10:20:30": at(10, 20, 30, 0),
		"2026-11-21T10:20:30.5": at(10, 20, 30, 500), "2026-11-21T10:20:30,125": at(10, 20, 30, 125),
		"2026-11-21T10:20Z": at(10, 20, 0, 0), "2026-11-21t10:20:30z": at(10, 20, 30, 0),
		"2026-11-21T10:20:30%2B0200": at(8, 20, 30, 0), "2026-11-21T10:20-02": at(12, 20, 0, 0), "2026-11-21T10:20+02:00": at(8, 20, 0, 0),
		"20261121T102030Z": at(10, 20, 30, 0), "20261121T1020": at(10, 20, 0, 0), "20261121T102030,5%2B01": at(9, 20, 30, 500),
		"0001-01-01": time.Unix(0, 0), "0000-01-01T00:00:00Z": time.Unix(0, 0), "1969-12-31T23:59:59Z": time.Unix(0, 0),
		"9999-12-31T23:59:59.999Z":  time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC),
		"9999-12-31T23:59:59-23:00": time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC),
	} {
		from, _, err := pagination.Range(query(t, "from="+text), "from", "to")
		require.NoError(t, err, text)
		require.Equal(t, want.UTC(), from, text)
		_, to, err := pagination.Range(query(t, "to="+text), "from", "to")
		require.NoError(t, err, text)
		require.LessOrEqual(t, to.Year(), 9999, text)
		require.False(t, to.Before(want), text)
	}
	for _, q := range []string{"from=2026-01-01&to=9999-12-31", "from=0001-01-01&to=9999-12-31T23:59:59.999999999Z",
		"from=9999-12-31&to=9999-12-31", "from=0001-01-01&to=0001-01-02", "from=9999-12-31T01:00Z&to=9999-12-31T02:00Z"} {
		from, to, err := pagination.Range(query(t, q), "from", "to")
		require.NoError(t, err, q)
		require.True(t, from.Before(to), q)
		require.LessOrEqual(t, to.Year(), 9999, q)
	}
}

func TestInstant(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]struct {
		at   time.Time
		bare bool
	}{
		"2026-11-21":                       {time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC), true},
		" 2026-11-21T10:20:30+02:00 ":      {time.Date(2026, 11, 21, 8, 20, 30, 0, time.UTC), false},
		"2026-11-21T10:20:30.123456789Z":   {time.Date(2026, 11, 21, 10, 20, 30, 123456000, time.UTC), false},
		"0001-01-01":                       {time.Unix(0, 0).UTC(), true},
		"9999-12-31T23:59:59-23:00":        {time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC), false},
		"9999-12-31T23:59:59.999999999999": {time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC), false},
	} {
		at, bare, err := pagination.Instant("settings.endDate", text)
		require.NoError(t, err, text)
		require.Equal(t, want.at, at, text)
		require.Equal(t, want.bare, bare, text)
	}
	for _, text := range []string{"", " ", "tomorrow", "2026-02-30", "2026-11-21T24:00:01Z", "1772323200", strings.Repeat("2", 100)} {
		_, _, err := pagination.Instant("settings.endDate", text)
		requireInvalid(t, "settings.endDate", err)
	}
}

func FuzzQuery(f *testing.F) {
	f.Add("page=1&per_page=2&id=a,b&from=2026-01-01&to=2026-01-01T00:00:00Z")
	f.Add("page=-1&per_page=99999999999&id[]=%00&to=9998-12-31")
	f.Add("id[0]=a&id[99999999999999999999]=b&from=0000-01-01&to=99991231T235959,9-23")
	f.Fuzz(func(t *testing.T, s string) {
		q, err := url.ParseQuery(s)
		if err != nil {
			return
		}
		if r, err := pagination.Parse(q, pagination.Small()); err == nil && (r.Offset() < 0 || r.Limit() < 1 || r.Limit() > 100) {
			t.Fatalf("%q gives %+v", s, r)
		}
		if list, err := pagination.List(q, "id"); err == nil && len(list) > 200 {
			t.Fatalf("%d elements", len(list))
		}
		if from, to, err := pagination.Range(q, "from", "to"); err == nil && !from.IsZero() && !to.IsZero() && !from.Before(to) {
			t.Fatalf("%q gives %v to %v", s, from, to)
		}
	})
}

func TestID(t *testing.T) {
	t.Parallel()
	for param, want := range map[string]int64{
		"1": 1, "19-groupshot": 19, "7-": 7, "007": 7, "9223372036854775807": 9223372036854775807, "5-a-b": 5,
		"": 0, "0": 0, "0-x": 0, "-1": 0, "+1": 0, "1x": 0, "x": 0, "1.5": 0, " 1": 0, "1_0": 0, "9223372036854775808": 0,
		"1-\x00": 0, "1-\xff": 0, "1-" + strings.Repeat("x", 300): 0,
	} {
		id, err := pagination.ID(param)
		require.Equal(t, want, id, "%q", param)
		require.Equal(t, want == 0, errors.Is(err, storage.ErrNotFound), "%q", param)
	}
}
