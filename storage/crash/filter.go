package crash

import (
	"encoding/json"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/report"
)

// AttributeFilter selects reports by the value of an attribute. The value is
// text; it also selects a number or a boolean that is written like it.
type AttributeFilter struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// Validate refuses what nobody searches for: longer keys and values than are
// indexed as they are, and text that no attribute can hold.
func (f AttributeFilter) Validate() error {
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
func (f AttributeFilter) documents() []string {
	key, _ := json.Marshal(IndexedKey(f.Key)) // a string cannot fail
	text, _ := json.Marshal(IndexedValue(f.Value))
	docs := []string{"{" + string(key) + ":" + string(text) + "}"}
	if f.Value == "true" || f.Value == "false" || indexedNumber(f.Value) {
		docs = append(docs, "{"+string(key)+":"+f.Value+"}")
	}
	return docs
}

// indexedNumber reports whether a text is a JSON number that is indexed as one:
// the worker indexes longer and larger ones as text.
func indexedNumber(s string) bool {
	if s == "" || len(s) > 40 || (s[0] != '-' && (s[0] < '0' || s[0] > '9')) || !json.Valid([]byte(s)) {
		return false
	}
	f, err := strconv.ParseFloat(s, 64)
	f = math.Abs(f)
	return err == nil && f < 1e40 && (f > 1e-40 || !strings.ContainsAny(s, "eE"))
}

// Matches applies the filter to a report that is not indexed.
func (f AttributeFilter) Matches(r *report.Report) bool {
	for i := range r.Attributes {
		a := &r.Attributes[i]
		if a.Key != f.Key || a.Value == nil {
			continue
		}
		if a.Text() == f.Value {
			return true
		}
		if n, ok := a.Value.(json.Number); ok && sameNumber(string(n), f.Value) {
			return true
		}
	}
	return false
}

// sameNumber compares exactly. What is indexed has a small exponent.
func sameNumber(a, b string) bool {
	if !indexedNumber(a) || !indexedNumber(b) {
		return false
	}
	x, okX := new(big.Rat).SetString(a)
	y, okY := new(big.Rat).SetString(b)
	return okX && okY && x.Cmp(y) == 0
}

// Names reports whether somebody who wrote this key and value means what f selects.
func (f AttributeFilter) Names(key, value string) bool {
	return key == f.Key && (value == f.Value || sameNumber(value, f.Value))
}

// NamedBy reports whether a filter of groups has the attribute, or its value as the text that
// it searches for. A filter of other projects than project, where that is not 0, has not.
func (f AttributeFilter) NamedBy(g *GroupFilter, project int64) bool {
	if project != 0 && len(g.Projects) > 0 && !slices.Contains(g.Projects, project) {
		return false
	}
	return slices.ContainsFunc(g.Attributes, func(a AttributeFilter) bool { return f.Names(a.Key, a.Value) }) ||
		f.Value != "" && strings.EqualFold(strings.TrimSpace(g.Search), f.Value)
}

// conditions gathers the conditions of a list and their arguments.
type conditions struct {
	conds []string
	args  []any
}

// arg adds an argument and returns its placeholder.
func (c *conditions) arg(v any) string {
	c.args = append(c.args, v)
	return "$" + strconv.Itoa(len(c.args))
}

func (c *conditions) add(cond string) { c.conds = append(c.conds, cond) }

func (c *conditions) where() string { return " where " + strings.Join(c.conds, " and ") }

// and is where for a statement that has a condition.
func (c *conditions) and() string {
	if len(c.conds) == 0 {
		return ""
	}
	return " and " + strings.Join(c.conds, " and ")
}

// oneOf requires a number to be among those of a list, which selects all when empty.
func (c *conditions) oneOf(column string, list []int64) {
	if len(list) > 0 {
		c.add(column + " = any(" + c.arg(pq.Array(list)) + ")")
	}
}

// attributes requires all of the filters of one report. Each candidate document
// is a condition of its own, so that the index crashes_attributes serves them.
func (c *conditions) attributes(column string, filters []AttributeFilter) {
	for _, f := range filters {
		var either []string
		for _, doc := range f.documents() {
			either = append(either, column+" @> "+c.arg(doc)+"::jsonb")
		}
		c.add("(" + strings.Join(either, " or ") + ")")
	}
}

func (c *conditions) span(column string, from, to time.Time) {
	if !from.IsZero() {
		c.add(column + " >= " + c.arg(from))
	}
	if !to.IsZero() {
		c.add(column + " < " + c.arg(to))
	}
}
