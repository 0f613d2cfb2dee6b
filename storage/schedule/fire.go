package schedule

import (
	"time"

	"github.com/slipway-qa/slipway/storage/run"

	"github.com/google/uuid"
)

// FireTrigger is what made a schedule fire.
type FireTrigger string

// The triggers.
const (
	TriggerCron    FireTrigger = "CRON"
	TriggerCatchUp FireTrigger = "CATCH_UP" // later than a minute, or in place of several missed times
	TriggerManual  FireTrigger = "MANUAL"
)

// FireOutcome is what became of a fire.
type FireOutcome string

// The outcomes.
const (
	FireStarted FireOutcome = "STARTED" // at least one suite run
	FireSkipped FireOutcome = "SKIPPED" // the former one still ran, or nobody was there to fire
	FireFailed  FireOutcome = "FAILED"  // no suite could be started
)

// Fire is one time at which a schedule was due, or was run by hand.
type Fire struct {
	ID          uuid.UUID
	ScheduleID  uuid.UUID
	At          time.Time // the time that was due
	Trigger     FireTrigger
	Outcome     FireOutcome
	Reason      string     // of SKIPPED and FAILED, and what did not start of STARTED
	Missed      int        // of a SKIPPED row that stands for several times: how many, at most MaxMissed; else 0
	MissedUntil *time.Time // the last of them
	User        uuid.UUID  // whom the runs are made for
	CreatedAt   time.Time
	SuiteRuns   []run.SuiteRun // in the order of their ids; without those that were forgotten
}

// MaxMissed is where counting the times of a record ends: more are as many.
const MaxMissed = 1000

// StartedRun is a suite run that a fire made: the caller inserts its suite:run task
// in the same transaction.
type StartedRun struct {
	ID             uuid.UUID
	OrganizationID int64
}

// DueStep is what one step of firing takes.
type DueStep struct {
	At     time.Time // what is due by then; the database's time
	Limit  int       // schedules
	Except []uuid.UUID
	// Impatient passes over schedules of whose suites somebody else holds one. Else
	// they are waited for, each for half a second.
	Impatient bool
}

// Fired is what one step of firing did.
type Fired struct {
	Claimed  int // schedules that were due; with 0 no more are, but those that others hold
	Passed   []uuid.UUID
	Started  []StartedRun
	Fires    []FiredTime // for metrics: one for each record, and for each time that joined one
	Disabled int         // schedules that ended: maxRuns, endDate, no suites left
	Errored  int
}

// FiredTime is a fire record in short.
type FiredTime struct {
	At      time.Time
	Trigger FireTrigger
	Outcome FireOutcome
}
