package model

import "testing"

// A key is pressed only where the text names it: "Enter" as the verb of "Enter Bob" is no key.
func TestNamesKey(t *testing.T) {
	for _, c := range []struct {
		text, keys string
		want       bool
	}{
		{"press enter", "Enter", true},
		{"enter bob as the name", "Enter", false},
		{"enter bob and press enter", "Enter", true},
		{"press ctrl+a in the note", "Control+a", true},
		{"strg + a drücken", "Control+a", true},
		{"mark all", "Control+a", false},
		{"press esc", "Escape", true},
		{"hit page down", "PageDown", true},
	} {
		if got := namesKey(c.text, c.keys); got != c.want {
			t.Errorf("%q, %s: %v, want %v", c.text, c.keys, got, c.want)
		}
	}
}
