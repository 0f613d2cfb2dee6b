package distribution

import (
	"reflect"
	"strings"
	"unicode/utf8"

	"github.com/slipway-qa/slipway/storage"
)

// changed is what an audit row contains of a change: the members that differ.
type changed struct {
	From map[string]any `json:"from"`
	To   map[string]any `json:"to"`
}

// maxAudited is how much of a long text an audit row keeps.
const maxAudited = 200

// note keeps a member if the values differ.
func (c *changed) note(member string, from, to any) {
	if reflect.DeepEqual(from, to) {
		return
	}
	if c.From == nil {
		c.From, c.To = map[string]any{}, map[string]any{}
	}
	c.From[member], c.To[member] = excerpt(from), excerpt(to)
}

func (c *changed) any() bool { return len(c.To) > 0 }

func excerpt(v any) any {
	if text, ok := v.(string); ok && utf8.RuneCountInString(text) > maxAudited {
		return strings.TrimSpace(storage.Cut(text, maxAudited)) + "…"
	}
	return v
}

// set takes a value of a request.
func set[T any](to *T, given *T) {
	if given != nil {
		*to = *given
	}
}
