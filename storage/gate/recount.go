package gate

import (
	"context"
	"errors"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
)

// recountStep is how many crashes of a build one call of Recount counts: crashes of the build that
// come meanwhile wait for it.
const recountStep = 2000

// putOff leaves the gates to Recount that are asked for, and those whose policy has other windows
// than what was counted. It returns the others.
func putOff(ctx context.Context, tx *storage.Tx, list []*facts, asked map[int64]bool) ([]*facts, error) {
	var ready []*facts
	var again []int64
	for _, f := range list {
		if f.policy == nil || !asked[f.BuildID] && f.counted() {
			ready = append(ready, f)
		} else {
			again = append(again, f.BuildID)
		}
	}
	if len(again) == 0 {
		return ready, nil
	}
	_, err := tx.ExecContext(ctx, `update gates set recount = true, counted_to = null where build_id = any($1)`, ids(again))
	return ready, storage.Wrap(err, "have crashes of builds counted")
}

// counted reports whether what the policy asks for is what is counted of the build.
func (f *facts) counted() bool {
	windows := f.policy.windows()
	if len(windows) != len(f.Windows) || f.CrashUsers != f.policy.countsUsers() {
		return false
	}
	for i := range windows {
		if windows[i] != f.Windows[i] {
			return false
		}
	}
	return true
}

// claimRecount locks the build, as who records its crashes does, and before the gate, as who
// removes it does.
const claimRecount = `
select b.id from builds b where b.id in (select build_id from gates where recount order by build_id limit 20)
order by b.id limit 1 for no key update skip locked`

type recounting struct {
	BuildID int64         `db:"build_id"`
	Begun   bool          `db:"begun"`
	Covered bool          `db:"covered"`
	Windows pq.Int64Array `db:"windows"`
	Users   bool          `db:"crash_users"`
	Same    bool          `db:"same"` // as when it began
}

const selectRecounting = `
select g.build_id, g.counted_to is not null as begun, p.project_id is not null as covered, coalesce(p.windows, '{}') as windows,
	coalesce(p.crash_users, false) as crash_users, coalesce(p.windows = g.windows and p.crash_users = g.crash_users, false) as same
from gates g join builds b on b.id = g.build_id
left join gate_policies p on p.project_id = g.project_id and ` + coveredBy + `
where g.build_id = $1 and g.recount for no key update of g`

// Recount counts the next crashes of one build whose policy has other windows now, or whose gate is
// new, from their reports: a bounded number, in a transaction in which nothing else is done. It
// returns false when there is none, or when others are at work on all of them. The gate is due when
// all are counted. Crashes beyond those that are counted are not added by who records them: none is
// missed, and none counted twice.
func Recount(ctx context.Context, tx *storage.Tx) (bool, error) {
	var build int64
	err := storage.Wrap(tx.GetContext(ctx, &build, claimRecount), "claim crashes of a build to count")
	if errors.Is(err, storage.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	var r recounting
	err = storage.Wrap(tx.GetContext(ctx, &r, selectRecounting, build), "gate of which crashes are counted")
	if errors.Is(err, storage.ErrNotFound) {
		return true, nil // it was done meanwhile
	}
	if err != nil {
		return false, err
	}
	if !r.Covered {
		return true, r.finish(ctx, tx)
	}
	if !r.Begun || !r.Same {
		if err := r.begin(ctx, tx); err != nil {
			return false, err
		}
	}
	return true, r.step(ctx, tx)
}

// begin forgets what was counted.
func (r *recounting) begin(ctx context.Context, tx *storage.Tx) error {
	for _, statement := range []string{
		`delete from gate_crashes where build_id = $1`,
		`delete from gate_crash_users where build_id = $1`,
		`delete from gate_needs where build_id = $1`,
	} {
		if _, err := tx.ExecContext(ctx, statement, r.BuildID); err != nil {
			return storage.Wrap(err, "forget what was counted of a build")
		}
	}
	_, err := tx.ExecContext(ctx, `
		update gates set windows = $2::smallint[], crash_users = $3, counted_to = '00000000-0000-0000-0000-000000000000' where build_id = $1`,
		r.BuildID, r.Windows, r.Users)
	return storage.Wrap(err, "windows of a gate")
}

// nextCrashes reads crashes that are then counted by what counts new ones, which leaves out
// those beyond counted_to.
const nextCrashes = `
with next as (
	select c.id from crashes c join gates g on g.build_id = c.build_id
	where c.build_id = $1 and c.id > g.counted_to order by c.id limit $2
)
update gates set counted_to = (select id from next order by id desc limit 1)
where build_id = $1 and (select count(*) from next) > 0
returning array(select id::text from next)`

func (r *recounting) step(ctx context.Context, tx *storage.Tx) error {
	var next []pq.StringArray
	if err := tx.SelectContext(ctx, &next, nextCrashes, r.BuildID, recountStep); err != nil {
		return storage.Wrap(err, "next crashes of a build")
	}
	if len(next) > 0 {
		if _, err := tx.ExecContext(ctx, `select gate_count_crashes($1::uuid[])`, next[0]); err != nil {
			return storage.Wrap(err, "count crashes of a build")
		}
	}
	if len(next) > 0 && len(next[0]) == recountStep {
		return nil
	}
	return r.finish(ctx, tx)
}

// finish has the gate evaluated.
func (r *recounting) finish(ctx context.Context, tx *storage.Tx) error {
	if _, err := tx.ExecContext(ctx, `update gates set recount = false, counted_to = null where build_id = $1`, r.BuildID); err != nil {
		return storage.Wrap(err, "crashes of a build are counted")
	}
	_, err := tx.ExecContext(ctx, insertDue, ids([]int64{r.BuildID}), false)
	return storage.Wrap(err, "have a gate evaluated")
}
