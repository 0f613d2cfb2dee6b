package webdriver

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The keys that are no characters, as SendKeys and Keyboard take them (WebDriver,
// section 17.4.2).
const (
	KeyBackspace  = "\uE003"
	KeyTab        = "\uE004"
	KeyEnter      = "\uE007"
	KeyShift      = "\uE008"
	KeyControl    = "\uE009"
	KeyAlt        = "\uE00A"
	KeyPause      = "\uE00B"
	KeyEscape     = "\uE00C"
	KeySpace      = "\uE00D"
	KeyPageUp     = "\uE00E"
	KeyPageDown   = "\uE00F"
	KeyEnd        = "\uE010"
	KeyHome       = "\uE011"
	KeyArrowLeft  = "\uE012"
	KeyArrowUp    = "\uE013"
	KeyArrowRight = "\uE014"
	KeyArrowDown  = "\uE015"
	KeyInsert     = "\uE016"
	KeyDelete     = "\uE017"
	KeyF1         = "\uE031"
	KeyF2         = "\uE032"
	KeyF3         = "\uE033"
	KeyF4         = "\uE034"
	KeyF5         = "\uE035"
	KeyF6         = "\uE036"
	KeyF7         = "\uE037"
	KeyF8         = "\uE038"
	KeyF9         = "\uE039"
	KeyF10        = "\uE03A"
	KeyF11        = "\uE03B"
	KeyF12        = "\uE03C"
	KeyMeta       = "\uE03D"
)

// keyNames are those of the UI Events specification.
var keyNames = map[string]string{
	"Backspace": KeyBackspace, "Tab": KeyTab, "Enter": KeyEnter, "Shift": KeyShift, "Control": KeyControl, "Alt": KeyAlt,
	"Pause": KeyPause, "Escape": KeyEscape, "Space": KeySpace, "PageUp": KeyPageUp, "PageDown": KeyPageDown, "End": KeyEnd,
	"Home": KeyHome, "ArrowLeft": KeyArrowLeft, "ArrowUp": KeyArrowUp, "ArrowRight": KeyArrowRight, "ArrowDown": KeyArrowDown,
	"Insert": KeyInsert, "Delete": KeyDelete, "F1": KeyF1, "F2": KeyF2, "F3": KeyF3, "F4": KeyF4, "F5": KeyF5, "F6": KeyF6,
	"F7": KeyF7, "F8": KeyF8, "F9": KeyF9, "F10": KeyF10, "F11": KeyF11, "F12": KeyF12, "Meta": KeyMeta,
}

var modifierNames = []string{"Control", "Shift", "Alt", "Meta"}

// Keys returns the keys of a chord as SendKeys types them: modifiers, which it
// holds, and a key, which is one character or a name, with a + between: "Enter",
// "Control+a", "Shift+Tab", "Control++". The error lists the names.
func Keys(name string) (string, error) {
	var modifiers strings.Builder
	last := name
	for {
		before, after, found := strings.Cut(last, "+")
		if !found || before == "" || after == "" {
			break
		}
		if !slices.Contains(modifierNames, before) || strings.Contains(modifiers.String(), keyNames[before]) {
			return "", unknownKey(name)
		}
		modifiers.WriteString(keyNames[before])
		last = after
	}
	if key, ok := keyNames[last]; ok {
		return modifiers.String() + key, nil
	}
	r, size := utf8.DecodeRuneInString(last)
	// A character that the protocol reads as a key has a name to be written by.
	if size == 0 || size != len(last) || r == utf8.RuneError || unicode.IsControl(r) || unicode.Is(unicode.Co, r) {
		return "", unknownKey(name)
	}
	return modifiers.String() + last, nil
}

func unknownKey(name string) error {
	return &Error{Code: ErrInvalidArgument,
		Message: fmt.Sprintf("the key %q is unknown: it must be a character or one of %s, with %s before it and a + between",
			clip(name, 60), strings.Join(slices.Sorted(maps.Keys(keyNames)), ", "), strings.Join(modifierNames, ", "))}
}
