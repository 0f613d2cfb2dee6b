// Package testcase serves test cases: their revisions, data rows, tags, quarantine, healings, and
// their code.
//
// A case comes by import, from steps or from what another tool has recorded, or is written by a
// generation. A change of steps, data or texts makes a new revision; with the base that it was
// made from, 409 where the case has another one since. A case whose runs are open is deleted with
// them: their tasks are cancelled in the same transaction.
package testcase

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/authoring/answer"
	"github.com/slipway-qa/slipway/api/authoring/handler"
	"github.com/slipway-qa/slipway/api/authoring/request"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/quarantine"
	"github.com/slipway-qa/slipway/storage/run"
)

// Cases are the handlers of test cases.
type Cases struct{ *handler.Base }

// List serves GET /testcases, newest first. Parameters: search (part of the name),
// startDate, endDate (creation), userId (creator), teamId, testSuiteId (array; null
// selects the cases of no suite), lastStatus (of the newest run; NONE without one), tag
// (repeated: all of them),
// content (part of a line of name, tags, intent or steps), quarantined (true: those alone), sort (created, lastRun), skip,
// limit.
func (h Cases) List(c *gin.Context) error {
	return handler.List(h.Base, c, func(q *request.Query) authoring.CaseFilter {
		f := authoring.CaseFilter{OrganizationID: auth.Organization(c), Search: q.Search(), User: q.UUID("userId"),
			Team: q.UUID("teamId"), Page: q.Page()}
		f.From, f.To = q.Dates()
		f.Suites, f.Unassigned = q.UUIDsOrNull("testSuiteId")
		f.RunBy = q.UUID("runBy")
		f.LastStatus = string(request.OneOf(q, "lastStatus", append(run.Statuses(), authoring.NotRun)...))
		f.Quarantined = request.Or(q.Flag("quarantined"), false)
		f.Tags, f.Content, f.ByLastRun = q.Tags(), contentOf(q), sorted(q, "created", "lastRun")
		return f
	}, authoring.Cases, viewCase)
}

// minContent is the length of what the index of contents finds, in characters.
const minContent = 3

// contentOf reads a part of what cases have.
func contentOf(q *request.Query) string {
	text := strings.TrimSpace(q.Values.Get("content"))
	n := utf8.RuneCountInString(text)
	if text != "" && n < minContent || n > request.MaxSearch || !utf8.ValidString(text) || strings.IndexByte(text, 0) >= 0 {
		q.Wrong(&storage.InvalidError{Field: "content",
			Msg: fmt.Sprintf("must be UTF-8 text of %d to %d characters", minContent, request.MaxSearch)})
	}
	return text
}

// sorted reports whether the order is another than that by default.
func sorted(q *request.Query, byDefault, other string) bool {
	switch text := strings.TrimSpace(q.Values.Get("sort")); text {
	case "", byDefault:
		return false
	case other:
		return true
	}
	q.Wrong(&storage.InvalidError{Field: "sort", Msg: "must be " + byDefault + " or " + other})
	return false
}

// Get serves GET /testcases/{id}, with the revisions.
func (h Cases) Get(c *gin.Context) error {
	row, err := h.CaseOf(c)
	if err != nil {
		return err
	}
	return h.show(c, http.StatusOK, row)
}

// show writes a case in full.
func (h Cases) show(c *gin.Context, status int, row *authoring.Case) error {
	ctx := c.Request.Context()
	revisions, err := authoring.Revisions(ctx, h.DB, row.ID)
	if err != nil {
		return err
	}
	of, err := h.dataOf(ctx, revisions)
	if err != nil {
		return err
	}
	view := h.viewWhole(row, revisions, of)
	if row.Quarantine == nil {
		proposed, err := quarantine.Propose(ctx, h.DB, row.OrganizationID, row.ID)
		if err != nil {
			return err
		}
		view.QuarantineProposed = viewProposal(proposed)
	}
	return answer.Data(c, status, view)
}

// Create serves POST /testcases: a case from steps or from a Selenium IDE project,
// without generation. Members: name, runSettings, steps or side (with sideTest),
// testSuiteId, teamId, tags, intent, description.
func (h Cases) Create(c *gin.Context) error {
	n, warnings, err := h.readImport(c)
	if err != nil {
		return err
	}
	row, err := handler.Changed(h.Base, c, func(ctx context.Context, tx *storage.Tx, w account.Writer) (*authoring.Case, error) {
		return authoring.CreateCase(ctx, tx, w, n)
	})
	if err != nil {
		return err
	}
	for _, text := range warnings {
		answer.Warn(c, "%s", text)
	}
	return h.show(c, http.StatusCreated, row)
}

// Rename serves POST /testcases/{id}/rename with the member name.
func (h Cases) Rename(c *gin.Context) error {
	id, err := request.CaseID(c)
	if err != nil {
		return err
	}
	var in struct {
		Name *string `json:"name"`
	}
	if err := h.Read(c, &in); err != nil {
		return err
	}
	if err := request.Required(in.Name); err != nil {
		return err
	}
	return h.edit(c, http.StatusOK, func(ctx context.Context, tx *storage.Tx, w account.Writer) (*authoring.Case, error) {
		return authoring.RenameCase(ctx, tx, w, id, *in.Name)
	})
}

// Delete serves DELETE /testcases/{id}; the case's open runs are cancelled. 409
// TEST_CASE_IN_USE for the login of a suite.
func (h Cases) Delete(c *gin.Context) error {
	id, err := request.CaseID(c)
	if err != nil {
		return err
	}
	err = h.Change(c, func(ctx context.Context, tx *storage.Tx, w account.Writer) error {
		jobs, err := run.DeleteCaseWithRuns(ctx, tx, w, id)
		if err != nil {
			return err
		}
		return handler.Stop(ctx, tx, w.OrganizationID, jobs)
	})
	if err != nil {
		return err
	}
	return respond.Empty(c, http.StatusNoContent)
}
