package authoring

import (
	"context"
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
		of     resource
		status int
		code   string
		detail string
	}{
		"case":       {storage.ErrNotFound, testCase, 404, "TEST_CASE_NOT_FOUND", "the test case does not exist"},
		"revision":   {storage.ErrNotFound, revision, 404, "TEST_CASE_REVISION_NOT_FOUND", "no such revision"},
		"run":        {fmt.Errorf("run: %w", storage.ErrNotFound), caseRun, 404, "TEST_CASE_RUN_NOT_FOUND", "no such run"},
		"suite":      {storage.ErrNotFound, testSuite, 404, "TEST_SUITE_NOT_FOUND", "the test suite does not exist"},
		"suite run":  {storage.ErrNotFound, suiteRun, 404, "TEST_CASE_RUN_NOT_FOUND", "no such run"},
		"file":       {storage.ErrNotFound, runFile, 404, "FILE_NOT_FOUND", "file"},
		"variable":   {storage.ErrNotFound, variable, 404, "VARIABLE_NOT_FOUND", "variable"},
		"tunnel":     {storage.ErrNotFound, tunnel, 404, "SC_TUNNEL_NOT_FOUND", "tunnel"},
		"of a path":  {invalidParams(wrong), testCase, 400, "INVALID_PARAMS", "limit: must be a number"},
		"of a query": {invalidQuery(fmt.Errorf("list: %w", wrong)), testCase, 400, "INVALID_QUERY", "limit: must be a number"},
		"of a body":  {wrong, testCase, 400, "INVALID_BODY", "limit: must be a number"},
		"of steps":   {&step.InvalidError{Path: "a.b", Msg: "wrong"}, testCase, 400, "INVALID_BODY", "a.b: wrong"},
		"forbidden":  {fmt.Errorf("case: %w", authoring.ErrForbidden), testCase, 403, "FORBIDDEN", "team"},
		"missing":    {&authoring.MissingError{IDs: []string{"x"}}, testSuite, 404, "TEST_CASES_NOT_FOUND", "x"},
		"missing in an update": {inBody(&authoring.MissingError{IDs: []string{"x"}}, codeCasesNotFound), testSuite, 400,
			"TEST_CASES_NOT_FOUND", "x"},
		"no update of what is not there": {inBody(storage.ErrNotFound, codeCasesNotFound), testSuite, 404, "TEST_SUITE_NOT_FOUND", "suite"},
		"suite of a body":                {authoring.ErrSuiteNotFound, testCase, 404, "TEST_SUITE_NOT_FOUND", "suite"},
		"suite of a body as 400":         {inBody(authoring.ErrSuiteNotFound, codeSuiteNotFound), testCase, 400, "TEST_SUITE_NOT_FOUND", "suite"},
		"schedule":                       {storage.ErrNotFound, testSchedule, 404, "TEST_SCHEDULE_NOT_FOUND", "the test schedule does not exist"},
		"suites of a schedule": {fmt.Errorf("create: %w", &schedule.MissingSuitesError{IDs: []uuid.UUID{uuid.Max}}),
			testSchedule, 400, "TEST_SUITES_NOT_FOUND", "ffffffff-"},
		"suites of others": {&schedule.ForeignSuitesError{IDs: []uuid.UUID{uuid.Max}}, testSchedule, 400,
			"INVALID_TEST_SUITES", "ffffffff-"},
		"running user":                  {schedule.ErrRunningUser, testSchedule, 400, "RUNNING_USER_NOT_FOUND", "running user"},
		"tunnel of a schedule":          {schedule.ErrNoTunnel, testSchedule, 400, "SC_TUNNEL_NOT_FOUND", "tunnel"},
		"nothing to run":                {authoring.ErrNoJobs, testSchedule, 400, "TEST_SUITE_NO_RUN_JOBS", "no case"},
		"a body too large":              {&http.MaxBytesError{Limit: 5}, testCase, 413, "TOO_LARGE", "5 bytes"},
		"database away":                 {storage.ErrUnavailable, testCase, 503, "UNAVAILABLE", "not available"},
		"query while the database away": {invalidQuery(storage.ErrUnavailable), testCase, 503, "UNAVAILABLE", "not available"},
		"unknown":                       {errors.New("secret"), testCase, 500, "INTERNAL", "internal error"},
	} {
		rec := httptest.NewRecorder()
		c, _ := gin.CreateTestContext(rec)
		c.Request = httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
		respond.SetLogger(c, slog.New(slog.DiscardHandler))
		line := route.Route{Interface: respond.InterfaceAuthoring, Handler: tc.of.of(func(*gin.Context) error { return tc.err })}
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
		require.ErrorAs(t, under(tc.at, &step.InvalidError{Path: tc.path, Msg: "wrong"}), &wrong)
		require.Equal(t, tc.want, wrong.Field)
	}
	require.NoError(t, under("steps", nil))
	require.ErrorIs(t, under("steps", storage.ErrNotFound), storage.ErrNotFound)
}

func TestConfigIsChecked(t *testing.T) {
	t.Parallel()
	check := func(context.Context, string) error { return nil }
	for _, cfg := range []Config{{}, {DB: &storage.DB{}}, {CheckURL: check}} {
		_, err := New(cfg)
		require.Error(t, err)
	}
	h, err := New(Config{DB: &storage.DB{}, CheckURL: check, PublicURL: "https://qa.example.com/"})
	require.NoError(t, err)
	require.Equal(t, "https://qa.example.com/v1/ai-authoring/files/x", h.cases.fileURL("x"))
	require.Equal(t, "", h.cases.fileURL(""))
}
