package webhook

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/ledger"
)

// Due is a delivery that is to be sent, with the event that its body is made from.
type Due struct {
	ID          uuid.UUID `db:"id"`
	Action      Action    `db:"action"`
	Body        *string   `db:"body"` // nil: to be made
	ContentType string    `db:"content_type"`
	Attempts    int       `db:"attempts"`
	ExpiresAt   time.Time `db:"expires_at"`
	CreatedAt   time.Time `db:"created_at"`
	// Of the event; zero for a test, which has its body.
	Data       []byte    `db:"data"`
	HappenedAt time.Time `db:"happened_at"`
	AppName    string    `db:"app_name"`
	Version    string    `db:"version"`
	Build      string    `db:"build"`
	Platform   string    `db:"platform"`
	BuildID    int64     `db:"build_id"`
}

// Work is what a task works on.
type Work struct {
	Webhook *Webhook
	Due     []Due
}

// Single reports whether the webhook gets one request at a time: its last attempt failed.
func (w *Webhook) Single() bool { return w.Failures > 0 }

const dueRows = `
select d.id, d.action, d.body, d.content_type, d.attempts, d.expires_at, d.created_at,
	coalesce(e.body, '{}') as data, coalesce(e.happened_at, e.created_at, d.created_at) as happened_at,
	coalesce(e.app_name, '') as app_name, coalesce(e.version, '') as version, coalesce(e.build, '') as build,
	coalesce(e.platform, '') as platform, coalesce(e.build_id, 0) as build_id
from (
	select * from webhook_deliveries where webhook_id = $1 and status = 'pending' and next_at <= $2
	order by next_at limit $3
) d
left join events e on e.id = d.event_id
order by d.next_at, d.id`

// Load reads an active webhook that is not put off, with what is due of it, at most limit
// deliveries, or one while it fails. storage.ErrNotFound when the webhook is gone,
// suspended or put off.
func Load(ctx context.Context, q storage.Querier, webhookID int64, now time.Time, limit int) (*Work, error) {
	var row Webhook
	err := q.GetContext(ctx, &row, `select `+columns+` from webhooks
		where id = $1 and status = 'active' and (retry_at is null or retry_at <= $2)`, webhookID, now)
	if err != nil {
		return nil, storage.Wrap(err, "webhook to deliver to")
	}
	if row.Single() {
		limit = 1
	}
	w := &Work{Webhook: &row}
	err = q.SelectContext(ctx, &w.Due, dueRows, webhookID, now, limit)
	return w, storage.Wrap(err, "due webhook deliveries")
}

// Outcome is what came of one attempt.
type Outcome struct {
	Delivery    uuid.UUID
	Body        string
	ContentType string
	Number      int // of the attempt
	At          time.Time
	Duration    time.Duration
	Status      int    // 0: no answer
	Response    string // the beginning of the answer's body, as UTF-8 text
	Error       string // "" when it was delivered
	// NoAnswer: the address did not answer in time or could not be reached, so that it is
	// put off as a whole.
	NoAnswer   bool
	RetryAfter time.Duration // that the answer asked for; 0: nothing
	Expired    bool          // no further attempt is made
	NextAt     time.Time     // of the delivery's next attempt
}

func (o *Outcome) delivered() bool { return o.Error == "" }

const recordDeliveries = `
update webhook_deliveries d set
	status = case when n.error = '' then 'delivered' when n.expired then 'failed' else 'pending' end,
	body = coalesce(d.body, n.body), content_type = case when d.body is null then n.content_type else d.content_type end,
	attempts = n.number, next_at = n.next_at, last_status = nullif(n.status, 0), last_error = n.error,
	last_attempt_at = n.at, finished_at = case when n.error = '' or n.expired then now() end
from unnest($1::uuid[], $2::text[], $3::text[], $4::int[], $5::timestamptz[], $6::int[], $7::text[], $8::boolean[], $9::timestamptz[])
	as n(id, body, content_type, number, at, status, error, expired, next_at)
where d.id = n.id and d.status = 'pending'`

const recordAttempts = `
insert into webhook_attempts (delivery_id, number, at, duration_ms, status, response, error)
select n.id, n.number, n.at, n.duration, nullif(n.status, 0), n.response, n.error
from unnest($1::uuid[], $2::int[], $3::timestamptz[], $4::int[], $5::int[], $6::text[], $7::text[])
	as n(id, number, at, duration, status, response, error)
join webhook_deliveries d on d.id = n.id
on conflict (delivery_id, number) do nothing`

const recordWebhook = `
update webhooks set failures = $3, failing_since = $4, retry_at = $5, last_success_at = coalesce($6, last_success_at)
where id = $1 and version = $2`

// Record stores the outcomes of attempts, in the order in which they ended, and what they
// say about the webhook, in the transaction that checks the task's claim. The webhook's row
// is locked before its deliveries, as by who changes it. The result is the reason for which
// the webhook must be suspended (Suspend); "": it need not.
func Record(ctx context.Context, tx *storage.Tx, w *Webhook, outcomes []Outcome) (suspend string, err error) {
	if len(outcomes) == 0 {
		return "", nil
	}
	h := w.health()
	var success time.Time
	for i := range outcomes {
		h.add(&outcomes[i])
		if outcomes[i].delivered() {
			success = outcomes[i].At
		}
	}
	// Without news it is not worth a write to a row that all events lock.
	if h != w.health() || w.LastSuccessAt == nil || success.Sub(*w.LastSuccessAt) >= successEvery {
		_, err = tx.ExecContext(ctx, recordWebhook, w.ID, w.Version, h.failures, nullTime(h.since), nullTime(h.retryAt), nullTime(success))
		if err != nil {
			return "", storage.Wrap(err, "record the state of a webhook")
		}
	}
	return h.suspend, recordOutcomes(ctx, tx, outcomes)
}

// successEvery is how exact last_success_at is.
const successEvery = time.Minute

// nextDelay has no row when nothing is pending: greatest leaves nulls out.
const nextDelay = `
select greatest(extract(epoch from greatest(first.at, $2) - clock_timestamp())::float8, 0)
from (select min(next_at) as at from webhook_deliveries where webhook_id = $1 and status = 'pending') first
where first.at is not null`

// Continue locks the webhook, which comes before the end of the task, and returns what
// then inserts the next task where deliveries are left.
func Continue(ctx context.Context, tx *storage.Tx, webhookID int64) (insertNext func() error, err error) {
	var rows []Webhook
	if err := tx.SelectContext(ctx, &rows, `select `+columns+` from webhooks where id = $1 for update`, webhookID); err != nil {
		return nil, storage.Wrap(err, "lock webhook")
	}
	if len(rows) == 0 || rows[0].Status != Active {
		return func() error { return nil }, nil
	}
	w := &rows[0]
	return func() error {
		var delays []float64
		err := tx.SelectContext(ctx, &delays, nextDelay, webhookID, w.RetryAt)
		if err != nil || len(delays) == 0 {
			return storage.Wrap(err, "find the next delivery of a webhook")
		}
		_, err = ledger.Insert(ctx, tx, newTask(w.OrganizationID, w.ID, w.Failures > 0, time.Duration(delays[0]*float64(time.Second))))
		return err
	}, nil
}
