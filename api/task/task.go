// Package task serves the tasks of the ledger over HTTP: a list, one task with
// waiting, retry, also of many by a filter, start of one that waits, and cancel.
//
// Members see the tasks of their organization, operators all; a task of another
// organization is not found. `?wait=SECONDS` holds the answer back until the task
// has ended or the time is over, whatever comes first (package wait); the answer is
// the task as it is then.
//
// Retry takes a task that is dead or cancelled, cancel one that has not ended, start one
// that is queued; otherwise the answer is 409. Who may do so depends on the task's kind (members,
// admins, operators alone); for others the answer is 403 and names the role that it
// takes. All write the audit log in their transaction. A running task is asked to
// stop and does so by itself, so its state right after cancel may still be running.
package task

import (
	"errors"
	"net/http"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/pagination"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/api/route"
	"github.com/slipway-qa/slipway/api/wait"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/tasks"
)

// Handlers are the handlers of the task routes.
type Handlers struct {
	store   *ledger.Store
	watcher *wait.Watcher
	kinds   map[string]tasks.Kind
}

// New returns the handlers; the watcher is one of tasks (ledger's Store.Ended).
func New(store *ledger.Store, watcher *wait.Watcher) *Handlers {
	return &Handlers{store: store, watcher: watcher, kinds: tasks.Kinds()}
}

// Routes are the room's routes.
func (h *Handlers) Routes() []route.Route {
	const v3 = respond.InterfaceV3
	return []route.Route{
		{Method: http.MethodGet, Path: "/api/v3/tasks", Interface: v3, Query: append(filterQuery(), "page", "per_page"),
			Action: auth.ReadTasks, Handler: h.List},
		{Method: http.MethodPost, Path: "/api/v3/tasks/retry", Interface: v3, Bare: true, Query: filterQuery(),
			Action: auth.ChangeTasks, Handler: h.RetryAll},
		{Method: http.MethodPost, Path: "/api/v3/tasks/cancel", Interface: v3, Bare: true, Query: filterQuery(),
			Action: auth.ChangeTasks, Handler: h.CancelAll},
		{Method: http.MethodPost, Path: "/api/v3/tasks/run", Interface: v3, Bare: true, Query: filterQuery(),
			Action: auth.ChangeTasks, Handler: h.RunAll},
		{Method: http.MethodGet, Path: "/api/v3/tasks/:id", Interface: v3, Query: []string{"wait"}, Action: auth.ReadTasks,
			Handler: h.Get, Deadline: wait.Deadline},
		{Method: http.MethodPost, Path: "/api/v3/tasks/:id/retry", Interface: v3, Bare: true, Query: route.NoQuery(),
			Action: auth.ChangeTasks, Handler: h.Retry},
		{Method: http.MethodPost, Path: "/api/v3/tasks/:id/run", Interface: v3, Bare: true, Query: route.NoQuery(),
			Action: auth.ChangeTasks, Handler: h.RunNow},
		{Method: http.MethodPost, Path: "/api/v3/tasks/:id/cancel", Interface: v3, Bare: true, Query: route.NoQuery(),
			Action: auth.ChangeTasks, Handler: h.Cancel},
	}
}

type listAnswer struct {
	Tasks      []view                `json:"tasks"`
	Pagination pagination.Pagination `json:"pagination"`
}

type oneAnswer struct {
	Task view `json:"task"`
}

// target is what a request is about: the caller, what of the ledger the caller sees,
// and the task of the path.
type target struct {
	caller *auth.Caller
	scope  ledger.Scope
	id     uuid.UUID
}

// targetOf reads the target of a request.
func targetOf(c *gin.Context) (t target, err error) {
	t.caller = auth.CallerOf(c.Request.Context())
	if t.scope, err = scopeOf(t.caller); err != nil {
		return t, err
	}
	if t.id, err = uuid.Parse(c.Param("id")); err != nil {
		return t, &storage.InvalidError{Field: "id", Msg: "must be a UUID"}
	}
	return t, nil
}

// scopeOf is what of the ledger a caller sees.
func scopeOf(caller *auth.Caller) (ledger.Scope, error) {
	switch {
	case caller == nil:
		return ledger.Scope{}, errors.New("task route without a caller")
	case caller.Operator:
		return ledger.Scope{}, nil
	case caller.OrganizationID <= 0:
		// The zero scope is everything; it must never come from a member.
		return ledger.Scope{}, errors.New("caller without an organization")
	}
	return ledger.Scope{OrganizationID: caller.OrganizationID}, nil
}

// Get serves GET /api/v3/tasks/{id}, with ?wait= when the task has ended or the
// time is over.
func (h *Handlers) Get(c *gin.Context) error {
	of, err := targetOf(c)
	if err != nil {
		return err
	}
	most, err := wait.For(c)
	if err != nil {
		return err
	}
	ctx := c.Request.Context()
	t, err := h.store.Get(ctx, of.scope, of.id)
	if err != nil {
		return err
	}
	if most > 0 && !t.State.Terminal() {
		if err := h.watcher.Wait(ctx, of.scope.OrganizationID, of.id, most); err != nil {
			return err
		}
		if t, err = h.store.Get(ctx, of.scope, of.id); err != nil {
			return err
		}
	}
	return h.respond(c, t, of.scope)
}
