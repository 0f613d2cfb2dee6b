package webhook

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
)

const (
	// firstDelay is the wait after the first failed attempt. It doubles with each further
	// one up to maxDelay: some twenty attempts in the lifetime of a delivery.
	firstDelay = 5 * time.Second
	maxDelay   = 2 * time.Hour
	// openAfter is the number of failures in a row after which a webhook is put off as a
	// whole, though it answers. Fewer may be about single events that it does not like.
	openAfter = 5
	// maxRetryAfter bounds the wait that an answer can ask for.
	maxRetryAfter = time.Hour
	// suspendAfter is how long a webhook may fail without a success.
	suspendAfter = 5 * 24 * time.Hour
	// quietGap is how long a webhook may have had nothing to deliver for two failures to
	// count as one time of failing: the event of one week and that of the next say nothing
	// about the days between them.
	quietGap = 2 * 24 * time.Hour
	// statusGone says that the address wants nothing any more.
	statusGone = 410
)

// The reasons of a suspension by the service.
const (
	reasonGone    = "the receiver answered 410 Gone"
	reasonFailing = "no delivery succeeded for five days"
)

// delay is the wait after so many failures of a webhook in a row: it doubles, give or take
// a fifth, so that what failed together does not come back together.
func delay(failures int) time.Duration {
	d := firstDelay
	for range min(failures, 30) - 1 {
		d = min(2*d, maxDelay)
	}
	return jitter(d)
}

func jitter(d time.Duration) time.Duration {
	return time.Duration(float64(d) * (0.8 + 0.4*rand.Float64()))
}

// NextAttempt is when a delivery is tried again after an attempt that failed and asked for
// a pause: as long as it has been tried already, which doubles the waits. The waits begin
// anew with a replay, as its time does.
func NextAttempt(ended, expires time.Time, asked time.Duration) time.Time {
	tried := ended.Sub(expires.Add(-Lifetime))
	return ended.Add(max(jitter(min(max(tried, firstDelay), maxDelay)), min(asked, maxRetryAfter)))
}

// health is what attempts say about a webhook.
type health struct {
	failures int
	since    time.Time // of the first failure since the last success
	retryAt  time.Time // no attempt is made before
	suspend  string    // the reason; "": none
}

func (w *Webhook) health() health {
	h := health{failures: w.Failures}
	if w.FailingSince != nil {
		h.since = *w.FailingSince
	}
	if w.RetryAt != nil {
		h.retryAt = *w.RetryAt
	}
	return h
}

// add counts an attempt.
func (h *health) add(o *Outcome) {
	ended := o.At.Add(o.Duration)
	if o.delivered() {
		*h = health{suspend: h.suspend}
		return
	}
	h.failures++
	if h.since.IsZero() || !h.retryAt.IsZero() && o.At.Sub(h.retryAt) > quietGap {
		h.since = o.At
	}
	switch {
	case o.RetryAfter > 0:
		h.retryAt = ended.Add(min(o.RetryAfter, maxRetryAfter))
	case o.NoAnswer, h.failures >= openAfter:
		h.retryAt = ended.Add(delay(h.failures))
	}
	switch {
	case o.Status == statusGone:
		h.suspend = reasonGone
	case ended.Sub(h.since) >= suspendAfter:
		h.suspend = reasonFailing
	}
}

// Suspend suspends a webhook for a reason of the service, and ends what it has not
// delivered. It is false, and nothing happens, when people have changed the webhook
// since it was read.
func Suspend(ctx context.Context, tx *storage.Tx, w *Webhook, reason string) (bool, error) {
	n, err := storage.Affected(tx.ExecContext(ctx, `update webhooks set status = 'suspended', suspended_at = now(), suspended_reason = $3,
		version = version + 1, updated_at = now() where id = $1 and version = $2 and status = 'active'`, w.ID, w.Version, reason))
	if err != nil || n == 0 {
		return false, err
	}
	if err := failPending(ctx, tx, w.ID); err != nil {
		return false, err
	}
	return true, audit(ctx, tx, account.Actor{Name: "webhooks"}, w, account.WebhookSuspended, map[string]any{"name": w.Name, "reason": reason})
}
