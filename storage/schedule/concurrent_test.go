package schedule_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/run"
	. "github.com/slipway-qa/slipway/storage/schedule"
)

// Each schedule that is due is fired once, whoever fires beside.
func TestFireBesideOthers(t *testing.T) {
	t.Parallel()
	const schedules = 2000
	for _, callers := range []int{2, 8} {
		t.Run(fmt.Sprint(callers), func(t *testing.T) {
			t.Parallel()
			w := open(t)
			w.planMany(schedules)
			var claimed, started atomic.Int64
			var group errgroup.Group
			for range callers {
				group.Go(func() error {
					for {
						done, err := w.tryFire(noon.Add(time.Second), 100)
						if err != nil {
							return err
						}
						claimed.Add(int64(done.Claimed))
						started.Add(int64(len(done.Started)))
						if done.Claimed == 0 {
							return nil
						}
					}
				})
			}
			require.NoError(t, group.Wait())
			require.Equal(t, []int64{schedules, schedules}, []int64{claimed.Load(), started.Load()})
			for _, count := range []string{
				`select count(distinct schedule_id) from test_schedule_firings where outcome = 'STARTED'`,
				`select count(*) from test_schedule_firings`,
				`select count(distinct firing_id) from suite_runs`,
				`select count(*) from tasks t join suite_runs r on r.id = t.id`,
				`select count(*) from test_schedules where run_count = 1 and next_run_at > '2026-11-22 12:00+0'`,
				`select count(*) from test_suites where run_count = 1`,
			} {
				require.Equal(t, schedules, w.Count(count), count)
			}
		})
	}
}

// People start, delete and fire what is being fired; nobody waits for ever, and what
// was committed is whole.
func TestFireWhileThingsGo(t *testing.T) {
	t.Parallel()
	w := open(t)
	const suites, schedules = 12, 60
	var pool []uuid.UUID
	for range suites {
		pool = append(pool, w.smoke(1))
	}
	var ids []uuid.UUID
	for i := range schedules {
		// In other orders, so that the order of locks matters.
		ids = append(ids, w.plan(planned{cron: "* * * * * *", suites: []uuid.UUID{pool[(i*7)%suites], pool[(i*5+3)%suites],
			pool[(suites-i%suites)%suites]}[:1+i%2]}))
	}
	var group errgroup.Group
	over := make(chan struct{})
	until := func(do func(i int) error) {
		group.Go(func() error {
			for i := 0; ; i++ {
				select {
				case <-over:
					return nil
				default:
				}
				if err := do(i); err != nil && !errors.Is(err, storage.ErrNotFound) && !errors.Is(err, authoring.ErrNoJobs) {
					return err
				}
			}
		})
	}
	var clock atomic.Int64
	for range 3 {
		until(func(int) error {
			_, err := w.tryFire(noon.Add(time.Duration(clock.Add(1))*time.Second/3), 25)
			if storage.IsLocked(err) {
				return nil // on a busy machine a lock lasts half a second, and they stay due
			}
			return err
		})
	}
	until(func(i int) error {
		_, err := w.TrySuiteRun(w.Org.Member.Writer, run.NewSuiteRun{SuiteID: pool[i%suites]})
		return err
	})
	until(func(i int) error {
		_, _, err := w.fireNow(w.Org.Member.Writer, ids[i%schedules])
		var invalid *storage.InvalidError
		if errors.As(err, &invalid) {
			return nil
		}
		return err
	})
	until(func(int) error {
		_, err := w.DB.ExecContext(fixture.Context(t), `update suite_runs set state = 'PASSED', finished_at = now() where id in (
			select id from suite_runs where state = 'QUEUED' order by id limit 50 for no key update skip locked)`)
		return err
	})
	group.Go(func() error {
		defer close(over)
		for i := range suites - 1 {
			err := w.Do(func(ctx context.Context, tx *storage.Tx) error {
				open, err := run.DeleteSuiteWithRuns(ctx, tx, w.Org.Member.Writer, pool[i], i%2 == 0)
				if err != nil {
					return err
				}
				return fixture.CancelTasks(ctx, tx, open)
			})
			if err != nil {
				return err
			}
			if _, err := w.DB.ExecContext(fixture.Context(t), `delete from test_schedules where id = any($1::uuid[])`,
				fmt.Sprintf("{%s}", ids[i])); err != nil {
				return err
			}
		}
		return nil
	})
	require.NoError(t, group.Wait())
	require.Equal(t, 1, w.Count(`select count(*) from test_suites`))
	require.Zero(t, w.Count(`select count(*) from suite_runs where state = 'QUEUED' and suite_id <> $1`, pool[suites-1]),
		"runs of suites that are gone were cancelled, or had ended")
	require.Zero(t, w.Count(`select count(*) from suite_runs r where not exists (select from tasks where id = r.id) and r.firing_id in
		(select id from test_schedule_firings where trigger <> 'MANUAL')`))
	require.Zero(t, w.Count(`select count(*) from test_schedule_firings f where outcome = 'STARTED' and not exists
		(select from suite_runs where firing_id = f.id)`))
}

// Who deletes a team or an organization locks its suites before its schedules, the
// other way round than who fires: it waits before it has any, and what it holds is
// left to it.
func TestFireWhileOrganizationsGo(t *testing.T) {
	t.Parallel()
	for _, deletion := range []string{`delete from organizations where id = $1`, `delete from teams where organization_id = $1`} {
		w := open(t)
		w.planMany(30)
		// What is due first was made last, and is deleted last.
		w.Exec(`update test_schedules s set next_run_at = $1::timestamptz - n * interval '1 second'
			from (select id, row_number() over (order by id) as n from test_schedules) o where o.id = s.id`, noon)
		var group errgroup.Group
		w.Must(func(ctx context.Context, tx *storage.Tx) error {
			for i := range 3 {
				done, err := fireWithTasks(ctx, tx, w, noon.Add(-time.Second), 10)
				if err != nil {
					return err
				}
				require.Len(t, done.Started, 10)
				if i == 0 {
					group.Go(func() error {
						_, err := w.DB.ExecContext(fixture.Context(t), deletion, w.Org.ID)
						return err
					})
					w.waitForLock()
				}
			}
			return nil
		})
		require.NoError(t, group.Wait(), deletion)
		require.Zero(t, w.Count(`select count(*) from test_schedules`), deletion)
	}
}

// What is being deleted is neither fired nor held.
func TestFireLeavesWhatGoes(t *testing.T) {
	t.Parallel()
	w := open(t)
	w.planMany(3)
	for _, held := range []string{`select from organizations where id = $1 for update`,
		`select from teams where organization_id = $1 for update`} {
		w.Must(func(ctx context.Context, tx *storage.Tx) error {
			if _, err := tx.ExecContext(ctx, held, w.Org.ID); err != nil {
				return err
			}
			return w.Do(func(ctx context.Context, firing *storage.Tx) error {
				done, err := FireDue(ctx, firing, DueStep{At: noon, Limit: 10})
				require.NoError(t, err)
				require.Zero(t, done.Claimed)
				_, err = tx.ExecContext(ctx, `select from test_schedules for update nowait`)
				return err
			})
		})
	}
	require.Equal(t, 3, w.fire(noon).Claimed)
}
