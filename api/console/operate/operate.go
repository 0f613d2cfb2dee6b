// Package operate has the console's pages of the tasks, and for operators those of the queues,
// the workers, the organizations, the webhooks that fail, and the mail of the installation.
//
// Members see the tasks of their organization, operators all, for the routes behind it say so.
// The list takes the filters of GET /api/v3/tasks as they are: what that route refuses is said
// on the page. A change of many (retry, cancel, run now) states first how many tasks match, on a
// page of its own, and is one request then; the route says how many it changed, and how many
// remain.
//
// Pages are live while a task that they show waits or runs.
package operate

import (
	"embed"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/console/frame"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/api/route"
)

const (
	area = "/operate"
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
	of := changes()
	return []route.Route{
		p.Open("/operate", auth.ReadTasks, p.list),
		p.Open("/operate/tasks/:id", auth.ReadTasks, p.task),
		p.Form("/operate/tasks/:id/retry", auth.ChangeTasks, p.change("retry", "The task is due again.")),
		p.Form("/operate/tasks/:id/run", auth.ChangeTasks,
			p.change("run", "The task is due now, before all others of its organization in the queue.")),
		p.Form("/operate/tasks/:id/cancel", auth.ChangeTasks, p.change("cancel", "The task is cancelled; one that runs stops in a moment.")),
		p.Open("/operate/retry", auth.ChangeTasks, p.confirmMany(of["retry"])),
		p.Form("/operate/retry", auth.ChangeTasks, p.changeMany(of["retry"])),
		p.Open("/operate/cancel", auth.ChangeTasks, p.confirmMany(of["cancel"])),
		p.Form("/operate/cancel", auth.ChangeTasks, p.changeMany(of["cancel"])),
		p.Open("/operate/run", auth.ChangeTasks, p.confirmMany(of["run"])),
		p.Form("/operate/run", auth.ChangeTasks, p.changeMany(of["run"])),
		p.Open("/operate/queues", auth.ReadQueues, p.queues),
		p.Open("/operate/organizations", auth.ReadQueues, p.organizations),
		p.Open("/operate/webhooks", auth.ReadQueues, p.webhooks),
		p.Open("/operate/mail", auth.ReadMail, p.mail),
		p.Open("/operate/mail/:id", auth.ReadMail, p.letter),
		p.Framed(p.Open("/operate/mail/:id/html", auth.ReadMail, p.letterHTML)),
	}
}

// refused is what a route said against what the address asks for; "" with the error itself
// where the page cannot be shown at all.
func refused(err error) (string, error) {
	if err == nil {
		return "", nil
	}
	if problem := respond.Explain(err); problem.Status == http.StatusBadRequest || problem.Status == http.StatusForbidden {
		return problem.Text, nil
	}
	return "", err
}

// operator reports whether the caller is one.
func operator(c *gin.Context) bool {
	caller := auth.CallerOf(c.Request.Context())
	return caller != nil && caller.Operator
}
