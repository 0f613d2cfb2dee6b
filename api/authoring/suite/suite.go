// Package suite serves test suites: which cases they run, in which order, and how.
//
// A suite has cases of its own, shares those of others, or is a filter by tags in place of both.
// Lists of cases are replaced as a whole, or changed by what is added and removed. What is wrong
// with a list is INVALID_TEST_CASES; cases that are not there are named by the store. Runs of
// suites are served by package testrun.
package suite

import (
	"context"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/authoring/answer"
	"github.com/slipway-qa/slipway/api/authoring/handler"
	"github.com/slipway-qa/slipway/api/authoring/problem"
	"github.com/slipway-qa/slipway/api/authoring/request"
	"github.com/slipway-qa/slipway/api/authoring/settings"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/login"
	"github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/step"
)

// Suites are the handlers of test suites.
type Suites struct{ *handler.Base }

// List serves GET /testsuites, newest first. Parameters: ids (array), search (part of
// the name), tag (repeated: all of them), startDate, endDate (creation), userId (creator), teamId, skip, limit.
func (h Suites) List(c *gin.Context) error {
	return handler.List(h.Base, c, func(q *request.Query) authoring.SuiteFilter {
		f := authoring.SuiteFilter{OrganizationID: auth.Organization(c), IDs: q.UUIDs("ids"), Search: q.Search(), Tags: q.Tags(),
			User: q.UUID("userId"), Team: q.UUID("teamId"), Page: q.Page()}
		f.From, f.To = q.Dates()
		return f
	}, authoring.Suites, viewSuite)
}

// Get serves GET /testsuites/{id}.
func (h Suites) Get(c *gin.Context) error {
	row, err := handler.Item(h.Base, c, authoring.SuiteByID)
	if err != nil {
		return err
	}
	return answer.Data(c, http.StatusOK, h.viewSingle(row))
}

// suiteBody is what a request may say of a suite. TestCases and TestCaseIDs are
// synonyms.
type suiteBody struct {
	Name     *string          `json:"name"`
	TeamID   *string          `json:"teamId"`
	Tags     *[]string        `json:"tags"`
	Healing  request.Nullable `json:"healing"`
	Drift    request.Nullable `json:"drift"`
	Trace    request.Nullable `json:"trace"`
	SetUp    request.Nullable `json:"setUp"`
	TearDown request.Nullable `json:"tearDown"`
	Retries  request.Nullable `json:"retries"`
	// DefaultEnvironment is the environment of runs that name none; null and "" are none.
	DefaultEnvironment request.Nullable `json:"defaultEnvironment"`
	RunRetention       request.Nullable `json:"runRetention"`
	Login              request.Nullable `json:"login"` // {"testCaseId", "when"}; null: none
	TestCases          *[]string        `json:"testCases"`
	TestCaseIDs        *[]string        `json:"testCaseIds"`
	AddTestCases       []string         `json:"addTestCases"`
	RemoveTestCases    []string         `json:"removeTestCases"`
	planBody
}

// readSuite reads the members of a suite; cases are those that replace all.
func (h Suites) readSuite(c *gin.Context) (in suiteBody, cases *[]string, err error) {
	if err = h.Read(c, &in); err != nil {
		return in, nil, err
	}
	cases, err = in.cases()
	return in, cases, err
}

// Create serves POST /testsuites. Members: name, testCases, tags, healing, drift, trace, retries, runRetention,
// setUp, tearDown, login, teamId, and those of planBody.
// Cases of other suites move.
func (h Suites) Create(c *gin.Context) error {
	in, cases, err := h.readSuite(c)
	if err != nil {
		return err
	}
	if err := request.Required(in.Name); err != nil {
		return err
	}
	if len(in.AddTestCases)+len(in.RemoveTestCases) > 0 {
		return problem.Member("addTestCases", "and removeTestCases change a suite that is there: a new one has testCases")
	}
	if len(in.AddSharedTestCases)+len(in.RemoveSharedTestCases) > 0 {
		return problem.Member("addSharedTestCases", "and removeSharedTestCases change a suite that is there: a new one has sharedTestCases")
	}
	n := authoring.NewSuite{Name: *in.Name, Tags: request.Or(in.Tags, []string{}), Cases: request.Or(cases, nil)}
	if n.Team, err = request.OptionalUUID("teamId", in.TeamID); err != nil {
		return err
	}
	healing, err := request.Value(in.Healing, "healing", "")
	if err != nil {
		return err
	}
	drift, err := request.Value(in.Drift, "drift", "")
	if err != nil {
		return err
	}
	trace, err := request.Value(in.Trace, "trace", "")
	if err != nil {
		return err
	}
	retries, err := request.Value(in.Retries, "retries", settings.AsWider)
	if err != nil {
		return err
	}
	env, err := request.Value(in.DefaultEnvironment, "defaultEnvironment", "")
	if err != nil {
		return err
	}
	n.Healing, n.Drift, n.Trace, n.Retries, n.DefaultEnvironment = request.Or(healing, ""), request.Or(drift, ""), request.Or(trace, ""),
		settings.Retries(retries), request.Or(env, "")
	retention, err := request.Value(in.RunRetention, "runRetention", authoring.RunRetention{})
	if err != nil {
		return err
	}
	n.Retention = request.Or(retention, authoring.RunRetention{})
	setUp, tearDown, err := h.readAround(c, &in)
	if err != nil {
		return err
	}
	n.SetUp, n.TearDown = request.Or(setUp, nil), request.Or(tearDown, nil)
	plan, err := in.planned()
	if err != nil {
		return err
	}
	n.Plan, n.Shared = plan.Change, request.Or(plan.shared, nil)
	if n.Login, err = readLogin(in.Login); err != nil {
		return err
	}
	row, err := handler.Changed(h.Base, c, func(ctx context.Context, tx *storage.Tx, w account.Writer) (*authoring.Suite, error) {
		return authoring.CreateSuite(ctx, tx, w, n)
	})
	if err != nil {
		return err
	}
	return answer.Data(c, http.StatusCreated, h.viewSingle(row))
}

// readAround reads the steps around the cases of a suite; nil where they are not sent.
func (h Suites) readAround(c *gin.Context, in *suiteBody) (setUp, tearDown *[]step.Step, err error) {
	if setUp, err = h.ReadChangedSteps(c, step.SetUp, in.SetUp); err != nil {
		return nil, nil, err
	}
	tearDown, err = h.ReadChangedSteps(c, step.TearDown, in.TearDown)
	return setUp, tearDown, err
}

// readLogin reads the login of a suite; nil for none.
func readLogin(n request.Nullable) (*login.Login, error) {
	if !n.Given() {
		return nil, nil
	}
	var l login.Login
	if err := n.Decode("login", &l); err != nil {
		return nil, err
	}
	return &l, l.Check("login")
}

// Update serves POST /testsuites/{id}; only members that are sent are changed: name,
// tags, healing, drift, trace, retries, setUp, tearDown, login, those of planBody, and the cases by testCaseIds (all of them) or by
// addTestCases and removeTestCases.
func (h Suites) Update(c *gin.Context) error {
	id, err := request.UUIDParam(c, "id")
	if err != nil {
		return err
	}
	in, cases, err := h.readSuite(c)
	if err != nil {
		return err
	}
	change := authoring.SuiteChange{Name: in.Name, Tags: in.Tags, Cases: cases, Add: in.AddTestCases, Remove: in.RemoveTestCases}
	if change.Healing, err = request.Value(in.Healing, "healing", ""); err != nil {
		return err
	}
	if change.Drift, err = request.Value(in.Drift, "drift", ""); err != nil {
		return err
	}
	if change.Trace, err = request.Value(in.Trace, "trace", ""); err != nil {
		return err
	}
	if change.SetUp, change.TearDown, err = h.readAround(c, &in); err != nil {
		return err
	}
	plan, err := in.planned()
	if err != nil {
		return err
	}
	change.Plan, change.Shared, change.AddShared, change.RemoveShared = plan.Change, plan.shared, plan.add, plan.remove
	if change.Retries, err = request.Value(in.Retries, "retries", settings.AsWider); err != nil {
		return err
	}
	if change.DefaultEnvironment, err = request.Value(in.DefaultEnvironment, "defaultEnvironment", ""); err != nil {
		return err
	}
	if change.Retention, err = request.Value(in.RunRetention, "runRetention", authoring.RunRetention{}); err != nil {
		return err
	}
	if in.Login.Sent() {
		to, err := readLogin(in.Login)
		if err != nil {
			return err
		}
		change.Login = &authoring.LoginChange{To: to}
	}
	row, err := handler.Changed(h.Base, c, func(ctx context.Context, tx *storage.Tx, w account.Writer) (*authoring.Suite, error) {
		row, err := authoring.UpdateSuite(ctx, tx, w, id, change)
		if err != nil {
			return nil, err
		}
		return row, request.Unchanged("teamId", in.TeamID, &row.TeamUUID)
	})
	if err != nil {
		return problem.InBody(err, problem.CodeCasesNotFound)
	}
	return answer.Data(c, http.StatusOK, h.viewSingle(row))
}

// Delete serves DELETE /testsuites/{id}. With the member deleteTestCases its cases go
// too; without it they are in no suite afterwards.
func (h Suites) Delete(c *gin.Context) error {
	id, err := request.UUIDParam(c, "id")
	if err != nil {
		return err
	}
	var in struct {
		DeleteTestCases bool `json:"deleteTestCases"`
	}
	if err := h.Read(c, &in); err != nil {
		return err
	}
	err = h.Change(c, func(ctx context.Context, tx *storage.Tx, w account.Writer) error {
		jobs, err := run.DeleteSuiteWithRuns(ctx, tx, w, id, in.DeleteTestCases)
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
