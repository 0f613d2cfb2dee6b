package crash

import (
	"context"
	"encoding/binary"
	"time"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash/projectlock"
	"github.com/slipway-qa/slipway/storage/crash/received"
)

// firstIDAt is the smallest version 7 uuid of a time: its first 48 bits are
// milliseconds (RFC 9562, 5.7).
func firstIDAt(t time.Time) uuid.UUID {
	var ms [8]byte
	binary.BigEndian.PutUint64(ms[:], uint64(max(t.UnixMilli(), 0)))
	var id uuid.UUID
	copy(id[:6], ms[2:])
	return id
}

// Expired is what a step of retention deleted.
type Expired struct {
	Batches int
	Crashes int
	Objects []string // to be deleted after the commit
}

type expiredReport struct {
	ID        uuid.UUID `db:"id"`
	ProjectID int64     `db:"crash_project_id"`
	UUID      uuid.UUID `db:"uuid"`
}

// expireCrashes tells the trigger of gates by a setting that these crashes stay counted:
// retention says nothing of a build. It lasts to the end of the transaction.
const expireCrashes = `
delete from crashes c using (select set_config('slipway.expiring', 'on', true)) as kept
where c.id <= $1 returning c.id, c.crash_project_id, c.uuid`

// Expire deletes up to limit batches that were received before a time, oldest
// first, with their crashes, uuids and attachments. What they added to groups
// and to gates stays. It locks batches, projects, groups and crashes in the order in which
// Remove does.
func (s *Store) Expire(ctx context.Context, tx *storage.Tx, before time.Time, limit int) (Expired, error) {
	var out Expired
	var batches []uuid.UUID
	err := tx.SelectContext(ctx, &batches, `select id from crash_batches where id < $1
		order by id limit $2 for update`, firstIDAt(before), limit)
	if err != nil || len(batches) == 0 {
		return out, storage.Wrap(err, "find old crash batches")
	}
	// The ids of crashes lie between those of batches: one range takes all.
	last := received.EntryID(batches[len(batches)-1], received.MaxBatch-1)
	if err := staleFacets(ctx, tx, last); err != nil {
		return out, err
	}
	var gone []expiredReport
	err = tx.SelectContext(ctx, &gone, expireCrashes, last)
	if err != nil {
		return out, storage.Wrap(err, "delete old crashes")
	}
	if err := expireSymbolications(ctx, tx, last); err != nil {
		return out, err
	}
	refs := make([]received.UUIDRef, 0, len(gone))
	recorded := map[uuid.UUID]bool{}
	for _, c := range gone {
		refs = append(refs, received.UUIDRef{Project: c.ProjectID, UUID: c.UUID, Crash: c.ID})
		batch, _ := received.SplitID(c.ID)
		recorded[batch] = true
	}
	for _, id := range batches {
		if recorded[id] {
			continue
		}
		more, err := s.Unrecorded(ctx, tx, id)
		if err != nil {
			return out, err
		}
		refs = append(refs, more...)
	}
	if err := received.DeleteUUIDs(ctx, tx, refs); err != nil {
		return out, err
	}
	err = tx.SelectContext(ctx, &out.Objects, `with written as (delete from crash_feedback where crash_id <= $1)
		delete from crash_attachments where crash_id <= $1 returning object_key`, last)
	if err != nil {
		return out, storage.Wrap(err, "delete old crash attachments")
	}
	_, err = tx.ExecContext(ctx, `delete from crash_batches where id = any($1::uuid[])`, storage.UUIDs(batches))
	out.Batches, out.Crashes = len(batches), len(gone)
	return out, storage.Wrap(err, "delete old crash batches")
}

// OldGroups pages by id through groups that were last seen before a time and
// have no crash left, neither of their own nor in a part.
func OldGroups(ctx context.Context, q storage.Querier, before time.Time, after int64, limit int) ([]int64, error) {
	var ids []int64
	err := q.SelectContext(ctx, &ids, `
		select g.id from crash_groups g
		where g.id > $1 and g.root_id is null and g.last_seen < $2 and not exists (`+crashesOfGroup+`)
			and not exists (`+splitsOfGroup+`)
		order by g.id limit $3`, after, before, limit)
	return ids, storage.Wrap(err, "find old crash groups")
}

// ExpireGroups deletes those of the groups that are still old and without a
// crash, and returns their number.
func ExpireGroups(ctx context.Context, tx *storage.Tx, before time.Time, groups []int64) (int64, error) {
	var projects []int64
	err := tx.SelectContext(ctx, &projects, `select distinct crash_project_id from crash_groups where id = any($1)`, pq.Array(groups))
	if err != nil {
		return 0, storage.Wrap(err, "projects of old crash groups")
	}
	if err := projectlock.Take(ctx, tx, projects...); err != nil {
		return 0, err
	}
	if err := lockGroups(ctx, tx, groups); err != nil {
		return 0, err
	}
	res, err := tx.ExecContext(ctx, `
		delete from crash_groups g where g.id = any($1) and g.root_id is null and g.last_seen < $2
			and not exists (`+crashesOfGroup+`) and not exists (`+splitsOfGroup+`)`,
		pq.Array(groups), before)
	if err != nil {
		return 0, storage.Wrap(err, "delete old crash groups")
	}
	n, err := res.RowsAffected()
	return n, storage.Wrap(err, "delete old crash groups")
}
