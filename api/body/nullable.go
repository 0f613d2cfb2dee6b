package body

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
)

// Nullable is a member that null removes: a text, or a number as it is written. "" is a
// member that is absent. JSON says null, or an empty text; a form sends an empty one.
type Nullable string

// Null is the Nullable of null.
const Null Nullable = "\n"

// UnmarshalJSON takes a text, a number and null.
func (n *Nullable) UnmarshalJSON(text []byte) error {
	text = bytes.TrimSpace(text)
	switch {
	case string(text) == "null", string(text) == `""`:
		*n = Null
		return nil
	case len(text) > 0 && text[0] == '"':
		return json.Unmarshal(text, (*string)(n))
	case len(text) > 0 && strings.IndexByte("-0123456789", text[0]) >= 0:
		*n = Nullable(text)
		return nil
	}
	return &json.UnmarshalTypeError{Value: "value", Type: reflect.TypeFor[string]()}
}

// Text returns the text of a member that is sent, nil for one that is absent; "" for null.
func (n Nullable) Text() *string {
	if n == "" {
		return nil
	}
	text := string(n)
	if n == Null {
		text = ""
	}
	return &text
}
