package export

import (
	"bufio"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/widget"
	"github.com/slipway-qa/slipway/storage/step"
)

// widgetCases are the cases of the widget set, to be exported. SLIPWAY_WIDGETS is a
// pattern of the names of those that are run; "" for all.
func widgetCases(t *testing.T) ([]widget.Case, []Case) {
	t.Helper()
	site, err := widget.Start(servicetest.NodeModules(t))
	require.NoError(t, err)
	t.Cleanup(func() { _ = site.Close() })
	all, err := widget.Cases()
	require.NoError(t, err)
	only := regexp.MustCompile(os.Getenv("SLIPWAY_WIDGETS"))
	var chosen []widget.Case
	var cases []Case
	for i, c := range all {
		if !only.MatchString(c.FullName()) {
			continue
		}
		steps := append([]step.Step(nil), c.Steps...)
		for j := range steps {
			if steps[j].TimeoutMS == 0 && !steps[j].Optional && (c.TimeoutMS > 0 || steps[j].Tool.Type != step.GoToURL) {
				steps[j].TimeoutMS = int(c.Timeout() / time.Millisecond)
			}
		}
		chosen = append(chosen, c)
		cases = append(cases, Case{
			ID: c.FullName(), Name: fmt.Sprintf("case %d", i), TestURL: site.BaseURL() + c.Page, Steps: steps, FirstMatch: c.FirstMatch,
		})
	}
	return chosen, cases
}

// ending is how an export ended.
type ending struct {
	Name  string `json:"name"`
	Error string `json:"error"` // "" for one that passed
}

// TestWidgets runs all cases of the widget set in every target that has a program for
// it: those that pass in the replay pass, and those that fail there fail.
func TestWidgets(t *testing.T) {
	for _, tool := range []struct {
		target string
		run    func(*testing.T, []File) []ending
	}{
		{JavaScriptPlaywright, runAllNode},
		{JavaScriptWebdriverIO, runAllNode},
		{PythonSelenium, runAllPython},
		{JavaSelenium, runAllJava},
	} {
		t.Run(tool.target, func(t *testing.T) {
			chosen, cases := widgetCases(t)
			files := make([]File, 0, len(cases))
			for _, c := range cases {
				files = append(files, export(t, tool.target, c))
			}
			endings := tool.run(t, files)
			require.Len(t, endings, len(files))
			for i, c := range chosen {
				got := step.Passed
				if endings[i].Error != "" {
					got = step.Failed
				}
				if got != c.Expect {
					t.Errorf("%s: %s, expected %s: %.1000s", c.FullName(), got, c.Expect, endings[i].Error)
				}
			}
		})
	}
}

// testShim stands in for node:test, so that many exports run one after the other in
// one process.
const testShim = `const hooks = { before: [], tests: [], after: [] };
export const before = (hook) => hooks.before.push(hook);
export const after = (hook) => hooks.after.push(hook);
export const test = (name, body) => hooks.tests.push(body);
export async function runHooks() {
  const { before, tests, after } = { ...hooks };
  Object.assign(hooks, { before: [], tests: [], after: [] });
  try {
    for (const hook of [...before, ...tests]) await hook();
  } finally {
    for (const hook of after) await hook();
  }
}
`

// playwrightShim lends all exports one browser; each has a context of its own.
const playwrightShim = `import { chromium as real } from 'playwright-core';
let browser;
export const chromium = {
  async launch(options) {
    browser ??= await real.launch(options);
    const contexts = [];
    return {
      newContext: async () => { const context = await browser.newContext(); contexts.push(context); return context; },
      close: () => Promise.all(contexts.map((context) => context.close())),
    };
  },
};
export const close = () => browser?.close();
`

const nodeRunner = `import { writeFileSync } from 'node:fs';
import { runHooks } from './test.mjs';
import { close } from './playwright.mjs';
const endings = [];
for (const name of process.argv.slice(2)) {
  let error = '';
  try {
    await import('./' + name);
    await runHooks();
  } catch (failure) {
    error = String(failure?.stack ?? failure) || 'failed';
  }
  endings.push({ name, error });
  writeFileSync('endings.json', JSON.stringify(endings));
}
await close();
process.exit(0);
`

func runAllNode(t *testing.T, files []File) []ending {
	t.Helper()
	folder := t.TempDir()
	require.NoError(t, os.Symlink(servicetest.NodeModules(t, "playwright-core", "webdriverio"), filepath.Join(folder, "node_modules")))
	write(t, folder, "test.mjs", testShim)
	write(t, folder, "playwright.mjs", playwrightShim)
	write(t, folder, "run.mjs", nodeRunner)
	names := []string{"run.mjs"}
	for i, f := range files {
		name := fmt.Sprintf("case%03d.mjs", i)
		code := strings.Replace(f.Code, "'node:test'", "'./test.mjs'", 1)
		write(t, folder, name, strings.Replace(code, "'playwright-core'", "'./playwright.mjs'", 1))
		names = append(names, name)
	}
	out, err := runFor(t, folder, widgetTimeout, append(webDriverEnvironment(t), "PLAYWRIGHT_CHROMIUM_EXECUTABLE_PATH="+chromium(t)), "node", names...)
	require.NoError(t, err, "%s", out)
	return readEndings(t, folder)
}

// widgetTimeout is for all cases in one target, on a busy machine.
const widgetTimeout = 25 * time.Minute

func write(t *testing.T, folder, name, content string) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600))
}

func readEndings(t *testing.T, folder string) []ending {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(folder, "endings.json"))
	require.NoError(t, err)
	var endings []ending
	require.NoError(t, json.Unmarshal(text, &endings))
	return endings
}

const pythonRunner = `import importlib, json, sys, unittest
endings = []
for name in sys.argv[1:]:
    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromModule(importlib.import_module(name)).run(result)
    failures = [text for _, text in result.errors + result.failures]
    endings.append({"name": name, "error": "\n".join(failures)})
with open("endings.json", "w") as file:
    json.dump(endings, file)
`

func runAllPython(t *testing.T, files []File) []ending {
	t.Helper()
	folder := t.TempDir()
	write(t, folder, "run.py", pythonRunner)
	names := []string{"run.py"}
	for i, f := range files {
		name := fmt.Sprintf("case%03d", i)
		write(t, folder, name+".py", f.Code)
		names = append(names, name)
	}
	out, err := runFor(t, folder, widgetTimeout, webDriverEnvironment(t), pythonWithSelenium(t), names...)
	require.NoError(t, err, "%s", out)
	return readEndings(t, folder)
}

func runAllJava(t *testing.T, files []File) []ending {
	t.Helper()
	folder := t.TempDir()
	path := jars(t) + ":" + folder
	var names, classes []string
	for _, f := range files {
		write(t, folder, f.Name, f.Code)
		names = append(names, f.Name)
		classes = append(classes, strings.TrimSuffix(f.Name, ".java"))
	}
	out, err := compileJava(t, folder, names)
	require.NoError(t, err, "%s", out)
	launch := []string{"-cp", path, "org.junit.platform.console.ConsoleLauncher", "--disable-banner", "--disable-ansi-colors", "--details=tree", "--reports-dir=reports"}
	for _, class := range classes {
		launch = append(launch, "--select-class="+class)
	}
	out, _ = runFor(t, folder, widgetTimeout, webDriverEnvironment(t), "java", launch...) // fails when a test does
	report, err := os.ReadFile(filepath.Join(folder, "reports", "TEST-junit-jupiter.xml"))
	require.NoError(t, err, "%s", out)
	return javaEndings(t, report, classes)
}

// javaEndings reads the report of JUnit.
func javaEndings(t *testing.T, report []byte, classes []string) []ending {
	t.Helper()
	var suite struct {
		Cases []struct {
			Class   string   `xml:"classname,attr"`
			Failure []string `xml:"failure"`
			Error   []string `xml:"error"`
		} `xml:"testcase"`
	}
	require.NoError(t, xml.Unmarshal(report, &suite))
	found := map[string]string{}
	for _, c := range suite.Cases {
		found[c.Class] = strings.Join(append(c.Failure, c.Error...), "\n")
	}
	endings := make([]ending, 0, len(classes))
	for _, class := range classes {
		failure, ok := found[class]
		require.True(t, ok, "%s did not run", class)
		endings = append(endings, ending{class, failure})
	}
	return endings
}

// TestWidgetsInSeleniumIDE runs the cases that must pass and that Selenium IDE can do
// and check completely. It takes the first of several matches, so that those which
// must fail say little.
func TestWidgetsInSeleniumIDE(t *testing.T) {
	chosen, cases := widgetCases(t)
	var all ideProject
	var names []string
	for i, c := range cases {
		var p ideProject
		require.NoError(t, json.Unmarshal([]byte(export(t, SeleniumIDE, c).Code), &p))
		complete := !slices.ContainsFunc(p.Tests[0].Commands, func(c ideCommand) bool { return strings.HasPrefix(c.Command, "//") })
		if !complete || chosen[i].Expect != step.Passed {
			continue
		}
		test := p.Tests[0]
		test.Name = chosen[i].FullName()
		if all.ID == "" {
			all = p
			all.Tests, all.Suites[0].Tests = nil, nil
		}
		all.Tests = append(all.Tests, test)
		all.Suites[0].Tests = append(all.Suites[0].Tests, test.ID)
		names = append(names, test.Name)
	}
	require.NotEmpty(t, names)
	t.Logf("%d of %d cases", len(names), len(cases))
	found := runSide(t, all)
	for _, name := range names {
		require.Contains(t, found, name)
		if found[name] != "" {
			t.Errorf("%s: %.1000s", name, found[name])
		}
	}
}

// runSide runs the tests of a project and returns what they failed with, by name.
func runSide(t *testing.T, p ideProject) map[string]string {
	t.Helper()
	modules := servicetest.NodeModules(t, "selenium-side-runner")
	folder := t.TempDir()
	project, err := json.Marshal(p)
	require.NoError(t, err)
	write(t, folder, "all.side", string(project))
	var arguments []string
	for _, a := range strings.Fields(chromeArguments) {
		arguments = append(arguments, fmt.Sprintf("%q", a))
	}
	capabilities := fmt.Sprintf("browserName=chrome goog:chromeOptions.binary=%q goog:chromeOptions.args=[%s]", chromium(t), strings.Join(arguments, ","))
	out, _ := runFor(t, folder, widgetTimeout, nil, "node", filepath.Join(modules, "selenium-side-runner", "dist", "bin.js"),
		"-s", chromedriver(t), "-c", capabilities, "-w", "1", "-t", "15000", "-T", "120000", "-j=--forceExit", "-o", "out", "all.side")
	files, err := filepath.Glob(filepath.Join(folder, "out", "*.json"))
	require.NoError(t, err)
	require.Len(t, files, 1, "%s", out)
	text, err := os.ReadFile(files[0])
	require.NoError(t, err)
	var result struct {
		TestResults []struct {
			AssertionResults []struct {
				Title, Status   string
				FailureMessages []string
			}
		}
	}
	require.NoError(t, json.Unmarshal(text, &result))
	found := map[string]string{}
	for _, r := range result.TestResults {
		for _, a := range r.AssertionResults {
			failure := strings.Join(a.FailureMessages, "\n")
			if a.Status != "passed" && failure == "" {
				failure = a.Status
			}
			found[strings.TrimPrefix(a.Title, "Running test ")] = failure
		}
	}
	return found
}

// chromedriver starts a chromedriver that lasts as long as the test.
func chromedriver(t *testing.T) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), program(t, "apt-get install chromium-driver", "chromedriver"), "--port=0")
	isolate(command)
	pipe, err := command.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, command.Start())
	t.Cleanup(func() { _ = command.Wait() }) // the end of the test ends it
	lines := bufio.NewScanner(pipe)
	started := regexp.MustCompile(`started successfully on port (\d+)`)
	for lines.Scan() {
		if found := started.FindStringSubmatch(lines.Text()); found != nil {
			go func() { _, _ = io.Copy(io.Discard, pipe) }()
			return "http://127.0.0.1:" + found[1]
		}
	}
	t.Fatal("chromedriver did not start")
	return ""
}
