package ledger

import (
	"context"
	"fmt"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
)

// Changed is what became of a change of many tasks.
type Changed struct {
	Changed   int // by this call
	Remaining int // that a further call would change
	Skipped   int // that the caller may not change
}

// What was asked to stop already is left out, and so is what may begin at once already.
const (
	cancellable = `not t.cancel_requested`
	startable   = `(t.run_at > now() or t.priority > 0)`
)

// Locked in the order of the ids, as everybody does.
const changeMatching = `
with chosen as (
	select t.id from tasks t %s and t.kind = any(%s) and %s order by t.id limit %s for update of t skip locked
)
update tasks t set %s from chosen where t.id = chosen.id returning coalesce(t.organization_id, 0)`

const cancelSet = `state = case when t.state = 'queued' then 'cancelled' else t.state end,
	finished_at = case when t.state = 'queued' then now() end, cancel_requested = t.state = 'running'`

// CancelMatching does what Cancel does for the tasks of a filter, the oldest first and at
// most as many as the filter's limit; its states are queued or running. Of other kinds than
// these none is cancelled. It returns the numbers by organization as well.
func CancelMatching(ctx context.Context, q storage.Querier, f Filter, kinds []string) (Changed, map[int64]int, error) {
	return change(ctx, q, "cancel", f, kinds, cancellable, cancelSet)
}

// RunMatching makes the queued tasks of a filter due at once and of the first rank of their
// queue, the oldest first and at most as many as the filter's limit; its state is queued. Of
// other kinds than these none is started. It returns the numbers by organization as well.
func RunMatching(ctx context.Context, q storage.Querier, f Filter, kinds []string) (Changed, map[int64]int, error) {
	return change(ctx, q, "start", f, kinds, startable, `priority = 0, run_at = least(t.run_at, now())`)
}

func change(ctx context.Context, q storage.Querier, verb string, f Filter, kinds []string, which, set string) (Changed, map[int64]int, error) {
	where, args := f.where()
	if len(f.States) == 0 {
		return Changed{}, nil, fmt.Errorf("%s tasks: a filter without states", verb)
	}
	p := func(i int) string { return fmt.Sprintf("$%d", len(args)+i) }
	var organizations []int64
	err := q.SelectContext(ctx, &organizations, fmt.Sprintf(changeMatching, where, p(1), which, p(2), set), append(args, pq.Array(kinds), f.Limit)...)
	if err != nil {
		return Changed{}, nil, storage.Wrap(err, verb+" tasks")
	}
	by := map[int64]int{}
	for _, o := range organizations {
		by[o]++
	}
	var left struct {
		All int `db:"all"`
		May int `db:"may"`
	}
	err = q.GetContext(ctx, &left, fmt.Sprintf(`select count(*) as all, count(*) filter (where t.kind = any(%s)) as may from tasks t %s and %s`,
		p(1), where, which), append(args, pq.Array(kinds))...)
	if err != nil {
		return Changed{}, nil, storage.Wrap(err, "count tasks to "+verb)
	}
	return Changed{Changed: len(organizations), Remaining: left.May, Skipped: left.All - left.May}, by, nil
}
