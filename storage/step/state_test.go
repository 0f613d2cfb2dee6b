package step_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/step"
)

// TestState checks the arguments of the tools that set, save and repeat: "" is valid, else
// the path and the beginning of the message.
func TestState(t *testing.T) {
	t.Parallel()
	click := `{"type":"click","args":{"selector":"a"}}`
	for text, want := range map[string]string{
		`{"type":"set_cookie","args":{"name":"a","value":"b","domain":"x.example","path":"/p","secure":true,"httpOnly":true,"sameSite":"None",` +
			`"expires":"2030-01-01T00:00:00Z"}}`: "",
		`{"type":"set_cookie","args":{"name":"{{n}}","value":"{{v}}"}}`: "",
		`{"type":"set_cookie","args":{"name":"a b","value":"b"}}`: "args.name: must be a name " +
			"of a cookie",
		`{"type":"set_cookie","args":{"name":"a"}}`:                                                         "args.value: is missing",
		`{"type":"set_cookie","args":{"name":"a","value":"b;c"}}`:                                           "args.value: must not hold",
		`{"type":"set_cookie","args":{"name":"a","value":"b","domain":"https://x"}}`:                        "args.domain: must be a host",
		`{"type":"set_cookie","args":{"name":"a","value":"b","path":"x"}}`:                                  "args.path: must begin with /",
		`{"type":"set_cookie","args":{"name":"a","value":"b","sameSite":"never"}}`:                          "args.sameSite: must be one of",
		`{"type":"set_cookie","args":{"name":"a","value":"b","sameSite":"none"}}`:                           "args.secure: must be true",
		`{"type":"set_cookie","args":{"name":"a","value":"b","expires":"tomorrow"}}`:                        "args.expires: must be a time",
		`{"type":"set_storage","args":{"area":"local","key":"any key","value":""}}`:                         "",
		`{"type":"set_storage","args":{"area":"local","key":"k","value":"v","origin":"https://x.example"}}`: "",
		`{"type":"set_storage","args":{"area":"local","key":"k","value":"v","origin":"https://x/p"}}`:       "args.origin: must be scheme",
		`{"type":"set_storage","args":{"area":"disk","key":"k","value":"v"}}`:                               "args.area: must be one of",
		`{"type":"clear_state","args":{"cookies":true,"local":true}}`:                                       "",
		`{"type":"clear_state","args":{}}`:                                                                  "args: must have one of",
		`{"type":"clear_state","args":{"name":"a"}}`: "args.name: is no argument of " +
			"clear_state",
		`{"type":"emulate","args":{"device":"iphone 15","locale":"de-DE","timeZone":"Asia/Tokyo","geolocation":{"latitude":1,"longitude":2},` +
			`"colorScheme":"dark","offline":true,"cpu":4,"network":{"latency":100},"permissions":["geolocation"]}}`: "",
		`{"type":"emulate","args":{}}`:                                                       "args: must have one of",
		`{"type":"emulate","args":{"device":"Nokia"}}`:                                       "args.device: must be one of",
		`{"type":"emulate","args":{"viewport":{"width":1,"height":500}}}`:                    "args.viewport: must have",
		`{"type":"emulate","args":{"locale":"de_DE!"}}`:                                      "args.locale: must be",
		`{"type":"emulate","args":{"timeZone":"Mars/Olympus"}}`:                              "args.timeZone: must be",
		`{"type":"emulate","args":{"geolocation":{"latitude":91,"longitude":2}}}`:            "args.geolocation: must have",
		`{"type":"emulate","args":{"cpu":0.5}}`:                                              "args.cpu: must be",
		`{"type":"emulate","args":{"network":{"down":-1}}}`:                                  "args.network: must have",
		`{"type":"emulate","args":{"permissions":["Any thing"]}}`:                            "args.permissions[0]: must be",
		`{"type":"set_clock","args":{"fixed":"2030-01-01T00:00:00Z"}}`:                       "",
		`{"type":"set_clock","args":{"advance":1000}}`:                                       "",
		`{"type":"set_clock","args":{"advance":1,"resume":true}}`:                            "args: must have one of",
		`{"type":"set_clock","args":{"fixed":"noon"}}`:                                       "args.fixed: must be a time",
		`{"type":"set_clock","args":{"advance":-1}}`:                                         "args.advance: must be",
		`{"type":"save","args":{"from":"text","selector":"a","name":"x","match":"no (.*)"}}`: "",
		`{"type":"save","args":{"from":"url","name":"x"}}`:                                   "",
		`{"type":"save","args":{"from":"url","name":"x","selector":"a"}}`:                    "args.selector: is no argument",
		`{"type":"save","args":{"from":"text","name":"x"}}`:                                  "args.selector: is missing",
		`{"type":"save","args":{"from":"attribute","selector":"a","name":"x"}}`:              "args.attribute: is missing",
		`{"type":"save","args":{"from":"text","selector":"a","name":"X y"}}`:                 "args.name: must be",
		`{"type":"save","args":{"from":"text","selector":"a","name":"x","match":"(a)(b)"}}`:  "args.match: must have one group",
		`{"type":"for_each","args":{"selector":"tr","tools":[` + click + `],"max":5}}`:       "",
		`{"type":"for_each","args":{"selector":"tr","tools":[]}}`:                            "args.tools: must have at least one",
		`{"type":"for_each","args":{"selector":"tr","tools":[` + click +
			`],"max":101}}`: "args.max: must be 1 to 100",
		`{"type":"for_each","args":{"selector":"//tr","tools":[` + click +
			`]}}`: "args.selector.type: must not be xpath",
		`{"type":"for_each","args":{"selector":{"type":"css","value":"tr","index":1},"tools":[` + click +
			`]}}`: "args.selector.index: says which",
		`{"type":"for_each","args":{"selector":"tr","tools":[{"type":"for_each","args":{"selector":"td","tools":[` +
			click + `]}}]}}`: "args.tools[0].type: for_each cannot stand",
		`{"type":"for_each","args":{"selector":"tr","tools":[{"type":"click",` +
			`"args":{}}]}}`: "args.tools[0].args.selector: is missing",
		`{"type":"for_each","args":{"selector":"tr","tools":[{"type":"set_viewport","args":{"width":500,` +
			`"height":500}}]}}`: "args.tools[0].args.selector: is missing",
		`{"type":"click","args":{"selector":"a","position":{"x":1,"y":2},"button":"middle","modifiers":["Control"],"clickCount":2}}`: "",
		`{"type":"click","args":{"selector":"a",` +
			`"button":"fourth"}}`: "args.button: must be one of",
		`{"type":"click","args":{"selector":"a","modifiers":["Shift",` +
			`"Shift"]}}`: "args.modifiers[1]: must be one of",
		`{"type":"click","args":{"selector":"a",` +
			`"position":{"x":-1,"y":2}}}`: "args.position: must be",
		`{"type":"click","args":{"selector":"a",` +
			`"clickCount":4}}`: "args.clickCount: must be",
		`{"type":"input_text","args":{"selector":"a","text":"t",` +
			`"button":"left"}}`: "args.button: is no argument",
		`{"type":"upload_file","args":{"files":[{"name":"a","content":""}]}}`: "",
		`{"type":"upload_file",` +
			`"args":{"selector":"a"}}`: "args.file: is missing",
		`{"type":"upload_file","args":{"selector":"a","file":{"name":"a"},` +
			`"files":[{"name":"a"}]}}`: "args.files: must not stand beside",
		`{"type":"upload_file","args":{"selector":"a",` +
			`"files":[{"name":"a/b"}]}}`: "args.files[0].name: must be a name",
		`{"type":"click","args":{"selector":{"type":"css","value":"a","near":{"selector":"b","distance":20}}}}`: "",
		`{"type":"click","args":{"selector":{"type":"css","value":"a",` +
			`"below":{"distance":20}}}}`: "args.selector.below.selector: is missing",
		`{"type":"click","args":{"selector":{"type":"css","value":"a","leftOf":{"selector":"b",` +
			`"distance":-1}}}}`: "args.selector.leftOf.distance: must be",
		`{"type":"click","args":{"selector":{"type":"css","value":"a",` +
			`"above":{"selector":"b[["}}}}`: "args.selector.above.selector.value: ",
		`{"type":"assert","args":{"matcher":{"name":"cookie","args":{"name":"a","attributes":{"secure":true}}}}}`:                  "",
		`{"type":"assert","args":{"matcher":{"name":"storage","args":{"area":"session","key":"k","value":"v","mode":"matches"}}}}`: "",
		`{"type":"assert","args":{"matcher":{"name":"cookie",` +
			`"args":{}}}}`: "args.matcher.args.name: is missing",
		`{"type":"assert","args":{"matcher":{"name":"storage",` +
			`"args":{"key":"k"}}}}`: "args.matcher.args.area: must be one of",
		`{"type":"assert","args":{"selector":"a","matcher":{"name":"text","args":{"value":"x",` +
			`"key":"k"}}}}`: "args.matcher.args.key: is no argument",
		`{"type":"assert","args":{"matcher":{"name":"request","args":{"url":"**",` +
			`"area":"local"}}}}`: "args.matcher.args.area: is no argument",
		`{"type":"assert","args":{"matcher":{"name":"cookie","args":{"name":"a",` +
			`"url":"**"}}}}`: "args.matcher.args.url: is no argument",
		`{"type":"switch_window","args":{"matcher":{"name":"window_index","args":{"value":"1","key":"k"}}}}`:                    "args.matcher",
		`{"type":"for_each","args":{"selector":"tr","tools":[` + click + `,{"type":"wait_for_response","args":{"url":"**"}}]}}`: "",
		`{"type":"for_each","args":{"selector":"tr","tools":[{"type":"route","args":{"url":"**",` +
			`"abort":"failed"}}]}}`: "args.tools[0].args.selector: is missing",
		`{"type":"wait_for_url","args":{"url":"**/{{saved:id}}/{a,b}"}}`:                            "",
		`{"type":"wait_for_download","args":{"name":"{{n}}*.csv"}}`:                                 "",
		`{"type":"assert","args":{"selector":"a","matcher":{"name":"cookie","args":{"name":"a"}}}}`: "args.selector: is no argument",
	} {
		var s step.Step
		require.NoError(t, json.Unmarshal([]byte(`{"tool":`+text+`}`), &s), text)
		err := step.Validate([]step.Step{s})
		if want == "" {
			require.NoError(t, err, text)
			back, err := json.Marshal(s.Tool)
			require.NoError(t, err)
			var again step.Tool
			require.NoError(t, json.Unmarshal(back, &again))
			require.Equal(t, s.Tool, again, "it reads back what it writes")
			continue
		}
		require.ErrorContains(t, err, "[0].tool."+want, text)
	}
}

func TestSavedReferences(t *testing.T) {
	t.Parallel()
	s := step.Step{Tool: step.Tool{Type: step.GoToURL, Args: step.Args{URL: "/{{saved:id}}/{{name}}"}}}
	require.Equal(t, []step.Reference{{Name: "name"}}, step.References([]step.Step{s}), "what steps save is no variable")
	each := step.Tool{Type: step.ForEach, Args: step.Args{Selector: &step.Selector{Type: step.CSS, Value: "{{rows}}"},
		StateArgs: step.StateArgs{Tools: []step.Tool{{Type: step.Click,
			Args: step.Args{Selector: &step.Selector{Type: step.CSS, Value: "{{button}}"}}}}}}}
	require.Len(t, step.References([]step.Step{{Tool: each}}), 2)
	expanded, err := step.ExpandTool(each, func(r step.Reference) (string, bool) { return "tr", r.Name == "rows" })
	require.NoError(t, err)
	require.Equal(t, "tr", expanded.Args.Selector.Value)
	require.Equal(t, "{{button}}", expanded.Args.Tools[0].Args.Selector.Value, "each row has its own")
}
