// Package tester serves the testers of an organization, their invitations to builds and who
// got which build, in versions 1 and 3 of the distribution interface.
//
// A tester is a member of role tester, in both versions: members above it who are in
// a group of testers are listed with the group, and neither blocked nor removed here.
// The id is that of the membership; user_id is the person's.
//
// Members read; administrators of the organization invite, block and remove;
// administrators of a team invite, and into groups of their teams only. What belongs
// to another organization is not found.
//
// Any number of addresses is one transaction with one audit entry: an address that is
// none refuses all. Mail is written by tasks, so a request does not wait for it.
//
// The personal links of invitations are credentials. They are shown to members, who may
// install every build, and such answers are kept out of caches.
package tester

import (
	"context"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/body"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/api/route"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/tasks/dispatch"
	"github.com/slipway-qa/slipway/tasks/link"
)

// Config is what the handlers are made from.
type Config struct {
	DB    *storage.DB
	Links link.Links
	// Queue inserts tasks; nil leaves their delivery to the relay.
	Queue *dispatch.Enqueuer
}

// Handlers are the handlers of the room's routes.
type Handlers struct {
	people   people
	invites  invites
	installs installs
	legacy   legacy
}

// room is what the handlers share.
type room struct {
	db    *storage.DB
	links link.Links
	queue *dispatch.Enqueuer
}

// New returns the handlers.
func New(cfg Config) *Handlers {
	r := &room{db: cfg.DB, links: cfg.Links, queue: cfg.Queue}
	return &Handlers{people{r}, invites{r}, installs{r}, legacy{r}}
}

// Routes are the room's routes. Those that take addresses take a list of
// account.MaxPeople of them.
func (h *Handlers) Routes() []route.Route {
	const v3, v1 = respond.InterfaceV3, respond.InterfaceLegacy
	p, i, l := h.people, h.invites, h.legacy
	return []route.Route{
		{Method: http.MethodGet, Path: "/api/v3/testers", Interface: v3, Query: []string{"page", "per_page", "search",
			"blocked", "group", "build_id"}, Action: auth.ReadTesters, Handler: p.list},
		{Method: http.MethodGet, Path: "/api/v3/testers/:id", Interface: v3, Query: []string{"build_id"}, Action: auth.ReadTesters,
			Handler: p.get},
		{Method: http.MethodGet, Path: "/api/v3/testers/:id/installs", Interface: v3, Query: []string{"page", "per_page"},
			Action: auth.ReadTesters, Handler: h.installs.ofTester},
		{Method: http.MethodPost, Path: "/api/v3/testers", Interface: v3, Action: auth.InviteTesters, Handler: p.add, Body: body.MaxBytes},
		{Method: http.MethodDelete, Path: "/api/v3/testers/:id", Interface: v3, Bare: true, Query: route.NoQuery(),
			Action: auth.ManageTesters, Handler: p.remove},
		{Method: http.MethodPost, Path: "/api/v3/testers/:id/block", Interface: v3, Bare: true, Action: auth.ManageTesters, Handler: p.block},
		{Method: http.MethodDelete, Path: "/api/v3/testers/:id/block", Interface: v3, Bare: true, Query: route.NoQuery(),
			Action: auth.ManageTesters, Handler: p.unblock},
		{Method: http.MethodGet, Path: "/api/v3/builds/:id/invites", Interface: v3, Query: []string{"page", "per_page", "status"},
			Action: auth.ReadTesters, Handler: i.list},
		{Method: http.MethodGet, Path: "/api/v3/builds/:id/installs", Interface: v3, Query: []string{"page", "per_page",
			"channel", "user_id"}, Action: auth.ReadTesters, Handler: h.installs.ofBuild},
		{Method: http.MethodPost, Path: "/api/v3/builds/:id/invites", Interface: v3, Action: auth.InviteTesters, Handler: i.add},
		{Method: http.MethodDelete, Path: "/api/v3/builds/:id/invites/:user", Interface: v3, Bare: true, Query: route.NoQuery(),
			Action: auth.InviteTesters, Handler: i.revoke},

		{Method: http.MethodGet, Path: "/api/1/testers", Interface: v1, Action: auth.ReadTesters, Handler: l.list},
		{Method: http.MethodPost, Path: "/api/1/testers", Interface: v1, Action: auth.InviteTesters, Handler: l.add, Body: body.MaxBytes},
		{Method: http.MethodGet, Path: "/api/1/testers/:id", Interface: v1, Action: auth.ReadTesters, Handler: l.get},
		{Method: http.MethodDelete, Path: "/api/1/testers/:id", Interface: v1, Action: auth.ManageTesters, Handler: l.remove},
		{Method: http.MethodPost, Path: "/api/1/testers/:id/block", Interface: v1, Action: auth.ManageTesters, Handler: l.block},
		{Method: http.MethodDelete, Path: "/api/1/testers/:id/block", Interface: v1, Action: auth.ManageTesters, Handler: l.unblock},
		{Method: http.MethodPost, Path: "/api/1/projects/:id/builds/:build/invites", Interface: v1, Action: auth.InviteTesters,
			Handler: l.invite},
	}
}

// change runs a change with its audit entry in one transaction.
func (r *room) change(c *gin.Context, do func(ctx context.Context, tx *storage.Tx, w account.Writer) error) error {
	ctx, w := c.Request.Context(), auth.Writer(c)
	return problem(r.db.InTx(ctx, func(tx *storage.Tx) error { return do(ctx, tx, w) }))
}
