package native_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/appium"
	store "github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/run/replay"
)

// named returns an XPath of an element by its text, as the platform has it.
func (s *shop) named(text string) string {
	name := "text"
	if s.Platform == ios {
		name = "label"
	}
	return fmt.Sprintf(`{"type":"xpath","value":"//*[@%s=\"%s\"]"}`, name, text)
}

func (s *shop) list1() string {
	return fmt.Sprintf(`{"type":"xpath","value":"//%s"}`, s.list.Class)
}

func each(t *testing.T, test func(*testing.T, *shop)) {
	t.Parallel()
	for _, platform := range []string{android, ios} {
		t.Run(platform, func(t *testing.T) {
			t.Parallel()
			test(t, newShop(platform))
		})
	}
}

func TestGestures(t *testing.T) {
	each(t, func(t *testing.T, s *shop) {
		said := s.passes(t,
			`{"type":"tap","args":{"selector":`+s.named("Save")+`}}`,
			`{"type":"tap","args":{"selector":`+s.named("Save")+`,"point":{"x":1,"y":1},"clickCount":2}}`,
			`{"type":"tap","args":{"point":{"x":0.15,"y":0.08}}}`,
			`{"type":"tap","args":{"point":{"x":0.99,"y":0.99}}}`,
			`{"type":"long_press","args":{"selector":`+s.named("Save")+`}}`,
			`{"type":"long_press","args":{"point":{"x":0.15,"y":0.08},"time":600}}`,
			`{"type":"swipe","args":{"selector":`+s.list1()+`,"direction":"up"}}`,
			`{"type":"swipe","args":{"start":{"x":0.5,"y":0.3},"end":{"x":0.5,"y":0.7}}}`,
			`{"type":"swipe","args":{"selector":`+s.list1()+`,"direction":"right","time":50}}`,
			`{"type":"zoom","args":{}}`, `{"type":"pinch","args":{"selector":`+s.list1()+`}}`,
		)
		require.Equal(t, 4, s.taps)
		require.Equal(t, 2, s.presses)
		require.Equal(t, []string{"0,-600", "0,768", "540,0"}, s.swipes)
		require.Equal(t, []string{"", "", "", "nothing changed on the screen", "", "nothing changed on the screen", "",
			"", "nothing changed on the screen", "", ""}, said)
		require.Equal(t, []string{"1", "1", "1", "1", "1", "1", "1", "1", "1", "2", "2"}, s.Touches)
	})
}

func TestScrollTo(t *testing.T) {
	each(t, func(t *testing.T, s *shop) {
		said := s.passes(t,
			`{"type":"scroll_to","args":{"selector":`+s.named("Row 3")+`}}`,
			`{"type":"scroll_to","args":{"selector":`+s.named("Row 30")+`}}`,
			`{"type":"scroll_to","args":{"selector":`+s.named("Row 2")+`,"container":`+s.list1()+`,"direction":"up"}}`)
		require.Equal(t, []string{"", "after 4 swipes", "after 4 swipes"}, said)
		r := s.fails(t, `{"type":"scroll_to","args":{"selector":`+s.named("Row 30")+`,"max":1}}`)
		require.Contains(t, r.Message, "was not found in 1 swipes")
	})
	t.Run("the end", func(t *testing.T) {
		t.Parallel()
		s := newShop(android)
		r := play(t, replay.Config{Lease: s.lease(t), Steps: steps(t, `{"type":"scroll_to","args":{"selector":`+
			s.named("Row 31")+`,"max":100}}`)})
		require.Equal(t, store.CodeStepFailed, r.Code)
		require.Contains(t, r.Message, "was not found: the list ends after 4 swipes")
		r = s.fails(t, `{"type":"scroll_to","args":{"selector":{"type":"xpath","value":"//android.widget.TextView"}}}`)
		require.Contains(t, r.Message, "elements match")
		r = s.fails(t, `{"type":"scroll_to","args":{"selector":`+s.named("x")+`,"container":`+s.named("y")+`}}`)
		require.Contains(t, r.Message, "was not found")
		s.list.Swiped = func(int, int) { s.first++; s.show(android, "android.widget.TextView", "text") } // without an end
		r = play(t, replay.Config{Lease: s.lease(t), Steps: steps(t, `{"type":"scroll_to","args":{"selector":`+s.named("x")+`}}`)})
		require.Contains(t, r.Message, "was not found in 20 swipes")
	})
}

func TestDeviceCommands(t *testing.T) {
	each(t, func(t *testing.T, s *shop) {
		grant, key := `"camera","android.permission.READ_SMS"`, `"back"`
		if s.Platform == ios {
			grant, key = `"camera","location-always"`, `"volume_up"`
		}
		said := s.passes(t,
			`{"type":"tap","args":{"selector":{"type":"xpath","value":"//`+s.field.Class+`"}}}`,
			`{"type":"hide_keyboard","args":{}}`, `{"type":"hide_keyboard","args":{}}`,
			`{"type":"background","args":{"time":1500}}`,
			`{"type":"deep_link","args":{"url":"shop://cart/7"}}`,
			`{"type":"deep_link","args":{"url":"https://shop.example.com/x","appId":"com.example.maps"}}`,
			`{"type":"set_permissions","args":{"grant":[`+grant+`]}}`,
			`{"type":"set_permissions","args":{"revoke":["camera"],"grant":["contacts"]}}`,
			`{"type":"rotate","args":{"orientation":"landscape"}}`, `{"type":"rotate","args":{"orientation":"portrait"}}`,
			`{"type":"switch_context","args":{"name":"native"}}`,
			`{"type":"press_device_key","args":{"key":"home"}}`, `{"type":"press_device_key","args":{"key":`+key+`}}`,
			`{"type":"assert","args":{"matcher":{"name":"app_state","args":{"value":"not_running","name":"com.example.maps"}}}}`,
			`{"type":"launch_app","args":{"appId":"com.example.maps"}}`,
			`{"type":"assert","args":{"matcher":{"name":"app_state","args":{"value":"foreground","name":"com.example.maps"}}}}`,
			`{"type":"terminate_app","args":{}}`, `{"type":"terminate_app","args":{}}`,
			`{"type":"assert","args":{"not":true,"matcher":{"name":"app_state","args":{"value":"foreground"}}}}`,
			`{"type":"reset_app","args":{}}`,
			`{"type":"assert","args":{"matcher":{"name":"app_state","args":{"value":"foreground"}}}}`)
		require.Equal(t, "no keyboard was shown", said[2])
		require.Equal(t, "the app com.example.shop did not run", said[17])
		require.Equal(t, []float64{1.5}, s.Backgrounds)
		require.Equal(t, []any{"shop://cart/7", "https://shop.example.com/x"}, s.Links)
		require.Equal(t, 1, s.Cleared)
		require.False(t, s.Landscape)
		if s.Platform == android {
			require.Equal(t, map[string]bool{"android.permission.CAMERA": false, "android.permission.READ_SMS": true,
				"android.permission.CONTACTS": true}, s.Granted)
			require.Equal(t, []any{3.0, 4.0}, s.Keys)
		} else {
			require.Equal(t, map[string]bool{"camera": false, "location-always": true, "contacts": true}, s.Granted)
			require.Equal(t, []any{"home", "volumeUp"}, s.Keys)
		}
	})
}

// Enter on iOS goes to the field that has the focus.
func TestKeysOfIOS(t *testing.T) {
	t.Parallel()
	s := newShop(ios)
	entered := false
	s.field.Entered = func() { entered = true }
	s.passes(t, `{"type":"tap","args":{"selector":{"type":"xpath","value":"//XCUIElementTypeTextField"}}}`,
		`{"type":"press_device_key","args":{"key":"enter"}}`)
	require.True(t, entered)
	r := s.fails(t, `{"type":"press_device_key","args":{"key":"back"}}`)
	require.Equal(t, "iOS has no key back", r.Message)
	r = newShop(ios).fails(t, `{"type":"press_device_key","args":{"key":"enter"}}`)
	require.Equal(t, "no element has the focus", r.Message)
}

// What is not seen is no success.
func TestNotSeen(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		platform, tool, words string
		change                func(*shop)
	}{
		"the keyboard stays": {android, `{"type":"hide_keyboard","args":{}}`, "the keyboard is still shown",
			func(s *shop) { s.Keyboard, s.StuckKeyboard = true, true }},
		"the screen does not turn": {android, `{"type":"rotate","args":{"orientation":"landscape"}}`,
			"the screen is still portrait", func(s *shop) { s.Fixed = true }},
		"the app does not come back": {ios, `{"type":"background","args":{"time":1}}`, "the app com.example.shop is background",
			func(s *shop) { s.States[shopID] = 3 }},
		"no such permission": {android, `{"type":"set_permissions","args":{"grant":["a.b"]}}`, "Unknown permission", nil},
		"a permission of Android": {ios, `{"type":"set_permissions","args":{"grant":["android.permission.CAMERA"]}}`,
			"is no permission of iOS", nil},
		"an app that is not there": {android, `{"type":"launch_app","args":{"appId":"com.example.none"}}`,
			"mobile: activateApp: the driver says", nil},
		"another state": {ios,
			`{"type":"assert","args":{"matcher":{"name":"app_state","args":{"value":"background"}}}}`,
			"expected to be background; it is foreground", nil},
		"no such context": {android, `{"type":"switch_context","args":{"name":"WEBVIEW_*"}}`,
			"there is no context WEBVIEW_*: there are NATIVE_APP", nil},
		"several contexts": {android, `{"type":"switch_context","args":{"name":"*"}}`, "2 contexts match *",
			func(s *shop) { s.WebViews = map[string]string{"W1": "http://a", "W2": "http://b"} }},
		"a file": {android, `{"type":"deep_link","args":{"url":"file:///etc/passwd"}}`,
			`addresses of the scheme "file" are refused`, nil},
		"an intent": {android, `{"type":"deep_link","args":{"url":"intent://x#Intent;end"}}`,
			`addresses of the scheme "intent" are refused`, nil},
		"no address":      {android, `{"type":"deep_link","args":{"url":"/cart"}}`, "is no absolute address", nil},
		"no such element": {android, `{"type":"tap","args":{"selector":"//none"}}`, "was not found", nil},
		"an element that is hidden": {android, `{"type":"tap","args":{"selector":"//android.widget.Button"}}`,
			"is not visible", func(s *shop) { s.button.Attributes["displayed"] = "false" }},
		"an element without a size": {android, `{"type":"tap","args":{"selector":"//android.widget.Button"}}`, "has no size",
			func(s *shop) { s.button.Attributes["bounds"] = "[5,5][5,5]" }},
		"an element off the screen": {android, `{"type":"tap","args":{"selector":"//android.widget.Button"}}`,
			"the point is not on the screen", func(s *shop) { s.button.Attributes["bounds"] = "[5000,5][6000,50]" }},
		"several elements": {android, `{"type":"swipe","args":{"selector":"//android.widget.TextView","direction":"up"}}`,
			"elements match", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShop(c.platform)
			if c.change != nil {
				c.change(s)
			}
			r := s.fails(t, c.tool)
			require.Contains(t, r.Message, c.words)
			require.False(t, r.Broken, "the device can be used further")
			require.Contains(t, []string{store.CodeStepFailed, store.CodeAssertionFailed}, r.Code)
		})
	}
}

// An element that never rests, and a dialog for ever.
func TestNeverRests(t *testing.T) {
	t.Parallel()
	s := newShop(android)
	places := 0
	s.Before = func(command string) bool {
		s.Look(func() {
			places++
			s.button.Attributes["bounds"] = fmt.Sprintf("[%d,100][%d,200]", places%500, places%500+200)
		})
		return false
	}
	r := s.fails(t, `{"type":"tap","args":{"selector":"//android.widget.Button"}}`)
	require.Contains(t, r.Message, "moves, and does not come to rest")
	require.Zero(t, s.taps)

	for _, tool := range kinds {
		s := newShop(android)
		s.Alert = "Allow?"
		r := s.fails(t, tool)
		require.Contains(t, r.Message, "a dialog is open", tool)
		require.False(t, r.Broken)
	}
	s = newShop(ios)
	s.Alert = "Allow?"
	said := s.passes(t, `{"type":"handle_dialog","args":{"action":"accept"}}`, `{"type":"tap","args":{"selector":`+s.named("Save")+`}}`)
	require.Equal(t, `accepted the dialog "Allow?"`, said[0])
}

// kinds are steps of all kinds, which the shop can do on Android.
var kinds = []string{
	`{"type":"tap","args":{"selector":"//android.widget.Button"}}`, `{"type":"tap","args":{}}`,
	`{"type":"long_press","args":{"selector":"//android.widget.Button"}}`,
	`{"type":"swipe","args":{"selector":"//android.widget.ListView","direction":"up"}}`,
	`{"type":"scroll_to","args":{"selector":{"type":"xpath","value":"//*[@text=\"Row 15\"]"},"container":"//android.widget.ListView"}}`,
	`{"type":"pinch","args":{}}`, `{"type":"zoom","args":{}}`, `{"type":"hide_keyboard","args":{}}`, `{"type":"background","args":{"time":1}}`,
	`{"type":"deep_link","args":{"url":"shop://x"}}`, `{"type":"set_permissions","args":{"grant":["camera"]}}`,
	`{"type":"rotate","args":{"orientation":"landscape"}}`, `{"type":"switch_context","args":{"name":"native"}}`,
	`{"type":"press_device_key","args":{"key":"back"}}`, `{"type":"launch_app","args":{}}`, `{"type":"terminate_app","args":{}}`,
	`{"type":"reset_app","args":{}}`, `{"type":"assert","args":{"matcher":{"name":"app_state","args":{"value":"foreground"}}}}`,
}

// Appium that dies in the middle of a step, at each of its commands, is a clear end.
func TestDies(t *testing.T) {
	t.Parallel()
	for _, tool := range kinds {
		t.Run(steps(t, tool)[0].Tool.Type, func(t *testing.T) {
			t.Parallel()
			for at := 1; ; at++ {
				s := newShop(android)
				s.Keyboard = true
				var commands atomic.Int64
				s.Before = func(string) bool { return commands.Add(1) >= int64(at) }
				r := play(t, replay.Config{Lease: s.lease(t), Steps: steps(t, tool)})
				if commands.Load() < int64(at) {
					require.Equal(t, "PASSED", r.Status, r.Message)
					require.Greater(t, at, 1, "the step has commands")
					return
				}
				require.Equal(t, store.CodeBrowserLost, r.Code, "command %d: %s", at, r.Message)
				require.Equal(t, "the device or its driver was lost", r.Message)
				require.True(t, r.Broken)
			}
		})
	}
}

// A driver that does not respond is left after the time of the step and of a command.
func TestHangs(t *testing.T) {
	t.Parallel()
	for _, tool := range kinds {
		t.Run(steps(t, tool)[0].Tool.Type, func(t *testing.T) {
			t.Parallel()
			s := newShop(android)
			release := make(chan struct{})
			s.Before = func(string) bool { <-release; return true }
			l := s.lease(t)
			t.Cleanup(func() { close(release) })
			list := steps(t, tool)
			list[0].TimeoutMS = 100
			r := play(t, replay.Config{Lease: l, Steps: list, PageTimeout: 200 * time.Millisecond, Grace: 100 * time.Millisecond})
			require.Equal(t, "the driver does not respond", r.Message)
			require.True(t, r.Broken)
		})
	}
}

// A driver that does not know a command is named with it.
func TestUnknownCommands(t *testing.T) {
	t.Parallel()
	for command, tool := range map[string]string{
		"mobile: isKeyboardShown":   `{"type":"hide_keyboard","args":{}}`,
		"mobile: backgroundApp":     `{"type":"background","args":{"time":1}}`,
		"mobile: deepLink":          `{"type":"deep_link","args":{"url":"shop://x"}}`,
		"mobile: changePermissions": `{"type":"set_permissions","args":{"revoke":["camera"]}}`,
		"mobile: pressKey":          `{"type":"press_device_key","args":{"key":"enter"}}`,
		"mobile: activateApp":       `{"type":"launch_app","args":{}}`,
		"mobile: terminateApp":      `{"type":"terminate_app","args":{}}`,
		"mobile: clearApp":          `{"type":"reset_app","args":{}}`,
		"mobile: queryAppState":     `{"type":"assert","args":{"matcher":{"name":"app_state","args":{"value":"foreground"}}}}`,
	} {
		s := newShop(android)
		s.Unknown = []string{command}
		r := s.fails(t, tool)
		require.Equal(t, "the driver UiAutomator2 does not know the command "+command, r.Message)
		require.Equal(t, store.CodeStepFailed, r.Code)
	}
}

// A step that the target cannot do ends the test before its first step, unless it may be
// left out.
func TestWrongPlatform(t *testing.T) {
	t.Parallel()
	s := newShop(android)
	r := play(t, replay.Config{Lease: s.lease(t), Steps: steps(t, kinds[0], `{"type":"go_to_url","args":{"url":"http://localhost/"}}`)})
	require.Equal(t, "go_to_url is not available in native apps", r.Message)
	require.Zero(t, s.taps)
	optional := steps(t, `{"type":"scroll_document","args":{"direction":"down"}}`, kinds[0])
	optional[0].Optional = true
	r = play(t, replay.Config{Lease: s.lease(t), Steps: optional})
	require.Equal(t, "PASSED", r.Status, r.Message)
	require.Equal(t, "SKIPPED", r.Records[0].Status)
	require.Equal(t, 1, s.taps)
}

// A condition may be the state of an app.
func TestCondition(t *testing.T) {
	t.Parallel()
	s := newShop(android)
	var list []step.Step
	when := `{"when":{"matcher":{"name":"app_state","args":{"value":"%s"}},"timeoutMs":300},"tool":` + kinds[0] + `}`
	for _, state := range []string{"foreground", "not_running"} {
		var one step.Step
		require.NoError(t, json.Unmarshal(fmt.Appendf(nil, when, state), &one))
		list = append(list, one)
	}
	r := play(t, replay.Config{Lease: s.lease(t), Steps: list})
	require.Equal(t, "PASSED", r.Status, r.Message)
	require.Equal(t, []string{"PASSED", "SKIPPED"}, []string{r.Records[0].Status, r.Records[1].Status})
	require.Equal(t, 1, s.taps)
	require.True(t, slices.Contains(s.Methods, "queryAppState"))
	require.Equal(t, appium.Foreground, s.States[shopID])
}
