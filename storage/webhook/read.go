package webhook

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
)

// List reads a page of an organization's webhooks, oldest first, and their number.
func List(ctx context.Context, q storage.Querier, organizationID int64, p storage.Page) ([]Webhook, int, error) {
	rows, total := []Webhook{}, 0
	if err := q.GetContext(ctx, &total, `select count(*) from webhooks where organization_id = $1`, organizationID); err != nil {
		return nil, 0, storage.Wrap(err, "count webhooks")
	}
	err := q.SelectContext(ctx, &rows, `select `+columns+` from webhooks where organization_id = $1 order by id limit $2 offset $3`,
		organizationID, p.RowLimit(), p.RowOffset())
	return rows, total, storage.Wrap(err, "read webhooks")
}

// FailingWebhook is how a webhook stands whose newest attempt failed.
type FailingWebhook struct {
	ID              int64      `db:"id"`
	OrganizationID  int64      `db:"organization_id"`
	URL             string     `db:"url"`
	Status          Status     `db:"status"`
	SuspendedReason string     `db:"suspended_reason"`
	Failures        int        `db:"failures"`
	FailingSince    *time.Time `db:"failing_since"`
	RetryAt         *time.Time `db:"retry_at"`
	LastSuccessAt   *time.Time `db:"last_success_at"`
}

// Failing reads a page of the webhooks of all organizations whose newest attempt failed, the
// suspended ones of them too, oldest first, and their number. It is for operators; reads
// webhooks_failing.
func Failing(ctx context.Context, q storage.Querier, p storage.Page) ([]FailingWebhook, int, error) {
	rows, total := []FailingWebhook{}, 0
	if err := q.GetContext(ctx, &total, `select count(*) from webhooks where failures > 0`); err != nil {
		return nil, 0, storage.Wrap(err, "count failing webhooks")
	}
	err := q.SelectContext(ctx, &rows,
		`select id, organization_id, url, status, suspended_reason, failures, failing_since, retry_at, last_success_at
		from webhooks where failures > 0 order by id limit $1 offset $2`, p.RowLimit(), p.RowOffset())
	return rows, total, storage.Wrap(err, "read failing webhooks")
}

// ByID reads a webhook of the organization.
func ByID(ctx context.Context, q storage.Querier, organizationID, id int64) (*Webhook, error) {
	var row Webhook
	err := q.GetContext(ctx, &row, `select `+columns+` from webhooks where organization_id = $1 and id = $2`, organizationID, id)
	if err != nil {
		return nil, storage.Wrap(err, fmt.Sprintf("webhook %d", id))
	}
	return &row, nil
}

// DeliveryStatus is what became of a delivery.
type DeliveryStatus string

// The states of a delivery. Failed ends it until somebody replays it.
const (
	Pending   DeliveryStatus = "pending"
	Delivered DeliveryStatus = "delivered"
	Failed    DeliveryStatus = "failed"
)

// Delivery is an event for a webhook.
type Delivery struct {
	ID            uuid.UUID      `db:"id"`
	WebhookID     int64          `db:"webhook_id"`
	EventID       *uuid.UUID     `db:"event_id"`
	Action        Action         `db:"action"`
	Status        DeliveryStatus `db:"status"`
	Body          *string        `db:"body"` // nil: no attempt was made yet
	ContentType   string         `db:"content_type"`
	Attempts      int            `db:"attempts"`
	NextAt        time.Time      `db:"next_at"`
	ExpiresAt     time.Time      `db:"expires_at"`
	LastStatus    *int           `db:"last_status"`
	LastError     string         `db:"last_error"`
	LastAttemptAt *time.Time     `db:"last_attempt_at"`
	CreatedAt     time.Time      `db:"created_at"`
	FinishedAt    *time.Time     `db:"finished_at"`
}

const deliveryColumns = `id, webhook_id, event_id, action, status, body, content_type, attempts, next_at, expires_at, last_status,
	last_error, last_attempt_at, created_at, finished_at`

// DeliveryFilter selects deliveries of a webhook; zero values select all.
type DeliveryFilter struct {
	Status   DeliveryStatus
	Action   Action
	From, To time.Time // of creation; To is exclusive
}

// countedDeliveries bounds what is counted for a page.
const countedDeliveries = 10_000

const deliveryRows = `
from webhook_deliveries
where webhook_id = $1 and ($2 = '' or status = $2) and ($3 = '' or action = $3)
	and ($4::timestamptz is null or created_at >= $4) and ($5::timestamptz is null or created_at < $5)`

func (f DeliveryFilter) args(webhookID int64) []any {
	return []any{webhookID, string(f.Status), string(f.Action), nullTime(f.From), nullTime(f.To)}
}

func nullTime(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t
}

// Deliveries reads a page of a webhook's deliveries, newest first, and their number;
// exact is false when counting stopped.
func Deliveries(ctx context.Context, q storage.Querier, webhookID int64, f DeliveryFilter, p storage.Page) (rows []Delivery,
	total int, exact bool, err error) {
	args := f.args(webhookID)
	err = q.GetContext(ctx, &total, `select count(*) from (select 1 `+deliveryRows+` limit $6) counted`, append(args, countedDeliveries+1)...)
	if err != nil {
		return nil, 0, false, storage.Wrap(err, "count webhook deliveries")
	}
	rows = []Delivery{}
	err = q.SelectContext(ctx, &rows, `select `+deliveryColumns+deliveryRows+` order by id desc limit $6 offset $7`,
		append(args, p.RowLimit(), p.RowOffset())...)
	return rows, min(total, countedDeliveries), total <= countedDeliveries, storage.Wrap(err, "read webhook deliveries")
}

// DeliveryByID reads a delivery of a webhook.
func DeliveryByID(ctx context.Context, q storage.Querier, webhookID int64, id uuid.UUID) (*Delivery, error) {
	var row Delivery
	err := q.GetContext(ctx, &row, `select `+deliveryColumns+` from webhook_deliveries where webhook_id = $1 and id = $2`, webhookID, id)
	if err != nil {
		return nil, storage.Wrap(err, "webhook delivery "+id.String())
	}
	return &row, nil
}

// Attempt is one request and what came back.
type Attempt struct {
	Number     int       `db:"number"`
	At         time.Time `db:"at"`
	DurationMS int       `db:"duration_ms"`
	Status     *int      `db:"status"`
	Response   string    `db:"response"`
	Error      string    `db:"error"`
}

// Attempts reads the attempts of a delivery, oldest first.
func Attempts(ctx context.Context, q storage.Querier, delivery uuid.UUID) ([]Attempt, error) {
	rows := []Attempt{}
	err := q.SelectContext(ctx, &rows, `select number, at, duration_ms, status, response, error from webhook_attempts
		where delivery_id = $1 order by number limit $2`, delivery, storage.MaxPage)
	return rows, storage.Wrap(err, "read webhook attempts")
}
