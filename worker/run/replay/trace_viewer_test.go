package replay_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/worker/browser/webdriver"
)

// viewer is Playwright's own trace viewer, as playwright-core carries it, with a trace open.
type viewer struct {
	t       *testing.T
	ctx     context.Context
	session *webdriver.Session
}

func openViewer(t *testing.T, data []byte) *viewer {
	t.Helper()
	files := filepath.Join(servicetest.NodeModules(t, "playwright-core"), "playwright-core", "lib", "vite", "traceViewer")
	mux := http.NewServeMux()
	mux.Handle("/", http.FileServer(http.Dir(files)))
	mux.HandleFunc("/shop.zip", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(data) })
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	l := lease()
	t.Cleanup(func() { release(l, false) })
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	t.Cleanup(cancel)
	v := &viewer{t, ctx, l.Session}
	require.NoError(t, v.session.Navigate(ctx, server.URL+"/index.html?trace="+server.URL+"/shop.zip"))
	return v
}

// look runs a script until it returns a text.
func (v *viewer) look(script string, args ...any) string {
	v.t.Helper()
	var text string
	for {
		err := v.session.Execute(v.ctx, script, &text, args...)
		if err == nil && text != "" {
			return text
		}
		if v.ctx.Err() != nil {
			var page string
			_ = v.session.Execute(context.Background(), "return document.body.innerText", &page)
			require.FailNow(v.t, "the viewer does not show it", "%s\n%v\n%s", script, err, page)
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-v.ctx.Done():
		}
	}
}

// press clicks on what has a text, and returns when it is there.
func (v *viewer) press(selector, text string) {
	v.t.Helper()
	v.look(`const found = [...document.querySelectorAll(arguments[0])].find((e) => (e.title || e.textContent).includes(arguments[1]));
if (!found) return ""; found.click(); return "pressed"`, selector, text)
}

// snapshot returns what a script finds in the page of the action, once it finds something.
func (v *viewer) snapshot(tab, script string) string {
	v.t.Helper()
	v.press("[role=tab]", tab)
	return v.look(fmt.Sprintf(`const frame = document.querySelector("iframe.snapshot-visible"), page = frame && frame.contentDocument;
if (!page || !page.body) return ""; %s`, script))
}

// Playwright's own viewer opens a trace and shows what there was.
func TestTraceOpensInPlaywrightsViewer(t *testing.T) {
	t.Parallel()
	v := openViewer(t, tracedShop(t))
	actions := v.look(`const all = [...document.querySelectorAll(".action-title")].map((e) => e.textContent);
return all.length >= 6 ? all.join("|") : ""`)
	for _, title := range []string{"Open http://127.0.0.1", `Input text css #user "ann"`, `Input text css #secret "{{password}}"`,
		"Click css #buy",
		"Assert css #done text"} {
		require.Contains(t, actions, title)
	}

	v.press(".action-title", "Click css #buy")
	require.Equal(t, "Buy", v.snapshot("Action", `return page.querySelector("[__playwright_target__]")?.textContent`),
		"the element that was clicked")
	require.NotEmpty(t, v.snapshot("Action", `return page.querySelector("x-pw-pointer")?.style.left`), "the point of the click")
	require.Equal(t, "***", v.snapshot("Before", `return page.querySelector("#secret")?.value`))
	require.Equal(t, "ann", v.snapshot("Before", `return page.querySelector("#user")?.value`))
	require.Equal(t, "***", v.snapshot("After", `return page.querySelector("#shown")?.textContent`))
	require.Equal(t, "rgb(10, 20, 30)", v.snapshot("After", `const c = page.defaultView.getComputedStyle(page.querySelector("h1")).color;
return c === "rgb(0, 0, 0)" ? "" : c`), "a style sheet of its own file")
	require.Equal(t, "40", v.snapshot("After", `const w = page.querySelector("#logo").naturalWidth; return w ? String(w) : ""`),
		"a picture of the network")
	require.Equal(t, "7 things rgb(1, 2, 3)", v.snapshot("After", `const b = page.querySelector("shop-cart").shadowRoot?.querySelector("b");
return b && b.textContent + " " + page.defaultView.getComputedStyle(b).color`), "a shadow root")
	require.Equal(t, "An offer",
		v.snapshot("After", `return page.querySelector("iframe").contentDocument?.querySelector("#offer")?.textContent`), "a frame")

	v.press("[role=tab]", "Network")
	network := v.look(`const text = document.querySelector(".network-request-grid, .grid-view, .network-container, ` +
		`[class*=network]")?.innerText || "";
return text.includes("cart") && text.includes("shop.css") ? text : ""`)
	require.Contains(t, network, "200")
	v.press("[role=tab]", "Console")
	console := v.look(`const text = document.querySelector(".console-tab")?.innerText || ""; return text.includes("no stock") ? text : ""`)
	require.Contains(t, console, "bought for ***")
	v.press("[role=tab]", "Errors")
	require.Contains(t, v.look(`const text = document.querySelector(".tab-errors, .tab-content.tab-errors")?.innerText || ""; return `+
		`text.includes("sent") ? text : ""`), "ordered")
	require.NotEmpty(t, v.look(`return document.querySelector(".film-strip-frame, .film-strip-lane > *") ? "there" : ""`), "the film")
}
