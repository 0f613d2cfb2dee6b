package run

import (
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/authoring"
)

// lockTasks locks tasks before runs: a worker that ends a job has locked the row of its ledger
// task and then locks the run. Who cancels must go the same way, so every cancelling locks the
// tasks of what it will end before the runs themselves.
const lockTasks = `select id from tasks where id = any($1::uuid[]) order by id for update`

const lockTasksOfJobs = `
select t.id from tasks t
where t.id in (select j.id from test_jobs j where j.run_id = any($1::uuid[]) and j.state in ('QUEUED', 'RUNNING'))
order by t.id for update`

// The rows of each level are locked in the order of their ids.
const (
	lockSuiteRuns = `select id from suite_runs where id = any($1::uuid[]) order by id for no key update`
	lockRuns      = `select id from test_runs where id = any($1::uuid[]) order by id for no key update`
)

// lock executes a locking statement for ids and drops its rows.
func lock(ctx context.Context, tx *storage.Tx, statement string, ids []uuid.UUID) error {
	if len(ids) == 0 {
		return nil
	}
	var locked []uuid.UUID
	return storage.Wrap(tx.SelectContext(ctx, &locked, statement, storage.UUIDs(ids)), "lock runs")
}

// lockTasksOfRuns locks the tasks of the open jobs of runs. Those that still make jobs have a task
// of their own id, which comes first: only a statement that begins when these are locked sees all
// jobs.
func lockTasksOfRuns(ctx context.Context, tx *storage.Tx, open []openRun) error {
	var all, making []uuid.UUID
	for _, r := range open {
		if all = append(all, r.ID); !r.FannedOut {
			making = append(making, r.ID)
		}
	}
	if err := lock(ctx, tx, lockTasks, making); err != nil {
		return err
	}
	return lock(ctx, tx, lockTasksOfJobs, all)
}

// openRun is a run that has not ended, as it looked before it was locked.
type openRun struct {
	ID         uuid.UUID  `db:"id"`
	SuiteRunID *uuid.UUID `db:"suite_run_id"`
	FannedOut  bool       `db:"fanned_out"` // all its jobs are there
}

// CancelOfCases ends the open runs of cases, with their jobs, as CANCELLED,
// and suite runs for which they were the last. It returns the jobs that were open.
func CancelOfCases(ctx context.Context, tx *storage.Tx, caseIDs []string) ([]uuid.UUID, error) {
	var open []openRun
	err := tx.SelectContext(ctx, &open, `select id, suite_run_id, fanned_out from test_runs
		where case_id = any($1::text[]) and state in ('QUEUED', 'RUNNING')`, texts(caseIDs))
	if err != nil {
		return nil, storage.Wrap(err, "open runs of test cases")
	}
	return cancelOpen(ctx, tx, open)
}

// cancelOpen cancels runs and returns the jobs that were open.
func cancelOpen(ctx context.Context, tx *storage.Tx, open []openRun) ([]uuid.UUID, error) {
	if len(open) == 0 {
		return nil, nil
	}
	ids, suiteRuns := make([]uuid.UUID, len(open)), []uuid.UUID{}
	for i, run := range open {
		ids[i] = run.ID
		if run.SuiteRunID != nil && !slices.Contains(suiteRuns, *run.SuiteRunID) {
			suiteRuns = append(suiteRuns, *run.SuiteRunID)
		}
	}
	if err := lockTasksOfRuns(ctx, tx, open); err != nil {
		return nil, err
	}
	if err := lock(ctx, tx, lockSuiteRuns, suiteRuns); err != nil {
		return nil, err
	}
	jobs, err := cancelRuns(ctx, tx, ids, byPerson)
	if err != nil {
		return nil, err
	}
	return jobs, endSuiteRuns(ctx, tx, suiteRuns)
}

// cancelJobs also returns runs whose jobs are still being made: such a run has a task of its
// own id.
const cancelJobs = `
with cancelled as (
	update test_jobs set state = 'CANCELLED', error_code = $2, error = case when state = 'QUEUED' then $3 else $4 end, finished_at = now()
	where run_id = any($1::uuid[]) and state in ('QUEUED', 'RUNNING')
	returning id
)
select id from cancelled union all
select id from test_runs where id = any($1::uuid[]) and not fanned_out and state in ('QUEUED', 'RUNNING')`

const cancelRunRows = `
update test_runs r set state = 'CANCELLED', finished_at = now(), sealed_variables = null, fanned_out = true, job_targets = null,
	flaky = (select count(*) from test_jobs j where j.run_id = r.id and j.state = 'FLAKY')
where id = any($1::uuid[]) and state in ('QUEUED', 'RUNNING')
returning id, needed`

// stopped is why open jobs, runs and a suite run end.
type stopped struct {
	code             string
	waiting, running string // of jobs that had not begun, and of those that had
	whole            string // of the suite run
}

var byPerson = stopped{code: CodeCancelled, waiting: "the run was cancelled", running: "the run was cancelled"}

// cancelRuns ends those of the runs that are open, and returns the jobs that were, and
// those of the runs whose tasks were still to make jobs: all are ids of tasks.
// Their tasks and suite runs are locked.
func cancelRuns(ctx context.Context, tx *storage.Tx, ids []uuid.UUID, why stopped) ([]uuid.UUID, error) {
	if err := lock(ctx, tx, lockRuns, ids); err != nil {
		return nil, err
	}
	var jobs []uuid.UUID
	var ended []endedRun
	if err := tx.SelectContext(ctx, &jobs, cancelJobs, storage.UUIDs(ids), why.code, why.waiting, why.running); err != nil {
		return nil, storage.Wrap(err, "cancel test jobs")
	}
	if err := tx.SelectContext(ctx, &ended, cancelRunRows, storage.UUIDs(ids)); err != nil {
		return nil, storage.Wrap(err, "cancel test runs")
	}
	return jobs, endOf(ctx, tx, ended)
}

// CancelOfSuite ends the open suite runs of a suite, with all their case
// runs, as CANCELLED. It returns the jobs and suite runs that were open.
func CancelOfSuite(ctx context.Context, tx *storage.Tx, suiteID uuid.UUID) ([]uuid.UUID, error) {
	var open []uuid.UUID
	err := tx.SelectContext(ctx, &open, `select id from suite_runs
		where suite_id = $1 and state in ('QUEUED', 'RUNNING') order by id`, suiteID)
	if err != nil {
		return nil, storage.Wrap(err, "open runs of a test suite")
	}
	return cancelSuiteRuns(ctx, tx, open, byPerson)
}

// cancelSuiteRunRows comes last: all their case runs have ended by then, and with them the use
// of logins (package login).
const cancelSuiteRunRows = `
with unplanned as (
	delete from suite_run_cases where suite_run_id = any($1::uuid[])
), gone as (
	delete from suite_logins where suite_run_id = any($1::uuid[])
)
update suite_runs set state = 'CANCELLED', error = $2, finished_at = now(), sealed_variables = null
where id = any($1::uuid[]) and state in ('QUEUED', 'RUNNING')
returning id`

// cancelSuiteRuns ends those of the suite runs that are open, and returns them and
// the jobs that were.
func cancelSuiteRuns(ctx context.Context, tx *storage.Tx, ids []uuid.UUID, why stopped) ([]uuid.UUID, error) {
	// While the task of a suite run is locked, no further case run comes to it.
	if err := lock(ctx, tx, lockTasks, ids); err != nil || len(ids) == 0 {
		return nil, err
	}
	var open []openRun
	err := tx.SelectContext(ctx, &open, `select id, suite_run_id, fanned_out from test_runs
		where suite_run_id = any($1::uuid[]) and state in ('QUEUED', 'RUNNING')`, storage.UUIDs(ids))
	if err != nil {
		return nil, storage.Wrap(err, "open runs of suite runs")
	}
	if err := lockTasksOfRuns(ctx, tx, open); err != nil {
		return nil, err
	}
	runs := make([]uuid.UUID, len(open))
	for i := range open {
		runs[i] = open[i].ID
	}
	var ended []uuid.UUID
	if err := lock(ctx, tx, lockSuiteRuns, ids); err != nil {
		return nil, err
	}
	jobs, err := cancelRuns(ctx, tx, runs, why)
	if err != nil {
		return nil, err
	}
	if err := tx.SelectContext(ctx, &ended, cancelSuiteRunRows, storage.UUIDs(ids), why.whole); err != nil {
		return nil, storage.Wrap(err, "cancel suite runs")
	}
	return append(jobs, ended...), addSuiteRunEvents(ctx, tx, ended)
}

// Cancel ends a run and its open jobs as CANCELLED at once. It returns the jobs
// that were open, whose ledger tasks the caller cancels in the same transaction.
// ErrConflict when the run has ended.
func Cancel(ctx context.Context, tx *storage.Tx, w account.Writer, caseID string, id uuid.UUID) ([]uuid.UUID, error) {
	var row struct {
		openRun
		TeamID int64  `db:"team_id"`
		Name   string `db:"case_name"`
		Status Status `db:"state"`
	}
	err := tx.GetContext(ctx, &row, `select id, suite_run_id, fanned_out, team_id, case_name, state from test_runs
		where organization_id = $1 and case_id = $2 and id = $3`, w.OrganizationID, storage.WithoutNUL(caseID), id)
	if err != nil {
		return nil, storage.Wrap(err, "test run "+id.String())
	}
	if !w.May(row.TeamID) {
		return nil, authoring.ErrForbidden
	}
	jobs, err := cancelOpen(ctx, tx, []openRun{row.openRun})
	if err != nil {
		return nil, err
	}
	// An open run has an open job: without one it had ended, perhaps just now.
	if len(jobs) == 0 {
		return nil, fmt.Errorf("test run %s has ended: %w", id, storage.ErrConflict)
	}
	return jobs, account.Audit(ctx, tx, account.Event{OrganizationID: w.OrganizationID, Type: account.TestRunCancelled,
		Actor: w.Actor, Subject: row.Name, Detail: map[string]any{"id": id, "case": caseID, "jobs": len(jobs)}})
}

// CancelSuite does so for a suite run with all its case runs; its own id is
// among those returned, for its suite:run task.
func CancelSuite(ctx context.Context, tx *storage.Tx, w account.Writer, suiteID, id uuid.UUID) ([]uuid.UUID, error) {
	var row struct {
		TeamID int64  `db:"team_id"`
		Name   string `db:"suite_name"`
	}
	err := tx.GetContext(ctx, &row, `select team_id, suite_name from suite_runs
		where organization_id = $1 and suite_id = $2 and id = $3`, w.OrganizationID, suiteID, id)
	if err != nil {
		return nil, storage.Wrap(err, "suite run "+id.String())
	}
	if !w.May(row.TeamID) {
		return nil, authoring.ErrForbidden
	}
	open, err := cancelSuiteRuns(ctx, tx, []uuid.UUID{id}, byPerson)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(open, id) {
		return nil, fmt.Errorf("suite run %s has ended: %w", id, storage.ErrConflict)
	}
	return open, account.Audit(ctx, tx, account.Event{OrganizationID: w.OrganizationID, Type: account.TestSuiteRunCancelled,
		Actor: w.Actor, Subject: row.Name, Detail: map[string]any{"id": id, "suite": suiteID, "jobs": len(open) - 1}})
}
