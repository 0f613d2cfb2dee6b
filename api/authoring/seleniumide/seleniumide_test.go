package seleniumide_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/api/authoring/recording"
	"github.com/slipway-qa/slipway/api/authoring/seleniumide"
	"github.com/slipway-qa/slipway/storage/step"
)

// project is one test of commands that are written as command|target|value.
func project(t testing.TB, lines ...string) []byte {
	t.Helper()
	commands := []map[string]any{}
	for _, line := range lines {
		parts := strings.SplitN(line+"||", "|", 4)
		commands = append(commands, map[string]any{"id": "x", "comment": "", "command": parts[0], "target": parts[1],
			"targets": []any{}, "value": parts[2]})
	}
	return document(t, map[string]any{"id": "t1", "name": "one", "commands": commands})
}

func document(t testing.TB, tests ...any) []byte {
	t.Helper()
	text, err := json.Marshal(map[string]any{"id": "p", "version": "2.0", "name": "shop", "url": "https://shop.example.com", "tests": tests,
		"suites": []any{}, "urls": []any{}, "plugins": []any{}})
	require.NoError(t, err)
	return text
}

// lines writes steps short, so that tables can be read.
func lines(steps []step.Step) []string {
	out := []string{}
	for _, s := range steps {
		text := line(&s.Tool)
		if s.TimeoutMS > 0 {
			text += fmt.Sprintf(" within %d", s.TimeoutMS)
		}
		out = append(out, text)
	}
	return out
}

func line(t *step.Tool) string {
	a := &t.Args
	parts := []string{t.Type}
	add := func(text string) { parts = append(parts, text) }
	if a.URL != "" {
		add(a.URL)
	}
	for _, s := range []*step.Selector{a.Selector, a.Target} {
		if s == nil {
			continue
		}
		add(s.Value)
		if s.Index != nil {
			add(fmt.Sprintf("#%d", *s.Index))
		}
	}
	for _, s := range []*string{a.Text, a.OptionValue} {
		if s != nil {
			add(fmt.Sprintf("%q", *s))
		}
	}
	if a.Time != nil {
		add(fmt.Sprint(*a.Time))
	}
	if a.Not {
		add("not")
	}
	if a.Matcher != nil {
		add(strings.Join(strings.Fields(a.Matcher.Name+" "+a.Matcher.Args.Mode+" "+a.Matcher.Args.Value), " "))
	}
	for _, s := range []string{a.Key, a.Action} {
		if s != "" {
			add(s)
		}
	}
	if a.Tool != nil {
		add("{" + line(a.Tool) + "}")
	}
	return strings.Join(parts, " ")
}

func TestCommands(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		commands []string
		want     []string
	}{
		{"nothing", nil, nil},
		{"open", []string{"open|/login", "open|https://other.example.com/", "open|"},
			[]string{"go_to_url /login", "go_to_url https://other.example.com/", "go_to_url https://shop.example.com"}},
		{"dropped", []string{"setWindowSize|1200x800", "echo|hi", "setSpeed|0", "debugger", "mouseOut|id=a", "//click|id=a",
			"", "close", "close"}, nil},
		{"clicks", []string{"click|id=a", "clickAt|css=.b > a|10,12", "click|xpath=(//a)[2]", "click|//div[@id='x']"},
			[]string{"click #a", "click .b > a", "click (//a)[2]", "click //div[@id='x']"}},
		{"locators", []string{"click|id=1:a\"\\", "click|id=ok-1_x", "click|name=user[0]", "click|name=it's \"x\"",
			"click|class=big", "click|class=1b",
			"click|linkText=Log  in", "click|link=Say \"hi\"", "click|linkText=It's \"x\"", "click|partialLinkText=More", "click|css=a[href='x=y']"},
			[]string{`click [id="1:a\"\\"]`, "click #ok-1_x", `click [name="user[0]"]`, `click [name="it's \"x\""]`,
				"click .big", `click [class~="1b"]`,
				`click //a[normalize-space(.)="Log in"]`, `click //a[normalize-space(.)='Say "hi"']`,
				`click //a[normalize-space(.)=concat("It's ",'"',"x",'"',"")]`,
				`click //a[contains(normalize-space(.),"More")]`, `click a[href='x=y']`}},
		{"check", []string{"check|id=a", "uncheck|id=b"}, []string{"click #a", "assert #a checked", "click #b", "assert #b not checked"}},
		{"type", []string{"type|id=a| ada ", "type|id=a|", `type|id=a|one\ntwo\\n`, "editContent|id=b|x"},
			[]string{`input_text #a "ada"`, `input_text #a ""`, `input_text #a "one\ntwo\\n"`, `input_text #b "x"`}},
		{"keys", []string{"sendKeys|id=a|ada", "sendKeys|id=a| lovelace${KEY_ENTER}", "sendKeys|id=a|x",
			"sendKeys|id=b|${KEY_CONTROL}a${KEY_NULL}${KEY_DEL}ok"},
			[]string{`input_text #a "adalovelace"`, "press_key Enter", `type_keys #a "x"`, "press_key #b Control+a",
				"press_key Delete", `type_keys "ok"`}},
		{"keys behind text", []string{"type|id=a|x", "click|id=b", `sendKeys|id=a|one\ntwo${KEY_TAB}three`},
			[]string{`input_text #a "x"`, "click #b", `type_keys #a "one"`, "press_key Enter", `type_keys "two"`,
				"press_key Tab", `type_keys "three"`}},
		{"other clicks", []string{"doubleClick|id=a", "doubleClickAt|id=a|1,1", "contextMenu|id=a", "contextMenuAt|id=a|1,1"},
			[]string{"double_click #a", "double_click #a", "right_click #a", "right_click #a"}},
		{"history", []string{"selectFrame|index=0", "goBack", "click|id=a", "goForward", "refresh"},
			[]string{"back", "click #a", "forward", "reload"}},
		{"modifiers", []string{"sendKeys|id=a|${KEY_CTRL}${KEY_SHIFT}k${KEY_SHIFT}l", "sendKeys|id=a|${KEY_ALT}", "sendKeys|id=a|${KEY_ADD}"},
			[]string{"press_key #a Control+Shift+k", "press_key Control+l", "press_key #a Alt", "press_key #a +"}},
		{"a field in a frame is another one", []string{"selectFrame|index=0", "type|id=a|x", "selectFrame|relative=parent", "sendKeys|id=a|y"},
			[]string{`in_frame iframe, frame #0 {input_text #a "x"}`, `input_text #a "y"`}},
		{"select", []string{"select|id=a|label=Two words", "select|id=a|value=2", "select|id=a|index=3", "select|id=a|plain",
			"addSelection|id=a|label=x"},
			[]string{`select #a "Two words"`, `select #a "2"`, `select #a "index=3"`, `select #a "plain"`, `select #a "x"`}},
		{"mouse", []string{"mouseOver|id=a", "mouseMoveAt|id=a|1,1", "dragAndDropToObject|id=a|id=b"},
			[]string{"hover #a", "hover #a", "drag #a #b"}},
		{"drag by hand", []string{"mouseDownAt|id=a|1,1", "mouseMoveAt|id=b|2,2", "mouseUpAt|id=b|2,2", "click|id=b"},
			[]string{"drag #a #b", "click #b"}},
		{"click by hand", []string{"mouseDown|id=a", "mouseUp|id=a", "mouseDownAt|id=b|1,1", "mouseUpAt|id=b|1,1", "click|id=b"},
			[]string{"click #a", "click #b"}},
		{"pause", []string{"pause|500", "pause||250"}, []string{"pause 500", "pause 250"}},
		{"submit", []string{"type|id=a|x", "submit|css=form"}, []string{`input_text #a "x"`, "enter_key_submit"}},
		{"store", []string{"store|ada|user", "store|id|kind", "type|${kind}=a|${user} ${other}${nbsp}!", "pause|1"},
			[]string{`input_text #a "ada ${other}` + `\u00a0!"`, "pause 1"}},
		{"asserts", []string{"assertText|id=a|Hello", "verifyText|id=a|exact:Hello", "assertNotText|id=a|x", "assertTitle|Shop",
			"assertValue|id=a|1",
			"assertSelectedValue|id=a|1", "assertSelectedLabel|id=a|One", "assertElementPresent|id=a", "verifyElementNotPresent|id=a",
			"assertChecked|id=a", "assertNotChecked|id=a", "assertEditable|id=a", "assertNotEditable|//a", "verifyTitle|regexp:^S",
			"assertText|id=a|glob:a.*?"},
			[]string{"assert #a text equals Hello", "assert #a text equals Hello", "assert #a not text equals x",
				"assert title equals Shop", "assert #a value equals 1",
				"assert #a value equals 1", "assert :is(#a) option:checked text equals One", "assert #a count at_least 1", "assert #a count equals 0",
				"assert #a checked", "assert #a not checked", "assert :is(#a):not(:disabled):not([readonly]) count at_least 1",
				"assert (//a)[@disabled or @readonly] count at_least 1", "assert title matches ^S", `assert #a text matches (?s)^a\..*.$`}},
		{"waits", []string{"waitForElementVisible|id=a|5000", "waitForElementNotVisible|id=a|",
			"waitForElementPresent|id=a|9999999", "waitForElementNotPresent|id=a|1",
			"waitForElementEditable|id=a|2", "waitForText|id=a|Done"},
			[]string{"assert #a visible within 5000", "assert #a hidden within 30000", "assert #a count at_least 1 within 600000",
				"assert #a count equals 0 within 1",
				"assert :is(#a):not(:disabled):not([readonly]) count at_least 1 within 2", "assert #a text equals Done within 30000"}},
		{"frames", []string{"selectFrame|index=1", "click|id=a", "selectFrame|css=#f", "assertText|id=b|x", "assertTitle|T",
			"selectFrame|relative=parent", "click|id=c",
			"selectFrame|relative=top", "click|id=d", `selectFrame|index=0\2`, "sendKeys|id=e|${KEY_TAB}${KEY_TAB}",
			`selectFrame|index=..\..`, "selectFrame|relative=parent", "click|id=f",
			"selectFrame|name=g", "open|/x", "click|id=h"},
			[]string{"in_frame iframe, frame #1 {click #a}", "in_frame iframe, frame #1 {in_frame #f {assert #b text equals x}}",
				"assert title equals T",
				"in_frame iframe, frame #1 {click #c}", "click #d", "in_frame iframe, frame #0 {in_frame iframe, frame #2 {press_key #e Tab}}",
				"in_frame iframe, frame #0 {in_frame iframe, frame #2 {press_key Tab}}", "click #f", "go_to_url /x", "click #h"}},
		{"dialogs after", []string{"click|id=a", "assertAlert|Saved", "click|id=b", "assertConfirmation|Sure?",
			"webdriverChooseCancelOnVisibleConfirmation",
			"click|id=c", "webdriverAnswerOnVisiblePrompt|Ada", "acceptConfirmation"},
			[]string{"click #a", "handle_dialog accept", "click #b", "handle_dialog dismiss", "click #c",
				`handle_dialog "Ada" accept`, "handle_dialog accept"}},
		{"dialogs before", []string{"chooseCancelOnNextConfirmation", "click|id=a", "echo|x", "assertConfirmation|Sure?",
			"answerOnNextPrompt|Ada", "click|id=b", "click|id=c"},
			[]string{"click #a", "handle_dialog dismiss", "click #b", `handle_dialog "Ada" accept`, "click #c"}},
		{"windows by title and number", []string{"selectWindow|title=Help", "close", "selectWindow|win_ser_local",
			"selectWindow|handle=win_ser_1"},
			[]string{"switch_window title Help", "switch_window index 0", "switch_window index 1"}},
	} {
		got, err := seleniumide.Import(project(t, c.commands...), "")
		require.NoError(t, err, c.name)
		require.Equal(t, append([]string{}, c.want...), lines(got.Steps), c.name)
		require.NoError(t, step.Validate(got.Steps), c.name)
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", step.MaxText+1)
	many := strings.Split(strings.TrimSuffix(strings.Repeat("echo|x\n", 1001), "\n"), "\n")
	typing := []string{"type|id=a|x", "click|id=b", "sendKeys|id=a|" + strings.Repeat(`x\n`, 600)}
	for _, c := range []struct {
		commands  []string
		path, msg string
	}{
		{[]string{"open|/", "executeScript|return 1|x"}, "tests[0].commands[1].command", "executeScript has no counterpart"},
		{[]string{"//open|/", "", "dragAndDrop|id=a"}, "tests[0].commands[2].command", "dragAndDrop"},
		{[]string{"doubleClick|"}, "tests[0].commands[0].target", "missing"},
		{[]string{"click|css=a:contains('x')"}, "tests[0].commands[0]",
			"selector.value: is no CSS selector: character 2: there is no pseudo-class :contains"},
		{[]string{"click|xpath=//a["}, "tests[0].commands[0]", "is no XPath"},
		{[]string{"if|x"}, "tests[0].commands[0].command", "if"},
		{[]string{"storeText|id=a|x"}, "tests[0].commands[0].command", "storeText"},
		{[]string{"run|other"}, "tests[0].commands[0].command", "run"},
		{[]string{"assert|x|1"}, "tests[0].commands[0].command", "assert"},
		{[]string{"removeSelection|id=a|label=x"}, "tests[0].commands[0].command", "removeSelection"},
		{[]string{"waitForX|id=a"}, "tests[0].commands[0].command", "waitForX"},
		{[]string{long}, "tests[0].commands[0].command", "this command"},
		{[]string{"submit|css=form"}, "tests[0].commands[0].command", "submit"},
		{[]string{"close", "click|id=a"}, "tests[0].commands[0].command", "close"},
		{[]string{"mouseDown|id=a", "click|id=a"}, "tests[0].commands[0].command", "mouseDown"},
		{[]string{"mouseUp|id=a"}, "tests[0].commands[0].command", "mouseUp"},
		{[]string{"click|"}, "tests[0].commands[0].target", "missing"},
		{[]string{"click|user"}, "tests[0].commands[0].target", "css="},
		{[]string{"click|dom=x"}, "tests[0].commands[0].target", "css="},
		{[]string{"click|css=" + long[:5000]}, "tests[0].commands[0]", "selector.value: has at most 4096"},
		{[]string{"dragAndDropToObject|id=a|b"}, "tests[0].commands[0].value", "css="},
		{[]string{"mouseDown|id=a", "mouseUp|b"}, "tests[0].commands[1].target", "css="},
		{[]string{"type|id=a|" + long}, "tests[0].commands[0].value", "20000"},
		{[]string{"type|id=a|a\x00"}, "tests[0].commands[0]", "NUL"},
		{[]string{"sendKeys|id=a|${KEY_HYPER}"}, "tests[0].commands[0].value", "no counterpart"},
		{[]string{"select|id=a|id=x"}, "tests[0].commands[0].value", "label="},
		{[]string{"select|id=a|label=regexp:x"}, "tests[0].commands[0].value", "pattern"},
		{[]string{"pause|soon"}, "tests[0].commands[0].target", "milliseconds"},
		{[]string{"waitForElementVisible|id=a|soon"}, "tests[0].commands[0].value", "milliseconds"},
		{[]string{"assertText|id=a|regexp:("}, "tests[0].commands[0]", "matcher.args.value: must be a regular expression"},
		{[]string{"assertSelectedLabel|//select|x"}, "tests[0].commands[0].target", "css="},
		{[]string{"selectWindow|handle=${win}"}, "tests[0].commands[0].target", "handle="},
		{[]string{"selectWindow|name=x"}, "tests[0].commands[0].target", "handle="},
		{[]string{"selectWindow|title=x", "storeWindowHandle|y"}, "tests[0].commands[1].command", "title"},
		{[]string{"selectFrame|index=x"}, "tests[0].commands[0].target", "number"},
		{[]string{`selectFrame|index=0\0\0\0\0\0\0\0\0`}, "tests[0].commands[0].target", "8 frames"},
		{[]string{"store|x|a b"}, "tests[0].commands[0].value", "name"},
		{[]string{"store|" + long[:15000] + "|a", "store|${a}${a}|b"}, "tests[0].commands[1].target", "20000"},
		{many, "tests[0].commands", "1000"},
		{typing, "tests[0].commands[2].path", "1000"},
	} {
		_, err := seleniumide.Import(project(t, c.commands...), "")
		var wrong *step.InvalidError
		require.ErrorAs(t, err, &wrong, "%.100q", c.commands)
		require.Contains(t, wrong.Msg, c.msg, "%.100q", c.commands)
		require.Equal(t, strings.TrimSuffix(c.path, ".path"), wrong.Path, "%.100q", c.commands)
	}
}

func TestWarnings(t *testing.T) {
	t.Parallel()
	got, err := seleniumide.Import(project(t, "open|/", "click|id=a", "click|linkText=Edit", "type|name=user|x", "click|css=.b",
		"assertText|class=c|x", "dragAndDropToObject|id=a|partialLinkText=Bin", "store|name|kind", "click|${kind}=d"), "")
	require.NoError(t, err)
	require.Equal(t, []string{
		"tests[0].commands[2].target: linkText=Edit may find several elements, of which the first is taken",
		"tests[0].commands[3].target: name=user may find several elements, of which the first is taken",
		"tests[0].commands[5].target: class=c may find several elements, of which the first is taken",
		"tests[0].commands[6].value: partialLinkText=Bin may find several elements, of which the first is taken",
		"tests[0].commands[8].target: name=d may find several elements, of which the first is taken",
	}, got.Warnings)
	for _, commands := range [][]string{{"open|/", "assertTitle|x"}, nil} {
		got, err := seleniumide.Import(project(t, commands...), "")
		require.NoError(t, err)
		require.Equal(t, []string{}, got.Warnings)
	}
	many := strings.Split(strings.TrimSuffix(strings.Repeat("click|class="+strings.Repeat("é", 100)+"\n", 150), "\n"), "\n")
	got, err = seleniumide.Import(project(t, many...), "")
	require.NoError(t, err)
	require.Len(t, got.Warnings, 100)
	require.Less(t, len(got.Warnings[0]), 200)
	require.True(t, utf8.ValidString(got.Warnings[0]))
}

// What the file has and the importer does not read is named; what Selenium IDE itself
// writes is not.
func TestUnknownMembers(t *testing.T) {
	t.Parallel()
	click := func(more string) string { return `{"command":"click","target":"id=a"` + more + `}` }
	read := func(project string) *recording.Test {
		t.Helper()
		got, err := seleniumide.Import([]byte(project), "t")
		require.NoError(t, err)
		return got
	}
	got := read(`{"id":"p","flags":1,"suites":[{"id":"s"},{"id":"r","retries":2}],"tests":[
		{"id":"u","secret":1,"commands":[` + click(`,"foo":1`) + `]},
		{"id":"t","name":"x","retries":{"deep":1},"commands":[` + click(`,"skip":true,"foo":1`) + `,` + click(`,"foo":{"bar":1}`) + `,` +
		click(`,"skip":false,"isBreakpoint":true,"targets":[["id=a","id"]],"targetFallback":[],"values":[],"valueFallback":[],`+
			`"windowTimeout":1`) + `]}],
		"url":"","urls":[],"plugins":[{"x":1}],"version":"3.0","delay":0,"snapshot":{"tests":[]}}`)
	require.Equal(t, []string{"click #a", "click #a"}, lines(got.Steps), "one is switched off")
	require.Equal(t, []string{
		"flags is no member that Selenium IDE writes and was ignored",
		"suites[1].retries is no member that Selenium IDE writes and was ignored",
		"tests[1].retries is no member that Selenium IDE writes and was ignored",
		"tests[1].commands[1].foo is no member that Selenium IDE writes and was ignored",
	}, got.Warnings)
	got = read(`{"tests":[{"id":"t","commands":[` + strings.TrimSuffix(strings.Repeat(click(`,"foo":1`)+",", 30), ",") + `]}]}`)
	require.Len(t, got.Warnings, 11)
	require.Equal(t, "20 more members that Selenium IDE does not write were ignored", got.Warnings[10])
	recorded, err := seleniumide.Import([]byte(recorded), "")
	require.NoError(t, err)
	for _, text := range recorded.Warnings {
		require.NotContains(t, text, "is no member")
	}
}

func TestPositions(t *testing.T) {
	t.Parallel()
	got, err := seleniumide.Import(project(t, "clickAt|id=a|10,20", "clickAt|id=a|", "doubleClickAt|id=a|1,2",
		"contextMenuAt|id=a|3,4", "mouseMoveAt|id=a|5,6",
		"mouseDownAt|id=a|7,8", "mouseMoveAt|id=b|9,9", "mouseUpAt|id=b|1,1"), "")
	require.NoError(t, err)
	want := []string{}
	for _, w := range []string{"0 10,20 clickAt", "2 1,2 doubleClickAt", "3 3,4 contextMenuAt", "4 5,6 mouseMoveAt",
		"5 7,8 mouseDownAt", "6 9,9 mouseMoveAt", "7 1,1 mouseUpAt"} {
		part := strings.Fields(w)
		want = append(want, fmt.Sprintf("tests[0].commands[%s].value: the position %s is not kept: %s takes the middle of the element", part[0],
			part[1], part[2]))
	}
	require.Equal(t, want, got.Warnings)
}

func TestDocuments(t *testing.T) {
	t.Parallel()
	one := map[string]any{"id": "a", "name": "first", "commands": []any{}}
	two := map[string]any{"id": "b", "name": "second", "commands": []any{map[string]any{"command": "open", "target": "/"}}}
	twin := map[string]any{"id": "c", "name": "second", "commands": []any{}}
	for which, name := range map[string]string{"a": "first", "b": "second", "first": "first"} {
		got, err := seleniumide.Import(document(t, one, two, twin), which)
		require.NoError(t, err)
		require.Equal(t, name, got.Name)
		require.Equal(t, "https://shop.example.com", got.URL)
	}
	many := make([]any, seleniumide.MaxTests+1)
	for _, c := range []struct {
		text, which, path, msg string
	}{
		{string(document(t, one, two)), "", "tests", "2 tests"},
		{string(document(t, one, two, twin)), "second", "tests", "id"},
		{string(document(t, one)), "none", "tests", "no test"},
		{string(document(t)), "", "tests", "no test"},
		{string(document(t, many...)), "", "tests", "1000"},
		{string(document(t, nil)), "", "tests[0]", "object"},
		{`{`, "", "side", "JSON object"}, {`null`, "", "side", "object"}, {`[]`, "", "side", "JSON object"},
		{`{"tests":{}}`, "", "tests", "object"}, {`{"url":7,"tests":[{}]}`, "", "url", "number"},
		{`{"url":"` + strings.Repeat("x", 3000) + `","tests":[{}]}`, "", "url", "2048"},
		{`{"tests":[{"name":"\u0000"}]}`, "", "tests[0].name", "NUL"},
		{`{"tests":[{"commands":{}}]}`, "", "tests[0].commands", "object"},
		{`{"tests":[{"commands":[7]}]}`, "", "tests[0].commands[0]", "JSON object"},
		{`{"tests":[{"commands":[{"target":7}]}]}`, "", "tests[0].commands[0].target", "number"},
		{strings.Repeat("[", 40), "", "side", "deep"},
		{`{"x":"` + strings.Repeat("x", seleniumide.MaxProject) + `"}`, "", "side", "bytes"},
	} {
		_, err := seleniumide.Import([]byte(c.text), c.which)
		var wrong *step.InvalidError
		require.ErrorAs(t, err, &wrong, "%.60s", c.text)
		require.Equal(t, c.path, wrong.Path, "%.60s", c.text)
		require.Contains(t, wrong.Msg, c.msg, "%.60s", c.text)
	}
}

func FuzzImport(f *testing.F) {
	f.Add([]byte(recorded), "")
	f.Add(project(f, "selectFrame|index=0", "sendKeys|id=a|x${KEY_ENTER}", "store|${a}|b", "waitForElementVisible|name=x|1",
		"chooseOkOnNextConfirmation", "submit"), "one")
	f.Add([]byte(`{"tests":[{"commands":[{"command":"click","target":"id=a","targets":[["id=a","id"],[],["x"]]}]}]}`), "")
	f.Fuzz(func(t *testing.T, text []byte, which string) {
		got, err := seleniumide.Import(text, which)
		if err != nil {
			if wrong := (*step.InvalidError)(nil); !errors.As(err, &wrong) || wrong.Path == "" || wrong.Msg == "" {
				t.Fatalf("%#v", err)
			}
			return
		}
		if err := step.Validate(got.Steps); err != nil {
			t.Fatal(err)
		}
	})
}
