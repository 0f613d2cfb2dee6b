package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"net/url"
	"slices"
)

func (s *server) addRuns() {
	add(s, tool{name: "list_runs", title: "List runs",
		description: "Runs of tests, newest first: all, or those of a test, or those of a suite (as runs of the suite)."}, s.listRuns)
	add(s, tool{name: "get_run", title: "Read a run of a test",
		description: "Why a run of a test failed: the error of each job, its reason (product, test, environment, unknown) with what it was " +
			"made of, what differs from the last run that passed, its steps around the one that failed with what that expected, found and had " +
			"near, what was healed or found instead. include adds the page's source (in parts, by source_offset), the end of the browser's " +
			"console, and a screenshot of the failed step. Of all_steps an answer has as many as limit; from_step goes on."},
		s.getRun)
	add(s, tool{name: "get_suite_run", title: "Read a run of a suite",
		description: "Counts of a run of a suite, and the runs of its tests, those that failed first."}, s.getSuiteRun)
	add(s, tool{name: "get_run_comparison", title: "Compare a run with the last good one",
		description: "The steps in which a run differs from the last run of the test that passed."}, s.getRunComparison)
	add(s, tool{name: "run_test", title: "Run a test", write: Runs, outside: true, longest: map[string]int{"url": 2048},
		description: "Run a test case now, on the targets that it has. Ask get_run with the run_id of the answer for the result."}, s.runTest)
	add(s, tool{name: "run_suite", title: "Run a suite", write: Runs, outside: true, longest: map[string]int{"url": 2048},
		description: "Run all tests of a suite now. Ask get_suite_run with the run_id of the answer for the result."}, s.runSuite)
}

type runsArguments struct {
	Test   string `json:"test_id,omitempty" jsonschema:"only runs of this test case"`
	Suite  string `json:"suite_id,omitempty" jsonschema:"runs of this suite"`
	Status string `json:"status,omitempty" jsonschema:"only QUEUED, RUNNING, PASSED, FAILED, ERROR or CANCELLED; without test_id and suite_id"`
	From   string `json:"from,omitempty" jsonschema:"only runs since this date or time"`
	paged
}

// runHead is a run in a list.
type runHead struct {
	ID       string `json:"id"`
	TestID   string `json:"testCaseId"`
	TestName line   `json:"testCaseName,omitempty"`
	Build    line   `json:"build,omitempty"`
	// Environment is the name of the one that it was in.
	Environment string  `json:"environment,omitempty"`
	Status      string  `json:"status"`
	SuiteRunID  *string `json:"suiteRunId,omitempty"`
	Created     string  `json:"creationDate"`
	Ended       *string `json:"endDate,omitempty"`
	Healed      int     `json:"healed,omitempty"`
	Drifted     int     `json:"drifted,omitempty"`
	Unreviewed  int     `json:"unreviewed,omitempty"`
	Flaky       int     `json:"flaky,omitempty"` // jobs that passed after they had failed
}

// suiteRun is a run of a suite.
type suiteRun struct {
	ID        string `json:"id"`
	SuiteID   string `json:"testSuiteId"`
	SuiteName line   `json:"testSuiteName,omitempty"`
	Build     line   `json:"buildName,omitempty"`
	// Environment is the name of the one that it was in.
	Environment string          `json:"environment,omitempty"`
	Status      string          `json:"status"`
	Error       *line           `json:"error,omitempty"`
	Counts      json.RawMessage `json:"counts,omitempty"` // numbers
	Created     string          `json:"creationDate"`
	Ended       *string         `json:"endDate,omitempty"`
}

func (s *server) listRuns(ctx context.Context, in runsArguments) (any, error) {
	at, err := in.place()
	if err != nil {
		return nil, err
	}
	q := url.Values{}
	set(q, "startDate", in.From)
	switch {
	case in.Test != "" && in.Suite != "":
		return nil, wrong("suite_id", "must not be given together with test_id")
	case in.Status != "" && in.Test+in.Suite != "":
		return nil, wrong("status", "must not be given together with test_id or suite_id")
	case in.Test != "":
		return listed[runHead](ctx, s, authoringPath("testcases", in.Test, "runs"), q, at)
	case in.Suite != "":
		return listed[suiteRun](ctx, s, authoringPath("testsuites", in.Suite, "runs"), q, at)
	}
	set(q, "status", in.Status)
	return listed[runHead](ctx, s, authoringPath("runs"), q, at)
}

type runArguments struct {
	Test     string `json:"test_id" jsonschema:"id of the test case"`
	Run      string `json:"run_id" jsonschema:"id of the run"`
	Wait     int    `json:"wait_seconds,omitempty" jsonschema:"wait for the end, 0 to 50 seconds; default 0"`
	AllSteps bool   `json:"all_steps,omitempty" jsonschema:"all steps; default: those around the one that failed"`
	stepsFrom
	Include []string `json:"include,omitempty" jsonschema:"some of page_source, console, screenshot: of the step that failed, else of the last one"`
	Offset  int      `json:"source_offset,omitempty" jsonschema:"where in the page's source to begin: next_source_offset of the answer before"`
}

// run is a run with what explains it.
type run struct {
	runHead
	Jobs       []job `json:"jobs"`
	Source     page  `json:"page_source,omitempty"`
	NextOffset int   `json:"next_source_offset,omitempty"`
	Console    page  `json:"console,omitempty"`
	// ConsoleOmitted are the bytes before it.
	ConsoleOmitted int    `json:"console_omitted_bytes,omitempty"`
	Note           string `json:"note,omitempty"`
	URL            string `json:"url"`
}

// job is a run on one target.
type job struct {
	ID         string   `json:"id"`
	Target     document `json:"target"`
	Name       line     `json:"name,omitempty"`
	Status     string   `json:"status"`
	Error      *problem `json:"error,omitempty"`
	Healed     int      `json:"healed,omitempty"`
	Drifted    int      `json:"drifted,omitempty"`
	Unreviewed int      `json:"unreviewed,omitempty"`
	// Attempts is how often the test was begun: more than once where it failed and was played again.
	Attempts int    `json:"attemptCount,omitempty"`
	Steps    []step `json:"steps"`
	Omitted  int    `json:"steps_omitted,omitempty"`
	// Reason is product, test, environment or unknown; Why says what it was made of.
	Reason     line     `json:"reason,omitempty"`
	Why        []line   `json:"why,omitempty"`
	Cause      line     `json:"cause,omitempty"`
	Comparison document `json:"comparison,omitzero"` // with the last run that passed
	// Trace is where the zip is that Playwright's trace viewer opens.
	Trace string `json:"trace,omitempty"`

	files []file
}

// step is a step as it ran.
type step struct {
	Number    int      `json:"number"` // from 1
	Tool      document `json:"tool"`
	Status    string   `json:"status"`
	Message   text     `json:"message,omitempty"`
	Healed    document `json:"healed,omitzero"`
	Suggested document `json:"suggested,omitzero"`
	Drifted   document `json:"drifted,omitzero"`
	Findings  document `json:"findings,omitzero"`
	Look      document `json:"look,omitzero"`
	Failure   document `json:"failure,omitzero"` // expected, actual, and the nearest elements
	TookMS    int64    `json:"took_ms"`
}

// IsZero leaves out a document that is not there.
func (d document) IsZero() bool { return len(d.value) == 0 || string(d.value) == "null" }

// file is a stored file of a job.
type file struct {
	ID   string `json:"id"`
	Kind string `json:"kind"`
	Step int    `json:"step"` // from 0
	Size int64  `json:"size"`
}

// jobAnswer is a job as the API answers it.
type jobAnswer struct {
	job
	Steps []struct {
		Tool   json.RawMessage `json:"tool"`
		Status string          `json:"status"`
		Result *struct {
			Message text `json:"message"`
		} `json:"result"`
		Healed    json.RawMessage `json:"healed"`
		Suggested json.RawMessage `json:"suggested"`
		Drifted   json.RawMessage `json:"drifted"`
		Findings  json.RawMessage `json:"findings"`
		Look      json.RawMessage `json:"look"`
		Failure   json.RawMessage `json:"failure"`
		TookMS    int64           `json:"tookMs"`
	} `json:"steps"`
	Files []file `json:"files"`
}

const (
	stepsBefore = 4 // the failed step
	stepsAfter  = 1
	manyJobs    = 10
)

func (s *server) getRun(ctx context.Context, in runArguments) (any, error) {
	q, err := waiting(in.Wait)
	if err != nil {
		return nil, err
	}
	for _, name := range in.Include {
		if !slices.Contains([]string{"page_source", "console", "screenshot"}, name) {
			return nil, wrong("include", "has page_source, console and screenshot")
		}
	}
	show, err := in.window(defaultItems)
	if err != nil {
		return nil, err
	}
	if !in.AllSteps && in.stepsFrom == (stepsFrom{}) {
		show = window{}
	}
	answer, err := s.run(ctx, in.Test, in.Run, q, show)
	if err != nil {
		return nil, err
	}
	return s.withFiles(ctx, answer, in)
}

// run reads a run; its steps are those of the window, by default those around the one that
// failed.
func (s *server) run(ctx context.Context, testID, runID string, q url.Values, show window) (*run, error) {
	var found authored[struct {
		runHead
		Jobs []jobAnswer `json:"jobs"`
	}]
	if err := s.cfg.Client.Get(ctx, authoringPath("testcases", testID, "runs", runID), q, &found); err != nil {
		return nil, err
	}
	answer := &run{runHead: found.Data.runHead, Jobs: []job{}, URL: s.console("tests", "cases", testID, "runs", runID)}
	for i := range found.Data.Jobs[:min(len(found.Data.Jobs), manyJobs)] {
		j := found.Data.Jobs[i].whole(show)
		if f := lastOf(j.files, "trace"); f != nil {
			j.Trace = s.console("tests", "files", f.ID)
		}
		answer.Jobs = append(answer.Jobs, j)
	}
	return answer, nil
}

// whole makes the job's answer.
func (a *jobAnswer) whole(show window) job {
	j := a.job
	j.Steps, j.files = []step{}, a.Files
	if at := a.failedStep(); show == (window{}) && at >= 0 {
		show = window{from: max(at-stepsBefore, 0), most: at + stepsAfter + 1 - max(at-stepsBefore, 0)}
	}
	for i, was := range a.Steps {
		if !show.has(i) {
			j.Omitted++
			continue
		}
		made := step{Number: i + 1, Tool: document{value: brief(was.Tool)}, Status: was.Status, TookMS: was.TookMS,
			Healed: document{value: brief(was.Healed)}, Suggested: document{value: brief(was.Suggested)},
			Drifted:  document{value: brief(was.Drifted)},
			Findings: document{value: brief(was.Findings)}, Look: document{value: brief(was.Look)}, Failure: document{value: brief(was.Failure)}}
		if was.Result != nil {
			made.Message = was.Result.Message
		}
		j.Steps = append(j.Steps, made)
	}
	return j
}

// failedStep is the place of the first step that failed; the last one when none did, -1
// without steps.
func (a *jobAnswer) failedStep() int {
	for i, was := range a.Steps {
		if was.Status == "FAILED" {
			return i
		}
	}
	return len(a.Steps) - 1
}

type suiteRunArguments struct {
	Suite string `json:"suite_id" jsonschema:"id of the suite"`
	Run   string `json:"run_id" jsonschema:"id of the run of the suite"`
	Wait  int    `json:"wait_seconds,omitempty" jsonschema:"wait for the end, 0 to 50 seconds; default 0"`
}

// wholeSuiteRun is a run of a suite with those of its tests.
type wholeSuiteRun struct {
	suiteRun
	Runs    []runHead `json:"runs"`
	Omitted int       `json:"runs_omitted,omitempty"`
	URL     string    `json:"url"`
}

func (s *server) getSuiteRun(ctx context.Context, in suiteRunArguments) (any, error) {
	return s.suiteRun(ctx, in.Suite, in.Run, in.Wait)
}

func (s *server) suiteRun(ctx context.Context, suiteID, runID string, wait int) (*wholeSuiteRun, error) {
	q, err := waiting(wait)
	if err != nil {
		return nil, err
	}
	var found authored[struct {
		suiteRun
		CaseRuns []runHead `json:"caseRuns"`
	}]
	if err := s.cfg.Client.Get(ctx, authoringPath("testsuites", suiteID, "runs", runID), q, &found); err != nil {
		return nil, err
	}
	runs := found.Data.CaseRuns
	slices.SortStableFunc(runs, func(a, b runHead) int { return cmp.Compare(rank(a.Status), rank(b.Status)) })
	answer := &wholeSuiteRun{suiteRun: found.Data.suiteRun, Runs: runs[:min(len(runs), maxItems)],
		URL: s.console("tests", "suites", suiteID, "runs", runID)}
	answer.Omitted = len(runs) - len(answer.Runs)
	return answer, nil
}

// rank puts what failed first.
func rank(status string) int {
	return slices.Index([]string{"FAILED", "ERROR", "RUNNING", "QUEUED", "CANCELLED", "FLAKY", "PASSED"}, status)
}

type comparisonArguments struct {
	Test string `json:"test_id" jsonschema:"id of the test case"`
	Run  string `json:"run_id" jsonschema:"id of the run"`
}

// comparison is a job beside that of the last good run.
type comparison struct {
	JobID string   `json:"jobId"`
	Good  document `json:"good"`
	Steps []struct {
		Number  int      `json:"number"`
		Differs []string `json:"differs"`
		Then    document `json:"then"`
		Now     document `json:"now"`
	} `json:"steps"`
}

func (s *server) getRunComparison(ctx context.Context, in comparisonArguments) (any, error) {
	var found authored[items[comparison]]
	if err := s.cfg.Client.Get(ctx, authoringPath("testcases", in.Test, "runs", in.Run, "comparison"), nil, &found); err != nil {
		return nil, err
	}
	for i := range found.Data.Items {
		c := &found.Data.Items[i]
		kept := c.Steps[:0]
		for n, pair := range c.Steps {
			pair.Number, pair.Then.value, pair.Now.value = n+1, brief(pair.Then.value), brief(pair.Now.value)
			if len(pair.Differs) > 0 {
				kept = append(kept, pair)
			}
		}
		c.Steps = kept[:min(len(kept), defaultItems)]
	}
	return list[comparison]{Items: found.Data.Items}, nil
}
