package reading

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash"
)

// Neighbours are the crashes of a group before and after one, by the time of the crash; nil
// where there is none.
type Neighbours struct {
	Previous *uuid.UUID `db:"previous"` // the older one
	Next     *uuid.UUID `db:"next"`
}

// NeighboursOf finds the neighbours of a crash in the group that is shown for it. Of each
// key of the group, the index crashes_key_page yields one.
func NeighboursOf(ctx context.Context, q storage.Querier, organization, group int64, at time.Time, id uuid.UUID) (n Neighbours, err error) {
	beside := func(compare, direction string) string {
		order := ` order by occurred_at ` + direction + `, id ` + direction + ` limit 1`
		return `(select c.id from keys k cross join lateral (select id, occurred_at from crashes
			where key_id = k.id and (occurred_at, id) ` + compare + ` ($3::timestamptz, $4::uuid)` + order + `) c` + order + `)`
	}
	err = q.GetContext(ctx, &n, `with keys as materialized (
			select k.id from crash_groups g join crash_group_keys k on k.group_id = g.id
			where g.organization_id = $1 and (g.id = $2 or g.root_id = $2)
		) select `+beside("<", "desc")+` as previous, `+beside(">", "asc")+` as next`, organization, group, at, id)
	return n, storage.Wrap(err, "neighbours of crash "+id.String())
}

// ExplanationOf is why a crash of the organization got its key, as JSON: as symbols showed
// it, else as it came; nil when that is not kept.
func ExplanationOf(ctx context.Context, s *crash.Store, organization int64, id uuid.UUID) ([]byte, error) {
	d := &Detail{}
	d.ID = id
	err := explain(ctx, s, organization, d)
	return d.Explanation, err
}
