// Package task serves the tasks of the ledger over HTTP: a list, one task with
// waiting, retry and cancel (decisions, part 3).
//
// Members see the tasks of their organization, operators all; a task of another
// organization is not found. `?wait=SECONDS` holds the answer back until the task
// has ended or the time is over, whatever comes first, and then answers the task
// as it stands. All waiting requests of a process share one Watcher, which asks
// the database for all of them in one statement.
//
// Retry takes a task that is dead or cancelled, cancel one that has not ended;
// otherwise the answer is 409. Who may do so is said by the task's kind (members,
// admins, operators alone); whoever may not is answered 403 with what it takes.
// Both write the audit log in their transaction. A running task is asked to stop
// and says so by itself, so its state right after cancel may still be running.
package task

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/pagination"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/tasks"
)

// MaxWait is the longest wait that a caller may ask for.
const MaxWait = 60 * time.Second

// Handlers are the handlers of the task routes.
type Handlers struct {
	store   *ledger.Store
	watcher *Watcher
	kinds   map[string]tasks.Kind
}

// New makes the handlers.
func New(store *ledger.Store, watcher *Watcher) *Handlers {
	return &Handlers{store: store, watcher: watcher, kinds: tasks.Kinds()}
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

// scope is what of the ledger the caller sees.
func scope(c *gin.Context) (ledger.Scope, error) {
	caller := auth.CallerOf(c.Request.Context())
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

// List answers GET /api/v3/tasks.
func (h *Handlers) List(c *gin.Context) {
	q := c.Request.URL.Query()
	p, err := pagination.Parse(q, pagination.Small())
	if err != nil {
		respond.V3(c, err)
		return
	}
	f := ledger.Filter{Kind: q.Get("type"), State: ledger.State(q.Get("state")), Limit: p.Limit(), Offset: p.Offset()}
	if f.Kind != "" && !validKind(f.Kind) {
		respond.V3(c, &storage.InvalidError{Field: "type", Msg: "must be the name of a task type"})
		return
	}
	if f.State != "" && !slices.Contains(ledger.States(), f.State) {
		respond.V3(c, &storage.InvalidError{Field: "state", Msg: fmt.Sprintf("must be one of %v", ledger.States())})
		return
	}
	if f.From, f.To, err = pagination.Range(q, "from", "to"); err == nil {
		f.Scope, err = scope(c)
	}
	if err != nil {
		respond.V3(c, err)
		return
	}
	rows, total, err := h.store.List(c.Request.Context(), f)
	if err != nil {
		respond.V3(c, err)
		return
	}
	answer := listAnswer{Tasks: make([]view, 0, len(rows)), Pagination: p.Envelope(total)}
	for i := range rows {
		answer.Tasks = append(answer.Tasks, viewOf(&rows[i], f.Scope))
	}
	respond.JSON(c, http.StatusOK, answer)
}

// validKind accepts what could be a kind, also one that this binary no longer
// has: old rows stay readable.
func validKind(kind string) bool {
	return len(kind) <= 64 && !strings.ContainsFunc(kind, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == ':' || r == '-' || r == '_' || r == '.')
	})
}

// Get answers GET /api/v3/tasks/{id}, with ?wait= when the task has ended or the
// time is over.
func (h *Handlers) Get(c *gin.Context) {
	id, s, err := target(c)
	if err != nil {
		respond.V3(c, err)
		return
	}
	wait, err := WaitOf(c)
	if err != nil {
		respond.V3(c, err)
		return
	}
	ctx := c.Request.Context()
	t, err := h.store.Get(ctx, s, id)
	if err == nil && wait > 0 && !t.State.Terminal() {
		if err = h.watcher.Wait(ctx, s.OrganizationID, id, wait); err == nil {
			t, err = h.store.Get(ctx, s, id)
		}
	}
	if err != nil {
		respond.V3(c, err)
		return
	}
	respond.JSON(c, http.StatusOK, oneAnswer{viewOf(t, s)})
}

func target(c *gin.Context) (uuid.UUID, ledger.Scope, error) {
	s, err := scope(c)
	if err != nil {
		return uuid.Nil, s, err
	}
	id, err := uuid.Parse(c.Param("id"))
	if err != nil {
		return uuid.Nil, s, &storage.InvalidError{Field: "id", Msg: "must be a UUID"}
	}
	return id, s, nil
}

// WaitOf reads the query parameter wait, a number of seconds up to MaxWait; 0
// without it. The error is a *storage.InvalidError.
func WaitOf(c *gin.Context) (time.Duration, error) {
	text := c.Query("wait")
	if text == "" {
		return 0, nil
	}
	seconds, err := strconv.Atoi(text)
	if err != nil || seconds < 0 || seconds > int(MaxWait/time.Second) {
		return 0, &storage.InvalidError{Field: "wait", Msg: "must be a number of seconds from 0 to 60"}
	}
	return time.Duration(seconds) * time.Second, nil
}

// Retry answers POST /api/v3/tasks/{id}/retry.
func (h *Handlers) Retry(c *gin.Context) {
	id, s, err := target(c)
	if err != nil {
		respond.V3(c, err)
		return
	}
	kind, known, err := h.kindOf(c, s, id)
	if err == nil {
		err = permit(auth.CallerOf(c.Request.Context()), kind.Retry, "retry", kind.Name)
	}
	if err == nil && !known {
		err = &respond.Problem{Status: http.StatusConflict, Text: "tasks of this type are not run any more"}
	}
	if err != nil {
		respond.V3(c, err)
		return
	}
	h.change(c, s, account.TaskRetried, "only a task that is dead or cancelled can be retried, and only while no other does its work",
		func(tx *storage.Tx) (*ledger.Task, error) {
			return ledger.Retry(c.Request.Context(), tx, s, id, kind.MaxAttempts)
		})
}

// kindOf is the kind of a task that the caller sees; a task never changes its
// kind. One that this binary does not have is only the operators' to change: what
// its end would undo is not known here.
func (h *Handlers) kindOf(c *gin.Context, s ledger.Scope, id uuid.UUID) (kind tasks.Kind, known bool, err error) {
	t, err := h.store.Get(c.Request.Context(), s, id)
	if err != nil {
		return kind, false, err
	}
	if kind, known = h.kinds[t.Kind]; !known {
		kind = tasks.Kind{Name: t.Kind, Retry: tasks.GrantOperator, Cancel: tasks.GrantOperator}
	}
	return kind, known, nil
}

// Cancel answers POST /api/v3/tasks/{id}/cancel.
func (h *Handlers) Cancel(c *gin.Context) {
	id, s, err := target(c)
	if err != nil {
		respond.V3(c, err)
		return
	}
	kind, _, err := h.kindOf(c, s, id)
	if err == nil {
		err = permit(auth.CallerOf(c.Request.Context()), kind.Cancel, "cancel", kind.Name)
	}
	if err != nil {
		respond.V3(c, err)
		return
	}
	h.change(c, s, account.TaskCancelled, "the task has ended",
		func(tx *storage.Tx) (*ledger.Task, error) {
			return ledger.Cancel(c.Request.Context(), tx, s, id)
		})
}

// change runs a change and its audit row in one transaction.
func (h *Handlers) change(c *gin.Context, s ledger.Scope, what account.AuditType, conflict string,
	do func(*storage.Tx) (*ledger.Task, error)) {
	ctx := c.Request.Context()
	var t *ledger.Task
	err := h.store.DB().InTx(ctx, func(tx *storage.Tx) error {
		var err error
		if t, err = do(tx); err != nil {
			return err
		}
		e := account.Event{Type: what, Actor: auth.Actor(c), Subject: "task " + t.ID.String(),
			Detail: map[string]any{"type": t.Kind}}
		if t.OrganizationID != nil {
			e.OrganizationID = *t.OrganizationID
		}
		return account.Audit(ctx, tx, e)
	})
	if errors.Is(err, storage.ErrConflict) {
		err = &respond.Problem{Status: http.StatusConflict, Text: conflict, Err: err}
	}
	if err != nil {
		respond.V3(c, err)
		return
	}
	respond.JSON(c, http.StatusOK, oneAnswer{viewOf(t, s)})
}
