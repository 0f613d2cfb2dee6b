package webhook_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/webhook"
)

// Somebody suspends a webhook while a worker records what came of its deliveries: one
// waits for the other, and neither is broken off by a deadlock.
func TestOutcomesWaitForAChange(t *testing.T) {
	t.Parallel()
	f := fixture.New(t)
	ctx := fixture.Context(t)
	made := hook(f, f.Org, nil, "run")
	emit(f, webhook.Event{OrganizationID: f.Org.ID, Action: webhook.Run})
	work, err := webhook.Load(ctx, f.DB, made.ID, time.Now().Add(time.Minute), 10)
	require.NoError(t, err)
	require.Len(t, work.Due, 1)
	failure := webhook.Outcome{Delivery: work.Due[0].ID, Body: "{}", Number: 1, At: time.Now(), Status: 500,
		Error: "the receiver answered 500", NextAt: time.Now()}
	recorded := make(chan error, 1)
	f.Must(func(_ context.Context, tx *storage.Tx) error {
		if _, err := tx.ExecContext(ctx, `select 1 from webhooks where id = $1 for update`, made.ID); err != nil {
			return err
		}
		go func() {
			recorded <- f.DB.InTx(ctx, func(tx *storage.Tx) error {
				_, err := webhook.Record(ctx, tx, work.Webhook, []webhook.Outcome{failure})
				return err
			})
		}()
		require.Eventually(t, func() bool {
			var waiting bool
			err := f.DB.GetContext(ctx, &waiting, `select exists (select from pg_stat_activity
				where datname = current_database() and wait_event_type = 'Lock' and query like '%update webhooks%')`)
			return err == nil && waiting
		}, time.Minute, 10*time.Millisecond)
		status := webhook.Suspended
		_, err := webhook.Update(ctx, tx, f.Org.Owner.Writer, webhook.V3(), made.ID, webhook.Change{Status: &status})
		return err
	})
	require.NoError(t, <-recorded)
	after, err := webhook.ByID(ctx, f.DB, f.Org.ID, made.ID)
	require.NoError(t, err)
	require.Equal(t, webhook.Suspended, after.Status)
	require.Zero(t, after.Failures, "what was sent before says nothing about the webhook after it")
	require.Equal(t, 1, f.Count(`select count(*) from webhook_deliveries
		where status = 'failed' and last_error = 'the webhook was suspended'`))
}
