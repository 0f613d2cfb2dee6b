package webdriver

import (
	"context"
	"encoding/json"
)

// Text is the element's text as it is rendered.
func (s *Session) Text(ctx context.Context, e Element) (string, error) {
	var text string
	err := s.get(ctx, "/element/"+part(string(e))+"/text", &text)
	return text, err
}

// Attribute gives an attribute; nil when the element does not have it.
func (s *Session) Attribute(ctx context.Context, e Element, name string) (*string, error) {
	var value *string
	err := s.get(ctx, "/element/"+part(string(e))+"/attribute/"+part(name), &value)
	return value, err
}

// Property gives a property of the element as JSON.
func (s *Session) Property(ctx context.Context, e Element, name string) (json.RawMessage, error) {
	var value json.RawMessage
	err := s.get(ctx, "/element/"+part(string(e))+"/property/"+part(name), &value)
	return value, err
}

// CSS is the computed value of a style property.
func (s *Session) CSS(ctx context.Context, e Element, property string) (string, error) {
	var value string
	err := s.get(ctx, "/element/"+part(string(e))+"/css/"+part(property), &value)
	return value, err
}

// TagName is the element's tag, lower case in HTML pages.
func (s *Session) TagName(ctx context.Context, e Element) (string, error) {
	var name string
	err := s.get(ctx, "/element/"+part(string(e))+"/name", &name)
	return name, err
}

// ElementRect gives the place in the page and the size of an element.
func (s *Session) ElementRect(ctx context.Context, e Element) (Rect, error) {
	var r Rect
	err := s.get(ctx, "/element/"+part(string(e))+"/rect", &r)
	return r, err
}

// Selected reports whether a box is checked or an option chosen.
func (s *Session) Selected(ctx context.Context, e Element) (bool, error) {
	return s.is(ctx, e, "selected")
}

// Enabled reports whether a form's element is not disabled.
func (s *Session) Enabled(ctx context.Context, e Element) (bool, error) {
	return s.is(ctx, e, "enabled")
}

// Displayed reports whether the element can be seen when it is scrolled to, as
// drivers understand it (WebDriver, appendix C).
func (s *Session) Displayed(ctx context.Context, e Element) (bool, error) {
	return s.is(ctx, e, "displayed")
}

func (s *Session) is(ctx context.Context, e Element, state string) (bool, error) {
	var is bool
	err := s.get(ctx, "/element/"+part(string(e))+"/"+state, &is)
	return is, err
}

// Role is the element's computed role (WAI-ARIA).
func (s *Session) Role(ctx context.Context, e Element) (string, error) {
	var role string
	err := s.get(ctx, "/element/"+part(string(e))+"/computedrole", &role)
	return role, err
}

// Label is the element's computed accessible name.
func (s *Session) Label(ctx context.Context, e Element) (string, error) {
	var label string
	err := s.get(ctx, "/element/"+part(string(e))+"/computedlabel", &label)
	return label, err
}
