package browsing

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/run/replay/failure"
	"github.com/slipway-qa/slipway/worker/run/replay/session"
)

// windowPoll is how often switch_window looks for its window.
const windowPoll = 30 * time.Millisecond

// Window is a step that goes to another window.
type Window struct{ *session.Execution }

// Switch waits for a window and makes it current.
func (x Window) Switch(ctx context.Context, m *step.Matcher) error {
	if m == nil {
		return failure.Stepf("the step names no window")
	}
	if err := x.LeaveFrames(ctx); err != nil {
		x.Framed = false // the frame's window may be closed
	}
	x.Screenshotter.Wait(ctx)
	search := windowSearch{x.Execution, m, slices.Clone(x.Windows)}
	err := x.Until(ctx, windowPoll, func() (bool, *failure.Failure, error) {
		if err := x.ListWindows(ctx); err != nil {
			return false, nil, err
		}
		return search.enter(ctx)
	})
	if err != nil {
		return err
	}
	if err := State(x).pretendHere(ctx); err != nil {
		return err
	}
	return x.CheckLocation(ctx)
}

// windowSearch is the search for the window of a switch_window step.
type windowSearch struct {
	*session.Execution
	matcher *step.Matcher
	known   []string // the windows that were open before the step
}

// enter makes the window current if it is open. The failure describes what is
// missing.
func (w windowSearch) enter(ctx context.Context) (found bool, missing *failure.Failure, err error) {
	switch w.matcher.Name {
	case step.WindowNew:
		if len(w.Windows) > 0 {
			if last := w.Windows[len(w.Windows)-1]; !slices.Contains(w.known, last) {
				return true, nil, w.EnterWindow(ctx, last)
			}
		}
		return false, failure.Stepf("no new window opened"), nil
	case step.WindowIndex:
		n, err := strconv.Atoi(w.matcher.Args.Value)
		if err != nil || n < 0 {
			return false, nil, failure.Stepf("%q is not the index of a window", w.Quote(w.matcher.Args.Value, 40))
		}
		if n < len(w.Windows) {
			return true, nil, w.EnterWindow(ctx, w.Windows[n])
		}
		return false, failure.Stepf("there is no window %d: %d are open", n, len(w.Windows)), nil
	case step.WindowTitle, step.WindowURL:
		return w.enterByContent(ctx)
	}
	return false, nil, failure.Stepf("the matcher %s is unknown", w.Quote(w.matcher.Name, 60))
}

// enterByContent looks into the windows, the last one first: a site that opens
// itself twice means the new one.
func (w windowSearch) enterByContent(ctx context.Context) (found bool, missing *failure.Failure, err error) {
	former := w.Window
	for _, handle := range slices.Backward(w.Windows) {
		if err := w.EnterWindow(ctx, handle); err != nil {
			return false, nil, err
		}
		got, err := w.content(ctx)
		switch {
		case err != nil && (failure.Lost(err) || ctx.Err() != nil):
			return false, nil, err
		case err == nil && strings.Contains(got, w.matcher.Args.Value):
			return true, nil, nil
		}
	}
	if slices.Contains(w.Windows, former) {
		if err := w.EnterWindow(ctx, former); err != nil {
			return false, nil, err
		}
	}
	return false, failure.Stepf("no window has a %s that contains %q", w.matcher.Name, w.Quote(w.matcher.Args.Value, 200)), nil
}

// content returns the title or the address of the current window.
func (w windowSearch) content(ctx context.Context) (got string, err error) {
	read := w.Driver.URL
	if w.matcher.Name == step.WindowTitle {
		read = w.Driver.Title
	}
	err = w.PastDialogs(ctx, func() (err error) {
		got, err = read(ctx)
		return err
	})
	return got, err
}
