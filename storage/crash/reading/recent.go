package reading

import (
	"context"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
)

// RecentDays is how many days, today (UTC) included, lists show of each group.
const RecentDays = 14

// readRecent sets what was seen of groups, and of their parts, on each of the last days.
func readRecent(ctx context.Context, q storage.Querier, groups []Group) error {
	ids := make([]int64, len(groups))
	at := make(map[int64]*Group, len(groups))
	for i := range groups {
		ids[i], at[groups[i].ID] = groups[i].ID, &groups[i]
		groups[i].Recent = make([]int64, RecentDays)
	}
	var rows []struct {
		Root int64 `db:"root"`
		Ago  int   `db:"ago"`
		N    int64 `db:"n"`
	}
	err := q.SelectContext(ctx, &rows, `
		with member as materialized (
			select id as root, id from unnest($1::bigint[]) as w(id) union all
			select p.root_id, p.id from crash_groups p where p.root_id = any($1)
		), today as (select (now() at time zone 'UTC')::date as day)
		select m.root, t.day - d.day as ago, sum(d.count)::bigint as n
		from today t cross join member m join crash_group_days d on d.group_id = m.id and d.day > t.day - $2::int and d.day <= t.day
		group by 1, 2`, pq.Array(ids), RecentDays)
	for _, r := range rows {
		at[r.Root].Recent[RecentDays-1-r.Ago] = r.N
	}
	return storage.Wrap(err, "recent days of crash groups")
}
