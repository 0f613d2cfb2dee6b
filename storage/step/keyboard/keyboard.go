// Package keyboard knows the keys that press_key presses, and those that are held meanwhile.
//
// The names are those of the UI Events specification; a key without a name is its one character.
// Which of them a driver or a device has a code for is its own matter: a key that is not known here
// is refused before a test is stored.
package keyboard

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

var (
	// Modifiers are the keys that are held while another is pressed.
	Modifiers = []string{"Control", "Shift", "Alt", "Meta"}
	// Keys are those that have names and are no modifiers.
	Keys = []string{"Enter", "Tab", "Escape", "Backspace", "Delete", "Insert", "Space", "Home", "End", "PageUp", "PageDown",
		"ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight",
		"F1", "F2", "F3", "F4", "F5", "F6", "F7", "F8", "F9", "F10", "F11", "F12"}
)

// Parse splits the argument of press_key into the modifiers that are pressed,
// in their order and each once, and the key, which is one character or one of the
// names. Control++ is the plus key with Control pressed.
func Parse(text string) (pressed []string, key string, ok bool) {
	rest := text
	for {
		before, after, found := strings.Cut(rest, "+")
		if !found || before == "" || after == "" {
			break
		}
		if !slices.Contains(Modifiers, before) || slices.Contains(pressed, before) {
			return nil, "", false
		}
		pressed, rest = append(pressed, before), after
	}
	r, size := utf8.DecodeRuneInString(rest)
	one := size > 0 && size == len(rest) && r != utf8.RuneError && !unicode.IsControl(r)
	if !one && !slices.Contains(Keys, rest) && !slices.Contains(Modifiers, rest) {
		return nil, "", false
	}
	return pressed, rest, true
}
