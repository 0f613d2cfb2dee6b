package webhook

import (
	"cmp"
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/body"
	"github.com/slipway-qa/slipway/api/pagination"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/overview"
	"github.com/slipway-qa/slipway/storage/webhook"
	"github.com/slipway-qa/slipway/tasks/webhookcall"
)

// view is a webhook as version 3 shows it.
type view struct {
	ID              int64          `json:"id"`
	Name            string         `json:"name"`
	URL             string         `json:"url"`
	Status          webhook.Status `json:"status"`
	SuspendedReason string         `json:"suspended_reason"`
	SuspendedAt     *time.Time     `json:"suspended_at"`
	Actions         []string       `json:"actions"`
	ProjectIDs      []int64        `json:"project_ids"`
	Failures        int            `json:"failures"`
	FailingSince    *time.Time     `json:"failing_since"`
	RetryAt         *time.Time     `json:"retry_at"`
	LastSuccessAt   *time.Time     `json:"last_success_at"`
	SkippedEvents   int64          `json:"skipped_events"`
	SkippedAt       *time.Time     `json:"skipped_at"`
	FormerUntil     *time.Time     `json:"former_secret_until"`
	CreatedAt       time.Time      `json:"created_at"`
	UpdatedAt       time.Time      `json:"updated_at"`
}

func viewOf(w *webhook.Webhook) view {
	return view{ID: w.ID, Name: w.Name, URL: w.URL, Status: w.Status, SuspendedReason: w.SuspendedReason, SuspendedAt: w.SuspendedAt,
		Actions: append([]string{}, w.Actions...), ProjectIDs: append([]int64{}, w.ProjectIDs...), Failures: w.Failures,
		FailingSince: w.FailingSince, RetryAt: w.RetryAt, LastSuccessAt: w.LastSuccessAt, SkippedEvents: w.Skipped,
		SkippedAt: w.SkippedAt, FormerUntil: w.FormerUntil, CreatedAt: w.CreatedAt, UpdatedAt: w.UpdatedAt}
}

// list serves GET /api/v3/webhooks, oldest first. With failing=true it lists those that the
// overview counts, those that gave up the most first.
func (h *Handlers) list(c *gin.Context) error {
	at, err := pagination.Parse(c.Request.URL.Query(), pagination.Small())
	if err != nil {
		return err
	}
	failing, err := pagination.Only(c.Request.URL.Query(), "failing")
	if err != nil {
		return err
	}
	views, total, err := h.page(c, failing, at.Rows())
	if err != nil {
		return err
	}
	return respond.JSON(c, http.StatusOK, gin.H{"webhooks": views, "pagination": at.Envelope(total)})
}

func (h *Handlers) page(c *gin.Context, failing bool, p storage.Page) (views []view, total int, err error) {
	views = []view{}
	if failing {
		rows, total, err := webhook.ListFailing(c.Request.Context(), h.cfg.DB, auth.Organization(c), overview.At(h.cfg.Now()).Since, p)
		for i := range rows {
			views = append(views, viewOf(&rows[i].Webhook))
		}
		return views, total, err
	}
	rows, total, err := webhook.List(c.Request.Context(), h.cfg.DB, auth.Organization(c), p)
	for i := range rows {
		views = append(views, viewOf(&rows[i]))
	}
	return views, total, err
}

// get serves GET /api/v3/webhooks/{id}.
func (h *Handlers) get(c *gin.Context) error {
	w, err := h.find(c)
	if err != nil {
		return err
	}
	return respond.JSON(c, http.StatusOK, gin.H{"webhook": viewOf(w)})
}

// request is a webhook as it is created and changed.
type request struct {
	Name       *string   `json:"name"`
	URL        *string   `json:"url"`
	Status     *string   `json:"status"`
	Actions    body.List `json:"actions"`
	ProjectIDs body.List `json:"project_ids"` // also as numbers
	Secret     string    `json:"secret"`
}

func (r *request) change() (webhook.Change, error) {
	change := webhook.Change{Name: r.Name, URL: r.URL}
	if r.Status != nil {
		status := webhook.Status(*r.Status)
		change.Status = &status
	}
	if r.Actions != nil {
		actions := []string(r.Actions)
		change.Actions = &actions
	}
	var err error
	change.ProjectIDs, err = projectIDs("project_ids", r.ProjectIDs)
	return change, err
}

// projectIDs reads a list of ids; nil when it is absent.
func projectIDs(field string, list body.List) (*[]int64, error) {
	if list == nil {
		return nil, nil
	}
	ids := []int64{}
	for _, text := range list {
		id, err := strconv.ParseInt(text, 10, 64)
		if err != nil || id < 1 {
			return nil, storage.Invalid(field, "%q is no id of an app", storage.Cut(text, 40))
		}
		ids = append(ids, id)
	}
	return &ids, nil
}

// create serves POST /api/v3/webhooks: the answer is the webhook with its secret.
func (h *Handlers) create(c *gin.Context) error {
	active := string(webhook.Active)
	req := request{Status: &active}
	if err := body.Read(c, &req); err != nil {
		return err
	}
	change, err := req.change()
	if err != nil {
		return err
	}
	if req.Secret != "" {
		if err := webhookcall.CheckSecret("secret", req.Secret); err != nil {
			return err
		}
	}
	secret := cmp.Or(req.Secret, webhookcall.NewSecret())
	w, err := h.insert(c, webhook.V3(), change, secret)
	if err != nil {
		return err
	}
	respond.Private(c)
	return respond.JSON(c, http.StatusCreated, gin.H{"webhook": viewOf(w), "secret": secret})
}

// insert stores a webhook with a secret.
func (h *Handlers) insert(c *gin.Context, f webhook.Fields, change webhook.Change, secret string) (made *webhook.Webhook, err error) {
	ctx, writer := c.Request.Context(), auth.Writer(c)
	if err := h.checkURL(ctx, f.URL, change.URL); err != nil {
		return nil, err
	}
	sealed, err := h.seal(secret)
	if err != nil {
		return nil, err
	}
	err = h.cfg.DB.InTx(ctx, func(tx *storage.Tx) (err error) {
		made, err = webhook.Create(ctx, tx, writer, f, change, sealed)
		return err
	})
	return made, problem(err)
}

// update serves PUT /api/v3/webhooks/{id}: only the members that are sent are changed.
func (h *Handlers) update(c *gin.Context) error {
	var req request
	if err := body.Read(c, &req); err != nil {
		return err
	}
	change, err := req.change()
	if err != nil {
		return err
	}
	if req.Secret != "" {
		return storage.Invalid("secret", "is changed by POST /api/v3/webhooks/{id}/secret")
	}
	w, err := h.save(c, webhook.V3(), change)
	if err != nil {
		return err
	}
	return respond.JSON(c, http.StatusOK, gin.H{"webhook": viewOf(w)})
}

// save changes the webhook that the path names.
func (h *Handlers) save(c *gin.Context, f webhook.Fields, change webhook.Change) (after *webhook.Webhook, err error) {
	if _, err := h.find(c); err != nil { // before a look-up of its address
		return nil, err
	}
	if err := h.checkURL(c.Request.Context(), f.URL, change.URL); err != nil {
		return nil, err
	}
	err = h.change(c, func(ctx context.Context, tx *storage.Tx, w account.Writer, id int64) (err error) {
		after, err = webhook.Update(ctx, tx, w, f, id, change)
		return err
	})
	return after, err
}

func (h *Handlers) remove(c *gin.Context) error {
	return h.change(c, webhook.Delete)
}

// delete serves DELETE /api/v3/webhooks/{id}.
func (h *Handlers) delete(c *gin.Context) error {
	if err := h.remove(c); err != nil {
		return err
	}
	return respond.Empty(c, http.StatusNoContent)
}

const (
	// rotationHours is how long the former secret stays valid when the request does not
	// say; mostRotationHours bounds what it can say.
	rotationHours     = 24
	mostRotationHours = 7 * 24
)

// rotation is how a secret is changed.
type rotation struct {
	Secret string `json:"secret"`      // "": a random one
	Hours  *int64 `json:"valid_hours"` // of the former secret; 0 ends it now
}

// rotate serves POST /api/v3/webhooks/{id}/secret.
func (h *Handlers) rotate(c *gin.Context) error {
	var req rotation
	if err := body.Read(c, &req); err != nil {
		return err
	}
	hours := int64(rotationHours)
	if req.Hours != nil {
		hours = *req.Hours
	}
	if hours < 0 || hours > mostRotationHours {
		return storage.Invalid("valid_hours", "must be 0 to %d", mostRotationHours)
	}
	if req.Secret != "" {
		if err := webhookcall.CheckSecret("secret", req.Secret); err != nil {
			return err
		}
	}
	secret := cmp.Or(req.Secret, webhookcall.NewSecret())
	sealed, err := h.seal(secret)
	if err != nil {
		return err
	}
	var after *webhook.Webhook
	err = h.change(c, func(ctx context.Context, tx *storage.Tx, w account.Writer, id int64) (err error) {
		after, err = webhook.Rotate(ctx, tx, w, id, sealed, h.cfg.Now().Add(time.Duration(hours)*time.Hour))
		return err
	})
	if err != nil {
		return err
	}
	respond.Private(c)
	return respond.JSON(c, http.StatusOK, gin.H{"webhook": viewOf(after), "secret": secret})
}

// forget serves DELETE /api/v3/webhooks/{id}/secret: the former secret ends now.
func (h *Handlers) forget(c *gin.Context) error {
	if err := h.change(c, webhook.ForgetFormer); err != nil {
		return err
	}
	return respond.Empty(c, http.StatusNoContent)
}
