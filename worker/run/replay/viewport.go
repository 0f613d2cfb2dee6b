package replay

import (
	"context"
	"time"

	"github.com/slipway-qa/slipway/worker/browser/webdriver"
)

// viewportStep is a step that sets the size of the viewport.
type viewportStep struct{ *stepExecution }

// viewport is the size of what a window shows, in CSS pixels, as the page knows it.
type viewport struct {
	Width  int `json:"width"`
	Height int `json:"height"`
}

// viewportPoll is how often a window is looked at that is being resized.
const viewportPoll = 30 * time.Millisecond

const viewportScript = `return {width: innerWidth, height: innerHeight};`

// set sets the size of what the window shows, and waits until the page has it.
// Over BiDi that is one command, and any size; elsewhere the window is resized, which
// has a least and a largest size.
func (x viewportStep) set(ctx context.Context, width, height *int) error {
	if width == nil || height == nil {
		return stepf("the step names no size")
	}
	want := viewport{*width, *height}
	x.screenshotter.wait(ctx)
	set := x.resizeWindow
	if x.driver.Capabilities["webSocketUrl"] != nil {
		set = x.override
	}
	return x.until(ctx, viewportPoll, func() (bool, *failure, error) {
		if err := set(ctx, want); err != nil {
			return false, nil, err
		}
		var got viewport
		if err := x.execute(ctx, viewportScript, &got); err != nil {
			return false, stepf("the page does not show its size"), x.interrupted(ctx, err)
		}
		return got == want, stepf("the window shows %d by %d pixels", got.Width, got.Height), nil
	})
}

// override sets the size by BiDi.
func (x viewportStep) override(ctx context.Context, want viewport) error {
	conn, err := x.driver.BiDi(ctx)
	if err != nil {
		return err
	}
	window, err := x.driver.Window(ctx)
	if err != nil {
		return err
	}
	return x.withPageTimeout(ctx, func(ctx context.Context) error { return conn.SetViewport(ctx, window, want.Width, want.Height) })
}

// resizeWindow changes the size of the window by what its content lacks.
func (x viewportStep) resizeWindow(ctx context.Context, want viewport) error {
	var now viewport
	if err := x.execute(ctx, viewportScript, &now); err != nil {
		return x.interrupted(ctx, err)
	}
	rect, err := x.driver.WindowRect(ctx)
	if err != nil {
		return err
	}
	err = x.driver.SetWindowSize(ctx, rect.Width+want.Width-now.Width, rect.Height+want.Height-now.Height)
	if webdriver.Is(err, webdriver.ErrUnsupported, webdriver.ErrUnknown) {
		return stepf("this browser's window has no other size")
	}
	return err
}
