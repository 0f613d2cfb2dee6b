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
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
)

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

// wdioShim lends exports of the same capabilities one session.
const wdioShim = `import { remote as real } from 'webdriverio';
export { Key } from 'webdriverio';
const sessions = new Map();
export async function remote(options) {
  const key = JSON.stringify(options);
  if (!sessions.has(key)) sessions.set(key, await real(options));
  const browser = sessions.get(key);
  return new Proxy(browser, { get: (of, name) => (name === 'deleteSession' ? () => reset(of) : of[name]) });
}
async function reset(browser) {
  await browser.releaseActions().catch(() => {});
  await browser.dismissAlert().catch(() => {});
  const [first, ...others] = await browser.getWindowHandles();
  for (const handle of others) {
    await browser.switchToWindow(handle);
    await browser.closeWindow().catch(() => {});
  }
  await browser.switchToWindow(first);
  await browser.deleteAllCookies();
  await browser.url('about:blank').catch(() => browser.acceptAlert());
  await browser.setWindowSize(1280, 800);
}
export const close = () => Promise.all([...sessions.values()].map((browser) => browser.deleteSession()));
`

const nodeRunner = `import { writeFileSync } from 'node:fs';
import { runHooks } from './test.mjs';
import { close } from './playwright.mjs';
import { close as closeSessions } from './webdriverio.mjs';
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
await closeSessions();
process.exit(0);
`

func runAllNode(t *testing.T, files []File) []ending {
	t.Helper()
	folder := t.TempDir()
	require.NoError(t, os.Symlink(servicetest.NodeModules(t, "playwright-core", "webdriverio", "axe-core"),
		filepath.Join(folder, "node_modules")))
	write(t, folder, "test.mjs", testShim)
	write(t, folder, "playwright.mjs", playwrightShim)
	write(t, folder, "webdriverio.mjs", wdioShim)
	write(t, folder, "run.mjs", nodeRunner)
	names := []string{"run.mjs"}
	for i, f := range files {
		name := fmt.Sprintf("case%03d.mjs", i)
		shims := strings.NewReplacer("'node:test'", "'./test.mjs'", "'playwright-core'", "'./playwright.mjs'",
			"from 'webdriverio'", "from './webdriverio.mjs'")
		write(t, folder, name, shims.Replace(f.Code))
		names = append(names, name)
	}
	out, err := runFor(t, folder, widgetTimeout, append(webDriverEnvironment(t), "PLAYWRIGHT_CHROMIUM_EXECUTABLE_PATH="+
		chromium(t)), "node", names...)
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

// pythonRunner lends exports of the same capabilities one session, too.
const pythonRunner = `import importlib, json, sys, unittest
from contextlib import suppress
from selenium import webdriver
from selenium.common.exceptions import WebDriverException
from selenium.webdriver.remote.command import Command
real, sessions = webdriver.Chrome, {}
def chrome(service, options):
    key = json.dumps(options.to_capabilities(), sort_keys=True)
    if key not in sessions:
        sessions[key] = real(service=service, options=options)
        sessions[key].end, sessions[key].quit = sessions[key].quit, lambda: reset(sessions[key])
    return sessions[key]
def reset(driver):
    for end in (lambda: driver.execute(Command.W3C_CLEAR_ACTIONS), lambda: driver.switch_to.alert.dismiss()):
        with suppress(WebDriverException):
            end()
    first, *others = driver.window_handles
    for handle in others:
        driver.switch_to.window(handle)
        driver.close()
    driver.switch_to.window(first)
    driver.delete_all_cookies()
    try:
        driver.get("about:blank")
    except WebDriverException:  # the page asks
        driver.switch_to.alert.accept()
    driver.set_window_size(1280, 800)
webdriver.Chrome = chrome
endings = []
for name in sys.argv[1:]:
    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromModule(importlib.import_module(name)).run(result)
    failures = [text for _, text in result.errors + result.failures]
    endings.append({"name": name, "error": "\n".join(failures)})
    with open("endings.json", "w") as file:
        json.dump(endings, file)
for driver in sessions.values():
    driver.end()
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

// javaShared does the same in Java.
const javaShared = `import java.util.*;
import org.openqa.selenium.*;
import org.openqa.selenium.chrome.*;
import org.openqa.selenium.remote.RemoteWebDriver;
class Shared {
    private static final Map<String, ChromeDriver> SESSIONS = new HashMap<>();
    static {
        Runtime.getRuntime().addShutdownHook(new Thread(() -> SESSIONS.values().forEach(ChromeDriver::quit)));
    }
    static ChromeDriver driver(ChromeOptions options) {
        return SESSIONS.computeIfAbsent(new TreeMap<>(options.asMap()).toString(), key -> new ChromeDriver(options));
    }
    static void reset(WebDriver driver) {
        ((RemoteWebDriver) driver).resetInputState();
        try {
            driver.switchTo().alert().dismiss();
        } catch (NoAlertPresentException none) {
        }
        List<String> handles = new ArrayList<>(driver.getWindowHandles());
        for (String handle : handles.subList(1, handles.size())) {
            driver.switchTo().window(handle).close();
        }
        driver.switchTo().window(handles.get(0));
        driver.manage().deleteAllCookies();
        try {
            driver.get("about:blank");
        } catch (WebDriverException asks) {
            driver.switchTo().alert().accept();
        }
        driver.manage().window().setSize(new Dimension(1280, 800));
    }
}
`

func runAllJava(t *testing.T, files []File) []ending {
	t.Helper()
	folder := t.TempDir()
	path := jars(t) + ":" + folder
	names, classes := []string{"Shared.java"}, []string(nil)
	write(t, folder, "Shared.java", javaShared)
	for _, f := range files {
		shared := strings.NewReplacer("new ChromeDriver(options)", "Shared.driver(options)", "driver.quit()", "Shared.reset(driver)")
		code := shared.Replace(f.Code)
		require.NotEqual(t, f.Code, code)
		write(t, folder, f.Name, strings.Replace(code, "import org.openqa.selenium.chrome.ChromeDriver;\n", "", 1))
		names = append(names, f.Name)
		classes = append(classes, strings.TrimSuffix(f.Name, ".java"))
	}
	out, err := compileJava(t, folder, names)
	require.NoError(t, err, "%s", out)
	launch := []string{"-cp", path, "org.junit.platform.console.ConsoleLauncher", "--disable-banner", "--disable-ansi-colors",
		"--details=tree", "--reports-dir=reports"}
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

// runSide runs the tests of a project and returns what they failed with, by name.
func runSide(t *testing.T, p ideProject) map[string]string {
	t.Helper()
	modules := servicetest.NodeModules(t, "selenium-side-runner")
	folder := t.TempDir()
	project, err := json.Marshal(p)
	require.NoError(t, err)
	write(t, folder, "all.side", string(project))
	// Its option for capabilities knows no commas inside of an argument; YAML does.
	configuration, err := json.Marshal(map[string]any{"capabilities": map[string]any{"browserName": "chrome",
		"goog:chromeOptions": map[string]any{"binary": chromium(t), "args": strings.Fields(chromeArguments)}}})
	require.NoError(t, err)
	write(t, folder, ".side.yml", string(configuration))
	out, _ := runFor(t, folder, widgetTimeout, nil, "node", filepath.Join(modules, "selenium-side-runner", "dist", "bin.js"),
		"-s", chromedriver(t), "-w", "1", "-t", "15000", "-T", "120000", "-j", `"--forceExit"`, "-o", "out", "all.side")
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
	require.NoError(t, json.Unmarshal(text, &result), "%s", out)
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
