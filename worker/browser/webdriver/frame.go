package webdriver

import "context"

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
