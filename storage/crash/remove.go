package crash

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
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
func (s *Store) Remove(ctx context.Context, tx *storage.Tx, r *Removal) (Removed, error) {
	var out Removed
	if len(r.crashes) == 0 {
		return out, nil
	}
	if err := r.writeBatches(ctx, tx); err != nil {
		return out, err
	}
	ids := pq.Array(uuidTexts(r.crashes))
	keys, err := lockGroupsOf(ctx, tx, ids)
	if err != nil {
		return out, err
	}
	gone, err := deleteCrashes(ctx, tx, r.organization, ids)
	if err != nil {
		return out, err
	}
	if err := dropSymbolications(ctx, tx, r.organization, uuidTexts(r.crashes), len(keys) > 0); err != nil {
		return out, err
	}
	if err := uncount(ctx, tx, keys, gone); err != nil {
		return out, err
	}
	if err := dropFacets(ctx, tx, r.organization, keys, gone); err != nil {
		return out, err
	}
	if err := uncountVersions(ctx, tx, gone); err != nil {
		return out, err
	}
	if err := uncountBuilds(ctx, tx, gone); err != nil {
		return out, err
	}
	refs := r.uuids
	seen := make(map[uuid.UUID]bool, len(refs))
	for _, u := range refs {
		seen[u.crash] = true
	}
	for _, c := range gone {
		if !seen[c.ID] {
			refs = append(refs, uuidRef{c.ProjectID, c.UUID, c.ID})
			seen[c.ID] = true
		}
	}
	if err := uncountDaysOfVersions(ctx, tx, gone); err != nil {
		return out, err
	}
	forget := deleteUUIDs
	if r.KeepUUIDs {
		forget = keepUUIDs
	}
	if err := forget(ctx, tx, refs); err != nil {
		return out, err
	}
	out.Reports = len(seen)
	err = tx.SelectContext(ctx, &out.Objects,
		`with written as (delete from crash_feedback where crash_id = any($1::uuid[]) and organization_id = $2)
		delete from crash_attachments
		where crash_id = any($1::uuid[]) and organization_id = $2 returning object_key`, ids, r.organization)
	return out, storage.Wrap(err, "delete crash attachments")
}

func uuidTexts(ids []uuid.UUID) []string {
	texts := make([]string, len(ids))
	for i, id := range ids {
		texts[i] = id.String()
	}
	return texts
}

// writeBatches replaces the batches, if they are as they were read.
func (r *Removal) writeBatches(ctx context.Context, tx *storage.Tx) error {
	var locked []struct {
		ID      uuid.UUID `db:"id"`
		Entries []byte    `db:"entries"`
	}
	err := tx.SelectContext(ctx, &locked, `select id, entries from crash_batches
		where id = any($1::uuid[]) order by id for update`, pq.Array(uuidTexts(r.Batches())))
	if err != nil {
		return storage.Wrap(err, "lock crash batches")
	}
	now := make(map[uuid.UUID]string, len(locked))
	for _, l := range locked {
		now[l.ID] = string(l.Entries)
	}
	there := make([]*rewrite, 0, len(r.rewrites))
	for i := range r.rewrites {
		w := &r.rewrites[i]
		entries, known := now[w.id]
		if !known {
			continue // beyond its age
		}
		if entries != w.was {
			return fmt.Errorf("batch %s was changed: %w", w.id, storage.ErrConflict)
		}
		there = append(there, w)
	}
	return writeRewrites(ctx, tx, there)
}

const (
	rewriteBatches = `
update crash_batches b set entries = w.entries::jsonb, body = w.body
from unnest($1::uuid[], $2::text[], $3::bytea[]) as w(id, entries, body) where b.id = w.id`
	rewriteExplanations = `
update crash_explanations e set offsets = w.offsets::integer[], body = w.body
from unnest($1::uuid[], $2::text[], $3::bytea[]) as w(id, offsets, body) where e.batch_id = w.id`
)

// writeRewrites writes locked batches, a statement for those that are left empty, one for the
// others, and one for their explanations.
func writeRewrites(ctx context.Context, tx *storage.Tx, list []*rewrite) error {
	var empty, ids, entries, bodies, explained, offsets, explanations []string
	for _, w := range list {
		if w.empty {
			empty = append(empty, w.id.String())
			continue
		}
		ids, entries, bodies = append(ids, w.id.String()), append(entries, string(w.entries)), append(bodies, byteaText(w.body))
		if w.withExplanations {
			explained, offsets = append(explained, w.id.String()), append(offsets, arrayText(w.explanationsAt))
			explanations = append(explanations, byteaText(w.explanations))
		}
	}
	if len(empty) > 0 {
		if _, err := tx.ExecContext(ctx, `delete from crash_batches where id = any($1::uuid[])`, pq.Array(empty)); err != nil {
			return storage.Wrap(err, "delete crash batches")
		}
	}
	if len(ids) > 0 {
		if _, err := tx.ExecContext(ctx, rewriteBatches, pq.Array(ids), pq.Array(entries), pq.Array(bodies)); err != nil {
			return storage.Wrap(err, "rewrite crash batches")
		}
	}
	if len(explained) == 0 {
		return nil
	}
	_, err := tx.ExecContext(ctx, rewriteExplanations, pq.Array(explained), pq.Array(offsets), pq.Array(explanations))
	return storage.Wrap(err, "rewrite crash explanations")
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
	if err := lockProjects(ctx, tx, projects); err != nil {
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
const goneColumns = `id, crash_project_id, key_id, uuid, occurred_at, received_at, version, host, duplicates, build_id, message, attributes, severity`

func deleteCrashes(ctx context.Context, tx *storage.Tx, organization int64, ids any) ([]deletedCrash, error) {
	var gone []deletedCrash
	err := tx.SelectContext(ctx, &gone, `delete from crashes where id = any($1::uuid[]) and organization_id = $2
		returning `+goneColumns, ids, organization)
	return gone, storage.Wrap(err, "delete crashes")
}

// deleteUUIDRows ends with a condition: each of the two partial unique indexes needs its own.
const deleteUUIDRows = `
delete from crash_uuids u
using unnest($1::bigint[], $2::uuid[], $3::uuid[]) as d(crash_project_id, uuid, crash_id)
where u.crash_project_id = d.crash_project_id and u.uuid = d.uuid and u.crash_id = d.crash_id and `

func deleteUUIDs(ctx context.Context, tx *storage.Tx, refs []uuidRef) error {
	if len(refs) == 0 {
		return nil
	}
	projects, uuids, crashes := uuidColumns(refs)
	for _, kind := range []string{"not u.conflict", "u.conflict"} {
		_, err := tx.ExecContext(ctx, deleteUUIDRows+kind, projects, uuids, crashes)
		if err != nil {
			return storage.Wrap(err, "delete crash uuids")
		}
	}
	return nil
}
