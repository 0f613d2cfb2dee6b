package ledger

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
)

// ClaimRequest names what a worker claims.
type ClaimRequest struct {
	ID             uuid.UUID
	Kind           string
	OrganizationID int64
	Worker         string // name of the claiming process
	// Batch above 1 merges: the claim takes the oldest due tasks of the kind
	// and organization, at most Batch rows and MaxWeight in sum (one row is
	// always taken), whether or not ID is among them.
	Batch     int
	MaxWeight int
	// NoWait leaves a batch alone whose rows others have locked; no rows then does not
	// say that none is left.
	NoWait bool
	// KeyLimit above 0 bounds the running tasks of one concurrency key.
	KeyLimit int
}

const claimSet = `
set state = 'running', attempt = t.attempt + 1, worker = $1, heartbeat_at = now(),
	started_at = now(), error = null`

const claimOne = `update tasks t ` + claimSet + `
where t.id = $2 and t.state = 'queued' and t.run_at <= now()
returning ` + columns

// claimBatch leaves a row that has failed or was lost twice to be claimed alone: it may be
// what made its claims fail, and its neighbours must not use their attempts up with it.
// Attempts that were returned, at a stop or while something was away, say nothing of it: the
// backlog of an outage must not be drained one by one.
func claimBatch(lock string) string {
	return `
update tasks t ` + claimSet + `
from (
	select id as due_id from (
		select id, weight, failed, sum(weight) over (order by id) as upto,
			first_value(failed) over (order by id) as leads from (
			select id, weight, coalesce(jsonb_array_length(failures), 0) as failed from tasks
			where kind = $2 and coalesce(organization_id, 0) = $3
				and state = 'queued' and run_at <= now()
			order by id limit $4
			` + lock + `
		) due
	) summed
	where upto = weight or (upto <= $5 and failed < 2 and leads < 2)
) mine
where t.id = mine.due_id
returning ` + columns
}

// Claim takes a task, or a batch of its kind. No rows is no error: another worker was
// faster, the task was cancelled or is not due, or its concurrency key is full
// (then the row is due again some seconds later, or when a task of the key ends).
func (s *Store) Claim(ctx context.Context, c ClaimRequest) ([]Task, error) {
	var rows []Task
	if c.Batch > 1 {
		err := s.db.SelectContext(ctx, &rows, claimBatch("for update skip locked"), c.Worker, c.Kind, c.OrganizationID, c.Batch, c.MaxWeight)
		if err != nil || len(rows) > 0 || c.NoWait {
			return rows, storage.Wrap(err, "claim tasks")
		}
		// Another claim may hold locks on rows that it will not take. They are
		// waited for: the delivery that brought us here is used up, and its row
		// would lie until the relay looks.
		err = s.db.SelectContext(ctx, &rows, claimBatch("for update"), c.Worker, c.Kind, c.OrganizationID, c.Batch, c.MaxWeight)
		return rows, storage.Wrap(err, "claim tasks")
	}
	if c.KeyLimit <= 0 {
		err := s.db.SelectContext(ctx, &rows, claimOne, c.Worker, c.ID)
		return rows, storage.Wrap(err, "claim task")
	}
	err := s.db.InTx(ctx, func(tx *storage.Tx) error {
		free, err := keyHasRoom(ctx, tx, c)
		if err != nil || !free {
			return err
		}
		return storage.Wrap(tx.SelectContext(ctx, &rows, claimOne, c.Worker, c.ID), "claim task")
	})
	return rows, err
}

// lockedClaims locks the rows of claims in the order of their ids, as everybody does: a claim
// that looks for rows to merge may wait for one of them while it holds another.
const lockedClaims = `(
	select t.id from tasks t
	join unnest($1::uuid[], $2::int[]) as mine(id, attempt) on t.id = mine.id and t.attempt = mine.attempt
	where t.state = 'running'
	order by t.id for update of t
) locked`

const finish = `
update tasks t set state = 'succeeded', finished_at = now(), worker = null, heartbeat_at = null,
	error = null, result = coalesce($3::jsonb, t.result)
from ` + lockedClaims + `
where t.id = locked.id
returning coalesce(t.concurrency_key, '')`

// Finish ends claimed tasks as succeeded, in the transaction that holds their
// effects. It returns ErrStale, and the caller must roll back, when one of the
// claims is no longer the worker's. The result (may be nil) is kept as JSON. A
// task that waits for the concurrency key of one of them becomes due.
func Finish(ctx context.Context, q storage.Querier, tokens []Token, result any) error {
	var doc any
	if result != nil {
		b, err := json.Marshal(result)
		if err != nil {
			return fmt.Errorf("task result: %w", err)
		}
		doc = string(b)
	}
	ids, attempts := split(tokens)
	var keys []string
	if err := q.SelectContext(ctx, &keys, finish, ids, attempts, doc); err != nil {
		return storage.Wrap(err, "finish tasks")
	}
	if len(keys) != len(tokens) {
		return fmt.Errorf("finish %d tasks: %w", len(tokens), storage.ErrStale)
	}
	return wakeKeys(ctx, q, keys)
}

const lockToken = `select id from ` + lockedClaims

// LockToken locks the rows of a worker's claims until the transaction ends, so
// that no rescue takes them meanwhile; ErrStale when one is no longer the
// worker's. The heartbeats of these rows are skipped meanwhile: the transaction
// must be over in about a second.
func LockToken(ctx context.Context, q storage.Querier, tokens []Token) error {
	ids, attempts := split(tokens)
	var locked []uuid.UUID
	if err := q.SelectContext(ctx, &locked, lockToken, ids, attempts); err != nil {
		return storage.Wrap(err, "lock tasks")
	}
	if len(locked) != len(tokens) {
		return fmt.Errorf("lock %d tasks: %w", len(tokens), storage.ErrStale)
	}
	return nil
}

// Touch renews the heartbeats of locked claims at the end of a transaction that
// heartbeats have skipped.
func Touch(ctx context.Context, q storage.Querier, tokens []Token) error {
	ids, _ := split(tokens)
	_, err := q.ExecContext(ctx, `update tasks set heartbeat_at = clock_timestamp() where id = any($1::uuid[])`, ids)
	return storage.Wrap(err, "renew heartbeats")
}

var fail = waking(`
update tasks t set
	state = case when t.cancel_requested then 'cancelled'
		when $4 or t.attempt >= t.max_attempts then 'dead' else 'queued' end,
	finished_at = case when t.cancel_requested or $4 or t.attempt >= t.max_attempts then now() end,
	run_at = now() + make_interval(secs => $5),
	worker = null, heartbeat_at = null, error = $3, failures = ` + addFailure("$3", false) + `
from ` + lockedClaims + `
where t.id = locked.id
returning t.state, t.concurrency_key`)

// Fail records that claimed tasks failed: due again after the backoff, or dead
// when the failure is permanent or the attempts are used up, or cancelled when
// that was asked for. It returns the states that the rows have now; rows whose
// claim was lost are not among them.
func (s *Store) Fail(ctx context.Context, tokens []Token, reason string, permanent bool, backoff time.Duration) ([]State, error) {
	return Fail(ctx, s.db, tokens, reason, permanent, backoff)
}

// Fail does what the store's Fail does in the caller's transaction.
func Fail(ctx context.Context, q storage.Querier, tokens []Token, reason string, permanent bool, backoff time.Duration) ([]State, error) {
	ids, attempts := split(tokens)
	var states []State
	err := q.SelectContext(ctx, &states, fail, ids, attempts, clip(reason), permanent, backoff.Seconds())
	return states, storage.Wrap(err, "fail tasks")
}

// snoozed is the error of a task that was given back for a while. Like that of a
// failed one it keeps the end of another task of the key from cutting that short.
const snoozed = "put off"

var release = waking(`
update tasks t set
	state = case when t.cancel_requested then 'cancelled' else 'queued' end,
	finished_at = case when t.cancel_requested then now() end,
	max_attempts = t.max_attempts + 1, run_at = now() + make_interval(secs => $3::float8),
	worker = null, heartbeat_at = null,
	error = case when $3::float8 > 0 and not t.cancel_requested then '` + snoozed + `' else t.error end
from ` + lockedClaims + `
where t.id = locked.id
returning t.state, t.concurrency_key`)

// Release returns claimed tasks to the queue and grants one attempt more, so that this one
// does not count: at a graceful stop, when what the task needs is rate limited,
// or when another task of the same claim was cancelled. Those that were cancelled
// themselves end so. The attempt number goes on rising, for it is the token. It
// returns the states that the rows have now.
func (s *Store) Release(ctx context.Context, tokens []Token, delay time.Duration) ([]State, error) {
	return Release(ctx, s.db, tokens, delay)
}

// Release does what the store's Release does in the caller's transaction.
func Release(ctx context.Context, q storage.Querier, tokens []Token, delay time.Duration) ([]State, error) {
	ids, attempts := split(tokens)
	var states []State
	err := q.SelectContext(ctx, &states, release, ids, attempts, delay.Seconds())
	return states, storage.Wrap(err, "release tasks")
}

// clip bounds an error text; the log has the whole of it. PostgreSQL refuses
// NUL and broken UTF-8.
func clip(s string) string {
	const most = 2000
	if len(s) > most {
		s = s[:most]
	}
	return cleanText(s)
}

func split(tokens []Token) (ids, attempts any) {
	a := make([]string, len(tokens))
	b := make([]int64, len(tokens))
	for i, t := range tokens {
		a[i], b[i] = t.ID.String(), int64(t.Attempt)
	}
	return pq.Array(a), pq.Array(b)
}
