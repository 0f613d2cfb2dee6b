package replay_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	store "github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/playback"
	"github.com/slipway-qa/slipway/worker/browser"
	"github.com/slipway-qa/slipway/worker/run/replay"
)

func TestFramesAndShadowRoots(t *testing.T) {
	t.Parallel()
	inner := site(t, map[string]string{
		"/inner": `<button id=b onclick="out.textContent='inner'">Go</button><p id=out></p>`,
		"/mid":   `<iframe id=deep src=/inner></iframe><input id=i>`,
	})
	foreign := strings.Replace(inner, "127.0.0.1", "localhost", 1)
	pages := map[string]string{
		"/same": `<iframe id=f srcdoc="<iframe id=deep srcdoc='<button id=b onclick=&quot;out.textContent=1&quot;>Go</button>` +
			`<p id=out></p>'></iframe>"></iframe><p id=out>top</p>`,
		"/across": `<div style="height:2000px"></div><iframe id=f src="` + foreign + `/mid"></iframe>`,
		"/late": `<script>setTimeout(() => { const f = document.createElement("iframe"); f.id = "f"; f.src = "` +
			foreign + `/inner"; document.body.append(f) }, 500)</script>`,
		"/shadow": `<x-a></x-a><p id=out></p><script>
			const a = document.querySelector("x-a").attachShadow({mode: "open"}); a.innerHTML = "<x-b></x-b><input id=i>";
			const b = a.querySelector("x-b").attachShadow({mode: "open"}); b.innerHTML = "<button id=b>Go</button>";
			b.querySelector("button").onclick = () => out.textContent = "shadow"</script>`,
	}
	base := site(t, pages)
	run := func(path string, steps ...step.Step) replay.Result {
		t.Helper()
		r := play(t, replay.Config{TestURL: base + path, Steps: steps})
		require.Equal(t, "PASSED", r.Status, r.Message)
		return r
	}
	run("/same", frame("#f", frame("#deep", click("#b"))), frame("#f", frame("#deep", is("#out", step.TextIs, "1"))),
		is("#out", step.TextIs, "top"))
	r := run("/across", frame("#f", frame("#deep", click("#b"))), frame("#f", frame("#deep", is("#out", step.TextIs, "inner"))),
		frame("#f", input("#i", "x")), frame("#f", is("#i", step.ValueIs, "x")))
	require.Equal(t, []string{"#f", "#deep"}, r.Fingerprints["s1"].FramePath)
	run("/late", frame("#f", click("#b")), frame("#f", is("#out", step.TextIs, "inner")))
	// A fingerprint that knows the frame needs no in_frame.
	print := r.Fingerprints["s1"]
	run("/across", do(step.Click, step.Args{Selector: printed("#b", print)}), frame("#f", frame("#deep", is("#out", step.TextIs, "inner"))))

	r = run("/shadow", shadow("x-a", shadow("x-b", click("#b"))), is("#out", step.TextIs, "shadow"),
		shadow("x-a", input("#i", "x")), shadow("x-a", is("#i", step.ValueIs, "x")), click("#b"))
	require.Equal(t, []string{"x-a", "x-b"}, r.Fingerprints["s1"].ShadowPath)
	print = r.Fingerprints["s1"]
	run("/shadow", do(step.Click, step.Args{Selector: printed("#b", print)}), is("#out", step.TextIs, "shadow"))
	// It chooses none of several elements: a second one may have come, before the first.
	several := `<x-card></x-card><x-card></x-card><script>for (const h of document.querySelectorAll("x-card")) h.attachShadow({mode: ` +
		`"open"}).innerHTML = "<button>Delete</button>"</script>`
	fails(t, several, store.CodeStepFailed, "css button: 2 elements match", do(step.Click, step.Args{Selector: printed("button",
		step.Fingerprint{Tag: "button", Role: "button", Name: "Delete", ShadowPath: []string{"x-card"}})}))
	fails(t, `<iframe id=f srcdoc=x></iframe>`, store.CodeStepFailed, "css #b was not found", frame("#f", click("#b")))
	fails(t, `<p>x`, store.CodeStepFailed, "the frame css #f is not there", frame("#f", click("#b")))
}

func TestDialogs(t *testing.T) {
	t.Parallel()
	body := `<p id=out></p><button id=a onclick="alert('hello'); out.textContent='alerted'">A</button>
		<button id=c onclick="out.textContent=confirm('sure?')">C</button><button id=p onclick="out.textContent=prompt('name?', 'x')">P</button>
		<button id=late onclick="setTimeout(() => out.textContent=confirm('late?'), 500)">L</button>
		<input id=f onchange="out.textContent=confirm('changed?')"><input id=k onkeydown="out.textContent=confirm('key?')">`
	answer := "Ada"
	r := pass(t, body, click("#a"), dialog("accept"), is("#out", step.TextIs, "alerted"),
		click("#c"), dialog("accept"), is("#out", step.TextIs, "true"), click("#c"), dialog("dismiss"), is("#out", step.TextIs, "false"),
		click("#p"), do(step.HandleDialog, step.Args{Action: "accept", Text: &answer}), is("#out", step.TextIs, "Ada"),
		click("#late"), dialog("accept"), is("#out", step.TextIs, "true"),
		input("#f", "x"), dialog("dismiss"), is("#out", step.TextIs, "false"), is("#f", step.ValueIs, "x"))
	require.Equal(t, `accepted the dialog "hello"`, r.Records[1].Result.Message)
	pass(t, body, do(step.PressKey, step.Args{Selector: css("#k"), Key: "x"}), dialog("accept"), is("#out", step.TextIs, "true"))

	// Nobody handles these: the step that meets one dismisses it.
	r = pass(t, body, click("#c"), is("#out", step.TextIs, "false"), input("#f", "x"), is("#out", step.TextIs, "false"),
		click("#a"), click("#c"))
	require.Contains(t, r.Records[1].Result.Message, `dismissed the dialog "sure?"`)
	r = pass(t, `<p id=p>x</p><script>alert("welcome")</script><p id=q>y`, is("#p", step.Visible), is("#q", step.Visible))
	require.Equal(t, "PASSED", r.Status)
	pass(t, `<p id=p>x</p><script>alert("welcome")</script>`, dialog("accept"), is("#p", step.Visible))

	fails(t, `<p>x`, store.CodeStepFailed, "no dialog opened", within(200, dialog("accept")))
	r = fails(t, `<button id=b>Go</button><script>addEventListener("click", () => { for (;;) alert("again") })</script>`,
		store.CodeStepFailed, "one dialog after the other", click("#b"), within(40_000, is("#b", step.Hidden)))
	require.True(t, r.Broken)
}

func TestWindows(t *testing.T) {
	t.Parallel()
	base := site(t, map[string]string{
		"/":    `<a id=a href=/two target=_blank>two</a> <button id=late onclick="setTimeout(() => window.open('/three'), 500)">three</button>`,
		"/two": `<p id=p>second</p><button id=x onclick="window.close()">x</button>`, "/three": `<p id=p>third</p>`,
	})
	r := play(t, replay.Config{TestURL: base, Steps: []step.Step{
		click("#a"), window(step.WindowNew, ""), is("#p", step.TextIs, "second"), window(step.WindowIndex, "0"), is("#a", step.Visible),
		click("#late"), window(step.WindowTitle, "three"), is("#p", step.TextIs, "third"), window(step.WindowURL, "/two"),
		is("#p", step.TextIs, "second"), click("#x"), window(step.WindowIndex, "1"), is("#p", step.TextIs, "third"),
	}, Screenshots: true})
	require.Equal(t, "PASSED", r.Status, r.Message)
	fails(t, "x", store.CodeStepFailed, "no new window opened", within(200, window(step.WindowNew, "")))
	fails(t, "x", store.CodeStepFailed, "there is no window 1", within(200, window(step.WindowIndex, "1")))
	fails(t, "x", store.CodeStepFailed, `no window has a title that contains "y"`, within(200, window(step.WindowTitle, "y")))
}

func TestNavigation(t *testing.T) {
	t.Parallel()
	gone := refusingAddress(t)
	base := site(t, map[string]string{"/a/": `<p id=p>a</p>`, "/a/b": `<p id=p>b</p>`}, func(mux *http.ServeMux) {
		mux.HandleFunc("/loop", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/loop", http.StatusFound) })
		mux.HandleFunc("/hang", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
		mux.HandleFunc("/out", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, strings.Replace("http://"+r.Host+"/a/", "127.0.0.1", "localhost", 1), http.StatusFound)
		})
		mux.HandleFunc("/proxy", func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "address refused: private address", http.StatusForbidden)
		})
		mux.HandleFunc("/forbidden", func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "You may not see this.", http.StatusForbidden)
		})
	})
	check := func(_ context.Context, address string) error {
		if strings.Contains(address, "localhost") || strings.HasPrefix(address, "file:") {
			return errors.New("this address is refused")
		}
		return nil
	}
	r := play(t, replay.Config{TestURL: base + "/a/", CheckURL: check, Steps: []step.Step{is("#p", step.TextIs, "a"), open("b"),
		is("#p", step.TextIs, "b"), open("../a/"), is("#p", step.TextIs, "a"), open("/forbidden"), open("about:blank"),
		open("/a/b"), is("#p", step.TextIs, "b")}})
	require.Equal(t, "PASSED", r.Status, r.Message)
	for _, c := range []unopened{
		{gone, store.CodeUnreachable, "the connection was refused"},
		{"http://no-such-host.invalid/", store.CodeUnreachable, "the name is unknown"},
		{base + "/loop", store.CodeUnreachable, "redirects without end"},
		{base + "/hang", store.CodeUnreachable, "did not load within 1s"},
		{base + "/proxy", store.CodeForbidden, "address refused: private address"},
		{base + "/out", store.CodeForbidden, "this address is refused"},
		{"http://localhost/", store.CodeForbidden, "this address is refused"},
		{"file:///etc/passwd", store.CodeForbidden, "this address is refused"},
		{"chrome://crash", store.CodeForbidden, `"chrome" are refused`},
		{"view-source:" + base, store.CodeForbidden, `"view-source" are refused`},
		{"javascript:alert(1)", store.CodeForbidden, `"javascript" are refused`},
		{"data:text/html,x", store.CodeForbidden, `"data" are refused`},
	} {
		r := play(t, replay.Config{CheckURL: check, Steps: []step.Step{open(c.address)}, PageTimeout: c.pageTimeout()})
		require.Equal(t, c.code, r.Code, "%s: %s", c.address, r.Message)
		require.Equal(t, "FAILED", r.Status)
		require.Contains(t, r.Message, c.words)
	}
	r = play(t, replay.Config{TestURL: gone, Steps: []step.Step{click("#a")}})
	require.Equal(t, store.CodeUnreachable, r.Code)
	require.Equal(t, []string{playback.Skipped}, statuses(r))
	// A page that goes where it must not is left at once.
	r = play(t, replay.Config{TestURL: site(t, map[string]string{"/": `<a id=a href="` + strings.Replace(base, "127.0.0.1",
		"localhost", 1) + `/a/">out</a>`}),
		CheckURL: check, Steps: []step.Step{click("#a"), is("#p", step.TextIs, "a")}})
	require.Equal(t, store.CodeForbidden, r.Code, r.Message)
	// What the proxy met, when the browser does not say.
	r = play(t, replay.Config{Steps: []step.Step{open(gone)}, Trouble: func(host string, since time.Time) (string, bool) {
		return "address refused: " + host, !since.IsZero()
	}})
	require.Equal(t, store.CodeForbidden, r.Code)
	require.Contains(t, r.Message, "address refused: 127.0.0.1")
}

// unopened is an address that cannot be opened.
type unopened struct{ address, code, words string }

func (u unopened) pageTimeout() time.Duration {
	if strings.HasSuffix(u.address, "/hang") {
		return time.Second
	}
	return 2 * time.Minute
}

func TestCrash(t *testing.T) {
	t.Parallel()
	base := site(t, map[string]string{"/": `<p>x`})
	l := lease()
	defer func() { release(l, true) }()
	handle, err := l.Session.Window(context.Background())
	require.NoError(t, err)
	crashed := make(chan struct{})
	r := play(t, replay.Config{Lease: l, TestURL: base, Steps: []step.Step{is("p", step.Visible), is("#never", step.Visible), click("p")},
		Progress: func(all []playback.Record) {
			if len(all) == 1 {
				go func() {
					defer close(crashed)
					_ = replay.Debug(l.Session, handle, "Page.crash") // its answer never comes
				}()
			}
		}})
	<-crashed
	require.Equal(t, "ERROR", r.Status, r.Message)
	require.Equal(t, store.CodeBrowserLost, r.Code)
	require.True(t, r.Broken)
	require.Equal(t, []string{playback.Passed, playback.Failed, playback.Skipped}, statuses(r))
}

func TestContextEnds(t *testing.T) {
	t.Parallel()
	base := site(t, map[string]string{"/": `<p>x`})
	for _, c := range []struct {
		name, code string
		ctx        func() (context.Context, context.CancelFunc)
	}{
		{"cancelled", store.CodeCancelled, func() (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(context.Background())
			time.AfterFunc(600*time.Millisecond, cancel)
			return ctx, cancel
		}},
		{"timeout", store.CodeTimeout, func() (context.Context, context.CancelFunc) {
			return context.WithTimeout(context.Background(), 600*time.Millisecond)
		}},
	} {
		l := lease()
		ctx, cancel := c.ctx()
		r := replay.Play(ctx, replay.Config{Lease: l, TestURL: base, Steps: []step.Step{click("#never")}})
		cancel()
		release(l, r.Broken)
		require.Equal(t, "ERROR", r.Status, c.name)
		require.Equal(t, c.code, r.Code, r.Message)
		require.True(t, r.Broken)
	}
}

func TestNeverPanics(t *testing.T) {
	t.Parallel()
	r := replay.Play(context.Background(), replay.Config{Steps: []step.Step{click("#a")}})
	require.Equal(t, "ERROR", r.Status)
	require.Equal(t, store.CodeInternal, r.Code)
	require.True(t, r.Broken)
	r = play(t, replay.Config{Steps: []step.Step{do("dance", step.Args{}), {}}, StepTimeout: 100 * time.Millisecond})
	require.Equal(t, store.CodeStepFailed, r.Code)
	for _, kind := range step.Tools() {
		r := play(t, replay.Config{Steps: []step.Step{do(kind, step.Args{})}, StepTimeout: 50 * time.Millisecond})
		require.NotEqual(t, store.CodeInternal, r.Code, "%s: %s", kind, r.Message)
		if kind != step.RunGroup { // its steps stand in its place
			require.NotContains(t, r.Message, "the tool "+kind+" is unknown", "step_execution.go executes each tool")
		}
	}
}

func TestLargePage(t *testing.T) {
	t.Parallel()
	base := site(t, nil, func(mux *http.ServeMux) {
		mux.HandleFunc("/large", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, `<!doctype html><button id=b>Go</button><!--`)
			chunk := strings.Repeat("0123456789abcdef", 4096)
			for range 50 << 20 / len(chunk) {
				if _, err := fmt.Fprint(w, chunk); err != nil {
					return
				}
			}
			fmt.Fprint(w, `--><p id=end>end`)
		})
	})
	var source int
	r := play(t, replay.Config{Steps: []step.Step{open(base + "/large"), click("#b"), is("#end", step.TextIs, "end"),
		within(100, click("#none"))},
		Capture: func(_ context.Context, a replay.Artifact) string {
			if a.Kind == store.Source {
				source = len(a.Data)
			}
			return "id"
		}})
	require.Equal(t, []string{playback.Passed, playback.Passed, playback.Passed, playback.Failed}, statuses(r), r.Message)
	require.InDelta(t, 2<<20, source, 10)
}

// A pause notices that the browser is gone.
func TestPauseNoticesALostBrowser(t *testing.T) {
	t.Parallel()
	base := site(t, map[string]string{"/": `<p>x`})
	shared := <-sessions // its turn: the browser is one that may be lost
	defer func() { sessions <- shared }()
	l := &browser.Lease{Session: newSession(), Local: true}
	minute := 60_000
	r := play(t, replay.Config{Lease: l, TestURL: base, Steps: []step.Step{is("p", step.Visible),
		do(step.Pause, step.Args{Time: &minute}), click("p")},
		Progress: func(all []playback.Record) {
			if len(all) == 1 {
				_ = l.Session.Delete(context.Background())
			}
		}})
	require.Equal(t, store.CodeBrowserLost, r.Code, r.Message)
	require.Equal(t, "ERROR", r.Status)
	require.Equal(t, []string{playback.Passed, playback.Failed, playback.Skipped}, statuses(r))
	require.Less(t, r.Records[1].TookMS, int64(minute/2))
}

// refusingAddress returns one that refuses connections until the test and its subtests end:
// its port is taken, so that nobody else gets it meanwhile, and nobody listens on it.
func refusingAddress(t *testing.T) string {
	t.Helper()
	socket, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
	require.NoError(t, err)
	t.Cleanup(func() { _ = unix.Close(socket) })
	require.NoError(t, unix.Bind(socket, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}))
	at, err := unix.Getsockname(socket)
	require.NoError(t, err)
	return fmt.Sprintf("http://127.0.0.1:%d/", at.(*unix.SockaddrInet4).Port)
}

// A page that was not reached leaves a screenshot of what the browser shows, in the
// step that opens it and before the first step.
func TestUnreachedPageIsCaptured(t *testing.T) {
	t.Parallel()
	gone := refusingAddress(t)
	for name, cfg := range map[string]replay.Config{
		"by a step":            {Steps: []step.Step{open(gone)}},
		"before the first":     {TestURL: gone, Steps: []step.Step{click("p")}},
		"with screenshots":     {TestURL: gone, Steps: []step.Step{click("p")}, Screenshots: true},
		"of a test of nothing": {TestURL: gone},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var shots atomic.Int32
			cfg.Capture = func(_ context.Context, a replay.Artifact) string {
				if a.Kind == store.Screenshot && len(a.Data) > 0 {
					shots.Add(1)
				}
				return "file"
			}
			r := play(t, cfg)
			require.Equal(t, store.CodeUnreachable, r.Code, r.Message)
			require.EqualValues(t, 1, shots.Load())
			if len(cfg.Steps) > 0 {
				require.Equal(t, "file", r.Records[0].ScreenshotID)
			}
			l := lease()
			shots.Store(0)
			cfg.Lease = l
			live, err := replay.Open(t.Context(), cfg)
			if err == nil {
				_, err = live.Do(t.Context(), step.Step{ID: "s1", Tool: cfg.Steps[0].Tool})
			}
			release(l, live.Close())
			_ = err
			require.EqualValues(t, 1, shots.Load(), "of a live session")
		})
	}
}
