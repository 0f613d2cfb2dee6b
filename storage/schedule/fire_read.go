package schedule

import (
	"context"
	"time"

	"github.com/slipway-qa/slipway/storage/run"

	"github.com/slipway-qa/slipway/storage/authoring"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
)

// FireFilter selects fires of a schedule.
type FireFilter struct {
	OrganizationID int64
	ScheduleID     uuid.UUID
	From, To       time.Time // the times that were due; From inclusive, To exclusive; zero: no bound
	storage.Page
}

func (f FireFilter) matching() *authoring.Conditions {
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

const fireColumns = `c.id, c.schedule_id, c.fire_at, c.trigger, c.outcome, c.reason, c.missed, c.missed_until, c.user_uuid, c.created_at`

type fireRow struct {
	ID          uuid.UUID   `db:"id"`
	ScheduleID  uuid.UUID   `db:"schedule_id"`
	At          time.Time   `db:"fire_at"`
	Trigger     FireTrigger `db:"trigger"`
	Outcome     FireOutcome `db:"outcome"`
	Reason      string      `db:"reason"`
	Missed      int         `db:"missed"`
	MissedUntil *time.Time  `db:"missed_until"`
	User        uuid.UUID   `db:"user_uuid"`
	CreatedAt   time.Time   `db:"created_at"`
}

func (r *fireRow) fire() Fire {
	return Fire{ID: r.ID, ScheduleID: r.ScheduleID, At: r.At, Trigger: r.Trigger, Outcome: r.Outcome, Reason: r.Reason,
		Missed: r.Missed, MissedUntil: r.MissedUntil, User: r.User, CreatedAt: r.CreatedAt, SuiteRuns: []run.SuiteRun{}}
}

// Fires gives a page of a schedule's fires, the latest first, with their suite
// runs, and the number of all that match.
func Fires(ctx context.Context, q storage.Querier, f FireFilter) ([]Fire, int, error) {
	m, rows := f.matching(), []fireRow{}
	var total int
	if err := q.GetContext(ctx, &total, m.Total("test_schedule_fires"), m.Args...); err != nil {
		return nil, 0, storage.Wrap(err, "count fires")
	}
	if f.RowLimit() > 0 && total > f.RowOffset() {
		query := `select ` + fireColumns + ` from test_schedule_fires c where ` + m.Where() +
			` order by c.fire_at desc limit ` + m.Arg(f.RowLimit()) + ` offset ` + m.Arg(f.RowOffset())
		if err := q.SelectContext(ctx, &rows, query, m.Args...); err != nil {
			return nil, 0, storage.Wrap(err, "list fires")
		}
	}
	list, fires := make([]Fire, len(rows)), make([]*Fire, len(rows))
	for i := range rows {
		list[i] = rows[i].fire()
		fires[i] = &list[i]
	}
	return list, total, withSuiteRuns(ctx, q, fires)
}

const suiteRunsOfFires = `
select s.fire_id, ` + run.SuiteRunColumns + ` from suite_runs s` + run.SuiteRunTables + `
where s.fire_id = any($1::uuid[]) order by s.id`

// withSuiteRuns reads the suite runs of fires.
func withSuiteRuns(ctx context.Context, q storage.Querier, fires []*Fire) error {
	ids, of := []uuid.UUID{}, map[uuid.UUID]*Fire{}
	for _, fire := range fires {
		if fire.Outcome == FireStarted {
			ids, of[fire.ID] = append(ids, fire.ID), fire
		}
	}
	if len(ids) == 0 {
		return nil
	}
	var rows []struct {
		FireID uuid.UUID `db:"fire_id"`
		run.SuiteRunRow
	}
	if err := q.SelectContext(ctx, &rows, suiteRunsOfFires, storage.UUIDs(ids)); err != nil {
		return storage.Wrap(err, "suite runs of fires")
	}
	for i := range rows {
		fire := of[rows[i].FireID]
		fire.SuiteRuns = append(fire.SuiteRuns, rows[i].SuiteRun())
	}
	return nil
}

// A schedule that is due is looked at with a lock that who fires it has as well. It
// lasts as long as this statement, which is its own transaction, and is taken on
// nothing while nothing is due; whoever passes over the row meanwhile leaves it to
// the caller, who is told that it is due. What is not due yet is read from the index.
const nextDue = `
select now() as now, coalesce(
	(select next_run_at from test_schedules where next_run_at <= now() order by next_run_at limit 1 for share skip locked),
	(select next_run_at from test_schedules where next_run_at > now() order by next_run_at limit 1)
) as next`

// NextDue gives the time of the database and how long it is until the next
// schedule is due that no other transaction holds: zero or less when one is due now,
// some false when no schedule is enabled. Asked outside a transaction it holds
// nothing afterwards.
func NextDue(ctx context.Context, q storage.Querier) (now time.Time, in time.Duration, some bool, err error) {
	var row struct {
		Now  time.Time  `db:"now"`
		Next *time.Time `db:"next"`
	}
	if err := q.GetContext(ctx, &row, nextDue); err != nil {
		return now, 0, false, storage.Wrap(err, "look for the next schedule")
	}
	if row.Next == nil {
		return row.Now, 0, false, nil
	}
	return row.Now, row.Next.Sub(row.Now), true, nil
}

const forgetFires = `
delete from test_schedule_fires where id in (
	select id from test_schedule_fires where created_at < $1 order by created_at limit $2 for update skip locked)`

// ForgetFires deletes fires recorded before, at most limit of them.
func ForgetFires(ctx context.Context, q storage.Querier, before time.Time, limit int) (int64, error) {
	return storage.Affected(q.ExecContext(ctx, forgetFires, before, limit))
}

// FirePlace is a place in the order of all fires by schedule and time; the zero
// value comes before every fire.
type FirePlace struct {
	ScheduleID uuid.UUID
	At         time.Time
}

// The walk goes through the index from schedule to schedule, so that its cost follows
// their number and not that of the fires, and goes no further once there are enough
// orphans. The schedule after the last one that it may look at is where to go on.
// What was deleted stays in the index for a while: so a schedule of very many fires is
// entered at the time where the step before ended.
const forgetOrphanFires = `
with recursive walk (schedule_id, n) as (
	select (select schedule_id from test_schedule_fires where (schedule_id, fire_at) >= ($1::uuid, $2::timestamptz)
		order by schedule_id, fire_at limit 1), 1
	union all
	select (select schedule_id from test_schedule_fires where schedule_id > walk.schedule_id order by schedule_id limit 1), n + 1
	from walk where walk.schedule_id is not null and n <= $3
), orphans as (
	select f.id, f.schedule_id, f.fire_at from walk cross join lateral (
		select id, schedule_id, fire_at from test_schedule_fires
		where schedule_id = walk.schedule_id
			and fire_at >= case when walk.schedule_id = $1::uuid then $2::timestamptz else '-infinity' end
		order by fire_at limit $3
	) f
	where walk.n <= $3 and (select s.id from test_schedules s where s.id = walk.schedule_id) is null
	limit $3
), forgotten as (
	delete from test_schedule_fires where id = any(array(select id from orphans)) returning id
)
select (select count(*) from forgotten) as forgotten, next.schedule_id, next.fire_at
from (select count(*) >= $3 as enough from orphans) found
left join lateral (
	(select schedule_id, fire_at from orphans where found.enough order by schedule_id desc, fire_at desc limit 1)
	union all
	select schedule_id, null from walk where not found.enough and n > $3 and schedule_id is not null
) next on true`

// ForgetOrphanFires deletes fires from a place on whose schedule is gone. It looks at
// limit schedules at most, and deletes as many fires. It gives their number and the
// place at which to go on, nil when no more fires follow.
func ForgetOrphanFires(ctx context.Context, q storage.Querier, from FirePlace, limit int) (n int64, next *FirePlace, err error) {
	var row struct {
		Forgotten  int64         `db:"forgotten"`
		ScheduleID uuid.NullUUID `db:"schedule_id"`
		At         *time.Time    `db:"fire_at"`
	}
	if err := q.GetContext(ctx, &row, forgetOrphanFires, from.ScheduleID, from.At, limit); err != nil {
		return 0, nil, storage.Wrap(err, "forget fires of schedules that are gone")
	}
	if row.ScheduleID.Valid {
		next = &FirePlace{ScheduleID: row.ScheduleID.UUID}
		if row.At != nil {
			next.At = *row.At
		}
	}
	return row.Forgotten, next, nil
}
