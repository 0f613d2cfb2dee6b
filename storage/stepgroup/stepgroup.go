// Package stepgroup stores step groups: lists of steps with parameters, which cases, suites
// and other groups run by a step run_group.
//
// A Group has revisions as a case has; its id never changes. Steps are checked when they are
// written, those of groups here and those of cases and suites by their own stores with Hold:
// groups that do not exist, parameters, depth, size, and groups that would run themselves.
// Whoever writes steps with groups shares a lock of the organization, and whoever writes a
// group holds it alone, so that two writers cannot make a cycle of what each saw without the
// other, and nobody uses a group that is being deleted. It is taken after the case or suite.
//
// Who uses a group stands in step_group_uses, written with the steps. A group in use cannot
// be deleted (*InUseError). One that is deleted keeps its rows: a run that began before plays
// the revisions that it began with, and a later one of old steps says by its name what is
// missing.
package stepgroup

import (
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/group"
)

const (
	// MaxName and MaxDescription are those of cases, in characters.
	MaxName        = 255
	MaxDescription = 20_000
	// MaxRevisions of a group are kept, and those that open runs play.
	MaxRevisions = 100
	// MaxUsers is how many cases, suites and groups of each kind an answer names.
	MaxUsers = 100
	// maxGroups bounds the groups of an organization: what people look through.
	maxGroups = 10_000
	// maxSteps and maxFingerprint bound documents, in bytes of JSON.
	maxSteps       = 8 << 20
	maxFingerprint = 16 << 10
)

// Errors besides those of package storage.
var (
	// ErrForbidden means that the group belongs to a team that is not the writer's.
	ErrForbidden = errors.New("belongs to another team")
	// ErrTooMany means that the organization has as many groups as it may.
	ErrTooMany = fmt.Errorf("the organization has %d step groups: delete some first", maxGroups)
)

// InUseError means that a group cannot be deleted because of who uses it.
type InUseError struct{ Users Users }

func (e *InUseError) Error() string { return "the step group is in use by " + e.Users.String() }

// Group is a step group as it is now.
type Group struct {
	ID           uuid.UUID
	TeamID       int64
	TeamUUID     uuid.UUID
	Name         string
	CreatorUUID  uuid.UUID
	ModifierUUID uuid.UUID
	CreatedAt    time.Time
	UpdatedAt    time.Time
	Revision     Revision // the latest; a list leaves its steps out
	UserCount    int      // cases, suites and groups
	StepCount    int
}

// Revision is one state of a group's steps and parameters.
type Revision struct {
	ID          uuid.UUID
	Number      int
	Description string
	Parameters  []group.Parameter // never nil
	Steps       []step.Step       // never nil
	CreatedAt   time.Time
}

// User is a case, a suite or a group that runs a group by itself.
type User struct {
	ID   string `db:"id"`
	Name string `db:"name"`
}

// Users are who uses a group: MaxUsers of each kind by their names, and how many there are.
type Users struct {
	Cases, Suites, Groups             []User
	CaseCount, SuiteCount, GroupCount int
}

// Count is the number of all users.
func (u *Users) Count() int { return u.CaseCount + u.SuiteCount + u.GroupCount }

// String says how many use the group.
func (u Users) String() string {
	return fmt.Sprintf("%d test cases, %d test suites and %d step groups", u.CaseCount, u.SuiteCount, u.GroupCount)
}
