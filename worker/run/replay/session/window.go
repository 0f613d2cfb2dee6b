package session

import (
	"context"
	"slices"
)

// CurrentWindow returns the handle of the current window.
func (x *Execution) CurrentWindow(ctx context.Context) (window string, err error) {
	if x.Window != "" {
		return x.Window, nil
	}
	err = x.PastDialogs(ctx, func() (err error) {
		window, err = x.Driver.Window(ctx)
		return err
	})
	return window, err
}

// ListWindows brings the list up to date: closed windows are removed, new ones come
// last.
func (x *Execution) ListWindows(ctx context.Context) error {
	return x.PastDialogs(ctx, func() error {
		handles, err := x.Driver.Windows(ctx)
		if err != nil {
			return err
		}
		x.Windows = slices.DeleteFunc(x.Windows, func(h string) bool { return !slices.Contains(handles, h) })
		for _, h := range handles {
			if !slices.Contains(x.Windows, h) {
				x.Windows = append(x.Windows, h)
			}
		}
		return nil
	})
}

// EnterWindow makes a window current.
func (x *Execution) EnterWindow(ctx context.Context, handle string) error {
	if err := x.PastDialogs(ctx, func() error { return x.Driver.SwitchWindow(ctx, handle) }); err != nil {
		return err
	}
	x.Window, x.Framed = handle, false
	return nil
}
