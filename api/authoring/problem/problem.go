// Package problem gives the errors of requests to the authoring interface their codes.
//
// Handlers return the errors of the stores. The line of a route names the resource of its path,
// whose code the answer has when it is not there; Coded knows the errors of all stores and is the
// one place that gives them codes. What is wrong in a path is INVALID_PARAMS, in a query
// INVALID_QUERY, and in a body INVALID_BODY with the path of the member. An error that is not
// known stays as it is: package respond answers 500 and logs it.
package problem

import (
	"errors"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/authoring/answer"
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
	CodeCasesNotFound    = "TEST_CASES_NOT_FOUND"
	CodeInvalidCases     = "INVALID_TEST_CASES"
	CodeSuiteNotFound    = "TEST_SUITE_NOT_FOUND"
	codeFileNotFound     = "FILE_NOT_FOUND"
	codeVariableNotFound = "VARIABLE_NOT_FOUND"
	CodeTunnelNotFound   = "SC_TUNNEL_NOT_FOUND"
	codeNoJobs           = "TEST_SUITE_NO_RUN_JOBS"
	codeBuildNotFound    = "BUILD_NOT_FOUND"
	CodeNothingToRerun   = "NOTHING_TO_RERUN"

	codeScheduleNotFound    = "TEST_SCHEDULE_NOT_FOUND"
	CodeEnvironmentNotFound = "ENVIRONMENT_NOT_FOUND"
	codeSuitesNotFound      = "TEST_SUITES_NOT_FOUND"
	CodeInvalidSuites       = "INVALID_TEST_SUITES"
	codeRunningUser         = "RUNNING_USER_NOT_FOUND"

	codeGenerationNotFound = "GENERATION_TASK_NOT_FOUND"
	CodeGenerationEnded    = "GENERATION_TASK_ENDED"

	CodeTargetInvalid  = "CODE_GENERATION_TARGET_INVALID"
	CodeTargetNotFound = "CODE_GENERATION_TARGET_NOT_FOUND"
	CodeUnwritable     = "CODE_GENERATION_UNSUPPORTED"
	CodeCaseEmpty      = "TEST_CASE_EMPTY"
	codeCaseChanged    = "CASE_CHANGED"
	codeCaseInUse      = "TEST_CASE_IN_USE"
	CodeGroupNotFound  = "STEP_GROUP_NOT_FOUND"
	CodeGroupInvalid   = "STEP_GROUP_INVALID"

	CodeGroupUnrefinable = "STEP_GROUP_NOT_REFINABLE"
	CodeDataNotFound     = "TEST_DATA_NOT_FOUND"
)

// Resource is what a path names: the code and the text of the answer when it is
// not there.
type Resource struct{ Code, Text string }

// The resources that paths name.
var (
	TestCase       = Resource{codeCaseNotFound, "the test case does not exist"}
	Revision       = Resource{codeRevisionNotFound, "the test case has no such revision"}
	CaseHealing    = Resource{codeHealingNotFound, "the test case has no such healing"}
	CaseRun        = Resource{codeRunNotFound, "the test case has no such run"}
	TestSuite      = Resource{CodeSuiteNotFound, "the test suite does not exist"}
	SuiteRun       = Resource{codeRunNotFound, "the test suite has no such run"}
	RunFile        = Resource{codeFileNotFound, "the file does not exist"}
	Variable       = Resource{codeVariableNotFound, "the variable does not exist"}
	Tunnel         = Resource{CodeTunnelNotFound, "the tunnel does not exist"}
	GenerationTask = Resource{codeGenerationNotFound, "the generation task does not exist"}
	TestSchedule   = Resource{codeScheduleNotFound, "the test schedule does not exist"}
)

// Of returns the handler of a route whose path names the resource: its errors get
// their codes.
func (of Resource) Of(h route.Handler) route.Handler {
	return func(c *gin.Context) error {
		answer.WarnOfQuery(c)
		return Coded(h(c), of)
	}
}

// Coded gives the error of a request whose path names the resource its code. It is
// the one place that does, for all stores:
//
//   - a *respond.Problem is written as it says;
//   - storage.ErrNotFound is 404 with the resource's code;
//   - authoring.ErrForbidden is 403 FORBIDDEN, ErrHealingOutdated and ErrCaseChanged are
//     a 409, and so is *authoring.InUseError, of a case that is the login of a suite;
//   - *authoring.MissingError, authoring.ErrSuiteNotFound and ErrRevisionNotFound are
//     404 with their own codes (see InBody for where they are a 400);
//   - what a schedule lacks to run (ofSchedule) is a 400 with its own code;
//   - *storage.InvalidError and *step.InvalidError are INVALID_BODY: errors of
//     queries and paths are made by InvalidQuery and InvalidParams.
func Coded(err error, of Resource) error {
	var known *respond.Problem
	var missing *authoring.MissingError
	var used *authoring.InUseError
	var wrong *step.InvalidError
	switch {
	case err == nil, errors.As(err, &known):
		return err
	case errors.As(err, &missing):
		return &respond.Problem{Status: http.StatusNotFound, Authoring: CodeCasesNotFound, Text: missing.Error(), Err: err}
	case errors.Is(err, authoring.ErrSuiteNotFound):
		return &respond.Problem{Status: http.StatusNotFound, Authoring: CodeSuiteNotFound,
			Text: authoring.ErrSuiteNotFound.Error(), Err: err}
	case errors.Is(err, authoring.ErrRevisionNotFound):
		return &respond.Problem{Status: http.StatusNotFound, Authoring: Revision.Code, Text: Revision.Text, Err: err}
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
		return Under("", wrong)
	case errors.Is(err, storage.ErrNotFound):
		return &respond.Problem{Status: http.StatusNotFound, Authoring: of.Code, Text: of.Text, Err: err}
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
		p.Authoring, p.Text = CodeInvalidSuites, foreign.Error()
	case errors.Is(err, schedule.ErrRunningUser):
		p.Authoring, p.Text = codeRunningUser, schedule.ErrRunningUser.Error()
	case errors.Is(err, schedule.ErrNoEnvironment):
		p.Authoring, p.Text = CodeEnvironmentNotFound, schedule.ErrNoEnvironment.Error()
	case errors.Is(err, schedule.ErrNoTunnel):
		p.Authoring, p.Text = CodeTunnelNotFound, schedule.ErrNoTunnel.Error()
	case errors.Is(err, run.ErrNoBuild):
		p.Authoring, p.Text = codeBuildNotFound, "buildId: "+run.ErrNoBuild.Error()
	case errors.Is(err, authoring.ErrNoJobs):
		p.Authoring, p.Text = codeNoJobs, authoring.ErrNoJobs.Error()
	default:
		return err
	}
	return p
}

// InBody turns a refusal with the code into a 400: what is missing is named by
// the body, and what the path names is there.
func InBody(err error, code string) error {
	var p *respond.Problem
	if known := Coded(err, Resource{}); errors.As(known, &p) && p.Authoring == code {
		with := *p
		with.Status = http.StatusBadRequest
		return &with
	}
	return err
}

// Refused is a refusal with a code of its own.
func Refused(status int, code, text string) error {
	return &respond.Problem{Status: status, Authoring: code, Text: text}
}

// InvalidQuery makes an error of a query parameter INVALID_QUERY; errors that are
// none of the caller's stay.
func InvalidQuery(err error) error { return invalid(err, codeQuery) }

// InvalidParams makes an error of a path parameter INVALID_PARAMS.
func InvalidParams(err error) error { return invalid(err, codeParams) }

func invalid(err error, code string) error {
	var wrong *storage.InvalidError
	if !errors.As(err, &wrong) {
		return err
	}
	return &respond.Problem{Status: http.StatusBadRequest, Authoring: code, Text: wrong.Error(), Err: err}
}

// Member is an error of a member of the body, by its path: INVALID_BODY.
func Member(path, text string) error { return &storage.InvalidError{Field: path, Msg: text} }

// Under makes an error of a document an error of the body's member that holds the
// document: [3].tool of steps is steps[3].tool.
func Under(path string, err error) error {
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
	return Member(path, wrong.Msg)
}

// Conflict gives a conflict of the store its text.
func Conflict(err error, text string) error {
	if errors.Is(err, storage.ErrConflict) {
		return Refused(http.StatusConflict, "CONFLICT", text)
	}
	return err
}
