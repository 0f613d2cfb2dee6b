package crash

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
)

// Successor is a group to which crashes of another went when symbols arrived.
type Successor struct {
	GroupID int64     `db:"group_id"` // the group that is shown
	Title   string    `db:"title"`
	Crashes int64     `db:"crashes"`
	Since   time.Time `db:"since"`
}

// maxSuccessors bounds what a group shows.
const maxSuccessors = 100

// The moves are summed by the groups that are shown.
const (
	selectSplitInto = `
select o.id as group_id, o.title, sum(s.crashes)::bigint as crashes, min(s.created_at) as since
from crash_groups own join crash_group_successors s on s.group_id = own.id
join crash_groups g on g.id = s.successor_id join crash_groups o on o.id = coalesce(g.root_id, g.id)
where (own.id = $1 or own.root_id = $1) and o.id <> $1
group by o.id, o.title order by crashes desc, o.id limit $2`
	selectSplitFrom = `
select o.id as group_id, o.title, sum(s.crashes)::bigint as crashes, min(s.created_at) as since
from crash_groups own join crash_group_successors s on s.successor_id = own.id
join crash_groups g on g.id = s.group_id join crash_groups o on o.id = coalesce(g.root_id, g.id)
where (own.id = $1 or own.root_id = $1) and o.id <> $1
group by o.id, o.title order by crashes desc, o.id limit $2`
)

// Successors lists the groups into which the crashes of a group that is shown, and of its
// parts, went apart, and those from which it got some; the most crashes first.
func Successors(ctx context.Context, q storage.Querier, group int64) (into, from []Successor, err error) {
	into, from = []Successor{}, []Successor{}
	if err := q.SelectContext(ctx, &into, selectSplitInto, group, maxSuccessors); err != nil {
		return nil, nil, storage.Wrap(err, "groups into which a group was split")
	}
	err = q.SelectContext(ctx, &from, selectSplitFrom, group, maxSuccessors)
	return into, from, storage.Wrap(err, "groups from which a group was split")
}

func (r *rereading) recordSuccessors(ctx context.Context, successors map[[2]int64]int64) error {
	var from, to, counts []int64
	pairs := slices.SortedFunc(mapKeys(successors), func(a, b [2]int64) int {
		return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1]))
	})
	for _, p := range pairs {
		from, to, counts = append(from, p[0]), append(to, p[1]), append(counts, successors[p])
	}
	_, err := r.tx.ExecContext(ctx, `
		insert into crash_group_successors as s (group_id, successor_id, crashes)
		select * from unnest($1::bigint[], $2::bigint[], $3::bigint[]) order by 1, 2
		on conflict (group_id, successor_id) do update set crashes = s.crashes + excluded.crashes`,
		pq.Array(from), pq.Array(to), pq.Array(counts))
	return storage.Wrap(err, "record where crashes went")
}
