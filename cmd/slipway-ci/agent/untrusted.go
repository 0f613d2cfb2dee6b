package agent

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// The types of what others wrote, by how much of it is answered. They are read from the
// API's answers as strings, and are answered as {"untrusted": "..."}, with "cut" where
// bytes were left out at the end.
type (
	// line is a name, a version, an address: a line of a list.
	line string
	// text is a message, a comment, notes.
	text string
	// page is what is read on purpose: a part of a page's source.
	page string
)

// The bounds, in bytes.
const (
	maxLine = 300
	maxText = 2000
	maxPage = 16 << 10
	// maxAnswer bounds an answer, in bytes: some ten thousand tokens.
	maxAnswer = 40 << 10
)

// MarshalJSON marks the text.
func (l line) MarshalJSON() ([]byte, error) { return mark(string(l), maxLine) }

// MarshalJSON marks the text.
func (t text) MarshalJSON() ([]byte, error) { return mark(string(t), maxText) }

// MarshalJSON marks the text.
func (p page) MarshalJSON() ([]byte, error) { return mark(string(p), maxPage) }

// document is JSON of others, answered as text: their strings may stand anywhere in it.
type document struct {
	value json.RawMessage
	most  int
}

// UnmarshalJSON keeps the value.
func (d *document) UnmarshalJSON(value []byte) error {
	d.value = bytes.Clone(value)
	return nil
}

// MarshalJSON marks the value's text.
func (d document) MarshalJSON() ([]byte, error) {
	if len(d.value) == 0 || string(d.value) == "null" {
		return []byte("null"), nil
	}
	most := d.most
	if most == 0 {
		most = maxText
	}
	return mark(string(d.value), most)
}

// marked is a text of others.
type marked struct {
	Untrusted string `json:"untrusted"`
	Cut       int    `json:"cut,omitempty"` // bytes that are left out at the end
}

func mark(s string, most int) ([]byte, error) {
	s = visible(s)
	kept := cut(s, most)
	return encode(marked{Untrusted: kept, Cut: len(s) - len(kept)})
}

// cut returns the beginning of a text, of whole characters.
func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most]
}

// visible writes characters that nobody sees, but a model reads, as their numbers: tags,
// directions, controls, and of those without width what no script needs.
func visible(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if strings.IndexFunc(s, hidden) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if hidden(r) {
			fmt.Fprintf(&b, "\\u{%X}", r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

func hidden(r rune) bool {
	switch {
	case r == '\n' || r == '\t' || r == '\r':
		return false
	case r < ' ', r >= 0x7F && r < 0xA0:
		return true
	case r == 0x200B, r == 0x2060, r == 0xFEFF, r == 0x180E, r == 0x00AD: // zero width
		return true
	case r >= 0x200E && r <= 0x200F, r >= 0x202A && r <= 0x202E, r >= 0x2066 && r <= 0x2069: // directions
		return true
	case r >= 0xE0000 && r <= 0xE0FFF, r >= 0xFFF0 && r <= 0xFFFB: // tags, further selectors, annotations
		return true
	}
	return false
}

// encode writes JSON with <, > and & as they are: sources are read by their characters.
func encode(value any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		return nil, err
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}

// fit writes an answer within maxAnswer: where it is longer, the texts of others are cut
// shorter until it is not. One that stays too long has too many items.
func fit(answer any) (string, error) {
	whole, err := encode(answer)
	if err != nil || len(whole) <= maxAnswer {
		return string(whole), err
	}
	for most := maxPage / 2; most >= 32; most /= 2 {
		var tree any
		decode := json.NewDecoder(bytes.NewReader(whole))
		decode.UseNumber()
		if err := decode.Decode(&tree); err != nil {
			return "", err
		}
		shorten(tree, most)
		shorter, err := encode(tree)
		if err != nil || len(shorter) <= maxAnswer {
			return string(shorter), err
		}
	}
	return "", &callError{outcome: failed,
		text: fmt.Sprintf("the answer would be longer than %d KiB: ask for fewer items with limit", maxAnswer>>10)}
}

func shorten(tree any, most int) {
	switch v := tree.(type) {
	case []any:
		for _, element := range v {
			shorten(element, most)
		}
	case map[string]any:
		if s, ok := v["untrusted"].(string); ok {
			if kept := cut(s, most); len(kept) < len(s) {
				before, _ := v["cut"].(json.Number)
				already, _ := before.Int64()
				v["untrusted"], v["cut"] = kept, already+int64(len(s)-len(kept))
			}
			return
		}
		for name, member := range v {
			if name != "page_source" && name != "console" { // they fit, and an offset follows them
				shorten(member, most)
			}
		}
	}
}
