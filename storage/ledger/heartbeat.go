package ledger

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
)

// renewHeartbeats skips a row that is locked, for it is being finished this moment: waiting
// would delay the heartbeats of all others.
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

// MaxLosses is how often a task may be lost with its worker before it is dead. A healthy
// one beside others that kill the process is lost a few times; one that kills it itself
// is due later and later, and has brought about twenty restarts in some three hours then.
const MaxLosses = 20

// rescue counts a loss, which does not use an attempt up: max_attempts rises with attempt,
// which is the token. The first rescue is due at once, later ones after 1, 3, 7 seconds and so
// on up to a quarter of an hour, so that a task which kills its workers does not do so all the
// time.
var rescue = `
update tasks t set
	state = case when t.cancel_requested then 'cancelled'
		when t.losses + 1 >= $2 then 'dead' else 'queued' end,
	finished_at = case when t.cancel_requested or t.losses + 1 >= $2 then now() end,
	run_at = now() + make_interval(secs => least(power(2, least(t.losses, 10)) - 1, 900)), worker = null, heartbeat_at = null,
	losses = t.losses + 1, max_attempts = t.max_attempts + 1,
	error = case when t.losses + 1 >= $2 then format('lost with its worker %s times; the last was %s', t.losses + 1,
	coalesce(t.worker, 'unknown'))
		else ` + lossText + ` end,
	failures = ` + addFailure(lossText, true) + `
from (select id as silent_id from tasks where state = 'running'
	and heartbeat_at < now() - make_interval(secs => $1)
	order by heartbeat_at limit 500 for update skip locked) old
where t.id = old.silent_id and t.state = 'running'
returning ` + columns

const lossText = `'worker lost: no heartbeat from ' || coalesce(t.worker, 'an unknown worker')`

// RescueAfter is the age of a heartbeat from which on Rescue takes a task, unless a setting
// says otherwise: three times what workers leave between two of them.
const RescueAfter = 6 * time.Second

// HeartbeatEvery returns how often a worker sends a heartbeat for its tasks, where the age
// for Rescue is after: two in a row may fail.
func HeartbeatEvery(after time.Duration) time.Duration { return after / 3 }

// Rescue returns tasks whose heartbeat is older than age to the queue and returns
// them as they are now.
func (s *Store) Rescue(ctx context.Context, age time.Duration) ([]Task, error) {
	var rows []Task
	err := s.db.SelectContext(ctx, &rows, rescue, age.Seconds(), MaxLosses)
	return rows, storage.Wrap(err, "rescue tasks")
}
