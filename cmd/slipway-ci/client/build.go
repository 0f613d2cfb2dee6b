package client

import (
	"context"
	"encoding/json"
	"net/url"
	"strconv"
	"time"
)

// App is an app on one platform, which builds are of.
type App struct {
	ID          int64  `json:"id"`
	Name        string `json:"name"`
	PackageName string `json:"package_name"`
	Platform    string `json:"platform"`
}

// pageSize is the most that lists return.
const pageSize = "100"

// Apps lists the apps whose name or package has a text in it, newest first, at most a hundred.
func (c *Client) Apps(ctx context.Context, search string) ([]App, error) {
	var out struct {
		Projects []App `json:"projects"`
	}
	query := url.Values{"per_page": {pageSize}}
	if search != "" {
		query.Set("search", search)
	}
	err := c.Get(ctx, "/api/v3/projects", query, &out)
	return out.Projects, err
}

// Build is a build.
type Build struct {
	ID           int64             `json:"id"`
	ProjectID    int64             `json:"project_id"`
	AppName      string            `json:"app_name"`
	Version      string            `json:"version"`
	VersionCode  string            `json:"version_code"`
	Platform     string            `json:"platform"`
	PackageName  string            `json:"package_name"`
	FileName     string            `json:"file_name"`
	FileSize     int64             `json:"file_size"`
	SHA256       string            `json:"sha256"`
	Verification string            `json:"verification"` // of the signature: pending, verified, failed, unsigned, unchecked or ""
	Warnings     []string          `json:"warnings"`
	Cautions     []Caution         `json:"cautions"`
	Status       string            `json:"status"` // enabled, disabled, certificate_expired or invalid
	StatusReason string            `json:"status_reason"`
	InstallURL   string            `json:"install_url"`
	Metadata     map[string]string `json:"metadata"`
	ReleaseNotes string            `json:"release_notes"`
	Signer       *Signature        `json:"signer"`       // of an Android package
	Provisioning *Signature        `json:"provisioning"` // of a package for Apple's systems
	CreatedAt    time.Time         `json:"created_at"`
}

// Signature is what is known of the signature of a package.
type Signature struct {
	Reason string `json:"reason"` // why it failed, or was not checked
}

// SignatureReason is why the signature failed, or was not checked; "" when nobody knows.
func (b *Build) SignatureReason() string {
	for _, s := range []*Signature{b.Signer, b.Provisioning} {
		if s != nil && s.Reason != "" {
			return s.Reason
		}
	}
	return b.StatusReason
}

// Caution is something that testers will meet.
type Caution struct {
	Code string `json:"code"`
	Text string `json:"text"`
}

// Build returns a build.
func (c *Client) Build(ctx context.Context, id string) (*Build, error) {
	var out struct {
		Build Build `json:"build"`
	}
	err := c.Get(ctx, Path("api", "v3", "builds", id), nil, &out)
	return &out.Build, err
}

// Builds lists builds of an app, newest first, at most a hundred; of a version, or of all ("").
func (c *Client) Builds(ctx context.Context, app int64, version string) ([]Build, error) {
	var out struct {
		Builds []Build `json:"builds"`
	}
	query := url.Values{"per_page": {pageSize}}
	if version != "" {
		query.Set("version", version)
	}
	err := c.Get(ctx, Path("api", "v3", "projects", strconv.FormatInt(app, 10), "builds"), query, &out)
	return out.Builds, err
}

// Task is a piece of the server's work.
type Task struct {
	ID     string          `json:"id"`
	Type   string          `json:"type"`
	State  string          `json:"state"` // queued, running, succeeded, dead or cancelled
	Error  *string         `json:"error"`
	Result json.RawMessage `json:"result"`
}

// Ended reports whether a task has ended.
func (t *Task) Ended() bool {
	return t.State == "succeeded" || t.State == "dead" || t.State == "cancelled"
}

// Tasks lists the tasks that a request asked for.
func (c *Client) Tasks(ctx context.Context, requestID string) ([]Task, error) {
	var out struct {
		Tasks []Task `json:"tasks"`
	}
	err := c.Get(ctx, "/api/v3/tasks", url.Values{"per_page": {pageSize}, "request_id": {requestID}}, &out)
	return out.Tasks, err
}

// mostWait is the longest wait that the API takes, in seconds; a proxy may end longer ones.
const mostWait = 25

// AwaitTask waits for the end of a task. One request is open at a time.
func (c *Client) AwaitTask(ctx context.Context, id string) (*Task, error) {
	var out struct {
		Task Task `json:"task"`
	}
	err := c.poll(ctx, Path("api", "v3", "tasks", id), &out, func() bool { return out.Task.Ended() })
	return &out.Task, err
}

// poll reads a resource that can be waited for again and again until it is as wanted.
func (c *Client) poll(ctx context.Context, path string, out any, done func() bool) error {
	for {
		asked := time.Now()
		if err := c.Get(ctx, path, url.Values{"wait": {strconv.Itoa(mostWait)}}, out); err != nil || done() {
			return err
		}
		// A server that does not wait is not asked without a pause.
		if err := Pause(ctx, max(0, time.Second-time.Since(asked))); err != nil {
			return err
		}
	}
}
