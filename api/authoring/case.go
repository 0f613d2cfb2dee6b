package authoring

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/quarantine"
	"github.com/slipway-qa/slipway/storage/run"
)

// cases are the handlers of test cases.
type cases struct{ *room }

// list serves GET /testcases, newest first. Parameters: search (part of the name),
// startDate, endDate (creation), userId (creator), teamId, testSuiteId (array; null
// selects the cases of no suite), lastStatus (of the newest run; NONE without one), tag
// (repeated: all of them),
// content (part of a line of name, tags, intent or steps), quarantined (true: those alone), sort (created, lastRun), skip,
// limit.
func (h cases) list(c *gin.Context) error {
	q := queryOf(c)
	f := authoring.CaseFilter{OrganizationID: auth.Organization(c), Search: q.search(), User: q.uuid("userId"),
		Team: q.uuid("teamId"), Page: q.page()}
	f.From, f.To = q.dates()
	f.Suites, f.Unassigned = q.uuidsOrNull("testSuiteId")
	f.RunBy = q.uuid("runBy")
	f.LastStatus = string(oneOf(q, "lastStatus", append(run.Statuses(), authoring.NotRun)...))
	f.Quarantined = or(q.flag("quarantined"), false)
	f.Tags, f.Content, f.ByLastRun = q.tags(), q.content(), q.sorted("created", "lastRun")
	if q.err != nil {
		return q.err
	}
	rows, total, err := authoring.Cases(c.Request.Context(), h.cfg.DB, f)
	if err != nil {
		return err
	}
	return data(c, http.StatusOK, listOf(rows, total, viewCase))
}

// maxTags bounds the tags of a filter.
const maxTags = 20

// tags reads the tags of a filter, each a parameter of its own.
func (q *query) tags() (list []string) {
	var given []string
	for _, name := range slices.Sorted(maps.Keys(q.values)) { // a tag may have commas, which part the values of other lists
		if name == "tag" || strings.HasPrefix(name, "tag[") {
			given = append(given, q.values[name]...)
		}
	}
	for _, text := range given {
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		if !utf8.ValidString(text) || strings.IndexByte(text, 0) >= 0 || utf8.RuneCountInString(text) > maxSearch {
			q.wrong(&storage.InvalidError{Field: "tag", Msg: fmt.Sprintf("must be UTF-8 text of at most %d characters", maxSearch)})
		}
		list = append(list, text)
	}
	if len(list) > maxTags {
		q.wrong(&storage.InvalidError{Field: "tag", Msg: fmt.Sprintf("must be given at most %d times", maxTags)})
	}
	return list
}

// minContent is the length of what the index of contents finds, in characters.
const minContent = 3

// content reads a part of what cases have.
func (q *query) content() string {
	text := strings.TrimSpace(q.values.Get("content"))
	n := utf8.RuneCountInString(text)
	if text != "" && n < minContent || n > maxSearch || !utf8.ValidString(text) || strings.IndexByte(text, 0) >= 0 {
		q.wrong(&storage.InvalidError{Field: "content", Msg: fmt.Sprintf("must be UTF-8 text of %d to %d characters", minContent, maxSearch)})
	}
	return text
}

// sorted reports whether the order is another than that by default.
func (q *query) sorted(byDefault, other string) bool {
	switch text := strings.TrimSpace(q.values.Get("sort")); text {
	case "", byDefault:
		return false
	case other:
		return true
	}
	q.wrong(&storage.InvalidError{Field: "sort", Msg: "must be " + byDefault + " or " + other})
	return false
}

// get serves GET /testcases/{id}, with the revisions.
func (h cases) get(c *gin.Context) error {
	row, err := h.caseOf(c)
	if err != nil {
		return err
	}
	return h.show(c, http.StatusOK, row)
}

// caseOf reads the case that the path names.
func (h *room) caseOf(c *gin.Context) (*authoring.Case, error) {
	id, err := caseID(c)
	if err != nil {
		return nil, err
	}
	return authoring.CaseByID(c.Request.Context(), h.cfg.DB, auth.Organization(c), id)
}

// show writes a case in full.
func (h cases) show(c *gin.Context, status int, row *authoring.Case) error {
	ctx := c.Request.Context()
	revisions, err := authoring.Revisions(ctx, h.cfg.DB, row.ID)
	if err != nil {
		return err
	}
	of, err := h.dataOf(ctx, revisions)
	if err != nil {
		return err
	}
	view := h.viewWhole(row, revisions, of)
	if row.Quarantine == nil {
		proposed, err := quarantine.Propose(ctx, h.cfg.DB, row.OrganizationID, row.ID)
		if err != nil {
			return err
		}
		view.QuarantineProposed = viewProposal(proposed)
	}
	return data(c, status, view)
}

// create serves POST /testcases: a case from steps or from a Selenium IDE project,
// without generation. Members: name, runSettings, steps or side (with sideTest),
// testSuiteId, teamId, tags, intent, description.
func (h cases) create(c *gin.Context) error {
	n, warnings, err := h.readImport(c)
	if err != nil {
		return err
	}
	var row *authoring.Case
	err = h.change(c, func(ctx context.Context, tx *storage.Tx, w account.Writer) (err error) {
		row, err = authoring.CreateCase(ctx, tx, w, n)
		return err
	})
	if err != nil {
		return err
	}
	for _, text := range warnings {
		warn(c, "%s", text)
	}
	return h.show(c, http.StatusCreated, row)
}

// rename serves POST /testcases/{id}/rename with the member name.
func (h cases) rename(c *gin.Context) error {
	id, err := caseID(c)
	if err != nil {
		return err
	}
	var in struct {
		Name *string `json:"name"`
	}
	if err := read(c, &in); err != nil {
		return err
	}
	if err := required(in.Name); err != nil {
		return err
	}
	return h.edit(c, http.StatusOK, func(ctx context.Context, tx *storage.Tx, w account.Writer) (*authoring.Case, error) {
		return authoring.RenameCase(ctx, tx, w, id, *in.Name)
	})
}

// delete serves DELETE /testcases/{id}; the case's open runs are cancelled. 409
// TEST_CASE_IN_USE for the login of a suite.
func (h cases) delete(c *gin.Context) error {
	id, err := caseID(c)
	if err != nil {
		return err
	}
	err = h.change(c, func(ctx context.Context, tx *storage.Tx, w account.Writer) error {
		jobs, err := run.DeleteCaseWithRuns(ctx, tx, w, id)
		if err != nil {
			return err
		}
		return stop(ctx, tx, w.OrganizationID, jobs)
	})
	if err != nil {
		return err
	}
	return respond.Empty(c, http.StatusNoContent)
}
