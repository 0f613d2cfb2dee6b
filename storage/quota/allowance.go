package quota

import (
	"context"
	"time"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
)

// Allowance is what organizations may still use of a resource today. It is for the
// transaction that it began in.
type Allowance struct {
	resource Resource
	bounds   map[int64]int64 // of those that have one
	used     map[int64]int64
	taken    map[int64]int64
	again    time.Duration
	silent   bool // of a nil Quotas
}

// Begin locks the organizations' sums and reads them. It comes before the locks of rows
// that others lock after theirs.
func (q *Quotas) Begin(ctx context.Context, tx *storage.Tx, resource Resource, organizations ...int64) (*Allowance, error) {
	a := &Allowance{resource: resource, bounds: map[int64]int64{}, used: map[int64]int64{}, taken: map[int64]int64{}, silent: q == nil}
	if q == nil || len(organizations) == 0 {
		return a, nil
	}
	bounds, err := q.lock(ctx, tx, organizations)
	if err != nil {
		return nil, err
	}
	var bounded []int64
	for id, b := range bounds {
		if bound := b[resource]; bound > 0 {
			a.bounds[id] = bound
			bounded = append(bounded, id)
		}
	}
	if len(bounded) == 0 {
		return a, nil
	}
	rows, err := usages(ctx, tx, bounded, resource)
	if err != nil {
		return nil, err
	}
	for _, r := range rows {
		a.used[r.Organization] = r.Used
		a.again = time.Duration(r.Seconds * float64(time.Second))
	}
	return a, nil
}

// Take takes n for an organization, or nothing with *ExceededError.
func (a *Allowance) Take(organization, n int64) error {
	if bound := a.bounds[organization]; bound > 0 {
		if used := a.used[organization] + a.taken[organization]; used+n > bound {
			return &ExceededError{Resource: a.resource, Bound: bound, Used: min(used, bound), Wanted: n, Again: a.again}
		}
	}
	a.taken[organization] += n
	return nil
}

const insertUsage = `
insert into quota_usage (organization_id, resource, day, amount)
select u.organization_id, $1, (now() at time zone 'utc')::date, u.amount
from unnest($2::bigint[], $3::bigint[]) as u(organization_id, amount)`

// Store writes what was taken.
func (a *Allowance) Store(ctx context.Context, tx *storage.Tx) error {
	if a.silent || len(a.taken) == 0 {
		return nil
	}
	var organizations, amounts []int64
	for id, n := range a.taken {
		organizations, amounts = append(organizations, id), append(amounts, n)
	}
	_, err := tx.ExecContext(ctx, insertUsage, string(a.resource), pq.Array(organizations), pq.Array(amounts))
	return storage.Wrap(err, "count what organizations use")
}
