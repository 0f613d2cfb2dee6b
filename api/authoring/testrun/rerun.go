package testrun

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/authoring/answer"
	"github.com/slipway-qa/slipway/api/authoring/handler"
	"github.com/slipway-qa/slipway/api/authoring/problem"
	"github.com/slipway-qa/slipway/api/authoring/request"
	"github.com/slipway-qa/slipway/api/route"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/environment"
	"github.com/slipway-qa/slipway/storage/rows"
	"github.com/slipway-qa/slipway/storage/run"
)

// A run is repeated with what it was given, but for the values of variables: these are deleted
// when a run ends, and whoever repeats it gives them again. Its cases are played as they are now, in
// the environment of the run as that is now: what the run had of it is deleted as well.

// rerunBody is what a request may say of a run that is repeated.
type rerunBody struct {
	Only      *string          `json:"only"`
	Variables request.Document `json:"variables"`
	Retries   *int             `json:"retries"`
}

// selection is which jobs are run again.
func (in *rerunBody) selection() (run.Selection, error) {
	switch only := run.Selection(request.Or(in.Only, "")); only {
	case run.OnlyAll, run.OnlyFailed, run.OnlyFlaky:
		return only, nil
	}
	return "", problem.Member("only", "must be failed or flaky; without it all are run again")
}

// earlier is what the inputs of a run that is repeated come from.
type earlier struct {
	testURL       string
	buildID       *int64
	retries       *int
	trace         string
	variableNames []string
	environment   *environment.Environment // of that name now; nil for none
}

// address is what the run that is repeated was given in place of those of its cases; nil where it
// was given none, or that of its environment.
func (e *earlier) address() *string {
	if e.testURL == "" || e.environment != nil && e.environment.TestURL == e.testURL {
		return nil
	}
	return &e.testURL
}

// inputsAgain returns the inputs of an earlier run, with the values that the request has, in the
// environment of that run; recorded is as of inputs.
func (h reader) inputsAgain(ctx context.Context, in *rerunBody, e earlier, recorded func() ([]string, error)) (inputs run.Inputs,
	err error) {
	retries := in.Retries
	if retries == nil {
		retries = e.retries
	}
	given := map[string]string{}
	if in.Variables.Given() {
		if given, err = in.Variables.Texts("variables"); err != nil {
			return inputs, err
		}
	}
	missing := slices.DeleteFunc(slices.Clone(e.variableNames), func(name string) bool { _, there := given[name]; return there })
	if len(missing) > 0 {
		return inputs, problem.Member("variables", fmt.Sprintf("must have %s: the values that a run was given are deleted when it ends",
			strings.Join(missing, ", ")))
	}
	inputs, values, err := h.inputs(ctx, givenInputs{e.address(), in.Variables, e.buildID, retries, &e.trace}, recorded)
	if err != nil {
		return inputs, err
	}
	err = inputs.Enter(h.SealKeys, e.environment, values)
	return inputs, err
}

// rerunOpen refuses a run that has not ended.
func rerunOpen(status run.Status) error {
	if !status.Terminal() {
		return problem.Refused(http.StatusConflict, "CONFLICT", "the run has not ended")
	}
	return nil
}

func nothingToRerun(only run.Selection) error {
	text := "no test of the run can be run again: it is gone, or has no steps"
	if only != run.OnlyAll {
		text = fmt.Sprintf("the run has no %s test that can be run again", only)
	}
	return problem.Refused(http.StatusBadRequest, problem.CodeNothingToRerun, text)
}

// readRerun reads which run is run again, and what of it.
func (h reader) readRerun(c *gin.Context) (runID uuid.UUID, only run.Selection, in *rerunBody, err error) {
	if runID, err = request.UUIDParam(c, "runId"); err != nil {
		return runID, "", nil, err
	}
	in = &rerunBody{}
	if err = h.Read(c, in); err != nil {
		return runID, "", nil, err
	}
	only, err = in.selection()
	return runID, only, in, err
}

// Rerun serves POST /testcases/{id}/runs/{run}/rerun with the new run. Members: only (failed,
// flaky), variables, retries.
func (h Runs) Rerun(c *gin.Context) error {
	id, err := request.CaseID(c)
	if err != nil {
		return err
	}
	runID, only, in, err := h.readRerun(c)
	if err != nil {
		return err
	}
	ctx, w, key := c.Request.Context(), auth.Writer(c), c.GetHeader(route.IdempotencyKey)
	started, err := h.seen(ctx, w.OrganizationID, id, key)
	if err != nil {
		return err
	}
	if started == nil {
		if started, err = h.startAgain(ctx, w, id, runID, key, only, in); err != nil {
			return err
		}
	}
	return h.showRun(c, started)
}

// startAgain starts a run of the targets of an earlier one that are selected.
func (h Runs) startAgain(ctx context.Context, w account.Writer, id string, runID uuid.UUID, key string, only run.Selection,
	in *rerunBody) (*run.Run, error) {
	of, err := h.runOf(ctx, w.OrganizationID, id, runID)
	if err != nil {
		return nil, err
	}
	if err := rerunOpen(of.Status); err != nil {
		return nil, err
	}
	n := run.NewRun{Key: key, BuildName: of.BuildName, Tunnel: of.Tunnel, RerunOf: &of.ID}
	again, err := run.AgainOf(ctx, h.DB, of, only)
	if err != nil {
		return nil, err
	}
	if n.Targets = again.Targets; len(n.Targets) == 0 {
		return nil, nothingToRerun(only)
	}
	if n.Case, err = authoring.CaseByID(ctx, h.DB, w.OrganizationID, id); err != nil {
		return nil, problem.Coded(err, problem.TestCase)
	}
	if n.Revision, err = authoring.RevisionByID(ctx, h.DB, id, ""); err != nil {
		return nil, problem.Coded(err, problem.Revision)
	}
	if n.Rows, err = h.rowsAgain(ctx, n.Revision.DataID, again); err != nil {
		return nil, err
	}
	if n.Rows != nil && len(n.Rows) == 0 {
		return nil, nothingToRerun(only)
	}
	if len(n.Revision.Steps) == 0 {
		return nil, problem.Refused(http.StatusBadRequest, problem.CodeCaseEmpty, "the test case has no steps")
	}
	if err := stillThere(ctx, handler.Targeting{Base: h.Base, Organization: w.OrganizationID}, n.Targets, n.Tunnel); err != nil {
		return nil, err
	}
	e := earlier{buildID: of.BuildID, retries: again.Retries, trace: again.Trace, variableNames: again.VariableNames}
	if of.RecordedURL != nil {
		e.testURL = of.TestURL
	}
	if e.environment, err = h.EnvironmentFor(ctx, w.OrganizationID, "environment", of.Environment, n.Case.TeamID); err != nil {
		return nil, err
	}
	recorded := func() ([]string, error) { return []string{recordedAt(&n)}, nil }
	if n.Inputs, err = h.inputsAgain(ctx, in, e, recorded); err != nil {
		return nil, err
	}
	return h.write(ctx, w, n)
}

// rowsAgain returns the places of the data rows to run again: those that still are there; nil for
// all, and for a case without data.
func (h Runs) rowsAgain(ctx context.Context, data *uuid.UUID, again *run.Again) ([]int, error) {
	if data == nil || again.Rows == nil {
		return nil, nil
	}
	header, err := rows.HeaderOf(ctx, h.DB, *data)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(again.Rows, func(place int) bool { return place >= header.Count }), nil
}

// Rerun serves POST /testsuites/{id}/runs/{run}/rerun with the new suite run; members as
// runs.rerun.
func (h SuiteRuns) Rerun(c *gin.Context) error {
	id, err := request.UUIDParam(c, "id")
	if err != nil {
		return err
	}
	runID, only, in, err := h.readRerun(c)
	if err != nil {
		return err
	}
	ctx, w, key := c.Request.Context(), auth.Writer(c), c.GetHeader(route.IdempotencyKey)
	started, err := h.seen(ctx, w.OrganizationID, id, key)
	if err != nil {
		return err
	}
	if started == nil {
		if started, err = h.startAgain(ctx, w, id, runID, key, only, in); err != nil {
			return err
		}
	}
	return answer.Data(c, http.StatusOK, ViewSuiteRun(started))
}

// startAgain starts a run of the cases of an earlier one that are selected.
func (h SuiteRuns) startAgain(ctx context.Context, w account.Writer, id, runID uuid.UUID, key string, only run.Selection,
	in *rerunBody) (*run.SuiteRun, error) {
	of, err := h.runOf(ctx, w.OrganizationID, id, runID)
	if err != nil {
		return nil, err
	}
	if err := rerunOpen(of.Status); err != nil {
		return nil, err
	}
	n := run.NewSuiteRun{SuiteID: id, BuildName: of.BuildName, Vendor: h.Vendor, Key: key,
		Rerun: &run.SuiteRerun{Of: of.ID, Only: only}}
	e := earlier{testURL: of.TestURL, buildID: of.BuildID, retries: of.Retries, trace: of.Trace, variableNames: of.VariableNames}
	suite, err := authoring.SuiteByID(ctx, h.DB, w.OrganizationID, id)
	if err != nil {
		return nil, problem.Coded(err, problem.TestSuite)
	}
	if e.environment, err = h.EnvironmentFor(ctx, w.OrganizationID, "environment", of.Environment, suite.TeamID); err != nil {
		return nil, err
	}
	// The targets and tunnels are those of the earlier case runs, and not the environment's.
	recorded := func() ([]string, error) { return authoring.SuiteAddresses(ctx, h.DB, w.OrganizationID, id) }
	if n.Inputs, err = h.inputsAgain(ctx, in, e, recorded); err != nil {
		return nil, err
	}
	started, err := h.write(ctx, w, n)
	if errors.Is(err, authoring.ErrNoJobs) {
		return nil, nothingToRerun(only)
	}
	return started, err
}
