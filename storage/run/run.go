package run

import (
	"time"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage/step"
)

// Status of a job, a run and a suite run.
type Status string

// The states. A run is FAILED when a job failed, else ERROR when one ended so,
// else CANCELLED when one was, else PASSED; RUNNING from its first job on.
const (
	Queued    Status = "QUEUED"
	Running   Status = "RUNNING"
	Passed    Status = "PASSED"
	Failed    Status = "FAILED" // an assertion or a step
	Errored   Status = "ERROR"  // no session, the worker was lost
	Cancelled Status = "CANCELLED"
)

// Terminal reports whether the status is an end.
func (s Status) Terminal() bool { return s != Queued && s != Running }

// The codes of jobs that ended as FAILED or ERROR.
const (
	CodeStepFailed      = "STEP_FAILED"
	CodeAssertionFailed = "ASSERTION_FAILED"
	CodeNoSession       = "SESSION_NOT_CREATED"
	CodeUnreachable     = "TARGET_UNREACHABLE"
	CodeForbidden       = "ADDRESS_REFUSED"
	CodeBrowserLost     = "BROWSER_LOST"
	CodeWorkerLost      = "WORKER_LOST"
	CodeTimeout         = "TIMEOUT"
	CodeVariable        = "VARIABLE_NOT_FOUND"
	CodeApp             = "APP_NOT_FOUND"
	CodeTunnel          = "SC_TUNNEL_NOT_FOUND"
	CodeCancelled       = "CANCELLED"
	CodeInternal        = "INTERNAL"
)

// Job is one case on one target.
type Job struct {
	ID         uuid.UUID
	RunID      uuid.UUID
	Position   int
	Target     step.Target // with effective capabilities
	Status     Status
	ErrorCode  string        // "" unless FAILED, ERROR or CANCELLED
	Error      string        // for people; without secrets
	Records    []step.Record // nil where they were not read
	Healed     int
	StartedAt  *time.Time
	FinishedAt *time.Time
	Files      []File
}

// Run is a run of one case.
type Run struct {
	ID               uuid.UUID
	OrganizationID   int64
	OrganizationUUID uuid.UUID
	TeamUUID         uuid.UUID
	CaseID           string
	RevisionID       string
	SuiteRunID       *uuid.UUID
	UserUUID         uuid.UUID
	CaseName         string
	BuildName        string
	TestURL          string
	Tunnel           string
	Status           Status
	CreatedAt        time.Time
	StartedAt        *time.Time
	FinishedAt       *time.Time
	// Jobs by position. Records are filled in for single runs only, of the first jobs
	// (ReadRecords), Files also for those of a suite run.
	Jobs []Job
}

// SuiteRun is a run of a suite.
type SuiteRun struct {
	ID               uuid.UUID
	OrganizationID   int64
	OrganizationUUID uuid.UUID
	TeamUUID         uuid.UUID
	SuiteID          uuid.UUID
	SuiteName        string
	UserUUID         uuid.UUID
	BuildName        string
	Status           Status
	RunCount         int // case runs that it starts
	Error            string
	CreatedAt        time.Time
	StartedAt        *time.Time
	FinishedAt       *time.Time
	// Counts of the case runs by their status; those that were not made yet
	// count as QUEUED, and as CANCELLED once the run has ended without them.
	Counts map[Status]int
}
