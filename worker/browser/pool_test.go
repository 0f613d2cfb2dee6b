package browser

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/step/capability"
	"github.com/slipway-qa/slipway/worker/browser/webdriver"
)

// keep leaves in a browser all that a site can keep there.
const keep = `
document.cookie = "visitor=1; path=/; max-age=3600";
localStorage.setItem("visitor", "1");
return (async () => {
  await navigator.serviceWorker.register("/worker.js");
  await navigator.serviceWorker.ready;
  await (await caches.open("c")).put("/x", new Response("x"));
  await new Promise((done, fail) => {
    const r = indexedDB.open("d", 1);
    r.onsuccess = () => { r.result.close(); done() }; r.onerror = fail;
  });
})()`

// find lists what of it is there.
const find = `
return (async () => {
  const found = [];
  if (document.cookie) found.push("cookie");
  if (localStorage.length) found.push("localStorage");
  if ((await navigator.serviceWorker.getRegistrations()).length) found.push("service worker");
  if ((await caches.keys()).length) found.push("cache");
  if ((await indexedDB.databases()).length) found.push("indexedDB");
  return found.join(", ");
})()`

// ask is a request without a password, which the browser adds if it knows it. If
// not it would ask, which no step handles: its time in ms must run out then.
const ask = `return fetch(location.origin + "/locked", {signal: AbortSignal.timeout(arguments[0])}).then(r => r.status, () => 401)`

func TestLeasesShareABrowserButNoState(t *testing.T) {
	pages := site(t)
	p := newPool(t, localConfig(t, true))
	ctx := t.Context()

	l := acquire(t, p, nil)
	require.True(t, l.Local)
	require.False(t, l.Mobile || l.Warm)
	first := l.Session.ID
	require.NoError(t, l.Session.Navigate(ctx, pages.URL))
	require.NoError(t, l.Session.Execute(ctx, keep, nil))
	var found string
	require.NoError(t, l.Session.Execute(ctx, find, &found))
	require.Equal(t, "cookie, localStorage, service worker, cache, indexedDB", found)
	locked := strings.Replace(pages.URL, "://", "://ada:pass@", 1) + "/locked"
	require.NoError(t, l.Session.Navigate(ctx, locked))
	title, err := l.Session.Title(ctx)
	require.NoError(t, err)
	require.Equal(t, "Inside", title)
	var status int
	require.NoError(t, l.Session.Execute(ctx, ask, &status, 60_000))
	require.Equal(t, 200, status)
	// It leaves windows, a dialog, lines in the console, and short timeouts.
	connection, err := l.Session.BiDi(ctx)
	require.NoError(t, err)
	_, err = connection.CreateWindow(ctx, "window", "")
	require.NoError(t, err)
	require.NoError(t, l.Session.Execute(ctx, `console.log("left over"); window.open("about:blank"); setTimeout(() => alert("wait"), 0)`, nil))
	require.NoError(t, l.Session.SetTimeouts(ctx, webdriver.Timeouts{Script: time.Millisecond}))
	l.Release(ctx, false)
	l.Release(ctx, false) // counts once
	settled(t, p, 1)

	l = acquire(t, p, nil)
	require.True(t, l.Warm)
	require.Equal(t, first, l.Session.ID)
	windows, err := l.Session.Windows(ctx)
	require.NoError(t, err)
	require.Len(t, windows, 1)
	lines := make(chan string, 10)
	events, err := l.Session.BiDi(ctx)
	require.NoError(t, err)
	defer events.On("log.entryAdded", func(params json.RawMessage) { lines <- string(params) })()
	require.NoError(t, l.Session.Navigate(ctx, pages.URL))
	require.NoError(t, l.Session.Execute(ctx, find, &found))
	require.Empty(t, found)
	var size []int
	require.NoError(t, l.Session.Execute(ctx, "return [outerWidth, outerHeight]", &size))
	require.Equal(t, []int{1280, 900}, size)
	require.NoError(t, l.Session.Execute(ctx, ask, &status, 500))
	require.Equal(t, 401, status)
	require.NoError(t, l.Session.Execute(ctx, `console.log("a line")`, nil))
	select { // the first line is that of this lease
	case line := <-lines:
		require.Contains(t, line, "a line")
	case <-time.After(time.Minute):
		t.Fatal("the console sends no event")
	}
	require.NoError(t, l.Session.Execute(ctx, `console.error("another")`, nil))
	kept, _ := l.Session.Log(ctx) // there may be no such log at all
	require.Empty(t, kept, "chromedriver keeps no lines")

	// A broken one goes.
	l.Release(ctx, true)
	l = acquire(t, p, nil)
	require.False(t, l.Warm)
	require.NotEqual(t, first, l.Session.ID)
	// One that ended while it waited is replaced.
	l.Release(ctx, false)
	settled(t, p, 1)
	require.NoError(t, l.Session.Delete(ctx))
	next := acquire(t, p, nil)
	require.NotEqual(t, l.Session.ID, next.Session.ID)
	require.NoError(t, next.Session.Navigate(ctx, pages.URL))
	next.Release(ctx, false)
}

func TestPagesReachNoRefusedAddress(t *testing.T) {
	pages := site(t)
	p := newPool(t, localConfig(t, false))
	l := acquire(t, p, nil)
	defer l.Release(t.Context(), false)
	ctx := t.Context()
	require.NoError(t, l.Session.Navigate(ctx, pages.URL))
	var text string
	require.NoError(t, l.Session.Execute(ctx, "return document.body.innerText", &text))
	require.Contains(t, text, "address refused: loopback address")
	// Names of the machine go through the proxy too.
	require.NoError(t, l.Session.Navigate(ctx, strings.Replace(pages.URL, "127.0.0.1", "localhost", 1)))
	require.NoError(t, l.Session.Execute(ctx, "return document.body.innerText", &text))
	require.Contains(t, text, "address refused")
	require.Error(t, l.Session.Navigate(ctx, "https://127.0.0.1:8443/"))
}

func TestCustomOptionsHaveSeparateBrowsers(t *testing.T) {
	pages := site(t)
	p := newPool(t, localConfig(t, true))
	ctx := t.Context()
	phone := capability.Capabilities{"browserName": "Chrome", "platformName": "Linux", "timeouts": map[string]any{"script": 5000.0},
		"goog:chromeOptions": map[string]any{
			"args": []any{"--headless", "user-agent=Tester", "--lang=de"},
			"mobileEmulation": map[string]any{"deviceMetrics": map[string]any{
				"width": 400.0, "height": 700.0, "pixelRatio": 2.0}},
			"prefs": map[string]any{"intl.accept_languages": "de,en"},
		}}
	l := acquire(t, p, phone)
	first := l.Session.ID
	require.NoError(t, l.Session.Navigate(ctx, pages.URL))
	var seen []any
	require.NoError(t, l.Session.Execute(ctx, "return [screen.width, devicePixelRatio, navigator.languages[0].slice(0, 2)]", &seen))
	require.Equal(t, []any{400.0, 2.0, "de"}, seen)
	err := l.Session.Execute(ctx, "return new Promise(() => {})", nil)
	require.True(t, webdriver.Is(err, webdriver.ErrScriptTimeout), "%v", err)
	l.Release(ctx, false)
	settled(t, p, 1)

	// Warm for the same options, and still emulated.
	l = acquire(t, p, phone)
	require.Equal(t, first, l.Session.ID)
	require.True(t, l.Warm)
	require.NoError(t, l.Session.Navigate(ctx, pages.URL))
	require.NoError(t, l.Session.Execute(ctx, "return [screen.width, devicePixelRatio, navigator.languages[0].slice(0, 2)]", &seen))
	require.Equal(t, []any{400.0, 2.0, "de"}, seen)
	version, _, _ := strings.Cut(l.Session.Capabilities["browserVersion"].(string), ".")
	l.Release(ctx, true)

	l = acquire(t, p, capability.Capabilities{"browserVersion": version})
	require.NotEqual(t, first, l.Session.ID)
	l.Release(ctx, false)
	_, err = p.Acquire(ctx, Request{Target: capability.Target{Capabilities: capability.Capabilities{"browserVersion": "15"}}})
	require.ErrorContains(t, err, "no hub serves browserVersion 15")
}
