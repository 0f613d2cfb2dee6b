// Package change has what a request changes of a row, and what the audit log keeps of it.
//
// Members of a request are pointers: nil leaves the row as it is (Set). A Diff has the
// members that differ, before and after, as the detail of an audit entry; a long text is
// cut there, since the log is no place for pages of prose.
package change

import (
	"reflect"
	"strings"
	"unicode/utf8"

	"github.com/slipway-qa/slipway/storage"
)

// Diff is what an audit row contains of a change: the members that differ.
type Diff struct {
	From map[string]any `json:"from"`
	To   map[string]any `json:"to"`
}

// maxAudited is how much of a long text an audit row keeps.
const maxAudited = 200

// Note keeps a member if the values differ.
func (c *Diff) Note(member string, from, to any) {
	if reflect.DeepEqual(from, to) {
		return
	}
	if c.From == nil {
		c.From, c.To = map[string]any{}, map[string]any{}
	}
	c.From[member], c.To[member] = excerpt(from), excerpt(to)
}

// Any reports whether a member differs.
func (c *Diff) Any() bool { return len(c.To) > 0 }

func excerpt(v any) any {
	if text, ok := v.(string); ok && utf8.RuneCountInString(text) > maxAudited {
		return strings.TrimSpace(storage.Cut(text, maxAudited)) + "…"
	}
	return v
}

// Set takes a value of a request; nil leaves what there is.
func Set[T any](to *T, given *T) {
	if given != nil {
		*to = *given
	}
}
