package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/api/console/frame"
	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/chromium"
)

// watched is what the page's script waits for; "" when the page waits for nothing.
func (p *page) watched() string {
	for node := range p.root.Descendants() {
		if node.Data == "body" {
			return attribute(node, "data-live")
		}
	}
	return ""
}

// news asks for news of what a page shows, as its script does.
func (c *visitor) news(of, since string) (status int, version string) {
	p := c.open(frame.Base + "/live?" + url.Values{"of": {of}, "since": {since}}.Encode())
	if p.status != http.StatusOK || !p.isFile() {
		return p.status, ""
	}
	var answer struct{ Version string }
	require.NoError(c.w.t, json.Unmarshal([]byte(p.text), &answer), p.text)
	return p.status, answer.Version
}

// waited is what a request that waits was answered.
type waited struct {
	status  int
	version string
	err     error
}

// waits asks for news in the background; answered returns the answer.
func (c *visitor) waits(ctx context.Context, of, since string) (answered func() waited) {
	answers := make(chan waited, 1)
	go func() { answers <- c.answer(ctx, of, since) }()
	return func() waited {
		c.w.t.Helper()
		select {
		case got := <-answers:
			return got
		case <-time.After(time.Minute):
			require.Fail(c.w.t, "the wait has no end")
			return waited{}
		}
	}
}

func (c *visitor) answer(ctx context.Context, of, since string) (got waited) {
	address := c.w.base + frame.Base + "/live?" + url.Values{"of": {of}, "since": {since}}.Encode()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return waited{err: err}
	}
	res, err := c.client.Do(r)
	if err != nil {
		return waited{err: err}
	}
	defer func() { _ = res.Body.Close() }()
	got.status = res.StatusCode
	if got.status == http.StatusOK {
		var news struct{ Version string }
		got.err = json.NewDecoder(res.Body).Decode(&news)
		got.version = news.Version
	}
	return got
}

func (w *surface) exec(query string, args ...any) {
	w.t.Helper()
	_, err := w.db.ExecContext(w.t.Context(), query, args...)
	require.NoError(w.t, err, query)
}

// A page's script is answered when something that the page shows has changed, and only to the
// session that the page was shown to.
func TestConsoleNews(t *testing.T) {
	t.Parallel()
	w := newSurface(t)
	w.stopWorker()
	id := w.addTask("build:notify", "queued", w.boot.Organization.ID, "")
	owner, other := w.console(w.boot.Owner.Username, w.boot.Owner.AccessKey), w.console(w.boot.Owner.Username, w.boot.Owner.AccessKey)
	p := owner.open("/console/operate/tasks/" + id)
	of := p.watched()
	require.NotEmpty(t, of)
	status, version := owner.news(of, "")
	require.Equal(t, http.StatusOK, status)
	require.NotEmpty(t, version)

	answered := owner.waits(t.Context(), of, version)
	w.pagesWait(1) // nothing has changed
	w.exec(`update tasks set state = 'dead', error = 'refused', finished_at = now() where id = $1`, id)
	got := answered()
	require.NoError(t, got.err)
	require.Equal(t, http.StatusOK, got.status)
	require.NotEmpty(t, got.version)
	require.NotEqual(t, version, got.version)
	w.pagesWait(0)
	require.Empty(t, owner.open(p.path).watched(), "what has ended waits for nothing")

	// Nobody waits for what no page has shown to them.
	for name, query := range map[string]string{"another session's": "of=" + url.QueryEscape(of), "none": "", "odd": "of=e30.e30",
		"unknown": "of=" + url.QueryEscape(of) + "&wait=1"} {
		require.Equal(t, http.StatusBadRequest, other.open(frame.Base+"/live?"+query).status, name)
	}
	require.Contains(t, newConsole(w).open(frame.Base+"/live?of="+url.QueryEscape(of)).path, "/sign-in")

	// The end of the session ends the wait.
	list := owner.open("/console/operate").watched()
	require.NotEmpty(t, list)
	_, version = owner.news(list, "")
	answered = owner.waits(t.Context(), list, version)
	w.pagesWait(1)
	w.exec(`delete from console_sessions where id = (select min(id) from console_sessions)`)
	got = answered()
	require.NoError(t, got.err)
	require.Equal(t, http.StatusOK, got.status)
	require.NotEmpty(t, got.version)
	require.NotEqual(t, version, got.version)
	require.Contains(t, owner.open("/console/operate").path, "/sign-in")

	// A session has so many open pages in sight, and no more.
	list = other.open("/console/operate").watched()
	_, version = other.news(list, "")
	ended, stop := context.WithCancel(t.Context())
	for range 12 {
		other.waits(ended, list, version)
	}
	w.pagesWait(12)
	full := other.open(frame.Base + "/live?" + url.Values{"of": {list}, "since": {version}}.Encode())
	require.Equal(t, http.StatusTooManyRequests, full.status)
	require.NotEmpty(t, full.header.Get("Retry-After"))
	stop()
	w.pagesWait(0)
}

// pagesWait returns when so many open pages wait for news.
func (w *surface) pagesWait(n int) { w.placesHeld("pages", n) }

// placesHeld returns when so many places of a room are held.
func (w *surface) placesHeld(room string, n int) {
	w.t.Helper()
	require.Eventually(w.t, func() bool {
		_, text := w.send(request{method: http.MethodGet, path: "/metrics", as: "operator"})
		for line := range strings.Lines(string(text)) {
			if strings.HasPrefix(line, "slipway_admission_held{") && strings.Contains(line, strconv.Quote(room)) {
				return strings.HasSuffix(strings.TrimSpace(line), fmt.Sprintf(" %d", n))
			}
		}
		return false
	}, time.Minute, 20*time.Millisecond, "%d places of %s are held", n, room)
}

// signedIn opens a browser that is signed in to the console.
func (w *surface) signedIn(name, key string) context.Context {
	w.t.Helper()
	tab := chromium.Start(w.t, 10*time.Minute, chromedp.WindowSize(1280, 900))
	require.NoError(w.t, chromedp.Do(tab, chromedp.Navigate(w.base+frame.Base+"/sign-in"),
		chromedp.SendKeys(chromedp.CSS(`[name="name"]`), name), chromedp.SendKeys(chromedp.CSS(`[name="key"]`), key),
		chromedp.Click(chromedp.CSS(`form[action$="/console/sign-in"] button`)), chromedp.WaitVisible(chromedp.CSS(".me"))))
	return tab
}

// addGroup stores a crash group that was first seen just now.
func (w *surface) addGroup(title string) {
	w.t.Helper()
	w.exec(`with g as (insert into crash_groups (organization_id, crash_project_id, fingerprint, algorithm, title, culprit, classifier, count, first_seen,
			last_seen, facets_at) values ($1, $2, sha256(convert_to($3::text, 'UTF8')), 1, $3::text, '', '', 1, now(), now(), now()) returning id)
		insert into crash_group_days (group_id, day, count) select id, (now() at time zone 'UTC')::date, 1 from g`,
		w.boot.Organization.ID, w.boot.Crash.Project, title)
}

// pageFetches is how often the script has read the page anew.
const pageFetches = `performance.getEntriesByType("resource").filter((e) => e.initiatorType === "fetch" && e.name === location.href).length`

// A browser shows what has changed when it changes, and reads the page for that and for
// nothing else: no clock runs. What the reader does on the page stays: the focus, what is
// marked, what is open, what was typed and how far it was scrolled.
func TestConsoleLiveInBrowser(t *testing.T) {
	t.Parallel()
	w := newSurface(t)
	w.makeAll()
	w.stopWorker()
	ours := w.boot.Organization.ID
	w.exec(`update tasks set state = 'succeeded', started_at = coalesce(started_at, now()), finished_at = now(), heartbeat_at = null where state in ('queued', 'running')`)
	id := w.addTask("build:notify", "running", ours, "refused once")
	tab := w.signedIn(w.boot.Owner.Username, w.boot.Owner.AccessKey)
	do := func(steps ...chromedp.Action[chromedp.Void]) {
		t.Helper()
		require.NoError(t, chromedp.Do(tab, steps...))
	}
	is := func(expression string) bool {
		t.Helper()
		yes, err := chromedp.Run(tab, chromedp.Evaluate[bool](expression))
		require.NoError(t, err, expression)
		return yes
	}
	run := func(expression string) { t.Helper(); is("(() => {" + expression + "; return true })()") }
	becomes := func(expression string) {
		t.Helper()
		require.Eventually(t, func() bool { return is(expression) }, time.Minute, 50*time.Millisecond, expression)
	}
	opened := func(path string) {
		t.Helper()
		do(chromedp.Navigate(w.base+path), chromedp.WaitVisible(chromedp.CSS(".me")))
		becomes(pageFetches + " === 1") // what changed while the page was made
		w.pagesWait(1)
	}

	opened("/console/operate/tasks/" + id)
	run(`document.querySelector(".find input").value = "typed"; window.kept = document.querySelector("#task dl a"); kept.focus()`)
	w.exec(`update tasks set attempt = 4, result = '{"step": "one more"}' where id = $1`, id)
	becomes(`document.querySelector("#task").textContent.includes("4 of 5") && document.querySelector("#task pre:last-of-type").textContent.includes("one more")`)
	require.True(t, is(`document.activeElement === kept && document.querySelector(".find input").value === "typed"`), "the focus stays")
	require.True(t, is(pageFetches+" === 2"), "one change is one reading")
	w.pagesWait(1)
	w.exec(`update tasks set heartbeat_at = now() where id = $1`, id)
	w.exec(`update tasks set state = 'succeeded', finished_at = now(), heartbeat_at = null where id = $1`, id)
	becomes(`document.querySelector("#task .badge").textContent === "succeeded" && !document.body.dataset.live`)
	require.True(t, is(pageFetches+" === 3"))
	w.pagesWait(0)

	// A row above the one that is marked does not move the mark; a hidden page waits for nothing.
	opened("/console/operate")
	run(`document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "j", bubbles: true })); document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "j", bubbles: true }));
		window.kept = document.querySelector("tr[data-current]"); kept.querySelector("a").focus(); window.href = kept.querySelector("a").href`)
	newer := w.addTask("build:notify", "queued", ours, "")
	w.exec(`update tasks set id = 'ffffffff-ffff-4fff-bfff-ffffffffffff' where id = $1`, newer) // the first of the list
	becomes(`document.querySelector("#states").textContent.includes("queued 1") && document.querySelector("#tasks tbody a").href.endsWith("ffffffffffff")`)
	require.True(t, is(`document.querySelector("tr[data-current]") === kept && kept.querySelector("a").href === href && document.activeElement === kept.querySelector("a")`))
	run(`Object.defineProperty(document, "hidden", { get: () => window.away, configurable: true }); window.away = true; document.dispatchEvent(new Event("visibilitychange"))`)
	w.pagesWait(0)
	w.exec(`update tasks set state = 'dead', error = 'x', started_at = now(), finished_at = now() where state = 'queued'`)
	run(`window.away = false; document.dispatchEvent(new Event("visibilitychange"))`)
	becomes(`document.querySelector("#states").textContent.includes("queued 0")`)

	// What is open stays open, and what is scrolled stays where it is.
	w.addGroup("the first")
	opened("/console")
	run(`document.querySelector("#now details").open = true; window.scrollTo(0, 200); window.kept = document.querySelector("#now details"); getSelection().selectAllChildren(document.querySelector("h2"))`)
	w.addGroup("a <b>new</b> group")
	becomes(`document.querySelector("#now").textContent.includes("a <b>new</b> group")`)
	require.True(t, is(`kept.isConnected && kept.open && Math.round(scrollY) === 200 && getSelection().toString() !== ""`))

	// A session that ends elsewhere is said.
	w.pagesWait(1)
	w.exec(`delete from console_sessions`)
	becomes(`[...document.querySelectorAll(".notice.bad")].some((p) => p.textContent.startsWith("You are signed out"))`)
	w.pagesWait(0)
}
