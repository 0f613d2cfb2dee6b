package step_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/step"
)

func TestLenientDecoding(t *testing.T) {
	t.Parallel()
	selectors := map[string]step.Selector{
		`"#a"`: {Type: step.CSS, Value: "#a"}, `"//a"`: {Type: step.XPath, Value: "//a"}, `"(//a)[1]"`: {Type: step.XPath, Value: "(//a)[1]"},
		`{"type":"xpath","value":"a","other":1}`: {Type: step.XPath, Value: "a"}, `{}`: {}, `null`: {},
	}
	for text, want := range selectors {
		var got step.Selector
		require.NoError(t, json.Unmarshal([]byte(text), &got), text)
		require.Equal(t, want, got, text)
	}
	values := map[string]step.MatcherArgs{
		`{"value":"a","mode":"contains"}`: {Value: "a", Mode: "contains"}, `{"value":3}`: {Value: "3"}, `{"value":-1.50}`: {Value: "-1.50"},
		`{"value":true}`: {Value: "true"}, `{"value":null,"name":null,"mode":null}`: {}, `{"name":"href"}`: {Name: "href"}, `null`: {},
	}
	for text, want := range values {
		var got step.MatcherArgs
		require.NoError(t, json.Unmarshal([]byte(text), &got), text)
		require.Equal(t, want, got, text)
	}
	steps := decode(t, one("switch_window", `"matcher":"Shop"`))
	require.NoError(t, step.Validate(steps))
	require.Equal(t, &step.Matcher{Name: step.WindowTitle, Args: step.MatcherArgs{Value: "Shop"}}, steps[0].Tool.Args.Matcher)
	steps = decode(t, one("click",
		`"url":null,"selector":null,"target":null,"text":null,"optionValue":null,"matcher":null,"not":null,"time":null,"direction":null,`+
			`"key":null,"action":null,"file":null,"tool":null,"reasoning":null`))
	require.Equal(t, step.Args{}, steps[0].Tool.Args)
}

// The path is the one in responses of api/body.
func TestWrongTypes(t *testing.T) {
	t.Parallel()
	for args, field := range map[string]string{
		`"selector":7`:                                      "steps.tool.args.selector",
		`"selector":["a"]`:                                  "steps.tool.args.selector",
		`"selector":{"value":7}`:                            "steps.tool.args.selector.value",
		`"selector":{"index":"7"}`:                          "steps.tool.args.selector.index",
		`"selector":{"fingerprint":{"tag":[]}}`:             "steps.tool.args.selector.fingerprint.tag",
		`"matcher":true`:                                    "steps.tool.args.matcher",
		`"matcher":{"name":1}`:                              "steps.tool.args.matcher.name",
		`"matcher":{"args":"x"}`:                            "steps.tool.args.matcher.args",
		`"matcher":{"args":{"value":{}}}`:                   "steps.tool.args.matcher.args.value",
		`"matcher":{"args":{"mode":1}}`:                     "steps.tool.args.matcher.args.mode",
		`"matcher":{"name":"toHaveText","args":[["x"]]}`:    "steps.tool.args.matcher.args",
		`"matcher":{"name":"toHaveText","args":{"mode":1}}`: "steps.tool.args.matcher.args.mode",
		`"matcher":{"name":"toHaveText","args":"x"}`:        "steps.tool.args.matcher.args",
		`"selector":{"nth":"1"}`:                            "steps.tool.args.selector.nth",
		`"selector":{"within":{"has":[]}}`:                  "steps.tool.args.selector.within.has",
		`"selector":{"state":{"checked":1}}`:                "steps.tool.args.selector.state",
		`"time":"1"`:                                        "steps.tool.args.time",
		`"tool":{"type":"click","args":"x"}`:                "steps.tool.args.tool.args",
		`"tool":{"args":{"target":1}}`:                      "steps.tool.args.tool.args.target",
		`"file":{"content":1}`:                              "steps.tool.args.file.content",
		`"matcher":{"args":{"value":[]},"name":""}`:         "steps.tool.args.matcher.args.value",
	} {
		var into struct {
			Steps []step.Step `json:"steps"`
		}
		err := json.Unmarshal([]byte(`{"steps":`+one("click", args)+`}`), &into)
		var wrong *json.UnmarshalTypeError
		require.ErrorAs(t, err, &wrong, args)
		require.Equal(t, field, wrong.Field, args)
		require.NotNil(t, wrong.Type, args)
	}
}
