package schedule

import (
	"context"
	"time"

	"github.com/slipway-qa/slipway/storage"
)

// nextDue reads a schedule that is due with a share lock, which skips one that is being fired.
// The lock lasts as long as this statement, which is a transaction of its own. Another caller
// who skips the row meanwhile leaves it to this one, who returns that it is due. What is not
// due yet is read from the index.
const nextDue = `
select now() as now, coalesce(
	(select next_run_at from test_schedules where next_run_at <= now() order by next_run_at limit 1 for share skip locked),
	(select next_run_at from test_schedules where next_run_at > now() order by next_run_at limit 1)
) as next`

// NextDue returns the time of the database and how long it is until the next
// schedule is due that no other transaction has locked: zero or less when one is due
// now, some false when no schedule is enabled. Outside a transaction it leaves no lock.
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

// Overdue returns how long the most overdue schedule has been due, whoever has locked it;
// zero when none is due.
func Overdue(ctx context.Context, q storage.Querier) (time.Duration, error) {
	var seconds float64
	err := q.GetContext(ctx, &seconds, `
		select coalesce((select extract(epoch from now() - next_run_at) from test_schedules
			where next_run_at <= now() order by next_run_at limit 1), 0)::float8`)
	return time.Duration(seconds * float64(time.Second)), storage.Wrap(err, "look for the most overdue schedule")
}
