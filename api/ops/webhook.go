package ops

import (
	"net/http"
	"net/url"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/pagination"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage/webhook"
)

// webhookView is how a webhook stands that fails. Of its address operators read the host:
// path and query may hold a secret of the organization.
type webhookView struct {
	ID              int64      `json:"id"`
	OrganizationID  int64      `json:"organization_id"`
	Host            string     `json:"host"`
	Status          string     `json:"status"`
	SuspendedReason string     `json:"suspended_reason"`
	Failures        int        `json:"failures"`
	FailingSince    *time.Time `json:"failing_since"`
	RetryAt         *time.Time `json:"retry_at"`
	LastSuccessAt   *time.Time `json:"last_success_at"`
}

type webhooksAnswer struct {
	Webhooks   []webhookView         `json:"webhooks"`
	Pagination pagination.Pagination `json:"pagination"`
}

// webhooks serves GET /api/v3/operate/webhooks: those whose newest attempt failed.
func (h *Handlers) webhooks(c *gin.Context) error {
	p, err := pagination.Parse(c.Request.URL.Query(), pagination.Small())
	if err != nil {
		return err
	}
	rows, total, err := webhook.Failing(c.Request.Context(), h.DB, p.Rows())
	if err != nil {
		return err
	}
	views := make([]webhookView, len(rows))
	for i := range rows {
		views[i] = viewWebhook(&rows[i])
	}
	return respond.JSON(c, http.StatusOK, webhooksAnswer{views, p.Envelope(total)})
}

func viewWebhook(w *webhook.FailingWebhook) webhookView {
	view := webhookView{ID: w.ID, OrganizationID: w.OrganizationID, Status: string(w.Status), SuspendedReason: w.SuspendedReason,
		Failures: w.Failures, FailingSince: utc(w.FailingSince), RetryAt: utc(w.RetryAt), LastSuccessAt: utc(w.LastSuccessAt)}
	if at, err := url.Parse(w.URL); err == nil {
		view.Host = at.Hostname()
	}
	return view
}

func utc(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	at := t.UTC()
	return &at
}
