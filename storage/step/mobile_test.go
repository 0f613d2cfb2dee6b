package step_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/step"
)

func readTool(t *testing.T, text string) step.Step {
	t.Helper()
	var s step.Step
	require.NoError(t, json.Unmarshal([]byte(`{"tool":`+text+`}`), &s), text)
	return s
}

// mobileTools are steps of all tools of native apps, and of their assertion.
var mobileTools = []string{
	`{"type":"tap","args":{"selector":"//a"}}`,
	`{"type":"tap","args":{"point":{"x":0.5,"y":0},"clickCount":2}}`,
	`{"type":"long_press","args":{"selector":"//a","point":{"x":1,"y":1},"time":800}}`,
	`{"type":"swipe","args":{"direction":"left"}}`,
	`{"type":"swipe","args":{"selector":"//a","start":{"x":0,"y":0.5},"end":{"x":1,"y":0.5},"time":100}}`,
	`{"type":"scroll_to","args":{"selector":"//a","container":"//b","direction":"down","max":100}}`,
	`{"type":"pinch","args":{}}`, `{"type":"zoom","args":{"selector":"//a"}}`, `{"type":"hide_keyboard","args":{}}`,
	`{"type":"background","args":{"time":5000}}`, `{"type":"deep_link","args":{"url":"shop://cart/{{row:id}}","appId":"com.example.shop"}}`,
	`{"type":"set_permissions","args":{"grant":["camera","android.permission.READ_SMS"],"revoke":["location-always"],"appId":"{{app}}"}}`,
	`{"type":"rotate","args":{"orientation":"landscape"}}`, `{"type":"switch_context","args":{"name":"WEBVIEW_*"}}`,
	`{"type":"press_device_key","args":{"key":"back"}}`, `{"type":"launch_app","args":{}}`,
	`{"type":"terminate_app","args":{"appId":"com.example.shop"}}`,
	`{"type":"reset_app","args":{}}`,
	`{"type":"assert","args":{"not":true,"matcher":{"name":"app_state","args":{"value":"foreground","name":"com.example.shop"}}}}`,
}

func TestMobileTools(t *testing.T) {
	t.Parallel()
	for _, text := range mobileTools {
		s := readTool(t, text)
		require.NoError(t, step.Validate([]step.Step{s}), text)
		require.True(t, step.IsMobile(&s.Tool), text)
		require.False(t, step.IsWeb(&s.Tool), text)
		again, err := json.Marshal(s.Tool)
		require.NoError(t, err)
		var stored step.Tool
		require.NoError(t, json.Unmarshal(again, &stored))
		require.Equal(t, s.Tool, stored, "what is stored is what came")
	}
	for text, path := range map[string]string{
		`{"type":"tap","args":{"position":{"x":1,"y":1}}}`:                                                    "[0].tool.args.position",
		`{"type":"tap","args":{"point":{"x":1.1,"y":0}}}`:                                                     "[0].tool.args.point",
		`{"type":"tap","args":{"clickCount":4}}`:                                                              "[0].tool.args.clickCount",
		`{"type":"click","args":{"selector":"a","point":{"x":0,"y":0}}}`:                                      "[0].tool.args.point",
		`{"type":"swipe","args":{}}`:                                                                          "[0].tool.args.direction",
		`{"type":"swipe","args":{"direction":"top"}}`:                                                         "[0].tool.args.direction",
		`{"type":"swipe","args":{"start":{"x":0,"y":0}}}`:                                                     "[0].tool.args.start",
		`{"type":"swipe","args":{"direction":"up","start":{"x":0,"y":0},"end":{"x":0,"y":1}}}`:                "[0].tool.args.direction",
		`{"type":"swipe","args":{"start":{"x":0,"y":0},"end":{"x":0,"y":0}}}`:                                 "[0].tool.args.end",
		`{"type":"scroll_to","args":{}}`:                                                                      "[0].tool.args.selector",
		`{"type":"scroll_to","args":{"selector":"//a","max":101}}`:                                            "[0].tool.args.max",
		`{"type":"scroll_to","args":{"selector":"//a","container":{"type":"css","value":""}}}`:                "[0].tool.args.container.value",
		`{"type":"background","args":{}}`:                                                                     "[0].tool.args.time",
		`{"type":"background","args":{"time":600001}}`:                                                        "[0].tool.args.time",
		`{"type":"deep_link","args":{}}`:                                                                      "[0].tool.args.url",
		`{"type":"deep_link","args":{"url":"a://b","appId":"com.x; reboot"}}`:                                 "[0].tool.args.appId",
		`{"type":"launch_app","args":{"appId":"-n"}}`:                                                         "[0].tool.args.appId",
		`{"type":"set_permissions","args":{}}`:                                                                "[0].tool.args",
		`{"type":"set_permissions","args":{"grant":["a b"]}}`:                                                 "[0].tool.args.grant[0]",
		`{"type":"set_permissions","args":{"grant":["camera"],"revoke":["camera"]}}`:                          "[0].tool.args.revoke[0]",
		`{"type":"rotate","args":{"orientation":"upside_down"}}`:                                              "[0].tool.args.orientation",
		`{"type":"switch_context","args":{}}`:                                                                 "[0].tool.args.name",
		`{"type":"press_device_key","args":{"key":"Enter"}}`:                                                  "[0].tool.args.key",
		`{"type":"assert","args":{"matcher":{"name":"app_state","args":{"value":"gone"}}}}`:                   "[0].tool.args.matcher.args.value",
		`{"type":"assert","args":{"selector":"//a","matcher":{"name":"app_state","args":{"value":"gone"}}}}`:  "[0].tool.args.selector",
		`{"type":"assert","args":{"matcher":{"name":"app_state","args":{"value":"foreground","name":"-x"}}}}`: "[0].tool.args.matcher.args.name",
		`{"type":"in_frame","args":{"selector":"f","tool":{"type":"tap","args":{"selector":"//a"}}}}`:         "[0].tool.args.tool.type",
		`{"type":"for_each","args":{"selector":"li","tools":[{"type":"tap","args":{"selector":"a"}}]}}`:       "[0].tool.args.tools[0].type",
	} {
		err := step.Validate([]step.Step{readTool(t, text)})
		var invalid *step.InvalidError
		require.ErrorAs(t, err, &invalid, text)
		require.Equal(t, path, invalid.Path, "%s: %v", text, err)
	}
}

// Variables are replaced in all texts of the tools.
func TestMobileVariables(t *testing.T) {
	t.Parallel()
	lookup := func(r step.Reference) (string, bool) { return "x" + r.Name, true }
	for text, want := range map[string]string{
		`{"type":"scroll_to","args":{"selector":"//{{a}}","container":"//{{b}}"}}`: `{"type":"scroll_to",` +
			`"args":{"selector":{"type":"xpath","value":"//xa"},"container":{"type":"xpath","value":"//xb"}}}`,
		`{"type":"deep_link","args":{"url":"shop://{{a}}","appId":"{{b}}"}}`: `{"type":"deep_link",` +
			`"args":{"url":"shop://xa","appId":"xb"}}`,
		`{"type":"switch_context","args":{"name":"{{a}}"}}`: `{"type":"switch_context",` +
			`"args":{"name":"xa"}}`,
		`{"type":"assert","args":{"matcher":{"name":"app_state","args":{"value":"foreground","name":"{{a}}"}}}}`: `{"type":"assert",` +
			`"args":{"matcher":{"name":"app_state","args":{"value":"foreground","name":"xa"}}}}`,
	} {
		s := readTool(t, text)
		got, err := step.ExpandTool(s.Tool, lookup)
		require.NoError(t, err)
		doc, err := json.Marshal(got)
		require.NoError(t, err)
		require.JSONEq(t, want, string(doc))
		require.Contains(t, text, "{{a}}")
		require.NotEmpty(t, step.References([]step.Step{s}), "the stored step keeps its variables")
	}
}
