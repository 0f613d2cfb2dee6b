package ledger

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
)

// Retry makes a dead or cancelled task due again, with as many attempts as its
// kind returns a new one. ErrConflict when it is in another state, or when an open
// task has taken its dedupe key.
func Retry(ctx context.Context, q storage.Querier, scope Scope, id uuid.UUID, attempts int) (*Task, error) {
	var t Task
	err := q.GetContext(ctx, &t, `
		update tasks set state = 'queued', run_at = now(), finished_at = null, losses = 0,
			cancel_requested = false, max_attempts = attempt + $3, failures = `+retriedFailures+`
		where id = $1 and ($2::bigint = 0 or organization_id = $2) and state in ('dead', 'cancelled')
		returning `+columns, id, scope.OrganizationID, attempts)
	if err != nil {
		return nil, missingOrConflict(ctx, q, scope, id, storage.Wrap(err, "retry task"))
	}
	return &t, nil
}

// Cancel ends a queued task at once and asks a running one to stop, which its
// worker learns with the next heartbeat. ErrConflict when the task has ended.
func Cancel(ctx context.Context, q storage.Querier, scope Scope, id uuid.UUID) (*Task, error) {
	var t Task
	err := q.GetContext(ctx, &t, `
		update tasks set
			state = case when state = 'queued' then 'cancelled' else state end,
			finished_at = case when state = 'queued' then now() end,
			cancel_requested = state = 'running'
		where id = $1 and ($2::bigint = 0 or organization_id = $2) and state in ('queued', 'running')
		returning `+columns, id, scope.OrganizationID)
	if err != nil {
		return nil, missingOrConflict(ctx, q, scope, id, storage.Wrap(err, "cancel task"))
	}
	return &t, nil
}

// missingOrConflict tells a task that is not there from one in a state that
// does not allow the change.
func missingOrConflict(ctx context.Context, q storage.Querier, scope Scope, id uuid.UUID, err error) error {
	if !isNotFound(err) {
		return err
	}
	var state State
	if e := q.GetContext(ctx, &state, `select state from tasks
		where id = $1 and ($2::bigint = 0 or organization_id = $2)`, id, scope.OrganizationID); e != nil {
		return storage.Wrap(e, "task "+id.String())
	}
	return fmt.Errorf("task is %s: %w", state, storage.ErrConflict)
}

var runNow = `
update tasks t set priority = 0, run_at = least(run_at, now(), (
	select min(due.run_at) - interval '1 millisecond' from (values (0::smallint), (1::smallint), (2::smallint)) as p(priority)
	cross join lateral (
		select o.run_at from tasks o
		where o.queue = t.queue and coalesce(o.organization_id, 0) = coalesce(t.organization_id, 0) and o.state = 'queued'
			and o.priority = p.priority
		order by o.run_at limit 1
	) due))
where id = $1 and ($2::bigint = 0 or organization_id = $2) and state = 'queued'
returning ` + columns

// RunNow makes a queued task due at once and the first of its organization in its queue,
// whatever it waits for: a backoff, a snooze, the tasks before it; not the bound of its
// concurrency key. ErrConflict when it is not queued.
func RunNow(ctx context.Context, q storage.Querier, scope Scope, id uuid.UUID) (*Task, error) {
	var t Task
	err := q.GetContext(ctx, &t, runNow, id, scope.OrganizationID)
	if err != nil {
		return nil, missingOrConflict(ctx, q, scope, id, storage.Wrap(err, "run task now"))
	}
	return &t, nil
}

// Retried is what became of a retry of many tasks.
type Retried struct {
	Retried   int // by this call
	Remaining int // that a further call would retry
	Skipped   int // that the caller may not retry, or whose work another task does
}

// Attempts are the numbers of attempts that retried tasks get, by their kind.
type Attempts map[string]int

// retryAll retries the newest of several with one dedupe key; none while another is open.
const retryAll = `
with chosen as (
	select distinct on (t.kind, coalesce(t.dedupe_key, t.id::text)) t.id from tasks t join unnest(%s::text[]) as may(kind) on may.kind = t.kind
	%s and (t.dedupe_key is null or not exists (select from tasks o
		where o.kind = t.kind and o.dedupe_key = t.dedupe_key and o.state in ('queued', 'running')))
	order by t.kind, coalesce(t.dedupe_key, t.id::text), t.id desc
), locked as (
	select t.id from tasks t join chosen on chosen.id = t.id where t.state in ('dead', 'cancelled')
	order by t.id limit %s for update of t skip locked
)
update tasks t set state = 'queued', run_at = now(), finished_at = null, losses = 0,
	cancel_requested = false, max_attempts = t.attempt + may.attempts, failures = ` + retriedFailures + `
from locked, unnest(%s::text[], %s::int[]) as may(kind, attempts)
where t.id = locked.id and may.kind = t.kind
returning coalesce(t.organization_id, 0)`

// RetryAll retries the tasks of a filter as Retry does, the oldest first and at most as
// many as the filter's limit; its states are dead or cancelled. Kinds without attempts are
// skipped. It returns the numbers by organization as well. ErrConflict when a task with
// the same dedupe key was made at the same moment.
func RetryAll(ctx context.Context, q storage.Querier, f Filter, may Attempts) (Retried, map[int64]int, error) {
	kinds, attempts := make([]string, 0, len(may)), make([]int64, 0, len(may))
	for kind, n := range may {
		kinds, attempts = append(kinds, kind), append(attempts, int64(n))
	}
	where, args := f.where()
	n := len(args)
	p := func(i int) string { return fmt.Sprintf("$%d", n+i) }
	var organizations []int64
	err := q.SelectContext(ctx, &organizations, fmt.Sprintf(retryAll, p(1), where, p(3), p(1), p(2)),
		append(args, pq.Array(kinds), pq.Array(attempts), f.Limit)...)
	if err != nil {
		return Retried{}, nil, storage.Wrap(err, "retry tasks")
	}
	by := map[int64]int{}
	for _, o := range organizations {
		by[o]++
	}
	var left struct {
		All int `db:"all"`
		May int `db:"may"`
	}
	err = q.GetContext(ctx, &left,
		fmt.Sprintf(`select count(*) as all, count(distinct coalesce(t.dedupe_key, t.id::text)) filter (where t.kind = any(%s)
		and (t.dedupe_key is null or not exists (select from tasks o
			where o.kind = t.kind and o.dedupe_key = t.dedupe_key and o.state in ('queued', 'running')))) as may
		from tasks t %s`, p(1), where), append(args, pq.Array(kinds))...)
	if err != nil {
		return Retried{}, nil, storage.Wrap(err, "count tasks to retry")
	}
	return Retried{Retried: len(organizations), Remaining: left.May, Skipped: left.All - left.May}, by, nil
}
