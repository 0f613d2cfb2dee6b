package run

import (
	"context"
	"log/slog"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/ledger"
	store "github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/run/reading"
	"github.com/slipway-qa/slipway/tasks"
)

// newSuiteRun starts a run of a suite of so many cases, made by one statement.
func (w *world) newSuiteRun(cases int) *store.SuiteRun {
	w.t.Helper()
	first := w.newCase("case", "dev")
	w.exec(`with made as (
			insert into test_cases (id, organization_id, team_id, name, run_settings, runnable, creator_uuid, modifier_uuid)
			select lpad(to_hex(n), 24, '0'), organization_id, team_id, name || n, run_settings, true, creator_uuid, modifier_uuid
			from test_cases, generate_series(2, $1::int) n returning id
		)
		insert into test_revisions (id, case_id, number, steps)
		select 'f' || substr(made.id, 2), made.id, 1, r.steps from made, test_revisions r`, cases)
	var suite *authoring.Suite
	w.must(func(ctx context.Context, tx *storage.Tx) (err error) {
		suite, err = authoring.CreateSuite(ctx, tx, w.writer, authoring.NewSuite{Name: "smoke", Cases: []string{first.ID}})
		return err
	})
	w.exec(`update test_cases set suite_id = $1`, suite.ID)
	return w.startSuite(suite.ID)
}

func (w *world) startSuite(id uuid.UUID) (run *store.SuiteRun) {
	w.t.Helper()
	w.must(func(ctx context.Context, tx *storage.Tx) (err error) {
		run, err = store.StartSuite(ctx, tx, w.writer, store.NewSuiteRun{SuiteID: id})
		if err != nil {
			return err
		}
		_, err = ledger.Insert(ctx, tx, tasks.NewSuiteRun(w.org, "request-9", run.ID))
		return err
	})
	return run
}

func (w *world) suite() *SuiteHandler {
	return &SuiteHandler{DB: w.db, Vendor: "slipway", Keys: sealKey, Log: slog.New(slog.NewTextHandler(w.log, nil))}
}

// A worker dies between two steps, another one goes on: each case has one run, each
// job one task.
func TestSuiteRunIsFannedOutInSteps(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const cases = 250
	run := w.newSuiteRun(cases)
	require.Equal(t, cases, run.RunCount)
	h := w.suite()
	first := w.claim(tasks.SuiteRun, run.ID)
	ended, end := context.WithCancel(t.Context())
	end()
	require.ErrorIs(t, h.Handle(ended, first), context.Canceled)

	w.exec(`create function killed() returns trigger language plpgsql as
		$$ begin if (select count(*) from test_runs) > 100 then raise exception 'killed'; end if; return null; end $$`)
	w.exec(`create trigger killed after insert on test_runs for each statement execute function killed()`)
	require.ErrorContains(t, h.Handle(t.Context(), first), "killed")
	require.Equal(t, 100, w.number(`select count(*) from test_runs`))
	require.Equal(t, 100, w.number(`select count(*) from tasks where kind = 'test:job'`))
	w.exec(`drop trigger killed on test_runs`)

	second := w.again(tasks.SuiteRun, run.ID)
	require.ErrorIs(t, h.Handle(t.Context(), first), storage.ErrStale)
	require.NoError(t, h.Handle(t.Context(), second))
	require.Equal(t, cases, w.number(`select count(*) from test_runs`))
	require.Equal(t, cases, w.number(`select count(distinct case_id) from test_runs`))
	require.Equal(t, cases, w.number(`select count(*) from test_jobs j join tasks t on t.id = j.id
		where t.kind = 'test:job' and t.request_id = 'request-9' and t.concurrency_key is not null`))
	require.JSONEq(t, `{"jobs":150}`, string(*w.task(run.ID).Result))
	got, err := reading.SuiteRunByID(t.Context(), w.db, w.org, run.SuiteID, run.ID)
	require.NoError(t, err)
	require.Equal(t, cases, got.RunCount)
	require.Equal(t, cases, got.Counts[store.Queued])
	require.ErrorIs(t, h.Handle(t.Context(), second), storage.ErrStale, "once more")
}

func TestSuiteRunIsPlayed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	run := w.newSuiteRun(3)
	require.NoError(t, w.suite().Handle(t.Context(), w.claim(tasks.SuiteRun, run.ID)))
	runs, err := reading.OfSuiteRun(t.Context(), w.db, run.ID)
	require.NoError(t, err)
	for _, r := range runs {
		require.NoError(t, w.handler.Handle(t.Context(), w.claim(tasks.TestJob, r.Jobs[0].ID)))
	}
	got, err := reading.SuiteRunByID(t.Context(), w.db, w.org, run.SuiteID, run.ID)
	require.NoError(t, err)
	require.Equal(t, store.Passed, got.Status)
	require.Equal(t, 3, got.Counts[store.Passed])
	require.Equal(t, 1, w.number(`select count(*) from events`))
}

func TestCancelledSuiteRunIsNotFannedOut(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	run := w.newSuiteRun(2)
	claimed := w.claim(tasks.SuiteRun, run.ID)
	w.must(func(ctx context.Context, tx *storage.Tx) error {
		_, err := store.CancelSuite(ctx, tx, w.writer, run.SuiteID, run.ID)
		return err
	})
	require.NoError(t, w.suite().Handle(t.Context(), claimed))
	require.Zero(t, w.number(`select count(*) from test_runs`))
	require.Equal(t, ledger.Succeeded, w.task(run.ID).State)

	run = w.startSuite(run.SuiteID)
	claimed = w.claim(tasks.SuiteRun, run.ID)
	w.exec(`delete from suite_runs where id = $1`, run.ID)
	require.NoError(t, w.suite().Handle(t.Context(), claimed))
}

// What no further attempt can mend ends the suite run with a reason.
func TestSuiteRunCannotBeFannedOut(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		code string
		last bool
	}{"data": {"22003", false}, "last attempt": {"P0001", true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			run := w.newSuiteRun(1)
			w.exec(`create function broken() returns trigger language plpgsql as
				$$ begin raise exception 'broken' using errcode = '` + tt.code + `'; end $$`)
			w.exec(`create trigger broken before insert on test_runs for each row execute function broken()`)
			claimed := w.claim(tasks.SuiteRun, run.ID)
			if tt.last {
				w.exec(`update tasks set max_attempts = attempt + 1 where id = $1`, run.ID)
				err := w.suite().Handle(t.Context(), claimed)
				require.ErrorContains(t, err, "broken")
				claimed = w.failed(claimed, err)
			}
			require.NoError(t, w.suite().Handle(t.Context(), claimed))
			got, err := reading.SuiteRunByID(t.Context(), w.db, w.org, run.SuiteID, run.ID)
			require.NoError(t, err)
			require.Equal(t, store.Errored, got.Status)
			require.NotEmpty(t, got.Error)
			require.NotContains(t, got.Error, "broken")
			require.Equal(t, 1, w.number(`select count(*) from events`))
		})
	}
}

// What a person waits for goes before the rest of a large suite, and both before what a
// schedule has started.
func TestPrioritiesOfASuitesJobs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		suite ledger.Priority
		place int
		want  ledger.Priority
	}{
		{ledger.Waited, 0, ledger.Waited}, {ledger.Waited, firstJobs - 1, ledger.Waited}, {ledger.Waited, firstJobs, ledger.Mass},
		{ledger.Scheduled, 0, ledger.Scheduled}, {ledger.Scheduled, 99, ledger.Scheduled},
	} {
		require.Equal(t, c.want, jobPriority(c.suite, c.place), "%+v", c)
	}
	w := newWorld(t)
	run := w.newSuiteRun(2)
	w.exec(`update tasks set priority = $2 where id = $1`, run.ID, int64(ledger.Scheduled))
	require.NoError(t, w.suite().Handle(t.Context(), w.claim(tasks.SuiteRun, run.ID)))
	require.Equal(t, w.number(`select count(*) from tasks where kind = 'test:job'`),
		w.number(`select count(*) from tasks where kind = 'test:job' and priority = 2`))
	require.NotZero(t, w.number(`select count(*) from tasks where kind = 'test:job'`))
}
