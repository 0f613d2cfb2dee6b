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
	"github.com/slipway-qa/slipway/storage/crash/reading"
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

	list, total, err := reading.History(t.Context(), r.DB, r.Org.ID, g.ID, storage.Page{Limit: 10})
	require.NoError(t, err)
	require.Equal(t, storage.Total{Rows: 4, Exact: true}, total)
	var got [][2]string
	for _, c := range list {
		got = append(got, [2]string{string(c.State), string(c.Detail)})
		require.Equal(t, c.Actor == "", c.State == crash.Open, "a report opens it")
	}
	require.Equal(t, [][2]string{{"open", `{"ignore_ended": "count"}`},
		{"ignored", `{"state": "ignored", "until_count": 2, "former_state": "open"}`},
		{"open", `{"regressed_in": "2.2"}`}, {"resolved", `{"state": "resolved", "former_state": "open"}`}}, got)
	list, total, err = reading.History(t.Context(), r.DB, r.Rival.ID, g.ID, storage.Page{Limit: 10})
	require.NoError(t, err)
	require.Empty(t, list)
	require.Zero(t, total.Rows)

	groups, _, err := reading.Groups(t.Context(), r.DB, reading.GroupFilter{OrganizationID: r.Org.ID,
		RegressedFrom: now.Add(-time.Hour), Limit: 5})
	require.NoError(t, err)
	require.Len(t, groups, 1)
	groups, _, err = reading.Groups(t.Context(), r.DB, reading.GroupFilter{OrganizationID: r.Org.ID,
		RegressedFrom: now.Add(time.Hour), Limit: 5})
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
		changes, _, err := reading.History(t.Context(), r.DB, r.Org.ID, group, storage.Page{Limit: 10})
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
