package assertion

import (
	"context"
	"fmt"
	"time"

	"github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/run/replay/failure"
	"github.com/slipway-qa/slipway/worker/run/replay/page"
	"github.com/slipway-qa/slipway/worker/run/replay/session"
)

const (
	// MaxSeen bounds what an assertion reads of a page, in UTF-16 units.
	MaxSeen = 64 << 10
	// maxSentBack bounds what of an observation is sent back, in bytes.
	maxSentBack = 256 << 10
)

// observeQuery is the argument of observe.js.
type observeQuery struct {
	Want     string          `json:"want"`
	Hosts    []page.Selector `json:"hosts"`
	Selector page.Selector   `json:"selector"`
	First    bool            `json:"first,omitempty"` // of several matches the first is meant
	Name     string          `json:"name"`
	Last     string          `json:"last"`
	Wait     int64           `json:"wait"` // ms
	Max      int             `json:"max"`
}

// observation is what observe.js returns. As is its text, by which the script knows
// what has been seen; Seen is nil when the selector found nothing.
type observation struct {
	Href    string        `json:"href"`
	Seen    *Seen         `json:"seen"`
	As      string        `json:"as"`
	Count   int           `json:"count"` // of the matches
	Several *page.Several `json:"several"`
	Invalid string        `json:"invalid"`
}

// Seen has the member that the matcher looks at. Text is nil for an attribute or
// a value that the element does not have.
type Seen struct {
	Is     bool    `json:"is"`
	Count  int     `json:"count"`
	Text   *string `json:"text"`
	Secret bool    `json:"secret"` // of a password field
	// Differs is in what a cookie is not as it must be.
	Differs string `json:"-"`
}

// assertion is a step that compares what the page shows.
type assertion struct {
	*session.Execution
	at   *page.Location
	rule *Rule
}

// Check is a step that compares or keeps what the page shows.
type Check struct{ *session.Execution }

// Assert waits until an assertion is true. It looks at the one match of the selector
// (the first one where the test allows several), and never at a fingerprint.
//
// An element that is not there is hidden, and is nothing else: visible, text,
// value, enabled, checked, focused and attribute fail for it, and so do their opposites,
// except that it is indeed not visible.
func (x Check) Assert(ctx context.Context, at *page.Location, args step.Args) error {
	if args.Matcher != nil {
		switch args.Matcher.Name {
		case step.Accessible:
			return accessibility{x.Execution, at}.assert(ctx, args)
		case step.LooksLike:
			return look{x.Execution, at}.assert(ctx, args)
		}
	}
	rule, err := NewRule(args, x.Quote)
	if err != nil {
		return err
	}
	if rule.kept() {
		return x.assertKept(ctx, rule, args.Matcher)
	}
	return assertion{x.Execution, at, rule}.wait(ctx)
}

func (a assertion) wait(ctx context.Context) error {
	q := observeQuery{Want: a.rule.want(), Hosts: page.OrEmpty(a.at.Hosts), Selector: a.at.Selector, First: a.FirstMatch,
		Name: a.rule.Attribute, Max: MaxSeen}
	var got *observation
	for first := true; ; first = false {
		if !first && time.Now().After(a.Deadline) {
			return a.notTrue(got)
		}
		// What the page returned is sent back with each call.
		q.Last = ""
		if !first && got != nil && len(got.As) <= maxSentBack {
			q.Last = got.As
		}
		q.Wait = max(min(session.MaxPageWait, time.Until(a.Deadline)), 0).Milliseconds()
		next, err := a.observe(ctx, q)
		if err != nil {
			return err
		}
		if next == nil {
			continue
		}
		if next.Invalid != "" {
			return failure.Stepf("%s: %s", a.ShowSelector(a.at.Selector), a.Quote(next.Invalid, 300))
		}
		got = next
		if len(a.at.Frames) == 0 {
			if err := a.Arrived(ctx, got.Href); err != nil {
				return err
			}
		}
		if got.Several == nil && a.rule.IsTrueFor(got.Seen) {
			if a.rule.Matcher != step.Count {
				a.NoteFirst(got.Count)
			}
			return nil
		}
		a.Screenshotter.TakeDeferred(ctx, a.Execution)
		// A page whose text changes with every frame must not keep the worker busy.
		if !first {
			if err := session.Sleep(ctx, session.RetryPause); err != nil {
				return err
			}
		}
	}
}

// observe makes one call. The result is nil when something came between; an
// element in a frame that is not there is not there either.
func (a assertion) observe(ctx context.Context, q observeQuery) (*observation, error) {
	missing, err := a.EnterFrames(ctx, a.at.Frames)
	if err != nil {
		return nil, err
	}
	if missing != nil {
		return &observation{As: "null", Several: missing.Several}, session.Sleep(ctx, session.RetryPause)
	}
	var got *observation
	if err := a.Execute(ctx, page.ObserveScript.Of(q.Hosts, q.Selector), &got, q); err != nil {
		return nil, a.Interrupted(ctx, err)
	}
	a.Unresponsive = false
	return got, nil
}

// notTrue returns the failure: what was expected, and what there was.
func (a assertion) notTrue(got *observation) *failure.Failure {
	subject := "the page"
	if a.at.Selector.Value != "" {
		subject = a.ShowSelector(a.at.Selector)
	}
	if got != nil && got.Several != nil {
		return a.SeveralFailure(got.Several).Expecting(subject+" "+a.rule.Expected(),
			fmt.Sprintf("%d elements match, and the step does not say which", got.Several.Count), &failure.Sought{At: *a.at})
	}
	actual := "the page did not answer"
	if got != nil {
		actual = a.rule.Describe(got.Seen)
	}
	if a.Unresponsive {
		actual = "the page does not respond"
	}
	if session.IsErrorPage(a.Href) {
		actual += "; the page could not be loaded"
	}
	f := failure.Newf(run.CodeAssertionFailed, "%s: expected %s; %s", subject, a.rule.Expected(), actual)
	f.Expected, f.Actual = subject+" "+a.rule.Expected(), actual
	missing := got != nil && (got.Seen == nil || a.rule.Matcher == step.Visible)
	if missing && a.at.Selector.Value != "" && a.rule.Matcher != step.Hidden {
		f.Sought = &failure.Sought{At: *a.at}
	}
	f.Unseen = got == nil || a.Unresponsive || session.IsErrorPage(a.Href)
	return f
}
