package operate

import (
	"time"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/console/frame"
)

// organization is what an organization takes of the installation.
type organization struct {
	ID        int64     `json:"id"`
	Slug      string    `json:"slug"`
	Name      string    `json:"name"`
	CreatedAt time.Time `json:"created_at"`
	Members   int64     `json:"members"`
	OpenTasks int64     `json:"open_tasks"`
	DeadTasks int64     `json:"dead_tasks"`
	Quotas    []quota   `json:"quotas"`
}

type quota struct {
	Name   string `json:"name"`
	Used   *int64 `json:"used"`
	Bound  *int64 `json:"bound"`
	Period string `json:"period"`
}

// Bytes reports whether the quota is one of bytes.
func (q quota) Bytes() bool { return q.Name == "stored_bytes" }

// organizationsData is the page of the organizations.
type organizationsData struct {
	Organizations []organization `json:"organizations"`
	Pagination    frame.Paging   `json:"pagination"`
	Operator      bool           `json:"-"`
	Fault         string         `json:"-"`
	Pager         *frame.Pager   `json:"-"`
}

// organizations shows what each organization takes of the installation.
func (p *Pages) organizations(c *gin.Context) error {
	data := organizationsData{Operator: operator(c)}
	err := p.API.Get(c, operatePath+"/organizations", frame.Valued(c.Request.URL.Query()), &data)
	if data.Fault, err = refused(err); err != nil {
		return err
	}
	data.Pager = p.PagesOf(c, data.Pagination)
	return p.pages.Show(c, "organizations", frame.Page{Title: "Organizations", Area: area, Data: data})
}

// failingWebhook is a webhook whose newest attempt failed.
type failingWebhook struct {
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

// webhooksData is the page of the webhooks that fail.
type webhooksData struct {
	Webhooks   []failingWebhook `json:"webhooks"`
	Pagination frame.Paging     `json:"pagination"`
	Operator   bool             `json:"-"`
	Fault      string           `json:"-"`
	Pager      *frame.Pager     `json:"-"`
}

// webhooks shows the webhooks of all organizations that fail.
func (p *Pages) webhooks(c *gin.Context) error {
	data := webhooksData{Operator: operator(c)}
	err := p.API.Get(c, operatePath+"/webhooks", frame.Valued(c.Request.URL.Query()), &data)
	if data.Fault, err = refused(err); err != nil {
		return err
	}
	data.Pager = p.PagesOf(c, data.Pagination)
	return p.pages.Show(c, "webhooks", frame.Page{Title: "Failing webhooks", Area: area, Data: data})
}
