package plan

import (
	"testing"

	"github.com/slipway-qa/slipway/worker/generation/intent"
)

func TestValueIn(t *testing.T) {
	for _, c := range []struct{ text, noun, want string }{
		{"Your ticket is 77-B. It is valid for 3 days.", "ticket", "77-B"},
		{"In 5 minutes your ticket 12 ends", "ticket", "12"},
		{"Ticket: none", "ticket", "none"},
		{"Ticket", "ticket", ""},
		{"Ticket *", "ticket", ""},
		{"Lisbon", "town", "Lisbon"},
		{"There is no ticket for you today.", "ticket", ""},
	} {
		d := &intent.Description{Words: []intent.Word{{Text: c.noun}}}
		if got := valueIn(c.text, d); got != c.want {
			t.Errorf("%s of %q is %q, want %q", c.noun, c.text, got, c.want)
		}
	}
}
