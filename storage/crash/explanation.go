package crash

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash/array"
	"github.com/slipway-qa/slipway/storage/crash/received"
)

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
		id, entry := received.SplitID(crashes[i].ID)
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
		packed = s.codec.Pack(packed[:0], body)
		e.batches, e.offsets = append(e.batches, id.String()), append(e.offsets, string(append(offsets, '}')))
		e.bodies = append(e.bodies, array.Bytea(packed))
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
	batch, entry := received.SplitID(id)
	var row struct {
		Offsets pq.Int64Array `db:"offsets"`
		Body    []byte        `db:"body"`
	}
	err := s.db.GetContext(ctx, &row, `select offsets, body from crash_explanations where batch_id = $1`, batch)
	if err != nil {
		return nil, storage.Wrap(err, "explanation of crash "+id.String())
	}
	body, err := s.codec.Unpack(nil, row.Body)
	if err != nil {
		return nil, err
	}
	if entry+1 >= len(row.Offsets) || row.Offsets[entry+1] > int64(len(body)) || row.Offsets[entry] == row.Offsets[entry+1] {
		return nil, fmt.Errorf("explanation of crash %s: %w", id, storage.ErrNotFound)
	}
	return json.RawMessage(body[row.Offsets[entry]:row.Offsets[entry+1]]), nil
}
