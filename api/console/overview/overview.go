// Package overview has the console's first page: what happened lately in an organization, in
// numbers that lead to their lists.
//
// It asks GET /api/v3/overview and shows its answer: crashes by day and version, groups that
// are new or came back, how many sessions of the newest versions went without a crash, the
// newest builds, the last runs of suites, the schedules that are due next, the tasks that are
// late or failed, and the webhooks that fail.
//
// A part that the caller may not read is left out. Where the answer cannot be made, the page
// is that of the problem. An operator, who belongs to no organization, is led to the tasks of
// all.
package overview

import (
	"embed"
	"net/url"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/console/frame"
	"github.com/slipway-qa/slipway/api/route"
	"github.com/slipway-qa/slipway/storage/live"
)

//go:embed page
var files embed.FS

// Pages serves the pages of the area.
type Pages struct {
	*frame.Frame
	pages *frame.Templates
}

// New returns the pages of the area.
func New(f *frame.Frame) (*Pages, error) {
	templates, err := f.Templates(files)
	if err != nil {
		return nil, err
	}
	return &Pages{Frame: f, pages: templates}, nil
}

// Routes are the pages and forms.
func (p *Pages) Routes() []route.Route {
	return []route.Route{
		p.Open("", auth.ReadTasks, p.index),
	}
}

// count is a number of rows; there may be more where it is not exact.
type count struct {
	Total int  `json:"total"`
	Exact bool `json:"is_exact"`
}

// view is the answer of the api. A part is nil when the caller may not read it.
type view struct {
	Since     time.Time  `json:"since"`
	Crashes   *crashes   `json:"crashes"`
	New       *groups    `json:"new_groups"`
	Regressed *groups    `json:"regressed_groups"`
	Builds    *builds    `json:"builds"`
	Suites    *suiteRuns `json:"suite_runs"`
	Schedules *schedules `json:"schedules"`
	Late      *tasks     `json:"late_tasks"`
	Failed    *tasks     `json:"failed_tasks"`
	Webhooks  *webhooks  `json:"webhooks"`
}

type groups struct {
	count
	Groups []struct {
		ID       int64     `json:"id"`
		Title    string    `json:"title"`
		State    string    `json:"state"`
		Count    int64     `json:"count"`
		LastSeen time.Time `json:"last_seen"`
		Project  project   `json:"crash_project"`
	} `json:"groups"`
}

type builds struct {
	Apps   count `json:"apps"`
	Newest []struct {
		ID        int64     `json:"id"`
		ProjectID int64     `json:"project_id"`
		AppName   string    `json:"app_name"`
		Version   string    `json:"version"`
		Code      string    `json:"version_code"`
		Platform  string    `json:"platform"`
		Status    string    `json:"status"`
		Crashes   int64     `json:"crashes"`
		Gate      string    `json:"gate"`
		CreatedAt time.Time `json:"created_at"`
	} `json:"newest"`
}

type suiteRuns struct {
	Suites count `json:"suites"`
	Last   []struct {
		ID        string    `json:"id"`
		SuiteID   string    `json:"suite_id"`
		SuiteName string    `json:"suite_name"`
		Status    string    `json:"status"`
		Total     int       `json:"total"`
		Passed    int       `json:"passed"`
		Failed    int       `json:"failed"`
		Errors    int       `json:"errors"`
		CreatedAt time.Time `json:"created_at"`
	} `json:"last"`
}

type schedules struct {
	count
	Next []struct {
		ID        string    `json:"id"`
		Name      string    `json:"name"`
		State     string    `json:"state"`
		Cron      string    `json:"cron"`
		Timezone  string    `json:"timezone"`
		NextRunAt time.Time `json:"next_run_at"`
		LastError string    `json:"last_error"`
	} `json:"next"`
}

type tasks struct {
	count
	Tasks []struct {
		ID         string     `json:"id"`
		Type       string     `json:"type"`
		RunAt      time.Time  `json:"run_at"`
		FinishedAt *time.Time `json:"finished_at"`
		Error      *string    `json:"error"`
	} `json:"tasks"`
}

type webhooks struct {
	Total int `json:"total"`
	List  []struct {
		ID              int64      `json:"id"`
		Name            string     `json:"name"`
		Status          string     `json:"status"`
		SuspendedReason string     `json:"suspended_reason"`
		Failures        int        `json:"failures"`
		FailingSince    *time.Time `json:"failing_since"`
		Undelivered     int        `json:"undelivered"`
	} `json:"webhooks"`
}

// pageData is the whole page.
type pageData struct {
	view
	Bars []frame.Bar
}

// SinceText is since when what is new is new, as filters have it.
func (d *pageData) SinceText() string { return d.Since.UTC().Format(time.RFC3339) }

// index shows the page; operators are led to the tasks.
func (p *Pages) index(c *gin.Context) error {
	if caller := auth.CallerOf(c.Request.Context()); caller != nil && caller.Operator {
		return p.Lead(c, "/operate")
	}
	var answer struct {
		Overview view `json:"overview"`
	}
	if err := p.API.Get(c, "/api/v3/overview", nil, &answer); err != nil {
		return err
	}
	data := &pageData{view: answer.Overview}
	if data.Crashes != nil {
		public, err := url.Parse(p.PublicURL())
		if err != nil {
			return err
		}
		data.Bars = data.Crashes.bars(func(day string) string {
			return public.Path + frame.Base + "/crashes?from=" + day + "&to=" + day
		})
	}
	return p.pages.Show(c, "index", frame.Page{Title: "Overview", Area: "/", Live: []live.Topic{live.List(live.Overview),
		live.List(live.Minute)}, Data: data})
}
