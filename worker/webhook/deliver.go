// Package webhook delivers events to webhooks.
//
// One task of a webhook is open at a time. It sends what is due, several requests at once
// to an address that answers well and one to an address that fails, until nothing is due
// or its time is over; what is left then gets a new task, behind those of others. What
// fails is due again later, by storage/webhook.
//
// A slot that waits for an answer holds no connection to the database, so that there can
// be many. An address that does not answer still occupies one for ten seconds. So
// webhooks whose last attempt failed are delivered by a queue of their own, and while most
// slots of the first queue are taken, a request there that was not answered within a
// second gives its slot up: it counts as failed, and its next attempt has its full time.
//
// A request whose outcome was not recorded, because the worker was killed, is made again
// with the same id: a receiver may see an event twice, and never misses one. When the
// database is away the task fails and is tried again.
package webhook

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/seal"
	"github.com/slipway-qa/slipway/storage/webhook"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/tasks/link"
	"github.com/slipway-qa/slipway/tasks/webhookcall"
	"github.com/slipway-qa/slipway/worker"
)

const (
	// batch is how many deliveries are read, sent and recorded together.
	batch = 64
	// parallel is how many requests an address that answers well gets at once.
	parallel = 8
	// turn is how long a task takes further batches.
	turn = 5 * time.Second
	// answerTime is how soon an address must answer to keep its slot while slots are
	// scarce, which is looked at again every crowdedEvery.
	answerTime   = time.Second
	crowdedEvery = 200 * time.Millisecond
)

// Caller makes requests; *webhookcall.Sender does.
type Caller interface {
	Send(ctx context.Context, r webhookcall.Request) webhookcall.Result
}

// Notify writes the mail about a webhook that was suspended.
type Notify func(ctx context.Context, tx *storage.Tx, w *webhook.Webhook, reason string) error

// Deliver is the handler of webhook:deliver.
type Deliver struct {
	DB     *storage.DB
	Caller Caller
	Keys   seal.Ring // that secrets are sealed with
	// Slots is the number of slots of this process that serve the queue; 0: slots are
	// never scarce.
	Slots  int
	Notify Notify // nil: nobody is told
	Links  link.Links
	Now    func() time.Time
	Log    *slog.Logger

	occupied atomic.Int64 // slots
}

// Handle sends what is due to one webhook.
func (h *Deliver) Handle(ctx context.Context, claim *worker.Claim) error {
	payload, err := worker.Payload[tasks.WebhookDeliverPayload](claim.Tasks[0])
	if err != nil {
		return err
	}
	scarce := claim.Tasks[0].Queue == tasks.Webhook
	if scarce {
		h.occupied.Add(1)
		defer h.occupied.Add(-1)
	}
	for end := h.now().Add(turn); h.now().Before(end); {
		more, err := h.round(ctx, claim, payload.WebhookID, scarce)
		if err != nil {
			return err
		}
		if !more {
			break
		}
	}
	return claim.FinishAfter(ctx, nil, func(tx *storage.Tx) (func() error, error) {
		return webhook.Continue(ctx, tx, payload.WebhookID)
	})
}

func (h *Deliver) now() time.Time {
	if h.Now == nil {
		return time.Now()
	}
	return h.Now()
}

// round sends and records a batch; false when nothing is due.
func (h *Deliver) round(ctx context.Context, claim *worker.Claim, webhookID int64, scarce bool) (more bool, err error) {
	work, err := webhook.Load(ctx, h.DB, webhookID, h.now(), batch)
	if errors.Is(err, storage.ErrNotFound) {
		return false, nil
	}
	if err != nil || len(work.Due) == 0 {
		return false, err
	}
	secrets, err := webhookcall.Secrets(h.Keys, work.Webhook, h.now())
	if err != nil {
		return false, err
	}
	sent := &sending{Deliver: h, hook: work.Webhook, secrets: secrets, scarce: scarce}
	sent.all(ctx, work.Due)
	if err := h.record(ctx, claim, work.Webhook, sent.outcomes); err != nil {
		return false, err
	}
	return true, context.Cause(ctx)
}

// recordTime bounds the recording of what was sent when the worker stops.
const recordTime = 3 * time.Second

// record stores outcomes, and suspends the webhook where they are reason for it. What was
// sent is recorded also when the context has ended.
func (h *Deliver) record(ctx context.Context, claim *worker.Claim, w *webhook.Webhook, outcomes []webhook.Outcome) error {
	if len(outcomes) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTime)
	defer cancel()
	return claim.Checkpoint(ctx, func(tx *storage.Tx) error {
		reason, err := webhook.Record(ctx, tx, w, outcomes)
		if err != nil || reason == "" {
			return err
		}
		suspended, err := webhook.Suspend(ctx, tx, w, reason)
		if err != nil || !suspended {
			return err
		}
		h.Log.InfoContext(ctx, "webhook suspended", "webhook_id", w.ID, "reason", reason)
		if h.Notify == nil {
			return nil
		}
		return h.Notify(ctx, tx, w, reason)
	})
}

// sending is the sending of one batch.
type sending struct {
	*Deliver
	hook    *webhook.Webhook
	secrets []string
	scarce  bool

	mu       sync.Mutex
	outcomes []webhook.Outcome // in the order in which they ended
	failed   bool
}

// all sends deliveries, several at once, and begins no further one after a failure.
func (s *sending) all(ctx context.Context, list []webhook.Due) {
	queue := make(chan *webhook.Due)
	var wg sync.WaitGroup
	for range min(parallel, len(list)) {
		wg.Go(func() {
			for d := range queue {
				s.send(ctx, d)
			}
		})
	}
	for i := range list {
		if s.stopped() || ctx.Err() != nil {
			break
		}
		queue <- &list[i]
	}
	close(queue)
	wg.Wait()
}

func (s *sending) stopped() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failed
}

// send makes one request and adds its outcome; none when the task's time is over.
func (s *sending) send(ctx context.Context, d *webhook.Due) {
	body, kind, err := bodyOf(d, s.hook.URL, s.Links)
	o := webhook.Outcome{Delivery: d.ID, Body: body, ContentType: kind, Number: d.Attempts + 1, At: s.now()}
	if err != nil {
		o.Error, o.Expired = "the body cannot be made", true
		s.Log.ErrorContext(ctx, "body of a webhook delivery", "delivery_id", d.ID, "error", err)
		s.add(o)
		return
	}
	request, stop := s.bounded(ctx)
	result := s.Caller.Send(request, webhookcall.Request{URL: s.hook.URL, ID: d.ID.String(), Secrets: s.secrets, Body: body,
		ContentType: kind, At: o.At})
	stop()
	if result.Error != "" && ctx.Err() != nil {
		return
	}
	o.Status, o.Response, o.Error, o.Duration = result.Status, result.Response, result.Error, result.Duration
	o.NoAnswer, o.RetryAfter = result.Status == 0, result.RetryAfter
	o.NextAt = webhook.NextAttempt(o.At.Add(o.Duration), d.ExpiresAt, o.RetryAfter)
	o.Expired = !o.NextAt.Before(d.ExpiresAt)
	s.add(o)
}

func (s *sending) add(o webhook.Outcome) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.outcomes = append(s.outcomes, o)
	s.failed = s.failed || o.Error != ""
}

// bodyOf is the body that the first attempt sent, else a new one.
func bodyOf(d *webhook.Due, address string, links link.Links) (body, contentType string, err error) {
	if d.Body != nil {
		return *d.Body, d.ContentType, nil
	}
	body, err = webhookcall.Body(d, address, links)
	return body, webhookcall.TypeJSON, err
}

// errCrowded ends a request that gives its slot up.
var errCrowded = fmt.Errorf("no answer within %s, while many receivers were slow", answerTime)

// bounded returns the context of a request, which ends when the request has no answer in
// time and slots are scarce.
func (s *sending) bounded(ctx context.Context) (request context.Context, stop func()) {
	request, cancel := context.WithCancelCause(ctx)
	if !s.scarce || s.Slots == 0 {
		return request, func() { cancel(nil) }
	}
	done := make(chan struct{})
	go func() {
		timer := time.NewTimer(answerTime)
		defer timer.Stop()
		for {
			select {
			case <-done:
				return
			case <-timer.C:
				if s.crowded() {
					cancel(errCrowded)
					return
				}
				timer.Reset(crowdedEvery)
			}
		}
	}()
	return request, func() {
		close(done)
		cancel(nil)
	}
}

// crowded reports whether a quarter of the slots or less is left.
func (h *Deliver) crowded() bool { return 4*h.occupied.Load() >= 3*int64(h.Slots) }
