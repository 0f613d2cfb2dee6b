package authoring_test

import (
	"context"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	. "github.com/slipway-qa/slipway/storage/authoring"
)

func TestCancelRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.newCase(w.w, "log in")
	run := w.newRun(c, 3)
	w.mustEnd(run.Jobs[0].ID, Failed)
	_, _, err := w.begin(run.Jobs[1].ID)
	require.NoError(t, err)
	cancel := func(by account.Writer, caseID string, id uuid.UUID) (open []uuid.UUID, err error) {
		err = w.do(func(ctx context.Context, tx *storage.Tx) error {
			open, err = CancelRun(ctx, tx, by, caseID, id)
			return err
		})
		return open, err
	}
	_, err = cancel(w.sideW, c.ID, run.ID)
	require.ErrorIs(t, err, ErrForbidden)
	_, err = cancel(w.rival, c.ID, run.ID)
	require.ErrorIs(t, err, storage.ErrNotFound)
	_, err = cancel(w.w, "000000000000000000000000", run.ID)
	require.ErrorIs(t, err, storage.ErrNotFound)

	open, err := cancel(w.w, c.ID, run.ID)
	require.NoError(t, err)
	require.ElementsMatch(t, []uuid.UUID{run.Jobs[1].ID, run.Jobs[2].ID}, open)
	got := w.readRun(run)
	require.Equal(t, Cancelled, got.Status, "although a job had failed")
	require.Equal(t, Failed, got.Jobs[0].Status)
	require.Equal(t, CodeCancelled, got.Jobs[1].ErrorCode)
	require.Equal(t, "CANCELLED", w.event(run.ID)["status"])
	require.Equal(t, 1, w.audited(account.TestRunCancelled))

	_, err = cancel(w.w, c.ID, run.ID)
	require.ErrorIs(t, err, storage.ErrConflict)
	require.False(t, w.progress(run.Jobs[1].ID))
	did, err := w.end(run.Jobs[1].ID, JobEnd{Status: Passed})
	require.NoError(t, err)
	require.False(t, did)
	_, _, err = w.begin(run.Jobs[2].ID)
	require.ErrorIs(t, err, storage.ErrConflict)
}

func TestCancelSuiteRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	run, jobs := w.suiteRun(2, 2)
	w.mustEnd(jobs[0], Passed)
	waiting, err := w.trySuiteRun(w.w, NewSuiteRun{SuiteID: run.SuiteID})
	require.NoError(t, err)
	cancel := func(by account.Writer, id uuid.UUID) (open []uuid.UUID, err error) {
		err = w.do(func(ctx context.Context, tx *storage.Tx) error {
			open, err = CancelSuiteRun(ctx, tx, by, run.SuiteID, id)
			return err
		})
		return open, err
	}
	_, err = cancel(w.sideW, run.ID)
	require.ErrorIs(t, err, ErrForbidden)
	_, err = cancel(w.rival, run.ID)
	require.ErrorIs(t, err, storage.ErrNotFound)
	open, err := cancel(w.w, run.ID)
	require.NoError(t, err)
	require.ElementsMatch(t, append(jobs[1:], run.ID), open)
	require.Equal(t, Cancelled, w.readSuiteRun(run).Status)
	require.Equal(t, 2, w.readSuiteRun(run).Counts[Cancelled])
	require.Equal(t, "CANCELLED", w.event(run.ID)["status"])
	_, err = cancel(w.w, run.ID)
	require.ErrorIs(t, err, storage.ErrConflict)

	open, err = cancel(w.w, waiting.ID)
	require.NoError(t, err)
	require.Equal(t, []uuid.UUID{waiting.ID}, open, "before it had any run")
	require.Equal(t, 2, w.readSuiteRun(waiting).Counts[Cancelled], "those that are never made")
	_, _, err = w.next(waiting.ID, 5)
	require.ErrorIs(t, err, storage.ErrConflict)
	require.Equal(t, 2, w.audited(account.TestSuiteRunCancelled))
}

// Cases and suites take their open runs with them.
func TestDeletionCancelsRuns(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	run, _ := w.suiteRun(2, 1)
	runs, err := RunsOfSuiteRun(testContext(t), w.db, run.ID)
	require.NoError(t, err)
	var open []uuid.UUID
	w.must(func(ctx context.Context, tx *storage.Tx) (err error) {
		open, err = DeleteCase(ctx, tx, w.w, runs[0].CaseID)
		return err
	})
	require.Equal(t, []uuid.UUID{runs[0].Jobs[0].ID}, open)
	w.mustEnd(runs[1].Jobs[0].ID, Passed)
	require.Equal(t, Cancelled, w.readSuiteRun(run).Status)

	second, err := w.trySuiteRun(w.w, NewSuiteRun{SuiteID: run.SuiteID})
	require.NoError(t, err)
	jobs, _, err := w.next(second.ID, 5)
	require.NoError(t, err)
	w.must(func(ctx context.Context, tx *storage.Tx) (err error) {
		open, err = DeleteSuite(ctx, tx, w.w, run.SuiteID, false)
		return err
	})
	require.ElementsMatch(t, append(jobs, second.ID), open)
	require.Equal(t, Cancelled, w.readSuiteRun(second).Status)
}
