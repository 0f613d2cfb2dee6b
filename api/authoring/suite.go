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
	"github.com/slipway-qa/slipway/storage/login"
	"github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/step"
)

// suites are the handlers of test suites.
type suites struct{ *room }

// list serves GET /testsuites, newest first. Parameters: ids (array), search (part of
// the name), tag (repeated: all of them), startDate, endDate (creation), userId (creator), teamId, skip, limit.
func (h suites) list(c *gin.Context) error {
	q := queryOf(c)
	f := authoring.SuiteFilter{OrganizationID: auth.Organization(c), IDs: q.uuids("ids"), Search: q.search(), Tags: q.tags(),
		User: q.uuid("userId"), Team: q.uuid("teamId"), Page: q.page()}
	f.From, f.To = q.dates()
	if q.err != nil {
		return q.err
	}
	rows, total, err := authoring.Suites(c.Request.Context(), h.cfg.DB, f)
	if err != nil {
		return err
	}
	return data(c, http.StatusOK, listOf(rows, total, viewSuite))
}

// get serves GET /testsuites/{id}.
func (h suites) get(c *gin.Context) error {
	id, err := uuidParam(c, "id")
	if err != nil {
		return err
	}
	row, err := authoring.SuiteByID(c.Request.Context(), h.cfg.DB, auth.Organization(c), id)
	if err != nil {
		return err
	}
	return data(c, http.StatusOK, h.viewSingle(row))
}

// suiteBody is what a request may say of a suite. TestCases and TestCaseIDs are
// synonyms.
type suiteBody struct {
	Name     *string   `json:"name"`
	TeamID   *string   `json:"teamId"`
	Tags     *[]string `json:"tags"`
	Healing  nullable  `json:"healing"`
	Drift    nullable  `json:"drift"`
	Trace    nullable  `json:"trace"`
	SetUp    nullable  `json:"setUp"`
	TearDown nullable  `json:"tearDown"`
	Retries  nullable  `json:"retries"`
	// DefaultEnvironment is the environment of runs that name none; null and "" are none.
	DefaultEnvironment nullable  `json:"defaultEnvironment"`
	RunRetention       nullable  `json:"runRetention"`
	Login              nullable  `json:"login"` // {"testCaseId", "when"}; null: none
	TestCases          *[]string `json:"testCases"`
	TestCaseIDs        *[]string `json:"testCaseIds"`
	AddTestCases       []string  `json:"addTestCases"`
	RemoveTestCases    []string  `json:"removeTestCases"`
	planBody
}

// readSuite reads the members of a suite; cases are those that replace all.
func readSuite(c *gin.Context) (in suiteBody, cases *[]string, err error) {
	if err = read(c, &in); err != nil {
		return in, nil, err
	}
	cases, err = in.cases()
	return in, cases, err
}

// create serves POST /testsuites. Members: name, testCases, tags, healing, drift, trace, retries, runRetention, setUp, tearDown, login, teamId, and
// those of planBody.
// Cases of other suites move.
func (h suites) create(c *gin.Context) error {
	in, cases, err := readSuite(c)
	if err != nil {
		return err
	}
	if err := required(in.Name); err != nil {
		return err
	}
	if len(in.AddTestCases)+len(in.RemoveTestCases) > 0 {
		return member("addTestCases", "and removeTestCases change a suite that is there: a new one has testCases")
	}
	if len(in.AddSharedTestCases)+len(in.RemoveSharedTestCases) > 0 {
		return member("addSharedTestCases", "and removeSharedTestCases change a suite that is there: a new one has sharedTestCases")
	}
	n := authoring.NewSuite{Name: *in.Name, Tags: or(in.Tags, []string{}), Cases: or(cases, nil)}
	if n.Team, err = optionalUUID("teamId", in.TeamID); err != nil {
		return err
	}
	healing, err := valueOf(in.Healing, "healing", "")
	if err != nil {
		return err
	}
	drift, err := valueOf(in.Drift, "drift", "")
	if err != nil {
		return err
	}
	trace, err := valueOf(in.Trace, "trace", "")
	if err != nil {
		return err
	}
	retries, err := valueOf(in.Retries, "retries", asWider)
	if err != nil {
		return err
	}
	env, err := valueOf(in.DefaultEnvironment, "defaultEnvironment", "")
	if err != nil {
		return err
	}
	n.Healing, n.Drift, n.Trace, n.Retries, n.DefaultEnvironment = or(healing, ""), or(drift, ""), or(trace, ""),
		retriesOf(retries), or(env, "")
	retention, err := valueOf(in.RunRetention, "runRetention", authoring.RunRetention{})
	if err != nil {
		return err
	}
	n.Retention = or(retention, authoring.RunRetention{})
	setUp, tearDown, err := h.readAround(c, &in)
	if err != nil {
		return err
	}
	n.SetUp, n.TearDown = or(setUp, nil), or(tearDown, nil)
	plan, err := in.planned()
	if err != nil {
		return err
	}
	n.Plan, n.Shared = plan.Change, or(plan.shared, nil)
	if n.Login, err = readLogin(in.Login); err != nil {
		return err
	}
	var row *authoring.Suite
	err = h.change(c, func(ctx context.Context, tx *storage.Tx, w account.Writer) (err error) {
		row, err = authoring.CreateSuite(ctx, tx, w, n)
		return err
	})
	if err != nil {
		return err
	}
	return data(c, http.StatusCreated, h.viewSingle(row))
}

// readAround reads the steps around the cases of a suite; nil where they are not sent.
func (h suites) readAround(c *gin.Context, in *suiteBody) (setUp, tearDown *[]step.Step, err error) {
	if setUp, err = h.changedList(c, step.SetUp, in.SetUp); err != nil {
		return nil, nil, err
	}
	tearDown, err = h.changedList(c, step.TearDown, in.TearDown)
	return setUp, tearDown, err
}

// readLogin reads the login of a suite; nil for none.
func readLogin(n nullable) (*login.Login, error) {
	if !n.given() {
		return nil, nil
	}
	var l login.Login
	if err := n.decode("login", &l); err != nil {
		return nil, err
	}
	return &l, l.Check("login")
}

func or[T any](value *T, absent T) T {
	if value == nil {
		return absent
	}
	return *value
}

// update serves POST /testsuites/{id}; only members that are sent are changed: name,
// tags, healing, drift, trace, retries, setUp, tearDown, login, those of planBody, and the cases by testCaseIds (all of them) or by
// addTestCases and removeTestCases.
func (h suites) update(c *gin.Context) error {
	id, err := uuidParam(c, "id")
	if err != nil {
		return err
	}
	in, cases, err := readSuite(c)
	if err != nil {
		return err
	}
	change := authoring.SuiteChange{Name: in.Name, Tags: in.Tags, Cases: cases, Add: in.AddTestCases, Remove: in.RemoveTestCases}
	if change.Healing, err = valueOf(in.Healing, "healing", ""); err != nil {
		return err
	}
	if change.Drift, err = valueOf(in.Drift, "drift", ""); err != nil {
		return err
	}
	if change.Trace, err = valueOf(in.Trace, "trace", ""); err != nil {
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
	if change.Retries, err = valueOf(in.Retries, "retries", asWider); err != nil {
		return err
	}
	if change.DefaultEnvironment, err = valueOf(in.DefaultEnvironment, "defaultEnvironment", ""); err != nil {
		return err
	}
	if change.Retention, err = valueOf(in.RunRetention, "runRetention", authoring.RunRetention{}); err != nil {
		return err
	}
	if in.Login.sent() {
		to, err := readLogin(in.Login)
		if err != nil {
			return err
		}
		change.Login = &authoring.LoginChange{To: to}
	}
	var row *authoring.Suite
	err = h.change(c, func(ctx context.Context, tx *storage.Tx, w account.Writer) (err error) {
		if row, err = authoring.UpdateSuite(ctx, tx, w, id, change); err != nil {
			return err
		}
		return unchanged("teamId", in.TeamID, &row.TeamUUID)
	})
	if err != nil {
		return inBody(err, codeCasesNotFound)
	}
	return data(c, http.StatusOK, h.viewSingle(row))
}

// delete serves DELETE /testsuites/{id}. With the member deleteTestCases its cases go
// too; without it they are in no suite afterwards.
func (h suites) delete(c *gin.Context) error {
	id, err := uuidParam(c, "id")
	if err != nil {
		return err
	}
	var in struct {
		DeleteTestCases bool `json:"deleteTestCases"`
	}
	if err := read(c, &in); err != nil {
		return err
	}
	err = h.change(c, func(ctx context.Context, tx *storage.Tx, w account.Writer) error {
		jobs, err := run.DeleteSuiteWithRuns(ctx, tx, w, id, in.DeleteTestCases)
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
