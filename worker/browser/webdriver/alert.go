package webdriver

import "context"

// AlertText is the text of the open dialog; ErrNoSuchAlert when there is none.
func (s *Session) AlertText(ctx context.Context) (string, error) {
	var text *string
	err := s.get(ctx, "/alert/text", &text)
	if text == nil {
		return "", err
	}
	return *text, err
}

// AcceptAlert presses OK.
func (s *Session) AcceptAlert(ctx context.Context) error {
	return s.post(ctx, "/alert/accept", nil, nil)
}

// DismissAlert presses Cancel.
func (s *Session) DismissAlert(ctx context.Context) error {
	return s.post(ctx, "/alert/dismiss", nil, nil)
}

// SendAlertText types into a prompt.
func (s *Session) SendAlertText(ctx context.Context, text string) error {
	return s.post(ctx, "/alert/text", map[string]string{"text": text}, nil)
}
