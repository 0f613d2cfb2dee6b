package authoring

import (
	"errors"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/api/route"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/schedule"
	"github.com/slipway-qa/slipway/storage/step"
)

// The codes of the interface that do not follow from the status.
const (
	codeParams = "INVALID_PARAMS"
	codeQuery  = "INVALID_QUERY"

	codeCaseNotFound     = "TEST_CASE_NOT_FOUND"
	codeRevisionNotFound = "TEST_CASE_REVISION_NOT_FOUND"
	codeRunNotFound      = "TEST_CASE_RUN_NOT_FOUND"
	codeHealingNotFound  = "TEST_CASE_HEALING_NOT_FOUND"
	codeHealingOutdated  = "TEST_CASE_HEALING_OUTDATED"
	codeCasesNotFound    = "TEST_CASES_NOT_FOUND"
	codeInvalidCases     = "INVALID_TEST_CASES"
	codeSuiteNotFound    = "TEST_SUITE_NOT_FOUND"
	codeFileNotFound     = "FILE_NOT_FOUND"
	codeVariableNotFound = "VARIABLE_NOT_FOUND"
	codeTunnelNotFound   = "SC_TUNNEL_NOT_FOUND"
	codeNoJobs           = "TEST_SUITE_NO_RUN_JOBS"
	codeBuildNotFound    = "BUILD_NOT_FOUND"
	codeNothingToRerun   = "NOTHING_TO_RERUN"

	codeScheduleNotFound = "TEST_SCHEDULE_NOT_FOUND"
	codeSuitesNotFound   = "TEST_SUITES_NOT_FOUND"
	codeInvalidSuites    = "INVALID_TEST_SUITES"
	codeRunningUser      = "RUNNING_USER_NOT_FOUND"

	codeGenerationNotFound = "GENERATION_TASK_NOT_FOUND"
	codeGenerationEnded    = "GENERATION_TASK_ENDED"

	codeTargetInvalid  = "CODE_GENERATION_TARGET_INVALID"
	codeTargetNotFound = "CODE_GENERATION_TARGET_NOT_FOUND"
	codeUnwritable     = "CODE_GENERATION_UNSUPPORTED"
	codeCaseEmpty      = "TEST_CASE_EMPTY"
	codeCaseChanged    = "CASE_CHANGED"
	codeCaseInUse      = "TEST_CASE_IN_USE"
	codeGroupNotFound  = "STEP_GROUP_NOT_FOUND"
	codeGroupInvalid   = "STEP_GROUP_INVALID"

	codeGroupUnrefinable = "STEP_GROUP_NOT_REFINABLE"
	codeDataNotFound     = "TEST_DATA_NOT_FOUND"
)

// resource is what a path names: the code and the text of the answer when it is
// not there.
type resource struct{ code, text string }

var (
	testCase       = resource{codeCaseNotFound, "the test case does not exist"}
	revision       = resource{codeRevisionNotFound, "the test case has no such revision"}
	caseHealing    = resource{codeHealingNotFound, "the test case has no such healing"}
	caseRun        = resource{codeRunNotFound, "the test case has no such run"}
	testSuite      = resource{codeSuiteNotFound, "the test suite does not exist"}
	suiteRun       = resource{codeRunNotFound, "the test suite has no such run"}
	runFile        = resource{codeFileNotFound, "the file does not exist"}
	variable       = resource{codeVariableNotFound, "the variable does not exist"}
	tunnel         = resource{codeTunnelNotFound, "the tunnel does not exist"}
	generationTask = resource{codeGenerationNotFound, "the generation task does not exist"}
	testSchedule   = resource{codeScheduleNotFound, "the test schedule does not exist"}
)

// of returns the handler of a route whose path names the resource: its errors get
// their codes.
func (of resource) of(h route.Handler) route.Handler {
	return func(c *gin.Context) error {
		warnOfQuery(c)
		return problem(h(c), of)
	}
}

// problem gives the error of a request whose path names the resource its code. It is
// the one place that does, for all stores:
//
//   - a *respond.Problem is written as it says;
//   - storage.ErrNotFound is 404 with the resource's code;
//   - authoring.ErrForbidden is 403 FORBIDDEN, ErrHealingOutdated and ErrCaseChanged are
//     a 409, and so is *authoring.InUseError, of a case that is the login of a suite;
//   - *authoring.MissingError, authoring.ErrSuiteNotFound and ErrRevisionNotFound are
//     404 with their own codes (see inBody for where they are a 400);
//   - what a schedule lacks to run (ofSchedule) is a 400 with its own code;
//   - *storage.InvalidError and *step.InvalidError are INVALID_BODY: errors of
//     queries and paths are made by invalidQuery and invalidParams.
func problem(err error, of resource) error {
	var known *respond.Problem
	var missing *authoring.MissingError
	var used *authoring.InUseError
	var wrong *step.InvalidError
	switch {
	case err == nil, errors.As(err, &known):
		return err
	case errors.As(err, &missing):
		return &respond.Problem{Status: http.StatusNotFound, Authoring: codeCasesNotFound, Text: missing.Error(), Err: err}
	case errors.Is(err, authoring.ErrSuiteNotFound):
		return &respond.Problem{Status: http.StatusNotFound, Authoring: codeSuiteNotFound,
			Text: authoring.ErrSuiteNotFound.Error(), Err: err}
	case errors.Is(err, authoring.ErrRevisionNotFound):
		return &respond.Problem{Status: http.StatusNotFound, Authoring: revision.code, Text: revision.text, Err: err}
	case errors.As(err, &used):
		return &respond.Problem{Status: http.StatusConflict, Authoring: codeCaseInUse, Text: "the test case cannot be deleted: " +
			used.Error(), Err: err}
	case errors.Is(err, authoring.ErrCaseChanged):
		return &respond.Problem{Status: http.StatusConflict, Authoring: codeCaseChanged, Text: authoring.ErrCaseChanged.Error(), Err: err}
	case errors.Is(err, authoring.ErrHealingOutdated):
		return &respond.Problem{Status: http.StatusConflict, Authoring: codeHealingOutdated,
			Text: authoring.ErrHealingOutdated.Error(), Err: err}
	case errors.Is(err, authoring.ErrForbidden):
		return &respond.Problem{Status: http.StatusForbidden,
			Text: "this belongs to a team that is not one of yours", Err: err}
	case errors.Is(err, schedule.ErrOtherUser):
		return &respond.Problem{Status: http.StatusForbidden, Text: "settings.runningUserId: " + err.Error(), Err: err}
	case errors.As(err, &wrong):
		return under("", wrong)
	case errors.Is(err, storage.ErrNotFound):
		return &respond.Problem{Status: http.StatusNotFound, Authoring: of.code, Text: of.text, Err: err}
	}
	return ofSchedule(err)
}

// ofSchedule returns what a body, or what is to run, names and is not there its code.
func ofSchedule(err error) error {
	var missing *schedule.MissingSuitesError
	var foreign *schedule.ForeignSuitesError
	p := &respond.Problem{Status: http.StatusBadRequest, Err: err}
	switch {
	case errors.As(err, &missing):
		p.Authoring, p.Text = codeSuitesNotFound, missing.Error()
	case errors.As(err, &foreign):
		p.Authoring, p.Text = codeInvalidSuites, foreign.Error()
	case errors.Is(err, schedule.ErrRunningUser):
		p.Authoring, p.Text = codeRunningUser, schedule.ErrRunningUser.Error()
	case errors.Is(err, schedule.ErrNoEnvironment):
		p.Authoring, p.Text = codeEnvironmentNotFound, schedule.ErrNoEnvironment.Error()
	case errors.Is(err, schedule.ErrNoTunnel):
		p.Authoring, p.Text = codeTunnelNotFound, schedule.ErrNoTunnel.Error()
	case errors.Is(err, run.ErrNoBuild):
		p.Authoring, p.Text = codeBuildNotFound, "buildId: "+run.ErrNoBuild.Error()
	case errors.Is(err, authoring.ErrNoJobs):
		p.Authoring, p.Text = codeNoJobs, authoring.ErrNoJobs.Error()
	default:
		return err
	}
	return p
}

// inBody turns a refusal with the code into a 400: what is missing is named by
// the body, and what the path names is there.
func inBody(err error, code string) error {
	var p *respond.Problem
	if known := problem(err, resource{}); errors.As(known, &p) && p.Authoring == code {
		with := *p
		with.Status = http.StatusBadRequest
		return &with
	}
	return err
}

// refused is a refusal with a code of its own.
func refused(status int, code, text string) error {
	return &respond.Problem{Status: status, Authoring: code, Text: text}
}

// invalidQuery makes an error of a query parameter INVALID_QUERY; errors that are
// none of the caller's stay.
func invalidQuery(err error) error { return invalid(err, codeQuery) }

// invalidParams makes an error of a path parameter INVALID_PARAMS.
func invalidParams(err error) error { return invalid(err, codeParams) }

func invalid(err error, code string) error {
	var wrong *storage.InvalidError
	if !errors.As(err, &wrong) {
		return err
	}
	return &respond.Problem{Status: http.StatusBadRequest, Authoring: code, Text: wrong.Error(), Err: err}
}

// member is an error of a member of the body, by its path: INVALID_BODY.
func member(path, text string) error { return &storage.InvalidError{Field: path, Msg: text} }

// under makes an error of a document an error of the body's member that holds the
// document: [3].tool of steps is steps[3].tool.
func under(path string, err error) error {
	var wrong *step.InvalidError
	if !errors.As(err, &wrong) {
		return err
	}
	switch {
	case path == "", strings.HasPrefix(wrong.Path, "["), wrong.Path == "":
		path += wrong.Path
	default:
		path += "." + wrong.Path
	}
	if path == "" {
		path = "body"
	}
	return member(path, wrong.Msg)
}
