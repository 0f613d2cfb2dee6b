package ledger

import (
	"context"
	"fmt"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
)

// Changed is what became of a change of many tasks.
type Changed struct {
	Changed   int           // by this call
	Remaining storage.Total // that a further call would change, up to storage.CountReach
	Skipped   int           // that the caller may not change, up to storage.CountReach
}

// What was asked to stop already is left out, and so is what may begin at once already.
const (
	cancellable = `not t.cancel_requested`
	startable   = `(t.run_at > now() or t.priority > 0)`
)

// changeMatching locks in the order of the ids, as everybody does; amongFew is about those
// that few match.
const changeMatching = `
with chosen as (
	select t.id from tasks t%s%s order by t.id limit %s for update of t skip locked
)
update tasks t set %s from chosen where t.id = chosen.id returning coalesce(t.organization_id, 0)`

// amongFew reads tasks, where few match, as they were counted, for the reason that List has:
// else all tasks would be read, from the oldest on. The conditions are there twice, since a
// task that another transaction changes meanwhile is looked at again by those beside its lock
// alone.
const amongFew = ` and t.id = any(array(select t.id from tasks t%s offset 0))`

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

func change(ctx context.Context, q storage.Querier, verb string, f Filter, kinds []string, which, set string) (Changed,
	map[int64]int, error) {
	where, args := f.where()
	if len(f.States) == 0 {
		return Changed{}, nil, fmt.Errorf("%s tasks: a filter without states", verb)
	}
	n, all := len(args), append(args, pq.Array(kinds))
	where += " and " + which
	may := where + fmt.Sprintf(" and t.kind = any($%d)", n+1)
	// Counted before anything is locked, as far as the answer goes once these are changed.
	total, err := storage.CountUpTo(ctx, q, storage.CountReach+f.Limit, `select from tasks t`+may, all...)
	if err != nil {
		return Changed{}, nil, storage.Wrap(err, "count tasks to "+verb)
	}
	skipped, err := storage.CountUpTo(ctx, q, storage.CountReach, `select from tasks t`+where+fmt.Sprintf(" and t.kind <> all($%d)",
		n+1), all...)
	if err != nil {
		return Changed{}, nil, storage.Wrap(err, "count tasks not to "+verb)
	}
	few := ""
	if total.Exact {
		few = fmt.Sprintf(amongFew, may)
	}
	var organizations []int64
	err = q.SelectContext(ctx, &organizations, fmt.Sprintf(changeMatching, may, few, fmt.Sprintf("$%d", n+2), set), append(all, f.Limit)...)
	if err != nil {
		return Changed{}, nil, storage.Wrap(err, verb+" tasks")
	}
	by := map[int64]int{}
	for _, o := range organizations {
		by[o]++
	}
	left := max(0, total.Rows-len(organizations))
	remaining := storage.Total{Rows: min(left, storage.CountReach), Exact: total.Exact && left <= storage.CountReach}
	return Changed{Changed: len(organizations), Remaining: remaining, Skipped: skipped.Rows}, by, nil
}
