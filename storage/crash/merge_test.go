package crash_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash"
)

func (w *world) merge(ctx context.Context, org, source, target int64) (id int64, done bool, err error) {
	err = w.db.InTx(ctx, func(tx *storage.Tx) error {
		id, done, err = crash.Merge(ctx, tx, writer(org), source, target)
		return err
	})
	return id, done, err
}

func TestMerge(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i := range 120 {
		w.record(w.made(func(c *crash.Crash) { c.Host, c.Version = fmt.Sprintf("a%03d", i), "1" }),
			w.made(func(c *crash.Crash) {
				c.Group, c.Host, c.Version = grouping("b"), fmt.Sprintf("b%03d", i), "1"
				c.OccurredAt = epoch.Add(48 * time.Hour)
			}))
	}
	w.record(w.made(func(c *crash.Crash) { c.Group = grouping("c") }))
	a, b, c := w.group("k").ID, w.group("b").ID, w.group("c").ID
	id, done, err := w.merge(t.Context(), w.org, a, b)
	require.NoError(t, err)
	require.True(t, done)
	require.Equal(t, b, id)

	g := w.group("k")
	require.Equal(t, b, g.ID)
	require.Equal(t, "title b", g.Title)
	require.EqualValues(t, 240, g.Count)
	require.True(t, g.FirstSeen.Equal(epoch))
	require.True(t, g.LastSeen.Equal(epoch.Add(48*time.Hour)))
	require.Equal(t, 200, g.Hosts.Total, "the bound is kept")
	require.EqualValues(t, 240, g.Versions.Values[0].Count)
	require.EqualValues(t, 2, w.number(`select count(*) from crash_group_days where group_id = $1`, b))
	_, total, err := crash.Crashes(t.Context(), w.store.DB(), crash.CrashFilter{OrganizationID: w.org, GroupID: b, Limit: 10})
	require.NoError(t, err)
	require.Equal(t, 240, total)

	// What is reported from now on is the target's.
	w.record(w.made(nil))
	require.EqualValues(t, 241, w.group("b").Count)

	// Old ids lead to the target, over several merges.
	_, done, err = w.merge(t.Context(), w.org, a, b)
	require.NoError(t, err, "a repeated request is no error")
	require.False(t, done)
	_, _, err = w.merge(t.Context(), w.org, b, c)
	require.NoError(t, err)
	for _, old := range []int64{a, b, c} {
		g, err := crash.GroupByID(t.Context(), w.store.DB(), w.org, old)
		require.NoError(t, err)
		require.Equal(t, c, g.ID)
		_, err = crash.GroupByID(t.Context(), w.store.DB(), w.org2, old)
		require.ErrorIs(t, err, storage.ErrNotFound)
	}
	require.EqualValues(t, 242, w.group("c").Count)
}

func TestMergeRefusals(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	other := w.newProject(w.org, "second")
	w.record(w.made(nil), w.made(func(c *crash.Crash) { c.ProjectID, c.Group = other, grouping("x") }))
	a, x := w.group("k").ID, w.group("x").ID
	_, _, err := w.merge(t.Context(), w.org, a, x)
	require.ErrorIs(t, err, storage.ErrConflict)
	var invalid *storage.InvalidError
	_, _, err = w.merge(t.Context(), w.org, a, a)
	require.ErrorAs(t, err, &invalid)
	_, _, err = w.merge(t.Context(), w.org, a, 999999)
	require.ErrorAs(t, err, &invalid)
	_, _, err = w.merge(t.Context(), w.org, 999999, a)
	require.ErrorIs(t, err, storage.ErrNotFound)
	_, _, err = w.merge(t.Context(), w.org2, a, x)
	require.ErrorIs(t, err, storage.ErrNotFound)
	require.EqualValues(t, 2, w.number(`select count(*) from crash_groups`))
}

// Reports of all groups come in while they are merged pairwise, in circles and
// into one: no occurrence is lost, and nothing deadlocks.
func TestMergeWhileRecording(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const keys = 6
	var ids [keys]int64
	for i := range keys {
		w.record(w.made(func(c *crash.Crash) { c.Group = grouping(fmt.Sprint("m", i)) }))
		ids[i] = w.group(fmt.Sprint("m", i)).ID
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
					crashes = append(crashes, w.made(func(c *crash.Crash) { c.Group, c.Host, c.Duplicates = grouping(key), fmt.Sprint("h", n), 2 }))
				}
				err := w.db.InTx(bounded(t), func(tx *storage.Tx) error {
					return crash.Record(t.Context(), tx, w.org, crashes)
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
				_, _, err := w.merge(bounded(t), w.org, source, target)
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
	require.EqualValues(t, recorded.Load(), w.number(`select sum(count) from crash_groups`))
	require.EqualValues(t, recorded.Load(), w.number(`select sum(count) from crash_group_days`))
	require.EqualValues(t, recorded.Load(), w.number(`select sum(duplicates) from crashes where key_id is not null`))
	require.EqualValues(t, 1, w.number(`select count(distinct group_id) from crash_group_keys k join crash_groups g
		on g.id = k.group_id where g.title like 'title m%'`), "all met in one group")
	for _, id := range ids {
		_, err := crash.GroupByID(t.Context(), w.store.DB(), w.org, id)
		require.NoError(t, err)
	}
}
