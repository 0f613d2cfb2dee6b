package crash_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/crashtest"
	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash"
)

// The history has what people decided and what reports did to it, and goes with the group.
func TestHistory(t *testing.T) {
	t.Parallel()
	r := open(t)
	now := time.Now()
	r.seen("k", now, now, "1.0")
	r.mustChange("k", resolved())
	r.seen("k", now.Add(time.Hour), now.Add(time.Hour), "2.2")
	c := ignored()
	c.UntilCount = fixture.Ptr[int64](2)
	r.mustChange("k", c)
	r.seen("k", now.Add(time.Hour), now.Add(time.Hour), "2.2")
	g := r.seen("k", now.Add(time.Hour), now.Add(time.Hour), "2.2")
	require.Equal(t, crash.Open, g.State)

	list, total, err := crash.History(t.Context(), r.DB, r.Org.ID, g.ID, storage.Page{Limit: 10})
	require.NoError(t, err)
	require.Equal(t, storage.Total{Rows: 4, Exact: true}, total)
	var got [][2]string
	for _, c := range list {
		got = append(got, [2]string{string(c.State), string(c.Detail)})
		require.Equal(t, c.Actor == "", c.State == crash.Open, "a report opens it")
	}
	require.Equal(t, [][2]string{{"open", `{"ignore_ended": "count"}`}, {"ignored", `{"state": "ignored", "until_count": 2, "former_state": "open"}`},
		{"open", `{"regressed_in": "2.2"}`}, {"resolved", `{"state": "resolved", "former_state": "open"}`}}, got)
	list, total, err = crash.History(t.Context(), r.DB, r.Rival.ID, g.ID, storage.Page{Limit: 10})
	require.NoError(t, err)
	require.Empty(t, list)
	require.Zero(t, total.Rows)

	groups, _, err := crash.Groups(t.Context(), r.DB, crash.GroupFilter{OrganizationID: r.Org.ID, RegressedFrom: now.Add(-time.Hour), Limit: 5})
	require.NoError(t, err)
	require.Len(t, groups, 1)
	groups, _, err = crash.Groups(t.Context(), r.DB, crash.GroupFilter{OrganizationID: r.Org.ID, RegressedFrom: now.Add(time.Hour), Limit: 5})
	require.NoError(t, err)
	require.Empty(t, groups)
}

// A state that came by a merge is in the history, and one that stayed is none.
func TestHistoryOfInheritance(t *testing.T) {
	t.Parallel()
	r := open(t)
	r.Record(r.Made(nil), r.Made(func(c *crash.Crash) { c.Group = crashtest.Grouping("b") }))
	from, to := r.Group("k").ID, r.Group("b").ID
	r.mustChange("k", ignored())
	r.mustChange("k", ignored())
	r.Must(func(ctx context.Context, tx *storage.Tx) error { return crash.Inherit(ctx, tx, from, to) })
	got := func(group int64) (list [][2]string) {
		changes, _, err := crash.History(t.Context(), r.DB, r.Org.ID, group, storage.Page{Limit: 10})
		require.NoError(t, err)
		for _, c := range changes {
			list = append(list, [2]string{string(c.State), string(c.Detail)})
		}
		return list
	}
	require.Equal(t, [][2]string{{"ignored", fmt.Sprintf(`{"state": "ignored", "merged": %d, "former_state": "open"}`, from)}}, got(to))
	require.Equal(t, [][2]string{{"", fmt.Sprintf(`{"merged_into": %d}`, to)}, {"", `{"state": "ignored", "former_state": "ignored"}`},
		{"ignored", `{"state": "ignored", "former_state": "open"}`}}, got(from))
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
			select $1, $2, sha256(n::text::bytea), 1, 'title', 'culprit', 'class', 'open', n, n % 977, now() - n * interval '1 min', now() - n * interval '1 s',
				case when n % 500 = 0 then now() - n * interval '1 min' end
			from generate_series(1, 25000) n`, of[0], of[1])
		require.NoError(t, err)
	}
	_, err := r.DB.ExecContext(t.Context(), `analyze crash_groups`)
	require.NoError(t, err)
	since := time.Now().Add(-24 * time.Hour)
	plan := func(query string, args []any) string { return r.plan(query, args...) }
	require.Contains(t, plan(crash.GroupsQuery(crash.GroupFilter{OrganizationID: r.Org.ID, RegressedFrom: since, Sort: crash.SortLastSeen})), "crash_groups_reopened")
	require.Contains(t, plan(crash.GroupsQuery(crash.GroupFilter{OrganizationID: r.Org.ID, FirstSeenFrom: since, Sort: crash.SortFirstSeen})), "crash_groups_first_seen")
	require.Contains(t, plan(crash.GroupsQuery(crash.GroupFilter{OrganizationID: r.Org.ID, Sort: crash.SortUsers})), "crash_groups_users")
	started := time.Now()
	groups, _, err := crash.Groups(t.Context(), r.DB, crash.GroupFilter{OrganizationID: r.Org.ID, Sort: crash.SortUsers, Limit: 25})
	require.NoError(t, err)
	require.EqualValues(t, 976, groups[0].Users)
	byUsers := time.Since(started)
	started = time.Now()
	_, _, err = crash.Groups(t.Context(), r.DB, crash.GroupFilter{OrganizationID: r.Org.ID, Sort: crash.SortCount, Limit: 25})
	require.NoError(t, err)
	t.Logf("a page of 50,000 groups by users: %s, by count: %s", byUsers, time.Since(started))
	found := plan(crash.ChangedQuery(crash.GroupFilter{OrganizationID: r.Org.ID, MadeUntil: time.Now()}, 10_000))
	require.NotContains(t, found, "Seq Scan", found)
}
