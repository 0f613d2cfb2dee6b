package received

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
)

// Entry describes one report of a batch.
type Entry struct {
	ProjectID  int64      `json:"project"`
	Start      int        `json:"start"`
	End        int        `json:"end"`
	Format     string     `json:"format,omitempty"` // empty: json
	ConflictOf *uuid.UUID `json:"conflict_of,omitempty"`
	// Sent is when the client sent it, by its clock, in seconds since 1970; 0: it did not say.
	Sent int64 `json:"sent,omitempty"`
	// Deleted entries have no bytes: a resend that a batch left out, or a
	// report that was purged.
	Deleted bool `json:"deleted,omitempty"`
}

// Batch is a stored batch, inflated.
type Batch struct {
	ID             uuid.UUID
	OrganizationID int64
	ReceivedAt     time.Time
	Entries        []Entry
	Body           []byte
	// Libraries are what the crash projects of the organization name as not their own, by project.
	Libraries map[int64][]string
	// Ruled: the organization has rules that may fire.
	Ruled bool
	// Err is why the batch cannot be read; no entry has a document then.
	Err error
}

// Document returns the bytes of one entry.
func (b *Batch) Document(entry int) ([]byte, error) {
	if entry < 0 || entry >= len(b.Entries) {
		return nil, fmt.Errorf("entry %d of batch %s: %w", entry, b.ID, storage.ErrNotFound)
	}
	e := b.Entries[entry]
	if e.Deleted {
		return nil, fmt.Errorf("entry %d of batch %s: %w", entry, b.ID, storage.ErrNotFound)
	}
	if b.Err != nil {
		return nil, b.Err
	}
	if e.Start < 0 || e.End < e.Start || e.End > len(b.Body) {
		return nil, errors.New("batch " + b.ID.String() + ": offsets do not fit the body")
	}
	return b.Body[e.Start:e.End], nil
}

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
	err := q.SelectContext(ctx, &sizes, batchSizes, storage.UUIDs(batches), int64(eachBytes))
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
	body, err := s.codec.Unpack(make([]byte, 0, size), row.Body)
	if err != nil {
		return b, fmt.Errorf("batch %s: %w", row.ID, err)
	}
	b.Body = body
	return b, nil
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
