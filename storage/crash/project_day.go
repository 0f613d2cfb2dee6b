package crash

import (
	"context"
	"time"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash/array"
)

// projectDaysKept is how many days the days of projects are kept; nobody asks for more than
// two weeks.
const projectDaysKept = 20

// ExpireProjectDays deletes up to limit rows of days of projects that nobody asks for any
// more, and returns their number.
func ExpireProjectDays(ctx context.Context, tx *storage.Tx, now time.Time, limit int) (int64, error) {
	res, err := tx.ExecContext(ctx, `
		delete from crash_project_days where ctid = any(array(
			select ctid from crash_project_days where day < $1::date limit $2))`,
		array.Day(now.AddDate(0, 0, -projectDaysKept)), limit)
	if err != nil {
		return 0, storage.Wrap(err, "delete old days of projects")
	}
	n, err := res.RowsAffected()
	return n, storage.Wrap(err, "delete old days of projects")
}

// JoinProjectDays makes one row of each of up to limit days of projects that are over and
// have several, and returns their number. Who counts such a day meanwhile adds another.
func JoinProjectDays(ctx context.Context, tx *storage.Tx, now time.Time, limit int) (int64, error) {
	var n int64
	err := tx.GetContext(ctx, &n, `
		with many as (
			select crash_project_id, day from crash_project_days where day < $1::date
			group by crash_project_id, day having count(*) > 1 order by crash_project_id, day limit $2
		), old as (
			delete from crash_project_days d using many m
			where d.crash_project_id = m.crash_project_id and d.day = m.day
			returning d.crash_project_id, d.day, d.count
		), joined as (
			insert into crash_project_days (crash_project_id, day, count)
			select crash_project_id, day, sum(count) from old group by 1, 2
		)
		select count(*) from many`, array.Day(now), limit)
	return n, storage.Wrap(err, "join days of projects")
}
