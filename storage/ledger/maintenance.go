package ledger

import (
	"context"
	"time"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
)

// Maintenance tasks are those of the installation, without an organization. Both reads
// go through tasks_maintenance: there may be some ten thousand ticks for each task of a
// rare kind.

// MadeWithin reports whether a maintenance task of a kind was made within the time.
func (s *Store) MadeWithin(ctx context.Context, kind string, age time.Duration) (bool, error) {
	var made bool
	err := s.db.GetContext(ctx, &made, `select exists (select 1 from tasks where organization_id is null
		and kind = $1 and created_at > now() - make_interval(secs => $2))`, kind, age.Seconds())
	return made, storage.Wrap(err, "look for maintenance")
}

// Success is the newest task of a maintenance kind that succeeded.
type Success struct {
	Kind       string    `db:"kind"`
	CreatedAt  time.Time `db:"created_at"`
	FinishedAt time.Time `db:"finished_at"`
	Seconds    float64   `db:"seconds"` // of its last attempt
}

const lastSucceeded = `
select k.kind, t.created_at, t.finished_at, extract(epoch from t.finished_at - t.started_at)::float8 as seconds
from unnest($1::text[]) as k(kind) cross join lateral (
	select created_at, started_at, finished_at from tasks
	where organization_id is null and kind = k.kind and state = 'succeeded'
	order by created_at desc limit 1
) t
order by k.kind`

// LastSucceeded returns the newest success of each of the maintenance kinds, those left
// out that have none that is still kept.
func (s *Store) LastSucceeded(ctx context.Context, kinds []string) ([]Success, error) {
	var last []Success
	err := s.db.SelectContext(ctx, &last, lastSucceeded, pq.Array(kinds))
	return last, storage.Wrap(err, "read the last maintenance")
}
