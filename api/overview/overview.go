// Package overview serves what happened lately in the caller's organization, in one answer:
// crashes by day and version, groups that are new or came back, the newest builds and suite
// runs, schedules that are due next, tasks that are late or failed, and webhooks that fail.
//
// Each part asks what its own list asks of the caller. A part that the caller may not read
// is null, and withheld says why. A part that cannot be read fails the whole answer, so that
// nobody takes what is missing for nothing.
package overview

import (
	"context"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/api/route"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/overview"
	"github.com/slipway-qa/slipway/tasks"
)

// Handlers are the handlers of the room's routes.
type Handlers struct {
	db  *storage.DB
	now func() time.Time
}

// New returns the handlers.
func New(db *storage.DB) *Handlers { return &Handlers{db: db, now: time.Now} }

// Routes are the room's routes. What all members may read is the least that leads here.
func (h *Handlers) Routes() []route.Route {
	return []route.Route{
		{Method: http.MethodGet, Path: "/api/v3/overview", Interface: respond.InterfaceV3, Query: route.NoQuery(),
			Action: auth.ReadProjects, Handler: h.Get},
	}
}

// part is a part of the answer: its action is that of the list that it is a part of.
type part struct {
	name   string
	action auth.Action
	read   func(r *reading) error
}

// parts are the parts, in the order of the answer.
func parts() []part {
	return []part{
		{"crashes", auth.ReadCrashes, (*reading).crashes},
		{"new_groups", auth.ReadCrashes, (*reading).newGroups},
		{"regressed_groups", auth.ReadCrashes, (*reading).regressedGroups},
		{"builds", auth.ReadBuilds, (*reading).builds},
		{"suite_runs", auth.ReadTests, (*reading).suiteRuns},
		{"schedules", auth.ReadTests, (*reading).schedules},
		{"late_tasks", auth.ReadTasks, (*reading).lateTasks},
		{"failed_tasks", auth.ReadTasks, (*reading).failedTasks},
		{"webhooks", auth.ReadWebhooks, (*reading).webhooks},
	}
}

// reading is an answer that is being made.
type reading struct {
	ctx          context.Context
	db           storage.Querier
	organization int64
	times        overview.Times
	answer       answer
}

// Get serves GET /api/v3/overview.
func (h *Handlers) Get(c *gin.Context) error {
	caller := auth.CallerOf(c.Request.Context())
	times := overview.At(h.now())
	r := &reading{ctx: c.Request.Context(), db: h.db, organization: caller.OrganizationID, times: times,
		answer: answer{At: times.Now, Since: times.Since, Withheld: []withheld{}}}
	rules := auth.Table()
	for _, p := range parts() {
		if err := rules[p.action].Allow(caller); err != nil {
			r.answer.Withheld = append(r.answer.Withheld, withheld{p.name, respond.Explain(err).Text})
			continue
		}
		if err := p.read(r); err != nil {
			return err
		}
	}
	return respond.JSON(c, http.StatusOK, gin.H{"overview": r.answer})
}

func (r *reading) crashes() error {
	found, err := overview.ReadCrashes(r.ctx, r.db, r.organization, r.times)
	if err != nil {
		return err
	}
	r.answer.Crashes = crashesOf(found)
	return nil
}

func (r *reading) newGroups() error {
	found, err := overview.NewGroups(r.ctx, r.db, r.organization, r.times)
	if err != nil {
		return err
	}
	r.answer.NewGroups = groupsOf(found)
	return nil
}

func (r *reading) regressedGroups() error {
	found, err := overview.RegressedGroups(r.ctx, r.db, r.organization, r.times)
	if err != nil {
		return err
	}
	r.answer.RegressedGroups = groupsOf(found)
	return nil
}

func (r *reading) builds() error {
	found, err := overview.ReadBuilds(r.ctx, r.db, r.organization)
	if err != nil {
		return err
	}
	r.answer.Builds = buildsOf(found)
	return nil
}

func (r *reading) suiteRuns() error {
	found, err := overview.ReadSuiteRuns(r.ctx, r.db, r.organization)
	if err != nil {
		return err
	}
	r.answer.SuiteRuns = suiteRunsOf(found)
	return nil
}

func (r *reading) schedules() error {
	found, err := overview.ReadSchedules(r.ctx, r.db, r.organization)
	if err != nil {
		return err
	}
	r.answer.Schedules = schedulesOf(found)
	return nil
}

func (r *reading) lateTasks() error {
	found, err := overview.LateTasks(r.ctx, r.db, r.organization, tasks.Queues(), r.times)
	if err != nil {
		return err
	}
	r.answer.LateTasks = tasksOf(found)
	return nil
}

func (r *reading) failedTasks() error {
	found, err := overview.DeadTasks(r.ctx, r.db, r.organization)
	if err != nil {
		return err
	}
	r.answer.FailedTasks = tasksOf(found)
	return nil
}

func (r *reading) webhooks() error {
	found, err := overview.ReadWebhooks(r.ctx, r.db, r.organization, r.times)
	if err != nil {
		return err
	}
	r.answer.Webhooks = webhooksOf(found)
	return nil
}
