package task

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"github.com/gin-gonic/gin"
	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/tasks"
)

// Retry serves POST /api/v3/tasks/{id}/retry.
func (h *Handlers) Retry(c *gin.Context) error {
	of, kind, err := h.runnable(c, "retry")
	if err != nil {
		return err
	}
	return h.change(c, of, "only a task that is dead or cancelled can be retried, and only while no other does its work",
		func(ctx context.Context, tx *storage.Tx) (*ledger.Task, error) {
			return ledger.RetryBy(ctx, tx, auth.Actor(c), of.scope, of.id, kind.MaxAttempts)
		})
}

// runnable returns the task of the path and its kind, when the caller may do the action to
// it and this binary can run it.
func (h *Handlers) runnable(c *gin.Context, action string) (of target, kind tasks.Kind, err error) {
	if of, err = targetOf(c); err != nil {
		return of, kind, err
	}
	kind, known, err := h.kindOf(c, of)
	if err != nil {
		return of, kind, err
	}
	if err := permit(of.caller, kind.Retry, action, kind.Name); err != nil {
		return of, kind, err
	}
	if !known {
		return of, kind, &respond.Problem{Status: http.StatusConflict, Text: "tasks of this type are not run any more"}
	}
	return of, kind, nil
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

// RunNow serves POST /api/v3/tasks/{id}/run: a task that waits, for its time, a backoff or
// others, is due at once and the first of its organization.
func (h *Handlers) RunNow(c *gin.Context) error {
	of, _, err := h.runnable(c, "start")
	if err != nil {
		return err
	}
	return h.change(c, of, "only a task that is queued can be started", func(ctx context.Context, tx *storage.Tx) (*ledger.Task, error) {
		return ledger.RunNowBy(ctx, tx, auth.Actor(c), of.scope, of.id)
	})
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
	return h.respond(c, t, of.scope)
}

// maxChanged bounds the tasks of one request, which is one transaction.
const maxChanged = 500

type retriedAnswer struct {
	Retried   int `json:"retried"`
	Remaining int `json:"remaining"`
	Skipped   int `json:"skipped"`
}

// RetryAll serves POST /api/v3/tasks/retry, with the filters of the list: up to maxChanged
// of the dead tasks, the oldest first. Whoever wants all repeats it until none remains.
func (h *Handlers) RetryAll(c *gin.Context) error {
	f, err := filter(c)
	if err != nil {
		return err
	}
	f.Limit = maxChanged
	if len(f.States) == 0 {
		f.States = []ledger.State{ledger.Dead}
	}
	for _, state := range f.States {
		if state != ledger.Dead && state != ledger.Cancelled {
			return storage.Invalid("state", "must be %s or %s: other tasks cannot be retried", ledger.Dead, ledger.Cancelled)
		}
	}
	kinds, err := h.permitted(c, f, "retry", func(k tasks.Kind) tasks.Grant { return k.Retry })
	if err != nil {
		return err
	}
	may := ledger.Attempts{}
	for _, name := range kinds {
		may[name] = h.kinds[name].MaxAttempts
	}
	ctx := c.Request.Context()
	var done ledger.Retried
	err = h.store.DB().InTx(ctx, func(tx *storage.Tx) (err error) {
		done, err = ledger.RetryAllBy(ctx, tx, auth.Actor(c), f, may)
		return err
	})
	if errors.Is(err, storage.ErrConflict) {
		return &respond.Problem{Status: http.StatusConflict, Text: "a task that does the same work was made at this moment; try again", Err: err}
	}
	if err != nil {
		return err
	}
	return respond.JSON(c, http.StatusOK, retriedAnswer(done))
}

// permitted are the types of tasks of a change of many that the caller may change; one that
// is named and may not be is refused.
func (h *Handlers) permitted(c *gin.Context, f ledger.Filter, verb string, grant func(tasks.Kind) tasks.Grant) ([]string, error) {
	caller := auth.CallerOf(c.Request.Context())
	var names []string
	for name, kind := range h.kinds {
		refused := permit(caller, grant(kind), verb, name)
		if refused != nil && slices.Contains(f.Kinds, name) {
			return nil, refused
		}
		if refused == nil {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, nil
}

type cancelledAnswer struct {
	Cancelled        int  `json:"cancelled"`
	Remaining        int  `json:"remaining"`
	RemainingIsExact bool `json:"remaining_is_exact"`
	Skipped          int  `json:"skipped"`
}

// CancelAll cancels the open tasks that the filters of the list select, and asks those that
// run to stop; at most 500, the oldest first.
func (h *Handlers) CancelAll(c *gin.Context) error {
	done, err := h.changeAll(c, manyTasks{"cancel", []ledger.State{ledger.Queued, ledger.Running}, ledger.CancelMatchingBy,
		func(k tasks.Kind) tasks.Grant { return k.Cancel }})
	if err != nil {
		return err
	}
	return respond.JSON(c, http.StatusOK, cancelledAnswer{done.Changed, done.Remaining.Rows, done.Remaining.Exact, done.Skipped})
}

type startedAnswer struct {
	Started          int  `json:"started"`
	Remaining        int  `json:"remaining"`
	RemainingIsExact bool `json:"remaining_is_exact"`
	Skipped          int  `json:"skipped"`
}

// RunAll makes the queued tasks that the filters of the list select due at once, before
// others of their organizations; at most 500, the oldest first.
func (h *Handlers) RunAll(c *gin.Context) error {
	done, err := h.changeAll(c, manyTasks{"start", []ledger.State{ledger.Queued}, ledger.RunMatchingBy,
		func(k tasks.Kind) tasks.Grant { return k.Retry }})
	if err != nil {
		return err
	}
	return respond.JSON(c, http.StatusOK, startedAnswer{done.Changed, done.Remaining.Rows, done.Remaining.Exact, done.Skipped})
}

// manyTasks is a change of all tasks of a filter.
type manyTasks struct {
	verb   string
	states []ledger.State // those that it takes; of all without a filter of states
	do     func(context.Context, *storage.Tx, account.Actor, ledger.Filter, []string) (ledger.Changed, error)
	grant  func(tasks.Kind) tasks.Grant
}

func (h *Handlers) changeAll(c *gin.Context, of manyTasks) (done ledger.Changed, err error) {
	f, err := filter(c)
	if err != nil {
		return done, err
	}
	f.Limit = maxChanged
	if len(f.States) == 0 {
		f.States = of.states
	}
	for _, state := range f.States {
		if !slices.Contains(of.states, state) {
			return done, storage.Invalid("state", "must be one of %v: there is nothing to %s in others", of.states, of.verb)
		}
	}
	kinds, err := h.permitted(c, f, of.verb, of.grant)
	if err != nil {
		return done, err
	}
	err = h.store.DB().InTx(c.Request.Context(), func(tx *storage.Tx) (err error) {
		done, err = of.do(c.Request.Context(), tx, auth.Actor(c), f, kinds)
		return err
	})
	return done, err
}
