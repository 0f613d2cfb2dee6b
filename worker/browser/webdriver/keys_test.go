package webdriver_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/step/keyboard"
	"github.com/slipway-qa/slipway/worker/browser/webdriver"
)

func TestKeys(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"Enter": "\uE007", "a": "a", "Ä": "Ä", "+": "+", " ": " ", "Control+a": "\uE009a", "Shift+Tab": "\uE008\uE004",
		"Control++": "\uE009+", "Control+Shift+ArrowLeft": "\uE009\uE008\uE012", "Control": "\uE009", "Meta+F12": "\uE03D\uE03C",
	} {
		keys, err := webdriver.Keys(name)
		require.NoError(t, err, name)
		require.Equal(t, want, keys, name)
	}
	for _, bad := range []string{"", "ab", "enter", "Ctrl+a", "a+b", "Control+Control+a", "Control+", "+a", "\n", "\uE007",
		"\xff", "Control+ab"} {
		_, err := webdriver.Keys(bad)
		require.True(t, webdriver.Is(err, webdriver.ErrInvalidArgument), "%q: %v", bad, err)
		require.ErrorContains(t, err, "ArrowDown, ArrowLeft")
	}
}

// FuzzKeys compares with the rule by which steps are checked: what a step may
// hold can be pressed.
func FuzzKeys(f *testing.F) {
	for _, seed := range []string{"Enter", "Control+a", "Control++", "Meta+Alt+Shift+Control+F12", "x", "Shift+Shift",
		"PageUp", "Insert", "Escape"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, name string) {
		held, _, ok := keyboard.Parse(name)
		keys, err := webdriver.Keys(name)
		if err != nil {
			// Private characters are keys to the protocol, and no text.
			if r := []rune(name); ok && (r[len(r)-1] < 0xE000) {
				t.Fatalf("%q is a key of steps: %v", name, err)
			}
			return
		}
		if n := len([]rune(keys)); ok && n != len(held)+1 {
			t.Fatalf("%q has %d keys", name, n)
		}
	})
}

func TestSourcesAsTheProtocolHasThem(t *testing.T) {
	t.Parallel()
	const e = `{"element-6066-11e4-a52e-4f735466cecf":"e"}`
	tests := []struct {
		name   string
		source json.Marshaler
		want   string
	}{
		{"mouse", webdriver.NewMouse().MoveTo("e", 0, -1, time.Second).MoveBy(1, 0, 0).Down(2).Up(webdriver.LeftButton),
			`{"type":"pointer","id":"mouse","parameters":{"pointerType":"mouse"},"actions":[
			{"type":"pointerMove","origin":` + e + `,"x":0,"y":-1,"duration":1000},
			{"type":"pointerMove","origin":"pointer","x":1,"y":0,"duration":0},
			{"type":"pointerDown","button":2},{"type":"pointerUp","button":0}]}`},
		{"empty mouse", webdriver.NewMouse(), `{"type":"pointer","id":"mouse","parameters":{"pointerType":"mouse"},"actions":[]}`},
		{"keyboard", webdriver.NewKeyboard().Down(webdriver.KeyShift).Up(webdriver.KeyShift),
			`{"type":"key","id":"keyboard","actions":[{"type":"keyDown","value":"\uE008"},{"type":"keyUp","value":"\uE008"}]}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			doc, err := json.Marshal(tt.source)
			require.NoError(t, err)
			require.JSONEq(t, tt.want, string(doc))
		})
	}
}
