// Package overview has the console's first page: what happened lately in an organization, in
// numbers that lead to their lists.
//
// It is made of what the routes of the api answer: crashes by day and version, groups that are
// new or came back, how many sessions of the newest versions went without a crash, the newest
// builds, the newest runs of suites, the schedules that are due next, and the tasks that
// failed. Each part asks a bounded number of requests.
//
// A part that cannot be read says so in its place, and the others are shown: one that the
// caller may not see is left out. An operator, who belongs to no organization, is led to the
// tasks of all.
package overview

import (
	"embed"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/console/frame"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/api/route"
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

// part is a piece of the page that is read by itself.
type part struct {
	Hidden bool   // the caller may not see it
	Fault  string // why it could not be read
}

// read runs what fills a part.
func (p *part) read(fill func() error) {
	err := fill()
	if err == nil {
		return
	}
	problem := respond.Explain(err)
	p.Hidden = problem.Status == http.StatusForbidden
	p.Fault = "This could not be read: " + problem.Text + "."
}

// pageData is the whole page.
type pageData struct {
	Since     string // yesterday, as a date in UTC
	Crashes   crashes
	Groups    groups
	Builds    builds
	Suites    suites
	Schedules schedules
	Tasks     tasks
}

// index shows the page; operators are led to the tasks.
func (p *Pages) index(c *gin.Context) error {
	if caller := auth.CallerOf(c.Request.Context()); caller != nil && caller.Operator {
		return p.Lead(c, "/operate")
	}
	now := p.Now().UTC()
	data := &pageData{Since: now.AddDate(0, 0, -1).Format(time.DateOnly)}
	data.Crashes.read(func() error { return p.readCrashes(c, now, &data.Crashes) })
	data.Groups.read(func() error { return p.readGroups(c, data.Since, &data.Groups) })
	data.Builds.read(func() error { return p.readBuilds(c, &data.Builds) })
	data.Suites.read(func() error { return p.readSuites(c, &data.Suites) })
	data.Schedules.read(func() error { return p.readSchedules(c, &data.Schedules) })
	data.Tasks.read(func() error { return p.readTasks(c, &data.Tasks) })
	return p.pages.Show(c, "index", frame.Page{Title: "Overview", Area: "/", Data: data})
}

type pagination struct {
	Total int   `json:"total"`
	Exact *bool `json:"total_is_exact"`
}

// AtLeast reports whether there may be more than the total.
func (p pagination) AtLeast() bool { return p.Exact != nil && !*p.Exact }
