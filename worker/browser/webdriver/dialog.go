package webdriver

import "context"

// Dialog is the alert, confirm or prompt that is open in the current window. Its
// methods return ErrNoSuchAlert when there is none.
type Dialog struct{ session *Session }

// Text returns what the dialog says.
func (d Dialog) Text(ctx context.Context) (string, error) {
	var text *string
	err := d.session.get(ctx, "/alert/text", &text)
	if text == nil {
		return "", err
	}
	return *text, err
}

// Accept presses OK.
func (d Dialog) Accept(ctx context.Context) error {
	return d.session.post(ctx, "/alert/accept", nil, nil)
}

// Dismiss presses Cancel.
func (d Dialog) Dismiss(ctx context.Context) error {
	return d.session.post(ctx, "/alert/dismiss", nil, nil)
}

// SendText types into a prompt.
func (d Dialog) SendText(ctx context.Context, text string) error {
	return d.session.post(ctx, "/alert/text", map[string]string{"text": text}, nil)
}
