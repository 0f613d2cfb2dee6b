package webdriver

import "context"

// Navigate opens an address in the current window and waits as the session's page
// load strategy says.
func (s *Session) Navigate(ctx context.Context, address string) error {
	return s.post(ctx, "/url", map[string]string{"url": address}, nil)
}

// URL returns the address of the current top-level page.
func (s *Session) URL(ctx context.Context) (string, error) {
	var address string
	err := s.get(ctx, "/url", &address)
	return address, err
}

// Title returns the title of the current top-level page.
func (s *Session) Title(ctx context.Context) (string, error) {
	var title string
	err := s.get(ctx, "/title", &title)
	return title, err
}

// Back goes to the page before in the window's history; without one nothing happens.
func (s *Session) Back(ctx context.Context) error { return s.post(ctx, "/back", nil, nil) }

// Forward goes to the page after in the window's history; without one nothing
// happens.
func (s *Session) Forward(ctx context.Context) error { return s.post(ctx, "/forward", nil, nil) }

// Reload loads the current page again.
func (s *Session) Reload(ctx context.Context) error { return s.post(ctx, "/refresh", nil, nil) }

// SwitchFrame makes the frame of an element current.
func (s *Session) SwitchFrame(ctx context.Context, frame Element) error {
	return s.post(ctx, "/frame", map[string]any{"id": frame}, nil)
}

// TopFrame makes the top-level page current.
func (s *Session) TopFrame(ctx context.Context) error {
	return s.post(ctx, "/frame", map[string]any{"id": nil}, nil)
}

// ParentFrame makes the frame around the current one current.
func (s *Session) ParentFrame(ctx context.Context) error {
	return s.post(ctx, "/frame/parent", nil, nil)
}
