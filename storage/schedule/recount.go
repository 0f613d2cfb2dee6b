package schedule

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
)

// counted is a schedule whose next time is stored.
type counted struct {
	ID        uuid.UUID  `db:"id"`
	Cron      *string    `db:"cron"`
	Timezone  *string    `db:"timezone"`
	StartAt   *time.Time `db:"start_at"`
	EndAt     *time.Time `db:"end_at"`
	NextRunAt *time.Time `db:"next_run_at"`
	UpdatedAt time.Time  `db:"updated_at"`
	Now       time.Time  `db:"now"` // of the database
}

// schedulesToRecount reads those that are not enabled as well, so that a step is bounded
// whatever most schedules are.
const schedulesToRecount = `
select id, cron, timezone, start_at, end_at, next_run_at, updated_at, now() as now
from test_schedules where id > $1 order by id limit $2`

// Recount repairs the next times of schedules with ids above after: it looks at
// limit of them. A time that was stored stays for years when it was counted by a clock
// of the database that was wrong, or by rules of a time zone that have changed since.
// It returns how many it changed, the last id that it looked at, and whether more may
// follow.
//
// What is due within a minute is left to fire. So is a schedule that another transaction has
// locked, or changes or fires meanwhile, for that computes it again; and one that has no further
// time, or whose rule cannot be read, which the firing records.
func Recount(ctx context.Context, q storage.Querier, after uuid.UUID, limit int) (n int64, last uuid.UUID, more bool, err error) {
	var rows []counted
	if err := q.SelectContext(ctx, &rows, schedulesToRecount, after, limit); err != nil {
		return 0, after, false, storage.Wrap(err, "read schedules to recount")
	}
	if len(rows) == 0 {
		return 0, after, false, nil
	}
	if n, err = recount(ctx, q, rows); err != nil {
		return 0, after, false, err
	}
	return n, rows[len(rows)-1].ID, len(rows) >= limit, nil
}

// recountSchedules does not wait for the rows, so it does not matter in which order others
// lock them.
const recountSchedules = `
with wrong as (
	select s.id, n.next_run_at
	from unnest($1::uuid[], $2::timestamptz[], $3::timestamptz[], $4::timestamptz[]) as n(id, next_run_at, was, updated_at)
	join test_schedules s on s.id = n.id
	where s.id = any($1::uuid[]) and s.next_run_at = n.was and s.updated_at = n.updated_at
	order by s.id for no key update of s skip locked
)
update test_schedules s set next_run_at = wrong.next_run_at
from wrong where s.id = any($1::uuid[]) and s.id = wrong.id`

// recount changes those schedules whose time is wrong, and that are still as they were
// read.
func recount(ctx context.Context, q storage.Querier, rows []counted) (int64, error) {
	var ids []string
	var next, was, updated []*string
	loaded := zones{}
	for i := range rows {
		row := &rows[i]
		if row.NextRunAt == nil || !row.NextRunAt.After(row.Now.Add(time.Minute)) {
			continue
		}
		if at, ok := row.next(loaded); ok && !at.Equal(*row.NextRunAt) {
			ids, next = append(ids, row.ID.String()), append(next, instant(&at))
			was, updated = append(was, instant(row.NextRunAt)), append(updated, instant(&row.UpdatedAt))
		}
	}
	if len(ids) == 0 {
		return 0, nil
	}
	return storage.Affected(q.ExecContext(ctx, recountSchedules, pq.Array(ids), pq.Array(next), pq.Array(was), pq.Array(updated)))
}

// next is the first time from now on. A rule that makes the reader panic is one
// that cannot be read: it must not keep the others from being repaired.
func (c *counted) next(loaded zones) (at time.Time, ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	if c.Cron == nil || c.Timezone == nil {
		return at, false
	}
	rule, err := ruleOf(&Settings{Cron: *c.Cron, Timezone: *c.Timezone, StartAt: c.StartAt, EndAt: c.EndAt}, loaded)
	if err != nil {
		return at, false
	}
	at, ok = rule.next(c.Now)
	return at, ok && at.UTC().Year() <= lastYear
}
