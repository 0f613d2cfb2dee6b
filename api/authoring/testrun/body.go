package testrun

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/slipway-qa/slipway/api/authoring/handler"
	"github.com/slipway-qa/slipway/api/authoring/problem"
	"github.com/slipway-qa/slipway/api/authoring/request"
	"github.com/slipway-qa/slipway/api/authoring/settings"
	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/environment"
	"github.com/slipway-qa/slipway/storage/rows"
	"github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/capability"
)

// runBody is what a request may say of a run of a case.
type runBody struct {
	BuildName    *string          `json:"buildName"`
	Targets      request.Document `json:"targets"`
	SCTunnelName request.Nullable `json:"scTunnelName"`
	TestURL      *string          `json:"testUrl"`
	Variables    request.Document `json:"variables"`
	BuildID      *int64           `json:"buildId"`
	Trace        *string          `json:"trace"`
	Retries      *int             `json:"retries"`
	Environment  *string          `json:"environment"`
	Rows         *[]int           `json:"rows"` // places of data rows; all without
}

// rows are the places of the data rows that are asked for; nil for all.
func (in *runBody) rows() ([]int, error) {
	if in.Rows == nil {
		return nil, nil
	}
	if len(*in.Rows) < 1 || len(*in.Rows) > rows.MaxRows {
		return nil, problem.Member("rows", fmt.Sprintf("must name 1 to %d data rows, the first is 0", rows.MaxRows))
	}
	return *in.Rows, nil
}

// suiteRunBody is what a request may say of a run of a suite.
type suiteRunBody struct {
	BuildName *string          `json:"buildName"`
	Targets   request.Document `json:"targets"`
	TestURL   *string          `json:"testUrl"`
	Variables request.Document `json:"variables"`
	BuildID   *int64           `json:"buildId"`
	Trace     *string          `json:"trace"`
	Retries   *int             `json:"retries"`
	Shard     request.Document `json:"shard"`
	// MaxDuration is the most seconds from the start to the end.
	MaxDuration *int `json:"maxDuration"`
	// Environment, where it is sent, stands in place of the suite's default; null and "" are none.
	Environment request.Nullable `json:"environment"`
}

// givenInputs are what a request gives a run in place of what its cases have.
type givenInputs struct {
	testURL   *string
	variables request.Document
	buildID   *int64
	retries   *int
	trace     *string
}

// inputs reads what a run is given: its address, which no test must be kept from, the values
// of variables, which are not sealed yet, the mode of its traces, and its build, which the store looks for. recorded
// returns where the tests were written, for callers with scopes.
func (h reader) inputs(ctx context.Context, of givenInputs, recorded func() ([]string, error)) (in run.Inputs,
	values map[string]string, err error) {
	in.BuildID, in.Retries, in.Trace = of.buildID, of.retries, request.Or(of.trace, "")
	if err := capability.CheckRetries("retries", of.retries); err != nil {
		return in, nil, problem.Under("", err)
	}
	if of.testURL != nil {
		in.TestURL = *of.testURL
		if err := step.CheckTestURL("testUrl", in.TestURL); err != nil {
			return in, nil, problem.Under("", err)
		}
		if err := h.CheckAddresses(ctx, "testUrl", in.TestURL, "", nil); err != nil {
			return in, nil, err
		}
	}
	if of.variables.Given() {
		if values, err = of.variables.Texts("variables"); err != nil {
			return in, nil, err
		}
	}
	return in, values, checkScoped(ctx, in.TestURL, len(values) > 0, recorded)
}

// build is the name of the build, by default as much of the case's name as fits.
func (in *runBody) build(caseName string) (string, error) {
	given := strings.TrimSpace(request.Or(in.BuildName, ""))
	if given == "" {
		if runes := []rune(caseName); len(runes) > authoring.MaxBuildName {
			return strings.TrimSpace(string(runes[:authoring.MaxBuildName])), nil
		}
		return caseName, nil
	}
	if utf8.RuneCountInString(given) > authoring.MaxBuildName {
		return "", problem.Member("buildName", fmt.Sprintf("must have at most %d characters", authoring.MaxBuildName))
	}
	return given, nil
}

// targets are those of the request; without any, as with empty ones alone, those of the
// environment, if there is one that has some, else those of the case.
func (in *runBody) targets(s *capability.RunSettings, env *environment.Environment, check settings.Check) ([]capability.Target, error) {
	if in.Targets.Given() {
		targets, err := settings.ReadTargets("targets", in.Targets, check)
		if err != nil || len(targets) > 0 {
			return targets, err
		}
	}
	if env != nil && len(env.Targets) > 0 {
		return env.Targets, nil
	}
	return handler.TargetsOf(s)
}

// tunnel is the one of the request, else the case's; nil leaves it to the targets.
// null asks for none, whatever the case and the targets name.
func (in *runBody) tunnel(s *capability.RunSettings) (*string, error) {
	asked, err := request.Value(in.SCTunnelName, "scTunnelName", "")
	if err != nil || asked != nil {
		return asked, err
	}
	if request.Or(s.SCTunnelName, "") == "" {
		return nil, nil
	}
	return s.SCTunnelName, nil
}
