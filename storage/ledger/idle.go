package ledger

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
)

// Undone returns the ids of an organization's tasks of a kind that were made up to
// a time and whose work was not done: queued, running, dead or cancelled. It
// pages by id; reads tasks_organization.
func (s *Store) Undone(ctx context.Context, organization int64, kind string, until time.Time, after uuid.UUID,
	limit int) ([]uuid.UUID, error) {
	var ids []uuid.UUID
	err := s.db.SelectContext(ctx, &ids, `
		select id from tasks
		where organization_id = $1 and kind = $2 and state <> 'succeeded' and created_at <= $3 and id > $4
		order by id limit $5`, organization, kind, until, after, limit)
	return ids, storage.Wrap(err, "list undone tasks")
}

// LockIdle locks those of the tasks that are neither running nor succeeded, so
// that no worker can claim them until the transaction ends, and returns their ids.
// The rest is left out without waiting.
func LockIdle(ctx context.Context, q storage.Querier, ids []uuid.UUID) ([]uuid.UUID, error) {
	texts := make([]string, len(ids))
	for i, id := range ids {
		texts[i] = id.String()
	}
	var locked []uuid.UUID
	err := q.SelectContext(ctx, &locked, `
		select id from tasks where id = any($1::uuid[]) and state in ('queued', 'dead', 'cancelled')
		order by id for update skip locked`, pq.Array(texts))
	return locked, storage.Wrap(err, "lock idle tasks")
}
