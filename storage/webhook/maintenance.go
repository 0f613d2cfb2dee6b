package webhook

import (
	"context"
	"time"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/ledger"
)

const expiredError = "no attempt succeeded within 24 hours"

// expireDeliveries skips rows that others hold: they are found by the next call.
const expireDeliveries = `
update webhook_deliveries d set status = 'failed', finished_at = now(),
	last_error = case when d.last_error = '' then '` + expiredError + `' else d.last_error end
from (
	select id from webhook_deliveries where status = 'pending' and expires_at <= $1 limit $2 for update skip locked
) over
where d.id = over.id`

// ExpireDeliveries ends pending deliveries whose time is over, at most limit of them.
func ExpireDeliveries(ctx context.Context, q storage.Querier, now time.Time, limit int) (int64, error) {
	return storage.Affected(q.ExecContext(ctx, expireDeliveries, now, limit))
}

const forgetDeliveries = `
delete from webhook_deliveries where id in (
	select id from webhook_deliveries where created_at < $1 order by created_at limit $2 for update skip locked)`

// ForgetDeliveries deletes deliveries made before, at most limit of them.
func ForgetDeliveries(ctx context.Context, q storage.Querier, before time.Time, limit int) (int64, error) {
	return storage.Affected(q.ExecContext(ctx, forgetDeliveries, before, limit))
}

// EndFormerSecrets deletes former secrets whose time is over.
func EndFormerSecrets(ctx context.Context, q storage.Querier, now time.Time) (int64, error) {
	return storage.Affected(q.ExecContext(ctx, `update webhooks set former_secret = null, former_until = null where former_until <= $1`, now))
}

const orphaned = `
select w.id, w.organization_id, w.failures from webhooks w
where w.status = 'active' and w.id > $1
	and exists (select from webhook_deliveries d where d.webhook_id = w.id and d.status = 'pending')
	and not exists (select from tasks t where t.kind = '` + TaskKind + `' and t.dedupe_key = w.id::text and t.state in ('queued', 'running'))
order by w.id limit $2`

// InsertMissingTasks inserts a task for each webhook that has pending deliveries and no
// open task: an operator cancelled it, or it used up its attempts while the database was
// away. It looks at webhooks after an id, and returns the last one that it found; 0 when
// there is none.
func InsertMissingTasks(ctx context.Context, tx *storage.Tx, after int64, limit int) (last int64, err error) {
	var rows []Webhook
	if err := tx.SelectContext(ctx, &rows, orphaned, after, limit); err != nil {
		return 0, storage.Wrap(err, "find webhooks without a task")
	}
	var list []*ledger.NewTask
	for i := range rows {
		last = rows[i].ID
		list = append(list, newTask(rows[i].OrganizationID, rows[i].ID, rows[i].Failures > 0, 0))
	}
	_, err = ledger.InsertAll(ctx, tx, list)
	return last, err
}
