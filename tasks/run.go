package tasks

import (
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage/ledger"
)

// Run is the queue of test jobs: each one holds a browser for seconds to
// minutes, so they have workers of their own.
const Run = "run"

// The kinds of test runs.
var (
	// TestJob replays one case on one target. A worker that dies leaves the test
	// half done, and the next attempt begins it anew; the handler itself gives up
	// at the third attempt and writes down why, so the ledger's own limit is only
	// reached when the database cannot be. An hour covers a thousand slow steps.
	TestJob = Kind{
		Name: "test:job", Queue: Run, Timeout: time.Hour,
		MaxAttempts: 20, Backoff: 2 * time.Second, MaxBackoff: 30 * time.Second, KeyLimit: 10,
		Retry: GrantOperator, Cancel: GrantOperator, KeepSucceeded: 24 * time.Hour,
	}
	// SuiteRun inserts the case runs and jobs of a suite run: some hundred rows a
	// second.
	SuiteRun = Kind{
		Name: "suite:run", Queue: Critical, Timeout: 5 * time.Minute,
		MaxAttempts: 20, Backoff: time.Second, MaxBackoff: 30 * time.Second,
		Retry: GrantOperator, Cancel: GrantOperator, KeepSucceeded: 24 * time.Hour,
	}
	// RunRows inserts the further jobs of a run of many data rows: some hundred a second.
	RunRows = Kind{
		Name: "run:rows", Queue: Critical, Timeout: 10 * time.Minute,
		MaxAttempts: 20, Backoff: time.Second, MaxBackoff: 30 * time.Second,
		Retry: GrantOperator, Cancel: GrantOperator, KeepSucceeded: 24 * time.Hour,
	}
	// SuiteDeadline ends a suite run whose maximum time is over; it is due then, a day after the
	// start at the latest.
	SuiteDeadline = Kind{
		Name: "suite:deadline", Queue: Critical, Timeout: time.Minute,
		MaxAttempts: 20, Backoff: time.Second, MaxBackoff: 30 * time.Second,
		Retry: GrantOperator, Cancel: GrantOperator, KeepSucceeded: 24 * time.Hour,
	}
	// RunMaintenance ends jobs whose task has ended without them, and removes runs
	// beyond their age or without a case.
	RunMaintenance = maintenance("run:maintenance", time.Minute, 10*time.Minute)
)

// TestJobPayload names a row of test_jobs.
type TestJobPayload struct {
	JobID uuid.UUID `json:"job_id"`
}

// Validate refuses a payload without a job.
func (p TestJobPayload) Validate() error {
	if p.JobID == uuid.Nil {
		return errors.New("job_id is missing")
	}
	return nil
}

// SuiteRunPayload names a row of suite_runs.
type SuiteRunPayload struct {
	SuiteRunID uuid.UUID `json:"suite_run_id"`
}

// Validate refuses a payload without a suite run.
func (p SuiteRunPayload) Validate() error {
	if p.SuiteRunID == uuid.Nil {
		return errors.New("suite_run_id is missing")
	}
	return nil
}

// RunRowsPayload names a row of test_runs.
type RunRowsPayload struct {
	RunID uuid.UUID `json:"run_id"`
}

// Validate refuses a payload without a run.
func (p RunRowsPayload) Validate() error {
	if p.RunID == uuid.Nil {
		return errors.New("run_id is missing")
	}
	return nil
}

// NewTestJob returns the task of a job, which has the job's id. The organization
// bounds how many of its jobs run at once.
func NewTestJob(organization int64, requestID string, job uuid.UUID) *ledger.NewTask {
	t := TestJob.new(organization, requestID, TestJobPayload{JobID: job})
	t.ID = job
	t.ConcurrencyKey = "test:job:" + organizationKey(organization)
	return t
}

// NewSuiteRun returns the task of a suite run, which has the run's id.
func NewSuiteRun(organization int64, requestID string, run uuid.UUID) *ledger.NewTask {
	t := SuiteRun.new(organization, requestID, SuiteRunPayload{SuiteRunID: run})
	t.ID = run
	return t
}

// NewRunRows returns the task of a run of many data rows, which has the run's id.
func NewRunRows(organization int64, requestID string, run uuid.UUID) *ledger.NewTask {
	t := RunRows.new(organization, requestID, RunRowsPayload{RunID: run})
	t.ID = run
	return t
}

// NewSuiteDeadline returns the task that ends a suite run when its time is over. There is one of a
// suite run at a time.
func NewSuiteDeadline(organization int64, requestID string, run uuid.UUID, left time.Duration) *ledger.NewTask {
	t := SuiteDeadline.new(organization, requestID, SuiteRunPayload{SuiteRunID: run})
	t.DedupeKey, t.Delay = run.String(), left
	return t
}
