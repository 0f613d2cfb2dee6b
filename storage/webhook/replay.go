package webhook

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/ledger"
)

// suspendedError ends deliveries of a webhook that was suspended.
const suspendedError = "the webhook was suspended"

// failPending ends what a webhook that was suspended has not delivered. It can be
// replayed.
func failPending(ctx context.Context, tx *storage.Tx, webhookID int64) error {
	_, err := tx.ExecContext(ctx, `update webhook_deliveries set status = 'failed', last_error = $2, finished_at = now()
		where webhook_id = $1 and status = 'pending'`, webhookID, suspendedError)
	return storage.Wrap(err, "end the deliveries of a webhook")
}

// retryNow makes what is pending due, and inserts the task.
func retryNow(ctx context.Context, tx *storage.Tx, w *Webhook) error {
	n, err := storage.Affected(tx.ExecContext(ctx, `update webhook_deliveries set next_at = now()
		where webhook_id = $1 and status = 'pending'`, w.ID))
	if err != nil || n == 0 {
		return err
	}
	return enqueue(ctx, tx, []*ledger.NewTask{newTask(w.OrganizationID, w.ID, false, 0)})
}

// ErrSuspended means that a suspended webhook gets nothing, and so no replay.
var ErrSuspended = fmt.Errorf("the webhook is suspended: make it active first: %w", storage.ErrConflict)

const againColumns = `status = 'pending', next_at = now(), expires_at = now() + make_interval(secs => $3::float8), finished_at = null`

// Replay makes a delivery that has ended due again. It keeps its id and its body, by
// which the receiver recognizes it. One that is pending is tried now.
func Replay(ctx context.Context, tx *storage.Tx, w account.Writer, webhookID int64, id uuid.UUID) (*Delivery, error) {
	hook, err := lockWebhook(ctx, tx, w, webhookID)
	if err != nil {
		return nil, err
	}
	if hook.Status != Active {
		return nil, ErrSuspended
	}
	var row Delivery
	err = tx.GetContext(ctx, &row, `update webhook_deliveries set `+againColumns+` where webhook_id = $1 and id = $2
		returning `+deliveryColumns, webhookID, id, Lifetime.Seconds())
	if err != nil {
		return nil, storage.Wrap(err, "replay webhook delivery "+id.String())
	}
	if err := closeCircuit(ctx, tx, hook); err != nil {
		return nil, err
	}
	return &row, audit(ctx, tx, w.Actor, hook, account.WebhookReplayed, map[string]any{"name": hook.Name, "delivery": id})
}

// closeCircuit lets a webhook that is put off be tried now: somebody asked for it.
func closeCircuit(ctx context.Context, tx *storage.Tx, w *Webhook) error {
	if _, err := tx.ExecContext(ctx, `update webhooks set retry_at = null where id = $1 and retry_at is not null`, w.ID); err != nil {
		return storage.Wrap(err, "end the pause of a webhook")
	}
	return enqueue(ctx, tx, []*ledger.NewTask{newTask(w.OrganizationID, w.ID, w.Failures > 0, 0)})
}

const countFailed = `
select count(*) from webhook_deliveries
where webhook_id = $1 and status = 'failed' and created_at >= $2 and created_at < $3`

// RequestReplay audits the replay of what failed in a range, and inserts the task that
// does it. The result is the number of those deliveries now.
func RequestReplay(ctx context.Context, tx *storage.Tx, w account.Writer, webhookID int64, from, to time.Time,
	task *ledger.NewTask) (int, error) {
	hook, err := lockWebhook(ctx, tx, w, webhookID)
	if err != nil {
		return 0, err
	}
	if hook.Status != Active {
		return 0, ErrSuspended
	}
	var n int
	if err := tx.GetContext(ctx, &n, countFailed, webhookID, from, to); err != nil {
		return 0, storage.Wrap(err, "count failed webhook deliveries")
	}
	if _, err := ledger.Insert(ctx, tx, task); err != nil {
		return 0, err
	}
	return n, audit(ctx, tx, w.Actor, hook, account.WebhookReplayed, map[string]any{"name": hook.Name,
		"from": from.UTC(), "to": to.UTC(), "deliveries": n})
}

const replayRange = `
update webhook_deliveries d set ` + againColumns + `
from (
	select id from webhook_deliveries
	where webhook_id = $1 and status = 'failed' and created_at >= $4 and created_at < $5
		and coalesce(finished_at, created_at) <= $6
	order by id limit $2
) failed
where d.id = failed.id`

// Range names failed deliveries of a webhook by when they were created, To excluded, and
// by when they ended.
type Range struct {
	WebhookID             int64
	From, To, EndedBefore time.Time
}

// ReplayFailed makes a step of the failed deliveries of a range due again, and returns
// their number: less than limit when it was the last step. ErrSuspended and
// storage.ErrNotFound are for a webhook that was suspended or deleted since.
func ReplayFailed(ctx context.Context, tx *storage.Tx, organizationID int64, r Range, limit int) (int64, error) {
	hook, err := lockWebhook(ctx, tx, account.Writer{OrganizationID: organizationID, AllTeams: true}, r.WebhookID)
	if err != nil {
		return 0, err
	}
	if hook.Status != Active {
		return 0, ErrSuspended
	}
	n, err := storage.Affected(tx.ExecContext(ctx, replayRange, r.WebhookID, limit, Lifetime.Seconds(), r.From, r.To, r.EndedBefore))
	if err != nil || n == 0 {
		return n, err
	}
	return n, closeCircuit(ctx, tx, hook)
}
