package ledger

import (
	"context"
	"time"

	"github.com/slipway-qa/slipway/storage"
)

// postpone leaves rows to a claim that is taking them at the moment.
const postpone = `
update tasks t set run_at = now() + make_interval(secs => $3)
from (select id from tasks where kind = $1 and organization_id = $2 and state = 'queued'
	and run_at < now() + make_interval(secs => $3) order by id for update skip locked) due
where t.id = due.id`

// Postpone puts off the tasks of a kind that an organization has waiting, so that they
// are not taken and returned one by one while what they need is used up.
func Postpone(ctx context.Context, q storage.Querier, kind string, organizationID int64, wait time.Duration) error {
	_, err := q.ExecContext(ctx, postpone, kind, organizationID, wait.Seconds())
	return storage.Wrap(err, "postpone tasks")
}
