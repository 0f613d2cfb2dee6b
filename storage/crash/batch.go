package crash

import (
	"context"
	"encoding/json"
	"fmt"
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

// RecordExplanations stores, for each batch, why its crashes got their keys.
// The crashes may be in any order; entries without an explanation stay empty.
func (s *Store) RecordExplanations(ctx context.Context, tx *storage.Tx, crashes []Crash) error {
	type pile struct {
		docs [][]byte
	}
	piles := map[uuid.UUID]*pile{}
	var order []uuid.UUID
	for i := range crashes {
		if len(crashes[i].Explanation) == 0 {
			continue
		}
		id, entry := SplitID(crashes[i].ID)
		p := piles[id]
		if p == nil {
			p = &pile{}
			piles[id] = p
			order = append(order, id)
		}
		for len(p.docs) <= entry {
			p.docs = append(p.docs, nil)
		}
		p.docs[entry] = crashes[i].Explanation
	}
	for _, id := range order {
		offsets := []int64{0}
		var body []byte
		for _, d := range piles[id].docs {
			body = append(body, d...)
			offsets = append(offsets, int64(len(body)))
		}
		_, err := tx.ExecContext(ctx, `insert into crash_explanations (batch_id, offsets, body)
			values ($1, $2, $3)`, id, pq.Array(offsets), s.codec.pack(nil, body))
		if err != nil {
			return storage.Wrap(err, "insert crash explanations")
		}
	}
	return nil
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
