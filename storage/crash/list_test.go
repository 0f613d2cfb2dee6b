package crash_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/crashtest"
	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/storage/report"
)

func (r *room) titles(f crash.GroupFilter) (string, int) {
	r.T.Helper()
	f.OrganizationID = r.Org.ID
	if f.Limit == 0 {
		f.Limit = 100
	}
	groups, total, err := crash.Groups(r.T.Context(), r.DB, f)
	require.NoError(r.T, err)
	var names []string
	for _, g := range groups {
		names = append(names, strings.TrimPrefix(g.Title, "title "))
	}
	return strings.Join(names, ","), total.Rows
}

func TestGroupList(t *testing.T) {
	t.Parallel()
	r := open(t)
	second := r.Org.CrashProject("second")
	day := 24 * time.Hour
	// a is seen on day 0, b from day 1 to 3, c on day 2 of another project; d
	// and e at one moment.
	r.Record(
		r.Made(func(c *crash.Crash) {
			c.Group, c.Attributes = crashtest.Grouping("a"), `{"user":"ann","n":1,"ok":true}`
		}),
		r.Made(func(c *crash.Crash) {
			c.Group, c.Attributes, c.OccurredAt = crashtest.Grouping("b"), `{"user":"bob","n":"1"}`, crashtest.Epoch.Add(day)
		}),
		r.Made(func(c *crash.Crash) {
			c.Group, c.Attributes, c.OccurredAt = crashtest.Grouping("b"), `{"x":7}`, crashtest.Epoch.Add(3*day)
		}),
		r.Made(func(c *crash.Crash) {
			c.Group, c.ProjectID, c.OccurredAt = crashtest.Grouping("c_%"), second, crashtest.Epoch.Add(2*day)
		}),
		r.Made(func(c *crash.Crash) {
			c.Group, c.OccurredAt, c.Duplicates = crashtest.Grouping("d"), crashtest.Epoch.Add(-day), 9
		}),
		r.Made(func(c *crash.Crash) { c.Group, c.OccurredAt = crashtest.Grouping("e"), crashtest.Epoch.Add(-day) }))
	id := r.Group("a").ID
	r.Must(func(_ context.Context, tx *storage.Tx) error {
		_, err := crash.ChangeGroup(t.Context(), tx, crashtest.Writer(r.Org.ID), id, crash.GroupChange{State: fixture.Ptr(crash.Ignored)})
		return err
	})
	attribute := func(pairs ...string) (list []crash.AttributeFilter) {
		for i := 0; i < len(pairs); i += 2 {
			list = append(list, crash.AttributeFilter{Key: pairs[i], Value: pairs[i+1]})
		}
		return list
	}
	hexOf := fmt.Sprintf("%X", r.Group("d").Fingerprint[:4])
	for _, c := range []struct {
		name   string
		filter crash.GroupFilter
		want   string
	}{
		{"default", crash.GroupFilter{}, "b,c_%,a,e,d"},
		{"ascending", crash.GroupFilter{Ascending: true}, "d,e,a,c_%,b"},
		{"first seen", crash.GroupFilter{Sort: crash.SortFirstSeen}, "c_%,b,a,e,d"},
		{"count", crash.GroupFilter{Sort: crash.SortCount}, "d,b,c_%,a,e"},
		{"project", crash.GroupFilter{Projects: []int64{second}}, "c_%"},
		{"state", crash.GroupFilter{States: []crash.GroupState{crash.Ignored}}, "a"},
		{"open", crash.GroupFilter{States: []crash.GroupState{crash.Open}}, "b,c_%,e,d"},
		{"title", crash.GroupFilter{Search: "TITLE A"}, "a"},
		{"culprit", crash.GroupFilter{Search: "rit b"}, "b"},
		{"pattern characters", crash.GroupFilter{Search: "_%"}, "c_%"},
		{"fingerprint", crash.GroupFilter{Search: hexOf}, "d"},
		{"string", crash.GroupFilter{Attributes: attribute("user", "ann")}, "a"},
		{"number or text", crash.GroupFilter{Attributes: attribute("n", "1")}, "b,a"},
		{"number written otherwise", crash.GroupFilter{Attributes: attribute("n", "1.0")}, "a"},
		{"boolean", crash.GroupFilter{Attributes: attribute("ok", "true")}, "a"},
		{"both", crash.GroupFilter{Attributes: attribute("n", "1", "user", "bob")}, "b"},
		{"of one report", crash.GroupFilter{Attributes: attribute("x", "7", "user", "bob")}, ""},
		{"from", crash.GroupFilter{Window: crash.Window{From: crashtest.Epoch.Add(2 * day)}}, "b,c_%"},
		{"to", crash.GroupFilter{Window: crash.Window{To: crashtest.Epoch.Add(day)}}, "a,e,d"},
		{"between", crash.GroupFilter{Window: crash.Window{From: crashtest.Epoch.Add(day), To: crashtest.Epoch.Add(2 * day)}}, "b"},
		{"hostile", crash.GroupFilter{Attributes: attribute(`a":1}' or true--`, `"`)}, ""},
	} {
		got, total := r.titles(c.filter)
		require.Equal(t, c.want, got, c.name)
		if c.want != "" {
			require.Equal(t, strings.Count(c.want, ",")+1, total, c.name)
		}
	}
	// Pages neither overlap nor leave anything out, ties included.
	var all []string
	for offset := range 5 {
		got, total := r.titles(crash.GroupFilter{Limit: 1, Offset: offset})
		require.Equal(t, 5, total)
		all = append(all, got)
	}
	require.Equal(t, "b,c_%,a,e,d", strings.Join(all, ","))
	_, total, err := crash.Groups(t.Context(), r.DB, crash.GroupFilter{OrganizationID: r.Rival.ID, Limit: 10})
	require.NoError(t, err)
	require.Zero(t, total.Rows)
	_, _, err = crash.Groups(t.Context(), r.DB, crash.GroupFilter{OrganizationID: r.Org.ID, Sort: "id; drop table"})
	var invalid *storage.InvalidError
	require.ErrorAs(t, err, &invalid)
}

func TestListShowsTenValues(t *testing.T) {
	t.Parallel()
	r := open(t)
	for i := range 30 {
		r.Record(r.Made(func(c *crash.Crash) { c.Version, c.Duplicates = fmt.Sprintf("v%02d", i), 1+i%7 }))
	}
	groups, _, err := crash.Groups(t.Context(), r.DB, crash.GroupFilter{OrganizationID: r.Org.ID, Limit: 5})
	require.NoError(t, err)
	require.Equal(t, 30, groups[0].Versions.Total)
	require.Len(t, groups[0].Versions.Values, 10)
	require.Equal(t, "v06", groups[0].Versions.Values[0].Value)
	require.Empty(t, groups[0].Hosts.Values)
}

func TestCrashesOfAGroup(t *testing.T) {
	t.Parallel()
	r := open(t)
	conflict := uuid.New()
	var want []uuid.UUID
	for i := range 7 {
		c := r.Made(func(c *crash.Crash) {
			c.OccurredAt = crashtest.Epoch.Add(time.Duration(i/2) * time.Hour)
			c.Attributes = fmt.Sprintf(`{"i":%d}`, i%3)
			if i == 6 {
				c.ConflictOf = &conflict
			}
		})
		r.Record(c)
		want = append([]uuid.UUID{c.ID}, want...)
	}
	f := crash.CrashFilter{OrganizationID: r.Org.ID, GroupID: r.Group("k").ID, Limit: 3}
	var got []uuid.UUID
	for f.Offset = 0; f.Offset < 7; f.Offset += 3 {
		rows, total, err := crash.Crashes(t.Context(), r.DB, f)
		require.NoError(t, err)
		require.Equal(t, 7, total.Rows)
		for _, r := range rows {
			got = append(got, r.ID)
			require.Equal(t, r.ID == want[0], r.ConflictOf != nil)
		}
	}
	require.Equal(t, want, got)
	f.Offset = 0
	f.Attributes = []crash.AttributeFilter{{Key: "i", Value: "0"}}
	f.Window = crash.Window{From: crashtest.Epoch.Add(time.Hour), To: crashtest.Epoch.Add(4 * time.Hour)}
	rows, total, err := crash.Crashes(t.Context(), r.DB, f)
	require.NoError(t, err)
	require.Equal(t, 2, total.Rows)
	require.Len(t, rows, 2)
	f.OrganizationID = r.Rival.ID
	_, total, err = crash.Crashes(t.Context(), r.DB, f)
	require.NoError(t, err)
	require.Zero(t, total.Rows)
}

func TestPendingCrashIsReadable(t *testing.T) {
	t.Parallel()
	r := open(t)
	id := uuid.New()
	got, _ := r.Accept(r.Incoming(id, crashtest.Document(id, "boom")), r.Incoming(uuid.New(), "unreadable"))
	d, err := r.Store.CrashByID(t.Context(), r.Org.ID, got[0].ID)
	require.NoError(t, err)
	require.Equal(t, crash.Pending, d.State)
	require.Equal(t, id, d.UUID)
	require.Equal(t, "boom", d.Message)
	require.Equal(t, "app", d.ProjectName)
	require.JSONEq(t, `{"error.message":"boom","n":7}`, string(d.Attributes))
	require.Nil(t, d.OccurredAt)
	require.Nil(t, d.GroupID)
	d, err = r.Store.CrashByID(t.Context(), r.Org.ID, got[1].ID)
	require.NoError(t, err)
	require.Equal(t, crash.Pending, d.State)
	for _, missing := range []uuid.UUID{uuid.New(), {}} {
		_, err = r.Store.CrashByID(t.Context(), r.Org.ID, missing)
		require.ErrorIs(t, err, storage.ErrNotFound)
	}
	beyond := got[0].ID
	beyond[15] = 200
	_, err = r.Store.CrashByID(t.Context(), r.Org.ID, beyond)
	require.ErrorIs(t, err, storage.ErrNotFound)
	_, err = r.Store.CrashByID(t.Context(), r.Rival.ID, got[0].ID)
	require.ErrorIs(t, err, storage.ErrNotFound)
}

func TestAttributeFilter(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		attributes, value string
		want              bool
	}{
		{`"k":"v"`, "v", true}, {`"k":"v"`, "V", false}, {`"other":"v"`, "v", false}, {`"k":null`, "", false},
		{`"k":""`, "", true}, {`"k":42`, "42", true}, {`"k":42`, "42.0", true}, {`"k":"42"`, "42.0", false},
		{`"k":1e2`, "100", true}, {`"k":true`, "true", true}, {`"k":1e400000000`, "1e400000000", true},
		{`"k":9007199254740993`, "9007199254740992", false},
	} {
		doc := strings.Replace(crashtest.Document(uuid.New(), "m"), `"n":7`, c.attributes, 1)
		r, err := report.Parse([]byte(doc))
		require.NoError(t, err, doc)
		require.Equal(t, c.want, crash.AttributeFilter{Key: "k", Value: c.value}.Matches(r), c)
	}
	for _, bad := range []crash.AttributeFilter{{}, {Key: strings.Repeat("k", 256)}, {Key: "k", Value: strings.Repeat("v", 4097)},
		{Key: "k\x00"}, {Key: "k", Value: "\xff"}} {
		require.Error(t, bad.Validate())
	}
}

// plan returns EXPLAIN's text.
func (r *room) plan(query string, args ...any) string {
	r.T.Helper()
	var lines []string
	require.NoError(r.T, r.DB.SelectContext(r.T.Context(), &lines, "explain "+query, args...))
	return strings.Join(lines, "\n")
}

// The lists are served by indexes in a table of 100,000 crashes.
func TestIndexesAreUsed(t *testing.T) {
	t.Parallel()
	r := open(t)
	r.Record(r.Made(nil), r.Made(func(c *crash.Crash) { c.Group = crashtest.Grouping("rare") }))
	key := r.ID(`select id from crash_group_keys k where group_id = $1`, r.Group("k").ID)
	_, err := r.DB.ExecContext(t.Context(), `
		insert into crashes (id, organization_id, crash_project_id, key_id, uuid, state, format, occurred_at, received_at,
			lang, agent, classifier, message, version, host, attributes)
		select gen_random_uuid(), $1, $2, $3, gen_random_uuid(), 'processed', 'json', now() - n * interval '1 s', now(),
			'go', 'a', 'c', 'm', '1', 'h', jsonb_build_object('user', 'u' || n % 20000, 'n', n % 5000, 'os', 'linux')
		from generate_series(1, 100000) n`, r.Org.ID, r.Project, key)
	require.NoError(t, err)
	_, err = r.DB.ExecContext(t.Context(), `insert into crash_uuids (crash_project_id, uuid, digest, crash_id)
		select crash_project_id, uuid, '\x00', id from crashes`)
	require.NoError(t, err)
	_, err = r.DB.ExecContext(t.Context(), `analyze crashes; analyze crash_uuids`)
	require.NoError(t, err)

	for name, c := range map[string]struct {
		query string
		args  []any
		index string
	}{
		"page":                     {crash.CrashesOfQuery(key), nil, "crashes_key_page"},
		"purge":                    {crash.CarriersQuery(r.Org.ID, crash.AttributeFilter{Key: "user", Value: "u7"}), nil, "crashes_attributes"},
		"resends":                  {crash.UUIDsQuery(r.Project), nil, "crash_uuids_first"},
		"whether a group is empty": {crash.EmptiedQuery(r.Group("rare").ID), nil, "Index Cond: (key_id = k.id)"},
	} {
		plan := r.plan(c.query, c.args...)
		require.Contains(t, plan, c.index, name+"\n"+plan)
	}
	started := time.Now()
	groups, total, err := crash.Groups(t.Context(), r.DB, crash.GroupFilter{OrganizationID: r.Org.ID, Limit: 10,
		Attributes: []crash.AttributeFilter{{Key: "user", Value: "u7"}, {Key: "os", Value: "linux"}}})
	require.NoError(t, err)
	require.Equal(t, 1, total.Rows)
	require.Equal(t, "title k", groups[0].Title)
	t.Logf("groups by two attributes over 100,000 crashes: %s", time.Since(started))
}
