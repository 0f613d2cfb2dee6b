package body

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Place is the path of the value that an error is about, with the places in
// arrays, which the error itself does not know: testCases[0]. The text is the one
// that was decoded. Where a type reads itself, the error counts from the beginning
// of that value; then the path is that of the value. Names of embedded types, which
// the error has and the text does not, are left out.
func Place(text []byte, wrong *json.UnmarshalTypeError) string {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	for w := (walk{}); ; {
		token, err := decoder.Token()
		if err != nil {
			return wrong.Field
		}
		w.read(token)
		if decoder.InputOffset() < wrong.Offset {
			continue
		}
		if path := w.path(); unplaced(path) == wrong.Field || strings.HasSuffix(wrong.Field, "."+unplaced(path)) {
			return path
		}
		return wrong.Field
	}
}

// placeOfInvalid is the path of the first value, or name of a member, that is not
// UTF-8: encoding/json would put U+FFFD in the place of what is wrong, and so store
// what nobody sent.
func placeOfInvalid(text []byte) string {
	wrong := 0
	for wrong < len(text) {
		r, size := utf8.DecodeRune(text[wrong:])
		if r == utf8.RuneError && size == 1 {
			break
		}
		wrong += size
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	for w := (walk{}); ; {
		token, err := decoder.Token()
		if err != nil {
			return "body"
		}
		if w.read(token); decoder.InputOffset() > int64(wrong) {
			return w.path()
		}
	}
}

// walk is the way to a value: the arrays and objects that are open.
type walk struct{ open []level }

// level is an array, with the place of its element, or an object, with the name of
// its member.
type level struct {
	list   bool
	at     int
	name   string
	inside bool // the next token of an object is a value
}

// read goes on to a token.
func (w *walk) read(token json.Token) {
	delim, _ := token.(json.Delim)
	if delim == ']' || delim == '}' {
		w.open = w.open[:len(w.open)-1]
		return
	}
	if n := len(w.open); n > 0 {
		switch l := &w.open[n-1]; {
		case l.list:
			l.at++
		case l.inside:
			l.inside = false
		default:
			l.name, _ = token.(string)
			l.inside = true
			return
		}
	}
	if delim != 0 {
		w.open = append(w.open, level{list: delim == '[', at: -1})
	}
}

// path is that of the token that was read last.
func (w *walk) path() string {
	var out strings.Builder
	for _, l := range w.open {
		switch {
		case l.list && l.at >= 0:
			out.WriteString("[" + strconv.Itoa(l.at) + "]")
		case !l.list && l.name != "":
			if out.Len() > 0 {
				out.WriteByte('.')
			}
			out.WriteString(l.name)
		}
	}
	return out.String()
}

// unplaced is a path as encoding/json writes it, without places.
func unplaced(path string) string {
	var out strings.Builder
	for part := range strings.SplitSeq(path, "[") {
		_, rest, found := strings.Cut(part, "]")
		if !found {
			rest = part
		}
		out.WriteString(rest)
	}
	return out.String()
}
