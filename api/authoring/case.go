package authoring

import (
	"context"
	"net/http"

	"github.com/slipway-qa/slipway/storage/run"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/authoring"
)

// Cases answers GET /testcases, newest first. Parameters: search (part of the
// name), startDate, endDate (creation), userId (creator), teamId, testSuiteId
// (array; null selects the cases of no suite), skip, limit.
func (h *Handlers) Cases(c *gin.Context) {
	q := queryOf(c)
	f := authoring.CaseFilter{OrganizationID: organization(c), Search: q.search(), User: q.uuid("userId"),
		Team: q.uuid("teamId"), Page: q.page()}
	f.From, f.To = q.dates()
	f.Suites, f.Unassigned = q.uuidsOrNull("testSuiteId")
	if q.err != nil {
		fail(c, q.err, testCase)
		return
	}
	rows, total, err := authoring.Cases(c.Request.Context(), h.cfg.DB, f)
	if err != nil {
		fail(c, err, testCase)
		return
	}
	data(c, http.StatusOK, listOf(rows, total, viewCase))
}

// Case answers GET /testcases/{id}, with the revisions.
func (h *Handlers) Case(c *gin.Context) {
	row, err := h.caseOf(c)
	if err != nil {
		fail(c, err, testCase)
		return
	}
	h.answerCase(c, http.StatusOK, row)
}

// caseOf reads the case that the path names.
func (h *Handlers) caseOf(c *gin.Context) (*authoring.Case, error) {
	id, err := caseID(c)
	if err != nil {
		return nil, err
	}
	return authoring.CaseByID(c.Request.Context(), h.cfg.DB, organization(c), id)
}

// answerCase answers a case in full.
func (h *Handlers) answerCase(c *gin.Context, status int, row *authoring.Case) {
	revisions, err := authoring.Revisions(c.Request.Context(), h.cfg.DB, row.ID)
	if err != nil {
		fail(c, err, testCase)
		return
	}
	data(c, status, h.viewWhole(row, revisions))
}

// CreateCase answers POST /testcases: a case from steps or from a Selenium IDE
// project, without generation. Members: name, runSettings, steps or side (with
// sideTest), testSuiteId, teamId, tags, intent, description.
func (h *Handlers) CreateCase(c *gin.Context) {
	n, err := h.readImport(c)
	var row *authoring.Case
	if err == nil {
		err = h.change(c, func(ctx context.Context, tx *storage.Tx, w account.Writer) (err error) {
			row, err = authoring.CreateCase(ctx, tx, w, n)
			return err
		})
	}
	if err != nil {
		fail(c, err, testCase)
		return
	}
	h.answerCase(c, http.StatusCreated, row)
}

// RenameCase answers POST /testcases/{id}/rename with the member name.
func (h *Handlers) RenameCase(c *gin.Context) {
	id, err := caseID(c)
	var in struct {
		Name *string `json:"name"`
	}
	if err == nil {
		err = read(c, &in)
	}
	if err == nil {
		err = required(in.Name)
	}
	var row *authoring.Case
	if err == nil {
		err = h.change(c, func(ctx context.Context, tx *storage.Tx, w account.Writer) (err error) {
			row, err = authoring.RenameCase(ctx, tx, w, id, *in.Name)
			return err
		})
	}
	if err != nil {
		fail(c, err, testCase)
		return
	}
	h.answerCase(c, http.StatusOK, row)
}

// DeleteCase answers DELETE /testcases/{id}; the case's open runs are cancelled.
func (h *Handlers) DeleteCase(c *gin.Context) {
	id, err := caseID(c)
	if err == nil {
		err = h.change(c, func(ctx context.Context, tx *storage.Tx, w account.Writer) error {
			jobs, err := run.DeleteCaseWithRuns(ctx, tx, w, id)
			if err != nil {
				return err
			}
			return stop(ctx, tx, w.OrganizationID, jobs)
		})
	}
	if err != nil {
		fail(c, err, testCase)
		return
	}
	respond.Empty(c, http.StatusNoContent)
}
