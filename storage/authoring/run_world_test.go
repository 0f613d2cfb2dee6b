package authoring_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	. "github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/storage/step"
)

// targets are some effective targets.
func targets(n int) (list []step.Target) {
	for range n {
		list = append(list, browser("chrome"))
	}
	return list
}

// task is the ledger task of a job or suite run.
func (w *world) task(kind string, id uuid.UUID) *ledger.NewTask {
	return &ledger.NewTask{ID: id, Kind: kind, Queue: "run", OrganizationID: w.org, Payload: struct{}{}, RequestID: "request-9", MaxAttempts: 20}
}

// tryRun starts a run of a case on so many targets, with the tasks of its jobs.
func (w *world) tryRun(by account.Writer, c *Case, jobs int, key string) (run *Run, err error) {
	err = w.do(func(ctx context.Context, tx *storage.Tx) error {
		revision, err := RevisionByID(ctx, tx, c.ID, "")
		if err != nil {
			return err
		}
		run, err = StartRun(ctx, tx, by, NewRun{Case: c, Revision: revision, BuildName: "nightly", Targets: targets(jobs), Key: key})
		if err != nil {
			return err
		}
		for _, job := range run.Jobs {
			if _, err := ledger.Insert(ctx, tx, w.task("test:job", job.ID)); err != nil {
				return err
			}
		}
		return nil
	})
	return run, err
}

func (w *world) newRun(c *Case, jobs int) *Run {
	w.t.Helper()
	run, err := w.tryRun(w.w, c, jobs, "")
	require.NoError(w.t, err)
	return run
}

func (w *world) trySuiteRun(by account.Writer, n NewSuiteRun) (run *SuiteRun, err error) {
	err = w.do(func(ctx context.Context, tx *storage.Tx) error {
		run, err = StartSuiteRun(ctx, tx, by, n)
		if err != nil {
			return err
		}
		_, err = ledger.Insert(ctx, tx, w.task("suite:run", run.ID))
		return err
	})
	return run, err
}

// next makes the next case runs of a suite run, with the tasks of their jobs.
func (w *world) next(id uuid.UUID, limit int) (jobs []uuid.UUID, more bool, err error) {
	err = w.do(func(ctx context.Context, tx *storage.Tx) error {
		jobs, more, err = NextRuns(ctx, tx, id, "slipway", limit)
		for _, job := range jobs {
			if _, err := ledger.Insert(ctx, tx, w.task("test:job", job)); err != nil {
				return err
			}
		}
		return err
	})
	return jobs, more, err
}

// suiteRun starts a run of a new suite of so many cases with so many targets each,
// fanned out.
func (w *world) suiteRun(cases, targets int) (*SuiteRun, []uuid.UUID) {
	w.t.Helper()
	var ids []string
	for i := range cases {
		c, err := w.tryCase(w.w, loginCase(fmt.Sprintf("case %d", i), targets))
		require.NoError(w.t, err)
		ids = append(ids, c.ID)
	}
	suite := w.newSuite(w.w, "smoke", ids...)
	run, err := w.trySuiteRun(w.w, NewSuiteRun{SuiteID: suite.ID, BuildName: "nightly"})
	require.NoError(w.t, err)
	jobs, more, err := w.next(run.ID, cases+1)
	require.NoError(w.t, err)
	require.False(w.t, more)
	require.Len(w.t, jobs, cases*targets)
	return run, jobs
}

func (w *world) begin(job uuid.UUID) (work *Work, lost []string, err error) {
	err = w.do(func(ctx context.Context, tx *storage.Tx) error {
		work, lost, err = BeginJob(ctx, tx, job)
		return err
	})
	return work, lost, err
}

// end ends a job as a worker does: with its task first.
func (w *world) end(job uuid.UUID, end JobEnd) (did bool, err error) {
	err = w.do(func(ctx context.Context, tx *storage.Tx) error {
		if _, err := tx.ExecContext(ctx, `update tasks set state = 'succeeded', finished_at = now() where id = $1`, job); err != nil {
			return err
		}
		did, err = EndJob(ctx, tx, job, end)
		return err
	})
	return did, err
}

func (w *world) mustEnd(job uuid.UUID, status Status) {
	w.t.Helper()
	did, err := w.end(job, JobEnd{Status: status})
	require.NoError(w.t, err)
	require.True(w.t, did)
}

// cancelTasks does what callers of the cancelling functions do.
func cancelTasks(ctx context.Context, tx *storage.Tx, ids []uuid.UUID) error {
	for _, id := range ids {
		if _, err := tx.ExecContext(ctx, `update tasks set state = 'cancelled', finished_at = now()
			where id = $1 and state in ('queued', 'running')`, id); err != nil {
			return err
		}
	}
	return nil
}

func (w *world) readRun(r *Run) *Run {
	w.t.Helper()
	got, err := RunByID(testContext(w.t), w.db, w.org, r.CaseID, r.ID)
	require.NoError(w.t, err)
	return got
}

func (w *world) readSuiteRun(r *SuiteRun) *SuiteRun {
	w.t.Helper()
	got, err := SuiteRunByID(testContext(w.t), w.db, w.org, r.SuiteID, r.ID)
	require.NoError(w.t, err)
	return got
}

// event reads the one event of a run.
func (w *world) event(run uuid.UUID) (body map[string]any) {
	w.t.Helper()
	var docs []string
	require.NoError(w.t, w.db.SelectContext(testContext(w.t), &docs, `select body from events where action = 'run' and subject = $1`, run.String()))
	require.Len(w.t, docs, 1)
	require.NoError(w.t, json.Unmarshal([]byte(docs[0]), &body))
	return body
}
