package browsing

import (
	"context"
	"time"

	"github.com/slipway-qa/slipway/worker/browser/webdriver"
	"github.com/slipway-qa/slipway/worker/run/replay/failure"
	"github.com/slipway-qa/slipway/worker/run/replay/session"
)

// Viewport is a step that sets the size of the viewport.
type Viewport struct{ *session.Execution }

// size is the size of what a window shows, in CSS pixels, as the page knows it.
type size struct {
	Width  int `json:"width"`
	Height int `json:"height"`
}

// viewportPoll is how often a window is looked at that is being resized.
const viewportPoll = 30 * time.Millisecond

const viewportScript = `return {width: innerWidth, height: innerHeight};`

// Set sets the size of what the window shows, and waits until the page has it.
// Over BiDi that is one command, and any size; elsewhere the window is resized, which
// has a least and a largest size.
func (x Viewport) Set(ctx context.Context, width, height *int) error {
	if width == nil || height == nil {
		return failure.Stepf("the step names no size")
	}
	want := size{*width, *height}
	x.Screenshotter.Wait(ctx)
	set := x.resizeWindow
	if x.Driver.Capabilities["webSocketUrl"] != nil {
		set = x.override
	}
	return x.Until(ctx, viewportPoll, func() (bool, *failure.Failure, error) {
		if err := set(ctx, want); err != nil {
			return false, nil, err
		}
		var got size
		if err := x.Execute(ctx, viewportScript, &got); err != nil {
			return false, failure.Stepf("the page does not show its size"), x.Interrupted(ctx, err)
		}
		return got == want, failure.Stepf("the window shows %d by %d pixels", got.Width, got.Height), nil
	})
}

// override sets the size by BiDi.
func (x Viewport) override(ctx context.Context, want size) error {
	conn, err := x.Driver.BiDi(ctx)
	if err != nil {
		return err
	}
	window, err := x.Driver.Window(ctx)
	if err != nil {
		return err
	}
	return x.WithPageTimeout(ctx, func(ctx context.Context) error { return conn.SetViewport(ctx, window, want.Width, want.Height) })
}

// resizeWindow changes the size of the window by what its content lacks.
func (x Viewport) resizeWindow(ctx context.Context, want size) error {
	var now size
	if err := x.Execute(ctx, viewportScript, &now); err != nil {
		return x.Interrupted(ctx, err)
	}
	rect, err := x.Driver.WindowRect(ctx)
	if err != nil {
		return err
	}
	err = x.Driver.SetWindowSize(ctx, rect.Width+want.Width-now.Width, rect.Height+want.Height-now.Height)
	if webdriver.Is(err, webdriver.ErrUnsupported, webdriver.ErrUnknown) {
		return failure.Stepf("this browser's window has no other size")
	}
	return err
}
