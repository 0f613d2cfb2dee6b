package webdriver

import (
	"context"
	"encoding/json"
	"errors"
)

const (
	// elementKey is the member by which an element is named in JSON (WebDriver,
	// section 12).
	elementKey = "element-6066-11e4-a52e-4f735466cecf"
	// legacyElementKey is that of Selenium 3 and Appium 1.
	legacyElementKey = "ELEMENT"
)

// Element is the reference to an element of the current page.
type Element string

// MarshalJSON writes the web element reference, as scripts take it.
func (e Element) MarshalJSON() ([]byte, error) {
	return json.Marshal(map[string]string{elementKey: string(e)})
}

// UnmarshalJSON reads a web element reference; null becomes "".
func (e *Element) UnmarshalJSON(doc []byte) error {
	*e = ""
	var members map[string]json.RawMessage
	if err := json.Unmarshal(doc, &members); err != nil || members == nil {
		return err
	}
	id := text(members[elementKey])
	if id == "" {
		id = text(members[legacyElementKey])
	}
	if id == "" || len(id) > maxID {
		return errors.New("not a reference to an element")
	}
	*e = Element(id)
	return nil
}

// path is the path of a command on the element, below the session.
func (e Element) path(command string) string {
	return "/element/" + pathSegment(string(e)) + "/" + command
}

// The strategies of finding elements.
const (
	ByCSS   = "css selector"
	ByXPath = "xpath"
)

// FindAll returns all elements that match, in the order of the document.
func (s *Session) FindAll(ctx context.Context, using, value string) ([]Element, error) {
	var all []Element
	if err := s.post(ctx, "/elements", map[string]string{"using": using, "value": value}, &all); err != nil {
		return nil, err
	}
	for _, e := range all {
		// Some remote ends send null: an empty id in a path would be another command.
		if e == "" {
			return nil, &Error{Code: ErrNoSuchElement, Message: "the remote end gave no element"}
		}
	}
	return all, nil
}

// Click scrolls an element into view and clicks at its centre, with trusted
// events. ErrStaleElement and ErrNavigated may come although the click was done:
// when it leads to another page at once, chromedriver may look for the element
// there once more.
func (s *Session) Click(ctx context.Context, e Element) error {
	return s.post(ctx, e.path("click"), nil, nil)
}

// Clear empties an editable element.
func (s *Session) Clear(ctx context.Context, e Element) error {
	return s.post(ctx, e.path("clear"), nil, nil)
}

// SendKeys types into an element; for a file input it is the path of a file at the
// remote end.
func (s *Session) SendKeys(ctx context.Context, e Element, text string) error {
	return s.post(ctx, e.path("value"), map[string]string{"text": text}, nil)
}

// Text returns the element's text as it is rendered.
func (s *Session) Text(ctx context.Context, e Element) (string, error) {
	var text string
	err := s.get(ctx, e.path("text"), &text)
	return text, err
}

// Displayed reports whether the element can be seen when it is scrolled to, as
// drivers understand it (WebDriver, appendix C).
func (s *Session) Displayed(ctx context.Context, e Element) (bool, error) {
	var displayed bool
	err := s.get(ctx, e.path("displayed"), &displayed)
	return displayed, err
}
