package audit

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
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

// entry2 is an event in version 2. UserID is 0 for who is no user of the organization.
type entry2 struct {
	ID           int64             `json:"id"`
	Timestamp    string            `json:"timestamp"`
	EnterpriseID int64             `json:"enterpriseId"`
	SiteName     string            `json:"siteName"`
	UserID       int64             `json:"userId"`
	UserEmail    string            `json:"userEmail"`
	IPAddress    string            `json:"ipAddress"`
	ActionType   account.AuditType `json:"actionType"`
	ActionLabel  string            `json:"actionLabel"`
	ActionData   json.RawMessage   `json:"actionData"`
}

func legacyTime(t time.Time) string { return t.UTC().Format(time.DateTime) }

func view2(e *audit.Entry) entry2 {
	v := entry2{ID: e.ID, Timestamp: legacyTime(e.At), EnterpriseID: e.OrganizationID, SiteName: e.Slug, UserEmail: e.Actor,
		IPAddress: e.IPAddress, ActionType: e.Type, ActionLabel: e.Label(), ActionData: e.Detail}
	if e.UserID != nil {
		v.UserID = *e.UserID
	}
	return v
}

// entry1 is an event in version 1.
type entry1 struct {
	ID        int64           `json:"id"`
	Timestamp string          `json:"timestamp"`
	IPAddress string          `json:"ipAddress"`
	EventType string          `json:"eventType"`
	EventData json.RawMessage `json:"eventData"`
}

func view1(e *audit.Entry) entry1 {
	v := entry1{ID: e.ID, Timestamp: legacyTime(e.At), IPAddress: e.IPAddress, EventType: strings.ReplaceAll(e.Action, ".", "_"),
		EventData: e.Detail}
	if line, ok := e.Type.Describe(); ok {
		v.EventType = line.EventType()
	}
	return v
}

// all2 serves GET /api/2/audits. Parameters: site, action_type, start_date, end_date,
// page, per_page.
func (h *Handlers) all2(c *gin.Context) error { return h.trail2(c, account.NoTrail) }

// admin2 serves GET /api/2/audits/admin-trail.
func (h *Handlers) admin2(c *gin.Context) error { return h.trail2(c, account.AdminTrail) }

// tester2 serves GET /api/2/audits/tester-trail.
func (h *Handlers) tester2(c *gin.Context) error { return h.trail2(c, account.TesterTrail) }

func (h *Handlers) trail2(c *gin.Context, of account.Trail) error {
	q := c.Request.URL.Query()
	at, err := pagination.Parse(q, pagination.Large())
	if err != nil {
		return err
	}
	f, empty, err := filter2(q, of)
	if err != nil {
		return err
	}
	if f.Organizations, err = h.organizations(c, strings.TrimSpace(q.Get("site"))); err != nil {
		return err
	}
	if empty {
		f.Organizations = nil // nothing is in both the trail and of the type
	}
	rows, total, err := audit.List(c.Request.Context(), h.cfg.DB, f, at.Rows())
	if err != nil {
		return err
	}
	views := make([]entry2, 0, len(rows))
	for i := range rows {
		views = append(views, view2(&rows[i]))
	}
	return respond.JSON(c, http.StatusOK, gin.H{"status": "ok", "audits": views, "pagination": at.Of(total)})
}

// filter2 reads the filter of version 2; empty says that nothing can match.
func filter2(q url.Values, of account.Trail) (f audit.Filter, empty bool, err error) {
	for _, name := range []string{"start_date", "end_date"} {
		if err := checkDate(name, q.Get(name)); err != nil {
			return f, false, err
		}
	}
	if f.From, f.To, err = pagination.Range(q, "start_date", "end_date"); err != nil {
		return f, false, err
	}
	if of != account.NoTrail {
		f.Types = account.AuditTrailTypes(of)
	}
	text := strings.TrimSpace(q.Get("action_type"))
	if text == "" {
		return f, false, nil
	}
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		return f, false, storage.Invalid("action_type", "must be the number of an action")
	}
	asked := account.AuditType(n)
	f.Types = []account.AuditType{asked}
	return f, of != account.NoTrail && asked.Trail() != of, nil
}

// checkDate takes dates alone, as the document has them.
func checkDate(name, text string) error {
	text = strings.TrimSpace(text)
	if text == "" {
		return nil
	}
	if _, err := time.Parse(time.DateOnly, text); err != nil {
		return storage.Invalid(name, "must be a date, YYYY-MM-DD")
	}
	return nil
}

// organizations returns the sites whose events the caller sees, or the one of them that
// the request names.
func (h *Handlers) organizations(c *gin.Context, site string) ([]int64, error) {
	list, err := account.VisibleSites(c.Request.Context(), h.cfg.DB, auth.Organization(c))
	if err != nil {
		return nil, err
	}
	if site != "" {
		one, err := account.SiteNamed(list, site)
		if err != nil {
			return nil, err
		}
		return []int64{one.ID}, nil
	}
	ids := make([]int64, 0, len(list))
	for i := range list {
		ids = append(ids, list[i].ID)
	}
	return ids, nil
}

// whole is the rule of the lists of version 1, which clients read without asking for
// pages: the newest thousand, and pages for who asks.
func whole() pagination.Options { return pagination.Options{Default: 1000, Max: 1000} }

// list1 serves GET /api/1/audits, which version 2 replaces. Parameters of ours: page,
// per_page.
func (h *Handlers) list1(c *gin.Context) error {
	c.Header("Deprecation", "true")
	at, err := pagination.Parse(c.Request.URL.Query(), whole())
	if err != nil {
		return err
	}
	var f audit.Filter
	if f.Organizations, err = h.organizations(c, ""); err != nil {
		return err
	}
	rows, total, err := audit.List(c.Request.Context(), h.cfg.DB, f, at.Rows())
	if err != nil {
		return err
	}
	views := make([]entry1, 0, len(rows))
	for i := range rows {
		views = append(views, view1(&rows[i]))
	}
	return respond.JSON(c, http.StatusOK, gin.H{"status": "ok", "audits": views, "pagination": at.Of(total)})
}
