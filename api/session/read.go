package session

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/pagination"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/distribution"
	"github.com/slipway-qa/slipway/storage/session"
)

// readHandlers serve sessions and feedback to people.
type readHandlers Handlers

// whole is the rule of the lists of version 1, which clients read without asking for
// pages: the newest thousand, and pages for who asks.
func whole() pagination.Options { return pagination.Options{Default: 1000, Max: 1000} }

// envelope returns where a page stands among counted rows.
func envelope(at pagination.Request, n session.Counted, rows int) pagination.Pagination {
	if n.Exact {
		return at.Envelope(n.Total)
	}
	return at.AtLeast(n.Total, rows == at.Limit())
}

// build1 reads the build that a path of version 1 names.
func (h readHandlers) build1(c *gin.Context) (*distribution.Build, error) {
	project, err := pagination.ID(c.Param("id"))
	if err != nil {
		return nil, err
	}
	id, err := pagination.ID(c.Param("build"))
	if err != nil {
		return nil, err
	}
	return distribution.BuildByID(c.Request.Context(), h.db, auth.Organization(c), project, id)
}

// sessions1 serves GET /api/1/projects/{id}/builds/{build}/sessions, newest first.
// Parameters of ours: page, per_page (1000 by default and at most).
func (h readHandlers) sessions1(c *gin.Context) error {
	at, err := pagination.Parse(c.Request.URL.Query(), whole())
	if err != nil {
		return err
	}
	b, err := h.build1(c)
	if err != nil {
		return err
	}
	list, n, err := session.Sessions(c.Request.Context(), h.db, b.OrganizationID, session.SessionFilter{BuildID: b.ID}, at.Rows())
	if err != nil {
		return err
	}
	views := make([]sessionItem1, 0, len(list))
	for i := range list {
		views = append(views, item1(&list[i]))
	}
	return respond.JSON(c, http.StatusOK, gin.H{"status": "ok", "sessions": views, "pagination": envelope(at, n, len(list))})
}

// fieldsOf reads the comma list of fields: meta (default), logs, events.
func fieldsOf(c *gin.Context) ([]string, error) {
	fields, err := pagination.List(c.Request.URL.Query(), "fields")
	if err != nil {
		return nil, err
	}
	for _, f := range fields {
		if f != fieldMeta && f != fieldLogs && f != fieldEvents {
			return nil, storage.Invalid("fields", "must be of %s, %s, %s", fieldMeta, fieldLogs, fieldEvents)
		}
	}
	if len(fields) == 0 {
		fields = []string{fieldMeta}
	}
	return fields, nil
}

// session1 serves GET /api/1/projects/{id}/builds/{build}/sessions/{session}.
// Parameter: fields.
func (h readHandlers) session1(c *gin.Context) error {
	fields, err := fieldsOf(c)
	if err != nil {
		return err
	}
	b, err := h.build1(c)
	if err != nil {
		return err
	}
	id, err := pagination.ID(c.Param("session"))
	if err != nil {
		return err
	}
	ctx := c.Request.Context()
	s, err := session.SessionByID(ctx, h.db, b.OrganizationID, id)
	if err != nil {
		return err
	}
	if s.BuildID != b.ID {
		return fmt.Errorf("session %d of build %d: %w", id, b.ID, storage.ErrNotFound)
	}
	var events []session.Event
	if slices.Contains(fields, fieldLogs) || slices.Contains(fields, fieldEvents) {
		if events, err = h.cfg.Store.Events(ctx, h.db, s.ID); err != nil {
			return err
		}
	}
	return respond.JSON(c, http.StatusOK, gin.H{"status": "ok", "session": single1(s, events, fields)})
}

// latest is how many feedbacks version 1 shows.
const latest = 100

// feedbacks1 serves GET /api/1/feedbacks: the latest hundred.
func (h readHandlers) feedbacks1(c *gin.Context) error {
	list, _, err := session.Feedbacks(c.Request.Context(), h.db, auth.Organization(c), session.FeedbackFilter{}, storage.Page{Limit: latest})
	if err != nil {
		return err
	}
	views := make([]feedback1, 0, len(list))
	for i := range list {
		link, err := h.link(c.Request.Context(), list[i].ScreenshotKey, list[i].ScreenshotType, linkLife)
		if err != nil {
			return err
		}
		views = append(views, viewFeedback1(&list[i], link))
	}
	respond.Private(c)
	return respond.JSON(c, http.StatusOK, gin.H{"status": "ok", "feedbacks": views})
}

// sessionsOfProject serves GET /api/v3/projects/{id}/sessions. Parameters: page,
// per_page, search, crashed.
func (h readHandlers) sessionsOfProject(c *gin.Context) error {
	f, err := h.ofProject(c)
	if err != nil {
		return err
	}
	return h.sessions(c, f)
}

// sessionsOfBuild serves GET /api/v3/builds/{id}/sessions, likewise.
func (h readHandlers) sessionsOfBuild(c *gin.Context) error {
	f, err := h.ofBuild(c)
	if err != nil {
		return err
	}
	return h.sessions(c, f)
}

func (h readHandlers) ofProject(c *gin.Context) (f session.SessionFilter, err error) {
	id, err := pagination.ID(c.Param("id"))
	if err != nil {
		return f, err
	}
	p, err := distribution.ProjectByID(c.Request.Context(), h.db, auth.Organization(c), id)
	if err != nil {
		return f, err
	}
	return session.SessionFilter{ProjectID: p.ID}, nil
}

func (h readHandlers) ofBuild(c *gin.Context) (f session.SessionFilter, err error) {
	id, err := pagination.ID(c.Param("id"))
	if err != nil {
		return f, err
	}
	b, err := distribution.BuildByID(c.Request.Context(), h.db, auth.Organization(c), 0, id)
	if err != nil {
		return f, err
	}
	return session.SessionFilter{BuildID: b.ID}, nil
}

// searchOf reads the parameter search.
func searchOf(c *gin.Context) (string, error) {
	return storage.Line("search", c.Query("search"), 255)
}

func (h readHandlers) sessions(c *gin.Context, f session.SessionFilter) (err error) {
	at, err := pagination.Parse(c.Request.URL.Query(), pagination.Small())
	if err != nil {
		return err
	}
	if f.Search, err = searchOf(c); err != nil {
		return err
	}
	if text := strings.TrimSpace(c.Query("crashed")); text != "" {
		crashed, err := strconv.ParseBool(text)
		if err != nil {
			return storage.Invalid("crashed", "must be true or false")
		}
		f.Crashed = &crashed
	}
	list, n, err := session.Sessions(c.Request.Context(), h.db, auth.Organization(c), f, at.Rows())
	if err != nil {
		return err
	}
	views := make([]sessionView, 0, len(list))
	for i := range list {
		views = append(views, viewSession(&list[i]))
	}
	return respond.JSON(c, http.StatusOK, gin.H{"sessions": views, "pagination": envelope(at, n, len(list))})
}

// devicesOfProject serves GET /api/v3/projects/{id}/devices: the kinds of devices of its
// newest sessions. Parameters: page, per_page.
func (h readHandlers) devicesOfProject(c *gin.Context) error {
	f, err := h.ofProject(c)
	if err != nil {
		return err
	}
	return h.devices(c, f)
}

// devicesOfBuild serves GET /api/v3/builds/{id}/devices, likewise.
func (h readHandlers) devicesOfBuild(c *gin.Context) error {
	f, err := h.ofBuild(c)
	if err != nil {
		return err
	}
	return h.devices(c, f)
}

func (h readHandlers) devices(c *gin.Context, f session.SessionFilter) error {
	at, err := pagination.Parse(c.Request.URL.Query(), pagination.Small())
	if err != nil {
		return err
	}
	list, kinds, err := session.Devices(c.Request.Context(), h.db, auth.Organization(c), f, at.Rows())
	if err != nil {
		return err
	}
	return respond.JSON(c, http.StatusOK, gin.H{"devices": list, "pagination": at.Envelope(kinds)})
}

// session serves GET /api/v3/sessions/{id}.
func (h readHandlers) session(c *gin.Context) error {
	s, err := h.sessionByID(c)
	if err != nil {
		return err
	}
	return respond.JSON(c, http.StatusOK, gin.H{"session": viewSession(s)})
}

func (h readHandlers) sessionByID(c *gin.Context) (*session.Session, error) {
	id, err := pagination.ID(c.Param("id"))
	if err != nil {
		return nil, err
	}
	return session.SessionByID(c.Request.Context(), h.db, auth.Organization(c), id)
}

// events serves GET /api/v3/sessions/{id}/events, in the order of their batches.
// Parameters: page, per_page (1000 by default and at most).
func (h readHandlers) events(c *gin.Context) error {
	at, err := pagination.Parse(c.Request.URL.Query(), whole())
	if err != nil {
		return err
	}
	s, err := h.sessionByID(c)
	if err != nil {
		return err
	}
	all, err := h.cfg.Store.Events(c.Request.Context(), h.db, s.ID)
	if err != nil {
		return err
	}
	page := all[min(at.Offset(), len(all)):min(at.Offset()+at.Limit(), len(all))]
	return respond.JSON(c, http.StatusOK, gin.H{"events": page, "dropped": s.Dropped, "pagination": at.Envelope(len(all))})
}

// feedbacks serves GET /api/v3/feedbacks, newest first. Parameters: page, per_page,
// search, project_id, build_id.
func (h readHandlers) feedbacks(c *gin.Context) error {
	at, err := pagination.Parse(c.Request.URL.Query(), pagination.Small())
	if err != nil {
		return err
	}
	var f session.FeedbackFilter
	if f.Search, err = searchOf(c); err != nil {
		return err
	}
	if f.ProjectID, err = number("project_id", c.Query("project_id")); err != nil {
		return err
	}
	if f.BuildID, err = number("build_id", c.Query("build_id")); err != nil {
		return err
	}
	list, n, err := session.Feedbacks(c.Request.Context(), h.db, auth.Organization(c), f, at.Rows())
	if err != nil {
		return err
	}
	views := make([]feedbackView, 0, len(list))
	for i := range list {
		view, err := h.viewFeedback(c, &list[i])
		if err != nil {
			return err
		}
		views = append(views, view)
	}
	respond.Private(c)
	return respond.JSON(c, http.StatusOK, gin.H{"feedbacks": views, "pagination": envelope(at, n, len(list))})
}

func feedbackOf(c *gin.Context) (int64, error) { return pagination.ID(c.Param("id")) }

// feedback serves GET /api/v3/feedbacks/{id}.
func (h readHandlers) feedback(c *gin.Context) error {
	id, err := feedbackOf(c)
	if err != nil {
		return err
	}
	f, err := session.FeedbackByID(c.Request.Context(), h.db, auth.Organization(c), id)
	if err != nil {
		return err
	}
	view, err := h.viewFeedback(c, f)
	if err != nil {
		return err
	}
	respond.Private(c)
	return respond.JSON(c, http.StatusOK, gin.H{"feedback": view})
}
