// Package history reads what became of a test over time, and decides which runs are kept.
//
// A page has the runs of a case or a suite, newest first, from a Cursor on. It reads the rows
// that it shows by the index of the case or suite. A filter looks at a bounded number of runs:
// a page may then be short, or empty, and still have a Next.
//
// A Summary is of a window: the newest runs since a time, a bounded number of them. What is
// asked of all runs, since when a test fails, is one row of an index each (Standing).
//
// Runs ought to end alike on one build. Flakiness groups them by the uploaded build, else by the
// name of a build that somebody gave, else by revision and day, and counts the groups that saw
// both results.
//
// Retention removes runs that are too old or too many, in steps: see Retain, which says what it
// never takes. A pinned run stays until nobody pins it.
package history

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/run/reading"
	"github.com/slipway-qa/slipway/storage/step/capability"
)

// Run is a run of a case or a suite as its history has it.
type Run struct {
	reading.Past
	Flaky       int   // jobs of a case, cases of a suite, that passed after they had failed
	Attempts    *int  // how often its tests were begun; nil where nobody counted
	Build       Build // that was tested
	Environment string
	Quarantined bool     // a failure of it does not fail its suite run; of a case
	Rows        int      // data rows that it was run with; 0 for a case without
	Row         *run.Row // the only one of these
	Cases       *Counts  // of a suite, on its pages
	Pin         *run.Pin
}

// Build is the uploaded build of a run; ID is 0 without one, and where it was deleted.
type Build struct {
	ID      int64
	Version string
	Commit  string // of its metadata
}

// Counts are the case runs of a suite run by their results.
type Counts struct {
	Passed      int `db:"passed"`
	Failed      int `db:"failed"`
	Errored     int `db:"errored"`
	Cancelled   int `db:"cancelled"`
	Open        int `db:"open"`
	Quarantined int `db:"-"` // failed, and in no other count
}

// Filter selects runs of a case or suite.
type Filter struct {
	From, To    time.Time // creation; From inclusive, To exclusive; zero: no bound
	BuildID     int64     // the uploaded build that was tested; 0: all
	Environment string    // its name; "": all
	Target      string    // of a case: name of a browser or platform, in any case; "": all
}

// narrows reports whether the filter leaves out runs between From and To.
func (f *Filter) narrows() bool { return f.BuildID != 0 || f.Environment != "" || f.Target != "" }

// runRow is a row of caseColumns or suiteColumns.
type runRow struct {
	ID          uuid.UUID  `db:"id"`
	BuildName   string     `db:"build_name"`
	RevisionID  string     `db:"revision_id"`
	SuiteRunID  *uuid.UUID `db:"suite_run_id"`
	Status      run.Status `db:"state"`
	CreatedAt   time.Time  `db:"created_at"`
	StartedAt   *time.Time `db:"started_at"`
	FinishedAt  *time.Time `db:"finished_at"`
	Healed      *int       `db:"healed"`
	Attempts    *int       `db:"attempts"`
	Flaky       int        `db:"flaky"`
	BuildID     *int64     `db:"build_id"`
	Environment string     `db:"environment"`
	JobCount    int        `db:"job_count"`
	TargetCount int        `db:"target_count"`
	Quarantined bool       `db:"quarantined"`
	PinnedAt    *time.Time `db:"pinned_at"`
	PinnedBy    *uuid.UUID `db:"pinned_by"`
	PinnedName  *string    `db:"pinned_name"`
	Version     *string    `db:"version"`
	Commit      *string    `db:"commit"`
	Targets     []byte     `db:"targets"`
	RowPlace    *int       `db:"row_place"`
	RowName     *string    `db:"row_name"`
}

// What a history shows of a run of a case and of one of a suite.
const (
	caseColumns = `r.id, r.build_name, r.revision_id, r.suite_run_id, r.state, r.created_at, r.started_at, r.finished_at, r.healed, r.attempts,
	r.flaky, r.build_id, r.environment, r.job_count, r.target_count, r.quarantine is not null as quarantined, r.pinned_at, r.pinned_by`
	suiteColumns = `r.id, r.build_name, '' as revision_id, null::uuid as suite_run_id, r.state, r.created_at, r.started_at,
	r.finished_at, r.healed,
	r.attempts, coalesce(r.flaky, 0) as flaky, r.build_id, r.environment, 0 as job_count, 0 as target_count, false as quarantined,
	r.pinned_at, r.pinned_by`
	// shown is what the rows of a page have besides.
	shown       = `b.version, left(btrim(b.metadata ->> 'commit'), 200) as commit, u.name as pinned_name`
	shownTables = ` left join builds b on b.id = r.build_id and b.deleted_at is null left join users u on u.uuid = r.pinned_by`
)

func (r *runRow) run() (Run, error) {
	one := Run{Past: reading.Past{ID: r.ID, BuildName: r.BuildName, RevisionID: r.RevisionID, SuiteRunID: r.SuiteRunID, Status: r.Status,
		CreatedAt: r.CreatedAt, StartedAt: r.StartedAt, FinishedAt: r.FinishedAt, Healed: r.Healed},
		Flaky: r.Flaky, Attempts: r.Attempts, Environment: r.Environment, Quarantined: r.Quarantined,
		Pin: run.PinOf(r.PinnedAt, r.PinnedBy, r.PinnedName)}
	if r.BuildID != nil && r.Version != nil {
		one.Build = Build{ID: *r.BuildID, Version: *r.Version}
		if r.Commit != nil {
			one.Build.Commit = *r.Commit
		}
	}
	if r.TargetCount > 0 {
		if one.Rows = r.JobCount / r.TargetCount; one.Rows == 1 && r.RowPlace != nil && r.RowName != nil {
			one.Row = &run.Row{Index: *r.RowPlace, Name: *r.RowName}
		}
	}
	if r.Targets != nil {
		one.Targets = []capability.Target{}
		if err := json.Unmarshal(r.Targets, &one.Targets); err != nil {
			return one, fmt.Errorf("targets of test run %s: %w", r.ID, err)
		}
	}
	return one, nil
}

// Cursor is the place of a run in a history: what is older comes after it.
type Cursor struct {
	At time.Time `db:"at"`
	ID uuid.UUID `db:"id"`
}

// lastUUID stands behind all others.
const lastUUID = "ffffffff-ffff-ffff-ffff-ffffffffffff"

// bounds are the arguments of a range of runs: the place that it begins before, and the time
// that it ends with.
func (f *Filter) bounds(after *Cursor) (at, id, from any) {
	at, id, from = "infinity", lastUUID, "-infinity"
	if !f.To.IsZero() {
		at, id = f.To, uuid.Nil
	}
	if after != nil && (f.To.IsZero() || after.At.Before(f.To)) {
		at, id = after.At, after.ID
	}
	if !f.From.IsZero() {
		from = f.From
	}
	return at, id, from
}

func wrap(err error, subject any) error {
	return storage.Wrap(err, fmt.Sprintf("history of %v", subject))
}
