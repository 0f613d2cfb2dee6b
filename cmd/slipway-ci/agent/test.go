package agent

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"

	"github.com/slipway-qa/slipway/cmd/slipway-ci/client"
)

func (s *server) addTests() {
	add(s, tool{name: "list_tests", title: "List tests",
		description: "Test cases, the newest first."}, s.listTests)
	add(s, tool{name: "list_suites", title: "List suites",
		description: "Suites of test cases."}, s.listSuites)
	add(s, tool{name: "get_test", title: "Read a test",
		description: "A test case: where it begins, its intent, and the steps of its latest revision, each as JSON in the form that " +
			"update_test takes. next_step, where it is there, is the from_step of the steps behind."},
		s.getTest)
	add(s, tool{name: "update_test", title: "Change a test", write: Tests, repeatable: true, overwrites: true,
		longest: map[string]int{"steps": 200, "url": 2048},
		description: "Change a test case: members that are given replace those that are there. steps replaces all steps, as a new revision of " +
			"revision_id, the revisionId of get_test; the former ones stay readable. " +
			`A step is {"id": "...", "tool": {"type": "click", "args": {"selector": {"type": "role", "value": "button", "name": "Pay"}}}} as ` +
			`get_test shows them; steps with an id that is known are those steps.`},
		s.updateTest)
}

// authored is what the authoring API answers.
type authored[T any] struct {
	Data T `json:"data"`
}

// items is a list of the authoring API.
type items[T any] struct {
	Items []T `json:"items"`
	Total int `json:"total"`
}

func authoringPath(segments ...string) string {
	return client.Path(append([]string{"v1", "ai-authoring"}, segments...)...)
}

// listed reads a list of the authoring API.
func listed[T any](ctx context.Context, s *server, path string, q url.Values, at place) (any, error) {
	at.bySkip(q)
	var found authored[items[T]]
	if err := s.cfg.Client.Get(ctx, path, q, &found); err != nil {
		return nil, err
	}
	return list[T]{Items: found.Data.Items, Next: at.next(found.Data.Total > at.skip+len(found.Data.Items))}, nil
}

type testsArguments struct {
	Search     string `json:"search,omitempty" jsonschema:"part of the name"`
	Content    string `json:"content,omitempty" jsonschema:"part of the intent or of a step"`
	Suite      string `json:"suite_id,omitempty" jsonschema:"only tests of this suite"`
	Tag        string `json:"tag,omitempty" jsonschema:"only tests with this tag"`
	LastStatus string `json:"last_status,omitempty" jsonschema:"only tests whose last run is PASSED, FAILED, ERROR, RUNNING, QUEUED, CANCELLED or NONE"`
	paged
}

// test is a test case in a list.
type test struct {
	ID          string  `json:"id"`
	Name        line    `json:"name"`
	SuiteID     *string `json:"testSuiteId,omitempty"`
	Tags        []line  `json:"tags,omitempty"`
	Updated     string  `json:"lastUpdateDate"`
	RunSettings struct {
		URL line `json:"testUrl,omitempty"`
	} `json:"runSettings"`
}

func (s *server) listTests(ctx context.Context, in testsArguments) (any, error) {
	at, err := in.place()
	if err != nil {
		return nil, err
	}
	q := url.Values{}
	set(q, "search", in.Search)
	set(q, "content", in.Content)
	set(q, "testSuiteId", in.Suite)
	set(q, "tag", in.Tag)
	set(q, "lastStatus", in.LastStatus)
	return listed[test](ctx, s, authoringPath("testcases"), q, at)
}

type suitesArguments struct {
	Search string `json:"search,omitempty" jsonschema:"part of the name"`
	paged
}

type suite struct {
	ID        string `json:"id"`
	Name      line   `json:"name"`
	Tags      []line `json:"tags,omitempty"`
	TestCount int    `json:"testCaseCount"`
	Updated   string `json:"lastUpdate"`
}

func (s *server) listSuites(ctx context.Context, in suitesArguments) (any, error) {
	at, err := in.place()
	if err != nil {
		return nil, err
	}
	q := url.Values{}
	set(q, "search", in.Search)
	return listed[suite](ctx, s, authoringPath("testsuites"), q, at)
}

type testArguments struct {
	ID string `json:"id" jsonschema:"id of the test case"`
	stepsFrom
}

// wholeTest is a test case as get_test answers it.
type wholeTest struct {
	test
	Intent   text       `json:"intent,omitempty"`
	Revision string     `json:"revisionId,omitempty"`
	Steps    []document `json:"steps"`
	Total    int        `json:"steps_total"`
	Next     int        `json:"next_step,omitempty"`
	URL      string     `json:"url"`
}

const (
	// maxStep bounds the JSON of a step, in bytes.
	maxStep = 3000
	// maxSteps bounds the JSON of the steps of an answer: none of them is cut for the others.
	maxSteps = maxAnswer - 8<<10
)

// revision is one state of a test's steps.
type revision struct {
	ID     string            `json:"id"`
	Intent text              `json:"intent"`
	Steps  []json.RawMessage `json:"steps"`
}

func (s *server) getTest(ctx context.Context, in testArguments) (any, error) {
	var found authored[struct {
		test
		Revisions []revision `json:"revisions"`
	}]
	if err := s.cfg.Client.Get(ctx, authoringPath("testcases", in.ID), nil, &found); err != nil {
		return nil, err
	}
	show, err := in.window(maxItems)
	if err != nil {
		return nil, err
	}
	answer := wholeTest{test: found.Data.test, Steps: []document{}, URL: s.console("tests", "cases", found.Data.ID)}
	if n := len(found.Data.Revisions); n > 0 {
		last := found.Data.Revisions[n-1]
		answer.Intent, answer.Revision, answer.Total = last.Intent, last.ID, len(last.Steps)
		for i, size := show.from, 0; i < len(last.Steps); i++ {
			shown := document{value: brief(last.Steps[i]), most: maxStep}
			text, err := encode(shown)
			if err != nil {
				return nil, err
			}
			size += len(text)
			if !show.has(i) || size > maxSteps && i > show.from {
				answer.Next = i + 1
				break
			}
			answer.Steps = append(answer.Steps, shown)
		}
	}
	return answer, nil
}

// brief is a step without what only the service reads: fingerprints of elements, and the
// picture. JSON that cannot be read stays as it is.
func brief(step json.RawMessage) json.RawMessage {
	var tree any
	if json.Unmarshal(step, &tree) != nil {
		return step
	}
	strip(tree)
	short, err := encode(tree)
	if err != nil {
		return step
	}
	return short
}

func strip(tree any) {
	switch v := tree.(type) {
	case []any:
		for _, element := range v {
			strip(element)
		}
	case map[string]any:
		delete(v, "fingerprint")
		delete(v, "screenshotUrl")
		for _, member := range v {
			strip(member)
		}
	}
}

type updateArguments struct {
	ID    string           `json:"id" jsonschema:"id of the test case"`
	Name  string           `json:"name,omitempty" jsonschema:"the new name"`
	Tags  []string         `json:"tags,omitempty" jsonschema:"all tags of the test from now on"`
	URL   string           `json:"url,omitempty" jsonschema:"where the test begins from now on"`
	Steps []map[string]any `json:"steps,omitempty" jsonschema:"all steps of the test from now on"`
	// Revision keeps an agent from replacing steps that it has not seen.
	Revision string `json:"revision_id,omitempty" jsonschema:"with steps: revisionId of get_test, which the new steps were made from; refused when the test has changed since"`
}

func (s *server) updateTest(ctx context.Context, in updateArguments) (any, error) {
	body := map[string]any{}
	if in.Name != "" {
		body["name"] = in.Name
	}
	if in.Tags != nil {
		body["tags"] = in.Tags
	}
	if in.URL != "" {
		body["runSettings"] = map[string]any{"testUrl": in.URL}
	}
	switch {
	case in.Steps != nil && in.Revision == "":
		return nil, wrong("revision_id", "is required with steps: revisionId of get_test")
	case in.Steps != nil:
		body["steps"], body["baseRevisionId"] = in.Steps, in.Revision
	}
	if len(body) == 0 {
		return nil, wrong("id", "name at least one other member to change")
	}
	var found authored[struct {
		test
		Warnings []line `json:"warnings"`
	}]
	err := s.cfg.Client.JSON(ctx, client.Request{Method: http.MethodPost, Path: authoringPath("testcases", in.ID)}, body, &found)
	if err != nil {
		return nil, err
	}
	return struct {
		test
		Warnings []line `json:"warnings,omitempty"`
	}{found.Data.test, found.Data.Warnings}, nil
}
