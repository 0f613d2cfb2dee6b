package step

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
)

// The types below read the other forms that clients write. An error for a
// wrong type is a *json.UnmarshalTypeError, whose Field encoding/json completes
// to the path of the member.

// jsonKind returns the name of the JSON value that a text begins with, as
// encoding/json does.
func jsonKind(text []byte) string {
	if len(text) == 0 {
		return ""
	}
	switch text[0] {
	case '"':
		return "string"
	case '{':
		return "object"
	case '[':
		return "array"
	case 't', 'f':
		return "bool"
	case 'n':
		return "null"
	}
	return "number"
}

func wrongType[T any](text []byte) error {
	return &json.UnmarshalTypeError{Value: jsonKind(text), Type: reflect.TypeFor[T]()}
}

// UnmarshalJSON reads an object, or the selector itself as a string: XPath when
// it begins with / or (, else CSS.
func (s *Selector) UnmarshalJSON(text []byte) error {
	switch jsonKind(text) {
	case "null":
		return nil
	case "string":
		var value string
		if err := json.Unmarshal(text, &value); err != nil {
			return err
		}
		*s = Selector{Type: selectorType(value), Value: value}
		return nil
	case "object":
		type plain Selector
		if err := json.Unmarshal(text, (*plain)(s)); err != nil {
			return err
		}
		return s.readNth(text)
	}
	return wrongType[Selector](text)
}

// OtherMembers are the members that a selector reads beside its fields.
func (s Selector) OtherMembers() []string { return []string{"nth"} }

// readNth reads the other name of index.
func (s *Selector) readNth(text []byte) error {
	var other struct {
		Nth *int `json:"nth"`
	}
	if err := json.Unmarshal(text, &other); err != nil {
		return err
	}
	switch {
	case other.Nth == nil:
	case s.Index == nil:
		s.Index = other.Nth
	case *s.Index != *other.Nth:
		s.nth = other.Nth
	}
	return nil
}

func selectorType(value string) string {
	if strings.HasPrefix(value, "/") || strings.HasPrefix(value, "(") {
		return XPath
	}
	return CSS
}

// UnmarshalJSON reads arguments. A matcher that says the opposite of one of ours turns
// not around, and the selector of a call that looks at the page is left out.
func (a *Args) UnmarshalJSON(text []byte) error {
	type plain Args
	if err := json.Unmarshal(text, (*plain)(a)); err != nil {
		return err
	}
	a.ignored = a.Matcher.takeIgnored(a.Selector)
	a.Not, a.Selector, a.timeout = a.Matcher.turn(a.Not), a.Matcher.without(a.Selector), a.Matcher.takeTimeout()
	return nil
}

// UnmarshalJSON reads a condition, as arguments are read.
func (c *Condition) UnmarshalJSON(text []byte) error {
	type plain Condition
	if err := json.Unmarshal(text, (*plain)(c)); err != nil {
		return err
	}
	c.ignored = c.Matcher.takeIgnored(c.Selector)
	c.Not, c.Selector, c.timeout = c.Matcher.turn(c.Not), c.Matcher.without(c.Selector), c.Matcher.takeTimeout()
	return nil
}

// UnmarshalJSON reads an object, also as a call, or for switch_window the title of the
// window as a string.
func (m *Matcher) UnmarshalJSON(text []byte) error {
	switch jsonKind(text) {
	case "null":
		return nil
	case "string":
		var value string
		if err := json.Unmarshal(text, &value); err != nil {
			return err
		}
		*m = Matcher{Name: WindowTitle, Args: MatcherArgs{Value: value}, fromString: true}
		return nil
	case "object":
		return m.readObject(text)
	}
	return wrongType[Matcher](text)
}

// UnmarshalJSON reads the value as text, number or boolean.
func (a *MatcherArgs) UnmarshalJSON(text []byte) error {
	switch jsonKind(text) {
	case "null":
		return nil
	case "object":
	default:
		return wrongType[MatcherArgs](text)
	}
	plain := struct {
		Value *scalar `json:"value"`
		Name  *string `json:"name"`
		Mode  *string `json:"mode"`

		Area       *string            `json:"area"`
		Key        *string            `json:"key"`
		Attributes **CookieAttributes `json:"attributes"`

		URL    *string       `json:"url"`
		Method *string       `json:"method"`
		Count  **int         `json:"count"`
		Status **int         `json:"status"`
		Body   **BodyCheck   `json:"body"`
		Header **HeaderCheck `json:"header"`
		Size   **int64       `json:"size"`
		Ignore *[]string     `json:"ignore"`

		Impact       *string     `json:"impact"`
		Rules        *[]string   `json:"rules"`
		WithoutRules *[]string   `json:"withoutRules"`
		Tags         *[]string   `json:"tags"`
		FullPage     *bool       `json:"fullPage"`
		Masks        *[]Selector `json:"masks"`
		Threshold    **float64   `json:"threshold"`
		Sensitivity  **float64   `json:"sensitivity"`
	}{(*scalar)(&a.Value), &a.Name, &a.Mode, &a.Area, &a.Key, &a.Attributes,
		&a.URL, &a.Method, &a.Count, &a.Status, &a.Body, &a.Header, &a.Size, &a.Ignore,
		&a.Impact, &a.Rules, &a.WithoutRules, &a.Tags, &a.FullPage, &a.Masks, &a.Threshold, &a.Sensitivity}
	return json.Unmarshal(text, &plain)
}

// scalar is a text that may also come as a number or boolean, which is kept as it
// is written.
type scalar string

func (s *scalar) UnmarshalJSON(text []byte) error {
	switch jsonKind(text) {
	case "string":
		return json.Unmarshal(text, (*string)(s))
	case "number", "bool":
		*s = scalar(bytes.TrimSpace(text))
	case "object", "array":
		return wrongType[string](text)
	}
	return nil
}
