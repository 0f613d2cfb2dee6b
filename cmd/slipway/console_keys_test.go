package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/api/console/frame"
	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/chromium"
	"github.com/slipway-qa/slipway/storage/account"
)

// keyboard is a browser that is steered by keys alone.
type keyboard struct {
	t   *testing.T
	tab context.Context
}

// stop is where the focus stands after a key.
type stop struct {
	Name    string // the element, "" for none
	Met     bool   // the selector that is looked for
	Hidden  bool   // it cannot be seen
	Unclear string // the element before, which looked the same with the focus as without
}

// focused says where the focus stands, and compares how the element that had it before looks
// now: an outline, a border or a shadow must have told where the focus was.
const focused = `((selector) => {
	const look = (e) => { const s = getComputedStyle(e);
	return [s.outlineStyle === "none" ? "" : s.outlineWidth + s.outlineStyle + s.outlineColor, s.borderColor, s.boxShadow].join(); };
	const name = (e) => e.outerHTML.replace(/\s+/g, " ").slice(0, 160);
	const now = document.activeElement, before = window.before, told = { Name: "", Met: false, Hidden: false, Unclear: "" };
	if (before && before.element !== now && before.element.isConnected && look(before.element) === before.look) told.Unclear = name(before.element);
	window.before = null;
	if (now && now !== document.body && now.id !== "main") {
		const box = now.getBoundingClientRect();
		told.Name = name(now);
		told.Met = selector !== "" && now.matches(selector);
		told.Hidden = !now.checkVisibility() || box.width === 0 || box.bottom < 0 || box.top > innerHeight || box.right < 0 || box.left > innerWidth;
		window.before = { element: now, look: look(now) };
		now.reached = true;
	}
	return JSON.stringify(told);
})`

// press presses keys one after the other, with modifiers held. The text of a key is part of its
// press, so that a page which takes the key for itself gets no letter of it.
func (k *keyboard) press(keys string, modifiers ...chromedp.Modifier) {
	k.t.Helper()
	require.NoError(k.t, chromedp.Do(k.tab, chromedp.Func(func(ctx context.Context, tab *chromedp.Target) error {
		for _, r := range keys {
			events := kb.Encode(r)
			if len(events) == 3 {
				events[0].Text, events[0].UnmodifiedText = events[1].Text, events[1].UnmodifiedText
			}
			for _, e := range []*input.DispatchKeyEventParams{events[0], events[len(events)-1]} {
				for _, m := range modifiers {
					e.Modifiers |= int64(m)
				}
				if _, err := cdp.Call(ctx, tab, input.DispatchKeyEvent, *e); err != nil {
					return err
				}
			}
		}
		return nil
	})), "%q", keys)
}

func (k *keyboard) stop(selector string) (s stop) {
	k.t.Helper()
	quoted, err := json.Marshal(selector)
	require.NoError(k.t, err)
	text, err := chromedp.Run(k.tab, chromedp.Evaluate[string](focused+"("+string(quoted)+")"))
	require.NoError(k.t, err)
	require.NoError(k.t, json.Unmarshal([]byte(text), &s))
	assert.Empty(k.t, s.Unclear, "the focus is not seen")
	assert.False(k.t, s.Hidden, "the focus is out of sight: %s", s.Name)
	return s
}

// becomes waits for the page to be as the expression says. While one page follows another
// there is none to ask.
func (k *keyboard) becomes(expression string) {
	k.t.Helper()
	is := false
	assert.Eventually(k.t, func() bool {
		yes, err := chromedp.Run(k.tab, chromedp.Evaluate[bool]("document.readyState === 'complete' && !!("+expression+")"))
		is = err == nil && yes
		return is
	}, time.Minute, 20*time.Millisecond, expression)
	if !is {
		there, err := chromedp.Run(k.tab,
			chromedp.Evaluate[string](`location.href + " " + document.activeElement.outerHTML.slice(0, 300) + " " + document.querySelector("main").innerText.slice(0, 600)`))
		k.t.Fatal(there, err)
	}
}

// maxStops is more than any page has: a trap would go on for ever.
const maxStops = 400

// reach presses Tab until the element of a selector has the focus.
func (k *keyboard) reach(selector string) {
	k.t.Helper()
	for range maxStops {
		k.press(kb.Tab)
		if k.stop(selector).Met {
			return
		}
	}
	k.t.Fatalf("Tab does not reach %s", selector)
}

// unreached are the elements that a person may want to use and Tab has not reached. Of radio
// buttons of a name it reaches one.
const unreached = `JSON.stringify([...document.querySelectorAll("a[href],button,input:not([type=hidden],[type=radio]),select,textarea,summary,[tabindex='0']")]
	.filter((e) => !e.disabled && !e.reached && e.checkVisibility({ visibilityProperty: true }) && !e.closest("dialog:not([open])")).map((e) => e.outerHTML.slice(0, 160)))`

// walk goes over the whole page and around to where it began: it reaches all, and is caught
// nowhere.
func (k *keyboard) walk(where string) {
	k.t.Helper()
	_, err := chromedp.Run(k.tab,
		chromedp.Evaluate[bool](`document.activeElement.blur(), getSelection().removeAllRanges(), window.before = null, scrollTo(0, 0), true`))
	require.NoError(k.t, err)
	first, left := "", false
	for n := 0; n < maxStops && !left; n++ {
		k.press(kb.Tab)
		s := k.stop("")
		if n == 0 {
			first = s.Name
		}
		left = n > 0 && s.Name == first
	}
	assert.True(k.t, left, "%s: Tab does not leave the page", where)
	text, err := chromedp.Run(k.tab, chromedp.Evaluate[string](unreached))
	require.NoError(k.t, err)
	assert.Equal(k.t, "[]", text, "%s: Tab does not reach all", where)
}

// A person with a keyboard alone signs in, finds a group and resolves it, changes several and
// all, starts a run, retries a task, reads the help and changes the theme. In both themes the
// focus is seen wherever it is, and goes on.
func TestConsoleByKeyboard(t *testing.T) {
	t.Parallel()
	w := newSurface(t)
	w.stopWorker()
	for _, title := range []string{"one", "two", "three", "four"} {
		w.addGroup("Group " + title)
	}
	dead := w.addTask("build:notify", "dead", w.boot.Organization.ID, "refused")
	owner := w.console(w.boot.Owner.Username, w.boot.Owner.AccessKey)
	_, id := owner.importedCase("sign in")
	owner.targeted(id, "https://shop.example.com/")
	digest, link, err := frame.NewLink(rand.Reader)
	require.NoError(t, err)
	require.NoError(t, account.CreateConsoleLink(t.Context(), w.db, digest, w.boot.Organization.ID, w.boot.Owner.ID,
		time.Now().Add(time.Hour)))
	k := &keyboard{t, chromium.Start(t, 15*time.Minute, chromedp.WindowSize(1280, 900))}
	stored := func(query, want string, args ...any) {
		t.Helper()
		require.Equal(t, want, w.one(query, args...))
	}

	// Sign in by the link, and go to the crashes.
	require.NoError(t, chromedp.Do(k.tab, chromedp.Navigate(w.base+link)))
	k.becomes(`document.querySelector("main form button")`)
	k.reach("main form button")
	k.press(kb.Enter)
	k.becomes(`document.querySelector(".me") && document.querySelector("h1").textContent === "Overview"`)
	k.walk("the overview")
	k.press("/")
	k.becomes(`document.activeElement.matches("[type=search][name=q]")`)
	k.press("Group two" + kb.Enter)
	k.becomes(`location.pathname === "/console/search" && new URLSearchParams(location.search).get("q") === "Group two"`)
	k.reach(`nav a[href="/console/crashes"]`)
	k.press(kb.Enter)
	k.becomes(`location.pathname === "/console/crashes"`)

	// Open a group by its row, and resolve it.
	k.press("jjk")
	k.becomes(`[...document.querySelectorAll("tbody tr")].findIndex((r) => r.matches("[data-current]")) === 0`)
	k.press("j" + kb.Enter)
	k.becomes(`/^.console.crashes.groups.\d+$/.test(location.pathname)`)
	k.press("e")
	k.becomes(`document.querySelector(".notice.good") && document.querySelector(".badge").textContent === "resolved"`)
	stored(`select count(*)::text from crash_groups where state = 'resolved'`, "1")
	k.walk("a group")

	// Select two rows and resolve them; then change all that match.
	k.reach(`main a[href="/console/crashes"]`)
	k.press(kb.Enter)
	k.becomes(`location.pathname === "/console/crashes"`)
	k.press("jxjjx")
	k.becomes(`document.querySelectorAll("[name=group]:checked").length === 2`)
	k.press("e")
	k.becomes(`document.querySelector(".notice.good")`)
	k.walk("the groups")
	k.reach(`details:has(form[action$="/crashes/all"]) > summary`)
	k.press(" ")
	k.reach(`form[action$="/crashes/all"] [name=do]`)
	k.press(kb.ArrowDown)
	k.becomes(`document.activeElement.value === "ignore"`)
	k.reach(`form[action$="/crashes/all"] button`)
	k.press(kb.Enter)
	k.becomes(`location.pathname === "/console/crashes/all" && document.querySelector("main form button")`)
	k.reach("main form button")
	k.press(" ")
	k.becomes(`location.pathname.startsWith("/console/crashes/all/")`)
	stored(`select count(*)::text from tasks where kind = 'crash:change' and state = 'queued'`, "1")

	// Start a run.
	k.reach(`nav a[href="/console/tests"]`)
	k.press(kb.Enter)
	k.becomes(`location.pathname === "/console/tests"`)
	k.reach(`tbody a[href="/console/tests/cases/` + id + `"]`)
	k.press(kb.Enter)
	k.becomes(`location.pathname.endsWith("` + id + `")`)
	k.walk("a test")
	k.reach(`form[action$="/run"] button`)
	k.press(kb.Enter)
	k.becomes(`location.pathname.includes("/runs/") && document.querySelector(".notice.good")`)
	stored(`select count(*)::text from test_runs`, "1")
	k.walk("a run")

	// Retry a task.
	k.reach(`nav a[href="/console/operate"]`)
	k.press(kb.Enter)
	k.becomes(`location.pathname === "/console/operate"`)
	k.walk("the tasks")
	k.reach(`a[href$="` + dead + `"]`)
	k.press(kb.Enter)
	k.becomes(`location.pathname.endsWith("` + dead + `")`)
	k.reach(`form[action$="/retry"] button`)
	k.press(" ")
	k.becomes(`document.querySelector(".notice.good")`)
	stored(`select state from tasks where id = $1`, "queued", dead)

	// The help takes the focus, and returns it; the theme is changed, and stays.
	k.press("?")
	k.becomes(`document.querySelector("#keys").open && document.querySelector("#keys").contains(document.activeElement)`)
	k.press(kb.Escape)
	k.becomes(`!document.querySelector("#keys").open`)
	k.reach(`footer button`)
	k.press(kb.Enter)
	k.becomes(`document.documentElement.dataset.theme === "dark"`)
	k.reach(`nav a[href="/console/settings"]`)
	k.press(kb.Enter)
	k.becomes(`location.pathname === "/console/settings" && document.documentElement.dataset.theme === "dark"`)

	// Each page in the dark theme, and backwards.
	for _, path := range []string{"/console", "/console/search?q=Group", "/console/crashes", "/console/crashes/all?do=resolve",
		"/console/tests",
		"/console/tests/cases/" + id, "/console/tests/generate", "/console/builds", "/console/builds/upload", "/console/people",
		"/console/operate", "/console/operate/tasks/" + dead, "/console/settings"} {
		require.NoError(t, chromedp.Do(k.tab, chromedp.Navigate(w.base+path)))
		k.becomes(`document.querySelector(".me")`)
		k.walk(path + " in the dark")
	}
	k.reach(`footer button`)
	k.press(kb.Tab, chromedp.ModifierShift)
	require.NotEmpty(t, k.stop("footer a").Name)
	k.reach(`form.me button`)
	k.press(kb.Enter)
	k.becomes(`location.pathname === "/console/sign-in" && document.activeElement.matches("[name=name]")`)
	k.walk("the sign-in")
}
