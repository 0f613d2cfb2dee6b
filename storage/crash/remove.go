package crash

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash/array"
	"github.com/slipway-qa/slipway/storage/crash/projectlock"
	"github.com/slipway-qa/slipway/storage/crash/received"
	"github.com/slipway-qa/slipway/storage/crash/usage"
)

// Removed is what a step took out.
type Removed struct {
	Reports int
	Objects []string // keys of the attachments' bytes, to be deleted after the commit
}

// Remove applies a plan. Counts, days, versions and hosts of the groups lose
// exactly what the crashes added, and a group that reaches zero goes with its
// keys. ErrConflict when a batch was changed since it was read: plan again.
//
// Locks, in this order: batches, projects, builds, groups, crashes. Lock and
// Record take projects, builds and groups in the same order, and a batch only
// while it has not been recorded.
func (s *Store) Remove(ctx context.Context, tx *storage.Tx, r *received.Removal) (Removed, error) {
	var out Removed
	if len(r.Crashes) == 0 {
		return out, nil
	}
	if err := r.WriteBatches(ctx, tx); err != nil {
		return out, err
	}
	ids := storage.UUIDs(r.Crashes)
	keys, err := lockGroupsOf(ctx, tx, ids)
	if err != nil {
		return out, err
	}
	gone, err := deleteCrashes(ctx, tx, r.Organization, ids)
	if err != nil {
		return out, err
	}
	if err := dropSymbolications(ctx, tx, r.Organization, array.UUIDs(r.Crashes), len(keys) > 0); err != nil {
		return out, err
	}
	if err := uncount(ctx, tx, keys, gone); err != nil {
		return out, err
	}
	if err := dropFacets(ctx, tx, r.Organization, keys, gone); err != nil {
		return out, err
	}
	used := make([]usage.Crash, len(gone))
	for i := range gone {
		g := &gone[i]
		used[i] = usage.Crash{ProjectID: g.ProjectID, Version: g.Version, OccurredAt: g.OccurredAt, Duplicates: g.Duplicates}
	}
	if err := usage.UncountVersions(ctx, tx, used); err != nil {
		return out, err
	}
	if err := uncountBuilds(ctx, tx, gone); err != nil {
		return out, err
	}
	refs := r.UUIDs
	seen := make(map[uuid.UUID]bool, len(refs))
	for _, u := range refs {
		seen[u.Crash] = true
	}
	for _, c := range gone {
		if !seen[c.ID] {
			refs = append(refs, received.UUIDRef{Project: c.ProjectID, UUID: c.UUID, Crash: c.ID})
			seen[c.ID] = true
		}
	}
	if err := usage.UncountDays(ctx, tx, used); err != nil {
		return out, err
	}
	forget := received.DeleteUUIDs
	if r.KeepUUIDs {
		forget = received.KeepUUIDs
	}
	if err := forget(ctx, tx, refs); err != nil {
		return out, err
	}
	out.Reports = len(seen)
	err = tx.SelectContext(ctx, &out.Objects,
		`with written as (delete from crash_feedback where crash_id = any($1::uuid[]) and organization_id = $2)
		delete from crash_attachments
		where crash_id = any($1::uuid[]) and organization_id = $2 returning object_key`, ids, r.Organization)
	return out, storage.Wrap(err, "delete crash attachments")
}

// lockGroupsOf locks the builds and groups of crashes and returns their keys by id.
func lockGroupsOf(ctx context.Context, tx *storage.Tx, crashes any) (map[int64]keyRow, error) {
	const keysOf = `
		select k.id, k.crash_project_id, k.key, k.group_id, coalesce(g.root_id, g.id) as root_id, g.facets_at
		from crash_group_keys k join crash_groups g on g.id = k.group_id
		where k.id in (select key_id from crashes where id = any($1::uuid[]))`
	var keys []keyRow
	if err := tx.SelectContext(ctx, &keys, keysOf, crashes); err != nil {
		return nil, storage.Wrap(err, "keys of crashes")
	}
	if len(keys) == 0 {
		return nil, lockBuildsOfCrashes(ctx, tx, crashes)
	}
	var projects []int64
	for _, k := range keys {
		projects = append(projects, k.ProjectID)
	}
	if err := projectlock.Take(ctx, tx, projects...); err != nil {
		return nil, err
	}
	if err := lockBuildsOfCrashes(ctx, tx, crashes); err != nil {
		return nil, err
	}
	// Again: a merge may have moved keys before the projects were locked.
	keys = nil
	if err := tx.SelectContext(ctx, &keys, keysOf, crashes); err != nil {
		return nil, storage.Wrap(err, "keys of crashes")
	}
	byID := make(map[int64]keyRow, len(keys))
	var groups []int64
	for _, k := range keys {
		byID[k.ID] = k
		groups = append(groups, k.RootID)
	}
	return byID, lockGroups(ctx, tx, groups)
}

// deletedCrash is a deleted row.
type deletedCrash struct {
	ID         uuid.UUID `db:"id"`
	ProjectID  int64     `db:"crash_project_id"`
	KeyID      *int64    `db:"key_id"`
	UUID       uuid.UUID `db:"uuid"`
	OccurredAt time.Time `db:"occurred_at"`
	ReceivedAt time.Time `db:"received_at"`
	Version    string    `db:"version"`
	Host       string    `db:"host"`
	Duplicates int       `db:"duplicates"`
	BuildID    *int64    `db:"build_id"`
	Message    string    `db:"message"`
	Attributes string    `db:"attributes"`
	Severity   Severity  `db:"severity"`
}

// goneColumns are those of a deletedCrash.
const goneColumns = `id, crash_project_id, key_id, uuid, occurred_at, received_at, version, host, duplicates, build_id, message, ` +
	`attributes, severity`

func deleteCrashes(ctx context.Context, tx *storage.Tx, organization int64, ids any) ([]deletedCrash, error) {
	var gone []deletedCrash
	err := tx.SelectContext(ctx, &gone, `delete from crashes where id = any($1::uuid[]) and organization_id = $2
		returning `+goneColumns, ids, organization)
	return gone, storage.Wrap(err, "delete crashes")
}
