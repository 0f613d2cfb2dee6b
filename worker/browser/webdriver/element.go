package webdriver

import (
	"context"
	"encoding/json"
	"errors"
)

// The members by which elements and shadow roots are named in JSON (WebDriver,
// sections 11 and 12).
const (
	elementKey = "element-6066-11e4-a52e-4f735466cecf"
	shadowKey  = "shadow-6066-11e4-a52e-4f735466cecf"
	// legacyElementKey is that of Selenium 3 and Appium 1.
	legacyElementKey = "ELEMENT"
)

// Element is the reference to an element of the current page.
type Element string

// MarshalJSON writes the web element reference, as scripts take it.
func (e Element) MarshalJSON() ([]byte, error) {
	return json.Marshal(map[string]string{elementKey: string(e)})
}

// UnmarshalJSON reads a web element reference; null gives "".
func (e *Element) UnmarshalJSON(doc []byte) error {
	id, err := reference(doc, elementKey, legacyElementKey)
	*e = Element(id)
	return err
}

// ShadowRoot is the reference to a shadow root.
type ShadowRoot string

// MarshalJSON writes the shadow root reference, as scripts take it.
func (r ShadowRoot) MarshalJSON() ([]byte, error) {
	return json.Marshal(map[string]string{shadowKey: string(r)})
}

// UnmarshalJSON reads a shadow root reference; null gives "".
func (r *ShadowRoot) UnmarshalJSON(doc []byte) error {
	id, err := reference(doc, shadowKey, "")
	*r = ShadowRoot(id)
	return err
}

// reference reads the id under one of two keys of an object; null gives "".
func reference(doc []byte, key, legacy string) (string, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(doc, &members); err != nil || members == nil {
		return "", err
	}
	id := text(members[key])
	if id == "" && legacy != "" {
		id = text(members[legacy])
	}
	if id == "" || len(id) > maxID {
		return "", errors.New("not a reference to an element or shadow root")
	}
	return id, nil
}

// found refuses the null that some remote ends answer instead of an error: an
// empty id in a path would make it another command.
func found[T ~string](id T, err error) (T, error) {
	if err == nil && id == "" {
		return "", &Error{Code: ErrNoSuchElement, Message: "the remote end gave no element"}
	}
	return id, err
}

// foundAll does so for lists.
func foundAll(all []Element, err error) ([]Element, error) {
	if err != nil {
		return nil, err
	}
	for _, e := range all {
		if _, err := found(e, nil); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// The strategies of finding elements.
const (
	ByCSS         = "css selector"
	ByXPath       = "xpath"
	ByLinkText    = "link text"
	ByPartialLink = "partial link text"
	ByTag         = "tag name"
)

type locator struct {
	Using string `json:"using"`
	Value string `json:"value"`
}

// Find gives the first element that matches.
func (s *Session) Find(ctx context.Context, using, value string) (Element, error) {
	var e Element
	err := s.post(ctx, "/element", locator{using, value}, &e)
	return found(e, err)
}

// FindAll gives all elements that match.
func (s *Session) FindAll(ctx context.Context, using, value string) ([]Element, error) {
	var all []Element
	err := s.post(ctx, "/elements", locator{using, value}, &all)
	return foundAll(all, err)
}

// FindIn gives all elements inside of another that match.
func (s *Session) FindIn(ctx context.Context, in Element, using, value string) ([]Element, error) {
	var all []Element
	err := s.post(ctx, "/element/"+part(string(in))+"/elements", locator{using, value}, &all)
	return foundAll(all, err)
}

// Shadow gives the open shadow root of a host.
func (s *Session) Shadow(ctx context.Context, host Element) (ShadowRoot, error) {
	var r ShadowRoot
	err := s.get(ctx, "/element/"+part(string(host))+"/shadow", &r)
	return found(r, err)
}

// FindInShadow gives all elements inside of a shadow root that match; remote ends
// take CSS there only.
func (s *Session) FindInShadow(ctx context.Context, root ShadowRoot, using, value string) ([]Element, error) {
	var all []Element
	err := s.post(ctx, "/shadow/"+part(string(root))+"/elements", locator{using, value}, &all)
	return foundAll(all, err)
}

// Active gives the element that has the focus.
func (s *Session) Active(ctx context.Context) (Element, error) {
	var e Element
	err := s.get(ctx, "/element/active", &e)
	return found(e, err)
}
