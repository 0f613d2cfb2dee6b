package crash

import (
	"context"
	"encoding/json"
	"time"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
)

// Stack is one whole stack among the crashes of a group.
type Stack struct {
	Key       []byte    `db:"stack_key"` // nil: crashes without one
	Reports   int64     `db:"reports"`
	Count     int64     `db:"count"` // occurrences
	FirstSeen time.Time `db:"first_seen"`
	LastSeen  time.Time `db:"last_seen"`
	CrashID   uuid.UUID `db:"crash_id"` // the newest, as an example
	// Explanation is that of the example; nil when it is gone.
	Explanation json.RawMessage `db:"-"`
}

// Stacks are the stacks of the newest crashes of a group, the most frequent first.
type Stacks struct {
	Stacks []Stack
	// Reports is how many crashes were looked at, Sampled that there are older ones.
	Reports int64
	Sampled bool
	// Splits are the rules of the group.
	Splits []Split
	// Distinct counts stacks, those beyond the bound of Stacks included.
	Distinct int64
}

const (
	// stackSample is how many of a group's crashes are looked at: the newest, which
	// people want to set apart. More take longer than a page should.
	stackSample = 5000
	// maxStacks is above what one request can split off.
	maxStacks = 50
)

// selectStacks reads each key's newest crashes from the index crashes_key.
const selectStacks = `
with sample as materialized (
	select c.* from unnest($1::bigint[]) as k(id) cross join lateral (
		select stack_key, id, occurred_at, duplicates from crashes
		where key_id = k.id order by occurred_at desc limit $2 + 1) c
	order by c.occurred_at desc limit $2 + 1
), counted as (
	select * from sample order by occurred_at desc limit $2
), stacks as (
	select stack_key, count(*) as reports, sum(duplicates)::bigint as count, min(occurred_at) as first_seen,
		max(occurred_at) as last_seen, (array_agg(id order by occurred_at desc, id desc))[1] as crash_id
	from counted group by stack_key
)
select stack_key, reports, count, first_seen, last_seen, crash_id, (select count(*) from sample) as sample,
	count(*) over () as distinct_stacks
from stacks order by count desc, stack_key limit $3`

// GroupStacks reads the whole stacks of a group, with those of its parts, and its rules:
// what Split can set apart, and what was.
func (s *Store) GroupStacks(ctx context.Context, organization, group int64) (*Stacks, error) {
	at, err := placeOf(ctx, s.db, organization, group)
	if err != nil {
		return nil, err
	}
	out := &Stacks{Stacks: []Stack{}}
	if out.Splits, err = Splits(ctx, s.db, organization, at.RootID); err != nil {
		return nil, err
	}
	keys, err := keysOfGroup(ctx, s.db, at.RootID)
	if err != nil {
		return nil, err
	}
	var rows []struct {
		Stack
		Sample   int64 `db:"sample"`
		Distinct int64 `db:"distinct_stacks"`
	}
	if err := s.db.SelectContext(ctx, &rows, selectStacks, pq.Array(keys), stackSample, maxStacks); err != nil {
		return nil, storage.Wrap(err, "stacks of a crash group")
	}
	ids := make([]uuid.UUID, len(rows))
	for i := range rows {
		ids[i] = rows[i].CrashID
	}
	symbols, err := s.Symbolications(ctx, organization, ids)
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		if y := symbols[row.CrashID]; y != nil && y.Explanation != nil {
			row.Explanation = y.Explanation
		} else if row.Explanation, err = s.Explanation(ctx, row.CrashID); err != nil && !isNotFound(err) {
			return nil, err
		}
		out.Stacks = append(out.Stacks, row.Stack)
		out.Reports, out.Sampled, out.Distinct = min(row.Sample, stackSample), row.Sample > stackSample, row.Distinct
	}
	return out, nil
}
