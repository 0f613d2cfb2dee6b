package client

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// authoring is where the operations of tests are.
const authoring = "/v1/ai-authoring"

// TestCase is a test case. Revisions are of a single one only, oldest first.
type TestCase struct {
	ID             string         `json:"id"`
	Name           string         `json:"name"`
	TestSuiteID    string         `json:"testSuiteId"` // "": in no suite
	Tags           []string       `json:"tags"`
	LastUpdateDate string         `json:"lastUpdateDate"`
	RunSettings    RunSettings    `json:"runSettings"`
	Revisions      []TestRevision `json:"revisions"`
	Data           *TestData      `json:"data"` // of a single one only; nil without
}

// TestData are the data rows of a case, without the rows.
type TestData struct {
	Columns  []string `json:"columns"`
	Secret   []string `json:"secret"`
	RowName  string   `json:"rowName"`
	RowCount int      `json:"rowCount"`
}

// Latest returns the newest revision; an empty one of a case that has none.
func (c *TestCase) Latest() *TestRevision {
	if len(c.Revisions) == 0 {
		return &TestRevision{}
	}
	return &c.Revisions[len(c.Revisions)-1]
}

// RunSettings is how a case runs.
type RunSettings struct {
	TestURL       string       `json:"testUrl"`
	SCTunnelName  *string      `json:"scTunnelName"`
	PrimaryTarget TestTarget   `json:"primaryTarget"`
	RunTargets    []TestTarget `json:"runTargets"`
	Strict        bool         `json:"strict"`
	Healing       *string      `json:"healing"`
	Drift         *string      `json:"drift"`
	Trace         *string      `json:"trace"`
	Retries       *int         `json:"retries"`
	Access
}

// Access is what the site of a test asks a browser for; nil members: nothing.
type Access struct {
	BasicAuth         *BasicAuth         `json:"basicAuth"`
	ClientCertificate *ClientCertificate `json:"clientCertificate"`
}

// BasicAuth is a user of a site, by variables.
type BasicAuth struct {
	User     string `json:"user"`
	Password string `json:"password"`
}

// ClientCertificate is presented to a site, by variables.
type ClientCertificate struct {
	Certificate string `json:"certificate"`
	Key         string `json:"key"`
}

// TestTarget is where a test runs. Capabilities are an object of W3C WebDriver.
type TestTarget struct {
	Capabilities json.RawMessage `json:"capabilities"`
	IsRDC        bool            `json:"isRdc"`
}

// TestRevision is one state of a case's steps.
type TestRevision struct {
	ID          string            `json:"id"`
	Intent      string            `json:"intent"`
	Description string            `json:"description"`
	Steps       []json.RawMessage `json:"steps"` // as the API has them
	SetUp       []json.RawMessage `json:"setUp"`
	TearDown    []json.RawMessage `json:"tearDown"`
}

// TestSuite is a test suite.
type TestSuite struct {
	ID            string `json:"id"`
	Name          string `json:"name"`
	TestCaseCount int    `json:"testCaseCount"`
}

// answer is the member of each answer of the authoring API.
type answer[T any] struct {
	Data T `json:"data"`
}

// items is a page of a list.
type items[T any] struct {
	Items []T `json:"items"`
	Total int `json:"total"`
}

// ask sends a request of the authoring API and reads the member data of the answer.
func ask[T any](ctx context.Context, c *Client, r Request, in any) (T, error) {
	r.Path = authoring + r.Path
	var out answer[T]
	err := c.JSON(ctx, r, in, &out)
	return out.Data, err
}

const (
	// testsPage is the largest page of the API.
	testsPage = 100
	// mostListed bounds a list that is read to its end.
	mostListed = 10_000
)

// ErrTooMany is a list that is longer than a command reads.
var ErrTooMany = errors.New("more than 10,000 tests match: narrow it down by a suite or a tag")

// all reads a list to its end.
func all[T any](ctx context.Context, c *Client, path string, query url.Values) ([]T, error) {
	list := []T{}
	for {
		q := url.Values{"limit": {strconv.Itoa(testsPage)}, "skip": {strconv.Itoa(len(list))}}
		for name, values := range query {
			q[name] = values
		}
		page, err := ask[items[T]](ctx, c, Request{Method: http.MethodGet, Path: path, Query: q}, nil)
		if err != nil {
			return nil, err
		}
		if page.Total > mostListed {
			return nil, ErrTooMany
		}
		list = append(list, page.Items...)
		if len(page.Items) == 0 || len(list) >= page.Total {
			return list, nil
		}
	}
}

// CaseFilter selects test cases; members that are "" do not.
type CaseFilter struct {
	Search string // part of the name
	Suite  string // id
	RunBy  string // id of a suite that runs them: its own, those shared with it, or those of its filter
	Tag    string
}

// TestCases returns the cases that match, without revisions: all of them, or ErrTooMany.
func (c *Client) TestCases(ctx context.Context, f CaseFilter) ([]TestCase, error) {
	q := url.Values{}
	for name, value := range map[string]string{"search": f.Search, "testSuiteId": f.Suite, "runBy": f.RunBy, "tag": f.Tag} {
		if value != "" {
			q.Set(name, value)
		}
	}
	return all[TestCase](ctx, c, "/testcases", q)
}

// TestCase returns a case with its revisions.
func (c *Client) TestCase(ctx context.Context, id string) (*TestCase, error) {
	one, err := ask[TestCase](ctx, c, Request{Method: http.MethodGet, Path: Path("testcases", id)}, nil)
	return &one, err
}

// mostData bounds the data rows of a case, as CSV: values that are quoted are longer than
// those that the server counts.
const mostData = 16 << 20

// TestData returns the data rows of a case as CSV.
func (c *Client) TestData(ctx context.Context, id string) (text string, err error) {
	r := Request{Method: http.MethodGet, Path: authoring + Path("testcases", id, "data"), Query: url.Values{"format": {"csv"}},
		Header: http.Header{"Accept": {"text/csv"}}}
	err = c.answer(ctx, r, func(res *http.Response) error {
		all, err := io.ReadAll(io.LimitReader(res.Body, mostData))
		if err != nil {
			return brokenOff(r, err)
		}
		text = string(all)
		return nil
	})
	return text, err
}

// TestSuites returns the suites whose name has search in it; "": all.
func (c *Client) TestSuites(ctx context.Context, search string) ([]TestSuite, error) {
	q := url.Values{}
	if search != "" {
		q.Set("search", search)
	}
	return all[TestSuite](ctx, c, "/testsuites", q)
}

// TestSuite returns a suite.
func (c *Client) TestSuite(ctx context.Context, id string) (*TestSuite, error) {
	one, err := ask[TestSuite](ctx, c, Request{Method: http.MethodGet, Path: Path("testsuites", id)}, nil)
	return &one, err
}

// TestTags returns the tags that cases have, in alphabetical order.
func (c *Client) TestTags(ctx context.Context) ([]string, error) {
	list, err := all[struct {
		Name string `json:"name"`
	}](ctx, c, "/testcases/tags", nil)
	names := make([]string, len(list))
	for i := range list {
		names[i] = list[i].Name
	}
	return names, err
}

// SettingsChange are the settings of a case that a change sets: all that RunSettings has.
type SettingsChange struct {
	TestURL       *string      `json:"testUrl"`
	SCTunnelName  *string      `json:"scTunnelName"`
	PrimaryTarget *TestTarget  `json:"primaryTarget"`
	RunTargets    []TestTarget `json:"runTargets"`
	Strict        bool         `json:"strict"`
	Healing       *string      `json:"healing"`
	Drift         *string      `json:"drift"`
	Trace         *string      `json:"trace"`
	Retries       *int         `json:"retries"`
	Access
}

// NewTestCase is a case to make from steps.
type NewTestCase struct {
	Name        string            `json:"name"`
	Intent      string            `json:"intent"`
	Description string            `json:"description"`
	TestSuiteID string            `json:"testSuiteId,omitempty"`
	Tags        []string          `json:"tags"`
	RunSettings SettingsChange    `json:"runSettings"`
	Steps       []json.RawMessage `json:"steps"`
	SetUp       []json.RawMessage `json:"setUp,omitempty"`
	TearDown    []json.RawMessage `json:"tearDown,omitempty"`
	Data        json.RawMessage   `json:"data,omitempty"`
}

// CreateTestCase makes a case, and returns what the server says of it beside.
func (c *Client) CreateTestCase(ctx context.Context, n NewTestCase) (*TestCase, []string, error) {
	return c.changed(ctx, "/testcases", n)
}

// TestCaseChange is what a case shall have. With the bases, the change is made only while
// the case is in the state that they name; else it is an *Error of kind Conflict.
type TestCaseChange struct {
	Name        string            `json:"name"`
	Intent      string            `json:"intent"`
	Description string            `json:"description"`
	Tags        []string          `json:"tags"`
	RunSettings SettingsChange    `json:"runSettings"`
	Steps       []json.RawMessage `json:"steps"`
	// SetUp and TearDown stay where they are nil.
	SetUp          *[]json.RawMessage `json:"setUp,omitempty"`
	TearDown       *[]json.RawMessage `json:"tearDown,omitempty"`
	Data           json.RawMessage    `json:"data,omitempty"` // empty: they stay
	BaseRevisionID string             `json:"baseRevisionId,omitempty"`
	BaseUpdateDate string             `json:"baseUpdateDate,omitempty"`
}

// UpdateTestCase changes a case.
func (c *Client) UpdateTestCase(ctx context.Context, id string, change TestCaseChange) (*TestCase, []string, error) {
	return c.changed(ctx, Path("testcases", id), change)
}

func (c *Client) changed(ctx context.Context, path string, in any) (*TestCase, []string, error) {
	out, err := ask[struct {
		TestCase
		Warnings []string `json:"warnings"`
	}](ctx, c, Request{Method: http.MethodPost, Path: path}, in)
	return &out.TestCase, out.Warnings, err
}

// DeleteTestCase deletes a case.
func (c *Client) DeleteTestCase(ctx context.Context, id string) error {
	return c.JSON(ctx, Request{Method: http.MethodDelete, Path: authoring + Path("testcases", id), Repeatable: true}, nil, nil)
}

// CreateTestSuite makes a suite without cases.
func (c *Client) CreateTestSuite(ctx context.Context, name string) (*TestSuite, error) {
	one, err := ask[TestSuite](ctx, c, Request{Method: http.MethodPost, Path: "/testsuites"}, map[string]string{"name": name})
	return &one, err
}

// MoveTestCase puts a case into a suite, or with "" out of the one that it is in.
func (c *Client) MoveTestCase(ctx context.Context, id, from, to string) error {
	r, change := Request{Method: http.MethodPost, Repeatable: true}, "addTestCases"
	if r.Path = Path("testsuites", to); to == "" {
		r.Path, change = Path("testsuites", from), "removeTestCases"
	}
	_, err := ask[TestSuite](ctx, c, r, map[string][]string{change: {id}})
	return err
}

// idsPerRequest bounds the ids of one request of histories.
const idsPerRequest = 100

// PastRun is a run of a case as its history has it. DurationMS is nil of one that has not
// ended.
type PastRun struct {
	ID         string `json:"id"`
	Status     string `json:"status"`
	EndDate    string `json:"endDate"`
	DurationMS *int64 `json:"durationMs"`
}

// TestHistories returns the newest runs of cases, at most most of each, by the ids of the
// cases. With before, an instant of RFC 3339, only runs that were created until then.
func (c *Client) TestHistories(ctx context.Context, ids []string, most int, before string) (map[string][]PastRun, error) {
	found := map[string][]PastRun{}
	for len(ids) > 0 {
		n := min(len(ids), idsPerRequest)
		q := url.Values{"ids": {strings.Join(ids[:n], ",")}, "limit": {strconv.Itoa(most)}}
		if before != "" {
			q.Set("endDate", before)
		}
		page, err := ask[items[struct {
			ID   string    `json:"id"`
			Runs []PastRun `json:"runs"`
		}]](ctx, c, Request{Method: http.MethodGet, Path: "/testcases/history", Query: q}, nil)
		if err != nil {
			return nil, err
		}
		for _, one := range page.Items {
			found[one.ID] = one.Runs
		}
		ids = ids[n:]
	}
	return found, nil
}
