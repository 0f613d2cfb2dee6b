package webdriver

import (
	"context"
	"slices"
)

// Window returns the handle of the current window.
func (s *Session) Window(ctx context.Context) (string, error) {
	var handle string
	err := s.get(ctx, "/window", &handle)
	return handle, err
}

// Windows returns the handles of all windows, in no order, but for those that were hidden.
func (s *Session) Windows(ctx context.Context) ([]string, error) {
	var handles []string
	err := s.get(ctx, "/window/handles", &handles)
	return slices.DeleteFunc(handles, func(handle string) bool { return slices.Contains(s.hidden, handle) }), err
}

// Hide leaves a window out of Windows: one that no page has opened and no person sees.
func (s *Session) Hide(handle string) { s.hidden = append(s.hidden, handle) }

// SwitchWindow makes a window current.
func (s *Session) SwitchWindow(ctx context.Context, handle string) error {
	return s.post(ctx, "/window", map[string]string{"handle": handle}, nil)
}

// Rect is the place and the outer size of a window, in CSS pixels.
type Rect struct{ X, Y, Width, Height int }

// WindowRect returns that of the current window.
func (s *Session) WindowRect(ctx context.Context) (Rect, error) {
	var r struct{ X, Y, Width, Height float64 }
	err := s.get(ctx, "/window/rect", &r)
	return Rect{int(r.X), int(r.Y), int(r.Width), int(r.Height)}, err
}

// SetWindowSize sets the outer size of the current window, in CSS pixels.
func (s *Session) SetWindowSize(ctx context.Context, width, height int) error {
	return s.post(ctx, "/window/rect", map[string]int{"width": width, "height": height}, nil)
}
