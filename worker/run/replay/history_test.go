package replay_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	store "github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/playback"
	"github.com/slipway-qa/slipway/worker/browser"
	"github.com/slipway-qa/slipway/worker/run/replay"
)

func plain(kind string) step.Step { return do(kind, step.Args{}) }

// unfinished serves pages that never stop loading, with links between them.
func unfinished(mux *http.ServeMux) {
	mux.HandleFunc("/page/", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		n := strings.TrimPrefix(r.URL.Path, "/page/")
		fmt.Fprintf(w, `<!doctype html><title>%s</title><p id=p>%s</p><a id=two href=/page/two>two</a> <a id=three href=/page/three>three</a>
			<button id=script onclick="fetch('/none').then(() => location = '/page/two')">go</button>`+
			`<button id=back onclick="history.back()">back</button><img src=/never>`, n, n)
	})
	mux.HandleFunc("/never", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	mux.HandleFunc("/none", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
}

func TestHistory(t *testing.T) {
	t.Parallel()
	base := site(t, map[string]string{"/": `<p id=p>first</p><a id=a href=/second>second</a>` +
		`<script>addEventListener("pageshow", () => document.title = "shown")</script>`,
		"/second": `<p id=p>second</p><button id=push onclick="history.pushState(1, '', '#pushed')">push</button>` +
			`<button id=same onclick="history.pushState(2, '')">same</button><p id=out></p><script>onpopstate = (e) => out.textContent = "popped ` +
			`" + e.state</script>`}, unfinished)
	text := func(want string) step.Step { return is("#p", step.TextIs, want) }
	run := func(address string, steps ...step.Step) replay.Result {
		t.Helper()
		r := play(t, replay.Config{TestURL: address, Steps: steps})
		require.Equal(t, "PASSED", r.Status, r.Message)
		return r
	}
	run(base, click("#a"), text("second"), plain(step.Back), text("first"), plain(step.Forward), text("second"),
		plain(step.Reload), text("second"))
	// Within one document, also where the address stays the same.
	run(base+"/second", click("#push"), click("#same"), plain(step.Back), is("#out", step.TextIs, "popped 1"),
		plain(step.Back), is("#out", step.TextIs, "popped null"),
		plain(step.Forward), is("#out", step.TextIs, "popped 1"))
	// The pages before have not finished loading.
	for _, back := range []step.Step{plain(step.Back), click("#back")} {
		run(base+"/page/one", click("#two"), text("two"), back, text("one"))
		run(base+"/page/one", click("#two"), click("#three"), text("three"), back, text("two"), back, text("one"))
		run(base+"/page/one", click("#script"), text("two"), back, text("one"))
		run("", open(base+"/page/one"), open("/page/two"), open("/page/three"), back, text("two"))
	}
	// Nothing happens while a dialog is open.
	for _, kind := range []string{step.Back, step.Forward, step.Reload} {
		r := play(t, replay.Config{TestURL: site(t, map[string]string{"/": `<button id=b onclick="confirm('sure?')">x</button>`}),
			Steps: []step.Step{click("#b"), plain(kind), dialog("accept")}})
		require.Equal(t, []string{playback.Passed, playback.Failed, playback.Skipped}, statuses(r))
		require.Equal(t, kind+": a dialog is open", r.Message)
	}
	r := play(t, replay.Config{TestURL: base, Steps: []step.Step{plain(step.Forward)}})
	require.Equal(t, store.CodeStepFailed, r.Code)
	require.Contains(t, r.Message, "there is no page to go forward to")
}

// A page that asks before it is left is left, unless the next step handles its dialog.
func TestLeaving(t *testing.T) {
	t.Parallel()
	base := site(t, map[string]string{"/first": `<p id=p>first</p>`, "/ask": `<p id=p>ask</p><input id=f><a id=a href=/next>next</a>
		<script>addEventListener("beforeunload", (e) => { e.preventDefault(); e.returnValue = "x" })</script>`, "/next": `<p id=p>next</p>`})
	for name, c := range map[string]struct {
		leave step.Step
		to    string
	}{
		"go_to_url": {open("/next"), "next"}, "click": {click("#a"), "next"}, "back": {plain(step.Back), "first"},
		"reload": {plain(step.Reload), "ask"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			to := is("#p", step.TextIs, c.to)
			run := func(steps ...step.Step) replay.Result {
				t.Helper()
				// A page that nobody has touched may not ask.
				r := play(t, replay.Config{Steps: append([]step.Step{open(base + "/first"), open("/ask"), click("#f"),
					input("#f", "x"), c.leave}, steps...)})
				require.Equal(t, "PASSED", r.Status, "%d: %s", len(steps), r.Message)
				return r
			}
			r := run(to)
			var messages string
			for _, record := range r.Records {
				messages += record.Result.Message
			}
			require.Equal(t, "left the page, which asks before it is left", messages)
			run(dialog("accept"), to)
			r = run(dialog("dismiss"), is("#p", step.TextIs, "ask"), is("#f", step.ValueIs, "x"), open("/next"))
			require.Contains(t, r.Records[5].Result.Message, "dismissed the dialog")
		})
	}
}

func TestViewport(t *testing.T) {
	t.Parallel()
	size := func(width, height int) step.Step {
		return do(step.SetViewport, step.Args{Width: &width, Height: &height})
	}
	body := `<p id=out></p><style>#narrow { display: none } @media (max-width: 400px) { #narrow { display: block }
		}</style><p id=narrow>narrow</p>
		<script>const show = () => out.textContent = innerWidth + "x" + innerHeight; onresize = show; show()</script>`
	l := lease()
	r := play(t, replay.Config{Lease: l, TestURL: site(t, map[string]string{"/": body, "/next": body}), Steps: []step.Step{
		size(390, 844), is("#out", step.TextIs, "390x844"), is("#narrow", step.Visible), open("/next"), is("#out", step.TextIs, "390x844"),
		size(2000, 1500), is("#out", step.TextIs, "2000x1500"), is("#narrow", step.Hidden), size(100, 100), is("#out", step.TextIs, "100x100"),
	}})
	release(l, true) // the size stays for the life of the window
	require.Equal(t, "PASSED", r.Status, r.Message)

	// A remote end without BiDi resizes its window.
	l = lease()
	capability := l.Session.Capabilities["webSocketUrl"]
	delete(l.Session.Capabilities, "webSocketUrl")
	r = play(t, replay.Config{Lease: l, TestURL: site(t, map[string]string{"/": body}), Steps: []step.Step{
		size(800, 600), is("#out", step.TextIs, "800x600"), within(1000, size(10000, 9999))}})
	l.Session.Capabilities["webSocketUrl"] = capability
	release(l, true)
	require.Equal(t, playback.Passed, r.Records[1].Status, r.Message)
}

func when(c step.Condition, s step.Step) step.Step {
	s.When = &c
	return s
}

func TestConditions(t *testing.T) {
	t.Parallel()
	shown := func(s string, ms int) step.Condition {
		return step.Condition{Selector: css(s), Matcher: &step.Matcher{Name: step.Visible}, TimeoutMS: ms}
	}
	body := `<div id=banner><button id=ok onclick="banner.remove()">OK</button></div><p id=out>0</p>` +
		`<button id=b onclick="out.textContent = +out.textContent + 1">Go</button>
		<iframe id=f srcdoc="<button id=in onclick='this.textContent = 1'>0</button>"></iframe>
		<script>setTimeout(() => document.body.insertAdjacentHTML("beforeend", "<p id=late>late</p>"), 500)</script>`
	r := pass(t, body, when(shown("#banner", 40000), click("#ok")), is("#banner", step.Hidden), when(shown("#banner", 200), click("#ok")),
		when(shown("#late", 40000), click("#b")), is("#out", step.TextIs, "1"),
		when(step.Condition{Selector: css("#banner"), Not: true, Matcher: &step.Matcher{Name: step.Visible}}, click("#b")),
		is("#out", step.TextIs, "2"),
		when(step.Condition{Matcher: &step.Matcher{Name: step.URLIs, Args: step.MatcherArgs{Value: "nowhere", Mode: step.Contains}},
			TimeoutMS: 100}, click("#b")), is("#out", step.TextIs, "2"),
		// The condition looks where the step acts.
		when(shown("#in", 40000), frame("#f", click("#in"))), frame("#f", is("#in", step.TextIs, "1")),
		when(shown("#out", 100), frame("#f", click("#in"))),
		when(shown("#banner", 100), is("#banner", step.Visible)))
	require.Equal(t, []string{playback.Passed, playback.Passed, playback.Skipped, playback.Passed, playback.Passed, playback.Passed,
		playback.Passed,
		playback.Skipped, playback.Passed, playback.Passed, playback.Passed, playback.Skipped, playback.Skipped}, statuses(r))
	require.Equal(t, "skipped: css #banner: expected to be visible; no such element", r.Records[2].Result.Message)
	require.Empty(t, r.Records[3].Result.Message)
	// A condition takes no time from its step, and one that cannot be checked fails it.
	pass(t, `<p id=out></p><script>setTimeout(() => document.body.insertAdjacentHTML("beforeend", "<p id=a>a</p>"), 3200); setTimeout(() => `+
		`document.body.insertAdjacentHTML("beforeend", "<button id=b>b</button>"), 3300)</script>`,
		within(3000, when(shown("#a", 40000), click("#b"))))
	fails(t, `<p>x`, store.CodeStepFailed, "##", when(shown("##", 100), click("p")))
	// That a page cannot be looked at does not mean that a condition does not hold.
	l, first := lease(), atomic.Bool{}
	interceptors.Store(l.Session.ID, interceptor(func(command string, send func() (*http.Response, error)) (*http.Response, error) {
		r, err := send()
		if err == nil && first.Load() && command == "execute/sync" {
			r = spoilt(r, "script timeout")
		}
		return r, err
	}))
	hangs := play(t, replay.Config{Lease: l, TestURL: site(t, map[string]string{"/": `<p id=x>x</p><button id=b>Go</button>`}),
		Progress: func([]playback.Record) { first.Store(true) },
		Steps:    []step.Step{click("#x"), when(shown("#x", 200), click("#b"))}})
	interceptors.Delete(l.Session.ID)
	release(l, hangs.Broken)
	require.Equal(t, store.CodeStepFailed, hangs.Code)
	require.Equal(t, "the condition cannot be checked: css #x: expected to be visible; the page does not respond", hangs.Message)
	nowhere := play(t, replay.Config{TestURL: site(t, map[string]string{"/": `<a id=a href="http://127.0.0.1:1/">a</a>`}),
		Steps: []step.Step{click("#a"), when(shown("#x", 5000), click("#b"))}})
	require.Equal(t, []string{playback.Passed, playback.Failed}, statuses(nowhere))
	require.Contains(t, nowhere.Message, "the page could not be loaded")
	unknown := play(t, replay.Config{TestURL: site(t, map[string]string{"/": `<p>x`}), Lookup: func(step.Reference) (string,
		bool, bool) {
		return "", false, false
	},
		Steps: []step.Step{when(step.Condition{Selector: css("p"), Matcher: &step.Matcher{Name: step.TextIs,
			Args: step.MatcherArgs{Value: "{{none}}"}}}, click("p"))}})
	require.Equal(t, store.CodeVariable, unknown.Code)
	// The text of a variable is compared, and is no part of the message.
	secret := play(t, replay.Config{TestURL: site(t, map[string]string{"/": `<p>x`}), Lookup: func(step.Reference) (string,
		bool, bool) {
		return "swordfish", true, true
	},
		Steps: []step.Step{when(step.Condition{Selector: css("p"), Matcher: &step.Matcher{Name: step.TextIs,
			Args: step.MatcherArgs{Value: "{{v}}"}}, TimeoutMS: 100}, click("p"))}})
	require.Equal(t, "PASSED", secret.Status)
	require.NotContains(t, secret.Records[0].Result.Message, "swordfish")
	require.True(t, strings.HasPrefix(secret.Records[0].Result.Message, "skipped: "), secret.Records[0].Result.Message)
}

// A document that comes and never ends is where a click leads to; one of which nothing
// comes is not.
func TestEndlessDocuments(t *testing.T) {
	t.Parallel()
	base := site(t, map[string]string{"/": `<p id=p>first</p><a id=endless href=/endless>endless</a> <a id=silent href=/silent>silent</a>`},
		func(mux *http.ServeMux) {
			mux.HandleFunc("/silent", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
			mux.HandleFunc("/endless", func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "text/html")
				fmt.Fprint(w, `<!doctype html><title>Endless</title><p id=p>begun</p>`+strings.Repeat("<!-- enough to be shown -->", 100))
				_ = http.NewResponseController(w).Flush()
				<-r.Context().Done()
			})
		})
	text := func(want string) step.Step { return is("#p", step.TextIs, want) }
	r := play(t, replay.Config{TestURL: base, PageTimeout: 10 * time.Second,
		Steps: []step.Step{click("#endless"), text("begun"), plain(step.Back), text("first"), plain(step.Forward), text("begun")}})
	require.Equal(t, "PASSED", r.Status, r.Message)
	require.Contains(t, r.Records[0].Result.Message, "the page that this opened did not end within 10s")
	require.Contains(t, r.Records[4].Result.Message, "the page did not end within 10s")
	r = play(t, replay.Config{TestURL: base, PageTimeout: 10 * time.Second, Steps: []step.Step{click("#silent"), text("first")}})
	require.Equal(t, store.CodeStepFailed, r.Code, r.Message)
	require.Contains(t, r.Message, "did not load within 10s")
}

// What the window showed before the test is no page to go back to.
func TestBackBeforeTheTest(t *testing.T) {
	t.Parallel()
	base := site(t, map[string]string{"/one": `<p id=p>one</p>`, "/two": `<p id=p>two</p>`}, unfinished)
	fresh := func(cfg replay.Config) replay.Result {
		t.Helper()
		shared := <-sessions // its turn; the browser is one without a history
		defer func() { sessions <- shared }()
		cfg.Lease = &browser.Lease{Session: newSession(), Local: true}
		defer func() { _ = cfg.Lease.Session.Delete(context.Background()) }()
		return play(t, cfg)
	}
	for name, c := range map[string]struct {
		start string
		steps []step.Step
		code  string
	}{
		"after the first page":              {"", []step.Step{open(base + "/one"), plain(step.Back)}, store.CodeStepFailed},
		"after the start page":              {base + "/one", []step.Step{plain(step.Back)}, store.CodeStepFailed},
		"after a page that goes on loading": {"", []step.Step{open(base + "/page/one"), plain(step.Back)}, store.CodeStepFailed},
		"after two pages": {"", []step.Step{open(base + "/one"), open(base + "/two"), plain(step.Back),
			is("#p", step.TextIs, "one")}, ""},
		"from the start page": {base + "/one", []step.Step{is("#p", step.Visible), open(base + "/two"),
			plain(step.Back), is("#p", step.TextIs, "one")}, ""},
		"twice": {"", []step.Step{open(base + "/one"), open(base + "/two"), plain(step.Back),
			plain(step.Back)}, store.CodeStepFailed},
		"to what a step opened": {"", []step.Step{open("about:blank"), open(base + "/two"), plain(step.Back)}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := fresh(replay.Config{TestURL: c.start, Steps: c.steps})
			require.Equal(t, c.code, r.Code, r.Message)
			if c.code != "" {
				require.Contains(t, r.Message, "there is no page to go back to")
				require.Equal(t, playback.Failed, r.Records[len(r.Records)-1].Status)
			}
		})
	}
}
