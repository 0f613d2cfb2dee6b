// Package replay executes the steps of a test in a browser.
//
// Most of a test's time are round trips to the browser, so a step takes as few as
// possible. One page script (page/act.js) resolves the selector, waits until the
// element can be acted on (one match, visible, not moving, enabled, receiving
// events at its centre) and either does the action itself (filling, selecting,
// files, scrolling) or returns the element for real input (clicks, hovering,
// dragging). A call waits in the page for some seconds at most and is repeated until
// the step's time is over, so that a navigation or a dialog costs one retry. No
// element is kept across steps, and nothing waits for a fixed time.
//
// An action whose selector finds nothing is healed by its fingerprint: near the end
// of the step's time the page is searched, through open shadow roots and frames, for
// one that nothing distinguishes from the recorded element (page/heal.js). A step without
// fingerprint gets one when it passes. Where the selector finds an element that
// contradicts the fingerprint, by its name or its row, the step has drifted
// (page/drift.js): it says so, or fails before it acts.
// Assertions use neither: page/observe.js returns what there is, each time that it
// changes, and the comparison is made here. Pictures are compared by package looks, and
// faults of accessibility found by package accessible.
//
// The first step that fails ends the test; an optional one is skipped. A dialog that
// the next step does not handle is dismissed and noted. What the test found is
// FAILED; what kept it from finding anything (the browser crashed, a variable has no
// value) is ERROR. After an error that leaves the session in an unknown state the
// result is marked as broken.
//
// Secrets are in no message, page source, console log or fingerprint, and are
// blurred while a screenshot is taken. Screenshots are taken over the session's BiDi
// connection where there is one, while the next step waits for its element.
package replay

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/group"
	"github.com/slipway-qa/slipway/worker/browser"
	"github.com/slipway-qa/slipway/worker/run/evidence"
	"github.com/slipway-qa/slipway/worker/run/login"
	"github.com/slipway-qa/slipway/worker/run/looks"
	"github.com/slipway-qa/slipway/worker/run/trace"
)

// Config is how a test is executed.
type Config struct {
	Lease   *browser.Lease
	TestURL string // opened first, unless the first step is go_to_url; "" for none
	// RecordedURL is where the steps were recorded, when TestURL is elsewhere: what they
	// name of its origin is looked for at TestURL's. "" leaves the steps as they are.
	RecordedURL string
	Steps       []step.Step
	// Places are where the steps stand (group.Plan): in which phase, and in which step
	// groups. Nil for a test that has neither.
	Places []group.Place
	// Lookup returns the value of a variable and whether it is a secret; ok is
	// false for one that has no value.
	Lookup func(step.Reference) (value string, secret, ok bool)
	// CheckURL refuses addresses that tests may not open (file:, metadata
	// services); its error is shown to the one who runs the test. Without it
	// only http and https are opened.
	CheckURL func(ctx context.Context, address string) error
	// Trouble returns why the proxy of the browser did not connect to a host since a
	// time (egress.Proxy.Trouble); a browser does not report what a proxy refused.
	// May be nil.
	Trouble func(host string, since time.Time) (text string, ok bool)
	// StepTimeout is how long a step waits for its element or assertion; default
	// 10 s. PageTimeout bounds a navigation; default 30 s.
	StepTimeout, PageTimeout time.Duration
	// AssertTimeout bounds the wait of an assertion that has no time of its own, below
	// StepTimeout; default 5 s. Grace is how long a page may take for a script that does not
	// wait, default 5 s: a page that blocks its thread for longer does not respond.
	AssertTimeout, Grace time.Duration
	// FirstMatch lets a selector that finds several elements, and has no index, mean the
	// first that can be used. Without it such a step fails when its time is over.
	FirstMatch bool
	// Healing is one of the modes of storage/step; "" applies healings, but only
	// suggests those of a press on what deletes, pays, sends or submits by its name.
	//
	// An action is healed when its selector finds nothing at all, and only near the
	// end of its time: in the last fifth, but no more than two seconds and no less
	// than half of one. Pages that render late are more frequent than pages that were
	// changed. A page that is still loading, or whose elements still come and go, is
	// searched at the very end.
	Healing string
	// Drift is one of the modes of storage/step; "" fails the step before it acts where
	// the element is in another row than the recorded one, or one of the two is called
	// what deletes, pays, sends or submits, and else only reports. An element must be
	// another one for a second, and to fail the step until its time is over.
	Drift string
	// Refused are selectors that a person refused as healings, by the step's id.
	// What they name is neither used nor suggested.
	Refused map[string][]step.Selector
	// Login is what the test has to do with the login of its suite; nil: nothing.
	Login *Login
	// Looks is what pictures and findings are compared with; nil fails the steps that
	// need it.
	Looks *Looks
	// Screenshots takes one after each step; one of a failed step is taken in any
	// case.
	Screenshots bool
	// Capture stores an artifact and returns the file's id. It is called in the order
	// of the steps but in the background: storing overlaps with the next step. All
	// calls have returned when Play returns.
	Capture func(ctx context.Context, a Artifact) string
	// Trace records what the steps do and see; nil records nothing. Its Redact must know all
	// secrets of the test.
	Trace *trace.Recorder
	// Progress is called after each step with the records so far; it must be quick.
	Progress func(records []step.Record)
	Log      *slog.Logger
}

// Looks is what people accepted of the looks and the accessibility of a case.
type Looks struct {
	// Baseline returns what the picture of a step is compared with, for the name that the
	// step gives it; nil: there is none.
	Baseline func(ctx context.Context, stepID, name string, on looks.Rendering) (*looks.Baseline, error)
	// Keep stores a picture that people may accept, and returns its id.
	Keep func(ctx context.Context, c looks.Candidate) (id string, err error)
	// Accepted returns the keys of the findings that people accepted.
	Accepted func(ctx context.Context) (map[string]bool, error)
}

// Artifact is what was captured of a step. Secrets are replaced in it.
type Artifact struct {
	Kind        string // one of storage/run's; run.Trace is stored by the caller
	Step        int
	ContentType string
	Data        []byte
}

// Result is how a test ended.
type Result struct {
	// Status is PASSED, FAILED or ERROR; the code is one of storage/run's.
	Status, Code string
	Message      string // for people, without secrets
	Records      []step.Record
	Healed       int
	Drifted      int // steps whose element was another one than they were recorded with
	// Fingerprints are of steps that passed and had none, or a partial one, by step id.
	Fingerprints map[string]step.Fingerprint
	// Digest is what the test saw, for the next one that fails, and Console are the errors of its
	// pages; nil where there was no browser.
	Digest  *evidence.Digest
	Console []string
	// SignedOut: the first page showed that the test was not signed in.
	SignedOut bool
	// Left is what a login that passed has left; nil for other tests.
	Left *login.State
	// Broken means that the session's state is unknown.
	Broken bool
}

// The defaults of Config.
const (
	defaultStepTimeout   = 10 * time.Second
	defaultPageTimeout   = 30 * time.Second
	defaultAssertTimeout = 5 * time.Second
	defaultGrace         = 5 * time.Second // drivers wait much longer
)

// withDefaults returns the configuration with a value for each time that it lacks.
func (c Config) withDefaults() Config {
	c.StepTimeout = cmp.Or(max(c.StepTimeout, 0), defaultStepTimeout)
	c.PageTimeout = cmp.Or(max(c.PageTimeout, 0), defaultPageTimeout)
	c.AssertTimeout = cmp.Or(max(c.AssertTimeout, 0), defaultAssertTimeout)
	c.Grace = cmp.Or(max(c.Grace, 0), defaultGrace)
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c
}

// Play executes the test to its end or until ctx ends. It never panics and never
// returns before its captures are stored.
func Play(ctx context.Context, cfg Config) (result Result) {
	cfg = cfg.withDefaults()
	ctx, leave := watchDriver(ctx, cfg.Lease)
	defer leave()
	t := newTestExecution(ctx, cfg)
	defer func() {
		t.screenshotter.close()
		t.tracer.close(ctx, &t.result)
		t.digest()
		t.console.close()
		t.shown.Close()
		t.result.Broken = t.closeNetwork() || t.result.Broken
		if t.closeState(ctx) != nil {
			t.result.Broken = true
		}
		result = t.end()
	}()
	defer func() {
		if r := recover(); r != nil {
			cfg.Log.ErrorContext(ctx, "panic while playing a test", "panic", t.secrets.redact(fmt.Sprint(r)), "stack", string(debug.Stack()))
			t.fail(&failure{code: run.CodeInternal, text: "the test could not be played", broken: true})
		}
	}()
	t.run(ctx)
	return result
}
