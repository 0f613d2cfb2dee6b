package quota

import (
	"context"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
)

// Share is what an organization uses of a bound.
type Share struct {
	Organization string   `db:"slug"`
	Resource     Resource `db:"resource"`
	Ratio        float64  `db:"ratio"` // 1: all of it
}

// nearest reads the sums by the index alone.
const nearest = `
with used as (
	select organization_id, resource, sum(amount) as amount from quota_usage
	where day in ('-infinity', (now() at time zone 'utc')::date) group by 1, 2
), shares as (
	select u.organization_id, u.resource, u.amount::float8 / coalesce(q.bound, d.bound) as ratio,
		row_number() over (partition by u.resource order by u.amount::float8 / coalesce(q.bound, d.bound) desc, u.organization_id) as place
	from used u
	left join organization_quotas q on q.organization_id = u.organization_id and q.resource = u.resource
	left join unnest($1::text[], $2::bigint[]) as d(resource, bound) on d.resource = u.resource
	where coalesce(q.bound, d.bound, 0) > 0
)
select o.slug, s.resource, s.ratio from shares s join organizations o on o.id = s.organization_id
where s.place <= $3 order by s.resource, s.place`

// Nearest returns, for each resource, the organizations that are nearest to their bound, at
// most that many.
func (q *Quotas) Nearest(ctx context.Context, from storage.Querier, most int) ([]Share, error) {
	var names []string
	var bounds []int64
	for _, r := range Resources() {
		if bound := q.defaults[r]; bound > 0 {
			names, bounds = append(names, string(r)), append(bounds, bound)
		}
	}
	var list []Share
	err := from.SelectContext(ctx, &list, nearest, pq.Array(names), pq.Array(bounds), most)
	return list, storage.Wrap(err, "read the nearest quotas")
}
