package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// The states of runs and of their jobs.
const (
	StatusQueued    = "QUEUED"
	StatusRunning   = "RUNNING"
	StatusPassed    = "PASSED"
	StatusFlaky     = "FLAKY" // passed after it had failed
	StatusFailed    = "FAILED"
	StatusError     = "ERROR"
	StatusCancelled = "CANCELLED"
)

// Ended reports whether a state of a run or job is one that ends it.
func Ended(status string) bool { return status != StatusQueued && status != StatusRunning }

// StartRun is what a run of a case or suite may be told. Members that are empty are left
// to the case.
type StartRun struct {
	BuildName string `json:"buildName,omitempty"`
	BuildID   int64  `json:"buildId,omitempty"`
	TestURL   string `json:"testUrl,omitempty"`
	// Environment is the name of one that the run is in.
	Environment string            `json:"environment,omitempty"`
	Targets     []TestTarget      `json:"targets,omitempty"`
	Variables   map[string]string `json:"variables,omitempty"`
	Retries     *int              `json:"retries,omitempty"` // of tests that failed
	// Rows are the places of the data rows to run; all without. Suites have none.
	Rows []int `json:"rows,omitempty"`
	// Shard is the part of a suite that is run, and MaxDuration how many seconds its run has.
	// Cases have neither.
	Shard       *SuiteShard `json:"shard,omitempty"`
	MaxDuration int         `json:"maxDuration,omitempty"`
}

// SuiteShard is one of several parts of a suite, from 1.
type SuiteShard struct {
	Index int `json:"index"`
	Of    int `json:"of"`
	// Key is what the shards of one pipeline have in common; "": the build.
	Key string `json:"key,omitempty"`
}

// TestRun is a run of a case.
type TestRun struct {
	ID           string    `json:"id"`
	TestCaseID   string    `json:"testCaseId"`
	TestCaseName string    `json:"testCaseName"`
	RevisionID   string    `json:"revisionId"`
	Status       string    `json:"status"`
	Build        string    `json:"build"`
	CreationDate string    `json:"creationDate"`
	StartDate    string    `json:"startDate"`
	EndDate      string    `json:"endDate"`
	Jobs         []TestJob `json:"jobs"` // the first ones, or all once the run has ended
	JobCount     int       `json:"jobCount"`
	// Quarantine is there where a failure of the run does not fail the run of its suite.
	Quarantine *Quarantine `json:"quarantine"`
}

// Quarantine is why a failure fails no suite, and until when.
type Quarantine struct {
	Reason string `json:"reason"`
	Until  string `json:"until"`
}

// TestJob is a run on one target. Attempts, steps and files are those of a single run, and of the
// failed and flaky jobs of a suite run.
type TestJob struct {
	ID        string      `json:"id"`
	Name      string      `json:"name"`
	Target    TestTarget  `json:"target"`
	Status    string      `json:"status"`
	Error     *TestFault  `json:"error"`
	StartDate string      `json:"startDate"`
	EndDate   string      `json:"endDate"`
	Healed    int         `json:"healed"`
	Drifted   int         `json:"drifted"`
	Row       *TestRow    `json:"row"` // nil without data rows
	Steps     []StepTaken `json:"steps"`
	Files     []TestFile  `json:"files"`
	// AttemptCount is how often the test was begun. Attempts are all of them where there are
	// several.
	AttemptCount int           `json:"attemptCount"`
	Attempts     []TestAttempt `json:"attempts"`
	// Reason is product, test, environment or unknown, Why says it in sentences, and Cause and
	// CauseKey are what failures are grouped by; "" of a job that passed.
	Reason   string   `json:"reason"`
	Why      []string `json:"why"`
	Cause    string   `json:"cause"`
	CauseKey string   `json:"causeKey"`
}

// TestAttempt is one playing of a job.
type TestAttempt struct {
	Number int         `json:"number"` // from 1
	Status string      `json:"status"`
	Error  *TestFault  `json:"error"`
	Steps  []StepTaken `json:"steps"`
	Files  []TestFile  `json:"files"`
}

// TestRow is the data row of a job; Index is from 0.
type TestRow struct {
	Index int    `json:"index"`
	Name  string `json:"name"`
}

// TestFault says why a job has not passed, or a test was not written.
type TestFault struct {
	Code   string `json:"code"`
	Detail string `json:"detail"`
}

// StepTaken is what a run found out about a step.
type StepTaken struct {
	ID     string `json:"id"`
	Tool   Tool   `json:"tool"`
	Status string `json:"status"`
	Result struct {
		Success bool   `json:"success"`
		Message string `json:"message"`
	} `json:"result"`
	TookMS int64 `json:"tookMs"`
	// Failure is what a step that failed expected and found; nil of others.
	Failure *StepFailure `json:"failure"`
	// Phase is setUp or tearDown, "" in the test's own steps.
	Phase string `json:"phase"`
	// Group is the step group that the step stands in; nil in none.
	Group *InGroup `json:"group"`
}

// InGroup is a step group that a step stands in, at a depth from 1.
type InGroup struct {
	ID    string `json:"id"`
	Name  string `json:"name"`
	Depth int    `json:"depth"`
}

// Tool is what a step does.
type Tool struct {
	Type string          `json:"type"`
	Args json.RawMessage `json:"args"`
}

// TestFile is a stored file of a job. Step is from 0. URL works for a while, without a
// credential.
type TestFile struct {
	ID          string `json:"id"`
	Kind        string `json:"kind"`
	Step        int    `json:"step"`
	ContentType string `json:"contentType"`
	Size        int64  `json:"size"`
	URL         string `json:"url"`
}

// TestSuiteRun is a run of a suite. CaseRuns are of a single one only.
type TestSuiteRun struct {
	ID            string    `json:"id"`
	TestSuiteID   string    `json:"testSuiteId"`
	TestSuiteName string    `json:"testSuiteName"`
	Status        string    `json:"status"`
	Error         string    `json:"error"`
	BuildName     string    `json:"buildName"`
	CreationDate  string    `json:"creationDate"`
	StartDate     string    `json:"startDate"`
	EndDate       string    `json:"endDate"`
	CaseRuns      []TestRun `json:"caseRuns"`
}

// Started says what a request that started something found: Age is how long it has been
// there by the server's clock, more than a moment where a request with the same key had
// started it.
type Started[T any] struct {
	Run T
	Age time.Duration
}

// StartTestRun runs the latest revision of a case. Another request with the key starts
// nothing, and is answered with the run of the first.
func (c *Client) StartTestRun(ctx context.Context, caseID, key string, in StartRun) (Started[TestRun], error) {
	return start(ctx, c, Path("testcases", caseID, "run"), key, in, func(r *TestRun) string { return r.CreationDate })
}

// StartSuiteRun runs each case of a suite; otherwise as StartTestRun.
func (c *Client) StartSuiteRun(ctx context.Context, suiteID, key string, in StartRun) (Started[TestSuiteRun], error) {
	return start(ctx, c, Path("testsuites", suiteID, "run"), key, in, func(r *TestSuiteRun) string { return r.CreationDate })
}

func start[T any](ctx context.Context, c *Client, path, key string, in StartRun, created func(*T) string) (s Started[T], err error) {
	text, err := json.Marshal(in)
	if err != nil {
		return s, fmt.Errorf("POST %s: %w", path, err)
	}
	r := Request{Method: http.MethodPost, Path: authoring + path, Key: key, ContentType: "application/json", Size: int64(len(text)),
		Body: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil }}
	var out answer[T]
	date := ""
	err = c.answer(ctx, r, func(res *http.Response) error {
		date = res.Header.Get("Date")
		return c.read(r, res, &out)
	})
	if err != nil {
		return s, err
	}
	s.Run = out.Data
	now, errNow := http.ParseTime(date)
	at, errAt := time.Parse(time.RFC3339, created(&s.Run))
	if errNow == nil && errAt == nil {
		s.Age = now.Sub(at)
	}
	return s, nil
}

// TestRun reads a run of a case. With wait, the answer comes when it has ended, or after
// that time.
func (c *Client) TestRun(ctx context.Context, caseID, id string, wait time.Duration) (*TestRun, error) {
	r := waiting(Path("testcases", caseID, "runs", id), wait)
	one, err := ask[TestRun](ctx, c, r, nil)
	if err != nil || !Ended(one.Status) {
		return &one, err
	}
	return &one, c.restOfJobs(ctx, caseID, &one)
}

const (
	// jobsPage is the largest page of jobs of the API, and mostJobs the most that a run has.
	jobsPage = 500
	mostJobs = 50_000
)

// restOfJobs reads the jobs of a run of data rows that the first answer did not have.
func (c *Client) restOfJobs(ctx context.Context, caseID string, r *TestRun) error {
	for len(r.Jobs) < min(r.JobCount, mostJobs) {
		page, err := ask[TestRun](ctx, c, Request{Method: http.MethodGet, Path: Path("testcases", caseID, "runs", r.ID),
			Query: url.Values{"jobsSkip": {strconv.Itoa(len(r.Jobs))}, "jobsLimit": {strconv.Itoa(jobsPage)}}}, nil)
		if err != nil || len(page.Jobs) == 0 {
			return err // the rest was never made: the run was cancelled
		}
		r.Jobs = append(r.Jobs, page.Jobs...)
	}
	return nil
}

// SuiteRun reads a run of a suite with the runs of its cases; otherwise as TestRun.
func (c *Client) SuiteRun(ctx context.Context, suiteID, id string, wait time.Duration) (*TestSuiteRun, error) {
	one, err := ask[TestSuiteRun](ctx, c, waiting(Path("testsuites", suiteID, "runs", id), wait), nil)
	if err != nil || !Ended(one.Status) {
		return &one, err
	}
	for i := range one.CaseRuns {
		if err := c.restOfJobs(ctx, one.CaseRuns[i].TestCaseID, &one.CaseRuns[i]); err != nil {
			return &one, err
		}
	}
	return &one, nil
}

// waiting is a read that the server may answer later.
func waiting(path string, wait time.Duration) Request {
	r := Request{Method: http.MethodGet, Path: path}
	if seconds := int(wait.Seconds()); seconds > 0 {
		r.Query = url.Values{"wait": {strconv.Itoa(seconds)}}
	}
	return r
}

// CancelTestRun ends a run of a case. One that has ended stays as it is.
func (c *Client) CancelTestRun(ctx context.Context, caseID, id string) error {
	return c.end(ctx, Request{Method: http.MethodPost, Path: Path("testcases", caseID, "runs", id, "cancel"), Repeatable: true})
}

// CancelSuiteRun ends a run of a suite; otherwise as CancelTestRun.
func (c *Client) CancelSuiteRun(ctx context.Context, suiteID, id string) error {
	return c.end(ctx, Request{Method: http.MethodPost, Path: Path("testsuites", suiteID, "runs", id, "cancel"), Repeatable: true})
}

// end sends a request that ends something, which may have ended.
func (c *Client) end(ctx context.Context, r Request) error {
	r.Path = authoring + r.Path
	if err := c.JSON(ctx, r, nil, nil); err != nil && !Is(err, Conflict) {
		return err
	}
	return nil
}

// NewGeneration is a test to write from a sentence.
type NewGeneration struct {
	Name           string             `json:"name"`
	TestSuiteID    string             `json:"testSuiteId,omitempty"`
	Tags           []string           `json:"tags"`
	RunSettings    GenerationSettings `json:"runSettings"`
	PromptSettings PromptSettings     `json:"promptSettings"`
	TimeoutMS      int64              `json:"timeout,omitempty"`
}

// GenerationSettings are where a test is written.
type GenerationSettings struct {
	TestURL string     `json:"testUrl"`
	Target  TestTarget `json:"target"`
}

// PromptSettings is what a test shall do.
type PromptSettings struct {
	Intent string `json:"intent"`
}

// The states of a generation.
const (
	GenerationCompleted = "COMPLETED"
	GenerationFailed    = "FAILED"
)

// Generation is how far a test is written.
type Generation struct {
	Status     string            `json:"status"`
	TestCaseID string            `json:"testCaseId"`
	Error      *TestFault        `json:"error"`
	Steps      []json.RawMessage `json:"steps"`
}

// Ended reports whether it is over.
func (g *Generation) Ended() bool {
	return g.Status == GenerationCompleted || g.Status == GenerationFailed
}

// StartGeneration begins to write a test and returns the id of the task.
func (c *Client) StartGeneration(ctx context.Context, key string, in NewGeneration) (string, error) {
	task, err := ask[struct {
		TaskID string `json:"taskId"`
	}](ctx, c, Request{Method: http.MethodPost, Path: "/testcases/generate", Key: key}, in)
	return task.TaskID, err
}

// Generation reads a generation with its steps so far. With wait, the answer comes when it
// has ended, or after that time.
func (c *Client) Generation(ctx context.Context, taskID string, wait time.Duration) (*Generation, error) {
	r := waiting(Path("testcases", "generate", taskID), wait)
	if r.Query == nil {
		r.Query = url.Values{}
	}
	r.Query.Set("detail", "1")
	one, err := ask[Generation](ctx, c, r, nil)
	return &one, err
}

// CancelGeneration ends a generation. One that has ended stays as it is.
func (c *Client) CancelGeneration(ctx context.Context, taskID string) error {
	return c.end(ctx, Request{Method: http.MethodDelete, Path: Path("testcases", "generate", taskID), Repeatable: true})
}

// ErrTooLarge is a file that is larger than a caller wants it.
var ErrTooLarge = errors.New("the file is larger than the bound")

// Download reads a file by an address of an answer, without the credential: the address is
// one. It writes at most most bytes.
func (c *Client) Download(ctx context.Context, address string, most int64, to io.Writer) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return errors.New("the server named no address that can be read")
	}
	req.Header.Set("User-Agent", c.cfg.Agent)
	res, err := c.http.Do(req)
	if err != nil {
		return unreachable(ctx, Request{Method: http.MethodGet, Path: "a file"}, err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("the store of files answered %s", res.Status)
	}
	n, err := io.Copy(to, io.LimitReader(res.Body, most+1))
	switch {
	case err != nil:
		return fmt.Errorf("the file broke off: %w", err)
	case n > most:
		return ErrTooLarge
	}
	return nil
}
