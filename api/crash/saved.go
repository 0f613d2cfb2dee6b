package crash

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/body"
	"github.com/slipway-qa/slipway/api/pagination"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/storage/search"
)

// saving are the handlers of searches that people keep: of the list of crash groups.
type saving struct{ store *crash.Store }

type savedView struct {
	ID        int64        `json:"id"`
	Area      string       `json:"area"`
	Name      string       `json:"name"`
	Query     string       `json:"query"`
	Team      *projectView `json:"team"` // null: one's own
	Owner     projectView  `json:"owner"`
	Own       bool         `json:"own"`
	CreatedAt time.Time    `json:"created_at"`
}

func savedOf(s *search.Saved, me int64) savedView {
	v := savedView{ID: s.ID, Area: s.Area, Name: s.Name, Query: s.Query, Owner: projectView{s.UserID, s.UserName}, Own: s.UserID == me,
		CreatedAt: s.CreatedAt.UTC()}
	if s.TeamID != nil {
		v.Team = &projectView{*s.TeamID, s.TeamName}
	}
	return v
}

// List serves GET /api/v3/saved-searches: one's own and those of one's teams, by name.
// Parameters: area, page, per_page.
func (h *saving) List(c *gin.Context) error {
	q := c.Request.URL.Query()
	at, err := pagination.Parse(q, pagination.Small())
	if err != nil {
		return err
	}
	area := q.Get("area")
	if area != "" && area != search.CrashGroups {
		return storage.Invalid("area", "must be %s", search.CrashGroups)
	}
	w := auth.Writer(c)
	list, total, err := search.SavedOf(c.Request.Context(), h.store.DB(), w, area, at.Rows())
	if err != nil {
		return err
	}
	views := make([]savedView, 0, len(list))
	for i := range list {
		views = append(views, savedOf(&list[i], w.Actor.UserID))
	}
	return respond.JSON(c, http.StatusOK, gin.H{"saved_searches": views, "pagination": at.Envelope(total)})
}

// savedRequest is a search to keep.
type savedRequest struct {
	Area   string `json:"area"`
	Name   string `json:"name"`
	Query  string `json:"query"`
	TeamID *int64 `json:"team_id"`
}

// maxSavedQuery bounds a query in bytes; what is longer no address takes either.
const maxSavedQuery = 8192

// Save serves POST /api/v3/saved-searches.
func (h *saving) Save(c *gin.Context) error {
	var in savedRequest
	if err := body.Read(c, &in); err != nil {
		return err
	}
	ctx, w := c.Request.Context(), auth.Writer(c)
	query, err := checkSavedQuery(in.Query, w.Actor.UserID)
	if err != nil {
		return err
	}
	s := &search.Saved{Area: in.Area, Name: in.Name, Query: query, TeamID: in.TeamID}
	err = h.store.DB().InTx(ctx, func(tx *storage.Tx) error { return search.Save(ctx, tx, w, s) })
	if errors.Is(err, storage.ErrConflict) {
		return &respond.Problem{Status: http.StatusConflict, Text: "a search of this name is saved, or there are 100: delete one first", Err: err}
	}
	if err != nil {
		return err
	}
	return respond.JSON(c, http.StatusCreated, gin.H{"saved_search": savedOf(s, w.Actor.UserID)})
}

// checkSavedQuery reads a query as the list of groups does, and returns it without the page.
func checkSavedQuery(text string, me int64) (string, error) {
	text = strings.TrimPrefix(text, "?")
	if len(text) > maxSavedQuery {
		return "", storage.Invalid("query", "must have at most %d bytes", maxSavedQuery)
	}
	q, err := url.ParseQuery(text)
	if err != nil {
		return "", storage.Invalid("query", "must be a query as addresses have it")
	}
	known := groupQuery()
	for name := range q {
		attribute := strings.HasPrefix(name, attributePrefix)
		if !attribute && !slices.Contains(known, name) && !slices.Contains(known, name+"[]") {
			return "", storage.Invalid("query", "has a parameter that the list does not have: %s", storage.Cut(name, 60))
		}
	}
	if _, _, err := groupFilter(q, me); err != nil {
		var invalid *storage.InvalidError
		if errors.As(err, &invalid) {
			return "", storage.Invalid("query", "is refused by the list: %s", invalid.Error())
		}
		return "", err
	}
	q.Del("page")
	q.Del("per_page")
	if text = q.Encode(); len(text) > maxSavedQuery {
		return "", storage.Invalid("query", "must have at most %d bytes", maxSavedQuery)
	}
	return text, nil
}

// Delete serves DELETE /api/v3/saved-searches/{id}.
func (h *saving) Delete(c *gin.Context) error {
	id, err := pagination.ID(c.Param("id"))
	if err != nil {
		return err
	}
	ctx, w := c.Request.Context(), auth.Writer(c)
	if err := h.store.DB().InTx(ctx, func(tx *storage.Tx) error { return search.DeleteSaved(ctx, tx, w, id) }); err != nil {
		return err
	}
	return respond.Empty(c, http.StatusNoContent)
}
