package run_test

import (
	"context"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/authoring"
	. "github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/run/reading"
)

func TestCancelRun(t *testing.T) {
	t.Parallel()
	w := open(t)
	c := w.NewCase(w.Org.Member.Writer, "log in")
	run := w.NewRun(c, 3)
	w.MustEnd(run.Jobs[0].ID, Failed)
	_, _, err := w.Begin(run.Jobs[1].ID)
	require.NoError(t, err)
	cancel := func(by account.Writer, caseID string, id uuid.UUID) (open []uuid.UUID, err error) {
		err = w.Do(func(ctx context.Context, tx *storage.Tx) error {
			open, err = Cancel(ctx, tx, by, caseID, id)
			return err
		})
		return open, err
	}
	_, err = cancel(w.Org.Neighbor.Writer, c.ID, run.ID)
	require.ErrorIs(t, err, authoring.ErrForbidden)
	_, err = cancel(w.Rival.Member.Writer, c.ID, run.ID)
	require.ErrorIs(t, err, storage.ErrNotFound)
	_, err = cancel(w.Org.Member.Writer, "000000000000000000000000", run.ID)
	require.ErrorIs(t, err, storage.ErrNotFound)

	open, err := cancel(w.Org.Member.Writer, c.ID, run.ID)
	require.NoError(t, err)
	require.ElementsMatch(t, []uuid.UUID{run.Jobs[1].ID, run.Jobs[2].ID}, open)
	got := w.ReadRun(run)
	require.Equal(t, Cancelled, got.Status, "although a job had failed")
	require.Equal(t, Failed, got.Jobs[0].Status)
	require.Equal(t, CodeCancelled, got.Jobs[1].ErrorCode)
	require.Equal(t, "CANCELLED", w.Event(run.ID)["status"])
	require.Equal(t, 1, w.Audited(account.TestRunCancelled))

	_, err = cancel(w.Org.Member.Writer, c.ID, run.ID)
	require.ErrorIs(t, err, storage.ErrConflict)
	require.False(t, w.progress(run.Jobs[1].ID))
	did, err := w.End(run.Jobs[1].ID, JobEnd{Status: Passed})
	require.NoError(t, err)
	require.False(t, did)
	_, _, err = w.Begin(run.Jobs[2].ID)
	require.ErrorIs(t, err, storage.ErrConflict)
}

func TestCancelSuiteRun(t *testing.T) {
	t.Parallel()
	w := open(t)
	run, jobs := w.SuiteRun(2, 2)
	w.MustEnd(jobs[0], Passed)
	waiting, err := w.TrySuiteRun(w.Org.Member.Writer, NewSuiteRun{SuiteID: run.SuiteID})
	require.NoError(t, err)
	cancel := func(by account.Writer, id uuid.UUID) (open []uuid.UUID, err error) {
		err = w.Do(func(ctx context.Context, tx *storage.Tx) error {
			open, err = CancelSuite(ctx, tx, by, run.SuiteID, id)
			return err
		})
		return open, err
	}
	_, err = cancel(w.Org.Neighbor.Writer, run.ID)
	require.ErrorIs(t, err, authoring.ErrForbidden)
	_, err = cancel(w.Rival.Member.Writer, run.ID)
	require.ErrorIs(t, err, storage.ErrNotFound)
	open, err := cancel(w.Org.Member.Writer, run.ID)
	require.NoError(t, err)
	require.ElementsMatch(t, append(jobs[1:], run.ID), open)
	require.Equal(t, Cancelled, w.ReadSuiteRun(run).Status)
	require.Equal(t, 2, w.ReadSuiteRun(run).Counts[Cancelled])
	require.Equal(t, "CANCELLED", w.Event(run.ID)["status"])
	_, err = cancel(w.Org.Member.Writer, run.ID)
	require.ErrorIs(t, err, storage.ErrConflict)

	open, err = cancel(w.Org.Member.Writer, waiting.ID)
	require.NoError(t, err)
	require.Equal(t, []uuid.UUID{waiting.ID}, open, "before it had any run")
	require.Equal(t, 2, w.ReadSuiteRun(waiting).Counts[Cancelled], "those that are never made")
	_, _, err = w.NextRuns(waiting.ID, 5)
	require.ErrorIs(t, err, storage.ErrConflict)
	require.Equal(t, 2, w.Audited(account.TestSuiteRunCancelled))
}

// Cases and suites take their open runs with them.
func TestDeletionCancelsRuns(t *testing.T) {
	t.Parallel()
	w := open(t)
	run, _ := w.SuiteRun(2, 1)
	runs, err := reading.OfSuiteRun(fixture.Context(t), w.DB, run.ID)
	require.NoError(t, err)
	var open []uuid.UUID
	w.Must(func(ctx context.Context, tx *storage.Tx) (err error) {
		open, err = DeleteCaseWithRuns(ctx, tx, w.Org.Member.Writer, runs[0].CaseID)
		return err
	})
	require.Equal(t, []uuid.UUID{runs[0].Jobs[0].ID}, open)
	w.MustEnd(runs[1].Jobs[0].ID, Passed)
	require.Equal(t, Cancelled, w.ReadSuiteRun(run).Status)

	second, err := w.TrySuiteRun(w.Org.Member.Writer, NewSuiteRun{SuiteID: run.SuiteID})
	require.NoError(t, err)
	jobs, _, err := w.NextRuns(second.ID, 5)
	require.NoError(t, err)
	w.Must(func(ctx context.Context, tx *storage.Tx) (err error) {
		open, err = DeleteSuiteWithRuns(ctx, tx, w.Org.Member.Writer, run.SuiteID, false)
		return err
	})
	require.ElementsMatch(t, append(jobs, second.ID), open)
	require.Equal(t, Cancelled, w.ReadSuiteRun(second).Status)
}
