package worker

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/tasks"
)

// Eight tasks of one key that may run one at a time follow one another at once,
// and not after the seconds by which each was put off.
func TestKeyLimitOfTheWorker(t *testing.T) {
	t.Parallel()
	var now, most, done atomic.Int32
	f := start(t, tasks.TestJob, func(context.Context, *Claim) error {
		n := now.Add(1)
		defer now.Add(-1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		done.Add(1)
		return nil
	})
	f.worker.Stop()
	cfg := f.worker.cfg
	cfg.KeyLimits = map[string]int{tasks.TestJob.Name: 1}
	limited, err := New(cfg)
	require.NoError(t, err)
	require.NoError(t, limited.Start())
	t.Cleanup(limited.Stop)
	for range 8 {
		f.insert(t, tasks.NewTestJob(f.org, "", uuid.New()))
	}
	require.Eventually(t, func() bool { return done.Load() == 8 }, time.Minute, 10*time.Millisecond)
	require.EqualValues(t, 1, most.Load())
	var late int
	require.Eventually(t, func() bool {
		require.NoError(t, f.db.Get(&late, `select count(*) from tasks where state <> 'succeeded'`))
		return late == 0
	}, time.Minute, 10*time.Millisecond)
	// The end of one makes the next one due: none was due only when its pause was over.
	require.NoError(t, f.db.Get(&late, `
		select count(*) from tasks t where run_at > created_at and not exists (
			select from tasks o where o.id <> t.id and o.finished_at >= t.run_at and o.finished_at <= t.started_at)`))
	require.Zero(t, late)
}

func TestKeyLimitsAreChecked(t *testing.T) {
	t.Parallel()
	for name, limits := range map[string]map[string]int{
		"unknown kind": {"nosuch": 1}, "negative": {tasks.TestJob.Name: -1},
	} {
		_, err := New(Config{Ledger: ledger.New(nil), Pools: []Pool{{Slots: 1}}, KeyLimits: limits})
		require.ErrorContains(t, err, "limit", name)
	}
	w, err := New(Config{Ledger: ledger.New(nil), Pools: []Pool{{Slots: 1}}, KeyLimits: map[string]int{tasks.TestJob.Name: 3}})
	require.NoError(t, err)
	require.Equal(t, 3, w.keyLimit(tasks.TestJob))
	require.Equal(t, tasks.BuildSync.KeyLimit, w.keyLimit(tasks.BuildSync))
}
