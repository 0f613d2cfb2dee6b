// Package condition selects crashes and groups: it gathers the conditions of a statement and
// their arguments, and has the form in which attributes of reports are indexed and searched for.
//
// Whoever lists, purges or splits reports by an attribute asks with the same conditions, so
// that all of them mean the same reports, and one index serves them.
package condition

import (
	"bytes"
	"encoding/json"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/report"
)

// Attribute selects reports by the value of an attribute. The value is
// text; it also selects a number or a boolean that is written like it.
type Attribute struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// Validate refuses what nobody searches for: longer keys and values than are
// indexed as they are, and text that no attribute can hold.
func (f Attribute) Validate() error {
	field := "attribute." + f.Key
	switch {
	case f.Key == "":
		return &storage.InvalidError{Field: "attribute", Msg: "a key must follow: attribute.KEY=VALUE"}
	case len(f.Key) > MaxAttributeKey:
		return &storage.InvalidError{Field: "attribute", Msg: "the key is longer than 255 bytes"}
	case !PlainText(f.Key) || !PlainText(f.Value):
		return &storage.InvalidError{Field: "attribute", Msg: "key and value must be valid UTF-8 without NUL"}
	case len(f.Value) > MaxAttributeValue:
		return &storage.InvalidError{Field: field, Msg: "the value is longer than 4096 bytes"}
	}
	return nil
}

// PlainText reports whether PostgreSQL takes the text: valid UTF-8 without NUL.
func PlainText(s string) bool { return utf8.ValidString(s) && strings.IndexByte(s, 0) < 0 }

// documents are the JSON objects of which a matching report's attributes contain
// one.
func (f Attribute) documents() []string {
	key, _ := json.Marshal(IndexedKey(f.Key)) // a string cannot fail
	text, _ := json.Marshal(IndexedValue(f.Value))
	docs := []string{"{" + string(key) + ":" + string(text) + "}"}
	if f.Value == "true" || f.Value == "false" || IndexedNumber(f.Value) {
		docs = append(docs, "{"+string(key)+":"+f.Value+"}")
	}
	return docs
}

// IndexedNumber reports whether a text is a JSON number that is indexed as one:
// the worker indexes longer and larger ones as text.
func IndexedNumber(s string) bool {
	if s == "" || len(s) > 40 || (s[0] != '-' && (s[0] < '0' || s[0] > '9')) || !json.Valid([]byte(s)) {
		return false
	}
	f, err := strconv.ParseFloat(s, 64)
	f = math.Abs(f)
	return err == nil && f < 1e40 && (f > 1e-40 || !strings.ContainsAny(s, "eE"))
}

// Matches applies the filter to a report that is not indexed.
func (f Attribute) Matches(r *report.Report) bool {
	for i := range r.Attributes {
		a := &r.Attributes[i]
		if a.Key != f.Key || a.Value == nil {
			continue
		}
		if a.Text() == f.Value {
			return true
		}
		if n, ok := a.Value.(json.Number); ok && SameNumber(string(n), f.Value) {
			return true
		}
	}
	return false
}

// SameNumber compares exactly. What is indexed has a small exponent.
func SameNumber(a, b string) bool {
	if !IndexedNumber(a) || !IndexedNumber(b) {
		return false
	}
	x, okX := new(big.Rat).SetString(a)
	y, okY := new(big.Rat).SetString(b)
	return okX && okY && x.Cmp(y) == 0
}

// MatchesIndexed applies the filter to the attributes of a crash as they are indexed:
// what documents selects by an index, and nothing else.
func (f Attribute) MatchesIndexed(attributes map[string]json.RawMessage) bool {
	v := bytes.TrimSpace(attributes[IndexedKey(f.Key)])
	if len(v) == 0 {
		return false
	}
	switch v[0] {
	case '"':
		var text string
		return json.Unmarshal(v, &text) == nil && text == IndexedValue(f.Value)
	case 't', 'f':
		return string(v) == f.Value
	default:
		return SameNumber(string(v), f.Value)
	}
}

// Names reports whether somebody who wrote this key and value means what f selects.
func (f Attribute) Names(key, value string) bool {
	return key == f.Key && (value == f.Value || SameNumber(value, f.Value))
}

// List gathers the conditions of a list and their arguments.
type List struct {
	Conds []string
	Args  []any
}

// Arg adds an argument and returns its placeholder.
func (c *List) Arg(v any) string {
	c.Args = append(c.Args, v)
	return "$" + strconv.Itoa(len(c.Args))
}

// Add adds a condition.
func (c *List) Add(cond string) { c.Conds = append(c.Conds, cond) }

// Where is the where clause of a statement that has a condition.
func (c *List) Where() string { return " where " + strings.Join(c.Conds, " and ") }

// And continues the where clause of a statement.
func (c *List) And() string {
	if len(c.Conds) == 0 {
		return ""
	}
	return " and " + strings.Join(c.Conds, " and ")
}

// OneOf requires a number to be among those of a list, which selects all when empty.
func (c *List) OneOf(column string, list []int64) {
	if len(list) > 0 {
		c.Add(column + " = any(" + c.Arg(pq.Array(list)) + ")")
	}
}

// Attributes requires all of the filters of one report. Each candidate document
// is a condition of its own, so that the index crashes_attributes serves them.
func (c *List) Attributes(column string, filters []Attribute) {
	for _, f := range filters {
		var either []string
		for _, doc := range f.documents() {
			either = append(either, column+" @> "+c.Arg(doc)+"::jsonb")
		}
		c.Add("(" + strings.Join(either, " or ") + ")")
	}
}

// Span requires a time to be in a span: from inclusive, to exclusive; zero: open.
func (c *List) Span(column string, from, to time.Time) {
	if !from.IsZero() {
		c.Add(column + " >= " + c.Arg(from))
	}
	if !to.IsZero() {
		c.Add(column + " < " + c.Arg(to))
	}
}
