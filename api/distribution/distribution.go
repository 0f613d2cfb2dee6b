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
// the team. The handlers say so by the Writer that they hand to the store, which
// checks it in the transaction of the change.
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
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/body"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/distribution"
	"github.com/slipway-qa/slipway/storage/object"
	"github.com/slipway-qa/slipway/tasks/link"
)

// Config is what the handlers are made from.
type Config struct {
	DB *storage.DB
	// Objects may be nil: then downloads lead to the install page.
	Objects object.Store
	Links   link.Links
	Vendor  string       // names the member has<Vendor>Sdk of version 1
	Log     *slog.Logger // default slog.Default
	Now     func() time.Time
}

// Handlers are the handlers of the routes of apps and builds. The router puts
// auth.Require before each of them.
type Handlers struct {
	db      *storage.DB
	objects object.Store
	links   link.Links
	views   Views
	log     *slog.Logger
	now     func() time.Time
}

// New makes the handlers.
func New(cfg Config) *Handlers {
	h := &Handlers{db: cfg.DB, objects: cfg.Objects, links: cfg.Links, views: NewViews(cfg.Links, cfg.Vendor),
		log: cfg.Log, now: cfg.Now}
	if h.log == nil {
		h.log = slog.Default()
	}
	if h.now == nil {
		h.now = time.Now
	}
	return h
}

// callerOf is who calls. Without one, which the router rules out, it is somebody
// of no organization, who finds and changes nothing.
func callerOf(c *gin.Context) *auth.Caller {
	if caller := auth.CallerOf(c.Request.Context()); caller != nil {
		return caller
	}
	return &auth.Caller{}
}

func organization(c *gin.Context) int64 { return callerOf(c).OrganizationID }

// change runs a change with its audit row in one transaction.
func (h *Handlers) change(c *gin.Context, do func(ctx context.Context, tx *storage.Tx, actor account.Actor) error) error {
	ctx, actor := c.Request.Context(), auth.Actor(c)
	return h.db.InTx(ctx, func(tx *storage.Tx) error { return do(ctx, tx, actor) })
}

// maxText bounds what a parameter of a list or a path may hold, in bytes: names
// and versions are not longer.
const maxText = 255

func plain(s string, most int) bool {
	return len(s) <= most && utf8.ValidString(s) && strings.IndexByte(s, 0) < 0
}

// text reads a query parameter that filters by text.
func text(c *gin.Context, name string) (string, error) {
	value := strings.TrimSpace(c.Query(name))
	if !plain(value, maxText) {
		return "", &storage.InvalidError{Field: name, Msg: "must be UTF-8 text of at most 255 bytes"}
	}
	return value, nil
}

// number reads a query parameter that is an id; 0 when absent.
func number(c *gin.Context, name string) (int64, error) {
	value := strings.TrimSpace(c.Query(name))
	if value == "" {
		return 0, nil
	}
	id, err := strconv.ParseUint(value, 10, 63)
	if err != nil || id == 0 {
		return 0, &storage.InvalidError{Field: name, Msg: "must be a numeric id"}
	}
	return int64(id), nil
}

// everyTester stands for all testers of the organization in a list of groups.
const everyTester = "all"

// groupsOf reads a list of groups: nil leaves the grants, an empty one and the
// word none remove them, the word all opens to every tester.
func groupsOf(list body.List) distribution.Groups {
	if list == nil {
		return distribution.Groups{}
	}
	g := distribution.Groups{Given: true}
	if len(list) == 1 && strings.EqualFold(list[0], "none") {
		return g
	}
	for _, name := range list {
		if strings.EqualFold(name, everyTester) {
			g.All = true
			continue
		}
		g.Names = append(g.Names, name)
	}
	return g
}

// checkMode refuses a mode other than open and closed; nil and "" when the member
// is not sent are the caller's matter.
func checkMode(mode *string) error {
	if mode == nil || *mode == distribution.Open || *mode == distribution.Closed {
		return nil
	}
	return &respond.Problem{Status: http.StatusBadRequest, Legacy: codeMode,
		Text: "landing_page_mode: must be open or closed"}
}
