package audit

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/pagination"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/audit"
)

// entry3 is an event in version 3.
type entry3 struct {
	ID        int64             `json:"id"`
	User      user3             `json:"user"`
	IPAddress string            `json:"ip_address"`
	Action    string            `json:"action"`
	Type      account.AuditType `json:"type"`
	Label     string            `json:"label"`
	Subject   string            `json:"subject"`
	Data      json.RawMessage   `json:"data"`
	RequestID string            `json:"request_id"`
	CreatedAt time.Time         `json:"created_at"`
}

// user3 is who did it. The id is null for who is no user of the organization: the command
// line, an operator, the service itself; email is then the name that stands for them.
type user3 struct {
	ID    *int64 `json:"id"`
	Email string `json:"email"`
}

func view3(e *audit.Entry) entry3 {
	return entry3{ID: e.ID, User: user3{ID: e.UserID, Email: e.Actor}, IPAddress: e.IPAddress, Action: e.Action, Type: e.Type,
		Label: e.Label(), Subject: e.Subject, Data: e.Detail, RequestID: e.RequestID, CreatedAt: e.At}
}

// pages3 is the rule of this list alone: it refuses a larger page than 100.
func pages3() pagination.Options { return pagination.Options{Default: 25, Max: 100, Reject: true} }

// list3 serves GET /api/v3/audits. Parameters: action (names of the table, several),
// search, from, to, user_id, page, per_page, format (json or csv).
func (h *Handlers) list3(c *gin.Context) error {
	if wantsCSV(c) {
		return h.export(c)
	}
	if format := c.Query("format"); format != "" && format != "json" {
		return storage.Invalid("format", "must be json or csv")
	}
	f, err := filter3(c)
	if err != nil {
		return err
	}
	at, err := pagination.Parse(c.Request.URL.Query(), pages3())
	if err != nil {
		return err
	}
	rows, total, err := audit.List(c.Request.Context(), h.cfg.DB, f, at.Rows())
	if err != nil {
		return err
	}
	views := make([]entry3, 0, len(rows))
	for i := range rows {
		views = append(views, view3(&rows[i]))
	}
	return respond.JSON(c, http.StatusOK, gin.H{"audits": views, "pagination": at.Of(total)})
}

// filter3 reads the filter of version 3, which is over the caller's organization.
func filter3(c *gin.Context) (audit.Filter, error) {
	q := c.Request.URL.Query()
	f := audit.Filter{Organizations: []int64{auth.Organization(c)}, Search: strings.TrimSpace(q.Get("search"))}
	var err error
	if f.Types, err = actionTypes(q); err != nil {
		return f, err
	}
	if text := strings.TrimSpace(q.Get("user_id")); text != "" {
		if f.UserID, err = pagination.ID(text); err != nil {
			return f, storage.Invalid("user_id", "must be the number of a user")
		}
	}
	if err := audit.CheckSearch(f.Search); err != nil {
		return f, err
	}
	f.From, f.To, err = pagination.Range(q, "from", "to")
	return f, err
}

// actionTypes reads the parameter action: one or several of the table.
func actionTypes(q url.Values) ([]account.AuditType, error) {
	names, err := pagination.List(q, "action")
	if err != nil {
		return nil, err
	}
	var types []account.AuditType
	for _, name := range names {
		line, ok := account.AuditTypeOf(name)
		if !ok {
			return nil, storage.Invalid("action", "must be one of GET /api/v3/audits/actions or of the table in docs/audit.md")
		}
		if !slices.Contains(types, line.Number) { // an action has two spellings
			types = append(types, line.Number)
		}
	}
	return types, nil
}

// action3 is a line of the table.
type action3 struct {
	Type   account.AuditType `json:"type"`
	Action string            `json:"action"`
	Label  string            `json:"label"`
}

// actions serves GET /api/v3/audits/actions: the actions that the organization's log has.
func (h *Handlers) actions(c *gin.Context) error {
	lines, err := audit.Occurring(c.Request.Context(), h.cfg.DB, []int64{auth.Organization(c)})
	if err != nil {
		return err
	}
	names, table := make([]string, 0, len(lines)), make([]action3, 0, len(lines))
	for _, line := range lines {
		names = append(names, line.Action)
		table = append(table, action3{Type: line.Number, Action: line.Action, Label: line.Label})
	}
	return respond.JSON(c, http.StatusOK, gin.H{"actions": names, "types": table})
}
