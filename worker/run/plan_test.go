package run

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/ledger"
	store "github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/run/reading"
	"github.com/slipway-qa/slipway/storage/suiteplan"
	"github.com/slipway-qa/slipway/tasks"
)

// planned starts a run of a suite of cases, fanned out, and returns the job of each by its name.
func (w *world) planned(plan func(ids map[string]string) suiteplan.Change, names ...string) (*store.SuiteRun, map[string]uuid.UUID) {
	w.t.Helper()
	ids, list := map[string]string{}, []string{}
	for _, name := range names {
		ids[name] = w.newCase(name, "dev").ID
		list = append(list, ids[name])
	}
	var suite *authoring.Suite
	w.must(func(ctx context.Context, tx *storage.Tx) (err error) {
		suite, err = authoring.CreateSuite(ctx, tx, w.writer, authoring.NewSuite{Name: "planned", Cases: list, Plan: plan(ids)})
		return err
	})
	run := w.startSuite(suite.ID)
	require.NoError(w.t, w.suite().Handle(w.t.Context(), w.claim(tasks.SuiteRun, run.ID)))
	runs, err := reading.OfSuiteRun(w.t.Context(), w.db, run.ID)
	require.NoError(w.t, err)
	jobs := map[string]uuid.UUID{}
	for _, r := range runs {
		jobs[r.CaseName] = r.Jobs[0].ID
	}
	return run, jobs
}

// Nothing waits in a worker: the task of a job is put off, and woken by the end of what it needs.
func TestJobsThatNeedOthers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	run, jobs := w.planned(func(ids map[string]string) suiteplan.Change {
		return suiteplan.Change{DependsOn: &map[string][]string{ids["pay"]: {ids["cart"]}, ids["cart"]: {ids["login"]}}}
	}, "pay", "cart", "login")
	require.Equal(t, 2, w.number(`select count(*) from tasks where kind = 'test:job' and run_at > now() + interval '1 minute'`))

	// A worker that takes it nevertheless puts it off again.
	w.exec(`update tasks set run_at = now() where id = $1`, jobs["cart"])
	early := w.claim(tasks.TestJob, jobs["cart"])
	err := w.handler.Handle(t.Context(), early)
	var snooze *tasks.SnoozeError
	require.ErrorAs(t, err, &snooze)
	require.Equal(t, store.HeldFor, snooze.For)
	_, err = w.ledger.Release(t.Context(), []ledger.Token{early.Tasks[0].Token()}, snooze.For)
	require.NoError(t, err)

	w.plays(store.CodeAssertionFailed)
	require.NoError(t, w.handler.Handle(t.Context(), w.claim(tasks.TestJob, jobs["login"])))
	for _, name := range []string{"cart", "pay"} { // each is due as what it needs has ended
		require.NoError(t, w.handler.Handle(t.Context(), w.claim(tasks.TestJob, jobs[name])))
	}
	got, err := reading.SuiteRunByID(t.Context(), w.db, w.org, run.SuiteID, run.ID)
	require.NoError(t, err)
	require.Equal(t, store.Failed, got.Status)
	require.Equal(t, 2, got.Counts[store.Cancelled])
	require.Equal(t, 2, w.number(`select count(*) from test_jobs where error_code = $1`, store.CodeNeeds))
	require.Equal(t, 1, w.number(`select count(*) from test_jobs where error = 'skipped: it needs "login", which failed'`))
	require.Equal(t, 3, w.number(`select count(*) from tasks where kind = 'test:job' and state = 'succeeded'`))
	require.Equal(t, 1, w.number(`select count(*) from events`))
}

func TestTimeOfASuiteRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	run, jobs := w.planned(func(map[string]string) suiteplan.Change {
		most := 600
		return suiteplan.Change{MaxDuration: &most}
	}, "a", "b")
	var deadline uuid.UUID
	require.NoError(t, w.db.GetContext(t.Context(), &deadline, `select id from tasks where kind = 'suite:deadline'`))
	task := w.task(deadline)
	require.Equal(t, ledger.Queued, task.State)
	require.WithinDuration(t, run.CreatedAt.Add(10*time.Minute), task.RunAt, 2*time.Second)

	running := w.claim(tasks.TestJob, jobs["a"])
	w.exec(`update suite_runs set created_at = now() - interval '10 minutes'`)
	w.exec(`update tasks set run_at = now() where id = $1`, deadline)
	h := &DeadlineHandler{}
	require.NoError(t, h.Handle(t.Context(), w.claim(tasks.SuiteDeadline, deadline)))
	require.JSONEq(t, `{"ended":3}`, string(*w.task(deadline).Result))
	got, err := reading.SuiteRunByID(t.Context(), w.db, w.org, run.SuiteID, run.ID)
	require.NoError(t, err)
	require.Equal(t, store.Cancelled, got.Status)
	require.Equal(t, "the maximum time of 10m0s was over", got.Error)
	require.Equal(t, ledger.Cancelled, w.task(jobs["b"]).State)
	require.Equal(t, 1, w.number(`select count(*) from tasks where id = $1 and cancel_requested`, jobs["a"]), "its worker learns it")
	require.NoError(t, w.handler.Handle(t.Context(), running), "and what it reports changes nothing")
	require.Equal(t, 2, w.number(`select count(*) from test_jobs where error_code = $1`, store.CodeMaxDuration))
}
