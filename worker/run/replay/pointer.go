package replay

import (
	"context"
	"time"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/browser/webdriver"
)

// click clicks with the mouse. The page script has just seen that the element
// receives the events, so on the managed chromedriver the pointer is moved and
// pressed by one call, in half the time of the click endpoint, which looks once
// more. Other remote ends (touch devices) get the endpoint, and so do frames: those
// of another origin learn late that the page around them was scrolled.
func (a elementAction) click(ctx context.Context) error {
	return a.point(ctx, wantClick, func(ctx context.Context, e webdriver.Element) error {
		if !a.Lease.Local || a.framed {
			return a.driver.Click(ctx, e)
		}
		return a.driver.Input.Perform(ctx, webdriver.NewMouse().MoveTo(e, 0, 0, 0).
			Down(webdriver.LeftButton).Up(webdriver.LeftButton))
	})
}

// hover moves the mouse over an element.
func (a elementAction) hover(ctx context.Context) error {
	return a.point(ctx, wantHover, func(ctx context.Context, e webdriver.Element) error {
		return a.driver.Input.Perform(ctx, webdriver.NewMouse().MoveTo(e, 0, 0, 0))
	})
}

// point waits for an element and points at it; when that misses because the page
// changed between the two calls, both are repeated. A click that has led to another
// page has not missed, whatever the driver reports.
func (a elementAction) point(ctx context.Context, want string, input func(context.Context, webdriver.Element) error) error {
	for {
		got, err := a.act(ctx, actQuery{Want: want})
		if err != nil {
			return err
		}
		a.screenshotter.wait(ctx)
		err = a.withPageTimeout(ctx, func(ctx context.Context) error { return input(ctx, got.Element) })
		if want == wantClick {
			err = a.inputOutcome(ctx, got, err)
		}
		if missed(err) && time.Now().Before(a.deadline) {
			if err := sleep(ctx, retryPause); err != nil {
				return err
			}
			continue
		}
		return a.afterInput(ctx, err)
	}
}

// missed reports whether the input never reached the element.
func missed(err error) bool {
	return webdriver.Is(err, webdriver.ErrClickIntercepted, webdriver.ErrStaleElement, webdriver.ErrNoSuchElement,
		webdriver.ErrNotInteractable, webdriver.ErrMoveOutOfBounds, webdriver.ErrNavigated)
}

// drag drags the element to another one, which lies in the same frame and shadow
// root.
func (a elementAction) drag(ctx context.Context, target *step.Selector) error {
	if target == nil {
		return stepf("the step names no target")
	}
	to := elementAction{a.stepExecution, &elementLocation{frames: a.at.frames, hosts: a.at.hosts, selector: pageSelectorOf(target)}}
	if target.Fingerprint != nil { // what the step learns is what is dragged
		to.at.fingerprint, to.at.shadow, to.at.stored = target.Fingerprint, target.Fingerprint.ShadowPath, target
	}
	for {
		onto, err := to.act(ctx, actQuery{Want: wantHover})
		if err != nil {
			return err
		}
		got, err := a.act(ctx, actQuery{Want: wantHover})
		if err != nil {
			return err
		}
		a.screenshotter.wait(ctx)
		err = a.withPageTimeout(ctx, func(ctx context.Context) error {
			return a.driver.Input.DragTo(ctx, got.Element, onto.Element)
		})
		err = a.inputOutcome(ctx, got, err)
		if missed(err) && time.Now().Before(a.deadline) {
			continue
		}
		return a.afterInput(ctx, err)
	}
}

// pressKey presses a key, in the element when the step names one.
func (a elementAction) pressKey(ctx context.Context, args step.Args) error {
	if args.Selector != nil {
		if _, err := a.act(ctx, actQuery{Want: wantFocus}); err != nil {
			return err
		}
	}
	return a.press(ctx, args.Key)
}

// press presses a chord where the focus is.
func (x *stepExecution) press(ctx context.Context, chord string) error {
	if _, err := webdriver.Keys(chord); err != nil {
		return stepf("the key %q is unknown", x.quote(chord, 40))
	}
	// A dialog that is open now is another step's; one that the key opens is not.
	if err := x.checkLocation(ctx); err != nil {
		return err
	}
	x.screenshotter.wait(ctx)
	return x.afterInput(ctx, x.withPageTimeout(ctx, func(ctx context.Context) error {
		return x.driver.Input.PressKeys(ctx, chord)
	}))
}
