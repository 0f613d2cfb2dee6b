package replay_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	store "github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/run/replay"
)

func ptr[T any](v T) *T { return &v }

// fresh plays steps in a browser that no test uses after it: it pretends to be another.
func fresh(t *testing.T, cfg replay.Config) replay.Result {
	t.Helper()
	cfg.Lease = lease()
	defer func() { release(cfg.Lease, true) }()
	return play(t, cfg)
}

func cookie(name, value string, more ...func(*step.Args)) step.Step {
	a := step.Args{StateArgs: step.StateArgs{Name: name, Value: &value}}
	for _, f := range more {
		f(&a)
	}
	return do(step.SetCookie, a)
}

func stored(area, key, value, origin string) step.Step {
	return do(step.SetStorage, step.Args{Key: key, StateArgs: step.StateArgs{Area: area, Value: &value, Origin: origin}})
}

func clearing(a step.StateArgs) step.Step { return do(step.ClearState, step.Args{StateArgs: a}) }

func keptIs(name string, args step.MatcherArgs) step.Step {
	return do(step.Assert, step.Args{Matcher: &step.Matcher{Name: name, Args: args}})
}

func keptNot(name string, args step.MatcherArgs) step.Step {
	return do(step.Assert, step.Args{Not: true, Matcher: &step.Matcher{Name: name, Args: args}})
}

func saving(from, selector, match, name string) step.Step {
	a := step.Args{StateArgs: step.StateArgs{From: from, Match: match, Name: name}}
	if selector != "" {
		a.Selector = css(selector)
	}
	return do(step.Save, a)
}

func TestCookiesAndStorage(t *testing.T) {
	t.Parallel()
	base := site(t, nil, func(mux *http.ServeMux) {
		mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprintf(w, `<p id=sent>%s</p><p id=local></p><p id=session></p><script>
				document.getElementById("local").textContent = localStorage.getItem("theme");
				document.getElementById("session").textContent = sessionStorage.getItem("tab")</script>`, r.Header.Get("Cookie"))
		})
	})
	other := strings.Replace(base, "127.0.0.1", "localhost", 1)
	r := play(t, replay.Config{TestURL: base, Steps: []step.Step{
		// Before the address is opened, so that its first request has it.
		cookie("token", "t1", func(a *step.Args) { a.HTTPOnly, a.SameSite = true, "Lax" }),
		stored(step.LocalStorage, "theme", "dark", ""), stored(step.LocalStorage, "theme", "light", other),
		is("#sent", step.TextIs, "token=t1"), is("#local", step.TextIs, "dark"),
		keptIs(step.CookieIs, step.MatcherArgs{Name: "token", Value: "t1", Attributes: &step.CookieAttributes{HTTPOnly: ptr(true),
			SameSite: "lax", Path: "/"}}),
		keptIs(step.StorageIs, step.MatcherArgs{Area: step.LocalStorage, Key: "theme", Value: "ar", Mode: step.Contains}),
		keptNot(step.CookieIs, step.MatcherArgs{Name: "none"}),
		stored(step.SessionStorage, "tab", "s1", ""), do(step.Reload, step.Args{}), is("#session", step.TextIs, "s1"),
		clearing(step.StateArgs{Local: true}), keptNot(step.StorageIs, step.MatcherArgs{Area: step.LocalStorage, Key: "theme"}),
		keptIs(step.StorageIs, step.MatcherArgs{Area: step.SessionStorage, Key: "tab", Value: "s1"}),
		clearing(step.StateArgs{Session: true}), keptNot(step.StorageIs, step.MatcherArgs{Area: step.SessionStorage, Key: "tab"}),
		clearing(step.StateArgs{Cookies: true}), keptNot(step.CookieIs, step.MatcherArgs{Name: "token"}),
		stored(step.LocalStorage, "theme", "light", other), open(other), is("#local", step.TextIs, "light"),
		cookie("a", "1"), stored(step.LocalStorage, "b", "2", base), clearing(step.StateArgs{All: true}), do(step.Reload, step.Args{}),
		is("#sent", step.TextIs, ""), is("#local", step.TextIs, ""), open(base),
		keptNot(step.StorageIs, step.MatcherArgs{Area: step.LocalStorage, Key: "b"}),
	}})
	require.Equal(t, "PASSED", r.Status, r.Message)
	fails(t, "x", store.CodeAssertionFailed, "the cookie a: expected not to be there; it is", cookie("a", "1"),
		keptNot(step.CookieIs, step.MatcherArgs{Name: "a"}))
	fails(t, "x", store.CodeAssertionFailed, "it is not secure", cookie("a", "1"),
		keptIs(step.CookieIs, step.MatcherArgs{Name: "a", Attributes: &step.CookieAttributes{Secure: ptr(true)}}))
	fails(t, "x", store.CodeAssertionFailed, `the item k of the local storage: expected storage equals "w"; it is "v"`,
		stored(step.LocalStorage, "k", "v", ""), keptIs(step.StorageIs, step.MatcherArgs{Area: step.LocalStorage, Key: "k", Value: "w"}))
	fails(t, "<p id=p>", store.CodeStepFailed, "open a page of", is("#p", step.Hidden), stored(step.SessionStorage,
		"k", "v", "https://shop.example"))
}

func TestSave(t *testing.T) {
	t.Parallel()
	body := `<p id=o>Order no. 4711, thank you</p><input id=v value=Ada><a id=a href="/x">link</a><i></i><i></i>
		<input id=pw type=password value=hunter2secret><input id=out><script>setTimeout(() => { o.textContent += " (paid)" }, 300)</script>`
	r := pass(t, body, saving(step.SavedText, "#o", `no\. (\d+).*paid`, "order"), input("#out", "{{saved:order}}!"),
		is("#out", step.ValueIs, "4711!"),
		saving(step.SavedValue, "#v", "", "who"), saving(step.SavedCount, "i", "", "n"), saving(step.SavedURL, "",
			`http://([^/]+)/`, "host"), saving(step.SavedTitle, "", "", "title"),
		do(step.Save, step.Args{Selector: css("#a"), StateArgs: step.StateArgs{From: step.SavedAttribute, Attribute: "href", Name: "href"}}),
		input("#out", "{{saved:who}} {{saved:n}} {{saved:href}}"), is("#out", step.ValueIs, "Ada 2 /x"),
		saving(step.SavedValue, "#pw", "", "password"), input("#out", "{{saved:password}}"), is("#out", step.ValueIs, "hunter2secret"))
	require.Equal(t, `saved order: "4711"`, r.Records[0].Result.Message)
	require.NotContains(t, fmt.Sprint(r.Records), "hunter2", "what came from a password is masked")
	fails(t, body, store.CodeVariable, "{{saved:never}}", input("#out", "{{saved:never}}"))
	fails(t, body, store.CodeStepFailed, "does not match", saving(step.SavedText, "#o", `(never)`, "x"))
	fails(t, body, store.CodeStepFailed, "css #none was not found", saving(step.SavedText, "#none", "", "x"))
	fails(t, `<p id=p></p><script>p.textContent = "x".repeat(5000)</script>`, store.CodeStepFailed, "saved are at most 4096",
		saving(step.SavedText, "#p", "", "x"))
}

func TestEmulate(t *testing.T) {
	t.Parallel()
	base := site(t, nil, func(mux *http.ServeMux) {
		mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprintf(w,
				`<meta name=viewport content="width=device-width"><p id=lang>%s</p><p id=agent></p><p id=is></p><p id=geo></p><p id=net></p>
				<a id=pop href=/pop target=_blank>pop</a><script>
				const put = (id, text) => document.getElementById(id).textContent = text;
				put("agent", navigator.userAgent);
				put("is", [innerWidth, devicePixelRatio, navigator.maxTouchPoints, navigator.language, new Date(0).getHours(),
				matchMedia("(prefers-color-scheme: dark)").matches].join());
				navigator.geolocation.getCurrentPosition((p) => put("geo", p.coords.latitude + "," + p.coords.longitude), (e) => put("geo", "refused"));
				const began = performance.now();
				fetch("/data").then(() => put("net", performance.now() - began > 500 ? "slow" : "fast"), () => put("net", "offline"))</script>`,
				r.Header.Get("Accept-Language"))
		})
	})
	set := func(e step.Emulation) step.Step {
		return do(step.Emulate, step.Args{StateArgs: step.StateArgs{Emulation: e}})
	}
	r := fresh(t, replay.Config{TestURL: base, Steps: []step.Step{
		set(step.Emulation{Device: "iPhone 13", Locale: "de-DE", TimeZone: "Asia/Tokyo", ColorScheme: "dark", CPU: ptr(2.0),
			Network:     &step.NetworkThrottle{Latency: 600, Down: 10_000, Up: 10_000},
			Geolocation: &step.Geolocation{Latitude: 48.1, Longitude: 11.5}, Permissions: []string{"geolocation"}}),
		is("#is", step.TextIs, "390,3,5,de-DE,9,true"), is("#geo", step.TextIs, "48.1,11.5"), is("#net", step.TextIs, "slow"),
		do(step.Assert, step.Args{Selector: css("#lang"), Matcher: &step.Matcher{Name: step.TextIs,
			Args: step.MatcherArgs{Value: "de-DE", Mode: step.Contains}}}),
		do(step.Assert, step.Args{Selector: css("#agent"), Matcher: &step.Matcher{Name: step.TextIs,
			Args: step.MatcherArgs{Value: "iPhone", Mode: step.Contains}}}),
		click("#pop"), window(step.WindowNew, ""), do(step.Reload, step.Args{}), is("#is", step.TextIs, "390,3,5,de-DE,9,true"),
		window(step.WindowIndex, "0"),
		set(step.Emulation{Network: &step.NetworkThrottle{}, Viewport: &step.Viewport{Width: 500, Height: 600}}), do(step.Reload, step.Args{}),
		is("#net", step.TextIs, "fast"), is("#is", step.TextIs, "500,3,5,de-DE,9,true"),
		set(step.Emulation{Device: "Desktop Chrome HiDPI", Offline: ptr(true)}),
		do(step.Assert, step.Args{Selector: css("#net"), Matcher: &step.Matcher{Name: step.Visible}}),
		set(step.Emulation{Offline: ptr(false)}), do(step.Reload, step.Args{}), is("#is", step.TextIs, "1280,2,0,de-DE,9,true"),
	}})
	require.Equal(t, "PASSED", r.Status, r.Message)
}

func TestEmulateRefused(t *testing.T) {
	t.Parallel()
	l := lease()
	defer func() { release(l, true) }()
	// A hub whose browser has neither BiDi nor DevTools.
	delete(l.Session.Capabilities, "webSocketUrl")
	for words, s := range map[string]step.Step{
		"emulate needs WebDriver BiDi":    do(step.Emulate, step.Args{StateArgs: step.StateArgs{Emulation: step.Emulation{Locale: "de-DE"}}}),
		"set_cookie needs WebDriver BiDi": cookie("a", "1"),
		"set_clock needs WebDriver BiDi":  do(step.SetClock, step.Args{StateArgs: step.StateArgs{Resume: true}}),
	} {
		r := play(t, replay.Config{Lease: l, TestURL: "about:blank", Steps: []step.Step{s}})
		require.Equal(t, store.CodeStepFailed, r.Code)
		require.Contains(t, r.Message, words)
	}
}

func TestSetClock(t *testing.T) {
	t.Parallel()
	inner := `<p id=t></p><script>setInterval(() => { t.textContent = new Date().toISOString() }, 1000)</script>`
	base := site(t, map[string]string{"/inner": inner,
		"/": `<p id=now></p><p id=later></p><p id=count>0</p><p id=frame></p>` +
			`<button id=b onclick="clicked.textContent=Date.now()-perf()">x</button><p id=clicked></p>
		<iframe id=f src=/inner></iframe><script>
		const perf = () => Math.round(performance.now());
		now.textContent = new Date().toISOString() + " " + new Intl.DateTimeFormat("en", {year: "numeric", timeZone: "UTC"}).format();
		setTimeout(() => { later.textContent = "after " + new Date().toISOString() }, 86400000);
		let n = 0; setInterval(() => { count.textContent = ++n }, 60000);
		requestAnimationFrame(() => { frame.textContent = "drawn" });
		setTimeout(() => alert("hour"), 90000000)</script>`})
	clock := func(a step.StateArgs) step.Step { return do(step.SetClock, step.Args{StateArgs: a}) }
	r := fresh(t, replay.Config{TestURL: base, Steps: []step.Step{
		clock(step.StateArgs{Fixed: "2031-05-06T07:08:09Z"}),
		is("#now", step.TextIs, "2031-05-06T07:08:09.000Z 2031"), is("#frame", step.TextIs, ""), click("#b"),
		clock(step.StateArgs{Advance: ptr(120_000)}), is("#count", step.TextIs, "2"), is("#frame", step.TextIs, "drawn"),
		frame("#f", is("#t", step.TextIs, "2031-05-06T07:10:09.000Z")),
		clock(step.StateArgs{Advance: ptr(24 * 3600_000)}), is("#later", step.TextIs, "after 2031-05-07T07:08:09.000Z"),
		clock(step.StateArgs{Advance: ptr(3600_000)}), dialog("accept"),
		do(step.Reload, step.Args{}), is("#now", step.TextIs, "2031-05-07T08:10:09.000Z 2031"),
		clock(step.StateArgs{Resume: true}), is("#frame", step.TextIs, "drawn"),
		frame("#f", do(step.Assert, step.Args{Selector: css("#t"), Matcher: &step.Matcher{Name: step.TextIs,
			Args: step.MatcherArgs{Value: "2031-05-07T08:", Mode: step.Contains}}})),
	}})
	for i, record := range r.Records {
		t.Log(i, record.Status, record.TookMS, record.Result.Message)
	}
	require.Equal(t, "PASSED", r.Status, r.Message)
	fails(t, "x", store.CodeStepFailed, "no step has fixed the clock", clock(step.StateArgs{Advance: ptr(1)}))
}
