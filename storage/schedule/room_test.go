package schedule_test

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/lib/pq"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/ledger"
	. "github.com/slipway-qa/slipway/storage/schedule"
)

// noon is when schedules of these tests are due.
var noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// planned is a schedule as a row: due at any time, and in states that the interface
// does not make.
type planned struct {
	cron, zone, tunnel, build string // "": every day at noon, UTC, none, none
	next, start, end          time.Time
	maxRuns, runs, failures   int
	user                      uuid.UUID // nil: dev
	suites                    []uuid.UUID
}

// plan creates a schedule of the main team; without a time it is due at noon.
func (w *room) plan(p planned) uuid.UUID {
	w.T.Helper()
	id := uuid.Must(uuid.NewV7())
	if p.cron == "" {
		p.cron = "0 12 * * *"
	}
	if p.zone == "" {
		p.zone = "UTC"
	}
	if p.next.IsZero() {
		p.next = noon
	}
	if p.user == uuid.Nil {
		p.user = w.Org.Member.UUID
	}
	optional := func(at time.Time) any {
		if at.IsZero() {
			return nil
		}
		return at
	}
	w.Exec(`insert into test_schedules (id, organization_id, team_id, name, cron, timezone, running_user_uuid, start_at, end_at,
			max_runs, tunnel, build_name, state, run_count, failures, next_run_at, creator_uuid, modifier_uuid)
		values ($1, $2, $3, 'nightly', $4, $5, $6, $7, $8, nullif($9::int, 0), $10, $11, 'ENABLED', $12, $13, $14, $15, $15)`,
		id, w.Org.ID, w.Org.Team.ID, p.cron, p.zone, p.user, optional(p.start), optional(p.end), p.maxRuns, p.tunnel, p.build,
		p.runs, p.failures, p.next, w.Org.Member.UUID)
	for i, suite := range p.suites {
		w.Exec(`insert into test_schedule_suites (schedule_id, suite_id, position) values ($1, $2, $3)`, id, suite, i)
	}
	return id
}

// tryFire fires what is due, with the tasks of the suite runs.
func (w *room) tryFire(at time.Time, limit int) (done *DueResult, err error) {
	err = w.Do(func(ctx context.Context, tx *storage.Tx) error {
		done, err = fireWithTasks(ctx, tx, w, at, limit)
		return err
	})
	return done, err
}

func fireWithTasks(ctx context.Context, tx *storage.Tx, w *room, at time.Time, limit int) (*DueResult, error) {
	done, err := FireDue(ctx, tx, DueStep{At: at, Limit: limit})
	if err != nil {
		return nil, err
	}
	list := make([]*ledger.NewTask, len(done.Started))
	for i, run := range done.Started {
		list[i] = w.RunTask("suite:run", run.ID)
		list[i].OrganizationID = run.OrganizationID
	}
	_, err = ledger.InsertAll(ctx, tx, list)
	return done, err
}

func (w *room) fire(at time.Time) *DueResult {
	w.T.Helper()
	done, err := w.tryFire(at, 500)
	require.NoError(w.T, err)
	return done
}

// firings are all firings of a schedule, the latest first.
func (w *room) firings(id uuid.UUID) []Firing {
	w.T.Helper()
	list, total, err := Firings(fixture.Context(w.T), w.DB, FiringFilter{OrganizationID: w.Org.ID, ScheduleID: id,
		Page: storage.Page{Limit: 1000}})
	require.NoError(w.T, err)
	require.Len(w.T, list, min(total, 1000))
	return list
}

// stored is the row of a schedule.
type stored struct {
	State      State      `db:"state"`
	Next       *time.Time `db:"next_run_at"`
	Runs       int        `db:"run_count"`
	Failures   int        `db:"failures"`
	LastRun    *time.Time `db:"last_run_at"`
	Error      string     `db:"last_error"`
	LastFiring *uuid.UUID `db:"last_firing_id"`
}

func (w *room) stored(id uuid.UUID) (s stored) {
	w.T.Helper()
	require.NoError(w.T, w.DB.GetContext(fixture.Context(w.T), &s,
		`select state, next_run_at, run_count, failures, last_run_at, last_error, last_firing_id from test_schedules where id = $1`, id))
	return s
}

// endAll ends every suite run.
func (w *room) endAll() {
	w.T.Helper()
	w.Exec(`update suite_runs set state = 'PASSED', finished_at = now() where state in ('QUEUED', 'RUNNING')`)
}

// smoke creates a suite of so many cases.
func (w *room) smoke(cases int) uuid.UUID {
	w.T.Helper()
	var ids []string
	for range cases {
		ids = append(ids, w.NewCase(w.Org.Member.Writer, "log in").ID)
	}
	return w.NewSuite(w.Org.Member.Writer, "smoke", ids...).ID
}

// planMany makes n schedules that are due at noon, each of one suite of its own
// with one case, and gives their ids.
func (w *room) planMany(n int) (ids []uuid.UUID) {
	w.T.Helper()
	suites, schedules, cases := make([]string, n), make([]string, n), make([]string, n)
	for i := range n {
		id := uuid.Must(uuid.NewV7())
		ids = append(ids, id)
		schedules[i], suites[i] = id.String(), uuid.Must(uuid.NewV7()).String()
		cases[i] = suites[i][:8] + suites[i][9:13] + suites[i][24:]
	}
	w.Exec(`insert into test_suites (id, organization_id, team_id, name, creator_uuid, modifier_uuid)
		select id, $1, $2, 'suite', $3, $3 from unnest($4::uuid[]) as s(id)`, w.Org.ID, w.Org.Team.ID, w.Org.Member.UUID, pq.Array(suites))
	w.Exec(`insert into test_cases (id, organization_id, team_id, suite_id, name, run_settings, runnable, creator_uuid, modifier_uuid)
		select id, $1, $2, suite, 'case', '{}', true, $3, $3 from unnest($4::text[], $5::uuid[]) as c(id, suite)`,
		w.Org.ID, w.Org.Team.ID, w.Org.Member.UUID, pq.Array(cases), pq.Array(suites))
	w.Exec(`insert into test_schedules (id, organization_id, team_id, name, cron, timezone, running_user_uuid, state, next_run_at,
			creator_uuid, modifier_uuid)
		select id, $1, $2, 'many', '0 12 * * *', 'Europe/Berlin', $3, 'ENABLED', $5, $3, $3 from unnest($4::uuid[]) as s(id)`,
		w.Org.ID, w.Org.Team.ID, w.Org.Member.UUID, pq.Array(schedules), noon)
	w.Exec(`insert into test_schedule_suites (schedule_id, suite_id, position)
		select schedule, suite, 0 from unnest($1::uuid[], $2::uuid[]) as l(schedule, suite)`, pq.Array(schedules), pq.Array(suites))
	return ids
}
