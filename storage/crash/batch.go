package crash

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
)

type batchRow struct {
	ID             uuid.UUID `db:"id"`
	OrganizationID int64     `db:"organization_id"`
	ReceivedAt     time.Time `db:"received_at"`
	Entries        []byte    `db:"entries"`
	Body           []byte    `db:"body"`
	Libraries      []byte    `db:"libraries"`
	Ruled          bool      `db:"ruled"`
}

// batchLibraries are the libraries that the organization's crash projects name, by project; null
// for none. They come with the batch, for the rules that group its reports need them.
const batchLibraries = `(select jsonb_object_agg(p.id, to_jsonb(p.libraries)) from crash_projects p
	where p.organization_id = crash_batches.organization_id and p.libraries <> '{}') as libraries`

// Batches reads and inflates batches. One that is not there (purged, or beyond
// its age) is left out. One that is broken is among them with its Err: it must
// not keep its neighbours from being read.
func (s *Store) Batches(ctx context.Context, ids []uuid.UUID) ([]*Batch, error) {
	texts := make([]string, len(ids))
	for i, id := range ids {
		texts[i] = id.String()
	}
	var rows []batchRow
	err := s.db.SelectContext(ctx, &rows, `select id, organization_id, received_at, entries, body, `+batchLibraries+`,
		`+Ruled("crash_batches.organization_id")+` as ruled from crash_batches where id = any($1::uuid[]) order by id`, pq.Array(texts))
	if err != nil {
		return nil, storage.Wrap(err, "read crash batches")
	}
	batches := make([]*Batch, 0, len(rows))
	for i := range rows {
		b, err := s.inflate(&rows[i])
		if err != nil {
			b.Err, b.Body = err, nil
			if b.Entries == nil {
				if b.Entries, err = entriesOfUUIDs(ctx, s.db, b.ID); err != nil {
					return nil, err
				}
			}
		}
		batches = append(batches, b)
	}
	return batches, nil
}

const (
	// eachBytes of inflated batches are in memory at a time, and eachBatches batches.
	eachBytes   = 8 << 20
	eachBatches = 64
)

// batchSizes reads how large batches are when they are inflated; one whose entries say nothing
// counts as if it filled the memory alone.
const batchSizes = `
select id, coalesce(case when jsonb_typeof(entries) = 'array' and jsonb_typeof(entries -> -1 -> 'end') = 'number'
	then (entries -> -1 ->> 'end')::numeric::bigint end, $2) as size
from crash_batches where id = any($1::uuid[]) order by id`

// batchSize is how large a batch is when it is inflated.
type batchSize struct {
	ID   uuid.UUID `db:"id"`
	Size int64     `db:"size"`
}

// sizesOf reads the sizes of batches, in the order of their ids; those that are gone are left
// out.
func sizesOf(ctx context.Context, q storage.Querier, batches []uuid.UUID) ([]batchSize, error) {
	var sizes []batchSize
	err := q.SelectContext(ctx, &sizes, batchSizes, pq.Array(uuidTexts(batches)), int64(eachBytes))
	return sizes, storage.Wrap(err, "sizes of crash batches")
}

// firstOf returns the first batches, at least one, that are not larger than a bound together.
func firstOf(sizes []batchSize, most int64) (ids []uuid.UUID) {
	sum := int64(0)
	for _, b := range sizes {
		if sum += b.Size; len(ids) > 0 && sum > most {
			break
		}
		ids = append(ids, b.ID)
	}
	return ids
}

// EachBatch calls fn with each batch of some crashes of an organization, in order, and with
// those of the crashes that are of it. Batches that are gone are left out.
func (s *Store) EachBatch(ctx context.Context, organization int64, crashes []uuid.UUID, fn func(*Batch, []uuid.UUID) error) error {
	of := map[uuid.UUID][]uuid.UUID{}
	for _, id := range crashes {
		batch, _ := SplitID(id)
		of[batch] = append(of[batch], id)
	}
	sizes, err := sizesOf(ctx, s.db, slices.Collect(maps.Keys(of)))
	if err != nil {
		return err
	}
	for len(sizes) > 0 {
		ids := firstOf(sizes[:min(len(sizes), eachBatches)], eachBytes)
		sizes = sizes[len(ids):]
		batches, err := s.Batches(ctx, ids)
		if err != nil {
			return err
		}
		for _, b := range batches {
			if b.OrganizationID != organization {
				continue
			}
			if err := fn(b, of[b.ID]); err != nil {
				return err
			}
		}
	}
	return nil
}

// entriesOfUUIDs reads from the stored uuids which reports a batch holds whose own
// entries cannot be read. No index serves it, for it should never happen.
func entriesOfUUIDs(ctx context.Context, q storage.Querier, batch uuid.UUID) ([]Entry, error) {
	var rows []uuidRow
	err := q.SelectContext(ctx, &rows, `select crash_project_id, uuid, digest, crash_id, conflict
		from crash_uuids where crash_id between $1 and $2 order by crash_id`, batch, EntryID(batch, MaxBatch-1))
	if err != nil {
		return nil, storage.Wrap(err, "reports of a broken batch")
	}
	entries := []Entry{}
	for i := range rows {
		_, n := SplitID(rows[i].CrashID)
		for len(entries) < n {
			entries = append(entries, Entry{Deleted: true})
		}
		entries = append(entries, Entry{ProjectID: rows[i].ProjectID})
	}
	return entries, nil
}

// inflate reads a batch. With an error the batch has the entries that could be
// read, and no body.
func (s *Store) inflate(row *batchRow) (*Batch, error) {
	b := &Batch{ID: row.ID, OrganizationID: row.OrganizationID, ReceivedAt: row.ReceivedAt, Ruled: row.Ruled}
	if row.Libraries != nil {
		if err := json.Unmarshal(row.Libraries, &b.Libraries); err != nil {
			return b, fmt.Errorf("libraries of batch %s: %w", row.ID, err)
		}
	}
	if err := json.Unmarshal(row.Entries, &b.Entries); err != nil {
		b.Entries = nil
		return b, fmt.Errorf("entries of batch %s: %w", row.ID, err)
	}
	size := 0
	if n := len(b.Entries); n > 0 {
		size = max(0, min(b.Entries[n-1].End, maxInflated))
	}
	body, err := s.codec.unpack(make([]byte, 0, size), row.Body)
	if err != nil {
		return b, fmt.Errorf("batch %s: %w", row.ID, err)
	}
	b.Body = body
	return b, nil
}

// Explanations are those of the crashes of some batches, compressed.
type Explanations struct {
	batches, offsets, bodies []string
}

// PackExplanations compresses, for each batch, why its crashes got their keys. The
// crashes may be in any order; entries without an explanation stay empty. It is a step
// of its own so that no transaction, with the locks that it has, waits for it.
func (s *Store) PackExplanations(crashes []Crash) Explanations {
	piles := map[uuid.UUID][][]byte{}
	var order []uuid.UUID
	for i := range crashes {
		if len(crashes[i].Explanation) == 0 {
			continue
		}
		id, entry := SplitID(crashes[i].ID)
		if piles[id] == nil {
			order = append(order, id)
		}
		for len(piles[id]) <= entry {
			piles[id] = append(piles[id], nil)
		}
		piles[id][entry] = crashes[i].Explanation
	}
	var e Explanations
	var body, packed []byte
	for _, id := range order {
		body = body[:0]
		offsets := []byte("{0")
		for _, d := range piles[id] {
			body = append(body, d...)
			offsets = strconv.AppendInt(append(offsets, ','), int64(len(body)), 10)
		}
		packed = s.codec.pack(packed[:0], body)
		e.batches, e.offsets = append(e.batches, id.String()), append(e.offsets, string(append(offsets, '}')))
		e.bodies = append(e.bodies, byteaText(packed))
	}
	return e
}

// RecordExplanations stores packed explanations.
func RecordExplanations(ctx context.Context, tx *storage.Tx, e Explanations) error {
	if len(e.batches) == 0 {
		return nil
	}
	_, err := tx.ExecContext(ctx, `insert into crash_explanations (batch_id, offsets, body)
		select batch_id, offsets::integer[], body from unnest($1::uuid[], $2::text[], $3::bytea[]) as e(batch_id, offsets, body)`,
		pq.Array(e.batches), pq.Array(e.offsets), pq.Array(e.bodies))
	return storage.Wrap(err, "insert crash explanations")
}

// Explanation reads why a crash got its key, as JSON; ErrNotFound when it has
// none.
func (s *Store) Explanation(ctx context.Context, id uuid.UUID) (json.RawMessage, error) {
	batch, entry := SplitID(id)
	var row struct {
		Offsets pq.Int64Array `db:"offsets"`
		Body    []byte        `db:"body"`
	}
	err := s.db.GetContext(ctx, &row, `select offsets, body from crash_explanations where batch_id = $1`, batch)
	if err != nil {
		return nil, storage.Wrap(err, "explanation of crash "+id.String())
	}
	body, err := s.codec.unpack(nil, row.Body)
	if err != nil {
		return nil, err
	}
	if entry+1 >= len(row.Offsets) || row.Offsets[entry+1] > int64(len(body)) || row.Offsets[entry] == row.Offsets[entry+1] {
		return nil, fmt.Errorf("explanation of crash %s: %w", id, storage.ErrNotFound)
	}
	return json.RawMessage(body[row.Offsets[entry]:row.Offsets[entry+1]]), nil
}

// Ruled is a condition: the organization has rules that may fire.
func Ruled(organization string) string {
	return `exists (select from crash_rules r where r.organization_id = ` + organization + ` and r.enabled)`
}

// Document reads the stored bytes of a crash of the organization, processed or
// not.
func (s *Store) Document(ctx context.Context, organization int64, id uuid.UUID) ([]byte, error) {
	b, entry, err := s.Entry(ctx, organization, id)
	if err != nil {
		return nil, err
	}
	return b.Document(entry)
}

// Entry finds the batch of a crash of the organization, processed or not, and its number in it.
func (s *Store) Entry(ctx context.Context, organization int64, id uuid.UUID) (*Batch, int, error) {
	batch, entry := SplitID(id)
	batches, err := s.Batches(ctx, []uuid.UUID{batch})
	if err != nil {
		return nil, 0, err
	}
	if len(batches) == 0 || batches[0].OrganizationID != organization ||
		entry >= len(batches[0].Entries) || batches[0].Entries[entry].Deleted {
		return nil, 0, fmt.Errorf("crash %s: %w", id, storage.ErrNotFound)
	}
	return batches[0], entry, nil
}
