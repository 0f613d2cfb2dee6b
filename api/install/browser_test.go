package install_test

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/chromium"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/distribution"
	"github.com/slipway-qa/slipway/storage/distribution/grant"
)

// pageHost is a name that browsers do not trust as they trust 127.0.0.1: over
// plain http it is what a laptop in an office network is.
const pageHost = "qa.test"

// screenshots names the variable with a folder that pictures of the pages are
// written to, for people to look at.
const screenshots = "PAGE_SCREENSHOTS"

// tab is a tab of a headless browser, on pages that a real server serves.
type tab struct {
	*world
	ctx  context.Context
	base string
}

func newTab(t *testing.T) *tab {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	_, port, err := net.SplitHostPort(listener.Addr().String())
	require.NoError(t, err)
	b := &tab{base: "http://" + pageHost + ":" + port}
	b.world = newWorld(t, b.base)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) { b.router.ServeHTTP(rw, r) }))
	require.NoError(t, server.Listener.Close())
	server.Listener = listener
	server.Start()
	t.Cleanup(server.Close)

	b.ctx = chromium.Start(t, 8*time.Minute, chromedp.Flag("disable-features", "Translate,HttpsUpgrades,HttpsFirstBalancedModeAutoEnable"),
		chromedp.Flag("host-resolver-rules", "MAP "+pageHost+" 127.0.0.1"))
	return b
}

func (b *tab) run(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	require.NoError(b.t, chromedp.Do(b.ctx, steps...))
}

// value evaluates an expression in the page.
func value[T any](b *tab, expression string) T {
	b.t.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression))
	require.NoError(b.t, err, expression)
	return v
}

func (b *tab) text(selector string) string {
	b.t.Helper()
	s, err := chromedp.Run(b.ctx, chromedp.Text(chromedp.CSS(selector)))
	require.NoError(b.t, err, selector)
	return s
}

// screen makes the tab a phone or a desktop, light or dark.
type screen struct {
	name          string
	width, height int64
	agent, scheme string
}

func (b *tab) on(s screen) {
	b.t.Helper()
	var options []chromedp.EmulateViewportOption
	if s.width < 600 {
		options = append(options, chromedp.EmulateMobile, chromedp.EmulateTouch, chromedp.EmulateScale(2))
	}
	b.run(chromedp.EmulateViewport(s.width, s.height, options...), chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		if _, err := chromedp.Call(ctx, emulation.SetUserAgentOverride, emulation.SetUserAgentOverrideParams{UserAgent: s.agent}); err != nil {
			return err
		}
		_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: s.scheme}}})
		return err
	}))
}

// open shows a page whole, and checks what holds for all of them.
func (b *tab) open(path, picture string) {
	b.t.Helper()
	b.run(chromedp.Navigate(b.base + path))
	b.sound(picture)
}

func (b *tab) sound(picture string) {
	b.t.Helper()
	require.LessOrEqual(b.t, value[int](b, "document.documentElement.scrollWidth"), value[int](b, "window.innerWidth"),
		"the page is wider than the screen")
	require.Equal(b.t, "0px", value[string](b, "getComputedStyle(document.body).marginTop"), "the style applies under the policy")
	require.Equal(b.t, 0, value[int](b, `[...document.images].filter(i => !i.complete || i.naturalWidth === 0).length`), "broken pictures")
	require.Equal(b.t, 1, value[int](b, "document.querySelectorAll('h1').length"))
	require.Equal(b.t, 0, value[int](b,
		`[...document.querySelectorAll('input:not([type=hidden])')].filter(i => !i.labels.length).length`), "fields without a label")
	require.Equal(b.t, 0, value[int](b,
		`[...document.querySelectorAll('.button,button,summary,.builds a')].filter(e => e.getBoundingClientRect().height < 44).length`),
		"targets too small for a thumb")
	require.GreaterOrEqual(b.t, value[float64](b, leastContrast), 4.5, "text that is hard to read")
	if dir := os.Getenv(screenshots); dir != "" && picture != "" {
		png, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
		require.NoError(b.t, err)
		require.NoError(b.t, os.WriteFile(filepath.Join(dir, picture+".png"), png, 0o644))
	}
}

// leastContrast is the smallest contrast of any text with what is behind it
// (WCAG 2.2, 1.4.3).
const leastContrast = `(() => {
	const rgba = s => { const m = s.match(/[\d.]+/g).map(Number); return m.length < 4 ? [...m, 1] : m };
	const light = c => [0.2126, 0.7152, 0.0722].reduce((sum, f, i) => {
		const v = c[i] / 255; return sum + f * (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4) }, 0);
	const behind = e => { for (; e; e = e.parentElement) { const c = rgba(getComputedStyle(e).backgroundColor); if (c[3] === 1) return c }
	return [255, 255, 255] };
	let least = 21;
	const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	while (walk.nextNode()) {
		const e = walk.currentNode.parentElement;
		if (!walk.currentNode.data.trim() || !e.checkVisibility()) continue;
		const a = light(rgba(getComputedStyle(e).color)), b = light(behind(e));
		least = Math.min(least, (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05));
	}
	return least;
})()`

func screens() []screen {
	return []screen{{"phone-light", 390, 844, onPhone, "light"}, {"phone-dark", 390, 844, onPhone, "dark"},
		{"small-light", 320, 568, onPhone, "light"}, {"small-dark", 320, 568, onPhone, "dark"},
		{"desktop-light", 1280, 900, onPC, "light"}, {"desktop-dark", 1280, 900, onPC, "dark"}}
}

const notes = "## Offline mode\n\n- Notes open **without a network**\n" +
	"- Sync resumes by itself, see [the plan](https://example.com/plan)\n\n" +
	"Known: rotation flickers on tablets.\n\n```\nadb shell am start -n com.example.harbour/.MainActivity --ez offline true --es reason " +
	"testing\n```\n" +
	"| Device | Result | Build | Remarks |\n|:--|--:|---|---|\n| Pixel 9 | 12 of 12 | 10203 | averylongremarkthatnophoneshows |\n\n" +
	"מה חדש\n\n" +
	"averyveryveryveryveryveryveryveryveryveryveryveryveryveryveryverylongword"

func TestBrowserLanding(t *testing.T) {
	t.Parallel()
	b := newTab(t)
	for i := range 4 {
		b.upload(func(u *distribution.Upload) { u.Package.Version = "1.2." + strconv.Itoa(i) })
	}
	made := b.upload(func(u *distribution.Upload) {
		file := b.put(squares(t), "image/png")
		u.Icon, u.ReleaseNotes = &file, notes
	})
	console := chromedp.Console(b.ctx)
	grounds := map[string]string{}
	for _, s := range screens() {
		b.on(s)
		b.open("/install/harbour-notes", "landing-"+s.name)
		require.Equal(t, "Harbour Notes", b.text("h1"))
		require.Contains(t, b.text(".version"), "1.2.3 (10203)")
		require.Contains(t, b.text(".note"), "Notes open without a network")
		require.Equal(t, 4, value[int](b, "document.querySelectorAll('.builds>li').length"))
		require.GreaterOrEqual(t, value[float64](b, "document.querySelector('.qr svg').getBoundingClientRect().width"), 150.0)
		button := b.text(".act .button")
		top := value[float64](b, "document.querySelector('.act .button').getBoundingClientRect().bottom")
		if s.agent == onPhone {
			require.Contains(t, button, "Install")
			require.Less(t, top, float64(s.height), "the button is seen without scrolling")
		} else {
			require.Contains(t, button, "Download APK")
			require.Less(t, value[float64](b, "document.querySelector('.qr svg').getBoundingClientRect().bottom"),
				float64(s.height), "the code is seen without scrolling")
		}
		grounds[s.scheme] = value[string](b, "getComputedStyle(document.body).backgroundColor")
	}
	require.NotEqual(t, grounds["light"], grounds["dark"])
	b.on(screens()[2])
	b.open("/install/"+made.Build.Token, "")
	value[int](b, "document.querySelectorAll('details').forEach(d => d.open = true)||0")
	b.sound("build-details")
	require.Contains(t, b.text(".more"), "Latest build of this app")
	b.exec(`update builds set state = 'disabled', state_reason = 'it crashes at start' where id = $1`, made.Build.ID)
	b.open("/install/"+made.Build.Token, "disabled")
	require.Contains(t, b.text(".alert"), "It crashes at start.")
	b.open("/install/unknown-app", "unknown")
	require.Equal(t, "This page does not exist", b.text("h1"))
	// The 404 of that page is all that the browser had to say.
	require.NoError(t, chromedp.Do(b.ctx, chromedp.Evaluate[chromedp.Void](`console.log("end")`)))
	for m, err := range console {
		require.NoError(t, err)
		if m.Text == "end" {
			break
		}
		require.Contains(t, m.Text, "404")
	}
}

// TestBrowserClosed goes a tester's way: address, mail, sign-in, download, out.
func TestBrowserClosed(t *testing.T) {
	t.Parallel()
	b := newTab(t)
	body := bytes.Repeat([]byte("a build of some size "), 50_000)
	made := b.upload(func(u *distribution.Upload) {
		closed(u)
		u.File = b.put(body, "application/octet-stream")
		u.ProjectGroups = grant.Groups{Given: true, All: true}
	})
	b.member("tess@example.com", account.Tester)
	for _, s := range screens() {
		b.on(s)
		b.open("/install/harbour-notes", "closed-"+s.name)
	}
	b.on(screens()[0])
	b.open("/install/harbour-notes", "")
	require.Equal(t, "Harbour Notes", b.text("h1"))
	email, submit := chromedp.CSS("input[type=email]"), chromedp.CSS("button[type=submit]")
	b.run(chromedp.SendKeys(email, "tess@example.com"), chromedp.Click(submit), chromedp.WaitVisible(chromedp.CSS(".more")))
	b.sound("sent")
	require.Contains(t, b.text("main"), "If tess@example.com may install Harbour Notes, a link is on its way.")

	b.open(b.linkIn(b.mails()[0]), "session")
	b.run(chromedp.Click(submit), chromedp.WaitVisible(chromedp.CSS(".act .button")))
	b.sound("signed-in")
	require.Equal(t, b.base+"/install/harbour-notes", value[string](b, "location.href"))
	require.Contains(t, b.text(".who"), "tess@example.com")
	require.Empty(t, value[string](b, "document.cookie"), "scripts do not see the session")
	cookies, err := chromedp.Call(b.ctx, network.GetCookies, network.GetCookiesParams{})
	require.NoError(t, err)
	require.Len(t, cookies.Cookies, 1)

	require.Equal(t, made.Build.File.SHA256, digest(b.download(".act .button")))
	require.Equal(t, 1, b.downloads(made.Build.ID))

	b.run(chromedp.Click(chromedp.CSS(".who button")), chromedp.WaitVisible(email))
	b.open("/install/harbour-notes", "")
	require.Contains(t, b.text("main"), "shared with invited people only")
}

// download clicks and gives the bytes of the file that the browser saved.
func (b *tab) download(selector string) []byte {
	b.t.Helper()
	dir, on := b.t.TempDir(), true
	progress := chromedp.Events(b.ctx, browser.DownloadProgress)
	b.run(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, browser.SetDownloadBehavior, browser.SetDownloadBehaviorParams{
			Behavior: browser.SetDownloadBehaviorBehaviorAllowAndName, DownloadPath: dir, EventsEnabled: &on})
		return err
	}), chromedp.Click(chromedp.CSS(selector)))
	for event, err := range progress {
		require.NoError(b.t, err)
		require.NotEqual(b.t, browser.DownloadProgressStateCanceled, event.State)
		if event.State == browser.DownloadProgressStateCompleted {
			saved, err := os.ReadFile(filepath.Join(dir, event.GUID))
			require.NoError(b.t, err)
			return saved
		}
	}
	b.t.Fatal("no download")
	return nil
}
