package webhook

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/body"
	"github.com/slipway-qa/slipway/api/pagination"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage/webhook"
	"github.com/slipway-qa/slipway/tasks/webhookcall"
)

// legacy are the handlers of version 1.
type legacy struct{ *Handlers }

// view1 is a webhook as version 1 shows it.
type view1 struct {
	ID         int64  `json:"id"`
	Status     string `json:"status"` // 1 or 0
	Name       string `json:"name"`
	URL        string `json:"url"`
	Actions    string `json:"actions"`
	ProjectIDs string `json:"projectIds"`
}

func view1Of(w *webhook.Webhook) view1 {
	v := view1{ID: w.ID, Status: "0", Name: w.Name, URL: w.URL, Actions: strings.Join(w.Actions, ",")}
	if w.Status == webhook.Active {
		v.Status = "1"
	}
	var ids []string
	for _, id := range w.ProjectIDs {
		ids = append(ids, strconv.FormatInt(id, 10))
	}
	v.ProjectIDs = strings.Join(ids, ",")
	return v
}

// whole is the rule of the list, which clients read without asking for pages.
func whole() pagination.Options { return pagination.Options{Default: 1000, Max: 1000} }

// list serves GET /api/1/webhooks. Parameters of ours: page, per_page (1000 by default and
// at most).
func (h legacy) list(c *gin.Context) error {
	at, err := pagination.Parse(c.Request.URL.Query(), whole())
	if err != nil {
		return err
	}
	rows, total, err := webhook.List(c.Request.Context(), h.cfg.DB, auth.Organization(c), at.Rows())
	if err != nil {
		return err
	}
	views := make([]view1, 0, len(rows))
	for i := range rows {
		views = append(views, view1Of(&rows[i]))
	}
	return respond.JSON(c, http.StatusOK, gin.H{"status": "ok", "webhooks": views, "pagination": at.Envelope(total)})
}

// get serves GET /api/1/webhook/{id}.
func (h legacy) get(c *gin.Context) error {
	w, err := h.find(c)
	if err != nil {
		return err
	}
	return respond.JSON(c, http.StatusOK, gin.H{"status": "ok", "webhook": view1Of(w)})
}

// request1 is the body of a creation and of a change, which both require name and URL.
type request1 struct {
	Name       string       `json:"webhook-name"`
	URL        string       `json:"webhook-url"`
	Status     *body.Switch `json:"webhook-status"`
	Actions    body.List    `json:"actions"`
	ProjectIDs body.List    `json:"webhook-project-ids"`
}

func readRequest1(c *gin.Context) (webhook.Change, error) {
	var in request1
	if err := body.Read(c, &in, body.IgnoreUnknown); err != nil {
		return webhook.Change{}, err
	}
	change := webhook.Change{Name: &in.Name, URL: &in.URL}
	if in.Status != nil {
		status := webhook.Suspended
		if *in.Status {
			status = webhook.Active
		}
		change.Status = &status
	}
	if in.Actions != nil {
		actions := []string(in.Actions)
		change.Actions = &actions
	}
	var err error
	change.ProjectIDs, err = projectIDs(webhook.Legacy().ProjectIDs, in.ProjectIDs)
	return change, err
}

// create serves POST /api/1/webhook. Its secret is random: version 3 sets one that is
// known.
func (h legacy) create(c *gin.Context) error {
	change, err := readRequest1(c)
	if err != nil {
		return err
	}
	if _, err := h.insert(c, webhook.Legacy(), change, webhookcall.NewSecret()); err != nil {
		return err
	}
	return respond.JSON(c, http.StatusOK, gin.H{"status": "ok"})
}

// update serves POST /api/1/webhook/{id}. The members that are optional stay when they are
// not sent.
func (h legacy) update(c *gin.Context) error {
	change, err := readRequest1(c)
	if err != nil {
		return err
	}
	if _, err := h.save(c, webhook.Legacy(), change); err != nil {
		return err
	}
	return respond.JSON(c, http.StatusOK, gin.H{"status": "ok"})
}

// delete1 serves DELETE /api/1/webhook/{id}.
func (h *Handlers) delete1(c *gin.Context) error {
	if err := h.remove(c); err != nil {
		return err
	}
	return respond.JSON(c, http.StatusOK, gin.H{"status": "ok"})
}
