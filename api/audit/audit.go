// Package audit serves the audit log and the sites of an account over the three versions
// of the distribution interface.
//
// Versions 1 and 2 show the log of all sites that the caller manages: who is owner or
// admin of an account's first organization sees every site, an admin of a site only that
// one. Version 3 is served on the host of one organization and shows that one. The trails
// of version 2 are filters of one log; which action is in which is a table of package
// storage/account, printed in docs/audit.md.
//
// Version 3 also writes the log as CSV: the filtered list as a whole, streamed while it
// is read, for at most ten minutes. Cells that a spreadsheet would take for a formula
// begin with an apostrophe. The export is itself an event.
//
// Failures are 400 for a parameter that breaks a rule, 403 for who is no admin, and 404
// for a site that the caller does not manage.
package audit

import (
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/api/route"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
)

// Config is what the handlers need.
type Config struct {
	DB   *storage.DB
	Keys *account.Issuer // of the key of a new site's owner
	Log  *slog.Logger    // default slog.Default
	Now  func() time.Time
}

// Handlers are the handlers of the room's routes.
type Handlers struct{ cfg Config }

// New returns the handlers.
func New(cfg Config) (*Handlers, error) {
	if cfg.DB == nil || cfg.Keys == nil {
		return nil, errors.New("audit handlers: database and issuer of keys are required")
	}
	if cfg.Log == nil {
		cfg.Log = slog.Default()
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Handlers{cfg: cfg}, nil
}

// Routes are the room's routes.
func (h *Handlers) Routes() []route.Route {
	const v3, v1 = respond.InterfaceV3, respond.InterfaceLegacy
	of3 := []string{"page", "per_page", "action[]", "search", "from", "to", "user_id", "format"}
	of2 := []string{"page", "per_page", "site", "action_type", "start_date", "end_date"}
	return []route.Route{
		{Method: http.MethodGet, Path: "/api/v3/audits", Interface: v3, Action: auth.ReadAudits, Handler: h.list3,
			Query: of3, DeadlineOf: deadline},
		{Method: http.MethodGet, Path: "/api/v3/audits.csv", Interface: v3, Action: auth.ReadAudits, Handler: h.export,
			Query: of3, Deadline: route.StreamDeadline},
		{Method: http.MethodGet, Path: "/api/v3/audits/actions", Interface: v3, Query: route.NoQuery(), Action: auth.ReadAudits,
			Handler: h.actions},
		{Method: http.MethodGet, Path: "/api/2/audits", Interface: v1, Action: auth.ReadAudits, Handler: h.all2, Query: of2},
		{Method: http.MethodGet, Path: "/api/2/audits/admin-trail", Interface: v1, Action: auth.ReadAudits, Handler: h.admin2, Query: of2},
		{Method: http.MethodGet, Path: "/api/2/audits/tester-trail", Interface: v1, Action: auth.ReadAudits, Handler: h.tester2, Query: of2},
		{Method: http.MethodGet, Path: "/api/1/audits", Interface: v1, Action: auth.ReadAudits, Handler: h.list1},
		{Method: http.MethodGet, Path: "/api/1/site", Interface: v1, Action: auth.ReadSites, Handler: h.sites},
		{Method: http.MethodGet, Path: "/api/1/sites", Interface: v1, Action: auth.ReadSites, Handler: h.sites},
		{Method: http.MethodPost, Path: "/api/1/site", Interface: v1, Action: auth.CreateSites, Handler: h.createSite},
		{Method: http.MethodPost, Path: "/api/1/sites", Interface: v1, Action: auth.CreateSites, Handler: h.createSite},
	}
}

// deadline lets an export take its time; a list has the ordinary one.
func deadline(c *gin.Context) time.Duration {
	if wantsCSV(c) {
		return route.StreamDeadline
	}
	return 0
}

// wantsCSV reports whether the list is asked for as CSV.
func wantsCSV(c *gin.Context) bool {
	if format := c.Query("format"); format != "" {
		return format == "csv"
	}
	for kind := range strings.SplitSeq(c.GetHeader("Accept"), ",") {
		name, _, _ := strings.Cut(kind, ";")
		switch strings.ToLower(strings.TrimSpace(name)) {
		case "text/csv":
			return true
		case "application/json":
			return false
		}
	}
	return false
}
