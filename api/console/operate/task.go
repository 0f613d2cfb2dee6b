package operate

import (
	"encoding/json"
	"net/url"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/console/frame"
	"github.com/slipway-qa/slipway/storage/live"
)

// task is a task as pages show it.
type task struct {
	ID             string          `json:"id"`
	Type           string          `json:"type"`
	State          string          `json:"state"`
	Queue          string          `json:"queue"`
	OrganizationID *int64          `json:"organization_id"`
	Attempt        int             `json:"attempt"`
	MaxAttempts    int             `json:"max_attempts"`
	RunAt          time.Time       `json:"run_at"`
	CreatedAt      time.Time       `json:"created_at"`
	StartedAt      *time.Time      `json:"started_at"`
	FinishedAt     *time.Time      `json:"finished_at"`
	Losses         int             `json:"losses"`
	Priority       string          `json:"priority"`
	Subject        *subject        `json:"subject"`
	Error          *string         `json:"error"`
	Failures       []failure       `json:"failures"`
	Result         json.RawMessage `json:"result"`
	RequestID      string          `json:"request_id"`
}

// failure is an attempt that failed; members are not told the worker.
type failure struct {
	Attempt   int        `json:"attempt"`
	StartedAt *time.Time `json:"started_at"`
	EndedAt   time.Time  `json:"ended_at"`
	Worker    *string    `json:"worker"`
	Error     string     `json:"error"`
	Lost      bool       `json:"lost"`
}

// Took is how long the attempt took, in milliseconds; nil when it never began.
func (f failure) Took() *int64 { return between(f.StartedAt, &f.EndedAt) }

// Open reports whether the task has not ended.
func (t task) Open() bool { return t.State == "queued" || t.State == "running" }

// Retryable reports whether the task's end is one after which it can be retried.
func (t task) Retryable() bool { return t.State == "dead" || t.State == "cancelled" }

// Waited is how long the task had been due when its last attempt began, in milliseconds.
func (t task) Waited() *int64 {
	if t.State == "queued" {
		return nil
	}
	return between(&t.RunAt, t.StartedAt)
}

// Ran is how long the last attempt took, in milliseconds.
func (t task) Ran() *int64 {
	if t.State == "queued" {
		return nil
	}
	return between(t.StartedAt, t.FinishedAt)
}

// Outcome is the result as people read it; "" without one.
func (t task) Outcome() (string, error) {
	if len(t.Result) == 0 || string(t.Result) == "null" {
		return "", nil
	}
	var value any
	if err := json.Unmarshal(t.Result, &value); err != nil {
		return "", err
	}
	text, err := json.MarshalIndent(value, "", "  ")
	return string(text), err
}

func between(from, to *time.Time) *int64 {
	if from == nil || to == nil {
		return nil
	}
	ms := max(0, to.Sub(*from).Milliseconds())
	return &ms
}

// subject is what a task is about.
type subject struct {
	Type string  `json:"type"`
	ID   *string `json:"id"`
	Name *string `json:"name"`
	Path *string `json:"path"`
}

// Title is the subject's name, or its type and id where it is gone.
func (s subject) Title() string {
	switch {
	case s.Name != nil:
		return *s.Name
	case s.ID != nil:
		return strings.ReplaceAll(s.Type, "_", " ") + " " + *s.ID
	}
	return strings.ReplaceAll(s.Type, "_", " ")
}

// Page is the page of the console about the subject, behind /console; "" where there is none.
// What has a request that reads it has a page, at the place that the request's path has.
func (s subject) Page() string {
	if s.Type == "crash_purge" || s.Path == nil {
		return ""
	}
	for _, place := range [][2]string{
		{"/api/v3/builds/", "/builds/builds/"}, {"/api/v3/projects/", "/builds/apps/"}, {"/api/v3/crashes/", "/crashes/reports/"},
		{"/api/v3/crash-groups/", "/crashes/groups/"}, {"/api/v3/symbols/", "/crashes/symbols/"}, {"/api/v3/webhooks/", "/settings/webhooks/"},
		{"/v1/ai-authoring/testcases/generate/", "/tests/generate/"}, {"/v1/ai-authoring/testcases/", "/tests/cases/"},
		{"/v1/ai-authoring/testsuites/", "/tests/suites/"},
	} {
		if rest, ok := strings.CutPrefix(*s.Path, place[0]); ok {
			return place[1] + rest
		}
	}
	return ""
}

// taskData is the page of one task.
type taskData struct {
	task
	Operator bool
}

// task shows one task.
func (p *Pages) task(c *gin.Context) error {
	var answer struct {
		Task task `json:"task"`
	}
	if err := p.API.Get(c, taskPath(c), nil, &answer); err != nil {
		return err
	}
	page := frame.Page{Title: "Task " + answer.Task.Type, Area: area, Data: taskData{answer.Task, operator(c)}}
	if answer.Task.Open() {
		page.Live = []live.Topic{live.Of(live.Task, answer.Task.ID)}
	}
	return p.pages.Show(c, "task", page)
}

// taskPath is the path of the route of the page's task.
func taskPath(c *gin.Context) string { return "/api/v3/tasks/" + url.PathEscape(c.Param("id")) }

// change serves the form of a change of one task.
func (p *Pages) change(action, done string) func(c *gin.Context) error {
	return func(c *gin.Context) error {
		err := p.API.Send(c, "POST", taskPath(c)+"/"+action, nil, nil)
		return p.End(c, p.Back(c, "/operate/tasks/"+url.PathEscape(c.Param("id"))), done, err)
	}
}
