package replay

import (
	"context"
	"strings"
	"time"

	"github.com/slipway-qa/slipway/storage/run"

	"github.com/slipway-qa/slipway/storage/step"
)

// maxSeen bounds what an assertion reads of a page, in UTF-16 units.
const maxSeen = 64 << 10

// maxAs bounds what of an answer is sent back, in bytes.
const maxAs = 256 << 10

// observation is what observe.js says. As is its text, by which the script knows
// what has been seen; Seen is nil when the selector found nothing.
type observation struct {
	Href    string `json:"href"`
	Seen    *seen  `json:"seen"`
	As      string `json:"as"`
	Invalid string `json:"invalid"`
}

// seen has the member that the matcher looks at. Text is nil for an attribute or
// a value that the element does not have.
type seen struct {
	Is     bool    `json:"is"`
	Count  int     `json:"count"`
	Text   *string `json:"text"`
	Secret bool    `json:"secret"` // of a password field
}

type observe struct {
	Want     string  `json:"want"`
	Hosts    []point `json:"hosts"`
	Selector point   `json:"selector"`
	Name     string  `json:"name"`
	Last     string  `json:"last"`
	Wait     int64   `json:"wait"`
	Max      int     `json:"max"`
}

// assert waits until an assertion holds. It looks at the first match of the
// selector, or the one of its index, and never at a fingerprint.
//
// An element that is not there is hidden, and is nothing else: visible, text,
// value, enabled, checked and attribute fail for it, and so do their opposites,
// except that it is indeed not visible.
func (p *player) assert(ctx context.Context, at *place, a step.Args) error {
	rule, err := newRule(a, p.quote)
	if err != nil {
		return err
	}
	q := observe{Want: rule.looksAt(), Hosts: orEmpty(at.hosts), Selector: at.selector, Name: rule.attribute, Max: maxSeen}
	var got *observation
	for first := true; ; first = false {
		if !first && time.Now().After(p.deadline) {
			return p.notTrue(rule, at, got)
		}
		wait := min(slice, time.Until(p.deadline))
		// What the page says it showed is sent back with each look.
		if first || got == nil || len(got.As) > maxAs {
			q.Last = ""
		} else {
			q.Last = got.As
		}
		q.Wait = max(wait, 0).Milliseconds()
		next, err := p.observe(ctx, at, q)
		if err != nil {
			return err
		}
		if next == nil {
			continue
		}
		if next.Invalid != "" {
			return stepf("%s: %s", p.name(at.selector), p.quote(next.Invalid, 300))
		}
		got = next
		if len(at.frames) == 0 {
			if err := p.arrived(ctx, got.Href); err != nil {
				return err
			}
		}
		if rule.holds(got.Seen) {
			return nil
		}
		// A page whose text changes with every frame must not keep the worker busy.
		if !first {
			if err := rest(ctx, again); err != nil {
				return err
			}
		}
	}
}

// observe makes one call. The answer is nil when something came between; an
// element in a frame that is not there is not there either.
func (p *player) observe(ctx context.Context, at *place, q observe) (*observation, error) {
	missing, err := p.enter(ctx, at.frames)
	if err != nil {
		return nil, err
	}
	if missing != nil {
		return &observation{As: "null"}, rest(ctx, again)
	}
	var got *observation
	if err := p.execute(ctx, observeScript, &got, q); err != nil {
		return nil, p.interrupted(ctx, err)
	}
	p.stuck = false
	return got, nil
}

// notTrue is the failure of an assertion: what was expected, and what there was.
func (p *player) notTrue(r *rule, at *place, got *observation) *failure {
	subject := "the page"
	if at.selector.Value != "" {
		subject = p.name(at.selector)
	}
	actual := "the page did not answer"
	if got != nil {
		actual = r.describe(got.Seen)
	}
	if p.stuck {
		actual = "the page does not respond"
	}
	if strings.HasPrefix(p.href, "chrome-error:") {
		actual += "; the page could not be loaded"
	}
	return failf(run.CodeAssertionFailed, "%s: expected %s; %s", subject, r.expected(), actual)
}
