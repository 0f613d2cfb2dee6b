package schedule

import (
	"time"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage/quota"
	"github.com/slipway-qa/slipway/storage/run"
)

// FiringTrigger is what fired a schedule.
type FiringTrigger string

// The triggers.
const (
	TriggerCron    FiringTrigger = "CRON"
	TriggerCatchUp FiringTrigger = "CATCH_UP" // late, for the service was down; or in place of several missed times
	TriggerManual  FiringTrigger = "MANUAL"
)

// FiringOutcome is what became of a firing.
type FiringOutcome string

// The outcomes.
const (
	FiringStarted FiringOutcome = "STARTED" // at least one suite run
	FiringSkipped FiringOutcome = "SKIPPED" // the run before was still open, or the service was down
	FiringFailed  FiringOutcome = "FAILED"  // no suite could be started
)

// Firing is one time at which a schedule was due, or was run by hand. A SKIPPED one
// of the clock stands for all skipped times in a row: Missed is how many.
type Firing struct {
	ID          uuid.UUID
	ScheduleID  uuid.UUID
	At          time.Time // the time that was due, or of the run by hand
	Trigger     FiringTrigger
	Outcome     FiringOutcome
	Reason      string     // of SKIPPED and FAILED, and what did not start of STARTED
	Missed      int        // 0 for a single time; at most MaxMissed
	MissedUntil *time.Time // the last of them
	User        uuid.UUID  // whom the runs are made for
	CreatedAt   time.Time
	SuiteRuns   []run.SuiteRun // in the order of their ids; without those that were deleted by age
}

// MaxMissed is where counting the skipped times of a record ends: 1000 stands for more.
const MaxMissed = 1000

// StartedRun is a suite run that a firing started: the caller inserts its suite:run
// task in the same transaction.
type StartedRun struct {
	ID             uuid.UUID
	OrganizationID int64
}

// DueStep bounds one step of firing.
type DueStep struct {
	At     time.Time // schedules that are due by then fire; the database's time
	Limit  int       // schedules
	Except []uuid.UUID
	// Started is since when the process that fires has been there, in the database's
	// time: what was due before waited for it. Zero: unknown.
	Started time.Time
	// SkipLocked leaves out schedules with a suite that another transaction has
	// locked. Without it their lock is waited for, at most half a second each.
	SkipLocked bool
	// Quotas bound the runs of a day; nil: nothing does. A time that they have no room
	// for is skipped.
	Quotas *quota.Quotas
}

// DueResult is what one step of firing did.
type DueResult struct {
	Claimed   int         // schedules that were due; 0: no more are that this step could lock
	Postponed []uuid.UUID // left out by SkipLocked; they stay due
	Started   []StartedRun
	Firings   []FiringSummary // for metrics: one for each time, also where it is coalesced with a record
	Disabled  int             // schedules that ended: maxRuns, endDate, no suites left
	Errored   int
}

// FiringSummary is a firing in short.
type FiringSummary struct {
	At      time.Time
	Trigger FiringTrigger
	Outcome FiringOutcome
}
