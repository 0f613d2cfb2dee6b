package export

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/api/authoring/export/script"
	"github.com/slipway-qa/slipway/storage/step"
)

// statePage shows what it finds of cookies, storage, device and clock.
func statePage(t *testing.T) string {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<!doctype html><title>state</title><p id=sent>%s</p><p id=kept></p><p id=is></p><p id=now></p><p id=out></p>
			<p id=order>Order no. 4711</p><input id=field><div id=box style="width:200px;height:100px"></div><button id=choose>Choose</button><input type=file id=many multiple>
			<ul><li><b>Ada</b><button>x</button><li><b>Linus</b><button>x</button></ul><script>
			const put = (id, text) => { document.getElementById(id).textContent = text };
			put("kept", localStorage.getItem("theme"));
			put("is", [innerWidth, devicePixelRatio, navigator.language, new Date(0).getHours(),
			matchMedia("(prefers-color-scheme: dark)").matches].join());
			put("now", new Date().toISOString());
			setTimeout(() => put("now", "later " + new Date().toISOString()), 60000);
			box.onclick = (e) => put("out", [e.offsetX, e.offsetY, e.shiftKey, e.detail].join());
			const files = (el) => put("out", [...el.files].map((f) => f.name).join());
			many.onchange = () => files(many);
			choose.onclick = () => { const made = document.createElement("input"); made.type = "file"; made.multiple = true;
			made.onchange = () => files(made); made.click() };
			for (const b of document.querySelectorAll("li button")) b.onclick = () => {
			document.getElementById("out").textContent += b.parentNode.querySelector("b").textContent + ";" }
			</script>`, r.Header.Get("Cookie"))
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func stateTour(base string) []step.Step {
	state := func(tool string, s step.StateArgs) step.Step { return do(tool, step.Args{StateArgs: s}) }
	kept := func(not bool, name string, a step.MatcherArgs) step.Step {
		return do(step.Assert, step.Args{Not: not, Matcher: &step.Matcher{Name: name, Args: a}})
	}
	files := []step.File{{Name: "a.txt", Content: []byte("a")}, {Name: "b.txt", Content: []byte("b")}}
	return []step.Step{
		state(step.SetCookie, step.StateArgs{Name: "token", Value: ptr("t1"), HTTPOnly: true, SameSite: "lax", Expires: "2099-01-01T00:00:00Z"}),
		do(step.SetStorage, step.Args{Key: "theme", StateArgs: step.StateArgs{Area: step.LocalStorage, Value: ptr("dark")}}),
		state(step.Emulate, step.StateArgs{Emulation: step.Emulation{Device: "Desktop Chrome HiDPI", Locale: "de-DE",
			TimeZone: "Asia/Tokyo", ColorScheme: "dark", CPU: ptr(2.0)}}),
		state(step.SetClock, step.StateArgs{Fixed: "2031-05-06T07:08:09Z"}),
		expect(css("#sent"), step.TextIs, "", "token=t1"), expect(css("#kept"), step.TextIs, "", "dark"),
		expect(css("#is"), step.TextIs, "", "1280,2,de-DE,9,true"), expect(css("#now"), step.TextIs, "", "2031-05-06T07:08:09.000Z"),
		state(step.SetClock, step.StateArgs{Advance: ptr(60_000)}), expect(css("#now"), step.TextIs, "", "later 2031-05-06T07:09:09.000Z"),
		state(step.SetClock, step.StateArgs{Resume: true}),
		kept(false, step.CookieIs, step.MatcherArgs{Name: "token", Value: "t1",
			Attributes: &step.CookieAttributes{HTTPOnly: ptr(true), SameSite: "lax"}}),
		kept(true, step.CookieIs, step.MatcherArgs{Name: "none"}),
		kept(false, step.StorageIs, step.MatcherArgs{Area: step.LocalStorage, Key: "theme", Value: "dar", Mode: step.Contains}),
		do(step.SetStorage, step.Args{Key: "k", StateArgs: step.StateArgs{Area: step.SessionStorage, Value: ptr("v")}}),
		state(step.ClearState, step.StateArgs{Local: true, Cookies: true}), kept(true, step.CookieIs, step.MatcherArgs{Name: "token"}),
		kept(true, step.StorageIs, step.MatcherArgs{Area: step.LocalStorage, Key: "theme"}),
		kept(false, step.StorageIs, step.MatcherArgs{Area: step.SessionStorage, Key: "k"}),
		do(step.Save, step.Args{Selector: css("#order"), StateArgs: step.StateArgs{From: step.SavedText, Name: "order", Match: `no\. (\d+)`}}),
		do(step.Save, step.Args{StateArgs: step.StateArgs{From: step.SavedTitle, Name: "title"}}),
		fillIn("#field", "{{saved:order}} {{saved:title}}"), expect(css("#field"), step.ValueIs, "", "4711 state"),
		do(step.Click, step.Args{Selector: css("#box"), Pointing: step.Pointing{Position: &step.Position{X: 20, Y: 30},
			Modifiers: []string{"Shift"}}}),
		expect(css("#out"), step.TextIs, "", "20,30,true,1"),
		do(step.Click, step.Args{Selector: css("#box"), Pointing: step.Pointing{Position: &step.Position{X: 60, Y: 30}, ClickCount: ptr(3)}}),
		expect(css("#out"), step.TextIs, "", "60,30,false,3"),
		do(step.UploadFile, step.Args{Selector: css("#many"), Files: files}), expect(css("#out"), step.TextIs, "", "a.txt,b.txt"),
		on(step.Click, "#choose"), do(step.UploadFile, step.Args{File: &files[0]}), expect(css("#out"), step.TextIs, "", "a.txt"),
		do(step.ForEach, step.Args{Selector: css("li"), StateArgs: step.StateArgs{Max: ptr(5), Tools: []step.Tool{
			{Type: step.Save, Args: step.Args{Selector: css("b"), StateArgs: step.StateArgs{From: step.SavedText, Name: "who"}}},
			{Type: step.Click, Args: step.Args{Selector: css("button")}}}}}),
		expect(css("#out"), step.TextIs, "", "a.txtAda;Linus;"), expect(css("#out"), step.TextIs, step.Contains, "{{saved:who}}"),
		state(step.ClearState, step.StateArgs{All: true}), kept(true, step.StorageIs, step.MatcherArgs{Area: step.SessionStorage, Key: "k"}),
	}
}

// TestStateRuns runs what Playwright alone has words for.
func TestStateRuns(t *testing.T) {
	base := statePage(t)
	out, err := runNode(t, export(t, JavaScriptPlaywright, script.Case{Name: "State", TestURL: base, Steps: stateTour(base)}))
	require.NoError(t, err, "%s", out)
}

// TestStateUnwritable checks that other targets name what they have no words for.
func TestStateUnwritable(t *testing.T) {
	t.Parallel()
	paths := map[string]bool{}
	for _, s := range stateTour("https://shop.example") {
		for _, target := range programs() {
			c := script.Case{Steps: []step.Step{s}}
			_, _, playwright := Export(JavaScriptPlaywright, c)
			require.NoError(t, playwright)
			_, _, err := Export(target.ID, c)
			var wrong *step.InvalidError
			if errors.As(err, &wrong) {
				require.Contains(t, wrong.Msg, "has no words in "+target.Name)
				paths[wrong.Path] = true
			}
		}
	}
	require.Equal(t, map[string]bool{"steps[0].tool.type": true, "steps[0].tool.args.matcher.name": true, "steps[0].tool.args.position": true,
		"steps[0].tool.args.files": true, "steps[0].tool.args.selector": true}, paths)
	near := css("a")
	near.Below = &step.Relation{Selector: css("b")}
	_, _, err := Export(JavaScriptPlaywright, script.Case{Steps: []step.Step{do(step.Click, step.Args{Selector: near})}})
	require.ErrorContains(t, err, "a selector by where an element lies has no words in JavaScript, Playwright")
}
