package reading_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/crashtest"
	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/storage/crash/condition"
	"github.com/slipway-qa/slipway/storage/crash/reading"
)

// The lists are served by indexes in a table of 100,000 crashes.
func TestIndexesOfCrashes(t *testing.T) {
	t.Parallel()
	r := open(t)
	r.Record(r.Made(nil), r.Made(func(c *crash.Crash) { c.Group = crashtest.Grouping("rare") }))
	key := r.ID(`select id from crash_group_keys k where group_id = $1`, r.Group("k").ID)
	r.Fill(key)
	plan := r.Plan(crashtest.Literal(reading.CrashesOfQuery(key)))
	require.Contains(t, plan, "crashes_key_page", plan)
	started := time.Now()
	groups, total, err := reading.Groups(t.Context(), r.DB, reading.GroupFilter{OrganizationID: r.Org.ID, Limit: 10,
		Attributes: []condition.Attribute{{Key: "user", Value: "u7"}, {Key: "os", Value: "linux"}}})
	require.NoError(t, err)
	require.Equal(t, 1, total.Rows)
	require.Equal(t, "title k", groups[0].Title)
	t.Logf("groups by two attributes over 100,000 crashes: %s", time.Since(started))
}

// What is new or regressed since a time, and the groups that a change of many is of, are
// found by indexes among 50,000 groups of two organizations.
func TestIndexesOfGroups(t *testing.T) {
	t.Parallel()
	r := open(t)
	rival := r.Rival.CrashProject("theirs")
	for _, of := range [][2]int64{{r.Org.ID, r.Project}, {r.Rival.ID, rival}} {
		_, err := r.DB.ExecContext(t.Context(), `insert into crash_groups (organization_id, crash_project_id, fingerprint, algorithm, title,
				culprit, classifier, state, count, users, first_seen, last_seen, reopened_at)
			select $1, $2, sha256(n::text::bytea), 1, 'title', 'culprit', 'class', 'open', n, n % 977, now() - n * interval '1 min',
				now() - n * interval '1 s',
				case when n % 500 = 0 then now() - n * interval '1 min' end
			from generate_series(1, 25000) n`, of[0], of[1])
		require.NoError(t, err)
	}
	_, err := r.DB.ExecContext(t.Context(), `analyze crash_groups`)
	require.NoError(t, err)
	since := time.Now().Add(-24 * time.Hour)
	plan := func(query string, args []any) string { return r.Plan(query, args...) }
	require.Contains(t, plan(reading.GroupsQuery(reading.GroupFilter{OrganizationID: r.Org.ID, RegressedFrom: since,
		Sort: reading.SortLastSeen})), "crash_groups_reopened")
	require.Contains(t, plan(reading.GroupsQuery(reading.GroupFilter{OrganizationID: r.Org.ID, FirstSeenFrom: since,
		Sort: reading.SortFirstSeen})), "crash_groups_first_seen")
	require.Contains(t, plan(reading.GroupsQuery(reading.GroupFilter{OrganizationID: r.Org.ID, Sort: reading.SortUsers})),
		"crash_groups_users")
	started := time.Now()
	groups, _, err := reading.Groups(t.Context(), r.DB, reading.GroupFilter{OrganizationID: r.Org.ID, Sort: reading.SortUsers, Limit: 25})
	require.NoError(t, err)
	require.EqualValues(t, 976, groups[0].Users)
	byUsers := time.Since(started)
	started = time.Now()
	_, _, err = reading.Groups(t.Context(), r.DB, reading.GroupFilter{OrganizationID: r.Org.ID, Sort: reading.SortCount, Limit: 25})
	require.NoError(t, err)
	t.Logf("a page of 50,000 groups by users: %s, by count: %s", byUsers, time.Since(started))
	found := plan(reading.ChangedQuery(reading.GroupFilter{OrganizationID: r.Org.ID, MadeUntil: time.Now()}, 10_000))
	require.NotContains(t, found, "Seq Scan", found)
}
