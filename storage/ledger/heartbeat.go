package ledger

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
)

// A row that is locked is being finished this moment: its heartbeat is skipped, for
// waiting would delay the heartbeats of all others.
const renewHeartbeats = `
with mine as (
	select * from unnest($1::uuid[], $2::int[]) as m(id, attempt)
), free as (
	select t.id from tasks t join mine m on t.id = m.id and t.attempt = m.attempt
	where t.state = 'running' for update of t skip locked
), renewed as (
	update tasks t set heartbeat_at = now() from free where t.id = free.id
)
select t.id, t.cancel_requested from tasks t
join mine m on t.id = m.id and t.attempt = m.attempt
where t.state = 'running'`

// Heartbeat renews the heartbeats of claims and returns those that the worker should
// stop: cancelled by a caller, or lost to another worker.
func (s *Store) Heartbeat(ctx context.Context, tokens []Token) (cancelled, lost []uuid.UUID, err error) {
	ids, attempts := split(tokens)
	var rows []struct {
		ID              uuid.UUID `db:"id"`
		CancelRequested bool      `db:"cancel_requested"`
	}
	if err := s.db.SelectContext(ctx, &rows, renewHeartbeats, ids, attempts); err != nil {
		return nil, nil, storage.Wrap(err, "heartbeat")
	}
	alive := make(map[uuid.UUID]bool, len(rows))
	for _, r := range rows {
		alive[r.ID] = true
		if r.CancelRequested {
			cancelled = append(cancelled, r.ID)
		}
	}
	for _, t := range tokens {
		if !alive[t.ID] {
			lost = append(lost, t.ID)
		}
	}
	return cancelled, lost, nil
}

// The attempt of a worker that died counts: a task that kills its workers ends
// dead instead of killing them for ever. The first rescue is due at once, later
// ones after 1, 3, 7 seconds and so on, so that workers which die again and again
// do not use a task's attempts up within a minute.
const rescue = `
update tasks t set
	state = case when t.cancel_requested then 'cancelled'
		when t.attempt >= t.max_attempts then 'dead' else 'queued' end,
	finished_at = case when t.cancel_requested or t.attempt >= t.max_attempts then now() end,
	run_at = now() + make_interval(secs => least(power(2, t.attempt - 1) - 1, 900)), delivered_at = null, worker = null, heartbeat_at = null,
	error = 'worker lost: no heartbeat from ' || coalesce(t.worker, 'an unknown worker')
from (select id as silent_id from tasks where state = 'running'
	and heartbeat_at < now() - make_interval(secs => $1)
	order by heartbeat_at limit 500 for update skip locked) old
where t.id = old.silent_id and t.state = 'running'
returning ` + columns

// Rescue returns tasks whose heartbeat is older than age to the queue and returns
// them as they are now.
func (s *Store) Rescue(ctx context.Context, age time.Duration) ([]Task, error) {
	var rows []Task
	err := s.db.SelectContext(ctx, &rows, rescue, age.Seconds())
	return rows, storage.Wrap(err, "rescue tasks")
}
