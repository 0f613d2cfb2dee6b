package schedule

import (
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/authoring"
)

// settingsColumns are those of a schedule's settings.
const settingsColumns = `c.cron, c.timezone, c.running_user_uuid, c.start_at, c.end_at, c.max_runs, c.tunnel, c.build_name, c.environment`

// scheduleColumns read only the suites and the newest firing of each schedule,
// each by an index.
const scheduleColumns = `c.id, c.name, ` + settingsColumns + `, c.run_count, c.last_run_at, c.last_error, c.next_run_at,
	case when c.state = 'ENABLED' and exists (select from suite_runs s
		where s.firing_id = c.last_firing_id and s.state in ('QUEUED', 'RUNNING'))
	then 'RUNNING' else c.state end as state,
	array(select k.suite_id from test_schedule_suites k where k.schedule_id = c.id order by k.position) as suite_ids, ` +
	authoring.OwnerColumns

// settingsRow is the settings, or none.
type settingsRow struct {
	Cron        *string    `db:"cron"`
	Timezone    *string    `db:"timezone"`
	RunningUser *uuid.UUID `db:"running_user_uuid"`
	StartAt     *time.Time `db:"start_at"`
	EndAt       *time.Time `db:"end_at"`
	MaxRuns     *int       `db:"max_runs"`
	Tunnel      string     `db:"tunnel"`
	BuildName   string     `db:"build_name"`
	Environment string     `db:"environment"`
}

func (r *settingsRow) settings() *Settings {
	if r.Cron == nil || r.Timezone == nil || r.RunningUser == nil {
		return nil
	}
	return &Settings{Cron: *r.Cron, Timezone: *r.Timezone, RunningUser: *r.RunningUser, StartAt: r.StartAt,
		EndAt: r.EndAt, MaxRuns: r.MaxRuns, Tunnel: r.Tunnel, BuildName: r.BuildName, Environment: r.Environment}
}

func settingsRowOf(s *Settings) settingsRow {
	if s == nil {
		return settingsRow{}
	}
	return settingsRow{Cron: &s.Cron, Timezone: &s.Timezone, RunningUser: &s.RunningUser, StartAt: s.StartAt,
		EndAt: s.EndAt, MaxRuns: s.MaxRuns, Tunnel: s.Tunnel, BuildName: s.BuildName, Environment: s.Environment}
}

// values are the columns' values in their order.
func (r settingsRow) values() []any {
	return []any{r.Cron, r.Timezone, r.RunningUser, r.StartAt, r.EndAt, r.MaxRuns, r.Tunnel, r.BuildName, r.Environment}
}

type scheduleRow struct {
	authoring.Owner
	settingsRow
	ID        uuid.UUID      `db:"id"`
	Name      string         `db:"name"`
	SuiteIDs  pq.StringArray `db:"suite_ids"`
	State     State          `db:"state"`
	RunCount  int            `db:"run_count"`
	LastRunAt *time.Time     `db:"last_run_at"`
	NextRunAt *time.Time     `db:"next_run_at"`
	LastError string         `db:"last_error"`
	Total     int            `db:"total"` // of lists
}

func (r *scheduleRow) schedule() (Schedule, error) {
	s := Schedule{Owner: r.Owner, ID: r.ID, Name: r.Name, SuiteIDs: make([]uuid.UUID, len(r.SuiteIDs)), Settings: r.settings(),
		State: r.State, RunCount: r.RunCount, LastRunAt: r.LastRunAt, NextRunAt: r.NextRunAt, LastError: r.LastError}
	for i, text := range r.SuiteIDs {
		id, err := uuid.Parse(text)
		if err != nil {
			return s, fmt.Errorf("suite of test schedule %s: %w", r.ID, err)
		}
		s.SuiteIDs[i] = id
	}
	if len(s.SuiteIDs) == 0 {
		// Its suites were deleted, which waits for no schedule: the row says so when it
		// is due, or changed.
		s.State, s.NextRunAt = Disabled, nil
	}
	return s, nil
}

func (f Filter) conditions() *authoring.Conditions {
	m := authoring.ConditionsOf(f.OrganizationID)
	m.Named(f.Search)
	m.Created(f.From, f.To)
	m.By(f.User, f.Team)
	if f.IDs != nil {
		m.Narrow = true
		m.And("c.id = any(" + m.Arg(storage.UUIDs(f.IDs)) + "::uuid[])")
	}
	if f.Suites != nil {
		m.Narrow = true
		m.And("c.id in (select schedule_id from test_schedule_suites where suite_id = any(" + m.Arg(storage.UUIDs(f.Suites)) + "::uuid[]))")
	}
	return m
}
