package replay

import (
	"context"

	"github.com/slipway-qa/slipway/worker/browser/webdriver"
)

// gesture is something that the mouse does to an element.
type gesture struct {
	want string
	// event is what the element must receive of it; "": it is not watched.
	event   string
	perform func(context.Context, webdriver.Element) error
}

// click clicks with the mouse. The page script has just seen that the element
// receives the events, so on the managed chromedriver the pointer is moved and
// pressed by one call, in half the time of the click endpoint, which looks once
// more. Other remote ends (touch devices) get the endpoint, and so do frames: those
// of another origin learn late that the page around them was scrolled.
func (a elementAction) click(ctx context.Context) error {
	return a.point(ctx, gesture{wantClick, "click", func(ctx context.Context, e webdriver.Element) error {
		if !a.Lease.Local || a.framed {
			return a.driver.Click(ctx, e)
		}
		return a.driver.Input.Perform(ctx, webdriver.NewMouse().MoveTo(e, 0, 0, 0).
			Down(webdriver.LeftButton).Up(webdriver.LeftButton))
	}})
}

// doubleClick clicks twice.
func (a elementAction) doubleClick(ctx context.Context) error {
	return a.point(ctx, gesture{wantClick, "dblclick", func(ctx context.Context, e webdriver.Element) error {
		if a.Lease.Local && !a.framed {
			return a.driver.Input.DoubleClick(ctx, e)
		}
		return a.driver.Input.Perform(ctx, webdriver.NewMouse().MoveTo(e, 0, 0, 0).
			Down(webdriver.LeftButton).Up(webdriver.LeftButton).Down(webdriver.LeftButton).Up(webdriver.LeftButton))
	}})
}

// rightClick opens what the page has for the right button of the mouse.
func (a elementAction) rightClick(ctx context.Context) error {
	return a.point(ctx, gesture{wantClick, "contextmenu", func(ctx context.Context, e webdriver.Element) error {
		return a.driver.Input.Perform(ctx, webdriver.NewMouse().MoveTo(e, 0, 0, 0).
			Down(webdriver.RightButton).Up(webdriver.RightButton))
	}})
}

// hover moves the mouse over an element.
func (a elementAction) hover(ctx context.Context) error {
	return a.point(ctx, gesture{want: wantHover, perform: func(ctx context.Context, e webdriver.Element) error {
		return a.driver.Input.Perform(ctx, webdriver.NewMouse().MoveTo(e, 0, 0, 0))
	}})
}

// point waits for an element and points at it; when that misses because the page
// changed between the two calls, both are repeated. A click that has led to another
// page has not missed, whatever the driver reports; one that the driver reports as
// done may have missed, which the page has seen.
func (a elementAction) point(ctx context.Context, g gesture) error {
	query := actQuery{Want: g.want, Gesture: g.event}
	if g.event != "" {
		query.Watch = watchName()
	}
	for {
		got, err := a.act(ctx, query)
		if err != nil {
			return err
		}
		a.screenshotter.wait(ctx)
		err = a.withPageTimeout(ctx, func(ctx context.Context) error { return g.perform(ctx, got.Element) })
		if g.want == wantClick {
			err = a.inputOutcome(ctx, got, err)
		}
		again, err := a.afterGesture(ctx, got, query.Watch, err, a.showSelector(a.at.selector)+" was found")
		if !again {
			return err
		}
	}
}

// missed reports whether the input never reached the element.
func missed(err error) bool {
	return webdriver.Is(err, webdriver.ErrClickIntercepted, webdriver.ErrStaleElement, webdriver.ErrNoSuchElement,
		webdriver.ErrNotInteractable, webdriver.ErrMoveOutOfBounds, webdriver.ErrNavigated)
}
