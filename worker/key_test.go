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
	begun := time.Now()
	for range 8 {
		f.insert(t, tasks.NewTestJob(f.org, "", uuid.New()))
	}
	require.Eventually(t, func() bool { return done.Load() == 8 }, 20*time.Second, 10*time.Millisecond)
	require.EqualValues(t, 1, most.Load())
	require.Less(t, time.Since(begun), 15*time.Second, "seven putting offs of 5 s each would take longer")
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
