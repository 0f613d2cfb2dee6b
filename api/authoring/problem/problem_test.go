package problem

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/api/route"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/schedule"
	"github.com/slipway-qa/slipway/storage/step"
)

func TestProblems(t *testing.T) {
	t.Parallel()
	wrong := &storage.InvalidError{Field: "limit", Msg: "must be a number"}
	for name, tc := range map[string]struct {
		err    error
		of     Resource
		status int
		code   string
		detail string
	}{
		"case":       {storage.ErrNotFound, TestCase, 404, "TEST_CASE_NOT_FOUND", "the test case does not exist"},
		"revision":   {storage.ErrNotFound, Revision, 404, "TEST_CASE_REVISION_NOT_FOUND", "no such revision"},
		"run":        {fmt.Errorf("run: %w", storage.ErrNotFound), CaseRun, 404, "TEST_CASE_RUN_NOT_FOUND", "no such run"},
		"suite":      {storage.ErrNotFound, TestSuite, 404, "TEST_SUITE_NOT_FOUND", "the test suite does not exist"},
		"suite run":  {storage.ErrNotFound, SuiteRun, 404, "TEST_CASE_RUN_NOT_FOUND", "no such run"},
		"file":       {storage.ErrNotFound, RunFile, 404, "FILE_NOT_FOUND", "file"},
		"variable":   {storage.ErrNotFound, Variable, 404, "VARIABLE_NOT_FOUND", "variable"},
		"tunnel":     {storage.ErrNotFound, Tunnel, 404, "SC_TUNNEL_NOT_FOUND", "tunnel"},
		"of a path":  {InvalidParams(wrong), TestCase, 400, "INVALID_PARAMS", "limit: must be a number"},
		"of a query": {InvalidQuery(fmt.Errorf("list: %w", wrong)), TestCase, 400, "INVALID_QUERY", "limit: must be a number"},
		"of a body":  {wrong, TestCase, 400, "INVALID_BODY", "limit: must be a number"},
		"of steps":   {&step.InvalidError{Path: "a.b", Msg: "wrong"}, TestCase, 400, "INVALID_BODY", "a.b: wrong"},
		"forbidden":  {fmt.Errorf("case: %w", authoring.ErrForbidden), TestCase, 403, "FORBIDDEN", "team"},
		"missing":    {&authoring.MissingError{IDs: []string{"x"}}, TestSuite, 404, "TEST_CASES_NOT_FOUND", "x"},
		"missing in an update": {InBody(&authoring.MissingError{IDs: []string{"x"}}, CodeCasesNotFound), TestSuite, 400,
			"TEST_CASES_NOT_FOUND", "x"},
		"no update of what is not there": {InBody(storage.ErrNotFound, CodeCasesNotFound), TestSuite, 404, "TEST_SUITE_NOT_FOUND", "suite"},
		"suite of a body":                {authoring.ErrSuiteNotFound, TestCase, 404, "TEST_SUITE_NOT_FOUND", "suite"},
		"suite of a body as 400":         {InBody(authoring.ErrSuiteNotFound, CodeSuiteNotFound), TestCase, 400, "TEST_SUITE_NOT_FOUND", "suite"},
		"schedule":                       {storage.ErrNotFound, TestSchedule, 404, "TEST_SCHEDULE_NOT_FOUND", "the test schedule does not exist"},
		"suites of a schedule": {fmt.Errorf("create: %w", &schedule.MissingSuitesError{IDs: []uuid.UUID{uuid.Max}}),
			TestSchedule, 400, "TEST_SUITES_NOT_FOUND", "ffffffff-"},
		"suites of others": {&schedule.ForeignSuitesError{IDs: []uuid.UUID{uuid.Max}}, TestSchedule, 400,
			"INVALID_TEST_SUITES", "ffffffff-"},
		"running user":                  {schedule.ErrRunningUser, TestSchedule, 400, "RUNNING_USER_NOT_FOUND", "running user"},
		"tunnel of a schedule":          {schedule.ErrNoTunnel, TestSchedule, 400, "SC_TUNNEL_NOT_FOUND", "tunnel"},
		"nothing to run":                {authoring.ErrNoJobs, TestSchedule, 400, "TEST_SUITE_NO_RUN_JOBS", "no case"},
		"a body too large":              {&http.MaxBytesError{Limit: 5}, TestCase, 413, "TOO_LARGE", "5 bytes"},
		"database away":                 {storage.ErrUnavailable, TestCase, 503, "UNAVAILABLE", "not available"},
		"query while the database away": {InvalidQuery(storage.ErrUnavailable), TestCase, 503, "UNAVAILABLE", "not available"},
		"unknown":                       {errors.New("secret"), TestCase, 500, "INTERNAL", "internal error"},
	} {
		rec := httptest.NewRecorder()
		c, _ := gin.CreateTestContext(rec)
		c.Request = httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
		respond.SetLogger(c, slog.New(slog.DiscardHandler))
		line := route.Route{Interface: respond.InterfaceAuthoring, Handler: tc.of.Of(func(*gin.Context) error { return tc.err })}
		line.Serve(c)
		require.Equal(t, tc.status, rec.Code, name)
		require.Contains(t, rec.Body.String(), `"code":"`+tc.code+`"`, name)
		require.Contains(t, rec.Body.String(), tc.detail, name)
		require.NotContains(t, rec.Body.String(), "secret")
	}
}

func TestUnder(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ at, path, want string }{
		{"steps", "[3].tool", "steps[3].tool"}, {"side", "tests[0]", "side.tests[0]"}, {"side", "", "side"},
		{"", "name", "name"}, {"", "", "body"},
	} {
		var wrong *storage.InvalidError
		require.ErrorAs(t, Under(tc.at, &step.InvalidError{Path: tc.path, Msg: "wrong"}), &wrong)
		require.Equal(t, tc.want, wrong.Field)
	}
	require.NoError(t, Under("steps", nil))
	require.ErrorIs(t, Under("steps", storage.ErrNotFound), storage.ErrNotFound)
}
