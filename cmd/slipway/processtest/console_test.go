package processtest

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/chromium"
	"github.com/slipway-qa/slipway/storage"
)

var printedLink = regexp.MustCompile(`console +(http://\S+/console/open/\S+)`)

// person is somebody at the console, in a browser.
type person struct {
	t    *testing.T
	tab  context.Context
	base string
}

// goTo opens a page of the installation.
func (p *person) goTo(path string) {
	p.t.Helper()
	require.NoError(p.t, chromedp.Do(p.tab, chromedp.Navigate(p.base+path)), path)
}

// text evaluates an expression whose value is a text.
func (p *person) text(expression string) string {
	p.t.Helper()
	s, err := chromedp.Run(p.tab, chromedp.Evaluate[string](expression))
	require.NoError(p.t, err, expression)
	return s
}

func (p *person) page() string { return p.text(`document.querySelector("main").innerText`) }

// press clicks the first button or link of the page whose text is so, and waits for the page
// that follows.
func (p *person) press(name string) {
	p.t.Helper()
	found := p.text(fmt.Sprintf(`(() => {
		for (const old of document.querySelectorAll("[data-pressed]")) old.removeAttribute("data-pressed");
		const e = [...document.querySelectorAll("main button"), ...document.querySelectorAll("main a, nav a")].find((e) => e.innerText.trim() === %q);
		if (!e) return document.querySelector("main").innerText;
		for (let up = e.parentElement; up; up = up.parentElement) if (up.tagName === "DETAILS") up.open = true;
		e.dataset.pressed = "1";
		window.left = "no";
		return "";
	})()`, name))
	require.Empty(p.t, found, "nothing on the page is called %s", name)
	require.NoError(p.t, chromedp.Do(p.tab, chromedp.Click(chromedp.CSS("[data-pressed]"))), name)
	eventually(p.t, "a page after "+name, func() bool {
		s, err := chromedp.Run(p.tab, chromedp.Evaluate[string](`document.readyState === "complete" ? String(window.left) : "no"`))
		return err == nil && s == "undefined"
	})
}

// fill types into the field of a name.
func (p *person) fill(name, value string) {
	p.t.Helper()
	p.text(fmt.Sprintf(`document.querySelector('main [name=%q]').value = ""`, name))
	require.NoError(p.t, chromedp.Do(p.tab, chromedp.SendKeys(chromedp.CSS(fmt.Sprintf("main [name=%q]", name)), value)), name)
}

// until reads the page anew until it shows what the pattern says.
func (p *person) until(pattern string) {
	p.t.Helper()
	wanted, last := regexp.MustCompile(pattern), ""
	for deadline := time.Now().Add(longWait); time.Now().Before(deadline); {
		if last = p.page(); wanted.MatchString(last) {
			return
		}
		require.NoError(p.t, chromedp.Do(p.tab, chromedp.Reload(), chromedp.Sleep(200*time.Millisecond)))
	}
	require.Failf(p.t, "it did not come", "%s: %s", pattern, last)
}

// fail makes a task that has ended one that failed for good.
func (in *installation) fail(t *testing.T, kind string) {
	t.Helper()
	for _, line := range in.variables(t) {
		if url, ok := strings.CutPrefix(line, "SLIPWAY_DATABASE_URL="); ok {
			db, err := storage.Open(storage.Config{URL: url})
			require.NoError(t, err)
			defer db.Close()
			eventually(t, kind+" has ended", func() bool {
				r, err := db.ExecContext(t.Context(),
					`update tasks set state = 'dead', error = 'for the journey' where kind = $1 and state = 'succeeded'`, kind)
				require.NoError(t, err)
				n, err := r.RowsAffected()
				return err == nil && n == 1
			})
			return
		}
	}
	t.Fatal("the environment names no database")
}

// picture writes a picture of the page where a folder for them is named: those of
// docs/console.md are made so.
func (p *person) picture(name, theme string, width, height int64) {
	p.t.Helper()
	dir := os.Getenv("PAGE_SCREENSHOTS")
	if dir == "" {
		return
	}
	require.NoError(p.t, chromedp.Do(p.tab, chromedp.EmulateViewport(width, height)))
	p.text(fmt.Sprintf(`document.documentElement.dataset.theme = %q`, theme))
	png, err := chromedp.Run(p.tab, chromedp.CaptureScreenshot())
	require.NoError(p.t, err)
	require.NoError(p.t, os.WriteFile(filepath.Join(dir, name+".png"), png, 0o644))
	require.NoError(p.t, chromedp.Do(p.tab, chromedp.EmulateViewport(1280, 900)))
	p.text(`document.documentElement.dataset.theme = "light"`)
}

// The whole story as a person has it: the printed link opens the console; a build is
// uploaded by the form, and has its install page; a crash is read, resolved, and comes back;
// a sentence becomes a test, which runs, and runs with its suite by a schedule; a task is
// retried; and each of them is found by search.
func TestConsoleJourney(t *testing.T) {
	in := startUp(t, t.TempDir())
	link := printedLink.FindStringSubmatch(in.stdout.String())
	require.NotNil(t, link, in.stdout.String())
	p := &person{t: t, tab: chromium.Start(t, 10*time.Minute, chromedp.WindowSize(1280, 900)), base: in.base}
	require.NoError(t, chromedp.Do(p.tab, chromedp.Navigate(link[1])))
	p.press("Open the console")
	require.Contains(t, p.page(), "Overview")
	res, text := caller{base: link[1]}.do(t, http.MethodGet, "", nil, nil)
	require.Equal(t, http.StatusGone, res.StatusCode, "the link works once: %s", text)

	// A build.
	apk := filepath.Join(servicetest.NodeModules(t, "io.appium.settings"), "io.appium.settings", "apks", "settings_apk-debug.apk")
	p.press("Builds")
	p.goTo("/console/builds/upload")
	require.NoError(t, chromedp.Do(p.tab, chromedp.SetUploadFiles(chromedp.CSS(`main [name="file"]`), []string{apk})))
	p.fill("release_notes", "The **first** one")
	p.text(`document.querySelector('main [name="landing_page_mode"]').value = "open"`)
	p.press("Upload")
	require.Contains(t, p.page(), "Appium Settings")
	require.Contains(t, p.page(), "8.0.10")
	build := p.text("location.pathname")
	p.picture("build", "light", 1280, 1000)
	p.press("Install page")
	installed := p.text("document.body.innerText")
	require.Contains(t, installed, "Appium Settings")
	require.Contains(t, installed, "Download APK")

	// A crash.
	post := func() {
		report := fmt.Sprintf(`{"uuid":%q,"timestamp":%d,"lang":"python","langVersion":"3.11","agent":"journey","agentVersion":"1","mainThread":"main",
			"classifiers":["ZeroDivisionError"],"attributes":{"error.message":"division by zero","application.version":"1.0"},
			"threads":{"main":{"fault":true,"stack":[{"funcName":"average","library":"stats.py","line":12},{"funcName":"report","library":"stats.py","line":40}]}}}`,
			uuid.NewString(), time.Now().Unix())
		res, text := in.do(t, http.MethodPost, "/post?format=json&token="+in.boot.Crash.Token, []byte(report), nil)
		require.Equal(t, http.StatusOK, res.StatusCode, "%s", text)
	}
	post()
	p.goTo("/console/crashes")
	p.until("ZeroDivisionError")
	require.NoError(t, chromedp.Do(p.tab, chromedp.Click(chromedp.CSS(`main tbody a[href*="/crashes/groups/"]`)),
		chromedp.WaitVisible(chromedp.CSS(`[data-key="e"]`))))
	group := p.text("location.pathname")
	require.Contains(t, p.page(), "average")
	p.picture("group", "light", 1280, 1000)
	p.press("Resolve")
	p.until("(?i)resolved")
	post()
	p.goTo(group)
	p.until("(?i)regress")

	// A test.
	shop := newSite(t)
	p.goTo("/console/tests/generate")
	p.fill("intent", "Click on Buy the lamp. Check that bought is shown.")
	p.fill("url", shop.URL+"/shop")
	p.fill("name", "Buy a lamp")
	p.press("Write the test")
	p.until("(?i)completed|succeeded|generated")
	p.press("Open the test")
	testCase := p.text("location.pathname")
	require.Contains(t, p.page(), "Buy the lamp")
	p.press("Run")
	p.until("(?i)passed")
	p.picture("run", "light", 1280, 1000)

	// Its suite, by a schedule.
	p.goTo("/console/tests/suites")
	p.fill("name", "Before each release")
	p.press("Create")
	suite := p.text("location.pathname")
	p.text(`(document.querySelector('main [name="case"]').checked = true).toString()`)
	p.press("Add the selected")
	require.Contains(t, p.page(), "Buy a lamp")
	p.goTo("/console/tests/schedules")
	p.fill("name", "Every morning")
	p.fill("cron", "0 6 * * *")
	p.fill("timezone", "Europe/Berlin")
	p.text(`(document.querySelector('main [name="suite"]').checked = true).toString()`)
	p.press("Create")
	require.Contains(t, p.page(), "Every morning")
	if !strings.Contains(p.page(), "History") {
		p.press("Every morning")
	}
	schedule := p.text("location.pathname")
	p.press("Run now")
	p.until("1 of 1 passed")

	// A task that is run anew.
	in.fail(t, "build:verify")
	p.goTo("/console/operate?state=dead")
	p.until("build:verify")
	require.NoError(t, chromedp.Do(p.tab, chromedp.Click(chromedp.CSS(`main tbody a[href*="/operate/tasks/"]`)),
		chromedp.WaitVisible(chromedp.CSS(`form[action$="/retry"]`))))
	p.press("Retry")
	p.until("(?i)succeeded")

	for term, path := range map[string]string{"ZeroDivision": group, "Appium Settings": "/console/builds/apps/",
		"8.0.10": build, "Buy a lamp": testCase, "Before each": suite, "Every morning": schedule} {
		p.goTo("/console/search?q=" + term)
		require.NotEqual(t, "0", p.text(fmt.Sprintf(`String(document.querySelectorAll('main a[href*=%q]').length)`, path)),
			"%s: %s", term, p.page())
	}
	for name, path := range map[string]string{"overview": "/console", "crashes": "/console/crashes", "operate": "/console/operate",
		"generate": "/console/tests/generate"} {
		p.goTo(path)
		p.picture(name, "light", 1280, 900)
		p.picture(name+"-dark", "dark", 1280, 900)
		p.picture(name+"-phone", "light", 390, 844)
	}
	checkNoSecrets(t, in)
}
