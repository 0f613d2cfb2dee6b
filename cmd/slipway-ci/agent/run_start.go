package agent

import (
	"context"
	"net/http"

	"github.com/slipway-qa/slipway/cmd/slipway-ci/client"
)

// runOf is what is tested.
type runOf struct {
	Build       string `json:"build,omitempty" jsonschema:"name of the build that is tested, for people; at most 100 characters"`
	BuildID     int64  `json:"build_id,omitempty" jsonschema:"id of the build that is tested, from list_builds"`
	URL         string `json:"url,omitempty" jsonschema:"run at this address in place of the one that the test was written at, such as that of a preview"`
	Environment string `json:"environment,omitempty" jsonschema:"run in the environment of this name, such as staging: its address, values and browsers"`
}

type runTestArguments struct {
	Test string `json:"test_id" jsonschema:"id of the test case"`
	runOf
	Wait int `json:"wait_seconds,omitempty" jsonschema:"wait for the end, 0 to 50 seconds; default 0"`
}

// startedRun is a run that was started.
type startedRun struct {
	RunID    string `json:"run_id"`
	Warnings []line `json:"warnings,omitempty"`
	Result   any    `json:"result,omitempty"` // when it was waited for
}

func (s *server) runTest(ctx context.Context, in runTestArguments) (any, error) {
	q, err := waiting(in.Wait)
	if err != nil {
		return nil, err
	}
	answer, err := s.start(ctx, authoringPath("testcases", in.Test, "run"), in.runOf)
	if err != nil || in.Wait == 0 {
		return answer, err
	}
	if answer.Result, err = s.run(ctx, in.Test, answer.RunID, q, window{}); err != nil {
		return nil, begun("run", "get_run with run_id "+answer.RunID, err)
	}
	return answer, nil
}

type runSuiteArguments struct {
	Suite string `json:"suite_id" jsonschema:"id of the suite"`
	runOf
	Wait int `json:"wait_seconds,omitempty" jsonschema:"wait for the end, 0 to 50 seconds; default 0"`
}

func (s *server) runSuite(ctx context.Context, in runSuiteArguments) (any, error) {
	if _, err := waiting(in.Wait); err != nil {
		return nil, err
	}
	answer, err := s.start(ctx, authoringPath("testsuites", in.Suite, "run"), in.runOf)
	if err != nil || in.Wait == 0 {
		return answer, err
	}
	if answer.Result, err = s.suiteRun(ctx, in.Suite, answer.RunID, in.Wait); err != nil {
		return nil, begun("run", "get_suite_run with run_id "+answer.RunID, err)
	}
	return answer, nil
}

// start starts a run.
func (s *server) start(ctx context.Context, path string, of runOf) (*startedRun, error) {
	body := map[string]any{}
	if of.Build != "" {
		body["buildName"] = of.Build
	}
	if of.BuildID != 0 {
		body["buildId"] = of.BuildID
	}
	if of.URL != "" {
		body["testUrl"] = of.URL
	}
	if of.Environment != "" {
		body["environment"] = of.Environment
	}
	var made authored[struct {
		ID       string `json:"id"`
		Warnings []line `json:"warnings"`
	}]
	err := s.cfg.Client.JSON(ctx, client.Request{Method: http.MethodPost, Path: path, Key: client.NewKey()}, body, &made)
	if err != nil {
		return nil, err
	}
	return &startedRun{RunID: made.Data.ID, Warnings: made.Data.Warnings}, nil
}
