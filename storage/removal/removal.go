// Package removal has the objects that are to be deleted later.
//
// What a person or a retention deletes is gone for readers at once: its rows are. The
// objects wait (SLIPWAY_DELETE_DELAY), so that a dump of the database and a copy of the
// objects agree although they are not made at one moment: whatever the dump names is
// there for that long. The task object:removal deletes what is due. A backup that is
// under way holds it up, however long the backup takes.
//
// Store is an object store whose Delete records instead of deleting. Keys are never used
// twice, so what was recorded once is unnamed for good. When recording fails, or the
// process is killed before it, the sweep of unnamed objects records the rest.
package removal

import (
	"context"
	"time"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/object"
)

// Store is an object store whose Delete lets objects go after a delay.
type Store struct {
	object.Store
	DB    *storage.DB
	Delay time.Duration
}

// insertRemovals sorts the keys: so concurrent statements wait for each other instead of
// dying.
const insertRemovals = `
insert into object_removals (object_key, due_at)
select k, now() + make_interval(secs => $2) from unnest($1::text[]) k order by k
on conflict (object_key) do nothing`

// Delete records the keys. One that waits already keeps its time.
func (s *Store) Delete(ctx context.Context, keys ...string) error {
	if len(keys) == 0 {
		return nil
	}
	_, err := s.DB.ExecContext(ctx, insertRemovals, pq.Array(keys), s.Delay.Seconds())
	return storage.Wrap(err, "record objects to delete")
}

// holdLock is the advisory lock that a backup shares and that a removal needs alone.
const holdLock = 0x736c697077617901

// Hold keeps objects from being deleted until the session of q ends or Release is called.
// It waits for a removal that is under way.
func Hold(ctx context.Context, q storage.Querier) error {
	_, err := q.ExecContext(ctx, `select pg_advisory_lock_shared($1)`, int64(holdLock))
	return storage.Wrap(err, "hold up the deletion of objects")
}

const takeDue = `
select object_key from object_removals where due_at <= now() order by due_at, object_key limit $1 for update skip locked`

// deleteTimeout bounds the deletion of the objects of one transaction, which is idle
// meanwhile: for longer than the sessions of requests may be, or a slow store would be
// rolled back each time and never come further.
const deleteTimeout = 2 * time.Minute

// Run deletes the objects that are due, at most limit of them, and returns their number.
// It returns 0 while a backup holds it up. Objects is the store itself. An object is
// deleted before its row, so that a killed removal is done again.
func Run(ctx context.Context, db *storage.DB, objects object.Store, limit int) (removed int, err error) {
	err = db.InTx(ctx, func(tx *storage.Tx) error {
		if _, err := tx.ExecContext(ctx, `set local idle_in_transaction_session_timeout = '150s'`); err != nil {
			return storage.Wrap(err, "begin to delete objects")
		}
		var free bool
		if err := tx.GetContext(ctx, &free, `select pg_try_advisory_xact_lock($1)`, int64(holdLock)); err != nil || !free {
			return storage.Wrap(err, "begin to delete objects")
		}
		var keys []string
		if err := tx.SelectContext(ctx, &keys, takeDue, limit); err != nil || len(keys) == 0 {
			return storage.Wrap(err, "objects to delete")
		}
		deleting, cancel := context.WithTimeout(ctx, deleteTimeout)
		defer cancel()
		if err := objects.Delete(deleting, keys...); err != nil {
			return err
		}
		removed = len(keys)
		_, err := tx.ExecContext(ctx, `delete from object_removals where object_key = any($1)`, pq.Array(keys))
		return storage.Wrap(err, "forget deleted objects")
	})
	return removed, err
}
