package agent

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/slipway-qa/slipway/cmd/slipway-ci/client"
)

func (s *server) addGenerations() {
	add(s, tool{name: "generate_test", title: "Generate a test", write: Tests, outside: true,
		longest: map[string]int{"intent": 20_000, "url": 2048},
		description: "Write a test case from a sentence: a browser opens the page, does what the intent asks for, and stores the steps. It " +
			"takes minutes: ask get_generation with the task_id of the answer."},
		s.generateTest)
	add(s, tool{name: "get_generation", title: "Read a generation",
		description: "How far the generation of a test is; when it is COMPLETED, the id of the test, when it FAILED, why."}, s.getGeneration)
}

type generateArguments struct {
	Name    string   `json:"name" jsonschema:"name of the test"`
	Intent  string   `json:"intent" jsonschema:"what the test does and checks, in words; {{name}} stands for a variable"`
	URL     string   `json:"url" jsonschema:"where it begins: an absolute http or https address"`
	Suite   string   `json:"suite_id,omitempty" jsonschema:"suite that the test goes into"`
	Tags    []string `json:"tags,omitempty" jsonschema:"tags of the test"`
	Browser string   `json:"browser,omitempty" jsonschema:"browserName of the target; default chrome"`
	Minutes int      `json:"minutes,omitempty" jsonschema:"give up after this time, 1 to 60; default 5"`
	Wait    int      `json:"wait_seconds,omitempty" jsonschema:"wait for the end, 0 to 50 seconds; default 0"`
}

// started is a task that runs.
type started struct {
	TaskID   string `json:"task_id"`
	Warnings []line `json:"warnings,omitempty"`
	*generation
}

const (
	defaultMinutes = 5
	maxMinutes     = 60
)

func (s *server) generateTest(ctx context.Context, in generateArguments) (any, error) {
	if _, err := waiting(in.Wait); err != nil {
		return nil, err
	}
	if in.Minutes < 0 || in.Minutes > maxMinutes {
		return nil, wrong("minutes", "must be 1 to 60")
	}
	if in.Minutes == 0 {
		in.Minutes = defaultMinutes
	}
	if in.Browser == "" {
		in.Browser = "chrome"
	}
	body := map[string]any{"name": in.Name, "timeout": (time.Duration(in.Minutes) * time.Minute).Milliseconds(),
		"promptSettings": map[string]any{"intent": in.Intent},
		"runSettings":    map[string]any{"testUrl": in.URL, "target": map[string]any{"capabilities": map[string]any{"browserName": in.Browser}}}}
	if in.Suite != "" {
		body["testSuiteId"] = in.Suite
	}
	if in.Tags != nil {
		body["tags"] = in.Tags
	}
	var made authored[struct {
		TaskID   string `json:"taskId"`
		Warnings []line `json:"warnings"`
	}]
	err := s.cfg.Client.JSON(ctx, client.Request{Method: http.MethodPost, Path: authoringPath("testcases", "generate"),
		Key: client.NewKey()}, body, &made)
	if err != nil {
		return nil, err
	}
	answer := started{TaskID: made.Data.TaskID, Warnings: made.Data.Warnings}
	if in.Wait > 0 {
		if answer.generation, err = s.generation(ctx, answer.TaskID, in.Wait); err != nil {
			return nil, begun("generation", "get_generation with task_id "+answer.TaskID, err)
		}
	}
	return answer, nil
}

// begun says of a failed wait that what was started goes on: otherwise it would be started
// again.
func begun(what, next string, err error) error {
	said := explain(err)
	var how = outcomeFrom(failure(said))
	return &callError{how, "the " + what + " was started and goes on; ask " + next + ". Waiting for it failed: " + said.Error()}
}

type generationArguments struct {
	TaskID string `json:"task_id" jsonschema:"task_id of generate_test"`
	Wait   int    `json:"wait_seconds,omitempty" jsonschema:"wait for the end, 0 to 50 seconds; default 0"`
}

// generation is a test that is being written.
type generation struct {
	Status      string     `json:"status"`
	TestID      string     `json:"testCaseId,omitempty"`
	RevisionID  string     `json:"revisionId,omitempty"`
	Error       *problem   `json:"error,omitempty"`
	Steps       []document `json:"steps,omitempty"`
	Description text       `json:"description,omitempty"`
}

// problem is why something failed, as the service says it: its detail quotes the page.
type problem struct {
	Code   string `json:"code"`
	Detail text   `json:"detail"`
}

func (s *server) getGeneration(ctx context.Context, in generationArguments) (any, error) {
	return s.generation(ctx, in.TaskID, in.Wait)
}

func (s *server) generation(ctx context.Context, id string, wait int) (*generation, error) {
	q, err := waiting(wait)
	if err != nil {
		return nil, err
	}
	var found authored[struct {
		generation
		Steps []json.RawMessage `json:"steps"`
	}]
	q.Set("detail", "1")
	if err := s.cfg.Client.Get(ctx, authoringPath("testcases", "generate", id), q, &found); err != nil {
		return nil, err
	}
	g := found.Data.generation
	for _, step := range found.Data.Steps {
		g.Steps = append(g.Steps, document{value: brief(step), most: maxStep})
	}
	return &g, nil
}
