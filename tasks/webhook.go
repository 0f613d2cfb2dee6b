package tasks

import (
	"errors"
	"time"

	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/storage/webhook"
)

// The queues of deliveries to webhooks. Their slots wait for answers of others and cost
// next to nothing, so that there can be many.
const (
	Webhook = webhook.Queue
	// WebhookSlow is for webhooks whose last attempt failed: those that hang occupy slots
	// of their own.
	WebhookSlow = webhook.SlowQueue
)

// The kinds of webhooks.
var (
	// WebhookDeliver sends what is due to one webhook, for some seconds; package
	// storage/webhook inserts it. What is left gets a task of its own, and so does what
	// failed, when it is due again: an attempt of the task fails only with the database.
	WebhookDeliver = Kind{
		Name: webhook.TaskKind, Queue: Webhook, Timeout: time.Minute,
		MaxAttempts: webhook.TaskAttempts, Backoff: time.Second, MaxBackoff: time.Minute,
		Retry: GrantOperator, Cancel: GrantOperator, KeepSucceeded: time.Hour,
	}
	// WebhookReplay makes the failed deliveries of a range due again, some thousand in a
	// step.
	WebhookReplay = Kind{
		Name: "webhook:replay", Queue: Default, Timeout: 5 * time.Minute,
		MaxAttempts: 10, Backoff: time.Second, MaxBackoff: time.Minute,
		Retry: GrantAdmin, Cancel: GrantAdmin, KeepSucceeded: 24 * time.Hour,
	}
	// WebhookMaintenance ends deliveries whose time is over, deletes old ones, and
	// inserts a task where one was lost by hand.
	WebhookMaintenance = maintenance("webhook:maintenance", time.Minute, 5*time.Minute)
)

// WebhookDeliverPayload names a webhook.
type WebhookDeliverPayload struct {
	WebhookID int64 `json:"webhook_id"`
}

// Validate refuses a payload without a webhook.
func (p WebhookDeliverPayload) Validate() error {
	if p.WebhookID <= 0 {
		return errors.New("webhook_id is missing")
	}
	return nil
}

// WebhookReplayPayload names the failed deliveries of a webhook that were created in a
// range of time.
type WebhookReplayPayload struct {
	WebhookID int64     `json:"webhook_id"`
	From      time.Time `json:"from"`
	To        time.Time `json:"to"` // exclusive
}

// Validate refuses a payload without a webhook or a range.
func (p WebhookReplayPayload) Validate() error {
	if p.WebhookID <= 0 || !p.From.Before(p.To) {
		return errors.New("webhook_id, from and to are required")
	}
	return nil
}

// NewWebhookReplay returns the task.
func NewWebhookReplay(organization int64, requestID string, p WebhookReplayPayload) *ledger.NewTask {
	return WebhookReplay.new(organization, requestID, p)
}
