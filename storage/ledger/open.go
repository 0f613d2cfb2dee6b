package ledger

import (
	"context"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
)

// openOfKind finds the queued by tasks_claimable, the newest first; the running, who are no
// more than all workers have slots, by tasks_running.
const openOfKind = `
(select id from tasks where kind = $2 and coalesce(organization_id, 0) = $1 and state = 'queued' order by id desc limit $3)
union all
(select id from tasks where kind = $2 and organization_id = $1 and state = 'running' order by id desc limit $3)`

// OpenOf returns tasks of a kind and of an organization that have not ended: of those that
// run and of those that are queued, the newest, up to limit of each.
func (s *Store) OpenOf(ctx context.Context, organizationID int64, kind string, limit int) ([]uuid.UUID, error) {
	var ids []uuid.UUID
	err := s.db.SelectContext(ctx, &ids, openOfKind, organizationID, kind, limit)
	return ids, storage.Wrap(err, "open tasks of a kind")
}
