// Package run stores runs of tests: runs of a case and of a suite, their jobs with records and
// files, and the events that say how they ended. What is shown of them is read by package reading.
//
// A Run is a case at the time it was started: its name, revision, targets and tunnel
// are copied into it, and later changes of the case do not reach it. It has one Job for
// each target. A SuiteRun copies the suite's name; its case runs are inserted by its
// suite:run task (FanOut), from the cases as they are then.
//
// The id of a job is the id of its test:job task, and the id of a suite run that of its
// suite:run task. The caller inserts the tasks in the transaction that inserts the rows.
//
// A job whose case needs others (package suiteplan) waits as a queued task until their runs have
// ended: who ends the last wakes it. BeginJob plays or skips it then (package need).
//
// States only move forward: QUEUED, RUNNING, then one of PASSED, FAILED, ERROR and
// CANCELLED. A job that failed may be played again (package attempt): it stays RUNNING
// meanwhile, and is FLAKY when it passes then. A job is ended by the worker that played it (EndJob), by who cancels
// (Cancel and its siblings), or by the maintenance when its task has ended without it
// (EndLostJobs): whoever is first. Who ends the last job of a run ends the run, and who
// ends the last run of a suite run that is fanned out ends that, in the same
// transaction, which also inserts the event. A cancelled run is CANCELLED at once; what
// a worker reports later changes nothing.
//
// Locks are taken in the order suites, cases, ledger tasks, builds, suite runs, runs, jobs,
// revisions, healings, and rows of one table in the order of their ids. The end of a job
// keeps its case for the healings, but waits for none that is being deleted. Last come the
// results of cases, which triggers of the runs write.
//
// Runs outlive their case and suite: there is no foreign key, and Forget deletes in
// steps what belongs to none any more.
package run

import (
	"time"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage/failure"
	"github.com/slipway-qa/slipway/storage/step/capability"
	"github.com/slipway-qa/slipway/storage/step/playback"
	"github.com/slipway-qa/slipway/storage/suiteplan"
)

// Status of a job, a run and a suite run.
type Status string

// The states. A run is FAILED when a job failed, else ERROR when one ended so,
// else CANCELLED when one was, else PASSED; RUNNING from its first job on.
const (
	Queued    Status = "QUEUED"
	Running   Status = "RUNNING"
	Passed    Status = "PASSED"
	Flaky     Status = "FLAKY"  // passed after it had failed; of jobs alone
	Failed    Status = "FAILED" // an assertion or a step
	Errored   Status = "ERROR"  // no session, the worker was lost
	Cancelled Status = "CANCELLED"
)

// Statuses are those of a run and a suite run.
func Statuses() []Status { return []Status{Queued, Running, Passed, Failed, Errored, Cancelled} }

// Terminal reports whether the status is an end.
func (s Status) Terminal() bool { return s != Queued && s != Running }

// The codes of jobs that ended as FAILED or ERROR.
const (
	CodeStepFailed      = "STEP_FAILED"
	CodeAssertionFailed = "ASSERTION_FAILED"
	CodeDrifted         = "ELEMENT_DRIFTED" // nothing was done to the element that was found
	CodeNoSession       = "SESSION_NOT_CREATED"
	CodeUnreachable     = "TARGET_UNREACHABLE"
	CodeForbidden       = "ADDRESS_REFUSED"
	CodeBrowserLost     = "BROWSER_LOST"
	CodeWorkerLost      = "WORKER_LOST"
	CodeTimeout         = "TIMEOUT"
	CodeVariable        = "VARIABLE_NOT_FOUND"
	CodeEnvironment     = "ENVIRONMENT_REFUSED" // it is not for the case, or the browser cannot have it
	CodeApp             = "APP_NOT_FOUND"
	CodeTunnel          = "SC_TUNNEL_NOT_FOUND"
	CodeNoGroup         = "STEP_GROUP_NOT_FOUND" // deleted before the run was made
	CodeGroup           = "STEP_GROUP_INVALID"   // its steps cannot be put into the test
	CodeLogin           = "LOGIN_FAILED"         // of the suite: it left nothing, or does not last
	CodeCancelled       = "CANCELLED"
	CodeNeeds           = "DEPENDENCY_NOT_PASSED" // skipped: a test that it needs did not pass
	CodeMaxDuration     = "MAX_DURATION_EXCEEDED" // the time of its suite run was over
	CodeInternal        = "INTERNAL"
)

// Job is the row of one case on one target within a run. Its ledger task is the
// test:job task of the same id, which worker/run handles by its JobHandler.
type Job struct {
	ID         uuid.UUID
	RunID      uuid.UUID
	Position   int
	Target     capability.Target // with effective capabilities
	Row        *Row              // nil without a data row
	Status     Status
	ErrorCode  string            // "" unless FAILED, ERROR or CANCELLED
	Error      string            // for people; without secrets
	Records    []playback.Record // nil where they were not read
	Healed     int
	Drifted    int
	Unreviewed int // steps that look like a picture that nobody has accepted
	StartedAt  *time.Time
	FinishedAt *time.Time
	Files      []File // of the last attempt
	// Diagnosis is why the job failed; nil for others, and where the records were not read.
	Diagnosis *failure.Diagnosis
	// Ended is the number of attempts that failed before the last one; Earlier are these, where
	// they were read (package attempt). AttemptAt is when the last one began; StartedAt is when
	// the first did.
	Ended     int
	AttemptAt *time.Time
	Earlier   []Attempt
}

// Attempt is a playing of a job that failed and after which the job was played again.
type Attempt struct {
	Number     int // from 1
	Status     Status
	ErrorCode  string
	Error      string
	Records    []playback.Record // nil where they were not read
	Healed     int
	Drifted    int
	StartedAt  time.Time
	FinishedAt time.Time
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
	BuildID          *int64 // the distribution's build that was tested; nil without one
	// RecordedURL is the case's own TestURL where the run was given another; nil where it was not.
	RecordedURL *string
	// VariableNames are those of values that were given to the run, of a suite's run to that.
	VariableNames []string
	Environment   string // the name of the environment that it is in; "" for none
	// Retries is how often its jobs are played again when they fail, that the run was given; nil
	// where it was given none.
	Retries *int
	RerunOf *uuid.UUID // the run that this one repeats
	Flaky   int        // jobs that passed after they had failed; 0 before the run's end
	// LoginKey says which login of its suite run the run is, by target and generation (package
	// login); "" for a run of one of the suite's cases.
	LoginKey string
	// Quarantine is why a failure of the run does not fail its suite run; nil where it does.
	Quarantine *Quarantine
	Pin        *Pin // nil while nobody keeps it
	// DataID are the data rows that the run has; nil without, and they may be gone.
	DataID *uuid.UUID
	picked []int64 // places of the data rows that a new run has; nil for all
	// needs are the cases that must pass before, in the suite run of a new run; needed: another
	// case has this one among them.
	needs  []string
	needed bool
	// Targets is how many targets each data row has; 0 for a run without rows.
	Targets int
	// JobCount, Counts, Healed and Drifted are of all jobs, also of those that are not read
	// or not made yet.
	JobCount int
	Counts   map[Status]int
	Healed   int
	Drifted  int
	// Unreviewed counts steps that look like a picture that nobody has accepted.
	Unreviewed int
	// Jobs by position, a page of them. Records are filled in for single runs only, of the first jobs
	// (reading.Records), Files also for those of a suite run.
	Jobs []Job
}

// Quarantine is that of a case when its run was made.
type Quarantine struct {
	Reason string
	Until  time.Time
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
	BuildID          *int64
	TestURL          string // that the run was given; "" when each case begins at its own
	VariableNames    []string
	Retries          *int             // as of Run
	RerunOf          *uuid.UUID       // the suite run whose cases are run again
	RerunOnly        Selection        // which of them
	Environment      string           // as of Run
	Trace            string           // the mode of traces that the run was given; "" for none
	Shard            *suiteplan.Shard // the part of the suite; nil for all of it
	MaxDuration      *int             // seconds from the creation to the end; nil: no bound
	// Counts of the case runs by their status, without those that are Quarantined; those that were not made yet
	// count as QUEUED, and as CANCELLED once the run has ended without them.
	Counts      map[Status]int
	Quarantined int // case runs that failed though that fails nothing
	Flaky       int // case runs that passed with a job that had failed; PASSED counts them as well
	Healed      int // steps of all case runs
	// Drifted and Unreviewed count them likewise.
	Drifted, Unreviewed int
	Pin                 *Pin // as of Run
}
