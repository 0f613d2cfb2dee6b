package task

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gin-gonic/gin"
	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/pagination"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/tasks"
)

// List serves GET /api/v3/tasks. Parameters: those of filterQuery, page, per_page.
func (h *Handlers) List(c *gin.Context) error {
	p, err := pagination.Parse(c.Request.URL.Query(), pagination.Small())
	if err != nil {
		return err
	}
	f, err := filter(c)
	if err != nil {
		return err
	}
	f.Limit, f.Offset = p.Limit(), p.Offset()
	ctx := c.Request.Context()
	rows, total, err := h.store.List(ctx, f)
	if err != nil {
		return err
	}
	shown, err := h.views(ctx, rows, seenBy(auth.CallerOf(ctx), f))
	if err != nil {
		return err
	}
	return respond.JSON(c, http.StatusOK, listAnswer{Tasks: shown, Pagination: p.Of(total)})
}

// seenBy is the scope of what is shown: an operator who selects an organization reads as
// an operator.
func seenBy(caller *auth.Caller, f ledger.Filter) ledger.Scope {
	if caller.Operator {
		return ledger.Scope{}
	}
	return f.Scope
}

// filterQuery are the parameters that select tasks.
func filterQuery() []string {
	return []string{"type[]", "state[]", "queue[]", "organization_id", "request_id", "error", "late", "from", "to"}
}

// maxText bounds the texts of a filter, in bytes.
const maxText = 200

// filter reads which tasks are meant.
func filter(c *gin.Context) (ledger.Filter, error) {
	q := c.Request.URL.Query()
	var f ledger.Filter
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
	if f.Queues, err = pagination.List(q, "queue"); err != nil {
		return f, err
	}
	if slices.ContainsFunc(f.Queues, func(queue string) bool { return !slices.Contains(tasks.Queues(), queue) }) {
		return f, &storage.InvalidError{Field: "queue", Msg: fmt.Sprintf("must be one of %v", tasks.Queues())}
	}
	late, err := pagination.Only(q, "late")
	if err != nil {
		return f, err
	}
	if late {
		// The same tasks that the overview counts.
		f.DueBefore = time.Now().Add(-ledger.Lateness)
		if len(f.Queues) == 0 {
			f.Queues = tasks.Queues()
		}
	}
	if f.From, f.To, err = pagination.Range(q, "from", "to"); err != nil {
		return f, err
	}
	for name, into := range map[string]*string{"request_id": &f.RequestID, "error": &f.Error} {
		if *into, err = text(q, name); err != nil {
			return f, err
		}
	}
	caller := auth.CallerOf(c.Request.Context())
	if f.Scope, err = selected(caller, q); err != nil {
		return f, err
	}
	f.Inside = caller.Operator
	return f, nil
}

// text reads a parameter that is a text; "" when it is absent.
func text(q url.Values, name string) (string, error) {
	values := q[name]
	if len(values) == 0 {
		return "", nil
	}
	value := values[0]
	if len(values) > 1 || value == "" || len(value) > maxText || !utf8.ValidString(value) || strings.ContainsRune(value, 0) {
		return "", storage.Invalid(name, "must be one text of 1 to %d bytes", maxText)
	}
	return value, nil
}

// selected is what of the ledger a request means: all that the caller sees, or for
// operators one organization of it.
func selected(caller *auth.Caller, q url.Values) (ledger.Scope, error) {
	scope, err := scopeOf(caller)
	if err != nil || !q.Has("organization_id") {
		return scope, err
	}
	id, err := strconv.ParseInt(q.Get("organization_id"), 10, 64)
	if err != nil || id < 1 || len(q["organization_id"]) > 1 {
		return scope, storage.Invalid("organization_id", "must be one number above 0")
	}
	if !caller.Operator && id != caller.OrganizationID {
		return scope, &respond.Problem{Status: http.StatusForbidden, Text: "to select tasks of another organization takes operator credentials"}
	}
	return ledger.Scope{OrganizationID: id}, nil
}

// validKind accepts what could be a kind, also one that this binary no longer
// has: old rows stay readable.
func validKind(kind string) bool {
	return len(kind) <= 64 && !strings.ContainsFunc(kind, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == ':' || r == '-' || r == '_' || r == '.')
	})
}
