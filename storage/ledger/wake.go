package ledger

import (
	"context"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
)

// wake leaves rows that somebody else has locked to whoever that is: a claim, or a cancelling,
// which locks tasks before all that the caller may have locked.
const wake = `
update tasks t set run_at = now()
from (select id from tasks where id = any($1::uuid[]) and state = 'queued' and run_at > now() order by id for update skip locked) due
where t.id = due.id`

// Wake makes tasks due at once that were put off: what they waited for has come.
func Wake(ctx context.Context, q storage.Querier, ids []uuid.UUID) error {
	if len(ids) == 0 {
		return nil
	}
	_, err := q.ExecContext(ctx, wake, storage.UUIDs(ids))
	return storage.Wrap(err, "wake tasks")
}
