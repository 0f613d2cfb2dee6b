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

// firstWindow notes the window that the test begins in, where that is needed.
func (p *player) firstWindow(ctx context.Context) error {
	needed := p.camera.parallel
	for _, s := range p.Steps {
		needed = needed || s.Tool.Type == step.SwitchWindow
	}
	if !needed {
		return nil
	}
	return p.do(ctx, func() (err error) {
		p.window, err = p.s.Window(ctx)
		p.windows = []string{p.window}
		return err
	})
}

// switchWindow waits for a window and makes it current.
func (p *player) switchWindow(ctx context.Context, m *step.Matcher) error {
	if m == nil {
		return stepf("the step names no window")
	}
	if err := p.leave(ctx); err != nil {
		p.framed = false // the frame's window may be closed
	}
	p.camera.wait(ctx)
	known := slices.Clone(p.windows)
	err := p.until(ctx, windowPoll, func() (bool, *failure, error) {
		if err := p.listWindows(ctx); err != nil {
			return false, nil, err
		}
		return p.pickWindow(ctx, m, known)
	})
	if err != nil {
		return err
	}
	return p.locate(ctx)
}

// listWindows brings the list up to date: closed ones go, new ones come last.
func (p *player) listWindows(ctx context.Context) error {
	return p.do(ctx, func() error {
		handles, err := p.s.Windows(ctx)
		if err != nil {
			return err
		}
		p.windows = slices.DeleteFunc(p.windows, func(h string) bool { return !slices.Contains(handles, h) })
		for _, h := range handles {
			if !slices.Contains(p.windows, h) {
				p.windows = append(p.windows, h)
			}
		}
		return nil
	})
}

func (p *player) pickWindow(ctx context.Context, m *step.Matcher, known []string) (bool, *failure, error) {
	switch m.Name {
	case step.WindowNew:
		if len(p.windows) > 0 {
			if last := p.windows[len(p.windows)-1]; !slices.Contains(known, last) {
				return true, nil, p.enterWindow(ctx, last)
			}
		}
		return false, stepf("no new window opened"), nil
	case step.WindowIndex:
		n, err := strconv.Atoi(m.Args.Value)
		if err != nil || n < 0 {
			return false, nil, stepf("%q is not the index of a window", p.quote(m.Args.Value, 40))
		}
		if n < len(p.windows) {
			return true, nil, p.enterWindow(ctx, p.windows[n])
		}
		return false, stepf("there is no window %d: %d are open", n, len(p.windows)), nil
	case step.WindowTitle, step.WindowURL:
		return p.searchWindows(ctx, m)
	}
	return false, nil, stepf("the matcher %s is unknown", p.quote(m.Name, 60))
}

// searchWindows looks into the windows, the last one first: a site that opens
// itself twice means the new one.
func (p *player) searchWindows(ctx context.Context, m *step.Matcher) (bool, *failure, error) {
	former := p.window
	for _, handle := range slices.Backward(p.windows) {
		if err := p.enterWindow(ctx, handle); err != nil {
			return false, nil, err
		}
		var got string
		err := p.do(ctx, func() (err error) {
			if m.Name == step.WindowTitle {
				got, err = p.s.Title(ctx)
			} else {
				got, err = p.s.URL(ctx)
			}
			return err
		})
		switch {
		case err != nil && (lost(err) || ctx.Err() != nil):
			return false, nil, err
		case err == nil && strings.Contains(got, m.Args.Value):
			return true, nil, nil
		}
	}
	if slices.Contains(p.windows, former) {
		if err := p.enterWindow(ctx, former); err != nil {
			return false, nil, err
		}
	}
	return false, stepf("no window has a %s that contains %q", m.Name, p.quote(m.Args.Value, 200)), nil
}

func (p *player) enterWindow(ctx context.Context, handle string) error {
	err := p.do(ctx, func() error { return p.s.SwitchWindow(ctx, handle) })
	if err == nil {
		p.window, p.framed = handle, false
	}
	return err
}
