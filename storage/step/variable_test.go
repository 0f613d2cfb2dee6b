package step_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/step"
)

func lookup(values map[string]string) func(step.Reference) (string, bool) {
	return func(r step.Reference) (string, bool) {
		value, ok := values[r.String()]
		return value, ok
	}
}

func TestExpand(t *testing.T) {
	t.Parallel()
	values := map[string]string{
		"{{a}}": "1", "{{org:a}}": "2", "{{team:a}}": "3", "{{testSuite:3f333df6-90a4-4fda-8dd3-9485d27cee36:a}}": "4",
		"{{testCase:507f1f77bcf86cd799439011:a}}": "5", "{{nested}}": "{{a}}", "{{org}}": "6", "{{" + strings.Repeat("n", 64) + "}}": "7",
	}
	for text, want := range map[string]string{
		"": "", "plain": "plain", "{{a}}": "1", "x{{ a }}y{{\torg:a\t}}{{team:a}}": "x1y23",
		"{{testSuite:3f333df6-90a4-4fda-8dd3-9485d27cee36:a}}{{testCase:507f1f77bcf86cd799439011:a}}": "45",
		"{{nested}}": "{{a}}", "{{org}}": "6", "{{{a}}}": "{1}", "{{a}}}}": "1}}", "{{{{a}}": "{{1", "{{a{{a}}": "{{a1",
		"{{A}}": "{{A}}", "{{a b}}": "{{a b}}", "{{}}": "{{}}", "{{a": "{{a", "{a}": "{a}", "{{user:a}}": "{{user:a}}",
		"{{testCase:a}}": "{{testCase:a}}",
		"{{org:1:a}}":    "{{org:1:a}}", "{{\na}}": "{{\na}}", "{{" + strings.Repeat("n", 64) + "}}": "7",
		"{{" + strings.Repeat("n", 65) + "}}": "{{" + strings.Repeat("n", 65) + "}}",
	} {
		got, err := step.Expand(text, lookup(values))
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
	}
	_, err := step.Expand("{{a}} {{team:b}}", lookup(values))
	var unknown *step.UnknownVariableError
	require.ErrorAs(t, err, &unknown)
	require.Equal(t, step.Reference{Scope: step.ScopeTeam, Name: "b"}, unknown.Reference)
	require.Equal(t, "the variable {{team:b}} has no value", err.Error())
	_, err = step.Expand(strings.Repeat("{{a}}", 1100), lookup(map[string]string{"{{a}}": strings.Repeat("x", 1000)}))
	require.ErrorIs(t, err, step.ErrExpanded)
}

const variables = `[{"tool":{"type":"go_to_url","args":{"url":"{{u}}"}}},
{"tool":{"type":"drag","args":{"selector":"{{s}}","target":"{{t}}","reasoning":"{{no}}"}}},
{"tool":{"type":"in_frame","args":{"selector":"{{s}}","tool":{"type":"input_text","args":{"selector":"a","text":"{{x}}{{team:x}}"}}}}},
{"tool":{"type":"select","args":{"selector":{"type":"css","value":"a","fingerprint":{"text":"{{no}}"}},"optionValue":"{{o}}"}}},
{"tool":{"type":"assert","args":{"matcher":{"name":"url","args":{"value":"{{m}}"}}}}},
{"when":{"selector":{"type":"role","value":"{{r}}","name":"{{n}}","hasText":"{{h}}","within":"{{w}}","has":{"type":"css","value":"a",` +
	`"hasText":"{{i}}"}},
"matcher":{"name":"text","args":{"value":"{{v}}"}}},"tool":{"type":"type_keys","args":{"text":"{{k}}"}}}]`

func TestReferences(t *testing.T) {
	t.Parallel()
	var got []string
	for _, r := range step.References(decode(t, variables), "{{base}}/{{u}}") {
		got = append(got, r.String())
	}
	require.Equal(t, []string{"{{base}}", "{{u}}", "{{s}}", "{{t}}", "{{x}}", "{{team:x}}", "{{o}}", "{{m}}",
		"{{r}}", "{{n}}", "{{h}}", "{{w}}", "{{i}}", "{{v}}", "{{k}}"}, got)
	require.NotNil(t, step.References(nil, ""))
}

func TestExpandTool(t *testing.T) {
	t.Parallel()
	steps := decode(t, variables)
	all := func(r step.Reference) (string, bool) { return r.Scope + "." + r.Name, true }
	for _, s := range steps {
		got, err := step.ExpandTool(s.Tool, all)
		require.NoError(t, err)
		require.Empty(t, step.References([]step.Step{{Tool: got}}, ""))
	}
	condition, err := step.ExpandCondition(*steps[5].When, all)
	require.NoError(t, err)
	require.Equal(t, step.Condition{Selector: &step.Selector{Type: step.ByRole, Value: ".r", Name: ".n", HasText: ".h",
		Within: &step.Selector{Type: step.CSS, Value: ".w"}, Has: &step.Selector{Type: step.CSS, Value: "a", HasText: ".i"}},
		Matcher: &step.Matcher{Name: step.TextIs, Args: step.MatcherArgs{Value: ".v"}}}, condition)
	require.Equal(t, decode(t, variables), steps, "the stored steps stay as they are")
	got, err := step.ExpandTool(steps[2].Tool, all)
	require.NoError(t, err)
	require.Equal(t, ".xteam.x", *got.Args.Tool.Args.Text)
	none := func(step.Reference) (string, bool) { return "", false }
	_, err = step.ExpandCondition(*steps[5].When, none)
	require.Error(t, err)
	for _, s := range steps {
		_, err := step.ExpandTool(s.Tool, none)
		var unknown *step.UnknownVariableError
		require.ErrorAs(t, err, &unknown)
	}
}

func TestExpandTextsOfSelectors(t *testing.T) {
	t.Parallel()
	selector := func() *step.Selector {
		return &step.Selector{Type: step.ByRole, Value: "{{a}}", Name: "{{b}}", HasText: "{{c}}",
			Has:    &step.Selector{Type: step.ByText, Value: "{{d}}", Within: &step.Selector{Type: step.CSS, Value: "{{e}}"}},
			Within: &step.Selector{Type: step.ByRole, Value: "row", HasText: "{{f}}", Fingerprint: &step.Fingerprint{Name: "{{no}}"}}}
	}
	when := &step.Condition{Selector: selector(), Matcher: &step.Matcher{Name: step.TextIs, Args: step.MatcherArgs{Value: "{{g}}"}}}
	tool := step.Tool{Type: step.Click, Args: step.Args{Selector: selector()}}
	var names []string
	for _, r := range step.References([]step.Step{{Tool: tool, When: when}}, "") {
		names = append(names, r.Name)
	}
	require.ElementsMatch(t, []string{"a", "b", "c", "d", "e", "f", "g"}, names)
	value := func(r step.Reference) (string, bool) { return "[" + r.Name + "]", true }
	got, err := step.ExpandTool(tool, value)
	require.NoError(t, err)
	want := &step.Selector{Type: step.ByRole, Value: "[a]", Name: "[b]", HasText: "[c]",
		Has:    &step.Selector{Type: step.ByText, Value: "[d]", Within: &step.Selector{Type: step.CSS, Value: "[e]"}},
		Within: &step.Selector{Type: step.ByRole, Value: "row", HasText: "[f]", Fingerprint: &step.Fingerprint{Name: "{{no}}"}}}
	require.Equal(t, want, got.Args.Selector)
	require.Equal(t, selector(), tool.Args.Selector, "the stored step stays as it is")
	condition, err := step.ExpandCondition(*when, value)
	require.NoError(t, err)
	require.Equal(t, want, condition.Selector)
	require.Equal(t, "[g]", condition.Matcher.Args.Value)
	require.Equal(t, "{{g}}", when.Matcher.Args.Value)

	// A name that is empty is not any name.
	for _, s := range []*step.Selector{{Type: step.ByRole, Value: "button", Name: "{{x}}"}, {Type: step.CSS, Value: "a", HasText: " {{x}}"},
		{Type: step.CSS, Value: "a", Within: &step.Selector{Type: step.ByText, Value: "{{x}}"}}} {
		empty := func(step.Reference) (string, bool) { return "", true }
		_, err := step.ExpandTool(step.Tool{Type: step.Click, Args: step.Args{Selector: s}}, empty)
		require.ErrorIs(t, err, step.ErrEmptyText)
		_, err = step.ExpandCondition(step.Condition{Selector: s}, empty)
		require.ErrorIs(t, err, step.ErrEmptyText)
	}
}

func FuzzExpand(f *testing.F) {
	f.Add("a{{b}}c{{ team:d }}", "{{e}}")
	f.Add("{{testCase:1:a}}{{{{x}}", "v")
	f.Fuzz(func(t *testing.T, text, value string) {
		count := 0
		got, err := step.Expand(text, func(r step.Reference) (string, bool) {
			count++
			if r.Name == "" || (r.ID == "") == (r.Scope == step.ScopeSuite || r.Scope == step.ScopeCase) {
				t.Fatalf("%q: %+v", text, r)
			}
			return value, true
		})
		switch {
		case errors.Is(err, step.ErrExpanded):
			return
		case err != nil:
			t.Fatal(err)
		case len(got) > step.MaxExpanded && count > 0:
			t.Fatalf("%d bytes", len(got))
		case count == 0 && got != text:
			t.Fatalf("%q became %q", text, got)
		case count > 0 && !strings.Contains(got, value):
			t.Fatalf("%q without %q", got, value)
		}
	})
}
