package webhook

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/body"
	"github.com/slipway-qa/slipway/api/pagination"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/webhook"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/tasks/link"
	"github.com/slipway-qa/slipway/tasks/webhookcall"
)

// deliveries are the handlers of the log.
type deliveries struct{ *Handlers }

// deliveryView is a delivery as the list shows it.
type deliveryView struct {
	ID            uuid.UUID              `json:"id"`
	Event         webhook.Action         `json:"event"`
	Status        webhook.DeliveryStatus `json:"status"`
	Attempts      int                    `json:"attempts"`
	LastStatus    *int                   `json:"last_status"`
	LastError     string                 `json:"last_error"`
	LastAttemptAt *time.Time             `json:"last_attempt_at"`
	NextAttemptAt *time.Time             `json:"next_attempt_at"` // of a pending one
	ExpiresAt     time.Time              `json:"expires_at"`
	CreatedAt     time.Time              `json:"created_at"`
	FinishedAt    *time.Time             `json:"finished_at"`
}

func deliveryViewOf(d *webhook.Delivery) deliveryView {
	v := deliveryView{ID: d.ID, Event: d.Action, Status: d.Status, Attempts: d.Attempts, LastStatus: d.LastStatus, LastError: d.LastError,
		LastAttemptAt: d.LastAttemptAt, ExpiresAt: d.ExpiresAt, CreatedAt: d.CreatedAt, FinishedAt: d.FinishedAt}
	if d.Status == webhook.Pending {
		v.NextAttemptAt = &d.NextAt
	}
	return v
}

// attemptView is one request and what came back.
type attemptView struct {
	Number     int       `json:"number"`
	At         time.Time `json:"at"`
	DurationMS int       `json:"duration_ms"`
	Status     *int      `json:"status"`
	Response   string    `json:"response"` // the first 2 KiB
	Error      string    `json:"error"`
}

// requestView is what the last attempt sent, without the signature.
type requestView struct {
	Method  string            `json:"method"`
	URL     string            `json:"url"`
	Headers map[string]string `json:"headers"`
	Body    any               `json:"body"` // JSON; null before the first attempt
}

// detailView is a delivery with its request and all attempts.
type detailView struct {
	deliveryView
	Request    *requestView  `json:"request"`
	AttemptLog []attemptView `json:"attempt_log"`
}

// managed reads the webhook that the path names, for those who may change it.
func (h deliveries) managed(c *gin.Context) (*webhook.Webhook, error) {
	w, err := h.find(c)
	if err != nil {
		return nil, err
	}
	return w, problem(webhook.CheckManager(c.Request.Context(), h.cfg.DB, auth.Writer(c), w))
}

// list serves GET /api/v3/webhooks/{id}/deliveries, newest first. Parameters: status,
// event, from, to, page, per_page.
func (h deliveries) list(c *gin.Context) error {
	w, err := h.managed(c)
	if err != nil {
		return err
	}
	q := c.Request.URL.Query()
	at, err := pagination.Parse(q, pagination.Small())
	if err != nil {
		return err
	}
	f := webhook.DeliveryFilter{Status: webhook.DeliveryStatus(q.Get("status")), Action: webhook.Action(q.Get("event"))}
	switch f.Status {
	case "", webhook.Pending, webhook.Delivered, webhook.Failed:
	default:
		return storage.Invalid("status", "must be %s, %s or %s", webhook.Pending, webhook.Delivered, webhook.Failed)
	}
	if _, ok := webhook.ParseAction(string(f.Action)); !ok && f.Action != "" && f.Action != webhook.Test {
		return storage.Invalid("event", "is no action")
	}
	if f.From, f.To, err = pagination.Range(q, "from", "to"); err != nil {
		return err
	}
	rows, total, exact, err := webhook.Deliveries(c.Request.Context(), h.cfg.DB, w.ID, f, at.Rows())
	if err != nil {
		return err
	}
	views := make([]deliveryView, 0, len(rows))
	for i := range rows {
		views = append(views, deliveryViewOf(&rows[i]))
	}
	page := at.Envelope(total)
	if !exact {
		page = at.AtLeast(total, len(rows) == at.PerPage)
	}
	return respond.JSON(c, http.StatusOK, gin.H{"deliveries": views, "pagination": page})
}

// deliveryID reads the id of a delivery; what is none names nothing.
func deliveryID(c *gin.Context) (uuid.UUID, error) {
	id, err := uuid.Parse(c.Param("delivery"))
	if err != nil {
		return uuid.Nil, storage.ErrNotFound
	}
	return id, nil
}

// get serves GET /api/v3/webhooks/{id}/deliveries/{delivery}.
func (h deliveries) get(c *gin.Context) error {
	w, err := h.managed(c)
	if err != nil {
		return err
	}
	id, err := deliveryID(c)
	if err != nil {
		return err
	}
	d, err := webhook.DeliveryByID(c.Request.Context(), h.cfg.DB, w.ID, id)
	if err != nil {
		return err
	}
	return h.showDetail(c, http.StatusOK, w, d)
}

// showDetail answers with a delivery, its request and its attempts.
func (h *Handlers) showDetail(c *gin.Context, status int, w *webhook.Webhook, d *webhook.Delivery) error {
	attempts, err := webhook.Attempts(c.Request.Context(), h.cfg.DB, d.ID)
	if err != nil {
		return err
	}
	detail := detailView{deliveryView: deliveryViewOf(d), AttemptLog: make([]attemptView, 0, len(attempts))}
	for _, a := range attempts {
		detail.AttemptLog = append(detail.AttemptLog, attemptView(a))
	}
	if d.Body != nil && d.LastAttemptAt != nil {
		detail.Request = &requestView{Method: http.MethodPost, URL: w.URL, Body: json.RawMessage(*d.Body), Headers: map[string]string{
			"Content-Type": d.ContentType, "User-Agent": webhookcall.UserAgent, webhookcall.HeaderID: d.ID.String(),
			webhookcall.HeaderTimestamp: strconv.FormatInt(d.LastAttemptAt.Unix(), 10)}}
	}
	return respond.JSON(c, status, gin.H{"delivery": detail})
}

// replay serves POST /api/v3/webhooks/{id}/deliveries/{delivery}/replay: the delivery is
// pending again, whatever became of it.
func (h deliveries) replay(c *gin.Context) error {
	id, err := deliveryID(c)
	if err != nil {
		return err
	}
	var d *webhook.Delivery
	err = h.change(c, func(ctx context.Context, tx *storage.Tx, w account.Writer, hook int64) (err error) {
		d, err = webhook.Replay(ctx, tx, w, hook, id)
		return err
	})
	if err != nil {
		return err
	}
	return respond.JSON(c, http.StatusAccepted, gin.H{"delivery": deliveryViewOf(d)})
}

// replayRequest is a range of time.
type replayRequest struct {
	From string `json:"from"` // required
	To   string `json:"to"`   // default: now
}

// replayRange serves POST /api/v3/webhooks/{id}/replay: a task makes all deliveries due
// again that were created in the range and failed.
func (h deliveries) replayRange(c *gin.Context) error {
	var req replayRequest
	if err := body.Read(c, &req); err != nil {
		return err
	}
	if req.From == "" {
		return storage.Invalid("from", "is required")
	}
	from, to, err := pagination.Range(map[string][]string{"from": {req.From}, "to": {req.To}}, "from", "to")
	if err != nil {
		return err
	}
	if to.IsZero() {
		to = h.cfg.Now()
	}
	if !from.Before(to) {
		return storage.Invalid("from", "must be before to")
	}
	id, err := pagination.ID(c.Param("id"))
	if err != nil {
		return err
	}
	task := tasks.NewWebhookReplay(auth.Organization(c), respond.RequestID(c.Request.Context()),
		tasks.WebhookReplayPayload{WebhookID: id, From: from, To: to})
	h.cfg.Queue.Reserve(task)
	var n int
	err = h.change(c, func(ctx context.Context, tx *storage.Tx, w account.Writer, id int64) (err error) {
		tx.AfterCommit(func() { h.cfg.Queue.Deliver(task) })
		n, err = webhook.RequestReplay(ctx, tx, w, id, from, to, task)
		return err
	})
	if err != nil {
		return err
	}
	return respond.JSON(c, http.StatusAccepted, gin.H{"status": "queued", "deliveries": n, "task_id": task.ID})
}

// test serves POST /api/v3/webhooks/{id}/test: a delivery is made now, whether or not the
// webhook is active, and the answer says what came of it. It is made once.
func (h *Handlers) test(c *gin.Context) error {
	hook, err := h.find(c)
	if err != nil {
		return err
	}
	ctx := c.Request.Context()
	err = h.change(c, func(ctx context.Context, tx *storage.Tx, w account.Writer, id int64) error {
		return webhook.AuditTest(ctx, tx, w, id)
	})
	if err != nil {
		return err
	}
	select {
	case h.tests <- struct{}{}:
		defer func() { <-h.tests }()
	default:
		return &respond.Problem{Status: http.StatusTooManyRequests, Text: "too many test deliveries are under way",
			RetryAfter: webhookcall.Timeout}
	}
	outcome, err := h.sendTest(ctx, hook)
	if err != nil {
		return problem(err)
	}
	// The request was made: its record stays, also when the caller has gone.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTime)
	defer cancel()
	var d *webhook.Delivery
	err = h.cfg.DB.InTx(ctx, func(tx *storage.Tx) (err error) {
		d, err = webhook.RecordTest(ctx, tx, hook, outcome)
		return err
	})
	if err != nil {
		return err
	}
	return h.showDetail(c, http.StatusOK, hook, d)
}

// recordTime bounds the recording of a test delivery.
const recordTime = 5 * time.Second

// sendTest makes the request of a test delivery.
func (h *Handlers) sendTest(ctx context.Context, hook *webhook.Webhook) (*webhook.Outcome, error) {
	now := h.cfg.Now()
	secrets, err := webhookcall.Secrets(h.cfg.SealKeys, hook, now)
	if err != nil {
		return nil, err
	}
	due, err := webhookcall.NewTest(hook, now)
	if err != nil {
		return nil, err
	}
	text, err := webhookcall.Body(due, hook.URL, link.Links{})
	if err != nil {
		return nil, err
	}
	o := &webhook.Outcome{Delivery: storage.NewID(), Body: text, ContentType: webhookcall.TypeJSON, Number: 1, At: now, Expired: true}
	r := h.cfg.Caller.Send(ctx, webhookcall.Request{URL: hook.URL, ID: o.Delivery.String(), Secrets: secrets, Body: text,
		ContentType: o.ContentType, At: now})
	o.Status, o.Response, o.Error, o.Duration = r.Status, r.Response, r.Error, r.Duration
	return o, nil
}
