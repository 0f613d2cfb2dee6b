package devtools_test

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/api/authoring/devtools"
	"github.com/slipway-qa/slipway/storage/step"
)

func tools(t *testing.T, steps []step.Step) []string {
	t.Helper()
	all := make([]string, len(steps))
	for i := range steps {
		text, err := json.Marshal(steps[i].Tool)
		require.NoError(t, err)
		all[i] = string(text)
	}
	return all
}

func TestRecording(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/order.json")
	require.NoError(t, err)
	got, err := devtools.Read(text)
	require.NoError(t, err)
	require.Equal(t, "Order a lamp", got.Name)
	require.Equal(t, "https://shop.example.com/", got.URL)
	require.Equal(t, []string{"steps[6]: scroll is left out: each step scrolls to its element"}, got.Warnings)
	require.Equal(t, []string{
		`{"type":"set_viewport","args":{"width":1280,"height":720}}`,
		`{"type":"go_to_url","args":{"url":"https://shop.example.com/"}}`,
		`{"type":"click","args":{"selector":{"type":"css","value":"#mail","fingerprint":{"role":"textbox","name":"Mail",` +
			`"attributes":{"id":"mail"}}}}}`,
		`{"type":"input_text","args":{"selector":{"type":"css","value":"#mail"` +
			`,"fingerprint":{"role":"textbox","name":"Mail","attributes":{"id":"mail"}}},"text":"ann@x.org"}}`,
		`{"type":"press_key","args":{"key":"Control+Shift+a"}}`,
		`{"type":"select","args":{"selector":{"type":"css","value":"form \u003e select"},"optionValue":"r"}}`,
		`{"type":"click","args":{"selector":{"type":"role","value":"button","name":"Order","exact":true,"fingerprint":{"role":"button",` +
			`"name":"Order","text":"Order"}}}}`,
		`{"type":"click","args":{"selector":{"type":"css","value":"button.buy","within":{"type":"css","value":"shop-card"}}}}`,
		`{"type":"in_frame","args":{"selector":{"type":"css","value":"iframe, frame","index":0},"tool":{"type":"in_frame",` +
			`"args":{"selector":{"type":"css","value":"iframe, frame","index":1},"tool":{"type":"double_click","args":{"selector":{"type":"xpath",` +
			`"value":"//*[@id='x']"}}}}}}}`,
		`{"type":"switch_window","args":{"matcher":{"name":"index","args":{"value":"1"}}}}`,
		`{"type":"right_click","args":{"selector":{"type":"css","value":"[data-testid=\"row\"]","fingerprint":{"testId":"row"}}}}`,
		`{"type":"switch_window","args":{"matcher":{"name":"index","args":{"value":"0"}}}}`,
		`{"type":"assert","args":{"selector":{"type":"css","value":"li"},"matcher":{"name":"count","args":{"value":"3","mode":"equals"}}}}`,
		`{"type":"assert","args":{"selector":{"type":"css","value":"li"},"matcher":{"name":"attribute","args":{"value":"x","name":"class"}}}}`,
		`{"type":"assert","args":{"selector":{"type":"css","value":".wait"},"matcher":{"name":"hidden","args":{}}}}`,
	}, tools(t, got.Steps))
	require.Equal(t, 3000, got.Steps[12].TimeoutMS)
}

func TestRefused(t *testing.T) {
	t.Parallel()
	for recorded, want := range map[string]string{
		`{"type":"waitForExpression","expression":"1"}`:                       "steps[0].type: waitForExpression has no counterpart",
		`{"type":"customStep","name":"x","parameters":{}}`:                    "steps[0].type: customStep has no counterpart",
		`{"type":"click","selectors":[["aria/Order"]]}`:                       "steps[0].selectors: names an accessible name without a role",
		`{"type":"click","selectors":[]}`:                                     "steps[0].selectors: is missing",
		`{"type":"click","selectors":[7]}`:                                    "steps[0].selectors: must be texts",
		`{"type":"click","selectors":[["#a"]],"duration":900}`:                "steps[0].duration",
		`{"type":"click","selectors":[["#a"]],"button":"auxiliary"}`:          "steps[0].button",
		`{"type":"waitForElement","selectors":[["#a"]],"properties":{"a":1}}`: "steps[0].properties",
		`{"type":"waitForElement","selectors":[["#a"]],"operator":"<"}`:       "steps[0].operator",
		`{"type":"change","selectors":[["#a"]]}`:                              "steps[0].value: is missing",
		`{"type":"navigate"}`:                                                 "steps[0].url: is missing",
		`{"type":"click","selectors":[["[[["]]}`:                              "steps[0]: selector",
		`7`:                                                                   "steps[0]: is no step",
		`{"type":"navigate","url":7}`: "steps[0]: is no step of a recording: url must not be a " +
			"JSON number",
		`{"type":"close"},{"type":"keyDown","key":"a"}`: "steps[0].type: close has no counterpart",
		`{"type":"scroll","x":0,"y":5}`:                 "holds no step",
	} {
		_, err := devtools.Read([]byte(`{"title":"x","steps":[` + recorded + `]}`))
		require.ErrorContains(t, err, want, recorded)
		var wrong *step.InvalidError
		require.ErrorAs(t, err, &wrong)
	}
	_, err := devtools.Read([]byte(`[]`))
	require.ErrorContains(t, err, "must be a recording of the DevTools")
}

func FuzzRead(f *testing.F) {
	text, err := os.ReadFile("testdata/order.json")
	require.NoError(f, err)
	f.Add(text)
	f.Fuzz(func(t *testing.T, text []byte) {
		got, err := devtools.Read(text)
		if err == nil {
			require.NoError(t, step.Validate(got.Steps))
		}
	})
}
