package replay_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	store "github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/browser"
	"github.com/slipway-qa/slipway/worker/browser/webdriver"
	"github.com/slipway-qa/slipway/worker/run/replay"
)

// app is an Appium server with one screen: a field, a label that shows what was
// typed once the button was clicked, and a button that is displayed at the third
// look.
type app struct {
	mu           sync.Mutex
	typed, label string
	looks        int
	commands     []string
	browser      string // of the session
}

func (a *app) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	var body struct {
		Using, Value, Text string
	}
	_ = json.NewDecoder(r.Body).Decode(&body)
	a.commands = append(a.commands, r.Method+" "+r.URL.Path)
	const ref = "element-6066-11e4-a52e-4f735466cecf"
	switch r.Method + " " + r.URL.Path {
	case "POST /session":
		respond(w, map[string]any{"sessionId": "1", "capabilities": map[string]any{"platformName": "android", "browserName": a.browser}})
	case "POST /session/1/elements":
		list := []map[string]string{}
		for _, id := range []string{"field", "label", "button"} {
			if body.Value == "#"+id || body.Value == "//"+id || body.Value == "*" {
				list = append(list, map[string]string{ref: id})
			}
		}
		respond(w, list)
	case "GET /session/1/element/button/displayed":
		a.looks++
		respond(w, a.looks >= 3)
	case "GET /session/1/element/field/displayed", "GET /session/1/element/label/displayed":
		respond(w, true)
	case "POST /session/1/element/field/clear":
		a.typed = ""
		respond(w, nil)
	case "POST /session/1/element/field/value":
		a.typed += body.Text
		respond(w, nil)
	case "POST /session/1/element/button/click":
		a.label = "Hello  " + a.typed
		respond(w, nil)
	case "GET /session/1/element/label/text":
		respond(w, a.label)
	default:
		w.WriteHeader(http.StatusNotFound)
		respond(w, map[string]string{"error": "unknown command", "message": r.URL.Path})
	}
}

func respond(w http.ResponseWriter, value any) {
	_ = json.NewEncoder(w).Encode(map[string]any{"value": value})
}

func TestNative(t *testing.T) {
	t.Parallel()
	claims, firstMatch := "", false
	run := func(steps ...step.Step) replay.Result {
		t.Helper()
		server := httptest.NewServer(&app{browser: claims})
		defer server.Close()
		c, err := webdriver.New(webdriver.Config{URL: server.URL})
		require.NoError(t, err)
		s, err := c.NewSession(context.Background(), nil)
		require.NoError(t, err)
		return play(t, replay.Config{Lease: &browser.Lease{Session: s, Mobile: true}, Steps: steps, Screenshots: true, FirstMatch: firstMatch})
	}
	ms := 1
	r := run(input("#field", "Ada"), click("#button"), is("#label", step.TextIs, "Hello Ada"), is("#button", step.Visible),
		is("#none", step.Hidden), is("*", step.Count, "3"), not(is("#label", step.TextIs, "x")), do(step.Pause, step.Args{Time: &ms}),
		do(step.Assert, step.Args{Selector: xpath("//label"), Matcher: &step.Matcher{Name: step.Visible}}), do(step.Finish, step.Args{}))
	require.Equal(t, "PASSED", r.Status, r.Message)
	require.Empty(t, r.Fingerprints)

	r = run(within(250, is("#label", step.TextIs, "x")))
	require.Equal(t, store.CodeAssertionFailed, r.Code)
	require.Contains(t, r.Message, `expected text equals "x"; it is ""`)
	r = run(within(250, click("#none")))
	require.Equal(t, store.CodeStepFailed, r.Code)
	require.Contains(t, r.Message, "was not found")
	for _, s := range []step.Step{choose("#field", "x"), open("http://localhost/"), key("a"), frame("#f", click("#a")),
		window(step.WindowNew, "")} {
		r = run(s)
		require.Equal(t, store.CodeStepFailed, r.Code)
		require.Contains(t, r.Message, "is not available in native apps")
	}
	for words, s := range map[string]*step.Selector{
		"the type role is not":        {Type: step.ByRole, Value: "button", Name: "Save"},
		"the type testId is not":      {Type: step.TestID, Value: "field"},
		"with within, has or hasText": pick{css("#field")}.in(css("*")),
		"within, has or hasText is":   {Type: step.CSS, Value: "#field", HasText: "x"},
	} {
		for _, kind := range []string{step.Click, step.Assert} {
			r = run(do(kind, step.Args{Selector: s, Matcher: &step.Matcher{Name: step.Count, Args: step.MatcherArgs{Value: "0"}}}))
			require.Equal(t, store.CodeStepFailed, r.Code, words)
			require.Contains(t, r.Message, words)
		}
	}
	// Elements have places from the end as well.
	at := func(index int) *step.Selector { return &step.Selector{Type: step.CSS, Value: "*", Index: &index} }
	r = run(do(step.Click, step.Args{Selector: at(-1)}), is("#label", step.TextIs, "Hello"),
		do(step.InputText, step.Args{Selector: at(-3), Text: new(string("x"))}))
	require.Equal(t, "PASSED", r.Status, r.Message)
	for _, index := range []int{-4, 3} {
		r = run(within(250, do(step.Click, step.Args{Selector: at(index)})))
		require.Equal(t, store.CodeStepFailed, r.Code)
		require.Contains(t, r.Message, "was not found")
	}
	// One of several is chosen only where the test allows it.
	for _, s := range []step.Step{click("*"), is("*", step.Visible)} {
		r = run(within(250, s))
		require.Equal(t, store.CodeStepFailed, r.Code)
		require.Equal(t, "css *: 3 elements match, and the step does not say which", r.Message)
	}
	firstMatch = true
	r = run(input("*", "Ada"), is("*", step.Visible), is("*", step.Count, "3"))
	firstMatch = false
	require.Equal(t, "PASSED", r.Status, r.Message)
	require.Equal(t, "3 elements match; the first was used", r.Records[0].Result.Message)
	require.Equal(t, "3 elements match; the first was used", r.Records[1].Result.Message)
	require.Empty(t, r.Records[2].Result.Message)
	r = run(is("#field", step.URLIs, "x"))
	require.Contains(t, r.Message, "the matcher url is not available in native apps")
	claims = "chrome"
	r = run(input("#field", "Ada"))
	require.Equal(t, store.CodeStepFailed, r.Code)
	require.Contains(t, r.Message, "one of a browser")
}
