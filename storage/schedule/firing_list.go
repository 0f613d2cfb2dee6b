package schedule

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/run"
)

// FiringFilter selects firings of a schedule.
type FiringFilter struct {
	OrganizationID int64
	ScheduleID     uuid.UUID
	From, To       time.Time // the times that were due; From inclusive, To exclusive; zero: no bound
	storage.Page
}

func (f FiringFilter) conditions() *authoring.Conditions {
	m := authoring.ConditionsOf(f.OrganizationID)
	m.And("c.schedule_id = " + m.Arg(f.ScheduleID) + "::uuid")
	if !f.From.IsZero() {
		from := m.Arg(f.From) + "::timestamptz"
		m.And("(c.fire_at >= " + from + " or c.missed_until >= " + from + ")")
	}
	if !f.To.IsZero() {
		m.And("c.fire_at < " + m.Arg(f.To) + "::timestamptz")
	}
	return m
}

const firingColumns = `c.id, c.schedule_id, c.fire_at, c.trigger, c.outcome, c.reason, c.missed, c.missed_until, c.user_uuid, c.created_at`

type firingRow struct {
	ID          uuid.UUID     `db:"id"`
	ScheduleID  uuid.UUID     `db:"schedule_id"`
	At          time.Time     `db:"fire_at"`
	Trigger     FiringTrigger `db:"trigger"`
	Outcome     FiringOutcome `db:"outcome"`
	Reason      string        `db:"reason"`
	Missed      int           `db:"missed"`
	MissedUntil *time.Time    `db:"missed_until"`
	User        uuid.UUID     `db:"user_uuid"`
	CreatedAt   time.Time     `db:"created_at"`
}

func (r *firingRow) firing() Firing {
	return Firing{ID: r.ID, ScheduleID: r.ScheduleID, At: r.At, Trigger: r.Trigger, Outcome: r.Outcome, Reason: r.Reason,
		Missed: r.Missed, MissedUntil: r.MissedUntil, User: r.User, CreatedAt: r.CreatedAt, SuiteRuns: []run.SuiteRun{}}
}

// Firings returns a page of a schedule's firings, the latest first, with their suite
// runs, and the number of all that match.
func Firings(ctx context.Context, q storage.Querier, f FiringFilter) ([]Firing, int, error) {
	m, rows := f.conditions(), []firingRow{}
	var total int
	if err := q.GetContext(ctx, &total, m.Total("test_schedule_firings"), m.Args...); err != nil {
		return nil, 0, storage.Wrap(err, "count firings")
	}
	if f.RowLimit() > 0 && total > f.RowOffset() {
		query := `select ` + firingColumns + ` from test_schedule_firings c where ` + m.Where() +
			` order by c.fire_at desc, c.id desc limit ` + m.Arg(f.RowLimit()) + ` offset ` + m.Arg(f.RowOffset())
		if err := q.SelectContext(ctx, &rows, query, m.Args...); err != nil {
			return nil, 0, storage.Wrap(err, "list firings")
		}
	}
	list, firings := make([]Firing, len(rows)), make([]*Firing, len(rows))
	for i := range rows {
		list[i] = rows[i].firing()
		firings[i] = &list[i]
	}
	return list, total, withSuiteRuns(ctx, q, firings)
}

const suiteRunsOfFirings = `
select s.firing_id, ` + run.SuiteRunColumns + ` from suite_runs s` + run.SuiteRunTables + `
where s.firing_id = any($1::uuid[]) order by s.id`

// withSuiteRuns reads the suite runs of firings.
func withSuiteRuns(ctx context.Context, q storage.Querier, firings []*Firing) error {
	ids, byID := []uuid.UUID{}, map[uuid.UUID]*Firing{}
	for _, f := range firings {
		if f.Outcome == FiringStarted {
			ids, byID[f.ID] = append(ids, f.ID), f
		}
	}
	if len(ids) == 0 {
		return nil
	}
	var rows []struct {
		FiringID uuid.UUID `db:"firing_id"`
		run.SuiteRunRow
	}
	if err := q.SelectContext(ctx, &rows, suiteRunsOfFirings, storage.UUIDs(ids)); err != nil {
		return storage.Wrap(err, "suite runs of firings")
	}
	for i := range rows {
		f := byID[rows[i].FiringID]
		f.SuiteRuns = append(f.SuiteRuns, rows[i].SuiteRun())
	}
	return nil
}
