package export

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/api/authoring/export/script"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/capability"
)

// hostile are texts that break out of a literal or a comment of some language.
var hostile = []string{
	`'`, `"`, "`", `\`, `\\`, `\'`, `\"`, `'); process.exit(1); ('`, `"); System.exit(1); ("`, `") or exit(1) or ("`,
	"line\nbreak", "line\r\nbreak", "\r", "\n", "\u0085", "\u2028alert(1)", "\u2029", "\x0b\x0c\x1c\x1d", "\t", "\x00", "\x7f\x1b[2J",
	`*/ alert(1); /*`, `// x`, `/* x`, `# x`, `"""`, `'''`, `""" + exit(1) + """`, "${process.exit(1)}", "`${x}`", `$`, `{x}`, `%s%d{{.Body}}`,
	`\u000a System.exit(1); //`, `\\u000a`, `\u0022`, `\uuu0022`, `\u{a}`, `\x22`, `\N{DIGIT ONE}`, `\` + "\n", `{{`, `}}`, `{{ x y }}`,
	"🎪👩\u200d🚀", "\U000e0001", "\u202e drow", "\ufeff", "\xff\xfe", "\xed\xa0\x80", "coding: utf-7", "-*- coding: rot13 -*-",
	"</script><!--", "-->", "#!/bin/sh", "x\\", strings.Repeat(`\`, 33), strings.Repeat(`'"`, 500), "a>>b", "text=x", "xpath=//x", ">>> x",
}

// holding is a case with a text at every place that a case has for one.
func holding(s string) script.Case {
	x := func(s string) *step.Selector { return &step.Selector{Type: step.XPath, Value: "//a[.=" + s + "]"} }
	steps := []step.Step{
		because(do(step.GoToURL, step.Args{URL: "https://h/?" + s}), "x"+s),
		fillIn("#a"+s, "t"+s),
		because(do(step.Select, step.Args{Selector: x(s), OptionValue: ptr("o" + s)}), s),
		do(step.Drag, step.Args{Selector: css("a" + s), Target: x(s)}),
		expect(x(s), step.TextIs, step.Contains, "v"+s+"v"),
		attribute(expect(css("a"+s), step.AttributeIs, "", "w"+s), "n"+s),
		expect(nil, step.URLIs, "", "u"+s),
		expect(nil, step.TitleIs, step.Contains, "i"+s),
		window(step.WindowTitle, "w"+s),
		on(step.Click, "a"+s),
		dialog("accept", ptr("d"+s)),
		optional(inside(step.InFrame, "f"+s, inside(step.InShadowRoot, "h"+s, on(step.Hover, "e"+s)))),
		on(step.DoubleClick, "c"+s),
		do(step.RightClick, step.Args{Selector: within(has(hasText(role("r"+s, "a"+s), "h"+s), by(step.TestID, "i"+s)),
			by(step.ByLabel, "l"+s))}),
		do(step.TypeKeys, step.Args{Selector: by(step.ByText, "x"+s), Text: ptr("k" + s)}),
		when(do(step.Hover, step.Args{Selector: exact(by(step.Placeholder, "p"+s))}), by(step.AltText, "a"+s), step.Visible, 10),
		expect(by(step.Title, "t"+s), step.Visible, "", ""),
		do(step.UploadFile, step.Args{Selector: css("u" + s), File: &step.File{Name: "f" + s, Content: []byte(s)}}),
	}
	return script.Case{ID: s, Name: "Case " + s, TestURL: "https://t/" + s, Steps: steps,
		Capabilities: capability.Capabilities{"browserName": s, "browserVersion": "1" + s, "platformName": "2" + s}}
}

// languages are the targets whose code is checked as code.
var languages = []string{JavaScriptPlaywright, JavaScriptWebdriverIO, PythonSelenium, JavaSelenium}

// checkHolds exports a text and checks that it changes nothing but strings and
// comments, and that the strings are what the case says.
func checkHolds(t *testing.T, s string) {
	t.Helper()
	if len(step.References(nil, s)) > 0 {
		return // a variable changes the code, as it should
	}
	clean := strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", "\uFFFD"), "\uFFFD")
	checkHoldsInGroup(t, s)
	for _, target := range languages {
		f := export(t, target, holding(s))
		got, broken := tokenize(target, f.Code)
		require.False(t, broken, "%s: a string does not end:\n%s", target, f.Code)
		want, broken := tokenize(target, export(t, target, holding("z")).Code)
		require.False(t, broken)
		require.Equal(t, nameless(want.code, "Case z", "z"), nameless(got.code, "Case "+s, s), "%s of %q", target, s)
		for _, text := range []string{"t" + clean, "o" + clean, "w" + clean, "n" + strings.ToValidUTF8(s, "\uFFFD"), "d" + clean} {
			require.True(t, slices.Contains(got.strings, text), "%s lacks %q:\n%s", target, text, f.Code)
		}
		require.True(t, utf8.ValidString(f.Code))
		require.Regexp(t, `^[A-Za-z0-9_.-]{1,90}$`, f.Name)
	}
	f := export(t, SeleniumIDE, holding(s))
	require.True(t, json.Valid([]byte(f.Code)))
	checkCypressHolds(t, s)
}

// checkCypressHolds is checkHolds without what Cypress has no words for.
func checkCypressHolds(t *testing.T, s string) {
	t.Helper()
	sayable := func(s string) script.Case {
		c := holding(s)
		c.Steps = slices.DeleteFunc(c.Steps, func(s step.Step) bool {
			inner := step.Inner(&s.Tool).Type
			return s.Optional || slices.Contains([]string{step.Drag, step.Hover, step.SwitchWindow}, inner)
		})
		return c
	}
	own := func(code string) string { // without the script that finds elements, which is always the same
		code, _, _ = strings.Cut(code, "/** Looks for elements of a document. */")
		return code
	}
	f := export(t, JavaScriptCypress, sayable(s))
	got, broken := tokenize(JavaScriptCypress, own(f.Code))
	require.False(t, broken, "a string does not end:\n%s", f.Code)
	want, broken := tokenize(JavaScriptCypress, own(export(t, JavaScriptCypress, sayable("z")).Code))
	require.False(t, broken)
	require.Equal(t, nameless(want.code, "Case z", "z"), nameless(got.code, "Case "+s, s), "%q", s)
	require.True(t, slices.Contains(got.strings, "t"+strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", "\uFFFD"), "\uFFFD")), f.Code)
}

// nameless takes the names that are made of the case's name out of the code.
func nameless(code, name, id string) string {
	read, err := script.New(script.Case{Name: name, ID: id}, false)
	if err != nil {
		return code
	}
	code = strings.Replace(code, "class "+read.Name.Pascal()+"Test", "class Test", 1)
	return strings.Replace(code, "def test_"+read.Name.Snake()+"(", "def test(", 1)
}

func TestHostile(t *testing.T) {
	t.Parallel()
	for _, s := range hostile {
		checkHolds(t, s)
	}
}

func FuzzExport(f *testing.F) {
	for _, s := range hostile {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if len(s) < 10_000 {
			checkHolds(t, s)
		}
	})
}

// TestHostileParses lets the languages themselves read the exports, in one process
// each, and Python tell the strings that it read.
func TestHostileParses(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	cases := []script.Case{tour("https://shop.example"), {}, {Name: "only", Steps: []step.Step{on(step.Click, "a")}}}
	for _, s := range hostile {
		cases = append(cases, holding(s))
	}
	for _, s := range hostile {
		cases = append(cases, holdingInGroup(t, s))
	}
	for _, tool := range step.Tools() {
		cases = append(cases, single(tool)...)
	}
	cases = append(cases, located()...)
	for i, c := range cases {
		for _, target := range languages {
			f := export(t, target, c)
			require.NoError(t, os.WriteFile(filepath.Join(folder, fmt.Sprintf("%03d_%s%s", i, target, filepath.Ext(f.Name))), []byte(f.Code), 0o600))
		}
	}
	python := exec.Command(program(t, "apt-get install python3", "python3"), "-c", `import ast, glob, json, sys
found = {}
for name in sorted(glob.glob("*.py")):
    tree = ast.parse(open(name, "rb").read(), name)
    found[name] = [n.value for n in ast.walk(tree) if isinstance(n, ast.Constant) and isinstance(n.value, str)]
    imported = {a.asname or a.name for n in ast.walk(tree) if isinstance(n, (ast.Import, ast.ImportFrom)) for a in n.names}
    used = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)}
    assert imported <= used, (name, "not used", imported - used)
    defined = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    defined |= {n.name for n in ast.walk(tree) if isinstance(n, (ast.FunctionDef, ast.ClassDef))} | {n.arg for n in ast.walk(tree) if isinstance(n, ast.arg)}
    defined |= {n.name for n in ast.walk(tree) if isinstance(n, ast.ExceptHandler) and n.name}
    missing = used - imported - defined - set(dir(__builtins__)) - {"__name__"}
    assert not missing, (name, "missing", missing)
    methods = {n.name for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)}
    calls = {n.func.attr for n in ast.walk(tree) if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute) and getattr(n.func.value, "id", "") == "self"}
    missing = {c for c in calls if not c.startswith("assert") and c not in ("addCleanup", "fail")} - methods
    assert not missing, (name, "missing", missing)
print(json.dumps(found))`)
	python.Dir = folder
	out, err := python.CombinedOutput()
	require.NoError(t, err, "%s", out)
	var found map[string][]string
	require.NoError(t, json.Unmarshal(out, &found))
	require.Len(t, found, len(cases))
	for i, s := range hostile {
		clean := strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", "\uFFFD"), "\uFFFD")
		require.Contains(t, found[fmt.Sprintf("%03d_%s.py", i+3, PythonSelenium)], "t"+clean)
	}

	if _, err := exec.LookPath("node"); err != nil {
		return
	}
	node := exec.Command("node", "--no-warnings", "--experimental-vm-modules", "-e", `const fs = require('node:fs');
const vm = require('node:vm');
const files = [];
const names = fs.readdirSync('.').filter((name) => name.endsWith('.mjs'));
for (const name of names) {
  const code = fs.readFileSync(name, 'utf8');
  try { new vm.SourceTextModule(code); } catch (error) { throw new Error(name + ': ' + error + '\n' + code); }
  const bare = code.replace(/String[.]raw\x60[^\x60]*\x60/g, '').replace(/'(?:[^'\\\n]|\\.)*'|^ *(?:\/\/|\/?\*).*$/gm, '');
  files.push([name, bare, [...bare.matchAll(/^(?:async )?function (\w+)/gm)].map((m) => m[1])]);
}
// Every function of a skeleton that is called is there, and every one that is
// there is called.
const all = new Set(files.flatMap(([, , defined]) => defined));
for (const [name, bare, defined] of files) {
  for (const f of all) {
    const uses = bare.split(new RegExp('(?<![.\\w])' + f + '\\b(?! =)')).length - 1;
    if (defined.includes(f) && uses < 2 && f !== 'findAll') throw new Error(name + ' does not use ' + f);
    if (!defined.includes(f) && bare.match(new RegExp('(?<![.\\w])' + f + '\\('))) throw new Error(name + ' lacks ' + f);
  }
}
console.log(names.length);`)
	node.Dir = folder
	out, err = node.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Equal(t, fmt.Sprint(2*len(cases)), strings.TrimSpace(string(out)))
}

// located are cases of one step for each way to say where an element is: each uses its
// own part of what finds elements.
func located() []script.Case {
	var cases []script.Case
	for _, kind := range script.SelectorTypes {
		full := func() *step.Selector {
			return nth(exact(hasText(has(within(by(kind, "button"), by(kind, "a")), by(kind, "b")), "c")), -1)
		}
		for _, s := range []*step.Selector{by(kind, "button"), by(kind, "{{x}}"), exact(by(kind, "a")), within(by(kind, "a"), css("b")),
			has(by(kind, "a"), by(kind, "b")), hasText(by(kind, "a"), "b"), nth(by(kind, "a"), -1), full()} {
			cases = append(cases, script.Case{Name: kind, Steps: []step.Step{do(step.Click, step.Args{Selector: s})}},
				script.Case{Name: kind, FirstMatch: true, Steps: []step.Step{expect(s, step.TextIs, "", "x")}})
		}
	}
	for name := range script.StateCSS {
		cases = append(cases, script.Case{Name: name, Steps: []step.Step{
			when(do(step.Click, step.Args{Selector: inState(role("tab", "{{x}}"), name, false)}),
				inState(role("treeitem", ""), name, true), step.Visible, 0)}})
	}
	heading := &step.Selector{Type: step.ByRole, Value: "heading", Level: 2}
	return append(cases, script.Case{Name: "heading", Steps: []step.Step{
		limited(optional(inside(step.InFrame, "f", when(do(step.Click, step.Args{Selector: heading}), heading, step.Hidden, 9))), 8)}},
		script.Case{Name: "frame", Steps: []step.Step{when(inside(step.InFrame, "f", on(step.Click, "x")), css("x"), step.Visible, 9)}})
}

// single are cases of one step with a tool: each uses its own part of a skeleton.
func single(tool string) []script.Case {
	args := step.Args{}
	if step.IsMobile(&step.Tool{Type: tool}) {
		return nil // see network_test.go
	}
	switch tool {
	case step.Assert:
		var cases []script.Case
		for _, name := range []string{step.Visible, step.Hidden, step.TextIs, step.ValueIs, step.Count, step.URLIs,
			step.TitleIs, step.Enabled, step.Checked, step.Focused, step.AttributeIs} {
			for _, mode := range []string{"", step.Contains, step.Matches, step.AtLeast, step.AtMost} {
				s := attribute(expect(css("a"), name, mode, "1"), "n")
				cases = append(cases, script.Case{Name: name, Steps: []step.Step{s}}, script.Case{Name: name,
					Steps: []step.Step{not(limited(s, 5))}})
			}
		}
		return cases
	case step.SwitchWindow:
		var cases []script.Case
		for _, name := range []string{step.WindowTitle, step.WindowURL, step.WindowIndex, step.WindowNew} {
			cases = append(cases, script.Case{Name: name, Steps: []step.Step{window(name, "1")}},
				script.Case{Steps: []step.Step{window(name, "{{n}}")}})
		}
		return cases
	case step.SetCookie, step.SetStorage, step.ClearState, step.Emulate, step.SetClock, step.Save, step.ForEach:
		return nil // of Playwright alone, see state_test.go
	case step.Route, step.Unroute, step.WaitForRequest, step.WaitForResponse, step.WaitForURL, step.WaitForDownload:
		return nil // see network_test.go
	case step.Finish:
		return []script.Case{{Steps: []step.Step{do(tool, args)}}}
	case step.InFrame, step.InShadowRoot:
		inner := inside(tool, "f", expect(css("a"), step.Count, "", "{{n}}"))
		press := inside(tool, "f", do(step.PressKey, step.Args{Key: "Enter"}))
		return []script.Case{{Steps: []step.Step{inner}}, {Steps: []step.Step{press}}, {Steps: []step.Step{limited(optional(press), 7)}}}
	case step.GoToURL:
		args.URL = "/there"
	case step.PressKey:
		args.Key = "Control+a"
		return []script.Case{{Steps: []step.Step{do(tool, args)}}, {Steps: []step.Step{do(tool, step.Args{Key: "é"})}},
			{Steps: []step.Step{do(tool, step.Args{Key: "x", Selector: css("a")})}}}
	case step.HandleDialog:
		return []script.Case{{Steps: []step.Step{dialog("accept", nil)}}, {Steps: []step.Step{dialog("dismiss", nil)}},
			{Steps: []step.Step{on(step.Click, "a"), optional(dialog("accept", ptr("{{x}}")))}}}
	case step.TypeKeys:
		return []script.Case{{Steps: []step.Step{do(tool, step.Args{Text: ptr("{{x}}")})}},
			{Steps: []step.Step{do(tool, step.Args{Text: ptr("x"), Selector: css("a")})}}}
	case step.SetViewport:
		args.Width, args.Height = ptr(800), ptr(600)
	case step.EnterKeySubmit, step.Pause, step.Back, step.Forward, step.Reload:
	default:
		args = step.Args{Selector: nth(css("a"), 2), Target: css("b"), Text: ptr("t"), OptionValue: ptr("{{o}}!"), Direction: "left",
			File: &step.File{Name: "n", Content: make([]byte, 100_000)}}
	}
	s := do(tool, args)
	return []script.Case{{Name: tool, Steps: []step.Step{s}},
		{Name: tool, TestURL: "{{base}}/x", Steps: []step.Step{optional(limited(s, 9)), s}}}
}
