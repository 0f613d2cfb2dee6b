package ledger

import (
	"context"
	"slices"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
)

// A concurrency key bounds the running tasks that share it. A task that is claimed
// while the key is full is put off by some seconds; the end of a running one makes
// the next of those due at once. The seconds are the last check: a task that
// is put off while another one is just ending may not be seen by it. Idle workers
// claim every task of a full key that is due, only to put it off, so the pause
// grows with the number of those that wait.

// putOffUpTo is the longest such pause. Tasks of the key that are due further off
// have another reason for it.
const putOffUpTo = `interval '60 seconds'`

// putOff keeps error as it is: null, unlike after a failure or a snooze, whose
// pauses must not be cut short. The pause is 5 s and 10 ms for each task that waits;
// more of them than make up the longest pause are not counted.
const putOff = `
update tasks set run_at = now() + least(` + putOffUpTo + `, interval '5 seconds' + interval '10 milliseconds' * (
	select count(*) from (
		select from tasks where concurrency_key = $2 and state = 'queued' and run_at <= now() + ` + putOffUpTo + ` limit 5500
	) waiting))
where id = $1 and state = 'queued'`

// keyHasRoom serializes the claims of one concurrency key and counts its
// running tasks. A task that finds no room is put off.
func keyHasRoom(ctx context.Context, tx *storage.Tx, c ClaimRequest) (bool, error) {
	var key *string
	err := tx.GetContext(ctx, &key, `select max(concurrency_key) from tasks where id = $1 and state = 'queued'`, c.ID)
	if err != nil || key == nil {
		return err == nil, storage.Wrap(err, "read concurrency key")
	}
	if _, err := tx.ExecContext(ctx, `select pg_advisory_xact_lock(hashtextextended($1, 0))`, *key); err != nil {
		return false, storage.Wrap(err, "lock concurrency key")
	}
	var running int
	err = tx.GetContext(ctx, &running,
		`select count(*) from tasks where concurrency_key = $1 and state = 'running'`, *key)
	if err != nil {
		return false, storage.Wrap(err, "count concurrency key")
	}
	if running < c.KeyLimit {
		return true, nil
	}
	_, err = tx.ExecContext(ctx, putOff, c.ID, *key)
	return false, storage.Wrap(err, "put off task")
}

// nextOfKey is the task of the key that was put off longest ago. Tasks that are to
// run at a later time for another reason lie further off than a putting off does,
// or have an error.
func nextOfKey(key string) string {
	return `
	select id from tasks
	where state = 'queued' and concurrency_key = ` + key + ` and error is null
		and run_at > now() and run_at <= now() + ` + putOffUpTo + `
	order by run_at limit 1 for update skip locked`
}

var wakeOne = `
update tasks t set run_at = now()
from unnest($1::text[]) as freed(key) cross join lateral (` + nextOfKey("freed.key") + `) next
where t.id = next.id`

// wakeKeys makes a task due for each key of tasks that have ended. Where all are
// "", as with most kinds, it does nothing.
func wakeKeys(ctx context.Context, q storage.Querier, keys []string) error {
	freed := slices.DeleteFunc(keys, func(key string) bool { return key == "" })
	if len(freed) == 0 {
		return nil
	}
	_, err := q.ExecContext(ctx, wakeOne, pq.Array(freed))
	return storage.Wrap(err, "wake tasks of a concurrency key")
}

// waking does so in the statement that ends tasks, which returns their state and
// concurrency_key.
func waking(statement string) string {
	return `
with ended as (` + statement + `
), woken as (
	update tasks w set run_at = now()
	from ended cross join lateral (` + nextOfKey("ended.concurrency_key") + `) next
	where w.id = next.id
)
select state from ended`
}
