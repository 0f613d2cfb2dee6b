package tests

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestStepsInWords(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][3]string{
		`{"type":"go_to_url","args":{"url":"/a"}}`: {"Open", "", "/a"},
		`{"type":"input_text","args":{"selector":{"type":"label","value":"Email"},"text":"a@b.c"}}`: {
			"Type into", `label "Email"`, "a@b.c"},
		`{"type":"click","args":{"selector":{"type":"role","value":"button","name":"Save","index":-1,"within":{"type":"css","value":"form"}}}}`: {
			"Click", `button "Save" in css form, the last`, ""},
		`{"type":"assert","args":{"selector":{"type":"css","value":"h1"},"not":true,"matcher":{"name":"visible"}}}`: {
			"Check", "css h1", "is not visible"},
		`{"type":"assert","args":{"matcher":{"name":"url","args":{"value":"/done","mode":"contains"}}}}`: {
			"Check", "", `url contains "/done"`},
		`{"type":"assert","args":{"selector":{"type":"css","value":"li"},"matcher":{"name":"count","args":{"value":"3","mode":"at_least"}}}}`: {
			"Check", "css li", "count at least 3"},
		`{"type":"in_frame","args":{"selector":{"type":"css","value":"iframe"},"tool":
			{"type":"in_shadow_root","args":{"selector":{"type":"css","value":"x-app"},"tool":
			{"type":"click","args":{"selector":{"type":"text","value":"Go","exact":true}}}}}}}`: {
			"Click", `text "Go" exactly in the shadow root of css x-app in the frame css iframe`, ""},
		`{"type":"drag","args":{"selector":{"type":"css","value":"#a"},"target":{"type":"css","value":"#b"}}}`: {"Drag", "css #a to css #b", ""},
		`{"type":"set_viewport","args":{"width":390,"height":844}}`:                                            {"Resize the window", "", "390 × 844"},
		`{"type":"pause","args":{"time":500}}`:                                                                 {"Wait", "", "500 ms"},
		`{"type":"handle_dialog","args":{"action":"accept","text":"yes"}}`:                                     {"Answer the dialog", "", "accept yes"},
		`{"type":"switch_window","args":{"matcher":{"name":"new"}}}`:                                           {"Switch to the window", "", "new"},
		`{"type":"of_tomorrow","args":{}}`:                                                                     {"of tomorrow", "", ""},
	} {
		var one tool
		require.NoError(t, json.Unmarshal([]byte(text), &one))
		require.Equal(t, want, [3]string{one.Action(), one.Place(), one.Value()}, text)
	}
}

func TestWhatIsImported(t *testing.T) {
	t.Parallel()
	for document, want := range map[string]string{
		`[{"id":"s1"}]`:                        `{"steps":[{"id":"s1"}]}`,
		`{"name":"a","steps":[]}`:              `{"name":"a","steps":[]}`,
		`{"name":"a","tests":[]}`:              `{"name":"a","side":{"name":"a","tests":[]}}`,
		`{"id":"1","name":"a","revisions":[]}`: `{"name":"a"}`,
		`{"data":{"id":"1","name":"a","tags":["x"],"revisions":[{"steps":[1]},{"steps":[2],"intent":"b"}]}}`: `
			{"intent":"b","name":"a","steps":[2],"tags":["x"]}`,
	} {
		body, fault := importOf(document)
		require.Empty(t, fault)
		text, err := json.Marshal(body)
		require.NoError(t, err)
		require.JSONEq(t, want, string(text))
	}
	_, fault := importOf("[\n{\n]")
	require.Contains(t, fault, "in line 3")
	_, fault = importOf(`"a"`)
	require.Contains(t, fault, "must be an array of steps")
}
