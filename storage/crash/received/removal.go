package received

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash/array"
	"github.com/slipway-qa/slipway/storage/crash/condition"
	"github.com/slipway-qa/slipway/storage/report"
)

// A removal is planned outside of any transaction, for it inflates and packs
// batches, and applied in one short transaction that checks that the batches are
// still as they were read.

// Removal is a planned step of a purge.
type Removal struct {
	Organization int64
	rewrites     []rewrite
	Crashes      []uuid.UUID // recorded or not
	UUIDs        []UUIDRef   // of reports whose rows do not have them
	// KeepUUIDs keeps the uuids known, so that a report that is sent again stays
	// removed.
	KeepUUIDs bool
}

// Size is the number of reports that the step removes.
func (r *Removal) Size() int { return len(r.Crashes) }

// Batches are the ids of the batches that the step rewrites.
func (r *Removal) Batches() []uuid.UUID {
	ids := make([]uuid.UUID, len(r.rewrites))
	for i := range r.rewrites {
		ids[i] = r.rewrites[i].id
	}
	return ids
}

// rewrite is a batch without some of its documents.
type rewrite struct {
	id               uuid.UUID
	was              string // entries as PostgreSQL returned them
	entries          []byte
	body             []byte
	empty            bool // nothing is left: the batch is deleted
	explanations     []byte
	explanationsAt   []int64
	withExplanations bool
}

// maxStepBytes bounds the documents that one step inflates and packs again.
const maxStepBytes = 16 << 20

// plannedBatch is a batch with the explanations of its crashes.
type plannedBatch struct {
	batchRow
	Offsets      pq.Int64Array `db:"offsets"`
	Explanations []byte        `db:"explanations"`
}

const selectPlanned = `
select b.id, b.organization_id, b.received_at, b.entries, b.body, e.offsets, e.body as explanations
from crash_batches b left join crash_explanations e on e.batch_id = b.id
where b.id = any($1::uuid[]) and b.organization_id = $2`

func plannedBatches(ctx context.Context, q storage.Querier, organization int64, ids []uuid.UUID) (map[uuid.UUID]*plannedBatch, error) {
	var rows []plannedBatch
	if err := q.SelectContext(ctx, &rows, selectPlanned, storage.UUIDs(ids), organization); err != nil {
		return nil, storage.Wrap(err, "read crash batches")
	}
	byID := make(map[uuid.UUID]*plannedBatch, len(rows))
	for i := range rows {
		byID[rows[i].ID] = &rows[i]
	}
	return byID, nil
}

// PlanRemoval plans the removal of recorded crashes, which must be sorted by id.
// It stops at whole batches once the step is large, and returns how many of the
// crashes the plan covers. It takes two statements, whatever the number of batches.
func (s *Store) PlanRemoval(ctx context.Context, organization int64, crashes []uuid.UUID) (*Removal, int, error) {
	r := &Removal{Organization: organization}
	of := map[uuid.UUID][]uuid.UUID{}
	for _, id := range crashes {
		batch, _ := SplitID(id)
		of[batch] = append(of[batch], id)
	}
	sizes, err := sizesOf(ctx, s.db, slices.Collect(maps.Keys(of)))
	if err != nil {
		return nil, 0, err
	}
	now := firstOf(sizes, maxStepBytes)
	rows, err := plannedBatches(ctx, s.db, organization, now)
	if err != nil {
		return nil, 0, err
	}
	// What is behind the batches of this step is left for the next one.
	var end uuid.UUID
	if len(now) < len(sizes) {
		end = sizes[len(now)].ID
	}
	done := 0
	for _, id := range crashes {
		batch, _ := SplitID(id)
		if end != uuid.Nil && bytes.Compare(batch[:], end[:]) >= 0 {
			break
		}
		r.Crashes, done = append(r.Crashes, id), done+1
	}
	for _, id := range now {
		err := s.planBatch(r, rows[id], func(_ *Batch, entry int) bool {
			return slices.Contains(of[id], EntryID(id, entry))
		})
		if err != nil {
			return nil, 0, err
		}
	}
	return r, done, nil
}

// PlanDocuments plans the removal of those entries of one batch, recorded or
// not, whose documents carry the attribute; with candidates, of these entries
// only. A removal of size 0 has nothing to do.
func (s *Store) PlanDocuments(ctx context.Context, organization, project int64, f condition.Attribute, batch uuid.UUID,
	candidates []uuid.UUID) (*Removal, error) {
	r := &Removal{Organization: organization}
	rows, err := plannedBatches(ctx, s.db, organization, []uuid.UUID{batch})
	if err != nil {
		return nil, err
	}
	return r, s.planBatch(r, rows[batch], func(b *Batch, entry int) bool {
		id := EntryID(batch, entry)
		if candidates != nil && !slices.Contains(candidates, id) {
			return false
		}
		if project != 0 && b.Entries[entry].ProjectID != project {
			return false
		}
		doc, err := b.Document(entry)
		if err != nil {
			return false
		}
		// What the receiver let in can be read again; what cannot carries
		// nothing that anybody can search for.
		p, err := report.Parse(doc)
		if err != nil || !f.Matches(p) {
			return false
		}
		r.Crashes = append(r.Crashes, id)
		return true
	})
}

// planBatch rewrites a batch without the entries that remove names. A batch that is gone,
// nil, needs no rewriting.
func (s *Store) planBatch(r *Removal, row *plannedBatch, remove func(b *Batch, entry int) bool) error {
	if row == nil {
		return nil
	}
	id := row.ID
	b, err := s.inflate(&row.batchRow)
	if err != nil {
		// What cannot be read cannot be written again without some entries, and
		// carries nothing that anybody can search for: its bytes stay until the
		// batch is beyond its age, and must not stop the purge of all others.
		return nil
	}
	w := rewrite{id: id, was: string(row.Entries), empty: true}
	body := make([]byte, 0, len(b.Body))
	changed := false
	gone := map[int]bool{}
	for n := range b.Entries {
		e := &b.Entries[n]
		doc, _ := b.Document(n) // a deleted entry has none
		if !e.Deleted && remove(b, n) {
			if p, err := report.Parse(doc); err == nil {
				r.UUIDs = append(r.UUIDs, UUIDRef{e.ProjectID, p.UUID, EntryID(id, n)})
			}
			e.Deleted, changed, gone[n] = true, true, true
		}
		e.Start = len(body)
		if !e.Deleted {
			body, w.empty = append(body, doc...), false
		}
		e.End = len(body)
	}
	if !changed {
		return nil
	}
	w.entries, err = json.Marshal(b.Entries)
	if err != nil {
		return fmt.Errorf("entries of batch %s: %w", id, err)
	}
	w.body = s.codec.Pack(nil, body)
	if err := s.planExplanations(&w, row, gone); err != nil {
		return err
	}
	r.rewrites = append(r.rewrites, w)
	return nil
}

func (s *Store) planExplanations(w *rewrite, row *plannedBatch, gone map[int]bool) error {
	if row.Offsets == nil {
		return nil
	}
	old, err := s.codec.Unpack(nil, row.Explanations)
	if err != nil {
		return err
	}
	w.withExplanations, w.explanationsAt = true, []int64{0}
	var body []byte
	at := row.Offsets
	for n := 0; n+1 < len(at); n++ {
		if at[n] < 0 || at[n] > at[n+1] || at[n+1] > int64(len(old)) {
			return fmt.Errorf("explanations of batch %s: offsets do not fit the body", w.id)
		}
		if !gone[n] {
			body = append(body, old[at[n]:at[n+1]]...)
		}
		w.explanationsAt = append(w.explanationsAt, int64(len(body)))
	}
	w.explanations = s.codec.Pack(nil, body)
	return nil
}

// WriteBatches replaces the batches, if they are as they were read.
func (r *Removal) WriteBatches(ctx context.Context, tx *storage.Tx) error {
	var locked []struct {
		ID      uuid.UUID `db:"id"`
		Entries []byte    `db:"entries"`
	}
	err := tx.SelectContext(ctx, &locked, `select id, entries from crash_batches
		where id = any($1::uuid[]) order by id for update`, storage.UUIDs(r.Batches()))
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
		ids, entries, bodies = append(ids, w.id.String()), append(entries, string(w.entries)), append(bodies, array.Bytea(w.body))
		if w.withExplanations {
			explained, offsets = append(explained, w.id.String()), append(offsets, array.Bigints(w.explanationsAt))
			explanations = append(explanations, array.Bytea(w.explanations))
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
