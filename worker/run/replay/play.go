package replay

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"time"

	"github.com/slipway-qa/slipway/storage/run"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/browser/webdriver"
)

const (
	// optionalWait is how long an optional step waits: long enough for a popup,
	// short enough not to be felt when there is none.
	optionalWait = 3 * time.Second
	// assertWait is how long an assertion may take to become true.
	assertWait = 5 * time.Second
	// scriptTimeout ends a call in a page that does not answer; calls wait for at
	// most a slice.
	scriptTimeout = slice + 5*time.Second
)

// player is one test that is played.
type player struct {
	Config
	s       *webdriver.Session
	began   time.Time
	vault   vault
	camera  *camera
	console *console // nil: the driver keeps it

	mu      sync.Mutex // of the records: captures note their files
	records []step.Record
	result  Result

	// Of the session.
	framed  bool   // a frame is current
	href    string // of the top-level page, as far as known
	checked map[string]bool
	windows []string // in the order of opening
	window  string

	// Of the step.
	deadline time.Time
	patience time.Duration
	next     string // the tool of the step behind it
	notes    []string
	dialogs  int
	stuck    bool
	print    *step.Fingerprint
	healed   *step.Healed
}

func newPlayer(ctx context.Context, cfg Config) *player {
	p := &player{Config: cfg, began: time.Now(), checked: map[string]bool{}}
	if cfg.Lease != nil {
		p.s = cfg.Lease.Session
	}
	p.vault.lookup = cfg.Lookup
	p.result = Result{Status: string(run.Passed), Fingerprints: map[string]step.Fingerprint{}}
	for _, s := range cfg.Steps {
		p.records = append(p.records, step.Record{StepID: s.ID, Tool: s.Tool, Status: step.Skipped})
	}
	p.camera = newCamera(ctx, p)
	return p
}

// play goes through the steps.
func (p *player) play(ctx context.Context) {
	p.begin(0, &step.Step{})
	if err := p.prepare(ctx); err != nil {
		p.fail(p.failed(ctx, err))
		return
	}
	for i := range p.Steps {
		if err := p.one(ctx, i); err != nil {
			p.fail(err)
			return
		}
		if p.Steps[i].Tool.Type == step.Finish {
			return
		}
	}
}

// prepare sets the session up and opens the test's address.
func (p *player) prepare(ctx context.Context) error {
	if p.Lease.Mobile {
		return nil
	}
	if err := p.timeouts(ctx); err != nil {
		return err
	}
	p.console = listen(ctx, p)
	if err := p.firstWindow(ctx); err != nil {
		return err
	}
	if p.TestURL == "" || (len(p.Steps) > 0 && p.Steps[0].Tool.Type == step.GoToURL) {
		return nil
	}
	address, err := step.Expand(p.TestURL, p.vault.get)
	if err != nil {
		return variableFailure(err)
	}
	return p.open(ctx, address)
}

// timeouts sets those of the session unless it has them.
func (p *player) timeouts(ctx context.Context) error {
	has, _ := p.s.Capabilities["timeouts"].(map[string]any)
	page, _ := has["pageLoad"].(float64)
	code, _ := has["script"].(float64)
	if page == float64(p.PageTimeout.Milliseconds()) && code == float64(scriptTimeout.Milliseconds()) {
		return nil
	}
	return p.do(ctx, func() error {
		return p.s.SetTimeouts(ctx, webdriver.Timeouts{PageLoad: p.PageTimeout, Script: scriptTimeout})
	})
}

// begin resets what belongs to a step.
func (p *player) begin(i int, s *step.Step) {
	p.notes, p.dialogs, p.stuck, p.print, p.healed, p.next = nil, 0, false, nil, nil, ""
	if i+1 < len(p.Steps) && s.ID != "" {
		p.next = p.Steps[i+1].Tool.Type
	} else if s.ID == "" && len(p.Steps) > 0 {
		p.next = p.Steps[0].Tool.Type
	}
	p.patience = p.StepTimeout
	tool := innermost(s.Tool)
	switch {
	case s.TimeoutMS > 0:
		p.patience = time.Duration(s.TimeoutMS) * time.Millisecond
	case s.Optional:
		p.patience = min(p.patience, optionalWait)
	case tool.Type == step.Assert:
		p.patience = min(p.patience, assertWait)
	}
	p.deadline = time.Now().Add(p.patience)
}

// one plays a step and records it. The error is that of a required one.
func (p *player) one(ctx context.Context, i int) *failure {
	s := &p.Steps[i]
	started := time.Now()
	p.begin(i, s)
	var failure *failure
	if err := p.run(ctx, s.Tool); err != nil {
		failure = p.failed(ctx, err)
	}
	record := step.Record{StepID: s.ID, Tool: s.Tool, Status: step.Passed, StartMS: started.Sub(p.began).Milliseconds(),
		TookMS: time.Since(started).Milliseconds()}
	optional := failure != nil && s.Optional && !failure.broken && (failure.code == run.CodeStepFailed || failure.code == run.CodeUnreachable)
	switch {
	case optional:
		record.Status, failure.text = step.Skipped, "optional: "+failure.text
	case failure != nil:
		record.Status = step.Failed
	default:
		record.Healed = p.healed
		if p.healed != nil {
			p.result.Healed++
			p.note("found by its fingerprint at %s", bounded(p.healed.To.Value, 120))
		} else if p.print != nil {
			p.result.Fingerprints[s.ID] = *p.print
		}
	}
	record.Result = step.Outcome{Success: failure == nil, Message: p.message(failure)}
	p.mu.Lock()
	p.records[i] = record
	p.mu.Unlock()
	switch {
	case failure != nil && !optional:
		if !failure.broken {
			p.camera.scene(ctx, i)
		}
	case p.Screenshots && !p.Lease.Mobile && p.next != step.HandleDialog && s.Tool.Type != step.Finish:
		// A page with an open dialog cannot be captured.
		p.camera.take(ctx, i)
	}
	if p.Progress != nil {
		p.Progress(p.soFar(i + 1))
	}
	if optional {
		return nil
	}
	return failure
}

// message is what a record says: the failure, and what else is worth knowing.
func (p *player) message(f *failure) string {
	var parts []string
	if f != nil {
		parts = append(parts, f.text)
	}
	parts = append(parts, p.notes...)
	return bounded(p.vault.redact(strings.Join(parts, "; ")), 2000)
}

func (p *player) note(format string, args ...any) {
	if len(p.notes) < 10 {
		p.notes = append(p.notes, fmt.Sprintf(format, args...))
	}
}

// fail ends the test.
func (p *player) fail(f *failure) {
	p.result.Status, p.result.Code = string(f.status()), f.code
	p.result.Message = bounded(p.vault.redact(f.text), 2000)
	p.result.Broken = p.result.Broken || f.broken
}

// end gives the result, after the captures.
func (p *player) end() Result {
	p.result.Records = p.soFar(len(p.records))
	p.result.Fingerprints = maps.Clone(p.result.Fingerprints)
	return p.result
}

// soFar copies the first records: captures still write to them.
func (p *player) soFar(n int) []step.Record {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]step.Record{}, p.records[:n]...)
}

// rest waits for a moment.
func rest(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// until calls f every moment until it is done, it fails or the step's time is
// over: then it gives the failure that f last reported.
func (p *player) until(ctx context.Context, every time.Duration, f func() (done bool, not *failure, err error)) error {
	for {
		done, not, err := f()
		if done || err != nil {
			return err
		}
		if time.Now().After(p.deadline) {
			return not
		}
		if err := rest(ctx, every); err != nil {
			return err
		}
	}
}

func variableFailure(err error) *failure {
	var unknown *step.UnknownVariableError
	if errors.As(err, &unknown) {
		return failf(run.CodeVariable, "%v", err)
	}
	return stepf("%v", err)
}

// innermost is the tool in frames and shadow roots.
func innermost(t step.Tool) step.Tool {
	for t.Args.Tool != nil && (t.Type == step.InFrame || t.Type == step.InShadowRoot) {
		t = *t.Args.Tool
	}
	return t
}
