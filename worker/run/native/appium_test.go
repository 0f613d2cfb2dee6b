package native_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/appium"
	store "github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/step/playback"
	"github.com/slipway-qa/slipway/worker/browser"
	"github.com/slipway-qa/slipway/worker/run/replay"
)

// fakeApp is an app of Appium's fake driver.
const fakeApp = `<app width="400" height="800">
 <MockButton id="save" left="20" top="100" width="100" height="40"/>
 <MockButton id="locked" enabled="false" left="20" top="200" width="100" height="40"/>
 <MockInputField id="name" left="20" top="300" width="200" height="40"/>
 <MockListItem left="0" top="400" width="400" height="40"/><MockListItem left="0" top="440" width="400" height="40"/>
 <MockWebView id="web"><html><body><title>Shop</title></body></html></MockWebView>
</app>`

// phone is a session of Appium itself.
type phone struct {
	url   string
	lease *browser.Lease
}

func newPhone(t *testing.T, server *appium.Server) *phone {
	t.Helper()
	file := filepath.Join(t.TempDir(), "app.xml")
	require.NoError(t, os.WriteFile(file, []byte(fakeApp), 0o600))
	l := session(t, server.URL, map[string]any{"platformName": "Fake", "appium:automationName": "Fake", "appium:deviceName": "Fake",
		"appium:app": file, "appium:newCommandTimeout": 600})
	return &phone{server.URL + "/session/" + l.Session.ID, l}
}

// ask sends a command of the protocol, beside the test.
func (p *phone) ask(t *testing.T, path string, body any, out any) {
	t.Helper()
	method, doc := http.MethodGet, []byte(nil)
	if body != nil {
		var err error
		doc, err = json.Marshal(body)
		require.NoError(t, err)
		method = http.MethodPost
	}
	r, err := http.NewRequestWithContext(t.Context(), method, p.url+path, bytes.NewReader(doc))
	require.NoError(t, err)
	r.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer answer.Body.Close()
	var envelope struct {
		Value json.RawMessage `json:"value"`
	}
	require.NoError(t, json.NewDecoder(answer.Body).Decode(&envelope))
	require.Equal(t, http.StatusOK, answer.StatusCode, "%s", envelope.Value)
	require.NoError(t, json.Unmarshal(envelope.Value, out))
}

func (p *phone) play(t *testing.T, tools ...string) replay.Result {
	t.Helper()
	return play(t, replay.Config{Lease: p.lease, Steps: steps(t, tools...)})
}

// move is an action of a pointer as the protocol has it.
func move(x, y, ms int) map[string]any {
	return map[string]any{"type": "pointerMove", "origin": "viewport", "x": float64(x), "y": float64(y), "duration": float64(ms)}
}

func rest(ms int) map[string]any { return map[string]any{"type": "pause", "duration": float64(ms)} }

func button(kind string) map[string]any { return map[string]any{"type": kind, "button": 0.0} }

// TestAppium plays steps against Appium itself, whose fake driver records gestures and has
// contexts, an orientation and elements, but no methods of a device.
func TestAppium(t *testing.T) {
	t.Parallel()
	server := appium.Start(t)
	p := newPhone(t, server)
	r := p.play(t, `{"type":"tap","args":{"selector":"//MockButton[@id='save']","point":{"x":0.25,"y":0.5}}}`,
		`{"type":"swipe","args":{"start":{"x":0.5,"y":0.5},"end":{"x":0.5,"y":0.25},"time":200}}`,
		`{"type":"long_press","args":{"selector":"//MockListItem[1]","time":700}}`, `{"type":"zoom","args":{}}`,
		`{"type":"scroll_to","args":{"selector":"//MockInputField"}}`,
		`{"type":"click","args":{"selector":"//MockButton[@id='save']"}}`,
		`{"type":"input_text","args":{"selector":"//MockInputField","text":"Ann"}}`,
		`{"type":"assert","args":{"selector":"//MockInputField","matcher":{"name":"text","args":{"value":"Ann"}}}}`,
		`{"type":"assert","args":{"selector":"//MockButton[@id='save']","matcher":{"name":"attribute","args":{"name":"clicks","value":"1"}}}}`,
		`{"type":"assert","args":{"selector":"//MockListItem","matcher":{"name":"count","args":{"value":"2"}}}}`,
		`{"type":"assert","args":{"selector":"//MockButton[@id='locked']","not":true,"matcher":{"name":"enabled"}}}`,
		`{"type":"assert","args":{"selector":"//MockButton[@id='locked']","matcher":{"name":"visible"}}}`,
		`{"type":"rotate","args":{"orientation":"landscape"}}`,
		`{"type":"switch_context","args":{"name":"WEBVIEW_*"}}`, `{"type":"rotate","args":{"orientation":"portrait"}}`,
		`{"type":"switch_context","args":{"name":"native"}}`, `{"type":"rotate","args":{"orientation":"landscape"}}`)
	require.Equal(t, "PASSED", r.Status, r.Message)
	require.Equal(t, "nothing changed on the screen", r.Records[0].Result.Message)
	require.Equal(t, "the context is WEBVIEW_1", r.Records[13].Result.Message)

	var orientation, context string
	p.ask(t, "/orientation", nil, &orientation)
	p.ask(t, "/context", nil, &context)
	require.Equal(t, [2]string{"LANDSCAPE", "NATIVE_APP"}, [2]string{orientation, context})
	var gestures [][]struct {
		ID         string            `json:"id"`
		Type       string            `json:"type"`
		Parameters map[string]string `json:"parameters"`
		Actions    []map[string]any  `json:"actions"`
	}
	p.ask(t, "/se/log", map[string]string{"type": "actions"}, &gestures)
	require.Len(t, gestures, 4)
	for _, g := range gestures {
		for _, finger := range g {
			require.Equal(t, "pointer", finger.Type)
			require.Equal(t, map[string]string{"pointerType": "touch"}, finger.Parameters)
		}
	}
	require.Equal(t, []map[string]any{move(45, 120, 0), button("pointerDown"), rest(50), button("pointerUp")}, gestures[0][0].Actions)
	require.Equal(t, []map[string]any{move(200, 400, 0), button("pointerDown"), rest(50), move(200, 200, 200), button("pointerUp")},
		gestures[1][0].Actions)
	require.Equal(t, []map[string]any{move(200, 420, 0), button("pointerDown"), rest(700), button("pointerUp")}, gestures[2][0].Actions)
	require.Len(t, gestures[3], 2)
	require.NotEqual(t, gestures[3][0].ID, gestures[3][1].ID)

	for tool, words := range map[string]string{
		`{"type":"tap","args":{"selector":"//none"}}`:         "was not found",
		`{"type":"tap","args":{"selector":"//MockListItem"}}`: "2 elements match",
		`{"type":"scroll_to",` +
			`"args":{"selector":"//none"}}`: "the list ends after 0 swipes",
		`{"type":"switch_context",` +
			`"args":{"name":"WEBVIEW_9"}}`: "there is no context WEBVIEW_9",
		`{"type":"hide_keyboard","args":{}}`: "the driver Fake " +
			"does not know the command mobile: isKeyboardShown",
		`{"type":"background","args":{"time":1}}`: "the driver Fake " +
			"does not know the command mobile: backgroundApp",
		`{"type":"deep_link","args":{"url":"shop://x"}}`: "the driver Fake " +
			"does not know the command mobile: deepLink",
		`{"type":"set_permissions","args":{"grant":["camera"],"appId":"com.example.a"}}`: "the driver Fake " +
			"does not know the command mobile: setPermission",
		`{"type":"press_device_key","args":{"key":"home"}}`: "the driver Fake " +
			"does not know the command mobile: pressButton",
		`{"type":"launch_app","args":{"appId":"com.example.a"}}`: "the driver Fake " +
			"does not know the command mobile: activateApp",
		`{"type":"terminate_app","args":{"appId":"com.example.a"}}`: "the driver Fake does not know the command mobile: terminateApp",
		`{"type":"reset_app","args":{}}`:                            "the id of the app is not known",
		`{"type":"assert","args":{"matcher":{"name":"app_state","args":{"value":"background","name":"com.example.a"}}}}`: "does not know the " +
			"command mobile: queryAppState",
	} {
		list := steps(t, tool)
		list[0].TimeoutMS = 500
		r := play(t, replay.Config{Lease: p.lease, Steps: list})
		require.Equal(t, store.CodeStepFailed, r.Code, tool)
		require.Contains(t, r.Message, words)
		require.False(t, r.Broken)
	}
	r = p.play(t, `{"type":"switch_context","args":{"name":"WEBVIEW_1"}}`, `{"type":"tap","args":{}}`)
	require.Equal(t, "tap is not available in a web view: switch_context to native first", r.Message)
}

// Appium is killed while a step waits.
func TestAppiumKilled(t *testing.T) {
	t.Parallel()
	server := appium.Start(t)
	p := newPhone(t, server)
	ended := make(chan replay.Result, 1)
	list := steps(t, `{"type":"tap","args":{}}`, `{"type":"tap","args":{"selector":"//none"}}`)
	reached := make(chan struct{})
	go func() {
		ended <- replay.Play(t.Context(), replay.Config{Lease: p.lease, Steps: list, StepTimeout: 10 * time.Minute,
			Progress: func(records []playback.Record) {
				if len(records) == 1 {
					close(reached)
				}
			}})
	}()
	select {
	case <-reached:
	case r := <-ended:
		require.FailNow(t, "the test ended before", r.Message)
	}
	server.Kill()
	r := <-ended
	require.Equal(t, store.CodeBrowserLost, r.Code, r.Message)
	require.True(t, r.Broken)
	require.Equal(t, []string{playback.Passed, playback.Failed}, []string{r.Records[0].Status, r.Records[1].Status})
}
