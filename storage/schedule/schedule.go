// Package schedule stores schedules, which run suites by the clock, and fires them.
//
// A schedule that is ENABLED has a next time (next_run_at). FireDue claims schedules
// that are due and moves each to its next time, in one transaction with the Firing and
// the suite runs: so a time fires once, however many callers there are. The last check
// is a unique index on the firings of the clock; runs by hand (FireNow) stand beside it.
//
// A time is fired late, as a catch-up, or recorded as missed when it is too late. While
// a suite run of the newest firing that started something is open, the schedule is
// RUNNING and further times are skipped. Skipped times in a row are coalesced with one
// record: a schedule of every second whose suite runs for an hour has one row, not 3600.
//
// FireDue ends schedules that have no further time or suite (DISABLED) and those that
// fail again and again (ERRORED); Stop ends one that cannot be fired at all. Only people
// enable them again. Recount repairs next times that a wrong clock or old rules of a
// time zone have left far in the future, where nothing else would look at them.
//
// Locks are taken in the order organization and team, schedule, suites, rows of
// test_schedule_suites, each table in the order of its ids. Firing skips schedules that
// are locked and waits for suites; deleting a suite locks that and then its rows. With
// suites before the schedule there would be a circle: who fires waits for a suite behind
// one that deletes it, who waits for one that changes the schedule, who waits for the
// schedule that is about to fire.
package schedule

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/authoring"
)

// State is what a schedule does at its next time.
type State string

// The states. Running is stored nowhere: it is Enabled while a
// suite run of the newest firing is open.
const (
	Enabled  State = "ENABLED"
	Disabled State = "DISABLED"
	Errored  State = "ERRORED" // MaxFailures firings in a row started nothing
	Running  State = "RUNNING"
)

// Limits of schedules.
const (
	// MaxFailures firings in a row that start nothing set a schedule to ERRORED.
	MaxFailures = 5
	// MaxSuites is the most suites of a schedule: one transaction starts
	// them all.
	MaxSuites = 50
	// MaxCron bounds an expression, in bytes.
	MaxCron = 256
)

// Errors of schedules besides.
var (
	// ErrRunningUser means that runningUserId is no user or service account of the
	// organization that may run tests.
	ErrRunningUser = errors.New("the running user is no user or service account of the organization that may run tests")
	// ErrOtherUser means that runningUserId is another person than the one who asks, who is no
	// admin of the organization. Runs would be made in that person's name.
	ErrOtherUser = errors.New("the running user is another person: only an admin of the organization may name one; name yourself or a " +
		"service account")
	// ErrNoTunnel means that scTunnelName names no tunnel of the organization.
	ErrNoTunnel = errors.New("the tunnel does not exist")
	// ErrNoEnvironment means that environment names no environment of the organization.
	ErrNoEnvironment = errors.New("the environment does not exist")
)

// MissingSuitesError names suites that a body lists and that do not exist in the
// organization.
type MissingSuitesError struct{ IDs []uuid.UUID }

func (e *MissingSuitesError) Error() string { return "test suites not found: " + joined(e.IDs) }

// ForeignSuitesError names suites of teams that are not the writer's.
type ForeignSuitesError struct{ IDs []uuid.UUID }

func (e *ForeignSuitesError) Error() string {
	return "test suites of teams that are not yours: " + joined(e.IDs)
}

func joined(ids []uuid.UUID) string {
	texts := make([]string, len(ids))
	for i, id := range ids {
		texts[i] = id.String()
	}
	return strings.Join(texts, ", ")
}

// Schedule runs suites by the clock.
type Schedule struct {
	authoring.Owner
	ID        uuid.UUID
	Name      string
	SuiteIDs  []uuid.UUID // in the order they were given; never nil
	Settings  *Settings
	State     State
	RunCount  int        // firings of the clock that started something
	LastRunAt *time.Time // of the newest firing that started something, by hand or by the clock
	NextRunAt *time.Time // while ENABLED or RUNNING
	// LastError says why the newest firing started nothing, or not everything.
	LastError string
}

// Remaining is how many runs are left; nil without MaxRuns or when the schedule
// is not enabled.
func (s *Schedule) Remaining() *int {
	if s.Settings == nil || s.Settings.MaxRuns == nil || s.NextRunAt == nil {
		return nil
	}
	n := max(0, *s.Settings.MaxRuns-s.RunCount)
	return &n
}

// Upcoming returns when the schedule fires next, as far as its settings go; nothing unless
// it is enabled.
func (s *Schedule) Upcoming(most int) []time.Time {
	list := []time.Time{}
	if s.NextRunAt == nil || s.Settings == nil {
		return list
	}
	if left := s.Remaining(); left != nil {
		most = min(most, *left)
	}
	r, err := ruleOf(s.Settings, zones{})
	if err != nil { // it was read before it was kept, perhaps with other zone files
		return list
	}
	for at, ok := *s.NextRunAt, true; ok && len(list) < most; at, ok = r.next(at) {
		list = append(list, at)
	}
	return list
}

// Settings say when a schedule fires and how its runs are made.
type Settings struct {
	Cron        string     // as it was written
	Timezone    string     // IANA name
	RunningUser uuid.UUID  // person or service account
	StartAt     *time.Time // the first instant that may fire
	EndAt       *time.Time // the last instant that may fire
	MaxRuns     *int
	Tunnel      string // "": each case's own
	BuildName   string // "": the suite's name
	Environment string // name; "": that of each suite
}

// Member is a member of a body that changes something: it is absent, null or has
// a value.
type Member[T any] struct {
	Given bool
	Value *T // nil: null
}

// SettingsChange changes members of the settings; null removes an optional one.
// With Remove all settings go, and the rest is not looked at.
type SettingsChange struct {
	Remove                            bool
	Cron, Timezone, Tunnel, BuildName Member[string]
	Environment                       Member[string]
	RunningUser                       Member[uuid.UUID]
	StartAt, EndAt                    Member[time.Time]
	MaxRuns                           Member[int]
}

// NewSchedule is a schedule to create.
type NewSchedule struct {
	Team     *uuid.UUID // as of NewCase
	Name     string     // "": Schedule and the date
	Suites   []uuid.UUID
	Settings *SettingsChange // nil: none
	State    State           // ENABLED, DISABLED; "": ENABLED when it can run
}

// Change changes the members that are given.
type Change struct {
	Name     *string
	Suites   *[]uuid.UUID
	Settings *SettingsChange
	State    *State // ENABLED or DISABLED
}

// Filter selects schedules of a list.
type Filter struct {
	OrganizationID int64
	IDs            []uuid.UUID // nil: all
	Search         string
	From, To       time.Time // creation
	User           *uuid.UUID
	Team           *uuid.UUID
	Suites         []uuid.UUID // schedules with any of them; nil: all
	storage.Page
}

// List returns a page of schedules, newest first, and the number of all that
// match.
func List(ctx context.Context, q storage.Querier, f Filter) ([]Schedule, int, error) {
	m, rows := f.conditions(), []scheduleRow{}
	if f.RowLimit() > 0 {
		query, args := m.Page("test_schedules", scheduleColumns, authoring.OwnerTables, f.Page)
		if err := q.SelectContext(ctx, &rows, query, args...); err != nil {
			return nil, 0, storage.Wrap(err, "list test schedules")
		}
	}
	list := make([]Schedule, len(rows))
	for i := range rows {
		s, err := rows[i].schedule()
		if err != nil {
			return nil, 0, err
		}
		list[i] = s
	}
	if len(rows) > 0 {
		return list, rows[0].Total, nil
	}
	var total int
	err := q.GetContext(ctx, &total, m.Total("test_schedules"), m.Args...)
	return list, total, storage.Wrap(err, "count test schedules")
}

const scheduleByID = `
select ` + scheduleColumns + ` from test_schedules c` + authoring.OwnerTables + `
where c.organization_id = $1 and c.id = $2`

// ByID reads one schedule; ErrNotFound also for another organization's.
func ByID(ctx context.Context, q storage.Querier, organizationID int64, id uuid.UUID) (*Schedule, error) {
	var row scheduleRow
	if err := q.GetContext(ctx, &row, scheduleByID, organizationID, id); err != nil {
		return nil, storage.Wrap(err, "test schedule "+id.String())
	}
	s, err := row.schedule()
	if err != nil {
		return nil, err
	}
	return &s, nil
}
