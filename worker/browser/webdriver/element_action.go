package webdriver

import "context"

// Click scrolls an element into view and clicks at its centre, with trusted
// events. ErrStaleElement and ErrNavigated may come although the click was done:
// when it leads to another page at once, chromedriver may look for the element again
// there.
func (s *Session) Click(ctx context.Context, e Element) error {
	return s.post(ctx, "/element/"+part(string(e))+"/click", nil, nil)
}

// Clear empties an editable element.
func (s *Session) Clear(ctx context.Context, e Element) error {
	return s.post(ctx, "/element/"+part(string(e))+"/clear", nil, nil)
}

// SendKeys types into an element; for a file input it is the path of a file at the
// remote end.
func (s *Session) SendKeys(ctx context.Context, e Element, text string) error {
	return s.post(ctx, "/element/"+part(string(e))+"/value", map[string]string{"text": text}, nil)
}
