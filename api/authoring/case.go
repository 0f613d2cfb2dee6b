package authoring

import (
	"context"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/run"
)

// cases are the handlers of test cases.
type cases struct{ *room }

// list serves GET /testcases, newest first. Parameters: search (part of the name),
// startDate, endDate (creation), userId (creator), teamId, testSuiteId (array; null
// selects the cases of no suite), skip, limit.
func (h cases) list(c *gin.Context) error {
	q := queryOf(c)
	f := authoring.CaseFilter{OrganizationID: auth.Organization(c), Search: q.search(), User: q.uuid("userId"),
		Team: q.uuid("teamId"), Page: q.page()}
	f.From, f.To = q.dates()
	f.Suites, f.Unassigned = q.uuidsOrNull("testSuiteId")
	if q.err != nil {
		return q.err
	}
	rows, total, err := authoring.Cases(c.Request.Context(), h.cfg.DB, f)
	if err != nil {
		return err
	}
	return data(c, http.StatusOK, listOf(rows, total, viewCase))
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
	revisions, err := authoring.Revisions(c.Request.Context(), h.cfg.DB, row.ID)
	if err != nil {
		return err
	}
	return data(c, status, h.viewWhole(row, revisions))
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

// delete serves DELETE /testcases/{id}; the case's open runs are cancelled.
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
