package keyboard_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/step/keyboard"
)

func TestParseKey(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]struct {
		held []string
		key  string
	}{
		"a": {nil, "a"}, "+": {nil, "+"}, "Enter": {nil, "Enter"}, "Shift": {nil, "Shift"}, "Shift+Tab": {[]string{"Shift"}, "Tab"},
		"Control++": {[]string{"Control"}, "+"}, "Meta+Alt+F12": {[]string{"Meta", "Alt"}, "F12"},
	} {
		held, key, ok := keyboard.Parse(text)
		require.True(t, ok, text)
		require.Equal(t, want.held, held, text)
		require.Equal(t, want.key, key, text)
	}
	for _, text := range []string{"", "ab", "enter", "++", "a+b", "Control+", "\n", "\xff", "+a"} {
		_, _, ok := keyboard.Parse(text)
		require.False(t, ok, text)
	}
}
