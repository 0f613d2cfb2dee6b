package crash_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/crashtest"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/storage/crash/reading"
)

func (r *room) merge(ctx context.Context, org, source, target int64) (id int64, done bool, err error) {
	err = r.DB.InTx(ctx, func(tx *storage.Tx) error {
		id, done, err = crash.Merge(ctx, tx, crashtest.Writer(org), source, target)
		return err
	})
	return id, done, err
}

func TestMerge(t *testing.T) {
	t.Parallel()
	r := open(t)
	for i := range 120 {
		r.Record(r.Made(func(c *crash.Crash) { c.Host, c.Version = fmt.Sprintf("a%03d", i), "1" }),
			r.Made(func(c *crash.Crash) {
				c.Group, c.Host, c.Version = crashtest.Grouping("b"), fmt.Sprintf("b%03d", i), "1"
				c.OccurredAt = crashtest.Epoch.Add(48 * time.Hour)
			}))
	}
	r.Record(r.Made(func(c *crash.Crash) { c.Group = crashtest.Grouping("c") }))
	a, b, c := r.Group("k").ID, r.Group("b").ID, r.Group("c").ID
	id, done, err := r.merge(t.Context(), r.Org.ID, a, b)
	require.NoError(t, err)
	require.True(t, done)
	require.Equal(t, b, id)

	g := r.Group("k")
	require.Equal(t, b, g.ID)
	require.Equal(t, "title b", g.Title)
	require.EqualValues(t, 240, g.Count)
	require.True(t, g.FirstSeen.Equal(crashtest.Epoch))
	require.True(t, g.LastSeen.Equal(crashtest.Epoch.Add(48*time.Hour)))
	require.Equal(t, 200, g.Hosts.Total, "the bound is kept")
	require.EqualValues(t, 240, g.Versions.Values[0].Count)
	require.EqualValues(t, 3, r.Count(`select count(*) from crash_group_days`), "each part keeps its days")
	_, total, err := reading.Crashes(t.Context(), r.DB, reading.CrashFilter{OrganizationID: r.Org.ID, GroupID: b, Limit: 10})
	require.NoError(t, err)
	require.Equal(t, 240, total.Rows)

	// What is reported from now on is the target's.
	r.Record(r.Made(nil))
	require.EqualValues(t, 241, r.Group("b").Count)

	// Old ids lead to the target, over several merges.
	_, done, err = r.merge(t.Context(), r.Org.ID, a, b)
	require.NoError(t, err, "a repeated request is no error")
	require.False(t, done)
	_, _, err = r.merge(t.Context(), r.Org.ID, b, c)
	require.NoError(t, err)
	for _, old := range []int64{a, b, c} {
		g, err := reading.GroupByID(t.Context(), r.DB, r.Org.ID, old)
		require.NoError(t, err)
		require.Equal(t, c, g.ID)
		_, err = reading.GroupByID(t.Context(), r.DB, r.Rival.ID, old)
		require.ErrorIs(t, err, storage.ErrNotFound)
	}
	require.EqualValues(t, 242, r.Group("c").Count)
}

func TestMergeRefusals(t *testing.T) {
	t.Parallel()
	r := open(t)
	other := r.Org.CrashProject("second")
	r.Record(r.Made(nil), r.Made(func(c *crash.Crash) { c.ProjectID, c.Group = other, crashtest.Grouping("x") }))
	a, x := r.Group("k").ID, r.Group("x").ID
	_, _, err := r.merge(t.Context(), r.Org.ID, a, x)
	require.ErrorIs(t, err, storage.ErrConflict)
	var invalid *storage.InvalidError
	_, _, err = r.merge(t.Context(), r.Org.ID, a, a)
	require.ErrorAs(t, err, &invalid)
	_, _, err = r.merge(t.Context(), r.Org.ID, a, 999999)
	require.ErrorAs(t, err, &invalid)
	_, _, err = r.merge(t.Context(), r.Org.ID, 999999, a)
	require.ErrorIs(t, err, storage.ErrNotFound)
	_, _, err = r.merge(t.Context(), r.Rival.ID, a, x)
	require.ErrorIs(t, err, storage.ErrNotFound)
	require.EqualValues(t, 2, r.Count(`select count(*) from crash_groups`))
}

// Reports of all groups come in while they are merged pairwise, in circles and
// into one: no occurrence is lost, and nothing deadlocks.
func TestMergeWhileRecording(t *testing.T) {
	t.Parallel()
	r := open(t)
	const keys = 6
	var ids [keys]int64
	for i := range keys {
		r.Record(r.Made(func(c *crash.Crash) { c.Group = crashtest.Grouping(fmt.Sprint("m", i)) }))
		ids[i] = r.Group(fmt.Sprint("m", i)).ID
	}
	var recorded atomic.Int64
	recorded.Store(keys)
	stop := make(chan struct{})
	var wait sync.WaitGroup
	for n := range 4 {
		wait.Go(func() {
			for round := 0; ; round++ {
				select {
				case <-stop:
					return
				default:
				}
				var crashes []crash.Crash
				for i := range keys {
					key := fmt.Sprint("m", (i+n)%keys)
					if i == 0 && round%3 == 0 {
						key = fmt.Sprint("new", n, round) // new groups are made beside
					}
					crashes = append(crashes, r.Made(func(c *crash.Crash) {
						c.Group, c.Host, c.Duplicates = crashtest.Grouping(key),
							fmt.Sprint("h", n), 2
					}))
				}
				err := r.DB.InTx(crashtest.Bounded(t), func(tx *storage.Tx) error {
					return crash.Record(t.Context(), tx, r.Org.ID, crashes)
				})
				if err != nil {
					t.Errorf("record: %v", err)
					return
				}
				recorded.Add(2 * keys)
			}
		})
	}
	var merges sync.WaitGroup
	for n := range 2 {
		merges.Go(func() {
			for i := range keys {
				source, target := ids[(i+n)%keys], ids[(i+n+1)%keys]
				_, _, err := r.merge(crashtest.Bounded(t), r.Org.ID, source, target)
				var invalid *storage.InvalidError
				if err != nil && !errors.As(err, &invalid) { // into itself, at the end of a circle
					t.Errorf("merge: %v", err)
				}
			}
		})
	}
	merges.Wait()
	close(stop)
	wait.Wait()
	require.EqualValues(t, recorded.Load(), r.Count(`select sum(count) from crash_groups where root_id is null`))
	require.EqualValues(t, recorded.Load(), r.Count(`select sum(count) from crash_group_days`))
	require.EqualValues(t, recorded.Load(), r.Count(`select sum(duplicates) from crashes where key_id is not null`))
	require.EqualValues(t, 1, r.Count(`select count(distinct coalesce(g.root_id, g.id)) from crash_group_keys k join crash_groups g
		on g.id = k.group_id where g.title like 'title m%'`), "all met in one group")
	for _, id := range ids {
		_, err := reading.GroupByID(t.Context(), r.DB, r.Org.ID, id)
		require.NoError(t, err)
	}
}

func (r *room) unmerge(part int64) error {
	return r.DB.InTx(r.T.Context(), func(tx *storage.Tx) error {
		_, err := crash.Unmerge(r.T.Context(), tx, crashtest.Writer(r.Org.ID), part)
		return err
	})
}

// shown is the count and the times of a group, and of the group that has a key.
func (r *room) shown(id int64) string {
	r.T.Helper()
	g, err := reading.GroupByID(r.T.Context(), r.DB, r.Org.ID, id)
	require.NoError(r.T, err)
	hosts := 0
	for _, h := range g.Hosts.Values {
		hosts += int(h.Count)
	}
	days := r.Count(`select sum(d.count) from crash_group_days d join crash_groups g on g.id = d.group_id
		where $1 in (g.id, g.root_id)`, g.ID)
	return fmt.Sprintf("%s %d %d %d %s %s", strings.TrimPrefix(g.Title, "title "), g.Count, hosts, days,
		g.FirstSeen.Sub(crashtest.Epoch), g.LastSeen.Sub(crashtest.Epoch))
}

// merges is the history of a group of its own, the oldest first, with groups by their names.
func (r *room) merges(key string, ids map[string]int64) (list []string) {
	r.T.Helper()
	changes, _, err := reading.History(r.T.Context(), r.DB, r.Org.ID, ids[key], storage.Page{Limit: 20})
	require.NoError(r.T, err)
	for _, c := range slices.Backward(changes) {
		require.Equal(r.T, ids[key], c.GroupID)
		require.Empty(r.T, c.State)
		var detail map[string]int64
		require.NoError(r.T, json.Unmarshal(c.Detail, &detail))
		for what, id := range detail {
			for name, at := range ids {
				if at == id {
					list = append(list, what+" "+name)
				}
			}
		}
	}
	return list
}

// A part that is taken out has what it had, and all that was reported meanwhile.
func TestUnmerge(t *testing.T) {
	t.Parallel()
	r := open(t)
	report := func(key string, hours int) {
		r.Record(r.Made(func(c *crash.Crash) {
			c.Group, c.Host, c.OccurredAt = crashtest.Grouping(key), "h", crashtest.Epoch.Add(time.Duration(hours)*time.Hour)
		}))
	}
	ids := map[string]int64{}
	for i, key := range []string{"a", "b", "c", "d"} {
		report(key, 10*i)
		ids[key] = r.Group(key).ID
	}
	merge := func(source, target string) {
		t.Helper()
		_, done, err := r.merge(t.Context(), r.Org.ID, ids[source], ids[target])
		require.NoError(t, err)
		require.True(t, done)
	}
	merge("a", "b")
	merge("b", "c")
	report("a", 50)
	report("b", -3)
	require.Equal(t, "c 5 5 5 -3h0m0s 50h0m0s", r.shown(ids["c"]))
	require.Equal(t, r.shown(ids["c"]), r.shown(ids["a"]), "an alias leads to the group")
	parts, more, err := crash.Parts(t.Context(), r.DB, r.Org.ID, ids["c"])
	require.NoError(t, err)
	require.False(t, more)
	require.Len(t, parts, 2)
	groups, total, err := reading.Groups(t.Context(), r.DB, reading.GroupFilter{OrganizationID: r.Org.ID, Limit: 9})
	require.NoError(t, err)
	require.Equal(t, 2, total.Rows)
	require.Len(t, groups, 2)

	// b takes along what was merged into it before.
	require.NoError(t, r.unmerge(ids["b"]))
	require.Equal(t, "b 4 4 4 -3h0m0s 50h0m0s", r.shown(ids["b"]))
	require.Equal(t, "c 1 1 1 20h0m0s 20h0m0s", r.shown(ids["c"]))
	require.Equal(t, r.shown(ids["b"]), r.shown(ids["a"]))

	// An alias that is merged elsewhere moves alone.
	merge("a", "d")
	require.Equal(t, "b 2 2 2 -3h0m0s 10h0m0s", r.shown(ids["b"]))
	require.Equal(t, "d 3 3 3 0s 50h0m0s", r.shown(ids["d"]))
	rows, total, err := reading.Crashes(t.Context(), r.DB, reading.CrashFilter{OrganizationID: r.Org.ID, GroupID: ids["d"], Limit: 9})
	require.NoError(t, err)
	require.Equal(t, 3, total.Rows)
	for _, row := range rows {
		require.Equal(t, ids["d"], *row.GroupID)
	}

	require.NoError(t, r.unmerge(ids["a"]))
	require.Equal(t, "a 2 2 2 0s 50h0m0s", r.shown(ids["a"]))
	require.Equal(t, []string{"merged_into b", "merged_into d", "taken_from d"}, r.merges("a", ids))
	require.Equal(t, []string{"merged a", "merged_into c", "taken_from c", "unmerged a"}, r.merges("b", ids))
	require.Equal(t, []string{"merged b", "unmerged b"}, r.merges("c", ids))
	require.Equal(t, []string{"merged a", "unmerged a"}, r.merges("d", ids))
	var invalid *storage.InvalidError
	require.ErrorAs(t, r.unmerge(ids["a"]), &invalid)
	require.ErrorIs(t, r.unmerge(999999), storage.ErrNotFound)
}

// Days outlive crashes: where these are gone, the days say when a group was seen.
func TestUnmergeWithoutCrashes(t *testing.T) {
	t.Parallel()
	r := open(t)
	r.Record(r.Made(nil), r.Made(func(c *crash.Crash) {
		c.Group, c.OccurredAt = crashtest.Grouping("b"), crashtest.Epoch.Add(30*time.Hour)
	}))
	a, b := r.Group("k").ID, r.Group("b").ID
	_, err := r.DB.ExecContext(t.Context(), `delete from crashes`)
	require.NoError(t, err)
	_, _, err = r.merge(t.Context(), r.Org.ID, a, b)
	require.NoError(t, err)
	require.NoError(t, r.unmerge(a))
	require.Equal(t, "k 1 0 1 -12h0m0s -12h0m0s", r.shown(a))
}
