// Package body reads the body of a request into a struct, by its json tags. A
// body is a JSON object, a form or the text fields of a multipart form: clients
// of version 3 send all three, and the form may carry the key (api_key) beside
// the members.
//
// Read fills what the body names and leaves the rest, so pointers, lists and maps
// tell an absent member (nil) from an empty one. A member that the struct does not
// have, at any level, is a *storage.InvalidError with its path, unless the caller says
// otherwise; so are a member of the wrong type, and text that the database cannot keep
// (not UTF-8, or with NUL).
//
// Fields may be strings, bools, int64s, pointers to them, Switch, Nullable, List, LongList, []string,
// map[string]string, and in JSON whatever encoding/json takes. In a form an array
// comes as repeated names, name[] or a comma list, a bool in any spelling of
// Switch, and a map as NAME.KEY, NAME_KEY or NAME[KEY]; JSON takes the first two
// of these as well, beside an object. An alias of a member is a field of its own.
//
// Everything is bounded. The router limits the bytes; in here the depth of JSON
// and the number of elements and map keys are limited, so that no body makes a
// statement without end.
package body

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"reflect"
	"unicode/utf8"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/storage"
)

const (
	// MaxBytes bounds a body, whatever the router lets through: no member of the
	// interfaces is longer than some ten KiB.
	MaxBytes = 8 << 20
	// maxDepth is far above what a member of the interfaces has.
	maxDepth = 32
	// maxElements bounds lists and maps.
	maxElements = 1000
	// MaxLong bounds a LongList: ten thousand testers at once, and as many again.
	MaxLong = 20_000
	// formMemory keeps the form in memory: a larger one is refused before.
	formMemory = MaxBytes
)

// The types that Read takes.
const (
	TypeJSON      = "application/json"
	TypeForm      = "application/x-www-form-urlencoded"
	TypeMultipart = "multipart/form-data"
)

// Type is the media type of a request's body, in lower case; "" when it has none
// or a broken one.
func Type(r *http.Request) string {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil && !errors.Is(err, mime.ErrInvalidMediaParameter) {
		return ""
	}
	return kind
}

// Read fills the struct that into points to. An empty body of any type leaves it
// as it is. A body without a type, or one that calls itself a form and begins with
// {, is taken for JSON. Members that the struct does not have are refused, or are what
// unknown says. Errors are *storage.InvalidError and *http.MaxBytesError.
func Read(c *gin.Context, into any, unknown ...Unknown) error {
	target := reflect.ValueOf(into)
	if target.Kind() != reflect.Pointer || target.Elem().Kind() != reflect.Struct {
		return fmt.Errorf("body: %T is no pointer to a struct", into)
	}
	r, decide := c.Request, Unknown(Refuse)
	if r.Body == nil {
		return nil
	}
	if len(unknown) > 0 {
		decide = unknown[0]
	}
	kind := Type(r)
	if kind == TypeForm && IsJSON(r) {
		kind = TypeJSON
	}
	switch kind {
	case TypeForm, TypeMultipart:
		r.Body = http.MaxBytesReader(c.Writer, r.Body, MaxBytes)
		if err := readForm(r, kind, target.Elem(), decide); err != nil {
			return err
		}
	default:
		text, err := io.ReadAll(http.MaxBytesReader(c.Writer, r.Body, MaxBytes))
		if err != nil {
			return unreadable(err)
		}
		if len(text) > 0 && kind != TypeJSON && r.Header.Get("Content-Type") != "" {
			return unsupported()
		}
		if err := readJSON(text, into, decide); err != nil {
			return err
		}
	}
	return check(target.Elem(), "")
}

// ReadNone reads the body of a request that has no members: it may be empty, null or an
// empty object.
func ReadNone(c *gin.Context) error {
	return Read(c, &nothing{})
}

// nothing is a struct without members, whose body may also be null.
type nothing struct{}

// jsonPeek is how far white space may stand before a JSON object.
const jsonPeek = 512

// IsJSON reports whether a body begins as a JSON object, whatever it calls itself:
// curl -d calls everything a form that it is not told otherwise of, and as a form
// the members would be lost without a word. The body is whole afterwards.
func IsJSON(r *http.Request) bool {
	if r.Body == nil || r.PostForm != nil {
		return false
	}
	buffered := bufio.NewReaderSize(r.Body, jsonPeek)
	r.Body = struct {
		io.Reader
		io.Closer
	}{buffered, r.Body}
	for n := 1; n <= jsonPeek; n++ {
		begin, _ := buffered.Peek(n)
		if len(begin) < n {
			return false
		}
		switch begin[n-1] {
		case ' ', '\t', '\r', '\n':
		case '{':
			return true
		default:
			return false
		}
	}
	return false
}

func unsupported() error {
	return invalid("Content-Type", "must be "+TypeJSON+", "+TypeForm+" or "+TypeMultipart)
}

func invalid(field, text string) error { return &storage.InvalidError{Field: field, Msg: text} }

// unreadable keeps 413 and calls everything else the caller's broken body.
func unreadable(err error) error {
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		return err
	}
	return invalid("body", "cannot be read")
}

// readJSON reads one object and nothing after it.
func readJSON(text []byte, into any, unknown Unknown) error {
	text = bytes.TrimSpace(text)
	if len(text) == 0 {
		return nil
	}
	if _, none := into.(*nothing); none && string(text) == "null" {
		return nil
	}
	if text[0] != '{' {
		return invalid("body", "must be a JSON object")
	}
	if !utf8.Valid(text) {
		return invalid(placeOfInvalid(text), "must be UTF-8 text")
	}
	if Depth(text) > maxDepth {
		return invalid("body", fmt.Sprintf("is nested more than %d deep", maxDepth))
	}
	// Unmarshal looks at the whole text first, and so refuses what trails.
	if err := json.Unmarshal(text, into); err != nil {
		return jsonError(text, err)
	}
	if err := walkMembers(text, reflect.TypeOf(into), unknown, true); err != nil {
		return err
	}
	return readPrefixed(text, reflect.ValueOf(into).Elem())
}

func jsonError(text []byte, err error) error {
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) && wrong.Field != "" {
		return invalid(Place(text, wrong), "must be "+kindText(wrong.Type))
	}
	return invalid("body", "must be a JSON object")
}

// kindText names a Go type as a writer of JSON knows it.
func kindText(t reflect.Type) string {
	if t == nil {
		return "of another type"
	}
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int32, reflect.Int64:
		return "a whole number"
	case reflect.Slice, reflect.Array:
		return "an array of strings"
	case reflect.Map, reflect.Struct:
		return "an object"
	}
	return "of another type"
}
