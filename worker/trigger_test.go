package worker

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/tasks"
)

// prober is a handler that is asked before its row is made.
type prober struct {
	handlerFunc
	pending func(context.Context) (bool, error)
	asked   atomic.Int32
}

func (p *prober) Pending(ctx context.Context) (bool, error) {
	p.asked.Add(1)
	return p.pending(ctx)
}

func due(context.Context) (bool, error) { return true, nil }

// probing is a worker with a prober as the handler of the tick.
func probing(t *testing.T, p *prober) *fixture {
	t.Helper()
	return startWith(t, tasks.ScheduleTick, p)
}

// ticks returns all ticks, newest first.
func (f *fixture) ticks(t *testing.T) []ledger.Task {
	t.Helper()
	all, _, err := f.store.List(context.Background(), ledger.Filter{Kinds: []string{tasks.ScheduleTick.Name}, Limit: 100})
	require.NoError(t, err)
	return all
}

func TestTriggerOfAProberMakesNoRowWithoutWork(t *testing.T) {
	t.Parallel()
	for name, pending := range map[string]func(context.Context) (bool, error){
		"nothing due": func(context.Context) (bool, error) { return false, nil },
		"error":       func(context.Context) (bool, error) { return true, errors.New("away") },
		"panic":       func(context.Context) (bool, error) { panic("boom") },
		"hangs": func(ctx context.Context) (bool, error) {
			if at, ok := ctx.Deadline(); !ok || time.Until(at) > probeTime {
				return true, nil // and so makes a row
			}
			return false, context.DeadlineExceeded
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &prober{pending: pending, handlerFunc: func(context.Context, *Claim) error { return nil }}
			f := probing(t, p)
			f.worker.receiveTrigger(tasks.ScheduleTick)
			require.EqualValues(t, 1, p.asked.Load())
			require.Empty(t, f.ticks(t))
		})
	}
}

// The trigger goes the whole way: through Redis to a row that ran once.
func TestTriggerOfAProberRunsAtOnce(t *testing.T) {
	t.Parallel()
	p := &prober{pending: due}
	var rows atomic.Int32
	p.handlerFunc = func(ctx context.Context, claim *Claim) error {
		rows.Add(int32(len(claim.Tasks)))
		return claim.Finish(ctx, map[string]int{"fires": 2}, nil)
	}
	f := probing(t, p)
	require.NoError(t, f.worker.cfg.Redis.Trigger(context.Background(), tasks.ScheduleTick))
	require.Eventually(t, func() bool {
		all := f.ticks(t)
		return len(all) == 1 && all[0].State == ledger.Succeeded
	}, time.Minute, 10*time.Millisecond)
	tick := f.ticks(t)[0]
	require.JSONEq(t, `{"fires":2}`, string(*tick.Result))
	require.Equal(t, 1, tick.Attempt)
	require.EqualValues(t, 1, rows.Load())
}

func TestNoMoreTicksThanSlots(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	var running sync.WaitGroup
	running.Add(tasks.ScheduleTick.Open)
	p := &prober{pending: due, handlerFunc: func(context.Context, *Claim) error {
		running.Done()
		<-release
		return nil
	}}
	f := probing(t, p)
	var triggers sync.WaitGroup
	for range tasks.ScheduleTick.Open {
		triggers.Go(func() { f.worker.receiveTrigger(tasks.ScheduleTick) })
	}
	running.Wait()
	f.worker.receiveTrigger(tasks.ScheduleTick) // finds every slot taken and returns
	require.Len(t, f.ticks(t), tasks.ScheduleTick.Open)
	close(release)
	triggers.Wait()
	for _, tick := range f.ticks(t) {
		require.Equal(t, ledger.Succeeded, tick.State)
	}
	running.Add(1)
	f.worker.receiveTrigger(tasks.ScheduleTick)
	require.Len(t, f.ticks(t), tasks.ScheduleTick.Open+1, "slots are free again")
}

// A tick that works for long does not keep others from being triggered.
func TestTriggerIsReleasedBeforeTheWork(t *testing.T) {
	t.Parallel()
	started, release := make(chan struct{}, tasks.ScheduleTick.Open), make(chan struct{})
	f := probing(t, &prober{pending: due, handlerFunc: func(context.Context, *Claim) error {
		started <- struct{}{}
		<-release
		return nil
	}})
	defer close(release)
	for range 2 {
		require.NoError(t, f.worker.cfg.Redis.Trigger(context.Background(), tasks.ScheduleTick))
		<-started
		locks, err := f.worker.cfg.Redis.Client().Keys(context.Background(), "asynq:{"+tasks.Schedule+"}:unique:*").Result()
		require.NoError(t, err)
		require.Empty(t, locks, "the next trigger is taken while this one works")
	}
}

// A worker that dies between the row and its claim, or at work, leaves a row that
// goes the ordinary way.
func TestTickOfADeadWorkerRuns(t *testing.T) {
	t.Parallel()
	for name, left := range map[string]string{
		"before the claim": `select 1`,
		"at work": `update tasks set state = 'running', attempt = 1, worker = 'dead',
			heartbeat_at = now() - interval '1 minute'`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, ctx := probing(t, &prober{pending: due, handlerFunc: func(context.Context, *Claim) error { return nil }}), context.Background()
			tick := tasks.NewPeriodic(tasks.ScheduleTick, 0)
			require.NoError(t, f.db.InTx(ctx, func(tx *storage.Tx) error { // no worker sees it in between
				if _, err := ledger.Insert(ctx, tx, tick); err != nil {
					return err
				}
				_, err := tx.ExecContext(ctx, left)
				return err
			}))
			_, err := f.store.Rescue(ctx, 6*time.Second)
			require.NoError(t, err)
			f.await(t, tick.ID, in(ledger.Succeeded))
		})
	}
}

func TestTriggerWithoutAHandlerMakesNothing(t *testing.T) {
	t.Parallel()
	f := start(t, tasks.CrashPurge, func(context.Context, *Claim) error { return nil })
	for _, kind := range []tasks.Kind{tasks.ScheduleTick, tasks.LedgerRetention} {
		f.worker.receiveTrigger(kind)
	}
	_, total, err := f.store.List(context.Background(), ledger.Filter{Limit: 1})
	require.NoError(t, err)
	require.Zero(t, total.Rows)
}
