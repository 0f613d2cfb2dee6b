package generation

import (
	"context"
	"fmt"
	"time"

	"github.com/slipway-qa/slipway/storage"
)

// SpendingLimits bound what models may cost on a day (UTC), in millionths of a US
// dollar; 0: no bound.
type SpendingLimits struct {
	Day          int64 // of the installation
	Organization int64 // of each organization
}

// OverBudgetError says which budget a call would exceed.
type OverBudgetError struct {
	Organization bool // the organization's, not the installation's
	MicroUSD     int64
}

func (e *OverBudgetError) Error() string {
	of := "the installation's"
	if e.Organization {
		of = "the organization's"
	}
	return fmt.Sprintf("%s budget for models of %.2f US dollars a day is used up", of, float64(e.MicroUSD)/1e6)
}

// Reservation is an estimate that was counted. Settle replaces it by what was used; one
// that is never settled, by a worker that died, stays counted for its day.
type Reservation struct {
	day              time.Time
	organization     int64
	microUSD, tokens int64
}

// reserve takes the rows in the order of the organizations: 0 is the installation.
const reserve = `
insert into model_spending as s (day, organization_id, micro_usd, tokens, calls)
select (now() at time zone 'utc')::date, o.id, $2, $3, 1 from unnest(array[0, $1::bigint]) as o(id)
on conflict (day, organization_id) do update set micro_usd = s.micro_usd + excluded.micro_usd, tokens = s.tokens + excluded.tokens,
	calls = s.calls + 1
returning day, organization_id, micro_usd`

// Reserve counts the estimate of a call, or returns an *OverBudgetError and counts
// nothing.
func Reserve(ctx context.Context, db *storage.DB, limits SpendingLimits, organizationID, microUSD, tokens int64) (r Reservation,
	err error) {
	if organizationID <= 0 || microUSD < 0 || tokens < 0 {
		return r, fmt.Errorf("reserve %d for organization %d: no estimate of a call", microUSD, organizationID)
	}
	r = Reservation{organization: organizationID, microUSD: microUSD, tokens: tokens}
	err = db.InTx(ctx, func(tx *storage.Tx) error {
		var rows []struct {
			Day            time.Time `db:"day"`
			OrganizationID int64     `db:"organization_id"`
			MicroUSD       int64     `db:"micro_usd"`
		}
		if err := tx.SelectContext(ctx, &rows, reserve, organizationID, microUSD, tokens); err != nil {
			return storage.Wrap(err, "reserve the cost of a model")
		}
		for _, row := range rows {
			r.day = row.Day
			limit := limits.Organization
			if row.OrganizationID == 0 {
				limit = limits.Day
			}
			if limit > 0 && row.MicroUSD > limit {
				return &OverBudgetError{Organization: row.OrganizationID != 0, MicroUSD: limit}
			}
		}
		return nil
	})
	return r, err
}

const settle = `
update model_spending s set micro_usd = greatest(0, s.micro_usd + $3), tokens = greatest(0, s.tokens + $4)
from (
	select day, organization_id from model_spending
	where day = $1 and organization_id in (0, $2) order by organization_id for update
) locked
where s.day = locked.day and s.organization_id = locked.organization_id`

// Settle replaces a reservation by what the call really cost, on the day of the
// reservation.
func (r Reservation) Settle(ctx context.Context, q storage.Querier, microUSD, tokens int64) error {
	_, err := q.ExecContext(ctx, settle, r.day, r.organization, microUSD-r.microUSD, tokens-r.tokens)
	return storage.Wrap(err, "settle the cost of a model")
}

// ForgetSpending deletes what was counted before a time.
func ForgetSpending(ctx context.Context, q storage.Querier, before time.Time) (int64, error) {
	return storage.Affected(q.ExecContext(ctx, `delete from model_spending where day < $1`, before))
}
