// Package projectlock has the lock of each crash project, which a transaction keeps to its
// end: shared by those that count reports to groups, alone by those that move keys between
// groups or delete groups.
//
// It is an advisory lock and not a lock on the rows of the keys: row locks are not fair. On a
// busy key there is always some report that shares the row, and whoever needs it alone waits
// for ever; here a shared request that comes later waits behind it.
//
// A transaction takes the locks of several projects in the order of their numbers, and before
// it locks any group.
package projectlock

import (
	"context"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
)

// class is the class of the locks, as the first of their two numbers; any fixed number will do
// that no other class has.
const class = 1

// lockEach takes the locks in the order of the numbers: the sub-select is sorted
// before the function is called. Projects that share the low 31 bits share the
// lock, which does no harm.
const lockEach = `
from (select distinct (id & 2147483647)::int as n from unnest($2::bigint[]) as id order by n offset 0) p`

// Share shares the locks of the projects.
func Share(ctx context.Context, tx *storage.Tx, projects ...int64) error {
	_, err := tx.ExecContext(ctx, `select pg_advisory_xact_lock_shared($1::int, n)`+lockEach, class, pq.Array(projects))
	return storage.Wrap(err, "share crash projects")
}

// Take takes the locks of the projects alone.
func Take(ctx context.Context, tx *storage.Tx, projects ...int64) error {
	_, err := tx.ExecContext(ctx, `select pg_advisory_xact_lock($1::int, n)`+lockEach, class, pq.Array(projects))
	return storage.Wrap(err, "lock crash projects")
}
