// Package task serves the tasks of the ledger over HTTP: a list, one task with
// waiting, retry and cancel.
//
// Members see the tasks of their organization, operators all; a task of another
// organization is not found. `?wait=SECONDS` holds the answer back until the task
// has ended or the time is over, whatever comes first (package wait); the answer is
// the task as it is then.
//
// Retry takes a task that is dead or cancelled, cancel one that has not ended;
// otherwise the answer is 409. Who may do so depends on the task's kind (members,
// admins, operators alone); for others the answer is 403 and names the role that it
// takes. Both write the audit log in their transaction. A running task is asked to
// stop and does so by itself, so its state right after cancel may still be running.
package task

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

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
		{Method: http.MethodGet, Path: "/api/v3/tasks", Interface: v3, Query: []string{"type[]", "state[]", "from", "to", "page", "per_page"}, Action: auth.ReadTasks, Handler: h.List},
		{Method: http.MethodGet, Path: "/api/v3/tasks/:id", Interface: v3, Query: []string{"wait"}, Action: auth.ReadTasks, Handler: h.Get, Deadline: wait.Deadline},
		{Method: http.MethodPost, Path: "/api/v3/tasks/:id/retry", Interface: v3, Query: route.NoQuery(), Action: auth.ChangeTasks, Handler: h.Retry},
		{Method: http.MethodPost, Path: "/api/v3/tasks/:id/cancel", Interface: v3, Query: route.NoQuery(), Action: auth.ChangeTasks, Handler: h.Cancel},
	}
}

// view is a task in an answer. The payload stays inside: it holds ids that mean
// nothing to a caller.
type view struct {
	ID             uuid.UUID        `json:"id"`
	Type           string           `json:"type"`
	State          ledger.State     `json:"state"`
	Queue          string           `json:"queue"`
	OrganizationID *int64           `json:"organization_id"`
	Attempt        int              `json:"attempt"`
	MaxAttempts    int              `json:"max_attempts"`
	RunAt          time.Time        `json:"run_at"`
	CreatedAt      time.Time        `json:"created_at"`
	StartedAt      *time.Time       `json:"started_at"`
	FinishedAt     *time.Time       `json:"finished_at"`
	Error          *string          `json:"error"`
	Result         *json.RawMessage `json:"result"`
	RequestID      string           `json:"request_id"`
}

// viewOf shows a task to those of a scope: what went wrong inside is for
// operators, whose scope is every organization.
func viewOf(t *ledger.Task, s ledger.Scope) view {
	failure := t.PublicError()
	if s == (ledger.Scope{}) {
		failure = t.Error
	}
	return view{ID: t.ID, Type: t.Kind, State: t.State, Queue: t.Queue, OrganizationID: t.OrganizationID,
		Attempt: t.Attempt, MaxAttempts: t.MaxAttempts, RunAt: t.RunAt.UTC(), CreatedAt: t.CreatedAt.UTC(),
		StartedAt: utc(t.StartedAt), FinishedAt: utc(t.FinishedAt), Error: failure, Result: t.Result,
		RequestID: t.RequestID}
}

func utc(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	u := t.UTC()
	return &u
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

// List serves GET /api/v3/tasks. Parameters: the arrays type and state, from and to (of the
// creation), page, per_page.
func (h *Handlers) List(c *gin.Context) error {
	p, err := pagination.Parse(c.Request.URL.Query(), pagination.Small())
	if err != nil {
		return err
	}
	f, err := filter(c, p)
	if err != nil {
		return err
	}
	rows, total, err := h.store.List(c.Request.Context(), f)
	if err != nil {
		return err
	}
	answer := listAnswer{Tasks: make([]view, 0, len(rows)), Pagination: p.Envelope(total)}
	for i := range rows {
		answer.Tasks = append(answer.Tasks, viewOf(&rows[i], f.Scope))
	}
	return respond.JSON(c, http.StatusOK, answer)
}

func filter(c *gin.Context, p pagination.Request) (ledger.Filter, error) {
	q := c.Request.URL.Query()
	f := ledger.Filter{Limit: p.Limit(), Offset: p.Offset()}
	var err error
	if f.Kinds, err = pagination.List(q, "type"); err != nil {
		return f, err
	}
	if slices.ContainsFunc(f.Kinds, func(kind string) bool { return !validKind(kind) }) {
		return f, &storage.InvalidError{Field: "type", Msg: "must be the name of a task type"}
	}
	states, err := pagination.List(q, "state")
	if err != nil {
		return f, err
	}
	for _, text := range states {
		state := ledger.State(text)
		if !slices.Contains(ledger.States(), state) {
			return f, &storage.InvalidError{Field: "state", Msg: fmt.Sprintf("must be one of %v", ledger.States())}
		}
		f.States = append(f.States, state)
	}
	if f.From, f.To, err = pagination.Range(q, "from", "to"); err != nil {
		return f, err
	}
	f.Scope, err = scopeOf(auth.CallerOf(c.Request.Context()))
	return f, err
}

// validKind accepts what could be a kind, also one that this binary no longer
// has: old rows stay readable.
func validKind(kind string) bool {
	return len(kind) <= 64 && !strings.ContainsFunc(kind, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == ':' || r == '-' || r == '_' || r == '.')
	})
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
	return respond.JSON(c, http.StatusOK, oneAnswer{viewOf(t, of.scope)})
}

// Retry serves POST /api/v3/tasks/{id}/retry.
func (h *Handlers) Retry(c *gin.Context) error {
	of, err := targetOf(c)
	if err != nil {
		return err
	}
	kind, known, err := h.kindOf(c, of)
	if err != nil {
		return err
	}
	if err := permit(of.caller, kind.Retry, "retry", kind.Name); err != nil {
		return err
	}
	if !known {
		return &respond.Problem{Status: http.StatusConflict, Text: "tasks of this type are not run any more"}
	}
	return h.change(c, of, "only a task that is dead or cancelled can be retried, and only while no other does its work",
		func(ctx context.Context, tx *storage.Tx) (*ledger.Task, error) {
			return ledger.RetryBy(ctx, tx, auth.Actor(c), of.scope, of.id, kind.MaxAttempts)
		})
}

// kindOf is the kind of a task that the caller sees; a task never changes its
// kind. One that this binary does not have is only the operators' to change: what
// its end would undo is not known here.
func (h *Handlers) kindOf(c *gin.Context, of target) (kind tasks.Kind, known bool, err error) {
	t, err := h.store.Get(c.Request.Context(), of.scope, of.id)
	if err != nil {
		return kind, false, err
	}
	if kind, known = h.kinds[t.Kind]; !known {
		kind = tasks.Kind{Name: t.Kind, Retry: tasks.GrantOperator, Cancel: tasks.GrantOperator}
	}
	return kind, known, nil
}

// Cancel serves POST /api/v3/tasks/{id}/cancel.
func (h *Handlers) Cancel(c *gin.Context) error {
	of, err := targetOf(c)
	if err != nil {
		return err
	}
	kind, _, err := h.kindOf(c, of)
	if err != nil {
		return err
	}
	if err := permit(of.caller, kind.Cancel, "cancel", kind.Name); err != nil {
		return err
	}
	return h.change(c, of, "the task has ended", func(ctx context.Context, tx *storage.Tx) (*ledger.Task, error) {
		return ledger.CancelBy(ctx, tx, auth.Actor(c), of.scope, of.id)
	})
}

// change runs a change in its transaction and writes the task as it is then.
func (h *Handlers) change(c *gin.Context, of target, conflict string, do func(context.Context, *storage.Tx) (*ledger.Task, error)) error {
	ctx := c.Request.Context()
	var t *ledger.Task
	err := h.store.DB().InTx(ctx, func(tx *storage.Tx) (err error) {
		t, err = do(ctx, tx)
		return err
	})
	if errors.Is(err, storage.ErrConflict) {
		return &respond.Problem{Status: http.StatusConflict, Text: conflict, Err: err}
	}
	if err != nil {
		return err
	}
	return respond.JSON(c, http.StatusOK, oneAnswer{viewOf(t, of.scope)})
}
