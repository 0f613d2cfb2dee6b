// Package authoring keeps tests: cases with their revisions, suites, runs with
// their jobs and files, schedules, variables, tunnels and the events of ended runs.
//
// Everything belongs to an organization and a team. Reads see the whole
// organization; a Writer changes what belongs to one of its teams, and
// ErrForbidden says that it may not. Every change writes its audit row in the
// caller's transaction.
//
// A case has an id of 24 hexadecimal digits, a suite, run and job a UUID of
// version 7. Users are kept by their public id, which outlives them: the name of
// one who is gone is "".
//
// A run is a snapshot: StartRun writes it with one job for each target, and the
// job's id is the id of its ledger task, which the caller inserts in the same
// transaction. Job states only move forward (QUEUED, RUNNING, then one of PASSED,
// FAILED, ERROR, CANCELLED); the transaction that ends the last job ends the run,
// and the one that ends the last run of a suite run ends that, and writes the
// event. A cancelled run is CANCELLED at once; what a worker reports later finds
// the job ended and changes nothing.
//
// A Schedule makes suite runs by the clock (FireDue), and keeps a Fire of each time
// that it was due.
//
// Lock order: schedules, suites, cases, ledger tasks, suite runs, runs, jobs,
// revisions.
package authoring

import (
	"errors"
	"strings"
	"time"

	"github.com/google/uuid"
)

// Errors besides those of package storage.
var (
	// ErrForbidden: what would be changed belongs to a team that is not the
	// writer's.
	ErrForbidden = errors.New("belongs to another team")
	// ErrNoJobs: no case of the suite has a target and steps.
	ErrNoJobs = errors.New("no case of the suite has both steps and a target to run on")
	// ErrSuiteNotFound: a suite that a body names does not exist, where what the
	// path names does.
	ErrSuiteNotFound = errors.New("the test suite does not exist")
)

// MissingError names cases that a body lists and that do not exist.
type MissingError struct{ IDs []string }

func (e *MissingError) Error() string {
	return "test cases not found: " + strings.Join(e.IDs, ", ")
}

// Owner is what cases, suites and their like have in common.
type Owner struct {
	OrganizationID   int64     `db:"organization_id"`
	OrganizationUUID uuid.UUID `db:"organization_uuid"`
	TeamID           int64     `db:"team_id"`
	TeamUUID         uuid.UUID `db:"team_uuid"`
	CreatorUUID      uuid.UUID `db:"creator_uuid"`
	CreatorName      string    `db:"creator_name"` // name, else user name; "" when gone
	ModifierUUID     uuid.UUID `db:"modifier_uuid"`
	ModifierName     string    `db:"modifier_name"`
	CreatedAt        time.Time `db:"created_at"`
	UpdatedAt        time.Time `db:"updated_at"`
}

// Limits of what is kept.
const (
	MaxTags       = 20
	MaxTag        = 60
	MaxName       = 255
	MaxBuildName  = 100
	MaxSuiteCases = 1000 // of one request
	MaxTargets    = 20   // of one run
	MaxRevisions  = 100  // of a case; the oldest go
)
