package main

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
	"github.com/slipway-qa/slipway/cmd/bench/regression"
	"github.com/slipway-qa/slipway/storage/step"
)

func (p *product) authorize(r *http.Request) { r.SetBasicAuth(p.username, p.accessKey) }

// call sends a request to the authoring interface and decodes the member "data"
// of the response. into may be nil.
func (p *product) call(ctx context.Context, method, path string, body, into any) error {
	doc, err := json.Marshal(body)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, method, p.base+"/v1/ai-authoring"+path, bytes.NewReader(doc))
	if err != nil {
		return err
	}
	p.authorize(r)
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

// runState is the part of a run or suite run that the bench reads.
type runState struct {
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

func (p *product) importCase(ctx context.Context, name string, steps []step.Step) (string, error) {
	var made struct{ ID string }
	err := p.call(ctx, http.MethodPost, "/testcases", map[string]any{"name": name, "steps": steps,
		"runSettings": map[string]any{"target": map[string]any{"capabilities": map[string]any{"browserName": "chrome"}}}}, &made)
	return made.ID, err
}

// runAndWait starts a run of a case or suite and waits for its end.
func (p *product) runAndWait(ctx context.Context, of string) (*runState, error) {
	var run runState
	if err := p.call(ctx, http.MethodPost, of+"/run", struct{}{}, &run); err != nil {
		return nil, err
	}
	path := of + "/runs/" + run.ID
	var seen atomic.Pointer[string]
	defer progress.WaitsFor(ctx, func() string { return describeRun(seen.Load()) })()
	for deadline := time.Now().Add(10 * time.Minute); time.Now().Before(deadline); {
		if err := p.call(ctx, http.MethodGet, path+"?wait="+runPoll, nil, &run); err != nil {
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
func (r *runState) describe() string {
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

// caseRounds are the rounds of measureCases, of which the first warms both.
const caseRounds = 4

// measureCases runs a suite, and as many flows with Playwright.
func (b *runBench) measureCases(ctx context.Context) error {
	product, err := startProduct(ctx, b.Binary, "--no-run-screenshots")
	if err != nil {
		return err
	}
	defer product.stop()
	var ids []string
	for n := range b.Batch {
		id, err := product.importCase(ctx, fmt.Sprintf("Buy product, %d", n+1), b.site.steps())
		if err != nil {
			return err
		}
		ids = append(ids, id)
	}
	var suite struct{ ID string }
	if err := product.call(ctx, http.MethodPost, "/testsuites", map[string]any{"name": "Shop", "testCases": ids}, &suite); err != nil {
		return err
	}
	var baseline, ours []float64
	for n := range caseRounds {
		stop := progress.Waits(ctx, fmt.Sprintf("Playwright with %d cases in round %d of %d", b.Batch, n+1, caseRounds))
		theirs, err := b.baseline.request(ctx, fmt.Sprintf("cases %d %d", b.Workers, b.Batch))
		stop()
		if err != nil {
			return err
		}
		start := time.Now()
		if _, err := product.runAndWait(ctx, "/testsuites/"+suite.ID); err != nil {
			return err
		}
		if n > 0 {
			baseline, ours = append(baseline, theirs.Seconds()), append(ours, time.Since(start).Seconds())
		}
	}
	f, o := float64(b.Batch)/median(baseline), float64(b.Batch)/median(ours)
	row(fmt.Sprintf("baseline: %d cases with Playwright, %d workers with a browser each", b.Batch, b.Workers), fmt.Sprintf("%.2f cases/s", f), "", true)
	regression.Measured(ctx, "cases", o/f)
	row(fmt.Sprintf("suite run of %d cases, from the request to the answer that it has ended", b.Batch),
		fmt.Sprintf("%.2f cases/s, %.2f of the baseline", o, o/f), "above 1.5 of the baseline", o/f > 1.5)
	return nil
}

// measureOverhead compares complete runs of a case with the flow alone.
func (b *runBench) measureOverhead(ctx context.Context) error {
	for _, kind := range []struct {
		name, flag string
		most       float64
	}{{"a run, from the request to its end", "--no-run-screenshots", 0.15}, {"a run with a screenshot per step", "--run-screenshots", 0.45}} {
		flow, run, err := b.timeRuns(ctx, kind.flag)
		if err != nil {
			return err
		}
		over := run.Seconds()/flow.Seconds() - 1
		row(kind.name, fmt.Sprintf("%s, %.0f %% over the flow of %s", round(run), 100*over, round(flow)), fmt.Sprintf("%.0f %%", 100*kind.most), over <= kind.most)
	}
	return nil
}

// quietTime is the pause before each flow and each run. Browsers prepare for the
// next test meanwhile, so that neither pays for the other's preparation.
const quietTime = 500 * time.Millisecond

// timeRuns returns the medians of the flow and of the time from a request to the
// end of its run. One runs at a time, so that none waits for a worker.
func (b *runBench) timeRuns(ctx context.Context, flag string) (flow, run time.Duration, err error) {
	e, err := startEngine(ctx, b.site.steps())
	if err != nil {
		return 0, 0, err
	}
	defer e.close()
	r, err := b.startRuns(ctx, flag)
	if err != nil {
		return 0, 0, err
	}
	defer r.stop()
	flows := timed{name: "flow", once: func(ctx context.Context) (time.Duration, error) { return e.play(ctx, false) }}
	runs := timed{name: "run", once: r.once}
	if err := inTurn(ctx, b.Rounds, &flows, &runs); err != nil {
		return 0, 0, err
	}
	return seconds(flows.median()), seconds(runs.median()), nil
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
