package replay_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	store "github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/playback"
	"github.com/slipway-qa/slipway/worker/run/replay"
)

func inContext(name string) step.Step {
	return do(step.SwitchContext, step.Args{StateArgs: step.StateArgs{Name: name}})
}

// In a web view of an app the steps of pages work as in a browser: commands go to the
// browser behind it.
func TestWebView(t *testing.T) {
	t.Parallel()
	page := newSession()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		_ = page.Delete(ctx)
	})
	address := site(t,
		map[string]string{"/": `<label>Name <input id=name></label>` +
			`<button onclick="out.textContent='Hello '+document.querySelector('input').value">Greet</button>
		<p id=out></p><iframe srcdoc="<button onclick='this.textContent=&quot;in&quot;'>Inner</button>"></iframe><ul><li>a<li>b</ul>`})
	require.NoError(t, page.Navigate(t.Context(), address))
	app := contacts("Android")
	app.WebViews = map[string]string{"WEBVIEW_shop": client.Redacted + "/session/" + page.ID}
	lease := appLease(t, app)
	button := &step.Selector{Type: step.ByRole, Value: "button", Name: "Greet"}
	count := do(step.ForEach, step.Args{Selector: css("li"), StateArgs: step.StateArgs{Tools: []step.Tool{
		{Type: step.Assert, Args: step.Args{Selector: css("*"), Matcher: &step.Matcher{Name: step.Count, Args: step.MatcherArgs{Value: "0"}}}}}}})
	when := click("#out")
	when.When = &step.Condition{Selector: css("#none"), Matcher: &step.Matcher{Name: step.Visible}, TimeoutMS: 100}
	r := play(t, replay.Config{Lease: lease, Steps: []step.Step{inContext("WEBVIEW_*"),
		do(step.InputText, step.Args{Selector: &step.Selector{Type: step.ByLabel, Value: "Name"}, Text: new(string("Ann"))}),
		do(step.Click, step.Args{Selector: button}), is("#out", step.TextIs, "Hello Ann"), frame("iframe", click("button")),
		do(step.Assert, step.Args{Matcher: &step.Matcher{Name: step.URLIs, Args: step.MatcherArgs{Value: address + "/"}}}), when, count,
		inContext("native"), do(step.Click, step.Args{Selector: xpath("//android.widget.Switch")}), inContext("WEBVIEW_shop"),
		is("#out", step.TextIs, "Hello Ann")}})
	require.Equal(t, "PASSED", r.Status, "%s", r.Message)
	require.Equal(t, playback.Skipped, r.Records[6].Status)
	app.Look(func() { require.Equal(t, "true", app.Root.Children[3].Attributes["checked"]) })

	for words, s := range map[string]step.Step{
		"emulate is not available in web views of apps": do(step.Emulate,
			step.Args{StateArgs: step.StateArgs{Emulation: step.Emulation{Locale: "de"}}}),
		"the matcher console is not available in web views of apps": do(step.Assert, step.Args{Matcher: &step.Matcher{Name: step.ConsoleIs}}),
		"the matcher looks_like is not available in web views":      do(step.Assert, step.Args{Matcher: &step.Matcher{Name: step.LooksLike}}),
		"tap is not available in a web view":                        do(step.Tap, step.Args{}),
	} {
		r := play(t, replay.Config{Lease: lease, Steps: []step.Step{inContext("WEBVIEW_shop"), s}})
		require.Equal(t, store.CodeStepFailed, r.Code)
		require.Contains(t, r.Message, words)
	}
	// A web view may show only what tests may.
	refused := replay.Config{Lease: lease, Steps: []step.Step{inContext("native"), inContext("WEBVIEW_shop")},
		CheckURL: func(context.Context, string) error { return context.Canceled }}
	require.Equal(t, store.CodeForbidden, play(t, refused).Code)
}

// A browser has none of the tools of apps, and the test ends before its first step.
func TestAppToolsInBrowser(t *testing.T) {
	t.Parallel()
	address := site(t, map[string]string{"/": "<button>Go</button>"})
	for name, s := range map[string]step.Step{"tap": do(step.Tap, step.Args{}), "the matcher app_state": do(step.Assert,
		step.Args{Matcher: &step.Matcher{Name: step.AppStateIs, Args: step.MatcherArgs{Value: "foreground"}}})} {
		r := play(t, replay.Config{TestURL: address, Steps: []step.Step{click("button"), s}})
		require.Equal(t, name+" is of native apps, and the target is a browser", r.Message)
		require.Equal(t, store.CodeStepFailed, r.Code)
		require.Equal(t, playback.Skipped, r.Records[0].Status)
		s.Optional = s.Tool.Type == step.Tap
		if s.Optional {
			r = play(t, replay.Config{TestURL: address, Steps: []step.Step{click("button"), s}})
			require.Equal(t, "PASSED", r.Status, r.Message)
		}
	}
}
