package step_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/step"
)

func TestMatchersAsCalls(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"name":"toHaveText","args":["x"]}`:                     `{"name":"text","args":{"value":"x"}}`,
		`{"name":"toHaveText","args":[""]}`:                      `{"name":"text","args":{}}`,
		`{"name":"toHaveText","args":["x",{"timeout":5000}]}`:    `{"name":"text","args":{"value":"x"}}`,
		`{"name":"toHaveText","args":{"value":"x"}}`:             `{"name":"text","args":{"value":"x"}}`,
		`{"args":["x"],"name":"toContainText"}`:                  `{"name":"text","args":{"value":"x","mode":"contains"}}`,
		`{"name":"toContainText","args":{"value":7}}`:            `{"name":"text","args":{"value":"7","mode":"contains"}}`,
		`{"name":"toHaveValue","args":[3]}`:                      `{"name":"value","args":{"value":"3"}}`,
		`{"name":"toHaveCount","args":[3]}`:                      `{"name":"count","args":{"value":"3"}}`,
		`{"name":"toBeVisible","args":[]}`:                       `{"name":"visible","args":{}}`,
		`{"name":"toBeVisible"}`:                                 `{"name":"visible","args":{}}`,
		`{"name":"toBeVisible","args":[{"visible":false}]}`:      `not {"name":"visible","args":{}}`,
		`{"name":"toBeHidden","args":null}`:                      `{"name":"hidden","args":{}}`,
		`{"name":"toBeEnabled","args":[]}`:                       `{"name":"enabled","args":{}}`,
		`{"name":"toBeDisabled","args":[]}`:                      `not {"name":"enabled","args":{}}`,
		`{"name":"toBeChecked","args":[]}`:                       `{"name":"checked","args":{}}`,
		`{"name":"toBeChecked","args":[{"checked":false}]}`:      `not {"name":"checked","args":{}}`,
		`{"name":"toBeFocused","args":[]}`:                       `{"name":"focused","args":{}}`,
		`{"name":"toBeAttached","args":[{"attached":true}]}`:     `{"name":"count","args":{"value":"1","mode":"at_least"}}`,
		`{"name":"toExist","args":[]}`:                           `{"name":"count","args":{"value":"1","mode":"at_least"}}`,
		`{"name":"toHaveAttribute","args":["href","/a"]}`:        `{"name":"attribute","args":{"value":"/a","name":"href"}}`,
		`{"name":"toHaveAttribute","args":["disabled"]}`:         `{"name":"attribute","args":{"name":"disabled","mode":"matches"}}`,
		`{"name":"toHaveId","args":["a"]}`:                       `{"name":"attribute","args":{"value":"a","name":"id"}}`,
		`{"name":"text","args":["x"]}`:                           `{"name":"text","args":{"value":"x"}}`,
		`{"name":"attribute","args":["href","/a"]}`:              `{"name":"attribute","args":{"value":"/a","name":"href"}}`,
		`{"name":"visible","args":[]}`:                           `{"name":"visible","args":{}}`,
		`{"name":"text","args":{"value":"x","mode":"contains"}}`: `{"name":"text","args":{"value":"x","mode":"contains"}}`,
	} {
		for _, not := range []bool{false, true} {
			written := `"selector":{"type":"css","value":"#a"},"matcher":` + text
			if not {
				written += `,"not":true`
			}
			steps := decode(t, one("assert", written))
			require.NoError(t, step.Validate(steps), written)
			args := steps[0].Tool.Args
			got, err := json.Marshal(args.Matcher)
			require.NoError(t, err)
			negated := ""
			if args.Not != not {
				negated = "not "
			}
			require.Equal(t, want, negated+string(got), written)

			var when step.Condition
			require.NoError(t, json.Unmarshal([]byte("{"+written+"}"), &when))
			require.Equal(t, args.Not, when.Not, written)
			require.Equal(t, args.Matcher, when.Matcher, written)
			// What was read is written the same.
			first, err := json.Marshal(steps)
			require.NoError(t, err)
			require.Equal(t, steps, decode(t, string(first)))
		}
	}
	page := decode(t, one("assert", `"matcher":{"name":"toHaveURL","args":["https://example.com/{{x}}"]}`)+"")
	require.NoError(t, step.Validate(page))
	require.Equal(t, step.URLIs, page[0].Tool.Args.Matcher.Name)
	page = decode(t, one("assert", `"matcher":{"name":"toHaveTitle","args":["Shop"]}`))
	require.NoError(t, step.Validate(page))
	require.Equal(t, step.TitleIs, page[0].Tool.Args.Matcher.Name)
	for _, selector := range []string{`{"type":"css","value":"body"}`, `{"type":"css","value":""}`, `"#a"`, `null`} {
		page = decode(t, one("assert", `"selector":`+selector+`,"matcher":{"name":"toHaveURL","args":["https://example.com/"]}`))
		require.NoError(t, step.Validate(page), "clients that write calls have a selector in every assertion")
		require.Nil(t, page[0].Tool.Args.Selector)
	}
	require.Error(t, step.Validate(decode(t,
		one("assert", `"selector":{"type":"css","value":"body"},"matcher":{"name":"url","args":{"value":"https://example.com/"}}`))))
	window := decode(t, one("switch_window", `"matcher":{"name":"index","args":[1]}`))
	require.NoError(t, step.Validate(window))
	require.Equal(t, "1", window[0].Tool.Args.Matcher.Args.Value)
	require.NoError(t, step.Validate(decode(t, one("switch_window", `"matcher":{"name":"new","args":[]}`))))
	require.Error(t, step.Validate(decode(t, one("switch_window", `"matcher":{"name":"new","args":["x"]}`))))
	for text, path := range map[string]string{
		`{"name":"toHaveText","args":[]}`:                                        ".args",
		`{"name":"toHaveText","args":["a","b"]}`:                                 ".args",
		`{"name":"toHaveText","args":["a",{"ignoreCase":true}]}`:                 ".args[1].ignoreCase",
		`{"name":"toHaveText","args":["a",{"message":"m","ignoreCase":null}]}`:   ".args[1].ignoreCase",
		`{"name":"toBeVisible","args":[{"wait":1,"checked":true}]}`:              ".args[0].checked",
		`{"name":"toBeVisible","args":[true]}`:                                   ".args",
		`{"name":"toBeVisible","args":[{"visible":1}]}`:                          ".args[0].visible",
		`{"name":"toBeVisible","args":[{"` + strings.Repeat("n", 999) + `":1}]}`: ".args[0]." + strings.Repeat("n", 80) + "...",
		`{"name":"visible","args":["x"]}`:                                        ".args",
		`{"name":"toBeBlue","args":[]}`:                                          ".name",
		`{"name":"toHaveCount","args":["x"]}`:                                    ".args.value",
		`{"name":"toHaveAttribute","args":["",""]}`:                              ".args.name",
	} {
		var wrong *step.InvalidError
		require.ErrorAs(t, step.Validate(decode(t, one("assert", `"selector":"#a","matcher":`+text))), &wrong, text)
		require.Equal(t, "[0].tool.args.matcher"+path, wrong.Path, text)
	}
}

// What a call says of its time is the step's, or the condition's.
func TestTimeoutsOfCalls(t *testing.T) {
	t.Parallel()
	read := func(text string) ([]step.Step, error) {
		var steps []step.Step
		require.NoError(t, json.Unmarshal([]byte(text), &steps))
		return steps, step.Validate(steps)
	}
	const call = `{"name":"toBeVisible","args":[{"timeout":7000}]}`
	steps, err := read(`[{"tool":{"type":"assert","args":{"selector":"a","matcher":` + call + `}}},
		{"tool":{"type":"click","args":{"selector":"a"}},"when":{"selector":"b","matcher":{"name":"toBeVisible","args":[{"wait":50}]}}}]`)
	require.NoError(t, err)
	require.Equal(t, 7000, steps[0].TimeoutMS)
	require.Equal(t, 50, steps[1].When.TimeoutMS)
	require.Zero(t, steps[1].TimeoutMS)
	_, err = read(`[{"timeoutMs":1,"tool":{"type":"assert","args":{"selector":"a","matcher":` + call + `}}}]`)
	require.EqualError(t, err, "[0].timeoutMs: must not differ from the timeout of the matcher")
	_, err = read(`[{"tool":{"type":"assert","args":{"selector":"a","matcher":{"name":"toBeVisible","args":[{"timeout":"soon"}]}}}}]`)
	require.EqualError(t, err, "[0].tool.args.matcher.args[0].timeout: must be a number of milliseconds")
}

// What calls have and what has no effect is named, once.
func TestIgnoredOfCalls(t *testing.T) {
	t.Parallel()
	steps := decode(t,
		`[{"tool":{"type":"assert","args":{"selector":"#a","matcher":{"name":"toHaveURL","args":["https://a.example/",{"message":"m",`+
			`"timeout":null}]}}},
		"when":{"selector":"#a","matcher":{"name":"toHaveTitle","args":["x"]}}},
		{"tool":{"type":"assert","args":{"selector":"#a","matcher":{"name":"toBeVisible","args":[{"visible":null}]}}}},
		{"tool":{"type":"in_frame","args":{"selector":"f","tool":{"type":"assert","args":{"selector":"#a","matcher":{"name":"toBeVisible",`+
			`"args":[{"message":null}]}}}}}},
		{"tool":{"type":"assert","args":{"selector":{"type":"css","value":""},"matcher":{"name":"toHaveTitle","args":["x"]}}}}]`)
	require.NoError(t, step.Validate(steps))
	require.Equal(t, []string{"[0].when.selector", "[0].tool.args.selector", "[0].tool.args.matcher.args[1].message",
		"[2].tool.args.tool.args.matcher.args[0].message"}, step.TakeIgnored(steps))
	require.Empty(t, step.TakeIgnored(steps))
}
