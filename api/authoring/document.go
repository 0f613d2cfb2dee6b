package authoring

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/body"
	"github.com/slipway-qa/slipway/storage"
)

// read fills the struct from the body, which is a JSON object or empty: this
// interface has no forms.
func read(c *gin.Context, into any) error {
	kind := body.Type(c.Request)
	if c.Request.ContentLength != 0 && (kind == body.TypeMultipart || kind == body.TypeForm && !body.IsJSON(c.Request)) {
		return notJSON()
	}
	err := body.Read(c, into, spare(c))
	var wrong *storage.InvalidError
	if errors.As(err, &wrong) && wrong.Field == contentType {
		return notJSON() // not what body takes elsewhere
	}
	return err
}

const contentType = "Content-Type"

func notJSON() error { return member(contentType, "must be "+body.TypeJSON) }

// document is a member of a body that is decoded after it, so that what is wrong
// inside is named by its whole path, with the places in arrays. It is empty when
// the member is absent or null.
type document struct{ text []byte }

// UnmarshalJSON keeps the text.
func (d *document) UnmarshalJSON(text []byte) error {
	if d.text = nil; string(text) != "null" {
		d.text = bytes.Clone(text)
	}
	return nil
}

func (d document) given() bool { return d.text != nil }

// nullable is a document that may be null to clear what is stored, which is not the
// same as absent.
type nullable struct {
	document
	null bool
}

// UnmarshalJSON keeps the text.
func (n *nullable) UnmarshalJSON(text []byte) error {
	n.null = string(text) == "null"
	return n.document.UnmarshalJSON(text)
}

// Document returns the document; it is empty when the member is null.
func (n nullable) Document() Document { return n.document }

func (n nullable) sent() bool { return n.given() || n.null }

// valueOf reads what a member asks for: nil when it is absent, and what null stands for.
func valueOf[T any](n nullable, path string, null T) (*T, error) {
	if n.null {
		return &null, nil
	}
	if !n.given() {
		return nil, nil
	}
	var value T
	return &value, n.decode(path, &value)
}

// decode reads the document, which the body has at path, into a value, and refuses
// members that the value does not have. The error names the member.
func (d document) decode(path string, into any) error {
	if holdsNUL(d.text) {
		return member(path, "must not hold the character NUL")
	}
	err := json.Unmarshal(d.text, into)
	var wrong *json.UnmarshalTypeError
	switch {
	case err == nil:
		return body.Check(d.text, reflect.TypeOf(into), below(path))
	case errors.As(err, &wrong):
		if at := body.Place(d.text, wrong); at != "" && at[0] != '[' {
			path += "." + at
		} else {
			path += at
		}
		return member(path, "must be "+kindText(wrong.Type))
	}
	if known := under(path, err); known != err { //nolint:errorlint // the same value
		return known // of a type that reads itself
	}
	return member(path, "cannot be read")
}

// elements reads a document that is an array of at most so many elements.
func (d document) elements(path string, most int) ([]document, error) {
	var all []document
	if err := d.decode(path, &all); err != nil {
		return nil, err
	}
	if len(all) > most {
		return nil, member(path, fmt.Sprintf("has at most %d elements", most))
	}
	return all, nil
}

// holdsNUL reports whether a text of JSON escapes the one character that the
// database cannot keep.
func holdsNUL(text []byte) bool {
	for {
		i := bytes.IndexByte(text, '\\')
		if i < 0 || i+1 >= len(text) {
			return false
		}
		if bytes.HasPrefix(text[i+1:], []byte("u0000")) {
			return true
		}
		text = text[i+2:] // an escaped backslash escapes nothing
	}
}

// kindText names a Go type as a writer of JSON knows it.
func kindText(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int64:
		return "a whole number"
	case reflect.Slice:
		return "an array"
	}
	return "an object"
}

// required refuses a body without a name; the store knows what a name is.
func required(name *string) error {
	if name == nil {
		return member("name", "is required")
	}
	return nil
}
