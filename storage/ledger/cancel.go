package ledger

import (
	"context"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
)

// cancelAll locks in the order of the ids, as everybody does.
const cancelAll = `
with open as (
	select id from tasks
	where id = any($1::uuid[]) and ($2::bigint = 0 or organization_id = $2) and state in ('queued', 'running')
	order by id for update
)
update tasks t set
	state = case when t.state = 'queued' then 'cancelled' else t.state end,
	finished_at = case when t.state = 'queued' then now() end,
	cancel_requested = t.state = 'running'
from open where t.id = open.id`

// CancelAll does what Cancel does for many tasks, in one statement. Those that have
// ended, or are not there, are skipped. It returns the number of the others.
func CancelAll(ctx context.Context, q storage.Querier, scope Scope, ids []uuid.UUID) (int64, error) {
	if len(ids) == 0 {
		return 0, nil
	}
	texts := make([]string, len(ids))
	for i, id := range ids {
		texts[i] = id.String()
	}
	res, err := q.ExecContext(ctx, cancelAll, pq.Array(texts), scope.OrganizationID)
	if err != nil {
		return 0, storage.Wrap(err, "cancel tasks")
	}
	n, err := res.RowsAffected()
	return n, storage.Wrap(err, "cancel tasks")
}
