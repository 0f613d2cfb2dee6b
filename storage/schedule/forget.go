package schedule

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
)

const forgetFirings = `
delete from test_schedule_firings where id in (
	select id from test_schedule_firings where created_at < $1 order by created_at limit $2 for update skip locked)`

// ForgetFirings deletes firings that were recorded before, at most limit of them.
func ForgetFirings(ctx context.Context, q storage.Querier, before time.Time, limit int) (int64, error) {
	return storage.Affected(q.ExecContext(ctx, forgetFirings, before, limit))
}

// FiringPosition is a position in the order of all firings by schedule and time; the
// zero value comes before every firing.
type FiringPosition struct {
	ScheduleID uuid.UUID
	At         time.Time
}

// forgetOrphanFirings walks through the index from schedule to schedule, so that its cost
// follows their number and not that of the firings, and goes no further once there are enough
// orphans. The schedule after the last one that it may look at is where to go on. What was
// deleted stays in the index for a while: so a schedule of very many firings is entered at the
// time where the step before ended.
const forgetOrphanFirings = `
with recursive walk (schedule_id, n) as (
	select (select schedule_id from test_schedule_firings where (schedule_id, fire_at) >= ($1::uuid, $2::timestamptz)
		order by schedule_id, fire_at limit 1), 1
	union all
	select (select schedule_id from test_schedule_firings where schedule_id > walk.schedule_id order by schedule_id limit 1), n + 1
	from walk where walk.schedule_id is not null and n <= $3
), orphans as (
	select f.id, f.schedule_id, f.fire_at from walk cross join lateral (
		select id, schedule_id, fire_at from test_schedule_firings
		where schedule_id = walk.schedule_id
			and fire_at >= case when walk.schedule_id = $1::uuid then $2::timestamptz else '-infinity' end
		order by fire_at limit $3
	) f
	where walk.n <= $3 and (select s.id from test_schedules s where s.id = walk.schedule_id) is null
	limit $3
), forgotten as (
	delete from test_schedule_firings where id = any(array(select id from orphans)) returning id
)
select (select count(*) from forgotten) as forgotten, next.schedule_id, next.fire_at
from (select count(*) >= $3 as enough from orphans) found
left join lateral (
	(select schedule_id, fire_at from orphans where found.enough order by schedule_id desc, fire_at desc limit 1)
	union all
	select schedule_id, null from walk where not found.enough and n > $3 and schedule_id is not null
) next on true`

// ForgetOrphanFirings deletes firings from a position on whose schedule is gone. It
// looks at limit schedules at most, and deletes as many firings. It returns their
// number and the position at which to go on, nil when no more firings follow.
func ForgetOrphanFirings(ctx context.Context, q storage.Querier, from FiringPosition, limit int) (n int64, next *FiringPosition,
	err error) {
	var row struct {
		Forgotten  int64         `db:"forgotten"`
		ScheduleID uuid.NullUUID `db:"schedule_id"`
		At         *time.Time    `db:"fire_at"`
	}
	if err := q.GetContext(ctx, &row, forgetOrphanFirings, from.ScheduleID, from.At, limit); err != nil {
		return 0, nil, storage.Wrap(err, "forget firings of schedules that are gone")
	}
	if row.ScheduleID.Valid {
		next = &FiringPosition{ScheduleID: row.ScheduleID.UUID}
		if row.At != nil {
			next.At = *row.At
		}
	}
	return row.Forgotten, next, nil
}
