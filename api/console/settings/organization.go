package settings

import (
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/console/frame"
)

// orgSettings are the organization's switches.
type orgSettings struct {
	RequireLogin    bool     `json:"require_login"`
	GenericFiles    bool     `json:"generic_files"`
	LandingPageMode string   `json:"landing_page_mode"`
	Healing         optional `json:"healing"`
	Drift           optional `json:"drift"`
	Trace           optional `json:"trace"`
	Retries         optional `json:"retries"`
	Explore         optional `json:"generation_explore"`
	AuditDays       optional `json:"audit_retention_days"`
	RetentionBuilds optional `json:"retention_builds"`
	RetentionDays   optional `json:"retention_days"`
	RunDays         optional `json:"run_retention_days"`
	Runs            optional `json:"run_retention_runs"`
}

// connection is the app storage without its secret.
type connection struct {
	Kind      string `json:"kind"`
	Endpoint  string `json:"endpoint"`
	Bucket    string `json:"bucket"`
	Region    string `json:"region"`
	Prefix    string `json:"prefix"`
	AccessKey string `json:"access_key"`
}

// quota is what is used of a bound.
type quota struct {
	Name   string `json:"name"`
	Used   *int64 `json:"used"`
	Bound  *int64 `json:"bound"`
	Period string `json:"period"`
}

// List is the page, behind /console, that lists what the quota counts.
func (q *quota) List() string {
	switch q.Name {
	case "crashes_per_day":
		return "/crashes"
	case "runs_per_day":
		return "/tests"
	}
	return "/builds"
}

// Bytes reports whether a size is counted.
func (q *quota) Bytes() bool { return strings.HasSuffix(q.Name, "_bytes") }

// organizationData is the page of the organization.
type organizationData struct {
	Rights   rights
	Settings orgSettings
	Quotas   []quota
	Storage  *connection // nil: none
	Fault    string
}

const organizationPath, storagePath = "/api/v3/settings/organization", "/api/v3/settings/storage"

func (p *Pages) organization(c *gin.Context) error {
	var answer struct {
		Settings orgSettings `json:"settings"`
	}
	if err := p.API.Get(c, organizationPath, nil, &answer); err != nil {
		return err
	}
	return p.showOrganization(c, organizationData{Settings: answer.Settings})
}

func (p *Pages) showOrganization(c *gin.Context, data organizationData) error {
	var quotas struct {
		Quotas []quota `json:"quotas"`
	}
	if err := p.API.Get(c, "/api/v3/settings/quotas", nil, &quotas); err != nil {
		return err
	}
	var answer struct {
		Storage connection `json:"storage"`
	}
	there, err := p.found(c, storagePath, &answer)
	if err != nil {
		return err
	}
	if there {
		data.Storage = &answer.Storage
	}
	data.Rights, data.Quotas = rightsOf(c), quotas.Quotas
	return p.show(c, "organization", data.Fault, frame.Page{Title: "Organization", Data: data})
}

func (p *Pages) changeOrganization(c *gin.Context) error {
	data := organizationData{Settings: orgSettings{RequireLogin: c.PostForm("require_login") != "",
		GenericFiles: c.PostForm("generic_files") != "", LandingPageMode: c.PostForm("landing_page_mode"),
		Healing: typed(c, "healing"), Drift: typed(c, "drift"), Trace: typed(c, "trace"), Retries: typed(c, "retries"),
		Explore: typed(c, "generation_explore"), AuditDays: typed(c, "audit_days"),
		RetentionBuilds: typed(c, "retention_builds"), RetentionDays: typed(c, "retention_days"),
		RunDays: typed(c, "run_retention_days"), Runs: typed(c, "run_retention_runs")}}
	err := p.API.Send(c, http.MethodPut, organizationPath, data.Settings, nil)
	if data.Fault, err = frame.Refusal(err); err != nil {
		return err
	}
	if data.Fault != "" {
		return p.showOrganization(c, data)
	}
	return p.Done(c, "/settings/organization", "The settings were changed.")
}

// changeStorage stores the connection; without a secret the stored one stays.
func (p *Pages) changeStorage(c *gin.Context) error {
	body := map[string]string{}
	for _, name := range []string{"kind", "endpoint", "bucket", "region", "prefix", "access_key"} {
		body[name] = strings.TrimSpace(c.PostForm(name))
	}
	if secret := c.PostForm("secret"); secret != "" {
		body["secret"] = secret
	}
	err := p.API.Send(c, http.MethodPut, storagePath, body, nil)
	return p.End(c, "/settings/organization", "The connection was stored.", err)
}

func (p *Pages) deleteStorage(c *gin.Context) error {
	err := p.API.Send(c, http.MethodDelete, storagePath, nil, nil)
	return p.End(c, "/settings/organization", "The connection was deleted.", err)
}
