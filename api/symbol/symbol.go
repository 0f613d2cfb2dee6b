// Package symbol serves symbol files over version 3 of the distribution interface: the
// list of uploads, one upload with its debug files and their identifiers, its download,
// reading it anew, its removal, and the files that crashes lack. It also hands the files
// out to debuggers: as a debuginfod server (debuginfod.go) and in the layout of symbol
// servers (server.go).
//
// Uploads come in by other rooms: api/upload and api/intake. Both store them through
// Store, which writes the row and its task symbol:index in one transaction.
//
// Everything is limited to the caller's organization. Debuggers that can send no header
// may have their key in the path; the router keeps keys in paths out of the log.
//
// What is handed out is the file as it was uploaded. A member of an archive is unpacked
// on its way out, never stored, and bounded in bytes and time; some at once, and fewer of
// one organization.
//
// Failures are 400 for a parameter that breaks a rule, 404 also for what belongs to
// another organization, 503 when too many members of archives are being unpacked. To
// debuggers failures are plain text.
package symbol

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/pagination"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/api/route"
	"github.com/slipway-qa/slipway/api/wait"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/storage/object"
	"github.com/slipway-qa/slipway/storage/symbolfile"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/tasks/admission"
)

// Config is what the handlers need. All but Log and Now are required.
type Config struct {
	Store   *Store
	Objects object.Store
	Auth    *auth.Authenticator
	Ledger  *ledger.Store
	Watcher *wait.Watcher    // of tasks (ledger's Store.Ended)
	Log     *slog.Logger     // nil: slog.Default
	Now     func() time.Time // nil: time.Now
}

// Handlers are the handlers of the room's routes.
type Handlers struct {
	db      *storage.DB
	store   *Store
	objects object.Store
	auth    *auth.Authenticator
	ledger  *ledger.Store
	watcher *wait.Watcher
	log     *slog.Logger
	now     func() time.Time
	unpack  *admission.Room // of members of archives on their way out
}

// New returns the handlers.
func New(cfg Config) (*Handlers, error) {
	if cfg.Store == nil || cfg.Objects == nil || cfg.Auth == nil || cfg.Ledger == nil || cfg.Watcher == nil {
		return nil, errors.New("symbol handlers: store, object store, authenticator, ledger and watcher are required")
	}
	if cfg.Log == nil {
		cfg.Log = slog.Default()
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Handlers{db: cfg.Store.db, store: cfg.Store, objects: cfg.Objects, auth: cfg.Auth, ledger: cfg.Ledger,
		watcher: cfg.Watcher, log: cfg.Log, now: cfg.Now,
		unpack: newUnpackRoom()}, nil
}

const publicDebugger = "debuggers send the key in the path as well; the handler authenticates"

// Routes are the room's routes.
func (h *Handlers) Routes() []route.Route {
	const v3 = respond.InterfaceV3
	debugger := func(path string, handler route.Handler) route.Route {
		return route.Route{Method: http.MethodGet, Path: path, Interface: v3, Public: publicDebugger, Handler: handler,
			Fail: failText, Deadline: route.UploadDeadline}
	}
	return []route.Route{
		{Method: http.MethodGet, Path: "/api/v3/symbols", Interface: v3, Query: listQuery(), Action: auth.ReadSymbols, Handler: h.List},
		{Method: http.MethodGet, Path: "/api/v3/symbols/missing", Interface: v3, Query: missingQuery(), Action: auth.ReadSymbols,
			Handler: h.Missing, Deadline: wait.Deadline},
		{Method: http.MethodPost, Path: "/api/v3/symbols/known", Interface: v3, Query: route.NoQuery(), Action: auth.ReadSymbols,
			Handler: h.Known},
		{Method: http.MethodGet, Path: "/api/v3/symbols/:id", Interface: v3, Query: []string{"page", "per_page"},
			Action: auth.ReadSymbols, Handler: h.Get},
		{Method: http.MethodDelete, Path: "/api/v3/symbols/:id", Interface: v3, Bare: true, Query: route.NoQuery(),
			Action: auth.DeleteSymbols, Handler: h.Delete},
		{Method: http.MethodGet, Path: "/api/v3/symbols/:id/download", Interface: v3, Query: route.NoQuery(),
			Action: auth.ReadSymbols, Handler: h.Download},
		{Method: http.MethodPost, Path: "/api/v3/symbols/:id/index", Interface: v3, Bare: true, Query: route.NoQuery(),
			Action: auth.UploadSymbols, Handler: h.Index},
		debugger("/buildid/*path", h.BuildID),
		debugger("/debuginfod/*path", h.Debuginfod),
		debugger("/symbolserver/*path", h.SymbolServer),
	}
}

// filesInLists is how many debug files of each upload a list shows.
const filesInLists = 10

// List serves GET /api/v3/symbols, newest first.
func (h *Handlers) List(c *gin.Context) error {
	q := c.Request.URL.Query()
	at, err := pagination.Parse(q, pagination.Small())
	if err != nil {
		return err
	}
	filter, err := filterOf(q, auth.Organization(c))
	if err != nil {
		return err
	}
	ctx := c.Request.Context()
	list, total, err := symbolfile.List(ctx, h.db, filter, at.Rows())
	if err != nil {
		return err
	}
	ids := make([]int64, len(list))
	for i := range list {
		ids[i] = list[i].ID
	}
	contents, err := symbolfile.ContentsOf(ctx, h.db, ids, storage.Page{Limit: filesInLists})
	if err != nil {
		return err
	}
	views := make([]view, len(list))
	for i := range list {
		views[i] = viewOf(&list[i], contents[list[i].ID])
	}
	return respond.JSON(c, http.StatusOK, gin.H{"symbols": views, "pagination": at.Of(total)})
}

// filePages are the debug files of one upload: an archive may have thousands.
func filePages() pagination.Options { return pagination.Options{Default: 100, Max: 1000} }

// Get serves GET /api/v3/symbols/{id}; page and per_page are of its debug files.
func (h *Handlers) Get(c *gin.Context) error {
	id, err := pagination.ID(c.Param("id"))
	if err != nil {
		return err
	}
	at, err := pagination.Parse(c.Request.URL.Query(), filePages())
	if err != nil {
		return err
	}
	u, err := symbolfile.UploadByID(c.Request.Context(), h.db, auth.Organization(c), id)
	if err != nil {
		return err
	}
	contents, err := symbolfile.ContentsOf(c.Request.Context(), h.db, []int64{id}, at.Rows())
	if err != nil {
		return err
	}
	return respond.JSON(c, http.StatusOK, gin.H{"symbol": viewOf(u, contents[id]), "pagination": at.Envelope(contents[id].Count)})
}

// Delete serves DELETE /api/v3/symbols/{id}. Crashes that were read with the file stay as
// they are.
func (h *Handlers) Delete(c *gin.Context) error {
	id, err := pagination.ID(c.Param("id"))
	if err != nil {
		return err
	}
	ctx := c.Request.Context()
	var keys []string
	err = h.db.InTx(ctx, func(tx *storage.Tx) (err error) {
		keys, err = symbolfile.Delete(ctx, tx, auth.Writer(c), id)
		return err
	})
	if err != nil {
		return err
	}
	h.removeObjects(ctx, keys)
	return respond.Empty(c, http.StatusNoContent)
}

// removeTimeout bounds the deletion of objects after the commit; what stays is found by
// the sweep.
const removeTimeout = 15 * time.Second

func (h *Handlers) removeObjects(ctx context.Context, keys []string) {
	if len(keys) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), removeTimeout)
	defer cancel()
	if err := h.objects.Delete(ctx, keys...); err != nil {
		h.log.WarnContext(ctx, "objects of removed symbols not deleted, the sweep will", "objects", len(keys), "error", err)
	}
}

// linkAge is how long a signed link works, as that of a build's file does.
const linkAge = time.Hour

// Download serves GET /api/v3/symbols/{id}/download with a signed link to the file as it
// was uploaded.
func (h *Handlers) Download(c *gin.Context) error {
	id, err := pagination.ID(c.Param("id"))
	if err != nil {
		return err
	}
	ctx := c.Request.Context()
	u, err := symbolfile.UploadByID(ctx, h.db, auth.Organization(c), id)
	if err != nil {
		return err
	}
	expires := h.now().Add(linkAge).UTC().Truncate(time.Second)
	url, err := h.objects.SignGet(ctx, u.ObjectKey, linkAge, object.SignOptions{FileName: u.Name, ContentType: "application/octet-stream"})
	if err != nil {
		return err
	}
	respond.Private(c)
	return respond.JSON(c, http.StatusOK, gin.H{"url": url, "expires_at": expires})
}

// Index serves POST /api/v3/symbols/{id}/index: the file is read anew. One that is pending
// stays so, with its task.
func (h *Handlers) Index(c *gin.Context) error {
	id, err := pagination.ID(c.Param("id"))
	if err != nil {
		return err
	}
	ctx, w, taskID := c.Request.Context(), auth.Writer(c), storage.NewID()
	var u *symbolfile.Upload
	err = h.db.InTx(ctx, func(tx *storage.Tx) error {
		var pending bool
		var err error
		if u, pending, err = symbolfile.Reindex(ctx, tx, w, id, taskID); err != nil || !pending {
			return err
		}
		task := tasks.NewSymbolIndex(w.OrganizationID, respond.RequestID(ctx), u.ID, u.SHA256)
		task.ID = taskID
		return h.store.queue.Insert(ctx, tx, task)
	})
	if err != nil {
		return err
	}
	contents, err := symbolfile.ContentsOf(ctx, h.db, []int64{id}, storage.Page{Limit: filesInLists})
	if err != nil {
		return err
	}
	return respond.JSON(c, http.StatusOK, gin.H{"symbol": viewOf(u, contents[id]), "task_id": u.TaskID})
}
