package webhook

import (
	"context"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
)

// AuditTest writes that somebody sends a test delivery, who must be one who may change
// the webhook.
func AuditTest(ctx context.Context, tx *storage.Tx, w account.Writer, id int64) error {
	hook, err := lockWebhook(ctx, tx, w, id)
	if err != nil {
		return err
	}
	return audit(ctx, tx, w.Actor, hook, account.WebhookTested, map[string]any{"name": hook.Name, "url": Redacted(hook.URL)})
}

const insertTest = `
insert into webhook_deliveries (id, webhook_id, organization_id, action, next_at, expires_at)
values ($1, $2, $3, $4, $5, $5)`

// RecordTest stores a test delivery, which says nothing about the webhook: somebody is
// still setting it up. storage.ErrConflict when the webhook was deleted meanwhile.
func RecordTest(ctx context.Context, tx *storage.Tx, w *Webhook, o *Outcome) (*Delivery, error) {
	if _, err := tx.ExecContext(ctx, insertTest, o.Delivery, w.ID, w.OrganizationID, Test, o.At); err != nil {
		return nil, storage.Wrap(err, "record test delivery")
	}
	if err := recordOutcomes(ctx, tx, []Outcome{*o}); err != nil {
		return nil, err
	}
	return DeliveryByID(ctx, tx, w.ID, o.Delivery)
}

// recordOutcomes stores what came of attempts.
func recordOutcomes(ctx context.Context, tx *storage.Tx, outcomes []Outcome) error {
	var ids, bodies, types, ats, errors, responses, nexts []string
	var numbers, statuses, durations []int64
	var expired []bool
	for i := range outcomes {
		o := &outcomes[i]
		ids, bodies, types = append(ids, o.Delivery.String()), append(bodies, o.Body), append(types, o.ContentType)
		ats, errors, responses = append(ats, instant(o.At)), append(errors, o.Error), append(responses, o.Response)
		numbers, statuses = append(numbers, int64(o.Number)), append(statuses, int64(o.Status))
		durations, expired, nexts = append(durations, o.Duration.Milliseconds()), append(expired, o.Expired), append(nexts, instant(o.NextAt))
	}
	_, err := tx.ExecContext(ctx, recordDeliveries, pq.Array(ids), pq.Array(bodies), pq.Array(types), pq.Array(numbers), pq.Array(ats),
		pq.Array(statuses), pq.Array(errors), pq.Array(expired), pq.Array(nexts))
	if err != nil {
		return storage.Wrap(err, "record webhook deliveries")
	}
	_, err = tx.ExecContext(ctx, recordAttempts, pq.Array(ids), pq.Array(numbers), pq.Array(ats), pq.Array(durations), pq.Array(statuses),
		pq.Array(responses), pq.Array(errors))
	return storage.Wrap(err, "record webhook attempts")
}
