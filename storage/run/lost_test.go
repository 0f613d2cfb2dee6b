package run_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/idempotency"
	. "github.com/slipway-qa/slipway/storage/run"
)

func (w *room) endLost(limit int) (n int64) {
	w.T.Helper()
	w.Must(func(ctx context.Context, tx *storage.Tx) (err error) {
		n, err = EndLostJobs(ctx, tx, limit)
		return err
	})
	return n
}

func TestEndLostJobs(t *testing.T) {
	t.Parallel()
	w := open(t)
	c := w.NewCase(w.Org.Member.Writer, "log in")
	run := w.NewRun(c, 5) // dead, cancelled, missing, running, succeeded
	for i, state := range []string{"dead", "cancelled", "", "running", "succeeded"} {
		w.Exec(`update tasks set state = $2 where id = $1 and $2::text <> ''`, run.Jobs[i].ID, state)
	}
	w.Exec(`delete from tasks where id = $1`, run.Jobs[2].ID)
	suite, jobs := w.SuiteRun(2, 1)
	w.MustEnd(jobs[0], Passed)
	w.Exec(`update tasks set state = 'dead' where id = $1`, jobs[1])

	require.EqualValues(t, 2, w.endLost(2), "in steps")
	require.EqualValues(t, 2, w.endLost(10), "a task that is missing is waited for")
	require.Zero(t, w.endLost(10))
	w.Exec(`update test_runs set created_at = now() - interval '2 minutes'`)
	require.EqualValues(t, 1, w.endLost(10))

	got := w.ReadRun(run)
	var states []Status
	for _, j := range got.Jobs {
		states = append(states, j.Status)
	}
	require.Equal(t, []Status{Errored, Cancelled, Errored, Queued, Errored}, states)
	require.Equal(t, CodeWorkerLost, got.Jobs[0].ErrorCode)
	require.NotEmpty(t, got.Jobs[0].Error)
	require.Equal(t, CodeCancelled, got.Jobs[1].ErrorCode)
	require.False(t, got.Status.Terminal())
	require.Equal(t, Errored, w.ReadSuiteRun(suite).Status)
	w.Event(suite.ID)

	w.Exec(`update tasks set state = 'dead' where id = $1`, run.Jobs[3].ID)
	require.EqualValues(t, 1, w.endLost(10))
	require.Equal(t, Errored, w.ReadRun(run).Status)
	w.Event(run.ID)
}

func TestEndLostSuiteRuns(t *testing.T) {
	t.Parallel()
	w := open(t)
	suite := w.NewSuite(w.Org.Member.Writer, "smoke", w.NewCase(w.Org.Member.Writer, "a").ID)
	var runs []*SuiteRun
	for _, state := range []string{"dead", "cancelled", "queued", "gone"} {
		run, err := w.TrySuiteRun(w.Org.Member.Writer, NewSuiteRun{SuiteID: suite.ID})
		require.NoError(t, err)
		if state == "gone" {
			w.Exec(`delete from tasks where id = $1`, run.ID)
		} else {
			w.Exec(`update tasks set state = $2 where id = $1`, run.ID, state)
		}
		runs = append(runs, run)
	}
	require.EqualValues(t, 2, w.endLost(10))
	w.Exec(`update suite_runs set created_at = now() - interval '2 minutes'`)
	require.EqualValues(t, 1, w.endLost(10))
	require.Zero(t, w.endLost(10))
	for i, want := range []Status{Errored, Cancelled, Queued, Errored} {
		got := w.ReadSuiteRun(runs[i])
		require.Equal(t, want, got.Status)
		if want.Terminal() {
			require.NotEmpty(t, got.Error)
			require.EqualValues(t, want, w.Event(runs[i].ID)["status"])
		}
	}
	w.Must(func(ctx context.Context, tx *storage.Tx) error {
		return FailSuiteRun(ctx, tx, runs[2].ID, "too\x00 large")
	})
	got := w.ReadSuiteRun(runs[2])
	require.Equal(t, Errored, got.Status)
	require.Equal(t, "too\uFFFD large", got.Error)
	w.Must(func(ctx context.Context, tx *storage.Tx) error {
		return FailSuiteRun(ctx, tx, runs[2].ID, "again")
	})
	require.Equal(t, got.Error, w.ReadSuiteRun(runs[2]).Error)
}

// forget forgets until nothing is left and gives the keys and the steps.
func (w *room) forget(limit int) (keys []string, steps int) {
	w.T.Helper()
	for more := true; more; steps++ {
		require.Less(w.T, steps, 100)
		w.Must(func(ctx context.Context, tx *storage.Tx) error {
			var some []string
			var err error
			some, more, err = Forget(ctx, tx, limit)
			keys = append(keys, some...)
			return err
		})
	}
	return keys, steps
}

func TestForgetRunsOfWhatIsGone(t *testing.T) {
	t.Parallel()
	w := open(t)
	kept, gone := w.NewCase(w.Org.Member.Writer, "kept"), w.NewCase(w.Org.Member.Writer, "gone")
	for _, c := range []*authoring.Case{kept, gone, gone} {
		w.MustEnd(w.NewRun(c, 1).Jobs[0].ID, Passed)
	}
	run, jobs := w.SuiteRun(2, 1) // one of its cases goes
	for _, job := range jobs {
		w.MustEnd(job, Passed)
	}
	lost, jobs := w.SuiteRun(2, 1) // the suite goes
	for _, job := range jobs {
		w.MustEnd(job, Passed)
	}
	never, err := w.TrySuiteRun(w.Org.Member.Writer, NewSuiteRun{SuiteID: lost.SuiteID})
	require.NoError(t, err)
	w.Exec(`update suite_runs set state = 'CANCELLED' where id = $1`, never.ID)
	w.Exec(`delete from test_cases where id = $1`, gone.ID)
	w.Exec(`delete from test_cases where id = (select min(case_id) from test_runs where suite_run_id = $1)`, run.ID)
	w.Exec(`delete from test_suites where id = $1`, lost.SuiteID)

	w.forget(1)
	require.Equal(t, 1, w.Count(`select count(*) from test_runs where suite_run_id is null`))
	require.Equal(t, 1, w.Count(`select count(*) from suite_runs`))
	require.Equal(t, 2, w.ReadSuiteRun(run).Counts[Passed], "a suite run keeps the runs of a case that is gone")
}

func TestForgetEventsAndKeys(t *testing.T) {
	t.Parallel()
	w := open(t)
	c := w.NewCase(w.Org.Member.Writer, "log in")
	for _, key := range []string{"a", "b", "c"} {
		run, err := w.TryRun(w.Org.Member.Writer, c, 1, key)
		require.NoError(t, err)
		w.MustEnd(run.Jobs[0].ID, Passed)
	}
	for _, forget := range []func(context.Context, storage.Querier, time.Time, int) (int64, error){ForgetEvents, idempotency.Forget} {
		n, err := forget(fixture.Context(t), w.DB, time.Now().Add(-time.Hour), 10)
		require.NoError(t, err)
		require.Zero(t, n)
		n, err = forget(fixture.Context(t), w.DB, time.Now().Add(time.Minute), 2)
		require.NoError(t, err)
		require.EqualValues(t, 2, n)
	}
	require.Equal(t, 1, w.Count(`select count(*) from events`))
	require.Equal(t, 1, w.Count(`select count(*) from idempotency_keys`))
}
