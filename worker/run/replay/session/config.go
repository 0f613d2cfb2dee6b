package session

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/group"
	"github.com/slipway-qa/slipway/storage/step/playback"
	"github.com/slipway-qa/slipway/worker/browser"
	"github.com/slipway-qa/slipway/worker/run/login"
	"github.com/slipway-qa/slipway/worker/run/looks"
	"github.com/slipway-qa/slipway/worker/run/trace"
)

// Login is what a test has to do with the login of its suite.
type Login struct {
	// Leaves: the test is the login, and what it leaves is in the result.
	Leaves bool
	// State is given to the browser before its first page; nil: nothing is.
	State *login.State
	// When holds on the first page of a test that is not signed in; nil: nobody looks.
	When *step.Condition
}

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
	Progress func(records []playback.Record)
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

// The defaults of Config.
const (
	defaultStepTimeout   = 10 * time.Second
	defaultPageTimeout   = 30 * time.Second
	defaultAssertTimeout = 5 * time.Second
	defaultGrace         = 5 * time.Second // drivers wait much longer
)

// WithDefaults returns the configuration with a value for each time that it lacks.
func (c Config) WithDefaults() Config {
	c.StepTimeout = cmp.Or(max(c.StepTimeout, 0), defaultStepTimeout)
	c.PageTimeout = cmp.Or(max(c.PageTimeout, 0), defaultPageTimeout)
	c.AssertTimeout = cmp.Or(max(c.AssertTimeout, 0), defaultAssertTimeout)
	c.Grace = cmp.Or(max(c.Grace, 0), defaultGrace)
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c
}
