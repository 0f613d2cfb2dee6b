package step_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/step"
)

// inside writes a selector with others in it, one in the other.
func inside(n int, member string) string {
	text := `{"type":"css","value":"a"}`
	for range n {
		text = fmt.Sprintf(`{"type":"css","value":"a",%q:%s}`, member, text)
	}
	return text
}

func TestSelectorsByRoleAndText(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`{"type":"role","value":"button"}`, `{"type":"role","value":"button","name":"Save {{what}}","exact":true}`,
		`{"type":"role","value":"heading","level":20}`, `{"type":"role","value":"checkbox","state":{"checked":true,"disabled":false}}`,
		`{"type":"role","value":"link","state":{"disabled":true}}`, `{"type":"role","value":"button","state":{"expanded":true,"pressed":false}}`,
		`{"type":"role","value":"{{role}}","level":2,"state":{"selected":true}}`, `{"type":"role","value":"row","state":{}}`,
		`{"type":"label","value":"Mail"}`, `{"type":"text","value":"Hello","exact":true,"index":-1}`, `{"type":"placeholder","value":"Name"}`,
		`{"type":"testId","value":"buy","exact":true}`, `{"type":"altText","value":"Logo"}`, `{"type":"title","value":"Help"}`,
		`{"type":"css","value":"li","hasText":"Lamp","nth":2}`, `{"type":"css","value":"li","has":"b","within":"//ul"}`,
		`{"type":"css","value":"li","has":{"type":"role","value":"button","name":"Buy","has":"svg"},"within":{"type":"label","value":"Cart",` +
			`"index":0}}`,
		`{"type":"css","value":"a","index":-100000}`, `{"type":"css","value":"a","index":1,"nth":1}`,
		inside(3, "within"), inside(3, "has"),
	} {
		require.NoError(t, step.Validate(decode(t, one("click", `"selector":`+text))), text)
	}
	for text, wants := range map[string][2]string{
		`{"type":"id","value":"a"}`:                             {".type", "css, xpath, role, label"},
		`{"type":"role","value":""}`:                            {".value", "missing"},
		`{"type":"role","value":"Button"}`:                      {".value", "WAI-ARIA"},
		`{"type":"role","value":"knob"}`:                        {".value", "WAI-ARIA"},
		`{"type":"role","value":"heading","level":21}`:          {".level", "1 to 20"},
		`{"type":"role","value":"heading","level":-1}`:          {".level", "1 to 20"},
		`{"type":"role","value":"button","level":1}`:            {".level", "heading"},
		`{"type":"css","value":"h1","level":1}`:                 {".level", "css"},
		`{"type":"text","value":"a","name":"b"}`:                {".name", "text"},
		`{"type":"label","value":"a","state":{"checked":true}}`: {".state", "label"},
		`{"type":"role","value":"button","state":{"hidden":true}}`: {".state",
			"checked, disabled, expanded, pressed, selected"},
		`{"type":"role","value":"link","state":{"checked":true}}`:                   {".state.checked", "checkbox"},
		`{"type":"css","value":"a","exact":true}`:                                   {".exact", "texts"},
		`{"type":"role","value":"link","exact":true}`:                               {".exact", "texts"},
		`{"type":"role","value":"link","name":" "}`:                                 {".name", "white space"},
		`{"type":"css","value":"a","hasText":"\n"}`:                                 {".hasText", "white space"},
		`{"type":"css","value":"a","hasText":"\u0000"}`:                             {".hasText", "NUL"},
		`{"type":"role","value":"link","name":"` + strings.Repeat("x", 4097) + `"}`: {".name", "4096"},
		`{"type":"css","value":"a","nth":1,"index":2}`:                              {".nth", "index"},
		`{"type":"css","value":"a","nth":100001}`:                                   {".index", "100000"},
		`{"type":"css","value":"a","index":-100001}`:                                {".index", "100000"},
		`{"type":"css","value":"a","within":{"type":"css"}}`:                        {".within.value", "missing"},
		`{"type":"css","value":"a","has":{}}`:                                       {".has.type", "must be"},
		`{"type":"css","value":"a","has":{"type":"css","value":"a","has":"b["}}`: {".has.has.value",
			"missing behind ["},
		`{"type":"css","value":"a","within":{"type":"css","value":"a","fingerprint":{}}}`: {".within.fingerprint", "outermost"},
		inside(4, "within"): {strings.Repeat(".within", 4), "more than 3"},
		`{"type":"css","value":"a","has":` + inside(3, "has") + `,"within":` + inside(3, "within") +
			`}`: {strings.Repeat(".within", 4), "more than 3"},
		`{"type":"css","value":"a","has":` + wide + `,"within":` + wide + `}`:                               {".has.has", "more than 8"},
		`{"type":"text","value":"` + long + `","has":{"type":"text","value":"` + long + `","hasText":"x"}}`: {".has", "8192"},
	} {
		var wrong *step.InvalidError
		require.ErrorAs(t, step.Validate(decode(t, one("click", `"selector":`+text))), &wrong, "%.200s", text)
		require.Equal(t, "[0].tool.args.selector"+wants[0], wrong.Path, "%.200s", text)
		require.Contains(t, wrong.Msg, wants[1], "%.200s", text)
	}
}

var (
	long = strings.Repeat("x", step.MaxSelector)
	// wide is a selector of four.
	wide = `{"type":"css","value":"a","has":"b","within":{"type":"css","value":"c","within":"d"}}`
)

func TestSelectorsAreWrittenAsRead(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"type":"role","value":"checkbox","name":"On","exact":true,"state":{"checked":false},"within":{"type":"css","value":"#a"},` +
			`"has":{"type":"text","value":"b"},"hasText":"c","index":-1}`: "",
		`{"type":"role","value":"heading","level":2}`: "",
		`"#a"`:                                   `{"type":"css","value":"#a"}`,
		`{"type":"css","value":"a","nth":0}`:     `{"type":"css","value":"a","index":0}`,
		`{"type":"css","value":"a","nth":null}`:  `{"type":"css","value":"a"}`,
		`{"type":"css","value":"a","has":"//b"}`: `{"type":"css","value":"a","has":{"type":"xpath","value":"//b"}}`,
	} {
		var s step.Selector
		require.NoError(t, json.Unmarshal([]byte(text), &s), text)
		got, err := json.Marshal(s)
		require.NoError(t, err)
		if want == "" {
			want = text
		}
		require.Equal(t, want, string(got))
	}
}

func TestConditions(t *testing.T) {
	t.Parallel()
	when := func(condition string) string {
		return `[{"when":` + condition + `,"tool":{"type":"click","args":{"selector":"#a"}}}]`
	}
	framed := func(kind, condition string) string {
		return `[{"when":` + condition + `,"tool":{"type":"` + kind +
			`","args":{"selector":"#f","tool":{"type":"click","args":{"selector":"#a"}}}}}]`
	}
	for _, text := range []string{
		when(`null`), when(`{"selector":".popup","matcher":{"name":"visible"}}`),
		when(`{"selector":".popup","not":true,"timeoutMs":600000,"matcher":{"name":"visible"}}`),
		when(`{"matcher":{"name":"url","args":{"value":"/cart","mode":"contains"}}}`),
		framed("in_frame", `{"matcher":{"name":"title","args":{"value":"Cart"}}}`),
		framed("in_frame", `{"selector":"//b","matcher":{"name":"count","args":{"value":2}}}`),
		framed("in_shadow_root", `{"selector":{"type":"text","value":"b"},"matcher":{"name":"visible"}}`),
	} {
		require.NoError(t, step.Validate(decode(t, text)), text)
	}
	for text, path := range map[string]string{
		when(`{"selector":"a"}`):                                                                 ".matcher",
		when(`{"selector":"a","matcher":"visible"}`):                                             ".matcher",
		when(`{"matcher":{"name":"visible"}}`):                                                   ".selector",
		when(`{"selector":"a","matcher":{"name":"url","args":{"value":"x"}}}`):                   ".selector",
		when(`{"selector":"a","matcher":{"name":"new"}}`):                                        ".matcher.name",
		when(`{"selector":"a","timeoutMs":-1,"matcher":{"name":"visible"}}`):                     ".timeoutMs",
		when(`{"selector":"a[","matcher":{"name":"visible"}}`):                                   ".selector.value",
		when(`{"selector":"a","matcher":{"name":"text","args":{"value":"(","mode":"matches"}}}`): ".matcher.args.value",
		framed("in_shadow_root", `{"selector":"//b","matcher":{"name":"visible"}}`):              ".selector.type",
	} {
		var wrong *step.InvalidError
		require.ErrorAs(t, step.Validate(decode(t, text)), &wrong, text)
		require.Equal(t, "[0].when"+path, wrong.Path, text)
	}
}

// With variables only what is certainly wrong is refused.
func TestSyntaxOfSelectors(t *testing.T) {
	t.Parallel()
	value := func(kind, text string) []step.Step {
		return []step.Step{{Tool: step.Tool{Type: step.Click, Args: step.Args{Selector: &step.Selector{Type: kind, Value: text}}}}}
	}
	for _, c := range []struct{ kind, text string }{
		{step.CSS, "{{all}}"}, {step.CSS, "#{{id}}"}, {step.CSS, "[data-id='{{id}}']"}, {step.CSS, "li:nth-child({{n}})"},
		{step.CSS, "a:{{state}}"},
		{step.CSS, "{{a}}{{b}}"}, {step.CSS, "a {{rest}}"}, {step.CSS, ".row-{{n}} > a"}, {step.CSS, "a:not({{what}})"}, {step.CSS, ":foo{{x}}"},
		{step.XPath, "//a[{{predicate}}]"}, {step.XPath, "//a[.='{{text}}']"}, {step.XPath, "//{{axis}}::a"}, {step.XPath, "({{all}})[{{n}}]"},
		{step.XPath, "//a[{{f}}(@b)]"}, {step.XPath, "{{all}}"}, {step.CSS, "[title='{{not a variable}}']"},
	} {
		require.NoError(t, step.Validate(value(c.kind, c.text)), c.text)
	}
	for _, c := range []struct{ kind, text, msg string }{
		{step.CSS, "a:contains('{{x}}')", "is no CSS selector: character 2: there is no pseudo-class :contains: hasText"},
		{step.CSS, "a >> b {{x}}", "character 4: a selector in another one is written as within"},
		{step.CSS, "é[@id='{{x}}']", "character 3"}, {step.CSS, "a[", "missing behind ["}, {step.CSS, "{{Upper}}", "character 1"},
		{step.XPath, "//a[ends-with(@b,'{{x}}')]", "is no XPath that finds elements: character 5: there is no function ends-with()"},
		{step.XPath, "//a[@b='c'", "not closed"}, {step.XPath, "count(//a)", "finds a number"}, {step.XPath, "//a]{{x}}{{y}}{{z}}", "']'"},
	} {
		var wrong *step.InvalidError
		require.ErrorAs(t, step.Validate(value(c.kind, c.text)), &wrong, c.text)
		require.Equal(t, "[0].tool.args.selector.value", wrong.Path, c.text)
		require.Contains(t, wrong.Msg, c.msg, c.text)
	}
}
