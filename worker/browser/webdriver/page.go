package webdriver

import "context"

// Navigate opens an address in the current window and waits as the session's page
// load strategy says.
func (s *Session) Navigate(ctx context.Context, address string) error {
	return s.post(ctx, "/url", map[string]string{"url": address}, nil)
}

// URL is the address of the current top-level page.
func (s *Session) URL(ctx context.Context) (string, error) {
	var address string
	err := s.get(ctx, "/url", &address)
	return address, err
}

// Title is the title of the current top-level page.
func (s *Session) Title(ctx context.Context) (string, error) {
	var title string
	err := s.get(ctx, "/title", &title)
	return title, err
}

// Back, Forward and Refresh move in the history of the current window.
func (s *Session) Back(ctx context.Context) error { return s.post(ctx, "/back", nil, nil) }

// Forward goes forward.
func (s *Session) Forward(ctx context.Context) error { return s.post(ctx, "/forward", nil, nil) }

// Refresh loads the page again.
func (s *Session) Refresh(ctx context.Context) error { return s.post(ctx, "/refresh", nil, nil) }

// Source is the page as HTML.
func (s *Session) Source(ctx context.Context) (string, error) {
	var source string
	err := s.get(ctx, "/source", &source)
	return source, err
}
