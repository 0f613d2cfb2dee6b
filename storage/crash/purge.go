package crash

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
	"github.com/slipway-qa/slipway/storage/crash/condition"
	"github.com/slipway-qa/slipway/storage/report"
)

// A removal is planned outside of any transaction, for it inflates and packs
// batches, and applied in one short transaction that checks that the batches are
// still as they were read.

// Carriers returns up to limit recorded crashes of an organization that carry the
// attribute, ordered by id. Project 0 is every project.
func Carriers(ctx context.Context, q storage.Querier, organization, project int64, f condition.Attribute, limit int) ([]uuid.UUID, error) {
	query, args := carriersQuery(organization, project, f, limit)
	var ids []uuid.UUID
	err := q.SelectContext(ctx, &ids, query, args...)
	return ids, storage.Wrap(err, "find crashes of an attribute")
}

func carriersQuery(organization, project int64, f condition.Attribute, limit int) (string, []any) {
	c := &condition.List{}
	c.Add("c.organization_id = " + c.Arg(organization))
	if project != 0 {
		c.Add("c.crash_project_id = " + c.Arg(project))
	}
	c.Attributes("c.attributes", []condition.Attribute{f})
	// Materialized: with a limit in sight the planner might walk the table.
	query := "with m as materialized (select c.id from crashes c" + c.Where() +
		") select id from m order by id limit " + c.Arg(limit)
	return query, c.Args
}

// FailedCrashes pages through the crashes of an organization that have no
// indexed attributes because they could not be recorded; only their documents
// show whom they are about.
func FailedCrashes(ctx context.Context, q storage.Querier, organization int64, after uuid.UUID, limit int) ([]uuid.UUID, error) {
	var ids []uuid.UUID
	err := q.SelectContext(ctx, &ids, `select id from crashes
		where organization_id = $1 and state = 'failed' and id > $2 order by id limit $3`, organization, after, limit)
	return ids, storage.Wrap(err, "list failed crashes")
}

// Removal is a planned step of a purge.
type Removal struct {
	organization int64
	rewrites     []rewrite
	crashes      []uuid.UUID // recorded or not
	uuids        []uuidRef   // of reports whose rows do not have them
	// KeepUUIDs keeps the uuids known, so that a report that is sent again stays
	// removed.
	KeepUUIDs bool
}

// Size is the number of reports that the step removes.
func (r *Removal) Size() int { return len(r.crashes) }

// Batches are the ids of the batches that the step rewrites.
func (r *Removal) Batches() []uuid.UUID {
	ids := make([]uuid.UUID, len(r.rewrites))
	for i := range r.rewrites {
		ids[i] = r.rewrites[i].id
	}
	return ids
}

type uuidRef struct {
	project int64
	uuid    uuid.UUID
	crash   uuid.UUID
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
	if err := q.SelectContext(ctx, &rows, selectPlanned, pq.Array(uuidTexts(ids)), organization); err != nil {
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
	r := &Removal{organization: organization}
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
		r.crashes, done = append(r.crashes, id), done+1
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
	r := &Removal{organization: organization}
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
		r.crashes = append(r.crashes, id)
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
				r.uuids = append(r.uuids, uuidRef{e.ProjectID, p.UUID, EntryID(id, n)})
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
	w.body = s.codec.pack(nil, body)
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
	old, err := s.codec.unpack(nil, row.Explanations)
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
	w.explanations = s.codec.pack(nil, body)
	return nil
}
