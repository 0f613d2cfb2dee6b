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

// Tasks of one key that may run one at a time follow one another at once, and not after
// the seconds by which each was put off: the first holds the key until all others are put
// off, for so long that no pause ends in the test, and each end makes the next one due.
func TestKeyLimitOfTheWorker(t *testing.T) {
	t.Parallel()
	var now, most, done atomic.Int32
	release := make(chan struct{})
	f := start(t, tasks.TestJob, func(ctx context.Context, _ *Claim) error {
		n := now.Add(1)
		defer now.Add(-1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		select {
		case <-release:
			done.Add(1)
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	})
	f.worker.Stop()
	cfg := f.worker.cfg
	cfg.KeyLimits = map[string]int{tasks.TestJob.Name: 1}
	limited, err := New(cfg)
	require.NoError(t, err)
	require.NoError(t, limited.Start())
	t.Cleanup(limited.Stop)
	const waiting = 5
	for range waiting + 1 {
		f.insert(t, tasks.NewTestJob(f.org, "", uuid.New()))
	}
	count := func(query string) (n int) {
		require.NoError(t, f.db.Get(&n, query))
		return n
	}
	require.Eventually(t, func() bool {
		return count(`select count(*) from tasks where state = 'queued' and run_at > now() + interval '2 seconds'`) == waiting
	}, 2*time.Minute, 10*time.Millisecond)
	putOff := func() {
		_, err := f.db.Exec(`update tasks set run_at = now() + interval '50 seconds' where state = 'queued'`)
		require.NoError(t, err)
	}
	putOff()
	// A delivery that is under way puts its task off by seconds again, after the fifty.
	require.Eventually(t, func() bool {
		depths, err := cfg.Redis.Depths(t.Context())
		require.NoError(t, err)
		var held int64
		for _, d := range depths {
			if d.Queue == tasks.TestJob.Queue {
				held += d.Count
			}
		}
		return held <= 1 // that of the first
	}, 2*time.Minute, 10*time.Millisecond)
	putOff()
	close(release)
	require.Eventually(t, func() bool {
		return count(`select count(*) from tasks where state <> 'succeeded'`) == 0
	}, 2*time.Minute, 10*time.Millisecond)
	require.EqualValues(t, waiting+1, done.Load())
	require.EqualValues(t, 1, most.Load())
	// What an end makes due is due at the very time of that end, which no pause hits.
	require.Equal(t, waiting, count(`
		select count(*) from tasks t where exists (select from tasks o where o.id <> t.id and o.finished_at = t.run_at)`))
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
