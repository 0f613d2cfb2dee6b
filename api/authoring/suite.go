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

// Suites answers GET /testsuites, newest first. Parameters: ids (array), search
// (part of the name), startDate, endDate (creation), userId (creator), teamId,
// skip, limit.
func (h *Handlers) Suites(c *gin.Context) {
	q := queryOf(c)
	f := authoring.SuiteFilter{OrganizationID: organization(c), IDs: q.uuids("ids"), Search: q.search(),
		User: q.uuid("userId"), Team: q.uuid("teamId"), Page: q.page()}
	f.From, f.To = q.dates()
	if q.err != nil {
		fail(c, q.err, testSuite)
		return
	}
	rows, total, err := authoring.Suites(c.Request.Context(), h.cfg.DB, f)
	if err != nil {
		fail(c, err, testSuite)
		return
	}
	data(c, http.StatusOK, listOf(rows, total, viewSuite))
}

// Suite answers GET /testsuites/{id}.
func (h *Handlers) Suite(c *gin.Context) {
	id, err := uuidParam(c, "id")
	var row *authoring.Suite
	if err == nil {
		row, err = authoring.SuiteByID(c.Request.Context(), h.cfg.DB, organization(c), id)
	}
	if err != nil {
		fail(c, err, testSuite)
		return
	}
	data(c, http.StatusOK, viewCounted(row))
}

// suiteBody is what a request may say of a suite. TestCases and TestCaseIDs are
// synonyms.
type suiteBody struct {
	Name            *string   `json:"name"`
	TeamID          *string   `json:"teamId"`
	Tags            *[]string `json:"tags"`
	TestCases       *[]string `json:"testCases"`
	TestCaseIDs     *[]string `json:"testCaseIds"`
	AddTestCases    []string  `json:"addTestCases"`
	RemoveTestCases []string  `json:"removeTestCases"`
}

// readSuite reads the members of a suite; cases are those that replace all.
func readSuite(c *gin.Context) (in suiteBody, cases *[]string, err error) {
	if err = read(c, &in); err != nil {
		return in, nil, err
	}
	cases, err = in.cases()
	return in, cases, err
}

// CreateSuite answers POST /testsuites. Members: name, testCases, tags, teamId.
// Cases of other suites move.
func (h *Handlers) CreateSuite(c *gin.Context) {
	in, cases, err := readSuite(c)
	if err == nil {
		err = required(in.Name)
	}
	n := authoring.NewSuite{Name: or(in.Name, ""), Tags: or(in.Tags, []string{}), Cases: or(cases, nil)}
	if err == nil {
		n.Team, err = optionalUUID("teamId", in.TeamID)
	}
	var row *authoring.Suite
	if err == nil {
		err = h.change(c, func(ctx context.Context, tx *storage.Tx, w account.Writer) (err error) {
			row, err = authoring.CreateSuite(ctx, tx, w, n)
			return err
		})
	}
	if err != nil {
		fail(c, err, testSuite)
		return
	}
	data(c, http.StatusCreated, viewCounted(row))
}

func or[T any](value *T, absent T) T {
	if value == nil {
		return absent
	}
	return *value
}

// UpdateSuite answers POST /testsuites/{id}; only members that are sent are
// changed: name, tags, and the cases by testCaseIds (all of them) or by
// addTestCases and removeTestCases.
func (h *Handlers) UpdateSuite(c *gin.Context) {
	id, err := uuidParam(c, "id")
	var in suiteBody
	var cases *[]string
	if err == nil {
		in, cases, err = readSuite(c)
	}
	change := authoring.SuiteChange{Name: in.Name, Tags: in.Tags, Cases: cases, Add: in.AddTestCases, Remove: in.RemoveTestCases}
	var row *authoring.Suite
	if err == nil {
		err = h.change(c, func(ctx context.Context, tx *storage.Tx, w account.Writer) (err error) {
			row, err = authoring.UpdateSuite(ctx, tx, w, id, change)
			return err
		})
	}
	if err != nil {
		fail(c, inBody(err, codeCasesNotFound), testSuite)
		return
	}
	data(c, http.StatusOK, viewCounted(row))
}

// DeleteSuite answers DELETE /testsuites/{id}. With the member deleteTestCases its
// cases go too; without it they are in no suite afterwards.
func (h *Handlers) DeleteSuite(c *gin.Context) {
	id, err := uuidParam(c, "id")
	var in struct {
		DeleteTestCases bool `json:"deleteTestCases"`
	}
	if err == nil {
		err = read(c, &in)
	}
	if err == nil {
		err = h.change(c, func(ctx context.Context, tx *storage.Tx, w account.Writer) error {
			jobs, err := run.DeleteSuiteWithRuns(ctx, tx, w, id, in.DeleteTestCases)
			if err != nil {
				return err
			}
			return stop(ctx, tx, w.OrganizationID, jobs)
		})
	}
	if err != nil {
		fail(c, err, testSuite)
		return
	}
	respond.Empty(c, http.StatusNoContent)
}
