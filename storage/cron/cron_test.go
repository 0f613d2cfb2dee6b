package cron

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func zone(t testing.TB, name string) *time.Location {
	t.Helper()
	z, err := time.LoadLocation(name)
	require.NoError(t, err)
	return z
}

func parse(t testing.TB, text string) *Expression {
	t.Helper()
	e, err := Parse(text)
	require.NoError(t, err, text)
	return e
}

func TestNext(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, after, want string }{
		{"0 9 * * *", "2026-11-21T08:59:59Z", "2026-11-21T09:00:00Z"},
		{"0 9 * * *", "2026-11-21T09:00:00Z", "2026-11-22T09:00:00Z"},
		{"0 9 * * *", "2026-11-21T08:59:59.5Z", "2026-11-21T09:00:00Z"},
		{"*/5 * * * *", "2026-11-21T08:57:00Z", "2026-11-21T09:00:00Z"},
		{"3/20 * * * *", "2026-11-21T08:44:00Z", "2026-11-21T09:03:00Z"},
		{"10-20/5 * * * *", "2026-11-21T08:16:00Z", "2026-11-21T08:20:00Z"},
		{"30 0 9 * * *", "2026-11-21T09:00:00Z", "2026-11-21T09:00:30Z"},
		{"*/15 * * * * *", "2026-11-21T09:00:45Z", "2026-11-21T09:01:00Z"},
		{"0 0 29 2 *", "2026-11-21T00:00:00Z", "2028-02-29T00:00:00Z"},
		{"0 0 L * *", "2026-02-01T00:00:00Z", "2026-02-28T00:00:00Z"},
		{"0 0 L-3 * *", "2026-02-01T00:00:00Z", "2026-02-25T00:00:00Z"},
		{"0 0 LW * *", "2026-05-01T00:00:00Z", "2026-05-29T00:00:00Z"},  // the 31st is a Sunday
		{"0 0 15W * *", "2026-08-01T00:00:00Z", "2026-08-14T00:00:00Z"}, // a Saturday
		{"0 0 1W * *", "2026-08-01T00:00:00Z", "2026-08-03T00:00:00Z"},  // a Saturday, not July
		{"0 0 31W * *", "2026-05-01T00:00:00Z", "2026-05-29T00:00:00Z"}, // a Sunday, not June
		{"0 0 31W * *", "2026-06-01T00:00:00Z", "2026-07-31T00:00:00Z"}, // June has none
		{"0 0 ? * 5#3", "2026-11-01T00:00:00Z", "2026-11-20T00:00:00Z"},
		{"0 0 ? * FRI#5", "2026-11-01T00:00:00Z", "2027-01-29T00:00:00Z"},
		{"0 0 * * 5L", "2026-11-01T00:00:00Z", "2026-11-27T00:00:00Z"},
		{"0 0 * * 0", "2026-11-21T00:00:00Z", "2026-11-22T00:00:00Z"},
		{"0 0 * * 7", "2026-11-21T00:00:00Z", "2026-11-22T00:00:00Z"},
		{"0 0 * * 5-7", "2026-11-21T00:00:00Z", "2026-11-22T00:00:00Z"},
		{"0 0 * * sat-sun", "2026-11-20T00:00:00Z", "2026-11-21T00:00:00Z"},
		{"0 0 13 * FRI", "2026-11-10T00:00:00Z", "2026-11-13T00:00:00Z"},
		{"0 0 13 * FRI", "2026-11-13T00:00:00Z", "2026-11-20T00:00:00Z"}, // either
		{"0 0 1 jan,jul *", "2026-11-21T00:00:00Z", "2027-01-01T00:00:00Z"},
		{"@hourly", "2026-11-21T08:00:00Z", "2026-11-21T09:00:00Z"},
		{" @Weekly ", "2026-11-21T08:00:00Z", "2026-11-22T00:00:00Z"},
		{"@yearly", "2026-11-21T08:00:00Z", "2027-01-01T00:00:00Z"},
		{"0 0 31 2 *", "2026-11-21T00:00:00Z", ""},
		{"0 0 30 2 ?", "2026-11-21T00:00:00Z", ""},
	} {
		after, err := time.Parse(time.RFC3339Nano, c.after)
		require.NoError(t, err)
		got, ok := parse(t, c.text).Next(after, time.UTC)
		if c.want == "" {
			require.False(t, ok, "%s after %s: %s", c.text, c.after, got)
			continue
		}
		require.True(t, ok, "%s after %s", c.text, c.after)
		require.Equal(t, c.want, got.Format(time.RFC3339), "%s after %s", c.text, c.after)
	}
}

// Clocks go forward and back in the zones; times are local, with their offset.
func TestClockChanges(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text, zone, from string
		want                   []string
	}{
		{"a skipped hour fires after the gap, once", "30 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00+01:00",
			[]string{"2026-03-29T03:00:00+02:00", "2026-03-30T02:30:00+02:00"}},
		{"several skipped times fire once", "*/20 2 * * *", "Europe/Berlin", "2026-03-29T00:00:00+01:00",
			[]string{"2026-03-29T03:00:00+02:00", "2026-03-30T02:00:00+02:00"}},
		{"a wildcard hour goes on", "*/30 * * * *", "Europe/Berlin", "2026-03-29T01:15:00+01:00",
			[]string{"2026-03-29T01:30:00+01:00", "2026-03-29T03:00:00+02:00", "2026-03-29T03:30:00+02:00"}},
		{"a repeated fixed hour fires once", "30 2 * * *", "Europe/Berlin", "2026-10-25T00:00:00+02:00",
			[]string{"2026-10-25T02:30:00+02:00", "2026-10-26T02:30:00+01:00"}},
		{"a repeated wildcard hour fires both times", "30 * * * *", "Europe/Berlin", "2026-10-25T01:45:00+02:00",
			[]string{"2026-10-25T02:30:00+02:00", "2026-10-25T02:30:00+01:00", "2026-10-25T03:30:00+01:00"}},
		{"in between the passes", "15 2 * * *", "America/New_York", "2026-11-01T01:30:00-04:00",
			[]string{"2026-11-01T02:15:00-05:00"}},
		{"New York's repeated hour", "15 1 * * *", "America/New_York", "2026-11-01T00:00:00-04:00",
			[]string{"2026-11-01T01:15:00-04:00", "2026-11-02T01:15:00-05:00"}},
		{"half an hour in Lord Howe, forward", "15 2 * * *", "Australia/Lord_Howe", "2026-10-04T00:00:00+10:30",
			[]string{"2026-10-04T02:30:00+11:00", "2026-10-05T02:15:00+11:00"}},
		{"and back", "45 1 * * *", "Australia/Lord_Howe", "2026-04-05T00:00:00+11:00",
			[]string{"2026-04-05T01:45:00+11:00", "2026-04-06T01:45:00+10:30"}},
		{"a midnight that does not exist", "0 0 * * *", "America/Sao_Paulo", "2018-11-03T12:00:00-03:00",
			[]string{"2018-11-04T01:00:00-02:00", "2018-11-05T00:00:00-02:00"}},
		{"a day that does not exist", "0 9 30 12 *", "Pacific/Apia", "2011-12-01T00:00:00-10:00",
			[]string{"2011-12-31T00:00:00+14:00", "2012-12-30T09:00:00+14:00"}},
		{"Dublin, where winter is the exception", "30 1 * * *", "Europe/Dublin", "2026-10-25T00:00:00+01:00",
			[]string{"2026-10-25T01:30:00+01:00", "2026-10-26T01:30:00Z"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			z := zone(t, c.zone)
			at, err := time.Parse(time.RFC3339, c.from)
			require.NoError(t, err)
			e := parse(t, c.text)
			var fired []time.Time
			for _, want := range c.want {
				next, ok := e.Next(at, z)
				require.True(t, ok)
				require.Equal(t, want, next.Format(time.RFC3339))
				fired, at = append(fired, next), next
			}
			for i := len(fired) - 1; i > 0; i-- {
				before, ok := e.Previous(fired[i], z)
				require.True(t, ok)
				require.True(t, before.Equal(fired[i-1]), "before %s: %s", fired[i], before)
			}
		})
	}
}

func TestErrorsNameTheirPlace(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text, field string
		position    int
		msg         string
	}{
		{"", "minute", 1, "has 0"},
		{"0 0", "day of month", 4, "has 2"},
		{"* * * *", "day of week", 8, "has 4"},
		{"* * * * * * *", "", 13, "has 7"},
		{" @every 5m", "", 2, "none of"},
		{"@reboot", "", 1, "none of"},
		{strings.Repeat("1,", 256) + "1 * * * *", "", 513, "at most 512"},
		{"60 * * * *", "minute", 1, "60 is not from 0 to 59"},
		{"60 0 * * * *", "second", 1, "60 is not from 0 to 59"},
		{"0 24 * * *", "hour", 3, "24 is not from 0 to 23"},
		{"0 0 0 * *", "day of month", 5, "0 is not from 1 to 31"},
		{"0 0 32 * *", "day of month", 5, "32"},
		{"0 0 1 13 *", "month", 7, "13"},
		{"0 0 1 FOO *", "month", 7, "neither a number nor one of JAN to DEC"},
		{"0 0 * * 8", "day of week", 9, "8 is not from 0 to 7"},
		{"0 0 * * MON,XXX", "day of week", 13, "neither"},
		{"0 1,,2 * * *", "hour", 5, "missing"},
		{"*/0 * * * *", "minute", 3, "at least 1"},
		{"*/61 * * * *", "minute", 3, "larger"},
		{"1/-2 * * * *", "minute", 3, "at least 1"},
		{"+1 * * * *", "minute", 1, "not a number"},
		{"? * * * *", "minute", 1, "two day fields"},
		{"0 0 L-31 * *", "day of month", 7, "1 to 30"},
		{"0 0 32W * *", "day of month", 5, "32"},
		{"0 0 * * 1#6", "day of week", 11, "1 to 5"},
		{"0 0 * * L", "day of week", 9, "neither"},
		{"0 0 * * 1-", "day of week", 11, "neither"},
		{"0 0 1-2-3 * *", "day of month", 7, "not a number"},
		{"0\t0  1 x *", "month", 8, "neither"},
		// Unicode takes these letters for other forms of I, S and K.
		{"0 0 * * FR\u0131", "day of week", 9, "neither"},
		{"0 0 * * \u017fun", "day of week", 9, "neither"},
		{"0 0 * au\u011f *", "month", 7, "neither"},
		{"@wee\u212aly", "", 1, "none of"},
	} {
		_, err := Parse(c.text)
		var bad *Error
		require.ErrorAs(t, err, &bad, c.text)
		require.Equal(t, c.field, bad.Field, c.text)
		require.Equal(t, c.position, bad.Position, c.text)
		require.Contains(t, bad.Msg, c.msg, c.text)
	}
}

// A range that ends before it begins goes on at the field's first value; the oracles do
// not know it. Each is the same as the list.
func TestRangesWrap(t *testing.T) {
	t.Parallel()
	g := generator{rand.New(rand.NewPCG(11, 12))}
	for text, list := range map[string]string{
		"50-10 * * * *":      "0,1,2,3,4,5,6,7,8,9,10,50,51,52,53,54,55,56,57,58,59 * * * *",
		"50-10/5 * * * *":    "50,55,0,5,10 * * * *",
		"58-3/7 * * * *":     "58 * * * *",
		"59-0 * * * *":       "59,0 * * * *",
		"59-58 * * * *":      "* * * * *",
		"45-15/30 * * * * *": "45,15 * * * * *",
		"0 22-2 * * *":       "0 22,23,0,1,2 * * *",
		"0 22-2/2 * * *":     "0 22,0,2 * * *",
		"0 23-5/3,12 * * *":  "0 23,2,5,12 * * *",
		"0 0 30-2 * *":       "0 0 30,31,1,2 * *",
		"0 0 29-5/3 * *":     "0 0 29,1,4 * *",
		"0 0 31-1 * *":       "0 0 31,1 * *",
		"0 0 1 nov-feb *":    "0 0 1 11,12,1,2 *",
		"0 0 1 12-3/2 *":     "0 0 1 12,2 *",
		"0 0 1 10-9/5 *":     "0 0 1 10,3,8 *",
		"0 0 * * fri-mon":    "0 0 * * 5,6,0,1",
		"0 0 * * 5-1":        "0 0 * * 5,6,0,1",
		"0 0 * * FRI-TUE/2":  "0 0 * * 5,0,2",
		"0 0 * * sat-sun":    "0 0 * * 6,0",
		"0 0 * * 7-2":        "0 0 * * 0,1,2",
		"0 0 * * sun-tue":    "0 0 * * 0,1,2",
		"0 0 * * 6-7":        "0 0 * * 6,0",
		"0 0 * * tue-mon":    "0 0 * * 0,1,2,3,4,5,6",
		"0 0 * * 6-0/2":      "0 0 * * 6",
		"0 0 28-3 * sat-sun": "0 0 28,29,30,31,1,2,3 * 6,0",
		"0 0 L,30-1 * WED-0": "0 0 L,30,31,1 * 3,4,5,6,0",
	} {
		wrapped, plain := parse(t, text), parse(t, list)
		for range 50 {
			at := g.at()
			next, ok := wrapped.Next(at, time.UTC)
			want, some := plain.Next(at, time.UTC)
			require.True(t, ok && some, text)
			require.True(t, next.Equal(want), "%s after %s: %s, not %s", text, at, next, want)
			before, _ := wrapped.Previous(at, time.UTC)
			want, _ = plain.Previous(at, time.UTC)
			require.True(t, before.Equal(want), "%s before %s: %s, not %s", text, at, before, want)
		}
	}
	// A random range that wraps is the two ranges that it is made of.
	for range 2000 {
		all, parts := []string{"0", "0", "0", "*", "*", "*"}, []string{"0", "0", "0", "*", "*", "*"}
		i := g.IntN(6)
		low, high := fields[i].min, fields[i].max
		if i == weekdayField {
			high = 6
		}
		from := g.value(low+1, high)
		to := g.value(low, from-1)
		all[i] = fmt.Sprintf("%d-%d", from, to)
		parts[i] = fmt.Sprintf("%d-%d,%d-%d", from, high, low, to)
		at := g.at()
		next, ok := parse(t, strings.Join(all, " ")).Next(at, time.UTC)
		want, some := parse(t, strings.Join(parts, " ")).Next(at, time.UTC)
		require.Equal(t, some, ok, all)
		require.True(t, next.Equal(want), "%s after %s: %s, not %s", all, at, next, want)
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{"* * * * *", "0 0 L-3,LW,15W * 5#3,2L", "@daily", "1-5/2 */3 ? JAN-MAR MON",
		"50-10/3 22-2 30-2 nov-feb fri-mon", "0 0 29 2 *"} {
		f.Add(text, int64(1_790_000_000))
	}
	berlin := zone(f, "Europe/Berlin")
	f.Fuzz(func(t *testing.T, text string, seconds int64) {
		e, err := Parse(text)
		if err != nil {
			return
		}
		at := time.Unix(seconds%4_000_000_000, 0)
		next, ok := e.Next(at, berlin)
		if !ok {
			return
		}
		require.True(t, next.After(at))
		// Nothing fires in between, and the way back leads to the same time.
		again, ok := e.Previous(next.Add(time.Second), berlin)
		require.True(t, ok)
		require.True(t, again.Equal(next), "%s: %s, back %s", text, next, again)
		if before, ok := e.Previous(next, berlin); ok {
			require.False(t, before.After(at), "%s: %s fires between %s and %s", text, before, at, next)
		}
		require.NotEmpty(t, e.Describe())
	})
}
