package storage

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Invalid returns an InvalidError of a member, with a formatted text.
func Invalid(field, format string, args ...any) error {
	return &InvalidError{Field: field, Msg: fmt.Sprintf(format, args...)}
}

// Printable refuses control characters and broken UTF-8, neither of which a database text or a
// log line should hold.
func Printable(field, text string) error {
	if !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl) {
		return Invalid(field, "must be printable UTF-8 text")
	}
	return nil
}

// Line trims a text of one line and refuses what no list could show: more than
// most characters, control characters, broken UTF-8.
func Line(field, text string, most int) (string, error) {
	text = strings.TrimSpace(text)
	if err := Printable(field, text); err != nil {
		return "", err
	}
	if utf8.RuneCountInString(text) > most {
		return "", Invalid(field, "must have at most %d characters", most)
	}
	return text, nil
}

// Name is a Line that must not be empty.
func Name(field, text string, most int) (string, error) {
	text, err := Line(field, text, most)
	if err != nil {
		return "", err
	}
	if text == "" {
		return "", Invalid(field, "must have 1 to %d characters", most)
	}
	return text, nil
}

// Cut returns the first characters of a text, at most so many.
func Cut(text string, most int) string {
	n := 0
	for i := range text {
		if n == most {
			return text[:i]
		}
		n++
	}
	return text
}

// HoldsNUL reports whether a JSON text has an escaped NUL, which jsonb refuses. A
// backslash that is escaped itself begins no escape.
func HoldsNUL(doc string) bool {
	for {
		at := strings.IndexByte(doc, '\\')
		if at < 0 || at+1 >= len(doc) {
			return false
		}
		if strings.HasPrefix(doc[at:], `\u0000`) {
			return true
		}
		doc = doc[at+2:]
	}
}

// WithoutNUL replaces what text and jsonb refuse: the character itself, and in a
// JSON text its escape.
func WithoutNUL(text string) string {
	if HoldsNUL(text) {
		text = strings.ReplaceAll(text, `\u0000`, `\ufffd`)
	}
	return strings.ReplaceAll(text, "\x00", "\uFFFD")
}

// Document cleans a value for jsonb, which refuses the escaped NUL that JSON
// itself allows; nil stays null.
func Document[T any](v *T) (any, error) {
	if v == nil {
		return nil, nil
	}
	doc, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("store document: %w", err)
	}
	return strings.ReplaceAll(string(doc), `\u0000`, `\ufffd`), nil
}
