package export

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/api/authoring/export/script"
	"github.com/slipway-qa/slipway/api/authoring/seleniumide"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/capability"
)

var update = flag.Bool("update", false, "write the golden files anew")

func export(t *testing.T, target string, c script.Case) File {
	t.Helper()
	f, ok, err := Export(target, c)
	require.NoError(t, err)
	require.True(t, ok)
	return f
}

func TestGolden(t *testing.T) {
	t.Parallel()
	c := tour("https://shop.example")
	require.NoError(t, step.Validate(c.Steps))
	for _, target := range programs() {
		f := export(t, target.ID, c)
		require.Equal(t, target.ContentType, f.ContentType)
		file := filepath.Join("testdata", target.ID+".golden")
		if *update {
			require.NoError(t, os.WriteFile(file, []byte(f.Code), 0o600))
		}
		want, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Equal(t, string(want), f.Code, "%s; write it anew with -update", target.ID)
	}
}

func TestTargets(t *testing.T) {
	t.Parallel()
	names := map[string]string{}
	for _, target := range programs() {
		names[target.ID] = export(t, target.ID, script.Case{Name: "Grüße: log in"}).Name
		require.Equal(t, 1, strings.Count(target.FileName, "%s"))
	}
	require.Equal(t, map[string]string{
		JavaScriptPlaywright:  "gruesse-log-in.test.mjs",
		JavaScriptWebdriverIO: "gruesse-log-in.test.mjs",
		PythonSelenium:        "test_gruesse_log_in.py",
		JavaSelenium:          "GruesseLogInTest.java",
		SeleniumIDE:           "gruesse-log-in.side",
	}, names)
	_, ok, err := Export("cobol", script.Case{})
	require.NoError(t, err)
	require.False(t, ok)
}

// TestBrowsers checks that the browser of the capabilities is started, and that
// nothing else of them gets into the code.
func TestBrowsers(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, playwright, python, java string }{
		{"chrome", "chromium.launch", "webdriver.Chrome(", "new ChromeDriver("},
		{"firefox", "firefox.launch", "webdriver.Firefox(", "new FirefoxDriver("},
		{"safari", "webkit.launch", "webdriver.Safari(", "new SafariDriver("},
		{"MicrosoftEdge", "channel: 'msedge'", "webdriver.Edge(", "new EdgeDriver("},
		{"';alert(1)//", "chromium.launch", "webdriver.Chrome(", "new ChromeDriver("},
	} {
		c := script.Case{Name: "x", Capabilities: capability.Capabilities{"browserName": test.name, "browserVersion": "1\"'2",
			"slipway:options":    map[string]any{"accessKey": "SECRET"},
			"goog:chromeOptions": map[string]any{"args": []any{"--renderer-cmd-prefix=SECRET"}}}}
		for target, want := range map[string]string{JavaScriptPlaywright: test.playwright, PythonSelenium: test.python,
			JavaSelenium: test.java, JavaScriptWebdriverIO: "browserName: '", SeleniumIDE: "{"} {
			f := export(t, target, c)
			require.Contains(t, f.Code, want)
			require.NotContains(t, f.Code, "SECRET")
			require.NotContains(t, f.Code, "alert(1)")
		}
	}
}

// TestUnwritable names the member for which there is no code.
func TestUnwritable(t *testing.T) {
	t.Parallel()
	for path, s := range map[string]step.Step{
		"steps[0].tool.type":              do("teleport", step.Args{}),
		"steps[0].tool.args.selector":     do(step.Click, step.Args{}),
		"steps[0].tool.args.target":       on(step.Drag, "x"),
		"steps[0].tool.args.file":         on(step.UploadFile, "x"),
		"steps[0].tool.args.direction":    do(step.ScrollDocument, step.Args{Direction: "sideways"}),
		"steps[0].tool.args.action":       dialog("shout", nil),
		"steps[0].tool.args.matcher":      on(step.Assert, "x"),
		"steps[0].tool.args.matcher.name": expect(css("x"), "smells", "", ""),
		"steps[0].tool.args.key":          do(step.PressKey, step.Args{Key: "Any"}),
		"steps[0].tool.args.tool.type":    inside(step.InFrame, "x", do(step.Finish, step.Args{})),
		"steps[0].tool":                   on(step.InFrame, "x"),
	} {
		for _, target := range programs() {
			_, ok, err := Export(target.ID, script.Case{Steps: []step.Step{s}})
			require.True(t, ok)
			var wrong *step.InvalidError
			require.True(t, errors.As(err, &wrong), path)
			require.Equal(t, path, wrong.Path)
		}
	}
}

// TestSideReadsBack imports an export: what Selenium IDE can say comes back as it
// was, in its order, and nothing else comes.
func TestSideReadsBack(t *testing.T) {
	t.Parallel()
	c := tour("https://shop.example")
	f := export(t, SeleniumIDE, c)
	read, err := seleniumide.Import([]byte(f.Code), "")
	require.NoError(t, err)
	require.Equal(t, c.Name, read.Name)
	require.Equal(t, c.TestURL, read.URL)
	say := func(list []step.Step) []string {
		var words []string
		for i := range list {
			words = append(words, spell(&list[i].Tool))
		}
		return words
	}
	back := say(read.Steps)
	require.Equal(t, "go_to_url https://shop.example/login", back[0])
	rest := back[1:]
	came := 0
	for _, want := range say(c.Steps) {
		if came < len(rest) && rest[came] == want {
			came++
		}
	}
	require.Equal(t, len(rest), came, "not of the case: %s", strings.Join(rest[came:], "\n"))
	require.Greater(t, came, 40)
}

// spell writes a tool so that what Selenium IDE says in other words is the same.
func spell(t *step.Tool) string {
	words := t.Type
	if words == step.TypeKeys || words == step.PressKey && len([]rune(t.Args.Key)) == 1 {
		words = step.InputText // which it is for a field that is empty
	}
	s := &script.Script{Env: &script.Environment{}}
	for _, at := range []*step.Selector{t.Args.Selector, t.Args.Target} {
		if at != nil {
			target, _ := (&ide{Script: s}).locator(s.Place(at))
			words += " " + target
		}
	}
	if (t.Type == step.PressKey || t.Type == step.TypeKeys) && t.Args.Selector == nil {
		words += " css=:focus"
	}
	for _, s := range []*string{t.Args.Text, t.Args.OptionValue} {
		if s != nil {
			words += " " + *s
		}
	}
	if t.Args.Time != nil {
		words += fmt.Sprint(" ", *t.Args.Time)
	}
	words = script.Join(script.Join(script.Join(words, t.Args.URL), t.Args.Key), t.Args.Action)
	if m := t.Args.Matcher; m != nil {
		name, not := m.Name, t.Args.Not
		value, mode := m.Args.Value, m.Args.Mode
		switch {
		case name == step.Hidden:
			name, not = step.Visible, !not
		case name == step.Count && value == "0" && not:
			value, mode, not = "1", step.AtLeast, false
		case name == step.WindowNew:
			name, value = step.WindowIndex, "1"
		}
		if mode == step.Equals {
			mode = ""
		}
		words += fmt.Sprint(" ", name, not, mode, value)
	}
	if t.Args.Tool != nil {
		words += " > " + spell(t.Args.Tool)
	}
	if words == "enter_key_submit" {
		words = "press_key css=:focus Enter"
	}
	return words
}

// programs are the targets that write the steps as code: all but those whose own tests hold
// them.
func programs() []Target {
	return slices.DeleteFunc(Targets(), func(t Target) bool { return t.ID == Maestro || t.ID == YAML || t.ID == JavaScriptCypress })
}
