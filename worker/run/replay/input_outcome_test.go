package replay_test

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/browser/webdriver"
	"github.com/slipway-qa/slipway/worker/run/replay"
)

// clicking executes steps that pass, with an interceptor between the session and its
// driver for the first click alone, and returns the number of clicks.
func clicking(t *testing.T, local bool, cfg replay.Config, f func(s *webdriver.Session, send func() (*http.Response,
	error)) (*http.Response, error)) int {
	t.Helper()
	l := lease()
	l.Local = local
	clicks := 0
	interceptors.Store(l.Session.ID, interceptor(func(command string, send func() (*http.Response, error)) (*http.Response, error) {
		if command == "actions" || strings.HasSuffix(command, "/click") {
			if clicks++; clicks == 1 {
				return f(l.Session, send)
			}
		}
		return send()
	}))
	cfg.Lease = l
	r := play(t, cfg)
	interceptors.Delete(l.Session.ID)
	release(l, r.Broken)
	require.Equal(t, "PASSED", r.Status, r.Message)
	return clicks
}

// spoilt returns the response of a driver that a navigation disturbed.
func spoilt(r *http.Response, code string) *http.Response {
	_ = r.Body.Close()
	body := fmt.Sprintf(`{"value":{"error":%q,"message":"disturbed","stacktrace":""}}`, code)
	r.StatusCode, r.ContentLength, r.Body = http.StatusNotFound, int64(len(body)), io.NopCloser(bytes.NewBufferString(body))
	return r
}

// wizard serves pages that all have the button Next, which leads to the next one,
// and counts them. loaded receives the number of each that was loaded; around is the
// page of a frame that they are in.
func wizard(t *testing.T, target, around string) (base string, loaded chan string) {
	var served atomic.Int32
	loaded = make(chan string, 100)
	base = site(t, map[string]string{"/around": around}, func(mux *http.ServeMux) {
		mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			n := served.Add(1)
			fmt.Fprintf(w, `<!doctype html><p id=n>%d</p><form action=/ target=%s><button id=next>Next</button></form>`+
				`<script>fetch("/loaded?%d")</script>`, n, target, n)
		})
		mux.HandleFunc("/loaded", func(_ http.ResponseWriter, r *http.Request) { loaded <- r.URL.RawQuery })
	})
	return base, loaded
}

// A driver may report that the element of a click is gone because the click led to
// another page. What stands there now is not clicked.
func TestClickIsDoneOnce(t *testing.T) {
	t.Parallel()
	whole := func(s step.Step) step.Step { return s }
	framed := func(s step.Step) step.Step { return frame("#f", s) }
	deep := func(s step.Step) step.Step { return frame("#f", frame("#g", s)) }
	for _, c := range []struct {
		name, target, path, around string
		says                       string // the driver; default: that the element is stale
		hub                        bool
		click, look                func(step.Step) step.Step
	}{
		{name: "managed browser", target: "_self", path: "/", click: whole, look: whole},
		{name: "hub", target: "_self", path: "/", hub: true, click: whole, look: whole},
		{name: "aborted", says: webdriver.ErrNavigated, target: "_self", path: "/", click: whole, look: whole},
		{name: "unknown to the page", says: webdriver.ErrNoSuchElement, target: "_self", path: "/", hub: true, click: whole, look: whole},
		{name: "in a frame", target: "_self", path: "/around", around: `<iframe id=f src=/></iframe>`, click: framed, look: framed},
		{name: "in a frame of a frame", target: "_self", path: "/around",
			around: `<iframe id=f srcdoc="<iframe id=g src=/></iframe>"></iframe>`, click: deep, look: deep},
		{name: "out of a frame", target: "_top", path: "/around", around: `<iframe id=f src=/></iframe>`, click: framed, look: whole},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			base, loaded := wizard(t, c.target, c.around)
			steps := []step.Step{c.click(click("#next")), c.look(is("#n", step.TextIs, "2"))}
			clicks := clicking(t, !c.hub, replay.Config{TestURL: base + c.path, Steps: steps},
				func(_ *webdriver.Session, send func() (*http.Response, error)) (*http.Response, error) {
					r, err := send()
					if err != nil {
						return nil, err
					}
					for giveUp := time.After(time.Minute); ; {
						select {
						case n := <-loaded:
							if n == "2" {
								return spoilt(r, cmp.Or(c.says, webdriver.ErrStaleElement)), nil
							}
						case <-giveUp:
							return r, nil // the click has led nowhere
						}
					}
				})
			require.Equal(t, 1, clicks)
		})
	}
}

// An element that a script replaces before the pointer gets there is looked for
// once more.
func TestClickOnReplacedElement(t *testing.T) {
	t.Parallel()
	for name, local := range map[string]bool{"managed browser": true, "hub": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			base := site(t, map[string]string{"/": `<p id=out></p><div id=box><button id=b>Go</button></div>`})
			steps := []step.Step{click("#b"), is("#out", step.TextIs, "clicked")}
			clicks := clicking(t, local, replay.Config{TestURL: base, Steps: steps}, func(s *webdriver.Session,
				send func() (*http.Response, error)) (*http.Response, error) {
				ctx, cancel := context.WithTimeout(context.Background(), 8*time.Minute)
				defer cancel()
				if err := s.Execute(ctx, `box.innerHTML = "<button id=b onclick=\"out.textContent='clicked'\">Go</button>"`, nil); err != nil {
					return nil, err
				}
				return send()
			})
			require.Equal(t, 2, clicks)
		})
	}
}

// A page that was on its way when the element was found is not where the click led
// to: its own element is clicked.
func TestClickMeetsARedirect(t *testing.T) {
	t.Parallel()
	for name, local := range map[string]bool{"managed browser": true, "hub": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// The next page may come before the driver has returned the element: then
			// the step sees that page alone, which proves nothing.
			for range 20 {
				steps := []step.Step{click("#b"), is("#out", step.TextIs, "clicked")}
				clicks := clicking(t, local, replay.Config{TestURL: redirect(t), Steps: steps},
					func(_ *webdriver.Session, send func() (*http.Response, error)) (*http.Response, error) {
						return send()
					})
				if clicks == 2 {
					return
				}
			}
			t.Fatal("the page was always left before the element was found")
		})
	}
}

// redirect serves a page that leaves, with a button at last, when a step waits for a
// frame because it has not found the button. The next page comes when it has: then it
// waits for a frame once more, and asks for the time.
func redirect(t *testing.T) string {
	found := make(chan struct{}, 100)
	return site(t, map[string]string{"/": `<div id=box></div><script>
		const frame = requestAnimationFrame, now = performance.now.bind(performance);
		let looks = 0;
		requestAnimationFrame = (f) => { if (!looks++) { location = "/next"; box.innerHTML = "<button id=b>Go</button>" } return frame(f) };
		performance.now = () => { if (looks > 1) fetch("/found"); return now() }</script>`},
		func(mux *http.ServeMux) {
			mux.HandleFunc("/found", func(http.ResponseWriter, *http.Request) { found <- struct{}{} })
			mux.HandleFunc("/next", func(w http.ResponseWriter, r *http.Request) {
				select {
				case <-found:
				case <-r.Context().Done():
				}
				w.Header().Set("Content-Type", "text/html")
				fmt.Fprint(w, `<!doctype html><p id=out></p><button id=b onclick="out.textContent='clicked'">Go</button>`)
			})
		})
}

// A field that sends its form by the last key leaves nothing to read back.
func TestTypingLeadsToAnotherPage(t *testing.T) {
	t.Parallel()
	base := site(t, map[string]string{"/": `<input id=f><script>let n = 0;
		f.oninput = () => f.value = "";
		f.onkeydown = () => { if (++n === 4) location = "/next" }</script>`, "/next": `<input id=f><p id=p>next</p>`})
	r := play(t, replay.Config{TestURL: base, Steps: []step.Step{input("#f", "1234"), is("#p", step.TextIs, "next"),
		is("#f", step.ValueIs, "")}})
	require.Equal(t, "PASSED", r.Status, r.Message)
}
