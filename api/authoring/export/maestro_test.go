package export

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/slipway-qa/slipway/api/authoring/export/script"
	"github.com/slipway-qa/slipway/storage/step"
)

// maestroCommands are the commands that exports use, with their arguments, as the reference
// of Maestro has them; "selector" stands for the arguments of a selector.
var maestroCommands = map[string][]string{
	"launchApp": nil, "back": nil,
	"openLink": {"link", "optional"}, "inputText": {"text", "optional"}, "pressKey": {"key", "optional"},
	"eraseText": {"charactersToErase", "optional"}, "swipe": {"from", "direction", "optional"},
	"tapOn": {"selector", "optional"}, "doubleTapOn": {"selector", "optional"}, "copyTextFrom": {"selector", "optional"},
	"assertVisible": {"selector"}, "assertNotVisible": {"selector"}, "extendedWaitUntil": {"visible", "notVisible", "timeout"},
	"assertTrue": nil, "evalScript": nil, "runFlow": {"when", "commands"},
}

var maestroSelectors = []string{"text", "id", "css", "index", "enabled", "checked", "focused", "selected", "childOf", "containsDescendants"}

// flowOf reads a flow and checks each command against the reference.
func flowOf(t *testing.T, code string) (head map[string]any, commands []any) {
	t.Helper()
	d := yaml.NewDecoder(strings.NewReader(code))
	require.NoError(t, d.Decode(&head), "%s", code)
	require.NoError(t, d.Decode(&commands), "%s", code)
	var more any
	require.ErrorIs(t, d.Decode(&more), io.EOF)
	checkCommands(t, commands)
	return head, commands
}

func checkCommands(t *testing.T, commands []any) {
	t.Helper()
	for _, c := range commands {
		if name, ok := c.(string); ok {
			require.Contains(t, maestroCommands, name)
			require.Empty(t, maestroCommands[name])
			continue
		}
		one := c.(map[string]any)
		require.Len(t, one, 1)
		for name, argument := range one {
			known, ok := maestroCommands[name]
			require.True(t, ok, name)
			members, ok := argument.(map[string]any)
			if !ok {
				require.IsType(t, "", argument)
				continue
			}
			for member, value := range members {
				switch {
				case member == "commands":
					checkCommands(t, value.([]any))
				case member == "when", member == "visible", member == "notVisible", member == "from":
					require.Contains(t, known, member)
				case known[0] == "selector" && member != "optional":
					require.Contains(t, maestroSelectors, member)
				default:
					require.Contains(t, known, member, name)
				}
			}
		}
	}
}

// said is what Maestro makes of a text: scripts are replaced by what they give, and those behind
// a backslash are not.
func said(t *testing.T, text string, env map[string]string) string {
	t.Helper()
	var b strings.Builder
	last := 0
	for _, at := range regexp.MustCompile(`\\?\$\{([^$]*)\}`).FindAllStringSubmatchIndex(text, -1) {
		b.WriteString(text[last:at[0]])
		last = at[1]
		if text[at[0]] == '\\' {
			b.WriteString(text[at[0]+1 : at[1]])
			continue
		}
		value, ok := env[text[at[2]:at[3]]]
		require.True(t, ok, "a script is run: %s", text[at[0]:at[1]])
		b.WriteString(value)
	}
	return b.String() + text[last:]
}

func maestroTour() []step.Step {
	return []step.Step{
		because(fillIn("#email", "{{user}}@example.com"), "The first field."),
		do(step.TypeKeys, step.Args{Selector: by(step.Placeholder, "Pass word"), Text: ptr("{{team:password}}")}),
		do(step.EnterKeySubmit, step.Args{}),
		do(step.Click, step.Args{Selector: role("button", "Sign in")}),
		do(step.Click, step.Args{Selector: nth(within(css("button"), has(role("row", ""), by(step.ByText, "Ada (1)"))), 0)}),
		when(do(step.Click, step.Args{Selector: by(step.ByText, "Accept cookies")}), by(step.ByText, "Accept cookies"), step.Visible, 0),
		optional(do(step.Click, step.Args{Selector: by(step.TestID, `odd "id"`)})),
		expect(css("h1"), step.TextIs, "", "Hello {{user}}."),
		not(expect(css("h1"), step.TextIs, step.Contains, "$5 {each}")),
		expect(css("h1"), step.TextIs, step.Matches, `^Order #\d+$`),
		limited(expect(css("#late"), step.Visible, "", ""), 9000),
		expect(role("heading", "Gone"), step.Hidden, "", ""),
		expect(css("#stay"), step.Checked, "", ""), expect(css("#field"), step.Focused, "", ""), not(expect(css("#go"), step.Enabled, "", "")),
		do(step.ScrollDocument, step.Args{Direction: "down"}), do(step.ScrollElement, step.Args{Selector: css("#list"), Direction: "left"}),
		do(step.Save, step.Args{Selector: css("#order"), StateArgs: step.StateArgs{From: step.SavedText, Name: "order"}}),
		fillIn("#field", "{{saved:order}}"),
		do(step.GoToURL, step.Args{URL: "/help"}), do(step.Back, step.Args{}), do(step.DoubleClick, step.Args{Selector: css("b")}),
	}
}

func TestMaestroGolden(t *testing.T) {
	t.Parallel()
	c := script.Case{ID: "64f0", Name: "Sign in */ ${2 + 2}", TestURL: "https://shop.example", Steps: maestroTour()}
	require.NoError(t, step.Validate(c.Steps))
	f := export(t, Maestro, c)
	require.Equal(t, "sign-in-2-2.yaml", f.Name)
	file := filepath.Join("testdata", Maestro+".golden")
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(f.Code), 0o600))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), f.Code, "write it anew with -update")
	head, commands := flowOf(t, f.Code)
	require.Equal(t, "https://shop.example", head["url"])
	require.Equal(t, `Sign in * / \${2 + 2}`, head["name"])
	require.Equal(t, []any{map[string]any{"assertTrue": "${typeof TEST_USER !== 'undefined'}"},
		map[string]any{"assertTrue": "${typeof TEAM_PASSWORD !== 'undefined'}"}, "launchApp"}, commands[:3])
	require.Equal(t, f, export(t, Maestro, c), "the same case is the same flow")
}

// Each text reaches Maestro as it is: none of it is YAML, a script or a part of a pattern.
func TestMaestroHostile(t *testing.T) {
	t.Parallel()
	for _, s := range append(hostile, "${1+1}", `\${1+1}`, "${a$b}", "a ${b} ${c}") {
		if len(step.References([]step.Step{fillIn("#a", s)})) > 0 {
			continue
		}
		clean := strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", "\uFFFD"), "\uFFFD")
		f := export(t, Maestro, script.Case{Name: s, ID: s, TestURL: "https://shop.example", Steps: []step.Step{
			because(fillIn("#a", "t"+s), s), do(step.Click, step.Args{Selector: exact(by(step.ByText, "x"+s+"x"))})}})
		_, commands := flowOf(t, f.Code)
		require.Len(t, commands, 5, "%s", f.Code)
		text := commands[3].(map[string]any)["inputText"].(map[string]any)["text"].(string)
		require.Equal(t, "t"+clean, said(t, text, nil), "%s", f.Code)
		pattern := said(t, commands[4].(map[string]any)["tapOn"].(map[string]any)["text"].(string), nil)
		whole, err := regexp.Compile("^(?:" + strings.NewReplacer(`\/`, "/", `\#`, "#", `\&`, "&", `\~`, "~").Replace(pattern) + ")$")
		require.NoError(t, err)
		require.True(t, whole.MatchString(strings.Join(strings.Fields("x"+clean+"x"), " ")), "%q: %q", clean, pattern)
	}
}

// What Maestro has no words for is refused with its path.
func TestMaestroUnwritable(t *testing.T) {
	t.Parallel()
	for path, s := range map[string]step.Step{
		"steps[1].tool.type":                       do(step.Reload, step.Args{}),
		"steps[1].tool.args.key":                   do(step.PressKey, step.Args{Key: "Control+a"}),
		"steps[1].tool.args.matcher.name":          expect(css("a"), step.ValueIs, "", "x"),
		"steps[1].tool.args.tool":                  inside(step.InFrame, "f", on(step.Click, "a")),
		"steps[1].tool.args.selector.type":         do(step.Click, step.Args{Selector: by(step.ByLabel, "Name")}),
		"steps[1].tool.args.selector.name":         do(step.Click, step.Args{Selector: role("textbox", "Name")}),
		"steps[1].tool.args.selector.within.index": do(step.Click, step.Args{Selector: within(css("a"), nth(css("b"), -1))}),
		"steps[1].tool.args.selector.hasText":      do(step.Click, step.Args{Selector: hasText(css("a"), "x")}),
		"steps[1].tool.args.direction":             do(step.ScrollDocument, step.Args{Direction: "bottom"}),
		"steps[1].when.matcher.name":               when(on(step.Click, "a"), css("b"), step.Enabled, 0),
		"steps[1].tool.args":                       do(step.Click, step.Args{Selector: css("a"), Pointing: step.Pointing{Button: "right"}}),
		"steps[1].tool.args.selector":              expect(by(step.ByText, "a"), step.TextIs, "", "b"),
	} {
		_, ok, err := Export(Maestro, script.Case{TestURL: "https://shop.example", Steps: []step.Step{on(step.Click, "a"), s}})
		require.True(t, ok)
		var wrong *step.InvalidError
		require.True(t, errors.As(err, &wrong), path)
		require.Equal(t, path, wrong.Path)
		require.Contains(t, wrong.Msg, "has no words in Maestro")
	}
}

// A case without an address is one of an app.
func TestMaestroApp(t *testing.T) {
	t.Parallel()
	head, commands := flowOf(t, export(t, Maestro, script.Case{Name: "App", Steps: []step.Step{
		do(step.Click, step.Args{Selector: by(step.TestID, "sign.in")}), expect(by(step.ByText, "Hello"), step.Visible, "", "")}}).Code)
	require.Equal(t, map[string]any{"appId": "${APP_ID}", "name": "App"}, head)
	require.Equal(t, map[string]any{"tapOn": map[string]any{"id": `sign\.in`}}, commands[1])
}
