package replay

import (
	"context"
	"fmt"
	"time"

	"github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/step"
)

const (
	// maxSeen bounds what an assertion reads of a page, in UTF-16 units.
	maxSeen = 64 << 10
	// maxSentBack bounds what of an observation is sent back, in bytes.
	maxSentBack = 256 << 10
)

// observeQuery is the argument of observe.js.
type observeQuery struct {
	Want     string         `json:"want"`
	Hosts    []pageSelector `json:"hosts"`
	Selector pageSelector   `json:"selector"`
	First    bool           `json:"first,omitempty"` // of several matches the first is meant
	Name     string         `json:"name"`
	Last     string         `json:"last"`
	Wait     int64          `json:"wait"` // ms
	Max      int            `json:"max"`
}

// observation is what observe.js returns. As is its text, by which the script knows
// what has been seen; Seen is nil when the selector found nothing.
type observation struct {
	Href    string          `json:"href"`
	Seen    *seen           `json:"seen"`
	As      string          `json:"as"`
	Count   int             `json:"count"` // of the matches
	Several *severalMatches `json:"several"`
	Invalid string          `json:"invalid"`
}

// seen has the member that the matcher looks at. Text is nil for an attribute or
// a value that the element does not have.
type seen struct {
	Is     bool    `json:"is"`
	Count  int     `json:"count"`
	Text   *string `json:"text"`
	Secret bool    `json:"secret"` // of a password field
	// Differs is in what a cookie is not as it must be.
	Differs string `json:"-"`
}

// assertion is a step that compares what the page shows.
type assertion struct {
	*stepExecution
	at   *elementLocation
	rule *rule
}

// assert waits until an assertion is true. It looks at the one match of the selector
// (the first one where the test allows several), and never at a fingerprint.
//
// An element that is not there is hidden, and is nothing else: visible, text,
// value, enabled, checked and attribute fail for it, and so do their opposites,
// except that it is indeed not visible.
func (x *stepExecution) assert(ctx context.Context, at *elementLocation, args step.Args) error {
	if args.Matcher != nil {
		switch args.Matcher.Name {
		case step.Accessible:
			return accessibility{x, at}.assert(ctx, args)
		case step.LooksLike:
			return look{x, at}.assert(ctx, args)
		}
	}
	rule, err := newRule(args, x.quote)
	if err != nil {
		return err
	}
	if rule.kept() {
		return x.assertKept(ctx, rule, args.Matcher)
	}
	return assertion{x, at, rule}.wait(ctx)
}

func (a assertion) wait(ctx context.Context) error {
	q := observeQuery{Want: a.rule.want(), Hosts: orEmpty(a.at.hosts), Selector: a.at.selector, First: a.FirstMatch, Name: a.rule.attribute, Max: maxSeen}
	var got *observation
	for first := true; ; first = false {
		if !first && time.Now().After(a.deadline) {
			return a.notTrue(got)
		}
		// What the page returned is sent back with each call.
		q.Last = ""
		if !first && got != nil && len(got.As) <= maxSentBack {
			q.Last = got.As
		}
		q.Wait = max(min(maxPageWait, time.Until(a.deadline)), 0).Milliseconds()
		next, err := a.observe(ctx, q)
		if err != nil {
			return err
		}
		if next == nil {
			continue
		}
		if next.Invalid != "" {
			return stepf("%s: %s", a.showSelector(a.at.selector), a.quote(next.Invalid, 300))
		}
		got = next
		if len(a.at.frames) == 0 {
			if err := a.arrived(ctx, got.Href); err != nil {
				return err
			}
		}
		if got.Several == nil && a.rule.isTrueFor(got.Seen) {
			if a.rule.matcher != step.Count {
				a.noteFirst(got.Count)
			}
			return nil
		}
		a.screenshotter.takeDeferred(ctx, a.stepExecution)
		// A page whose text changes with every frame must not keep the worker busy.
		if !first {
			if err := sleep(ctx, retryPause); err != nil {
				return err
			}
		}
	}
}

// observe makes one call. The result is nil when something came between; an
// element in a frame that is not there is not there either.
func (a assertion) observe(ctx context.Context, q observeQuery) (*observation, error) {
	missing, err := a.enterFrames(ctx, a.at.frames)
	if err != nil {
		return nil, err
	}
	if missing != nil {
		return &observation{As: "null", Several: missing.Several}, sleep(ctx, retryPause)
	}
	var got *observation
	if err := a.execute(ctx, observeScript.of(q.Hosts, q.Selector), &got, q); err != nil {
		return nil, a.interrupted(ctx, err)
	}
	a.unresponsive = false
	return got, nil
}

// notTrue returns the failure: what was expected, and what there was.
func (a assertion) notTrue(got *observation) *failure {
	subject := "the page"
	if a.at.selector.Value != "" {
		subject = a.showSelector(a.at.selector)
	}
	if got != nil && got.Several != nil {
		return a.severalFailure(got.Several).expecting(subject+" "+a.rule.expected(),
			fmt.Sprintf("%d elements match, and the step does not say which", got.Several.Count), &sought{at: *a.at})
	}
	actual := "the page did not answer"
	if got != nil {
		actual = a.rule.describe(got.Seen)
	}
	if a.unresponsive {
		actual = "the page does not respond"
	}
	if isErrorPage(a.href) {
		actual += "; the page could not be loaded"
	}
	f := failf(run.CodeAssertionFailed, "%s: expected %s; %s", subject, a.rule.expected(), actual)
	f.expected, f.actual = subject+" "+a.rule.expected(), actual
	missing := got != nil && (got.Seen == nil || a.rule.matcher == step.Visible)
	if missing && a.at.selector.Value != "" && a.rule.matcher != step.Hidden {
		f.sought = &sought{at: *a.at}
	}
	f.unseen = got == nil || a.unresponsive || isErrorPage(a.href)
	return f
}
