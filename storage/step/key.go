package step

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The names of keys are those of the UI Events specification.
var (
	modifiers = []string{"Control", "Shift", "Alt", "Meta"}
	keys      = []string{"Enter", "Tab", "Escape", "Backspace", "Delete", "Insert", "Space", "Home", "End", "PageUp", "PageDown",
		"ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight",
		"F1", "F2", "F3", "F4", "F5", "F6", "F7", "F8", "F9", "F10", "F11", "F12"}
)

// ParseKey splits the argument of press_key into the modifiers that are pressed,
// in their order and each once, and the key, which is one character or one of the
// names. Control++ is the plus key with Control pressed.
func ParseKey(text string) (pressed []string, key string, ok bool) {
	rest := text
	for {
		before, after, found := strings.Cut(rest, "+")
		if !found || before == "" || after == "" {
			break
		}
		if !slices.Contains(modifiers, before) || slices.Contains(pressed, before) {
			return nil, "", false
		}
		pressed, rest = append(pressed, before), after
	}
	r, size := utf8.DecodeRuneInString(rest)
	one := size > 0 && size == len(rest) && r != utf8.RuneError && !unicode.IsControl(r)
	if !one && !slices.Contains(keys, rest) && !slices.Contains(modifiers, rest) {
		return nil, "", false
	}
	return pressed, rest, true
}
