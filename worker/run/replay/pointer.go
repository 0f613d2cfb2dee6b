package replay

import (
	"context"
	"time"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/browser/webdriver"
)

// click clicks with the mouse. The page script has just seen that the element
// receives the events, so on the own chromedriver the pointer is moved and
// pressed by one call, in half the time of the click endpoint, which looks again.
// Other remote ends (touch devices) get the endpoint, and so do frames: those of
// another origin hear of a scrolling around them late.
func (p *player) click(ctx context.Context, at *place) error {
	return p.pointed(ctx, at, wantClick, func(ctx context.Context, e webdriver.Element) error {
		if !p.Lease.Local || p.framed {
			return p.s.Click(ctx, e)
		}
		return p.s.Input.Perform(ctx, webdriver.NewMouse().MoveTo(e, 0, 0, 0).
			Down(webdriver.LeftButton).Up(webdriver.LeftButton))
	})
}

// hover moves the mouse over an element.
func (p *player) hover(ctx context.Context, at *place) error {
	return p.pointed(ctx, at, wantHover, func(ctx context.Context, e webdriver.Element) error {
		return p.s.Input.Perform(ctx, webdriver.NewMouse().MoveTo(e, 0, 0, 0))
	})
}

// pointed waits for an element and points at it; when that misses because the
// page changed between the two calls, it does so again. A click that has led to
// another page has not missed, whatever the driver says.
func (p *player) pointed(ctx context.Context, at *place, want string, do func(context.Context, webdriver.Element) error) error {
	for {
		got, err := p.act(ctx, at, query{Want: want})
		if err != nil {
			return err
		}
		p.camera.wait(ctx)
		err = p.led(ctx, func(ctx context.Context) error { return do(ctx, got.Element) })
		if want == wantClick {
			err = p.outcome(ctx, at, got, err)
		}
		if missed(err) && time.Now().Before(p.deadline) {
			if err := rest(ctx, again); err != nil {
				return err
			}
			continue
		}
		return p.done(ctx, err)
	}
}

// missed reports whether the input never reached the element.
func missed(err error) bool {
	return webdriver.Is(err, webdriver.ErrClickIntercepted, webdriver.ErrStaleElement, webdriver.ErrNoSuchElement,
		webdriver.ErrNotInteractable, webdriver.ErrMoveOutOfBounds, webdriver.ErrNavigated)
}

// done judges the end of an input: a dialog, another page or the end of its window
// are what it led to.
func (p *player) done(ctx context.Context, err error) error {
	switch {
	case webdriver.Is(err, webdriver.ErrUnexpectedAlert):
		if p.next == step.HandleDialog {
			return nil
		}
		return p.dismiss(ctx)
	case webdriver.Is(err, webdriver.ErrNavigated):
		return nil
	case webdriver.Is(err, webdriver.ErrNoSuchWindow):
		p.framed = false
		return nil
	case webdriver.Is(err, webdriver.ErrTimeout):
		return stepf("the page that this opened did not load within %s", p.PageTimeout)
	}
	return err
}

// drag takes an element to another one, which lies in the same frame and shadow
// root.
func (p *player) drag(ctx context.Context, from *place, target *step.Selector) error {
	if target == nil {
		return stepf("the step names no target")
	}
	to := &place{frames: from.frames, hosts: from.hosts, selector: pointOf(target)}
	if target.Fingerprint != nil { // what the step learns is what is dragged
		to.print, to.shadow, to.stored = target.Fingerprint, target.Fingerprint.ShadowPath, target
	}
	for {
		onto, err := p.act(ctx, to, query{Want: wantHover})
		if err != nil {
			return err
		}
		got, err := p.act(ctx, from, query{Want: wantHover})
		if err != nil {
			return err
		}
		p.camera.wait(ctx)
		err = p.led(ctx, func(ctx context.Context) error { return p.s.Input.DragTo(ctx, got.Element, onto.Element) })
		err = p.outcome(ctx, from, got, err)
		if missed(err) && time.Now().Before(p.deadline) {
			continue
		}
		return p.done(ctx, err)
	}
}

// pressKey presses a key, in an element when the step names one.
func (p *player) pressKey(ctx context.Context, at *place, a step.Args) error {
	if a.Selector != nil {
		if _, err := p.act(ctx, at, query{Want: wantFocus}); err != nil {
			return err
		}
	}
	return p.press(ctx, a.Key)
}

// press presses a chord where the focus is.
func (p *player) press(ctx context.Context, chord string) error {
	if _, err := webdriver.Keys(chord); err != nil {
		return stepf("the key %q is unknown", p.quote(chord, 40))
	}
	// A dialog that is open now is another step's; one that the key opens is not.
	if err := p.locate(ctx); err != nil {
		return err
	}
	p.camera.wait(ctx)
	return p.done(ctx, p.led(ctx, func(ctx context.Context) error { return p.s.Input.PressKeys(ctx, chord) }))
}
