package replay

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/slipway-qa/slipway/storage/run"

	"github.com/slipway-qa/slipway/worker/browser/webdriver"
)

const (
	// slice is how long one call waits in the page. A navigation or a dialog
	// costs no more than the rest of it.
	slice = 3 * time.Second
	// again is the pause after a call that a navigation ended.
	again = 20 * time.Millisecond
)

// grace is how long an action's selector may find nothing before its fingerprint
// is asked: pages that render late are more frequent than pages that were changed.
// Tests make it shorter.
var grace = 1500 * time.Millisecond

// act waits until an action can be done to the element of a place, and does it or
// gives the element. The place becomes the healed one when healing was needed.
func (p *player) act(ctx context.Context, at *place, q query) (answer, error) {
	if q.inPage() {
		p.camera.wait(ctx) // the page changes from here on
	}
	start := time.Now()
	healable := at.print != nil
	last := answer{State: "none"}
	for {
		q.Hosts, q.Selector, q.Shadow = orEmpty(at.hosts), at.selector, at.shadow
		q.Print = p.wantsPrint(at)
		wait := min(slice, time.Until(p.deadline))
		if healable {
			wait = min(wait, max(grace-time.Since(start), 100*time.Millisecond))
		}
		q.Wait = max(wait, 0).Milliseconds()
		got, err := p.look(ctx, at, q)
		switch {
		case err != nil:
			return last, err
		case got == nil && q.inPage():
			if p.opened(ctx) {
				return answer{}, nil
			}
			q.Again = true
		case got == nil:
		case got.State == "ok":
			if err := p.passed(ctx, at, got); err != nil {
				return last, err
			}
			return *got, nil
		case got.State == "invalid":
			return last, stepf("%s: %s", p.name(at.selector), p.quote(got.Why, 300))
		default:
			last = *got
		}
		left := time.Until(p.deadline)
		ripe := time.Since(start) >= grace && (!last.Busy || time.Since(start) > p.patience/2)
		if healable && got != nil && (last.State == "none" || last.State == "hidden") && (ripe || left <= 0) {
			healed, err := p.heal(ctx, at, q.Want)
			if err != nil {
				return last, err
			}
			if healed {
				// The healed element gets a moment of its own to be ready.
				healable = false
				p.deadline = later(p.deadline, time.Now().Add(time.Second))
				continue
			}
			start = time.Now() // and once more after another while
		}
		if left <= 0 {
			return last, p.notReady(at, last)
		}
	}
}

func orEmpty(list []point) []point {
	if list == nil {
		return []point{}
	}
	return list
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// look makes one call of act.js in the place's frame. The answer is nil when a
// navigation, a dialog or a frame that is not there yet came between.
func (p *player) look(ctx context.Context, at *place, q query) (*answer, error) {
	code := actScript
	if q.Print {
		code = actPrintScript
	}
	missing, err := p.enter(ctx, at.frames)
	if err != nil {
		return nil, err
	}
	if missing != nil {
		return missing, rest(ctx, again)
	}
	var got *answer
	if err := p.execute(ctx, code, &got, q); err != nil {
		return nil, p.interrupted(ctx, err)
	}
	p.stuck = false
	return got, nil
}

// interrupted decides what an error of a call in the page means: nil is another
// try.
func (p *player) interrupted(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil || lost(err):
		return err
	case webdriver.Is(err, webdriver.ErrUnexpectedAlert):
		return p.dismiss(ctx)
	case webdriver.Is(err, webdriver.ErrNoSuchWindow) && !p.framed:
		return err
	case webdriver.Is(err, webdriver.ErrScriptTimeout, webdriver.ErrTimeout):
		p.stuck = true
	}
	if !retriable(err) {
		return err
	}
	if err := rest(ctx, again); err != nil {
		return err
	}
	return p.leave(ctx)
}

func retriable(err error) bool {
	var e *webdriver.Error
	return errors.As(err, &e)
}

// enter makes the innermost of some frames current. It gives an answer that says
// what is missing while one of them is not there.
func (p *player) enter(ctx context.Context, frames []hop) (*answer, error) {
	if err := p.leave(ctx); err != nil || len(frames) == 0 {
		return nil, err
	}
	for _, frame := range frames {
		q := query{Want: wantFrame, Hosts: orEmpty(frame.hosts), Selector: frame.selector}
		var got *answer
		err := p.execute(ctx, actScript, &got, q)
		if err == nil && got != nil && got.State == "ok" {
			err = p.led(ctx, func(ctx context.Context) error { return p.s.SwitchFrame(ctx, got.Element) })
			p.framed = true
		}
		switch {
		case err != nil:
			if err := p.interrupted(ctx, err); err != nil {
				return nil, err
			}
			return &answer{State: "none", Why: "none"}, nil
		case got == nil || got.State != "ok":
			if got != nil && got.State == "invalid" {
				return nil, stepf("%s: %s", p.name(frame.selector), p.quote(got.Why, 300))
			}
			return &answer{State: "none", Why: "the frame " + p.name(frame.selector) + " is not there"}, nil
		}
	}
	return nil, nil
}

// leave makes the top-level page current.
func (p *player) leave(ctx context.Context) error {
	if !p.framed {
		return nil
	}
	p.framed = false
	return p.do(ctx, func() error { return p.s.TopFrame(ctx) })
}

// notReady is the failure of an action whose time is over.
func (p *player) notReady(at *place, last answer) *failure {
	what := p.name(at.selector)
	healing := ""
	if at.print != nil && (last.State == "none" || last.State == "hidden") {
		healing = "; nothing on the page is similar enough to what the step was recorded with"
	}
	switch {
	case p.stuck:
		return stepf("%s: the page does not respond", what)
	case strings.HasPrefix(p.href, "chrome-error:"):
		return failf(run.CodeUnreachable, "%s was not found: the page could not be loaded", what)
	case last.State == "none" && last.Why != "" && last.Why != "none":
		return stepf("%s was not found: %s", what, p.quote(last.Why, 300))
	case last.State == "none":
		return stepf("%s was not found%s", what, healing)
	case last.State == "hidden":
		return stepf("%s is not visible%s", what, healing)
	}
	return stepf("%s was found, but %s", what, p.quote(last.Why, 300))
}

// name shows a selector in a message.
func (p *player) name(s point) string { return s.Type + " " + p.quote(s.Value, 120) }
