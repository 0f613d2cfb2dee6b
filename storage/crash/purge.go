package crash

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/report"
)

// A removal is planned outside of any transaction, for it inflates and packs
// batches, and applied in one short transaction that checks that the batches are
// still as they were read.

// Carriers returns up to limit recorded crashes of an organization that carry the
// attribute, ordered by id. Project 0 is every project.
func Carriers(ctx context.Context, q storage.Querier, organization, project int64, f AttributeFilter, limit int) ([]uuid.UUID, error) {
	query, args := carriersQuery(organization, project, f, limit)
	var ids []uuid.UUID
	err := q.SelectContext(ctx, &ids, query, args...)
	return ids, storage.Wrap(err, "find crashes of an attribute")
}

func carriersQuery(organization, project int64, f AttributeFilter, limit int) (string, []any) {
	c := &conditions{}
	c.add("c.organization_id = " + c.arg(organization))
	if project != 0 {
		c.add("c.crash_project_id = " + c.arg(project))
	}
	c.attributes("c.attributes", []AttributeFilter{f})
	// Materialized: with a limit in sight the planner might walk the table.
	query := "with m as materialized (select c.id from crashes c" + c.where() +
		") select id from m order by id limit " + c.arg(limit)
	return query, c.args
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

// PlanRemoval plans the removal of recorded crashes, which must be sorted by id.
// It stops at whole batches once the step is large, and returns how many of the
// crashes the plan covers.
func (s *Store) PlanRemoval(ctx context.Context, organization int64, crashes []uuid.UUID) (*Removal, int, error) {
	r := &Removal{organization: organization}
	size, done := 0, 0
	for done < len(crashes) && size < maxStepBytes {
		batch, _ := SplitID(crashes[done])
		end := done + 1
		for end < len(crashes) {
			if b, _ := SplitID(crashes[end]); b != batch {
				break
			}
			end++
		}
		n, err := s.planBatch(ctx, r, batch, func(_ *Batch, entry int) bool {
			return slices.Contains(crashes[done:end], entryID(batch, entry))
		})
		if err != nil {
			return nil, 0, err
		}
		r.crashes = append(r.crashes, crashes[done:end]...)
		size, done = size+n, end
	}
	return r, done, nil
}

// PlanDocuments plans the removal of those entries of one batch, recorded or
// not, whose documents carry the attribute; with candidates, of these entries
// only. A removal of size 0 has nothing to do.
func (s *Store) PlanDocuments(ctx context.Context, organization, project int64, f AttributeFilter, batch uuid.UUID, candidates []uuid.UUID) (*Removal, error) {
	r := &Removal{organization: organization}
	_, err := s.planBatch(ctx, r, batch, func(b *Batch, entry int) bool {
		id := entryID(batch, entry)
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
	return r, err
}

// planBatch rewrites a batch without the entries that remove names; it returns the
// bytes that the batch inflates to. A batch that is gone needs no rewriting.
func (s *Store) planBatch(ctx context.Context, r *Removal, id uuid.UUID, remove func(b *Batch, entry int) bool) (int, error) {
	var rows []batchRow
	err := s.db.SelectContext(ctx, &rows, `select id, organization_id, received_at, entries, body
		from crash_batches where id = $1 and organization_id = $2`, id, r.organization)
	if err != nil {
		return 0, storage.Wrap(err, "read crash batch")
	}
	if len(rows) == 0 {
		return 0, nil
	}
	b, err := s.inflate(&rows[0])
	if err != nil {
		// What cannot be read cannot be written again without some entries, and
		// carries nothing that anybody can search for: its bytes stay until the
		// batch is beyond its age, and must not stop the purge of all others.
		return len(rows[0].Body), nil
	}
	w := rewrite{id: id, was: string(rows[0].Entries), empty: true}
	body := make([]byte, 0, len(b.Body))
	changed := false
	gone := map[int]bool{}
	for n := range b.Entries {
		e := &b.Entries[n]
		doc, _ := b.Document(n) // a deleted entry has none
		if !e.Deleted && remove(b, n) {
			if p, err := report.Parse(doc); err == nil {
				r.uuids = append(r.uuids, uuidRef{e.ProjectID, p.UUID, entryID(id, n)})
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
		return len(b.Body), nil
	}
	w.entries, err = json.Marshal(b.Entries)
	if err != nil {
		return 0, fmt.Errorf("entries of batch %s: %w", id, err)
	}
	w.body = s.codec.pack(nil, body)
	if err := s.planExplanations(ctx, &w, gone); err != nil {
		return 0, err
	}
	r.rewrites = append(r.rewrites, w)
	return len(b.Body), nil
}

func (s *Store) planExplanations(ctx context.Context, w *rewrite, gone map[int]bool) error {
	var rows []struct {
		Offsets pq.Int64Array `db:"offsets"`
		Body    []byte        `db:"body"`
	}
	err := s.db.SelectContext(ctx, &rows, `select offsets, body from crash_explanations where batch_id = $1`, w.id)
	if err != nil || len(rows) == 0 {
		return storage.Wrap(err, "read crash explanations")
	}
	old, err := s.codec.unpack(nil, rows[0].Body)
	if err != nil {
		return err
	}
	w.withExplanations, w.explanationsAt = true, []int64{0}
	var body []byte
	at := rows[0].Offsets
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
