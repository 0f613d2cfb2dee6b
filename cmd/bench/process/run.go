package process

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/slipway-qa/slipway/cmd/bench/progress"
	"github.com/slipway-qa/slipway/storage/step"
)

// Authorize adds what the authoring interface wants to see to a request.
func (p *Product) Authorize(r *http.Request) { r.SetBasicAuth(p.Username, p.AccessKey) }

// Call sends a request to the authoring interface and decodes the member "data"
// of the response. into may be nil.
func (p *Product) Call(ctx context.Context, method, path string, body, into any) error {
	doc, err := json.Marshal(body)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, method, p.Base+"/v1/ai-authoring"+path, bytes.NewReader(doc))
	if err != nil {
		return err
	}
	p.Authorize(r)
	r.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, 16<<20))
	if err != nil {
		return err
	}
	if response.StatusCode >= 300 {
		return fmt.Errorf("%s %s: %s: %s", method, path, response.Status, text)
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(text, &struct{ Data any }{into})
}

// RunState is the part of a run or suite run that the bench reads.
type RunState struct {
	ID         string
	Status     string
	StartDate  time.Time
	EndDate    time.Time
	CreateDate time.Time `json:"creationDate"`
	Error      string
	CaseRuns   []struct{ Status string } // of a suite run
	Jobs       []struct {
		Status    string
		Error     json.RawMessage
		StartDate time.Time
		EndDate   time.Time
	}
}

// ImportCase stores a case with these steps and returns its id.
func (p *Product) ImportCase(ctx context.Context, name string, steps []step.Step) (string, error) {
	var made struct{ ID string }
	err := p.Call(ctx, http.MethodPost, "/testcases", map[string]any{"name": name, "steps": steps,
		"runSettings": map[string]any{"target": map[string]any{"capabilities": map[string]any{"browserName": "chrome"}}}}, &made)
	return made.ID, err
}

// RunAndWait starts a run of a case or suite and waits for its end.
func (p *Product) RunAndWait(ctx context.Context, of string) (*RunState, error) {
	var run RunState
	if err := p.Call(ctx, http.MethodPost, of+"/run", struct{}{}, &run); err != nil {
		return nil, err
	}
	path := of + "/runs/" + run.ID
	var seen atomic.Pointer[string]
	defer progress.WaitsFor(ctx, func() string { return describeRun(seen.Load()) })()
	for deadline := time.Now().Add(10 * time.Minute); time.Now().Before(deadline); {
		if err := p.Call(ctx, http.MethodGet, path+"?wait="+runPoll, nil, &run); err != nil {
			return nil, err
		}
		text := run.describe()
		seen.Store(&text)
		switch run.Status {
		case "QUEUED", "RUNNING":
		case "PASSED":
			return &run, nil
		default:
			return nil, fmt.Errorf("the run ended as %s: %+v", run.Status, run)
		}
	}
	return nil, fmt.Errorf("%s has not ended", path)
}

// runPoll is how many seconds a request waits for the end of a run. It is less than the
// time between two lines of progress, so that a line is never old.
const runPoll = "5"

// describe says what a run waits for.
func (r *RunState) describe() string {
	if len(r.CaseRuns) == 0 {
		return "a run that is " + r.Status
	}
	ended := 0
	for _, c := range r.CaseRuns {
		if c.Status != "QUEUED" && c.Status != "RUNNING" {
			ended++
		}
	}
	return fmt.Sprintf("%d of %d runs", ended, len(r.CaseRuns))
}

// describeRun is what is known of a run before its first response, or after.
func describeRun(seen *string) string {
	if seen == nil {
		return "the first response about a run"
	}
	return *seen
}
