package run_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
	"github.com/slipway-qa/slipway/storage"
	. "github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/run/reading"
)

// Twenty workers begin and end the jobs of one suite run at once, each job twice.
func TestJobsOfASuiteRunEndAtOnce(t *testing.T) {
	t.Parallel()
	w := open(t)
	w.Exec(`insert into webhooks (organization_id, name, url, actions, status, secret)
		values ($1, 'a', 'https://ci.example.invalid', '{run}', 'active', '')`, w.Org.ID)
	run, jobs := w.SuiteRun(20, 2)
	var ended atomic.Int64
	var wg sync.WaitGroup
	work := make(chan uuid.UUID)
	for range 20 {
		wg.Go(func() {
			for job := range work {
				if _, _, err := w.Begin(job); err != nil && !isEnded(err) {
					t.Error(err)
				}
				did, err := w.End(job, JobEnd{Status: Passed, Files: []NewFile{newFile(job)}})
				if err != nil {
					t.Error(err)
				}
				if did {
					ended.Add(1)
				}
			}
		})
	}
	for i, job := range append(jobs, jobs...) {
		if i == 7 { // one of them fails
			w.MustEnd(job, Failed)
			ended.Add(1)
			continue
		}
		work <- job
	}
	close(work)
	wg.Wait()
	require.EqualValues(t, len(jobs), ended.Load())
	got := w.ReadSuiteRun(run)
	require.Equal(t, Failed, got.Status)
	require.Equal(t, 19, got.Counts[Passed])
	require.Equal(t, 1, got.Counts[Failed])
	require.NotNil(t, got.StartedAt)
	require.NotNil(t, got.FinishedAt)
	require.Equal(t, len(jobs)-1, w.Count(`select count(*) from run_files`))
	event := w.Event(run.ID)
	require.Equal(t, run.SuiteID.String(), event["testSuiteId"])
	require.Equal(t, map[string]any{"total": 20.0, "passed": 19.0, "failed": 1.0, "error": 0.0, "cancelled": 0.0,
		"flaky": 0.0, "quarantined": 0.0}, event["counts"])
	require.Equal(t, 1, w.Count(`select count(*) from events`), "its case runs make none of their own")
	require.Equal(t, 1, w.Count(`select count(*) from webhook_deliveries d join events e on e.id = d.event_id and e.subject = $1
		join tasks t on t.kind = 'webhook:deliver' and t.dedupe_key = d.webhook_id::text`, run.ID.String()))
}

func isEnded(err error) bool { return errors.Is(err, storage.ErrConflict) }

// Jobs end while the run is fanned out, while other runs of it are cancelled, and
// while their cases are deleted.
func TestEndingAndCancellingAtOnce(t *testing.T) {
	t.Parallel()
	w := open(t)
	run, jobs := w.SuiteRun(12, 2)
	runs, err := reading.OfSuiteRun(fixture.Context(t), w.DB, run.ID)
	require.NoError(t, err)
	var wg sync.WaitGroup
	for _, job := range jobs {
		wg.Go(func() {
			if _, _, err := w.Begin(job); err != nil && !isEnded(err) && !errors.Is(err, storage.ErrNotFound) {
				t.Error("begin", err)
			}
			if _, err := w.End(job, JobEnd{Status: Passed}); err != nil {
				t.Error("end", err)
			}
		})
	}
	for i, r := range runs {
		wg.Go(func() {
			err := w.Do(func(ctx context.Context, tx *storage.Tx) (err error) {
				var open []uuid.UUID
				if i%2 == 0 {
					open, err = DeleteCaseWithRuns(ctx, tx, w.Org.Member.Writer, r.CaseID)
				} else {
					open, err = Cancel(ctx, tx, w.Org.Member.Writer, r.CaseID, r.ID)
				}
				if err != nil {
					return err
				}
				return fixture.CancelTasks(ctx, tx, open)
			})
			if err != nil && !isEnded(err) {
				t.Error("cancel", err)
			}
		})
	}
	wg.Wait()
	got := w.ReadSuiteRun(run)
	require.True(t, got.Status.Terminal())
	require.Equal(t, 12, got.Counts[Passed]+got.Counts[Cancelled])
	require.Zero(t, w.Count(`select count(*) from test_jobs where state in ('QUEUED', 'RUNNING')`))
	w.Event(run.ID)
}

func TestSuiteRunIsCancelledWhileJobsEnd(t *testing.T) {
	t.Parallel()
	w := open(t)
	run, jobs := w.SuiteRun(10, 1)
	var wg sync.WaitGroup
	for _, job := range jobs {
		wg.Go(func() {
			if _, err := w.End(job, JobEnd{Status: Passed}); err != nil {
				t.Error("end", err)
			}
		})
	}
	var cancelled atomic.Int64
	for range 3 {
		wg.Go(func() {
			err := w.Do(func(ctx context.Context, tx *storage.Tx) error {
				open, err := CancelSuite(ctx, tx, w.Org.Member.Writer, run.SuiteID, run.ID)
				if err != nil {
					return err
				}
				return fixture.CancelTasks(ctx, tx, open)
			})
			switch {
			case err == nil:
				cancelled.Add(1)
			case !isEnded(err):
				t.Error("cancel", err)
			}
		})
	}
	wg.Wait()
	got := w.ReadSuiteRun(run)
	require.Equal(t, 10, got.Counts[Passed]+got.Counts[Cancelled])
	if cancelled.Load() == 1 {
		require.Equal(t, Cancelled, got.Status)
	} else {
		require.Zero(t, cancelled.Load())
		require.Equal(t, Passed, got.Status)
	}
	w.Event(run.ID)
}

func TestEndedRuns(t *testing.T) {
	t.Parallel()
	w := open(t)
	c := w.NewCase(w.Org.Member.Writer, "log in")
	open, ended := w.NewRun(c, 1), w.NewRun(c, 1)
	w.MustEnd(ended.Jobs[0].ID, Passed)
	suite, jobs := w.SuiteRun(1, 1)
	ids := []uuid.UUID{open.ID, ended.ID, suite.ID, fixture.NoUUID}
	got, err := reading.Ended(fixture.Context(t), w.DB, ids)
	require.NoError(t, err)
	require.ElementsMatch(t, []uuid.UUID{ended.ID, fixture.NoUUID}, got)
	w.MustEnd(jobs[0], Passed)
	got, err = reading.Ended(fixture.Context(t), w.DB, ids)
	require.NoError(t, err)
	require.ElementsMatch(t, []uuid.UUID{ended.ID, suite.ID, fixture.NoUUID}, got)
}
