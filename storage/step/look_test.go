package step_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/step"
)

func TestMatchersOfPictures(t *testing.T) {
	for _, text := range []string{
		one("assert", `"matcher":{"name":"accessible"}`),
		one("assert", element+`,"matcher":{"name":"accessible","args":{"impact":"minor","rules":["label","color-contrast"],`+
			`"withoutRules":["region"]}}`),
		one("assert", `"matcher":{"name":"accessible","args":{"tags":["wcag2a","wcag21aa","best-practice"]}}`),
		one("assert", `"matcher":{"name":"looks_like"}`), one("assert", `"matcher":{"name":"looks_like","args":[]}`),
		one("assert", `"matcher":{"name":"looks_like","args":{"name":"start page","fullPage":true,"masks":["#clock",{"type":"role",`+
			`"value":"img"}],"threshold":0,"sensitivity":1}}`),
		one("assert", element+`,"matcher":{"name":"looks_like","args":{"masks":null,"threshold":null}}`),
		nested(2, "assert", element+`,"matcher":{"name":"looks_like"}`),
	} {
		steps := decode(t, text)
		require.NoError(t, step.Validate(steps), text)
		again, err := json.Marshal(steps)
		require.NoError(t, err)
		require.Equal(t, steps, decode(t, string(again)), "%s becomes %s", text, again)
	}
	for text, path := range map[string]string{
		one("assert", `"matcher":{"name":"accessible","args":{"impact":"bad"}}`):                      ".impact",
		one("assert", `"matcher":{"name":"accessible","args":{"rules":["Label!"]}}`):                  ".rules",
		one("assert", `"matcher":{"name":"accessible","args":{"rules":["label"],"tags":["wcag2a"]}}`): ".tags",
		one("assert", `"matcher":{"name":"accessible","args":{"value":"x"}}`):                         ".value",
		one("assert", `"matcher":{"name":"accessible","args":{"name":"x"}}`):                          ".name",
		one("assert", `"matcher":{"name":"accessible","args":{"masks":["#a"]}}`):                      ".masks",
		one("assert", `"matcher":{"name":"looks_like","args":{"impact":"minor"}}`):                    ".impact",
		one("assert", `"matcher":{"name":"looks_like","args":{"threshold":1.1}}`):                     ".threshold",
		one("assert", `"matcher":{"name":"looks_like","args":{"sensitivity":-1}}`):                    ".sensitivity",
		one("assert", `"matcher":{"name":"looks_like","args":{"name":"a\nb"}}`):                       ".name",
		one("assert", `"matcher":{"name":"looks_like","args":{"mode":"equals"}}`):                     ".mode",
		one("assert",
			`"matcher":{"name":"looks_like","args":{"masks":["#a",{"type":"css","value":"###"}]}}`): ".masks[1].value",
		one("assert",
			`"matcher":{"name":"looks_like","args":{"masks":[{"value":"#a","type":"css","fingerprint":{"tag":"a"}}]}}`): ".masks[0].fingerprint",
		one("assert", element+`,"matcher":{"name":"looks_like","args":{"fullPage":true}}`):       ".fullPage",
		one("assert", element+`,"matcher":{"name":"visible","args":{"masks":["#a"]}}`):           ".masks",
		one("assert", element+`,"matcher":{"name":"text","args":{"value":"a","threshold":0.1}}`): ".threshold",
		one("switch_window", `"matcher":{"name":"title","args":{"value":"a","rules":["x"]}}`):    ".rules",
	} {
		err := step.Validate(decode(t, text))
		var wrong *step.InvalidError
		require.True(t, errors.As(err, &wrong), text)
		require.Equal(t, "[0].tool.args.matcher.args"+path, wrong.Path, text)
	}
	for text, path := range map[string]string{
		one("assert", `"not":true,"matcher":{"name":"looks_like"}`): "[0].tool.args.not",
		nested(1, "assert",
			`"matcher":{"name":"accessible"}`): "[0].tool.args.tool.args.selector",
		`[{"when":{"matcher":{"name":"looks_like"}},"tool":{"type":"back",` +
			`"args":{}}}]`: "[0].when.matcher.name",
		`[{"when":{"selector":"#a","matcher":{"name":"visible","args":{"masks":["#a"]}}},"tool":{"type":"back",` +
			`"args":{}}}]`: "[0].when.matcher.args.masks",
	} {
		err := step.Validate(decode(t, text))
		var wrong *step.InvalidError
		require.True(t, errors.As(err, &wrong), text)
		require.Equal(t, path, wrong.Path, text)
	}
}

// Variables in masks are replaced, and those of the stored step stay.
func TestVariablesOfMasks(t *testing.T) {
	steps := decode(t, one("assert", `"matcher":{"name":"looks_like","args":{"masks":["#{{id}}"]}}`))
	require.NoError(t, step.Validate(steps))
	require.Equal(t, []step.Reference{{Name: "id"}}, step.References(steps))
	got, err := step.ExpandTool(steps[0].Tool, func(step.Reference) (string, bool) { return "clock", true })
	require.NoError(t, err)
	require.Equal(t, "#clock", got.Args.Matcher.Args.Masks[0].Value)
	require.Equal(t, "#{{id}}", steps[0].Tool.Args.Matcher.Args.Masks[0].Value)
}
