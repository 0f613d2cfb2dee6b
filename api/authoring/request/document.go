// Package request reads the requests of the authoring interface: bodies, and the parameters of
// paths and queries.
//
// Bodies are JSON objects. Members whose inside is to be named where it is wrong are Documents,
// which are decoded after the body: the error has the whole path, steps[3].tool.args.url. A member
// that is not known is refused with its path, or named in the answer's warnings: see Words. A Query
// keeps the first parameter that is wrong, so that a handler reads all of them and looks once.
//
// What is wrong is an error of package problem, and is never stored or guessed.
package request

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/api/authoring/answer"
	"github.com/slipway-qa/slipway/api/authoring/problem"
	"github.com/slipway-qa/slipway/api/body"
	"github.com/slipway-qa/slipway/storage"
)

// Read fills the struct from the body, which is a JSON object or empty: this
// interface has no forms. What the struct does not have is refused or taken by what is known.
func Read(c *gin.Context, into any, known Words) error {
	kind := body.Type(c.Request)
	if c.Request.ContentLength != 0 && (kind == body.TypeMultipart || kind == body.TypeForm && !body.IsJSON(c.Request)) {
		return notJSON()
	}
	err := body.Read(c, into, known.spare(c))
	var wrong *storage.InvalidError
	if errors.As(err, &wrong) && wrong.Field == contentType {
		return notJSON() // not what body takes elsewhere
	}
	return err
}

const contentType = "Content-Type"

func notJSON() error { return problem.Member(contentType, "must be "+body.TypeJSON) }

// Document is a member of a body that is decoded after it, so that what is wrong
// inside is named by its whole path, with the places in arrays. It is empty when
// the member is absent or null.
type Document struct{ text []byte }

// DocumentOf returns the document of a text.
func DocumentOf(text []byte) Document { return Document{text} }

// UnmarshalJSON keeps the text.
func (d *Document) UnmarshalJSON(text []byte) error {
	if d.text = nil; string(text) != "null" {
		d.text = bytes.Clone(text)
	}
	return nil
}

// Bytes returns the text, which is not to be changed.
func (d Document) Bytes() []byte { return d.text }

// Given reports whether the member is there and not null.
func (d Document) Given() bool { return d.text != nil }

// Nullable is a document that may be null to clear what is stored, which is not the
// same as absent.
type Nullable struct {
	Document
	null bool
}

// UnmarshalJSON keeps the text.
func (n *Nullable) UnmarshalJSON(text []byte) error {
	n.null = string(text) == "null"
	return n.Document.UnmarshalJSON(text)
}

// IsNull reports whether the member is there and null.
func (n Nullable) IsNull() bool { return n.null }

// Sent reports whether the member is there.
func (n Nullable) Sent() bool { return n.Given() || n.null }

// Value reads what a member asks for: nil when it is absent, and what null stands for.
func Value[T any](n Nullable, path string, null T) (*T, error) {
	if n.null {
		return &null, nil
	}
	if !n.Given() {
		return nil, nil
	}
	var value T
	return &value, n.Decode(path, &value)
}

// Decode reads the document, which the body has at path, into a value, and refuses
// members that the value does not have. The error names the member.
func (d Document) Decode(path string, into any) error {
	if holdsNUL(d.text) {
		return problem.Member(path, "must not hold the character NUL")
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
		return problem.Member(path, "must be "+kindText(wrong.Type))
	}
	if known := problem.Under(path, err); known != err { //nolint:errorlint // the same value
		return known // of a type that reads itself
	}
	return problem.Member(path, "cannot be read")
}

// Elements reads a document that is an array of at most so many elements.
func (d Document) Elements(path string, most int) ([]Document, error) {
	var all []Document
	if err := d.Decode(path, &all); err != nil {
		return nil, err
	}
	if len(all) > most {
		return nil, problem.Member(path, fmt.Sprintf("has at most %d elements", most))
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

// Required refuses a body without a name; the store knows what a name is.
func Required(name *string) error {
	if name == nil {
		return problem.Member("name", "is required")
	}
	return nil
}

// Texts reads a document that is an object of texts.
func (d Document) Texts(path string) (map[string]string, error) {
	var values map[string]Document
	if err := d.Decode(path, &values); err != nil {
		return nil, err
	}
	texts := make(map[string]string, len(values))
	for name, value := range values {
		at := path + "." + name[:min(len(name), answer.MaxShownName)]
		var text string
		if !value.Given() {
			return nil, problem.Member(at, "must be a string")
		}
		if err := value.Decode(at, &text); err != nil {
			return nil, err
		}
		texts[name] = text
	}
	return texts, nil
}

// ObjectOrText returns the text of a document that is an object, or of one that a string holds.
func (d Document) ObjectOrText(path string) ([]byte, error) {
	if len(d.text) > 0 && d.text[0] == '"' {
		var text string
		if err := d.Decode(path, &text); err != nil {
			return nil, err
		}
		d.text = []byte(text)
	}
	var object map[string]json.RawMessage
	if err := d.Decode(path, &object); err != nil {
		return nil, err
	}
	return d.text, nil
}

// Or returns the value, and what is absent without one.
func Or[T any](value *T, absent T) T {
	if value == nil {
		return absent
	}
	return *value
}

// Unchanged refuses an id of the body that is another than it is.
func Unchanged(path string, sent *string, is *uuid.UUID) error {
	id, err := OptionalUUID(path, sent)
	if err != nil || id == nil {
		return err
	}
	if is == nil || *id != *is {
		return problem.Member(path, "cannot be changed by this request")
	}
	return nil
}
