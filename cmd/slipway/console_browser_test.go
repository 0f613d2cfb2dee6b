package main

import (
	"context"
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/api/console/frame"
	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/chromium"
	"github.com/slipway-qa/slipway/storage/account"
)

// pictures names the variable with a folder that pictures of the console's pages are
// written to, for people to look at.
const pictures = "PAGE_SCREENSHOTS"

// audit runs axe-core on the page in the theme and returns what it found, a line for each
// rule with the first element.
const audit = `(async (theme) => {
	document.documentElement.dataset.theme = theme;
	const found = await axe.run(document, { resultTypes: ["violations"] });
	return JSON.stringify(found.violations.map((v) => v.id + ": " + v.help + ": " + v.nodes[0].html.slice(0, 300) + " " + v.nodes[0].failureSummary));
})`

// shifts adds up by how much the layout of the page moved while it was loaded (web.dev/cls),
// and names what moved most. The observer is told of what was before it in a task of its own,
// which a frame and a timer after it wait for.
const shifts = `new Promise((done) => {
	let sum = 0, worst = { value: 0 };
	new PerformanceObserver((list) => {
		for (const e of list.getEntries()) {
			sum += e.value;
			if (e.value > worst.value) worst = e;
		}
	}).observe({ type: "layout-shift", buffered: true });
	requestAnimationFrame(() => setTimeout(() => done(sum < 0.001 ? "" : sum.toFixed(4) + ": " +
		worst.sources.map((s) => (s.node && (s.node.outerHTML || s.node.textContent) || "").slice(0, 200)).join(" | ")), 50));
})`

// A browser shows each page of the console as it is meant: nothing that axe-core finds, in
// both themes; nothing wider than a phone; nothing that moves while it loads; nothing refused
// by the policy of content; nothing from another host. The page of an address that none has is
// among them.
func TestConsoleInBrowser(t *testing.T) {
	t.Parallel()
	w := newSurface(t)
	w.makeAll()
	w.stopWorker() // a live page that it changes moves
	routes := w.consoleRoutes()
	tab := chromium.Start(t, 15*time.Minute, chromedp.WindowSize(1280, 900))
	do := func(steps ...chromedp.Action[chromedp.Void]) { require.NoError(t, chromedp.Do(tab, steps...)) }
	look := func(address string) { w.look(tab, address) }
	look(frame.Base + "/sign-in")
	looked := map[string]bool{} // at what the first has, the second looks no more
	for _, who := range [][2]string{{w.boot.Owner.Username, w.boot.Owner.AccessKey}, {w.boot.Operator.Username, w.boot.Operator.Password}} {
		v := w.console(who[0], who[1])
		found := v.crawl(routes, 1, func(string, *page) {})
		do(chromedp.Navigate(w.base + frame.Base + "/sign-in"))
		do(chromedp.SendKeys(chromedp.CSS(`[name="name"]`), who[0]), chromedp.SendKeys(chromedp.CSS(`[name="key"]`), who[1]),
			chromedp.Click(chromedp.CSS(`form[action$="/console/sign-in"] button`)), chromedp.WaitVisible(chromedp.CSS(".me")))
		var addresses []string
		for _, of := range found {
			for _, address := range of {
				if p := v.open(address); !looked[address] && p.status == 200 && !p.isFile() {
					looked[address] = true
					addresses = append(addresses, address)
				}
			}
		}
		slices.Sort(addresses)
		addresses = append(addresses, frame.Base+"/no-such-page")
		for _, address := range addresses {
			look(address)
		}
		do(chromedp.EmulateViewport(1280, 900), chromedp.Click(chromedp.CSS(`form.me button`)),
			chromedp.WaitVisible(chromedp.CSS(`[name="key"]`)))
	}
}

// look opens a page, and checks what holds for all of them.
func (w *surface) look(tab context.Context, address string) {
	t := w.t
	t.Helper()
	do := func(steps ...chromedp.Action[chromedp.Void]) { require.NoError(t, chromedp.Do(tab, steps...)) }
	for _, width := range []int64{390, 1280} {
		do(chromedp.EmulateViewport(width, 900), chromedp.Navigate(w.base+address))
		moved, err := chromedp.Run(tab, chromedp.Evaluate[string](shifts, chromedp.EvalAwaitPromise))
		require.NoError(t, err, address)
		assert.Empty(t, moved, "%s: the layout moves, %d wide", address, width)
	}
	w.sound(tab, address)
}

// sound checks the page that a tab shows, which is that of the address.
func (w *surface) sound(tab context.Context, address string) {
	t := w.t
	t.Helper()
	axe, err := os.ReadFile(filepath.Join(servicetest.NodeModules(t, "axe-core"), "axe-core", "axe.min.js"))
	require.NoError(t, err)
	do := func(steps ...chromedp.Action[chromedp.Void]) { require.NoError(t, chromedp.Do(tab, steps...)) }
	number := func(expression string) int {
		n, err := chromedp.Run(tab, chromedp.Evaluate[int](expression))
		require.NoError(t, err, expression)
		return n
	}
	text := func(expression string) string {
		s, err := chromedp.Run(tab, chromedp.Evaluate[string](expression))
		require.NoError(t, err, expression)
		return s
	}
	_, err = chromedp.Run(tab, chromedp.Evaluate[chromedp.Void](string(axe)))
	require.NoError(t, err)
	for _, theme := range []string{"light", "dark"} {
		found, err := chromedp.Run(tab, chromedp.Evaluate[string](audit+"("+`"`+theme+`"`+")", chromedp.EvalAwaitPromise))
		require.NoError(t, err, address)
		var lines []string
		require.NoError(t, json.Unmarshal([]byte(found), &lines))
		assert.Empty(t, lines, "%s in the %s theme", address, theme)
		w.picture(tab, address, theme)
	}
	assert.Empty(t, text(`performance.getEntriesByType("resource").map((r) => r.name).filter((n) => !n.startsWith(location.origin) && !n.startsWith("data:")).join(" ")`), address)
	assert.Equal(t, "0px", text("getComputedStyle(document.body).marginTop"), "%s: the style applies under the policy", address)
	for _, width := range []int{2560, 360, 390} {
		do(chromedp.EmulateViewport(int64(width), 844))
		assert.LessOrEqual(t, number("document.documentElement.scrollWidth"), width, "%s: the page is wider than its window of %d",
			address, width)
	}
	if strings.HasPrefix(address, frame.Base+"/crashes/reports/") || strings.Contains(address, "/runs/") {
		do(chromedp.EmulateViewport(800, 1100), media("print"))
		assert.Equal(t, "rgb(255, 255, 255)", text("getComputedStyle(document.body).backgroundColor"),
			"%s: the dark theme is printed on white", address)
		assert.Equal(t, "none none",
			text(`getComputedStyle(document.querySelector(".bar")).display + " " + getComputedStyle(document.querySelector("footer")).display`),
			address)
		assert.Zero(t, number(`[...document.querySelectorAll("main :is(button, .button)")].filter((e) => e.checkVisibility()).length`),
			"%s: a button is printed", address)
		w.picture(tab, address, "print")
		do(chromedp.EmulateViewport(390, 844), media(""))
	}
	w.picture(tab, address, "phone-dark")
	text(`document.documentElement.dataset.theme = "light"`)
	w.picture(tab, address, "phone")
}

// The pages of what went wrong are pages like the others: nothing there, not allowed, a link
// that was used, an address that takes forms, the service's own failure, and the sign-in of who
// has lost the session.
func TestConsoleProblemsInBrowser(t *testing.T) {
	t.Parallel()
	w := newSurface(t)
	w.stopWorker()
	name, key := w.member("the-member", account.Member)
	tab := w.signedIn(name, key)
	says := func(words string) {
		t.Helper()
		text, err := chromedp.Run(tab, chromedp.Text(chromedp.CSS("main")))
		require.NoError(t, err)
		assert.Contains(t, text, words)
	}
	for _, of := range [][2]string{{"/no-such-page", "There is no such page"}, {"/crashes/groups/999999", "There is nothing here"},
		{"/settings/audit", "That is not allowed"}, {"/open/slp_link_used", "This link is over"},
		{"/crashes/change", "This address is no page"}} {
		w.look(tab, frame.Base+of[0])
		says(of[1])
	}
	w.exec(`alter table crash_groups rename to crash_groups_away`)
	w.look(tab, frame.Base+"/crashes")
	says("Something went wrong")
	w.exec(`alter table crash_groups_away rename to crash_groups`)
	w.failures.take()

	// The form of a page whose session has ended meanwhile.
	require.NoError(t, chromedp.Do(tab, chromedp.EmulateViewport(1280, 900), chromedp.Navigate(w.base+frame.Base+"/tests/generate")))
	w.exec(`delete from console_sessions`)
	require.NoError(t, chromedp.Do(tab, chromedp.SendKeys(chromedp.CSS(`[name="intent"]`), "Open the page"+kb.Tab),
		chromedp.SetValue(chromedp.CSS(`[name="url"]`), "https://shop.example.com/"),
		chromedp.Click(chromedp.CSS(`form[action$="/tests/generate"] button:not([type=button])`)),
		chromedp.WaitVisible(chromedp.CSS(`[name="key"]`))))
	says("Your session has ended")
	w.sound(tab, frame.Base+"/session-ended")
}

// media is an action that shows the page as it is on a medium: print, or "" for the screen.
func media(name string) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: name})
		return err
	})
}

// picture writes a picture of the page where a folder for them is named.
func (w *surface) picture(tab context.Context, address, name string) {
	w.t.Helper()
	dir := os.Getenv(pictures)
	if dir == "" {
		return
	}
	png, err := chromedp.Run(tab, chromedp.FullScreenshot(100))
	require.NoError(w.t, err)
	path, _, _ := strings.Cut(address, "?")
	require.NoError(w.t, os.WriteFile(filepath.Join(dir, strings.ReplaceAll(strings.Trim(url.PathEscape(path), "/"), "%2F", "_")+
		"-"+name+".png"), png, 0o644))
}
