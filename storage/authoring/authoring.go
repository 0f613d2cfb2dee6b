// Package authoring stores tests: cases with their revisions, suites, and the variables
// and tunnels that tests use. Their runs are in package run, what runs them by the
// clock in package schedule.
//
// Everything belongs to an organization and a team. Reads see the whole organization;
// an account.Writer changes what belongs to one of its teams, and ErrForbidden says
// that it may not. Every change writes its audit row in the caller's transaction.
//
// A case has an id of 24 hexadecimal digits, a suite a UUID of version 7. A revision is
// never changed, but for the fingerprints of elements that a run adds to steps without
// one. Users are kept by their public id, which outlives them: the name of one who is
// gone is "".
//
// Rows that a change depends on are locked in the order suites, cases, revisions,
// healings, each in the order of their ids. Schedules are locked before suites; ledger tasks and runs
// between cases and revisions.
package authoring

import (
	"errors"
	"strings"
	"time"

	"github.com/google/uuid"
)

// Errors besides those of package storage.
var (
	// ErrForbidden means that what would be changed belongs to a team that is not the
	// writer's.
	ErrForbidden = errors.New("belongs to another team")
	// ErrNoJobs means that no case of the suite has a target and steps.
	ErrNoJobs = errors.New("no case of the suite has both steps and a target to run on")
	// ErrRevisionNotFound means that the case has no such revision.
	ErrRevisionNotFound = errors.New("the test case has no such revision")
	// ErrHealingOutdated means that a healing cannot be accepted, because the step is gone or has
	// another selector meanwhile.
	ErrHealingOutdated = errors.New("the step is gone, or its selector is not the one that was healed")
	// ErrSuiteNotFound means that a suite that a body names does not exist, where what the
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
