package crash

import (
	"context"
	"encoding/json"
	"fmt"
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
}

// Batches reads and inflates batches. One that is not there (purged, or beyond
// its age) is left out. One that is broken is among them with its Err: it must
// not keep its neighbours from being read.
func (s *Store) Batches(ctx context.Context, ids []uuid.UUID) ([]*Batch, error) {
	texts := make([]string, len(ids))
	for i, id := range ids {
		texts[i] = id.String()
	}
	var rows []batchRow
	err := s.db.SelectContext(ctx, &rows, `select id, organization_id, received_at, entries, body
		from crash_batches where id = any($1::uuid[]) order by id`, pq.Array(texts))
	if err != nil {
		return nil, storage.Wrap(err, "read crash batches")
	}
	batches := make([]*Batch, 0, len(rows))
	for i := range rows {
		b, err := s.inflate(&rows[i])
		if err != nil {
			b.Err, b.Body = err, nil
			if b.Entries == nil {
				if b.Entries, err = s.entriesOfUUIDs(ctx, b.ID); err != nil {
					return nil, err
				}
			}
		}
		batches = append(batches, b)
	}
	return batches, nil
}

// entriesOfUUIDs reads from the stored uuids which reports a batch holds whose own
// entries cannot be read. No index serves it, for it should never happen.
func (s *Store) entriesOfUUIDs(ctx context.Context, batch uuid.UUID) ([]Entry, error) {
	var rows []uuidRow
	err := s.db.SelectContext(ctx, &rows, `select crash_project_id, uuid, digest, crash_id, conflict
		from crash_uuids where crash_id between $1 and $2 order by crash_id`, batch, entryID(batch, MaxBatch-1))
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
	b := &Batch{ID: row.ID, OrganizationID: row.OrganizationID, ReceivedAt: row.ReceivedAt}
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
