package agent

import (
	"context"
	"net/url"
	"strconv"
)

func (s *server) addHistory() {
	add(s, tool{name: "get_test_history", title: "Read the history of a test",
		description: "What became of a test case, or of a suite, over time: since when it fails (failingSince, with build and commit) and the " +
			"last good run, pass rate, flakiness (groups of runs on one build with both results) and durations of the last 30 days or since from, " +
			"and its runs, newest first. Of a suite also its slowest and flakiest tests."},
		s.getTestHistory)
}

type historyArguments struct {
	Test        string `json:"test_id,omitempty" jsonschema:"id of the test case"`
	Suite       string `json:"suite_id,omitempty" jsonschema:"id of the suite, without test_id"`
	Target      string `json:"target,omitempty" jsonschema:"only runs of a test case on this browser or platform"`
	Environment string `json:"environment,omitempty" jsonschema:"only runs in the environment of this name"`
	Build       int    `json:"build_id,omitempty" jsonschema:"only runs on this uploaded build"`
	From        string `json:"from,omitempty" jsonschema:"only runs since this date or time"`
	paged
}

// past is a run of a history.
type past struct {
	ID          string `json:"id"`
	Status      string `json:"status"`
	Created     string `json:"creationDate"`
	DurationMS  *int64 `json:"durationMs,omitempty"`
	Build       line   `json:"build,omitempty"`
	BuildID     *int64 `json:"buildId,omitempty"`
	Version     line   `json:"version,omitempty"`
	Commit      line   `json:"commit,omitempty"`
	Environment string `json:"environment,omitempty"`
	Attempts    int    `json:"attempts,omitempty"`
	Flaky       int    `json:"flaky,omitempty"`
	Healed      int    `json:"healed,omitempty"`
	Changed     bool   `json:"changed"`
}

// pastSummary is what the runs of a history say together.
type pastSummary struct {
	Window struct {
		From string `json:"from"`
		To   string `json:"to"`
		Full bool   `json:"full"`
	} `json:"window"`
	Runs      int      `json:"runs"`
	Passed    int      `json:"passed"`
	Failed    int      `json:"failed"`
	Error     int      `json:"error"`
	Flaky     int      `json:"flaky"`
	PassRate  *float64 `json:"passRate"`
	Flakiness struct {
		Builds int      `json:"builds"`
		Names  int      `json:"buildNames"`
		Days   int      `json:"days"`
		Both   int      `json:"both"`
		Share  *float64 `json:"share"`
	} `json:"flakiness"`
	MeanMS       *int64 `json:"meanMs"`
	P95MS        *int64 `json:"p95Ms"`
	LastGood     *past  `json:"lastGood"`
	FailingSince *past  `json:"failingSince"`
	Cases        *struct {
		Runs     int       `json:"runs"`
		Slowest  []caseSum `json:"slowest"`
		Flakiest []caseSum `json:"flakiest"`
	} `json:"cases,omitempty"`
}

// caseSum is what a test did in the runs of its suite.
type caseSum struct {
	ID     string `json:"testCaseId"`
	Name   line   `json:"testCaseName"`
	Runs   int    `json:"runs"`
	Failed int    `json:"failed"`
	Groups int    `json:"groups"`
	Both   int    `json:"both"`
	MeanMS int    `json:"meanMs"`
	P95MS  int    `json:"p95Ms"`
}

func (s *server) getTestHistory(ctx context.Context, in historyArguments) (any, error) {
	at, err := in.place()
	if err != nil {
		return nil, err
	}
	path := authoringPath("testcases", in.Test, "history")
	switch {
	case in.Test != "" && in.Suite != "":
		return nil, wrong("suite_id", "must not be given together with test_id")
	case in.Test == "" && in.Suite == "":
		return nil, wrong("test_id", "or suite_id must be given")
	case in.Suite != "" && in.Target != "":
		return nil, wrong("target", "must not be given together with suite_id")
	case in.Suite != "":
		path = authoringPath("testsuites", in.Suite, "history")
	}
	q := url.Values{}
	at.bySkip(q)
	set(q, "target", in.Target)
	set(q, "environment", in.Environment)
	set(q, "startDate", in.From)
	if in.Build != 0 {
		q.Set("buildId", strconv.Itoa(in.Build))
	}
	var found authored[struct {
		Summary pastSummary `json:"summary"`
		Items   []past      `json:"items"`
		More    bool        `json:"more"`
	}]
	if err := s.cfg.Client.Get(ctx, path, q, &found); err != nil {
		return nil, err
	}
	answer := struct {
		Summary pastSummary `json:"summary"`
		Items   []past      `json:"items"`
		Next    string      `json:"next_cursor,omitempty"`
	}{found.Data.Summary, found.Data.Items, at.next(found.Data.More && len(found.Data.Items) == at.limit)}
	return answer, nil
}
