// Package group serves who may install what, by groups and teams, in versions 1, 2 and
// 3 of the distribution interface: tester groups with their testers and apps, the
// testers of an app, teams with their members, and the list of administrators.
//
// A group belongs to a team. Members read all groups of their organization; its owner
// and admins change them, and so does an admin of the team those of the team. Naming a
// group in a grant takes rights on the app only: it lets testers in and changes no
// group. Giving an app to a group takes rights on both.
//
// Groups and a group's apps are listed by name, testers in the order in which they
// came. A mail address that nobody in the organization has becomes a tester. However
// many addresses a request names, they are all added or, where one is none, none is.
//
// The total of a list of testers is exact unless there are very many; then total_is_exact
// is false and has_next says whether a page follows.
//
// What belongs to another organization is not found; a team or app of others of the
// organization is 403. Version 1 has the codes of its interface: 2 for a name that is
// taken, 5 for missing rights, 99 for an app of others.
package group

import (
	"context"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/api/route"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/distribution"
)

// Config is what the handlers are made from.
type Config struct {
	DB *storage.DB
	// ProjectView shows an app as version 3 lists it.
	ProjectView func(*distribution.Project) any
}

// Handlers are the handlers of the room's routes.
type Handlers struct {
	groups      groups
	projects    projects
	teams       teams
	legacy      legacy
	permissions permissions
}

// room is what the handlers share.
type room struct {
	db          *storage.DB
	projectView func(*distribution.Project) any
}

// New returns the handlers.
func New(cfg Config) *Handlers {
	r := &room{db: cfg.DB, projectView: cfg.ProjectView}
	return &Handlers{groups{r}, projects{r}, teams{r}, legacy{r}, permissions{r}}
}

// manyBytes bounds a body with many mail addresses: twenty thousand of a usual length,
// and ten thousand of the longest.
const manyBytes = 4 << 20

// Routes are the room's routes.
func (h *Handlers) Routes() []route.Route {
	const v3, v1 = respond.InterfaceV3, respond.InterfaceLegacy // version 2 as well
	g, p, t, l := h.groups, h.projects, h.teams, h.legacy
	ofProject, ofBuild := h.groups.ofProject(), h.groups.ofBuild()
	return []route.Route{
		{Method: http.MethodGet, Path: "/api/v3/groups", Interface: v3, Query: []string{"page", "per_page", "search", "team_id"},
			Action: auth.ReadGroups, Handler: g.list},
		{Method: http.MethodGet, Path: "/api/v3/groups/:id", Interface: v3, Query: route.NoQuery(), Action: auth.ReadGroups, Handler: g.get},
		{Method: http.MethodPost, Path: "/api/v3/groups", Interface: v3, Action: auth.ManageGroups, Handler: g.create, Body: manyBytes},
		{Method: http.MethodPut, Path: "/api/v3/groups/:id", Interface: v3, Action: auth.ManageGroups, Handler: g.update},
		{Method: http.MethodDelete, Path: "/api/v3/groups/:id", Interface: v3, Bare: true, Query: route.NoQuery(),
			Action: auth.ManageGroups, Handler: g.delete},
		{Method: http.MethodGet, Path: "/api/v3/groups/:id/testers", Interface: v3, Query: []string{"page", "per_page", "search"},
			Action: auth.ReadGroups, Handler: g.testers},
		{Method: http.MethodPost, Path: "/api/v3/groups/:id/testers", Interface: v3, Action: auth.ManageGroups, Handler: g.add, Body: manyBytes},
		{Method: http.MethodDelete, Path: "/api/v3/groups/:id/testers/:user", Interface: v3, Bare: true, Query: route.NoQuery(),
			Action: auth.ManageGroups, Handler: g.remove},
		{Method: http.MethodGet, Path: "/api/v3/groups/:id/projects", Interface: v3, Query: []string{"page", "per_page"},
			Action: auth.ReadGroups, Handler: g.projects},

		{Method: http.MethodGet, Path: "/api/v3/projects/:id/testers", Interface: v3, Query: []string{"page", "per_page", "search"},
			Action: auth.ReadTesters, Handler: p.testers},
		{Method: http.MethodPost, Path: "/api/v3/projects/:id/testers", Interface: v3, Action: auth.InviteTesters,
			Handler: p.add, Body: manyBytes},
		{Method: http.MethodDelete, Path: "/api/v3/projects/:id/testers/:user", Interface: v3, Bare: true, Query: route.NoQuery(),
			Action: auth.InviteTesters, Handler: p.remove},

		{Method: http.MethodGet, Path: "/api/v3/projects/:id/groups", Interface: v3, Query: []string{"page", "per_page"},
			Action: auth.ReadGroups, Handler: ofProject.groups},
		{Method: http.MethodPut, Path: "/api/v3/projects/:id/groups/:group", Interface: v3, Bare: true, Query: route.NoQuery(),
			Action: auth.ChangeProjects, Handler: ofProject.add},
		{Method: http.MethodDelete, Path: "/api/v3/projects/:id/groups/:group", Interface: v3, Bare: true, Query: route.NoQuery(),
			Action: auth.ChangeProjects, Handler: ofProject.remove},
		{Method: http.MethodGet, Path: "/api/v3/builds/:id/groups", Interface: v3, Query: []string{"page", "per_page"},
			Action: auth.ReadGroups, Handler: ofBuild.groups},
		{Method: http.MethodPut, Path: "/api/v3/builds/:id/groups/:group", Interface: v3, Bare: true, Query: route.NoQuery(),
			Action: auth.ChangeBuilds, Handler: ofBuild.add},
		{Method: http.MethodDelete, Path: "/api/v3/builds/:id/groups/:group", Interface: v3, Bare: true, Query: route.NoQuery(),
			Action: auth.ChangeBuilds, Handler: ofBuild.remove},

		{Method: http.MethodGet, Path: "/api/v3/teams", Interface: v3, Query: []string{"page", "per_page", "search"},
			Action: auth.ReadTeams, Handler: t.list},
		{Method: http.MethodGet, Path: "/api/v3/teams/:id", Interface: v3, Query: route.NoQuery(), Action: auth.ReadTeams, Handler: t.get},
		{Method: http.MethodPost, Path: "/api/v3/teams", Interface: v3, Action: auth.CreateTeams, Handler: t.create},
		{Method: http.MethodPut, Path: "/api/v3/teams/:id", Interface: v3, Action: auth.ManageTeams, Handler: t.update},
		{Method: http.MethodDelete, Path: "/api/v3/teams/:id", Interface: v3, Bare: true, Query: route.NoQuery(),
			Action: auth.DeleteTeams, Handler: t.delete},
		{Method: http.MethodGet, Path: "/api/v3/teams/:id/members", Interface: v3, Query: []string{"page", "per_page"},
			Action: auth.ReadTeams, Handler: t.members},
		{Method: http.MethodPost, Path: "/api/v3/teams/:id/members", Interface: v3, Action: auth.ManageTeams, Handler: t.add},
		{Method: http.MethodDelete, Path: "/api/v3/teams/:id/members/:user", Interface: v3, Bare: true, Query: route.NoQuery(),
			Action: auth.ManageTeams, Handler: t.remove},

		{Method: http.MethodGet, Path: "/api/2/projects/:id/testers", Interface: v1, Action: auth.ReadTesters, Handler: l.projectTesters},

		{Method: http.MethodGet, Path: "/api/1/testers/groups", Interface: v1, Action: auth.ReadGroups, Handler: l.wholeGroups},
		{Method: http.MethodPost, Path: "/api/1/testers/groups", Interface: v1, Action: auth.ManageGroups, Handler: l.create},
		{Method: http.MethodPost, Path: "/api/1/testers/groups/:id", Interface: v1, Action: auth.ManageGroups, Handler: l.add, Body: manyBytes},
		{Method: http.MethodDelete, Path: "/api/1/testers/groups/:id", Interface: v1, Action: auth.ManageGroups,
			Handler: l.remove, Body: manyBytes},
		{Method: http.MethodGet, Path: "/api/1/groups", Interface: v1, Action: auth.ReadGroups, Handler: l.groups},
		{Method: http.MethodGet, Path: "/api/1/groups/:id", Interface: v1, Action: auth.ReadGroups, Handler: l.group},
		{Method: http.MethodGet, Path: "/api/1/groups/:id/testers", Interface: v1, Action: auth.ReadGroups, Handler: l.groupTesters},
		{Method: http.MethodGet, Path: "/api/1/groups/:id/projects", Interface: v1, Action: auth.ReadGroups, Handler: l.groupProjects},
		{Method: http.MethodGet, Path: "/api/1/cpanel/permissions", Interface: v1, Action: auth.ReadPermissions, Handler: h.permissions.list},
	}
}

// change runs a change with its audit row in one transaction.
func (r *room) change(c *gin.Context, do func(ctx context.Context, tx *storage.Tx, w account.Writer) error) error {
	ctx, w := c.Request.Context(), auth.Writer(c)
	return problem(r.db.InTx(ctx, func(tx *storage.Tx) error { return do(ctx, tx, w) }))
}
