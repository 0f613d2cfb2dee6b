// Package distribution serves apps (projects) and their builds over HTTP, in
// versions 1, 2 and 3 of the distribution interface.
//
// Version 3 is for CI: JSON or forms in, whole records out, failures as
// {"error":"text"}. Versions 1 and 2 are what older clients speak: camel case,
// times without a zone (UTC), ids as text in version 1 and as numbers in version
// 2, failures as {"status":"fail","code":N,"message":"text"}. All of them read
// and write the same rows; only the views and the codes differ, and problem.go has
// the one table of these.
//
// Everything is limited to the caller's organization: what belongs to another one
// is not found. Members read all apps of their organization and change those of
// their teams; to delete in version 3 and to notify testers they must be admin of
// the team. The store checks it, by the Writer that the handlers hand over, in the
// transaction of the change.
//
// A deleted build or app is gone at once for every reader; what belongs to it is
// removed by a task that is written in the same transaction. So is the task that
// mails testers.
//
// Files go out in two ways: version 3 signs a link to the object store, which
// works without credentials for an hour and is therefore made for distributable
// builds only; version 1 streams the bytes itself, by ranges and with an ETag, to
// a caller who has credentials, whatever the state of the build.
package distribution

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/pagination"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/api/route"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/distribution"
	"github.com/slipway-qa/slipway/storage/object"
	"github.com/slipway-qa/slipway/storage/quota"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/tasks/dispatch"
	"github.com/slipway-qa/slipway/tasks/link"
)

// Config is what the handlers are made from.
type Config struct {
	DB *storage.DB
	// Objects may be nil: then downloads lead to the install page.
	Objects object.Store
	Links   link.Links
	// Quotas bound the builds that are kept; nil: nothing does.
	Quotas *quota.Quotas
	// Queue inserts tasks; nil leaves their delivery to the relay.
	Queue  *dispatch.Enqueuer
	Vendor string       // names the member has<Vendor>Sdk of version 1
	Log    *slog.Logger // default slog.Default
	Now    func() time.Time
}

// Handlers are the handlers of the room's routes.
type Handlers struct {
	projects projects
	builds   builds
	legacy   legacy
}

// room is what the handlers share.
type room struct {
	db      *storage.DB
	objects object.Store
	links   link.Links
	queue   *dispatch.Enqueuer
	quotas  *quota.Quotas
	views   Views
	log     *slog.Logger
	now     func() time.Time
}

// New returns the handlers.
func New(cfg Config) *Handlers {
	r := &room{db: cfg.DB, objects: cfg.Objects, links: cfg.Links, queue: cfg.Queue, quotas: cfg.Quotas,
		views: NewViews(cfg.Links, cfg.Vendor),
		log:   cfg.Log, now: cfg.Now}
	if r.log == nil {
		r.log = slog.Default()
	}
	if r.now == nil {
		r.now = time.Now
	}
	return &Handlers{projects{r}, builds{r}, legacy{r}}
}

// Routes are the room's routes.
func (h *Handlers) Routes() []route.Route {
	const v3, v1 = respond.InterfaceV3, respond.InterfaceLegacy // version 2 as well
	p, b, l := h.projects, h.builds, h.legacy
	return []route.Route{
		{Method: http.MethodGet, Path: "/api/v3/projects", Interface: v3, Query: []string{"page", "per_page", "search",
			"team_id", "platform"}, Action: auth.ReadProjects, Handler: p.list},
		{Method: http.MethodGet, Path: "/api/v3/projects/:id", Interface: v3, Query: route.NoQuery(), Action: auth.ReadProjects, Handler: p.get},
		{Method: http.MethodPost, Path: "/api/v3/projects", Interface: v3, Action: auth.ChangeProjects, Handler: p.create},
		{Method: http.MethodPut, Path: "/api/v3/projects/:id", Interface: v3, Action: auth.ChangeProjects, Handler: p.update},
		{Method: http.MethodDelete, Path: "/api/v3/projects/:id", Interface: v3, Bare: true, Query: route.NoQuery(),
			Action: auth.DeleteProjects, Handler: p.delete},
		{Method: http.MethodPost, Path: "/api/v3/projects/:id/copy", Interface: v3, Action: auth.ChangeProjects, Handler: p.copy},
		{Method: http.MethodGet, Path: "/api/v3/projects/:id/builds", Interface: v3, Query: []string{"page", "per_page",
			"version", "tag", "search"}, Action: auth.ReadBuilds, Handler: p.builds},
		{Method: http.MethodGet, Path: "/api/v3/projects/:id/retention", Interface: v3, Query: []string{"page", "per_page"},
			Action: auth.ReadBuilds, Handler: p.retention},
		{Method: http.MethodGet, Path: "/api/v3/builds/:id", Interface: v3, Query: route.NoQuery(), Action: auth.ReadBuilds, Handler: b.get},
		{Method: http.MethodPut, Path: "/api/v3/builds/:id", Interface: v3, Action: auth.ChangeBuilds, Handler: b.update},
		{Method: http.MethodGet, Path: "/api/v3/builds/:id/download", Interface: v3, Query: route.NoQuery(),
			Action: auth.ReadBuilds, Handler: b.download},
		{Method: http.MethodDelete, Path: "/api/v3/builds/:id", Interface: v3, Bare: true, Query: route.NoQuery(),
			Action: auth.DeleteBuilds, Handler: b.delete},
		{Method: http.MethodGet, Path: "/api/v3/builds/:id/compare", Interface: v3, Query: []string{"with"},
			Action: auth.ReadBuilds, Handler: b.compare},
		{Method: http.MethodGet, Path: "/api/v3/builds/:id/commits", Interface: v3, Query: route.NoQuery(),
			Action: auth.ReadBuilds, Handler: b.commits},
		{Method: http.MethodPut, Path: "/api/v3/builds/:id/commits", Interface: v3, Action: auth.UploadBuilds, Handler: b.setCommits},
		{Method: http.MethodPost, Path: "/api/v3/builds/:id/copy", Interface: v3, Bare: true, Action: auth.ChangeBuilds, Handler: b.copy},
		{Method: http.MethodGet, Path: "/api/v3/builds/:id/notify-testers", Interface: v3, Query: route.NoQuery(),
			Action: auth.NotifyTesters, Handler: b.announcement},
		{Method: http.MethodPost, Path: "/api/v3/builds/:id/notify-testers", Interface: v3, Bare: true, Action: auth.NotifyTesters,
			Handler: b.notify},
		{Method: http.MethodGet, Path: "/api/v3/builds/:id/symbols/download", Interface: v3, Query: route.NoQuery(),
			Action: auth.ReadBuilds, Handler: b.symbols},

		{Method: http.MethodGet, Path: "/api/2/projects", Interface: v1, Action: auth.ReadProjects, Handler: l.projects2},
		{Method: http.MethodGet, Path: "/api/2/projects/:id", Interface: v1, Action: auth.ReadProjects, Handler: l.project2},
		{Method: http.MethodGet, Path: "/api/2/projects/:id/builds", Interface: v1, Action: auth.ReadBuilds, Handler: l.builds2},

		{Method: http.MethodGet, Path: "/api/1/projects", Interface: v1, Action: auth.ReadProjects, Handler: l.projects1},
		{Method: http.MethodGet, Path: "/api/1/projects/:id/builds", Interface: v1, Action: auth.ReadBuilds, Handler: l.builds1},
		{Method: http.MethodGet, Path: "/api/1/projects/:id/builds/:build", Interface: v1, Action: auth.ReadBuilds, Handler: l.build1},
		{Method: http.MethodDelete, Path: "/api/1/projects/:id/builds/:build", Interface: v1, Action: auth.ChangeBuilds, Handler: l.delete1},
		{Method: http.MethodPatch, Path: "/api/1/projects/:id/builds", Interface: v1, Action: auth.ChangeBuilds,
			Handler: l.update1}, // a refusal: the build is missing
		{Method: http.MethodPatch, Path: "/api/1/projects/:id/builds/:build", Interface: v1, Action: auth.ChangeBuilds, Handler: l.update1},
		{Method: http.MethodPost, Path: "/api/1/projects/:id/builds/:build/copy", Interface: v1, Action: auth.ChangeBuilds, Handler: l.copy1},
		{Method: http.MethodGet, Path: "/api/1/projects/:id/builds/:build/download", Interface: v1, Action: auth.ReadBuilds,
			Handler: l.download1, Deadline: route.UploadDeadline},
	}
}

// change runs a change with its audit row in one transaction.
func (r *room) change(c *gin.Context, do func(ctx context.Context, tx *storage.Tx, w account.Writer) error) error {
	ctx, w := c.Request.Context(), auth.Writer(c)
	return problem(r.db.InTx(ctx, func(tx *storage.Tx) error { return do(ctx, tx, w) }))
}

// projectPage reads the page of the caller's apps that the request asks for.
func (r *room) projectPage(c *gin.Context, f distribution.ProjectFilter, o pagination.Options) ([]distribution.Project,
	pagination.Pagination, error) {
	at, err := pagination.Parse(c.Request.URL.Query(), o)
	if err != nil {
		return nil, pagination.Pagination{}, err
	}
	f.OrganizationID = auth.Organization(c)
	rows, total, err := distribution.Projects(c.Request.Context(), r.db, f, at.Rows())
	return rows, at.Envelope(total), err
}

// buildPage reads the page of an app's builds that the request asks for.
func (r *room) buildPage(c *gin.Context, f distribution.BuildFilter, o pagination.Options) ([]distribution.Build,
	pagination.Pagination, error) {
	id, err := pagination.ID(c.Param("id"))
	if err != nil {
		return nil, pagination.Pagination{}, err
	}
	at, err := pagination.Parse(c.Request.URL.Query(), o)
	if err != nil {
		return nil, pagination.Pagination{}, err
	}
	rows, total, err := distribution.Builds(c.Request.Context(), r.db, auth.Organization(c), id, f, at.Rows())
	return rows, at.Envelope(total), err
}

// projectOf reads the app that the path names.
func (r *room) projectOf(c *gin.Context) (*distribution.Project, error) {
	id, err := pagination.ID(c.Param("id"))
	if err != nil {
		return nil, err
	}
	return distribution.ProjectByID(c.Request.Context(), r.db, auth.Organization(c), id)
}

// deleteBuild marks the build deleted and writes the task that removes what belongs
// to it.
func (r *room) deleteBuild(c *gin.Context, projectID, id int64) error {
	return r.change(c, func(ctx context.Context, tx *storage.Tx, w account.Writer) error {
		if err := distribution.DeleteBuild(ctx, tx, w, projectID, id); err != nil {
			return err
		}
		return r.queue.Insert(ctx, tx, tasks.NewBuildDelete(w.OrganizationID, respond.RequestID(ctx), id))
	})
}
