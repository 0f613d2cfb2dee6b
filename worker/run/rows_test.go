package run

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/storage/rows"
	store "github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/seal"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/playback"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/worker/run/replay"
)

// caseOfRows has so many rows of a user and a secret password.
func (w *world) caseOfRows(n int, text string) *authoring.Case {
	w.t.Helper()
	csv := "user,password\n"
	for i := range n {
		csv += fmt.Sprintf("user%d,secret-of-%d\n", i, i)
	}
	body, err := json.Marshal(map[string]any{"csv": csv, "secret": []string{"password"}})
	require.NoError(w.t, err)
	table, err := rows.Read(body)
	require.NoError(w.t, err)
	sealed, err := rows.Seal(sealKey, table)
	require.NoError(w.t, err)
	c := w.newCase("log in", "plain")
	steps := []step.Step{{ID: "s1", Tool: step.Tool{Type: step.InputText, Args: step.Args{Text: &text,
		Selector: &step.Selector{Type: step.CSS, Value: "#user"}}}}}
	w.must(func(ctx context.Context, tx *storage.Tx) error {
		_, err := authoring.UpdateCase(ctx, tx, w.writer, c.ID, authoring.CaseChange{Steps: &steps, Data: &authoring.DataChange{Rows: sealed}})
		return err
	})
	return c
}

// A step has the values of its job's row; those of secret columns are masked everywhere.
func TestValuesOfARow(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	run := w.newRun(w.caseOfRows(3, "{{row:user}} {{row:password}} {{user}}"), store.NewRun{Rows: []int{2}}, chrome)
	w.handler.Play = func(_ context.Context, cfg replay.Config) replay.Result {
		for reference, want := range map[step.Reference][]any{
			{Scope: step.ScopeRow, Name: "user"}: {"user2", false, true}, {Scope: step.ScopeRow, Name: "password"}: {"secret-of-2", true, true},
			{Name: "user"}: {"", false, false},
		} {
			value, isSecret, ok := cfg.Lookup(reference)
			require.Equal(t, want, []any{value, isSecret, ok}, reference)
		}
		records := []playback.Record{{StepID: "s1", Status: playback.Failed, Result: step.Outcome{Message: "typed secret-of-2"}}}
		cfg.Progress(records)
		return replay.Result{Status: playback.Failed, Code: store.CodeStepFailed, Message: "user2 with secret-of-2", Records: records}
	}
	require.NoError(t, w.handler.Handle(t.Context(), w.claim(tasks.TestJob, run.Jobs[0].ID)))
	got := w.read(run)
	require.Equal(t, "user2 with ***", got.Jobs[0].Error)
	require.Equal(t, "typed ***", got.Jobs[0].Records[0].Result.Message)
	require.NotContains(t, w.everywhere(run), "secret-of-2")
}

func TestValuesOfARowOfAnotherKey(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	run := w.newRun(w.caseOfRows(1, "{{row:user}}"), store.NewRun{}, chrome)
	w.handler.Keys = seal.Ring{[]byte(strings.Repeat("n", 32))}
	require.NoError(t, w.handler.Handle(t.Context(), w.claim(tasks.TestJob, run.Jobs[0].ID)))
	got := w.read(run).Jobs[0]
	require.Equal(t, store.Errored, got.Status)
	require.Equal(t, store.CodeInternal, got.ErrorCode)
	require.Contains(t, got.Error, "store the data again")
}

// The jobs of many rows are made in steps; a worker that takes over goes on.
func TestJobsOfRowsAreMadeInSteps(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const n = 700
	run := w.newRun(w.caseOfRows(n, "{{row:user}}"), store.NewRun{}, chrome)
	require.Len(t, run.Jobs, 100)
	w.must(func(ctx context.Context, tx *storage.Tx) error {
		_, err := ledger.Insert(ctx, tx, tasks.NewRunRows(w.org, "request-9", run.ID))
		return err
	})
	h := &RowsHandler{Log: slog.New(slog.NewTextHandler(w.log, nil))}
	first := w.claim(tasks.RunRows, run.ID)
	w.exec(`create function killed() returns trigger language plpgsql as
		$$ begin if (select count(*) from test_jobs) > 400 then raise exception 'killed'; end if; return null; end $$`)
	w.exec(`create trigger killed after insert on test_jobs for each statement execute function killed()`)
	require.ErrorContains(t, h.Handle(t.Context(), first), "killed")
	require.Equal(t, 350, w.number(`select count(*) from test_jobs`))
	w.exec(`drop trigger killed on test_jobs`)

	second := w.again(tasks.RunRows, run.ID)
	require.ErrorIs(t, h.Handle(t.Context(), first), storage.ErrStale)
	require.NoError(t, h.Handle(t.Context(), second))
	require.Equal(t, ledger.Succeeded, w.task(run.ID).State)
	require.Equal(t, n, w.number(`select count(*) from test_jobs j join tasks t on t.id = j.id where j.run_id = $1`, run.ID))
	require.Equal(t, n, w.number(`select count(distinct row_name) from test_jobs where run_id = $1`, run.ID))
	require.Equal(t, n-1, w.number(`select max(position) from test_jobs where run_id = $1`, run.ID))

	// Twice changes nothing; neither does a run that was cancelled.
	w.must(func(ctx context.Context, tx *storage.Tx) error {
		jobs, more, err := store.FanOutRows(ctx, tx, run.ID, rowsStep)
		require.Empty(t, jobs)
		require.False(t, more)
		return err
	})
	cancelled := w.newRun(w.caseOfRows(n, "{{row:user}}"), store.NewRun{}, chrome)
	w.must(func(ctx context.Context, tx *storage.Tx) error {
		_, err := ledger.Insert(ctx, tx, tasks.NewRunRows(w.org, "request-9", cancelled.ID))
		return err
	})
	claim := w.claim(tasks.RunRows, cancelled.ID)
	w.exec(`update test_runs set state = 'CANCELLED', fanned_out = true where id = $1`, cancelled.ID)
	require.NoError(t, h.Handle(t.Context(), claim))
	require.Equal(t, 100, w.number(`select count(*) from test_jobs where run_id = $1`, cancelled.ID))
}

// A run whose data are gone ends, and a job says why.
func TestJobsOfRowsThatAreGone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	run := w.newRun(w.caseOfRows(150, "{{row:user}}"), store.NewRun{}, chrome)
	w.must(func(ctx context.Context, tx *storage.Tx) error {
		_, err := ledger.Insert(ctx, tx, tasks.NewRunRows(w.org, "request-9", run.ID))
		return err
	})
	w.exec(`delete from test_data`)
	require.NoError(t, (&RowsHandler{Log: slog.New(slog.NewTextHandler(w.log, nil))}).Handle(t.Context(), w.claim(tasks.RunRows, run.ID)))
	require.Equal(t, 101, w.number(`select count(*) from test_jobs where run_id = $1`, run.ID))
	require.Equal(t, 1, w.number(`select count(*) from test_jobs
		where run_id = $1 and state = 'ERROR' and error_code = 'WORKER_LOST'`, run.ID))
	require.Equal(t, 1, w.number(`select count(*) from test_runs where id = $1 and fanned_out`, run.ID))
}
