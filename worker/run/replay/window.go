package replay

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/slipway-qa/slipway/storage/step"
)

// windowPoll is how often switch_window looks for its window.
const windowPoll = 30 * time.Millisecond

// switchWindow waits for a window and makes it current.
func (x *stepExecution) switchWindow(ctx context.Context, m *step.Matcher) error {
	if m == nil {
		return stepf("the step names no window")
	}
	if err := x.leaveFrames(ctx); err != nil {
		x.framed = false // the frame's window may be closed
	}
	x.screenshotter.wait(ctx)
	search := windowSearch{x, m, slices.Clone(x.windows)}
	err := x.until(ctx, windowPoll, func() (bool, *failure, error) {
		if err := x.listWindows(ctx); err != nil {
			return false, nil, err
		}
		return search.enter(ctx)
	})
	if err != nil {
		return err
	}
	if err := x.pretendHere(ctx); err != nil {
		return err
	}
	return x.checkLocation(ctx)
}

// listWindows brings the list up to date: closed windows are removed, new ones come
// last.
func (x *stepExecution) listWindows(ctx context.Context) error {
	return x.pastDialogs(ctx, func() error {
		handles, err := x.driver.Windows(ctx)
		if err != nil {
			return err
		}
		x.windows = slices.DeleteFunc(x.windows, func(h string) bool { return !slices.Contains(handles, h) })
		for _, h := range handles {
			if !slices.Contains(x.windows, h) {
				x.windows = append(x.windows, h)
			}
		}
		return nil
	})
}

func (x *stepExecution) enterWindow(ctx context.Context, handle string) error {
	if err := x.pastDialogs(ctx, func() error { return x.driver.SwitchWindow(ctx, handle) }); err != nil {
		return err
	}
	x.window, x.framed = handle, false
	return nil
}

// windowSearch is the search for the window of a switch_window step.
type windowSearch struct {
	*stepExecution
	matcher *step.Matcher
	known   []string // the windows that were open before the step
}

// enter makes the window current if it is open. The failure describes what is
// missing.
func (w windowSearch) enter(ctx context.Context) (found bool, missing *failure, err error) {
	switch w.matcher.Name {
	case step.WindowNew:
		if len(w.windows) > 0 {
			if last := w.windows[len(w.windows)-1]; !slices.Contains(w.known, last) {
				return true, nil, w.enterWindow(ctx, last)
			}
		}
		return false, stepf("no new window opened"), nil
	case step.WindowIndex:
		n, err := strconv.Atoi(w.matcher.Args.Value)
		if err != nil || n < 0 {
			return false, nil, stepf("%q is not the index of a window", w.quote(w.matcher.Args.Value, 40))
		}
		if n < len(w.windows) {
			return true, nil, w.enterWindow(ctx, w.windows[n])
		}
		return false, stepf("there is no window %d: %d are open", n, len(w.windows)), nil
	case step.WindowTitle, step.WindowURL:
		return w.enterByContent(ctx)
	}
	return false, nil, stepf("the matcher %s is unknown", w.quote(w.matcher.Name, 60))
}

// enterByContent looks into the windows, the last one first: a site that opens
// itself twice means the new one.
func (w windowSearch) enterByContent(ctx context.Context) (found bool, missing *failure, err error) {
	former := w.window
	for _, handle := range slices.Backward(w.windows) {
		if err := w.enterWindow(ctx, handle); err != nil {
			return false, nil, err
		}
		got, err := w.content(ctx)
		switch {
		case err != nil && (lost(err) || ctx.Err() != nil):
			return false, nil, err
		case err == nil && strings.Contains(got, w.matcher.Args.Value):
			return true, nil, nil
		}
	}
	if slices.Contains(w.windows, former) {
		if err := w.enterWindow(ctx, former); err != nil {
			return false, nil, err
		}
	}
	return false, stepf("no window has a %s that contains %q", w.matcher.Name, w.quote(w.matcher.Args.Value, 200)), nil
}

// content returns the title or the address of the current window.
func (w windowSearch) content(ctx context.Context) (got string, err error) {
	read := w.driver.URL
	if w.matcher.Name == step.WindowTitle {
		read = w.driver.Title
	}
	err = w.pastDialogs(ctx, func() (err error) {
		got, err = read(ctx)
		return err
	})
	return got, err
}
