package crash

import (
	"context"
	"slices"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
)

// Each crash project has a lock that a transaction keeps to its end: shared by
// those that count reports to groups, alone by those that move keys between
// groups or delete groups. It is an advisory lock and not a lock on the rows of
// the keys: row locks are not fair. On a busy key there is always some report
// that shares the row, and whoever needs it alone waits for ever; here a shared
// request that comes later waits behind it.
//
// A transaction takes the locks of several projects in the order of their
// numbers, and before it locks any group.

// projectLock is the class of the locks, as the first of their two numbers; any
// fixed number will do that no other class has.
const projectLock = 1

// lockEach takes the locks in the order of the numbers: the sub-select is sorted
// before the function is called. Projects that share the low 31 bits share the
// lock, which does no harm.
const lockEach = `
from (select distinct (id & 2147483647)::int as n from unnest($2::bigint[]) as id order by n offset 0) p`

// Lock shares the locks of the projects in which the crashes are grouped, finds
// the builds that they came from, which the crashes remember, and locks these,
// until the transaction ends. It comes before Record, once and with all of the
// crashes: locks taken by each call of Record would not be in order, and two such
// transactions and a merge could wait for one another.
func Lock(ctx context.Context, tx *storage.Tx, crashes []Crash) error {
	if err := shareProjects(ctx, tx, crashes); err != nil {
		return err
	}
	return lockReportedBuilds(ctx, tx, crashes)
}

// shareProjects shares the locks of the projects in which the crashes are grouped.
func shareProjects(ctx context.Context, tx *storage.Tx, crashes []Crash) error {
	var projects []int64
	for i := range crashes {
		if c := &crashes[i]; c.Group != nil && !slices.Contains(projects, c.ProjectID) {
			projects = append(projects, c.ProjectID)
		}
	}
	if len(projects) == 0 {
		return nil
	}
	return share(ctx, tx, projects...)
}

// share shares the locks of the projects.
func share(ctx context.Context, tx *storage.Tx, projects ...int64) error {
	_, err := tx.ExecContext(ctx, `select pg_advisory_xact_lock_shared($1::int, n)`+lockEach, projectLock, pq.Array(projects))
	return storage.Wrap(err, "share crash projects")
}

// lockProjects takes the locks of the projects alone.
func lockProjects(ctx context.Context, tx *storage.Tx, projects []int64) error {
	_, err := tx.ExecContext(ctx, `select pg_advisory_xact_lock($1::int, n)`+lockEach, projectLock, pq.Array(projects))
	return storage.Wrap(err, "lock crash projects")
}
