package mail

import (
	"context"
	"time"

	"github.com/slipway-qa/slipway/storage"
)

// Installation is the scope of the installation's own rate.
const Installation int64 = 0

const takeRate = `
with row as (
	insert into mail_rates (scope, minute, used) values ($1, date_trunc('minute', now()), 0)
	on conflict (scope) do update set
		used = case when mail_rates.minute = date_trunc('minute', now()) then mail_rates.used else 0 end,
		minute = date_trunc('minute', now())
	returning used
)
select used, extract(epoch from date_trunc('minute', now()) + interval '1 minute' - now())::float8 as rest from row`

// TakeRate takes up to wanted of the limit mails that a scope may hand over in the
// running minute, which is the database's. It returns how many there were, and the
// time until the next minute.
func TakeRate(ctx context.Context, tx *storage.Tx, scope int64, limit, wanted int) (granted int, wait time.Duration, err error) {
	var row struct {
		Used int     `db:"used"`
		Rest float64 `db:"rest"`
	}
	if err := tx.GetContext(ctx, &row, takeRate, scope); err != nil {
		return 0, 0, storage.Wrap(err, "rate of mail")
	}
	granted = min(wanted, max(0, limit-row.Used))
	if granted > 0 {
		if _, err := tx.ExecContext(ctx, `update mail_rates set used = used + $2 where scope = $1`, scope, granted); err != nil {
			return 0, 0, storage.Wrap(err, "rate of mail")
		}
	}
	return granted, time.Duration(row.Rest * float64(time.Second)), nil
}
