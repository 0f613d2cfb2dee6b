package webdriver

import "context"

// Window gives the handle of the current window.
func (s *Session) Window(ctx context.Context) (string, error) {
	var handle string
	err := s.get(ctx, "/window", &handle)
	return handle, err
}

// Windows gives the handles of all windows, in no order.
func (s *Session) Windows(ctx context.Context) ([]string, error) {
	var handles []string
	err := s.get(ctx, "/window/handles", &handles)
	return handles, err
}

// SwitchWindow makes a window current.
func (s *Session) SwitchWindow(ctx context.Context, handle string) error {
	return s.post(ctx, "/window", map[string]string{"handle": handle}, nil)
}

// NewWindow opens a window ("tab" or "window") and gives its handle; it does not
// become current.
func (s *Session) NewWindow(ctx context.Context, kind string) (string, error) {
	var answer struct {
		Handle string `json:"handle"`
	}
	err := s.post(ctx, "/window/new", map[string]string{"type": kind}, &answer)
	return answer.Handle, err
}

// CloseWindow closes the current window and gives the handles that are left.
func (s *Session) CloseWindow(ctx context.Context) ([]string, error) {
	var handles []string
	err := s.delete(ctx, "/window", &handles)
	return handles, err
}

// Rect is a place and size in CSS pixels.
type Rect struct {
	X      float64 `json:"x"`
	Y      float64 `json:"y"`
	Width  float64 `json:"width"`
	Height float64 `json:"height"`
}

// SetWindowSize sets the outer size of the current window.
func (s *Session) SetWindowSize(ctx context.Context, width, height int) error {
	return s.post(ctx, "/window/rect", map[string]int{"width": width, "height": height}, nil)
}

// WindowRect gives the place and outer size of the current window.
func (s *Session) WindowRect(ctx context.Context) (Rect, error) {
	var r Rect
	err := s.get(ctx, "/window/rect", &r)
	return r, err
}

// Minimize hides the current window and gives the place it had.
func (s *Session) Minimize(ctx context.Context) (Rect, error) { return s.window(ctx, "minimize") }

// Maximize makes the current window as large as the screen.
func (s *Session) Maximize(ctx context.Context) (Rect, error) { return s.window(ctx, "maximize") }

// Fullscreen lets the current window fill the screen without its frame.
func (s *Session) Fullscreen(ctx context.Context) (Rect, error) { return s.window(ctx, "fullscreen") }

func (s *Session) window(ctx context.Context, state string) (Rect, error) {
	var r Rect
	err := s.post(ctx, "/window/"+state, nil, &r)
	return r, err
}
