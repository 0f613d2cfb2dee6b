package export

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/api/authoring/export/script"
	"github.com/slipway-qa/slipway/storage/step"
)

// What a target has no code for is refused with its path: an export that left it out
// would check less than the case.
func TestNetworkStepsAreRefusedWhereThereIsNoCode(t *testing.T) {
	t.Parallel()
	for _, s := range []struct {
		tool step.Tool
		path string
	}{
		{step.Tool{Type: step.Route, Args: step.Args{URL: "**", Abort: "failed"}}, "steps[1].tool.type"},
		{step.Tool{Type: step.WaitForURL, Args: step.Args{URL: "**"}}, "steps[1].tool.type"},
		{step.Tool{Type: step.WaitForDownload}, "steps[1].tool.type"},
		{step.Tool{Type: step.Assert, Args: step.Args{Matcher: &step.Matcher{Name: step.ConsoleIs}}}, "steps[1].tool.args.matcher.name"},
		{step.Tool{Type: step.Tap, Args: step.Args{Selector: css("a")}}, "steps[1].tool.type"},
		{step.Tool{Type: step.LaunchApp}, "steps[1].tool.type"},
		{step.Tool{Type: step.Assert, Args: step.Args{Matcher: &step.Matcher{Name: step.AppStateIs}}}, "steps[1].tool.args.matcher.name"},
	} {
		for _, target := range programs() {
			c := script.Case{Steps: []step.Step{on(step.Click, "a"), {Tool: s.tool}}}
			_, ok, err := Export(target.ID, c)
			require.True(t, ok)
			if target.ID == JavaScriptPlaywright && !step.IsMobile(&s.tool) {
				require.NoError(t, err)
				continue
			}
			var invalid *step.InvalidError
			require.ErrorAs(t, err, &invalid, target.ID)
			require.Equal(t, s.path, invalid.Path)
			require.Contains(t, invalid.Msg, target.Name)
			_, _, err = Export(target.ID, script.Case{Steps: []step.Step{{Tool: step.Tool{Type: step.Finish}}, {Tool: s.tool}}})
			require.NoError(t, err, "behind the end nothing is done")
		}
	}
	deep := traffic(false, step.RequestIs, step.MatcherArgs{URL: "**", Body: &step.BodyCheck{Path: "$..name", Value: "x"}})
	_, _, err := Export(JavaScriptPlaywright, script.Case{Steps: []step.Step{deep}})
	require.ErrorContains(t, err, "steps[0].tool.args.matcher.args.body.path: a path with other parts")
}

// traffic is an assertion on what the browser did.
func traffic(not bool, name string, a step.MatcherArgs) step.Step {
	return do(step.Assert, step.Args{Not: not, Matcher: &step.Matcher{Name: name, Args: a}})
}

// networkPage asks its server for things.
func networkPage(t *testing.T) string {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/api/echo":
			body, _ := io.ReadAll(r.Body)
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("X-Shop", "North")
			fmt.Fprintf(w, `{"got": %s, "list": [{"name": "lamp"}, {"name": "2"}]}`, body)
		case r.URL.Path == "/report.csv":
			w.Header().Set("Content-Disposition", `attachment; filename="report.csv"`)
			fmt.Fprint(w, "item,count\nlamp,1\n")
		case r.URL.Path == "/":
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, `<!doctype html><html lang=en><title>shop</title><link rel=icon href="data:,"><main><h1>Shop</h1><p id=out></p>
			<button id=shut>Closed</button><button id=echo>Echo</button><button id=away>Away</button><a id=report href=/report.csv>Report</a>
			<button id=loud>Loud</button><button id=go>Go</button></main><input id=nameless><script>
			const put = (text) => { out.textContent += text + ";" };
			const ask = (path, body) => fetch(path, { method: "POST", body: JSON.stringify(body) });
			shut.onclick = () => ask("/api/cart?x=1", {
			item: "lamp" }).then(async (r) => put(r.status + " " + r.headers.get("x-a") + " " + (await r.json()).error.why));
			echo.onclick = () => ask("/api/echo", { count: 2, tags: ["a", "b"] }).then(async (r) => put(r.status + " " + await r.text()));
			away.onclick = () => ask("/api/away", {}).then((r) => put(r.status), () => put("gone"));
			loud.onclick = () => { console.error("loud", 7); setTimeout(() => { throw new Error("uncaught") }, 0) };
			addEventListener("error", () => put("thrown"));
			go.onclick = () => history.pushState({}, "", "/there#now");
			</script>`)
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func networkTour() []step.Step {
	status := func(n int) *int { return &n }
	return []step.Step{
		do(step.Route, step.Args{URL: "**/api/cart*", Method: "POST", Times: ptr(1), Delay: ptr(20), Answer: &step.Answer{Status: 503,
			Headers: map[string]string{"X-A": "b"}, JSON: json.RawMessage(`{"error": {"why": "'closed' for {{user}}", "n": [1.5, true, null]}}`)}}),
		on(step.Click, "#shut"),
		do(step.WaitForRequest, step.Args{URL: "/api/cart?x=1", Method: "POST"}),
		do(step.WaitForResponse, step.Args{URL: "**/api/{cart,basket}*", Status: status(503)}),
		expect(css("#out"), step.TextIs, "", "503 b 'closed' for {{user}};"),
		traffic(false, step.RequestIs, step.MatcherArgs{URL: "**/api/cart*", Count: ptr(1),
			Body: &step.BodyCheck{Path: "$.item", Value: "lamp"}}),
		do(step.Route, step.Args{URL: "**/api/away", Abort: "failed"}),
		on(step.Click, "#away"), expect(css("#out"), step.TextIs, step.Contains, "gone;"),
		do(step.Unroute, step.Args{URL: "**/api/away"}),
		on(step.Click, "#away"), expect(css("#out"), step.TextIs, step.Contains, "404;"),
		do(step.Route, step.Args{URL: "**/api/away", Change: &step.Change{URLTo: "/api/echo", Status: 201, Body: ptr("changed")}}),
		on(step.Click, "#away"), expect(css("#out"), step.TextIs, step.Contains, "201;"),
		do(step.Unroute, step.Args{}),
		on(step.Click, "#echo"), do(step.WaitForResponse, step.Args{URL: "**/api/echo"}),
		traffic(false, step.ResponseIs, step.MatcherArgs{URL: "**/api/echo", Method: "POST", Status: status(200),
			Header: &step.HeaderCheck{Name: "X-Shop", Value: "Nor", Mode: step.Contains},
			Body:   &step.BodyCheck{Path: "$.list[*].name", Value: "2"}}),
		traffic(false, step.ResponseIs, step.MatcherArgs{URL: "**/api/echo", Body: &step.BodyCheck{Path: "$['got'].tags[1]",
			Value: "^b$", Mode: step.Matches}}),
		traffic(true, step.ResponseIs, step.MatcherArgs{URL: "**/api/echo", Status: status(500)}),
		traffic(false, step.RequestIs, step.MatcherArgs{URL: "**/api/**", Count: ptr(4), Mode: step.AtLeast}),
		on(step.Click, "#report"), do(step.WaitForDownload, step.Args{StateArgs: step.StateArgs{Name: "*.csv"}}),
		traffic(false, step.DownloadIs, step.MatcherArgs{Name: "report.csv", Size: ptr(int64(18)), Value: "lamp,1", Mode: step.Contains}),
		traffic(false, step.ConsoleIs, step.MatcherArgs{}),
		on(step.Click, "#loud"), expect(css("#out"), step.TextIs, step.Contains, "thrown;"), traffic(true, step.ConsoleIs, step.MatcherArgs{}),
		traffic(false, step.ConsoleIs, step.MatcherArgs{Ignore: []string{`^loud 7$`, `uncaught`}}),
		on(step.Click, "#go"), do(step.WaitForURL, step.Args{URL: "**/there#now"}),
		do(step.WaitForURL, step.Args{Matcher: &step.Matcher{Name: step.URLIs, Args: step.MatcherArgs{Value: "/there", Mode: step.Contains}}}),
		do(step.Assert, step.Args{Selector: css("main"), Matcher: &step.Matcher{Name: step.Accessible,
			Args: step.MatcherArgs{Impact: step.Critical}}}),
		do(step.Assert, step.Args{Matcher: &step.Matcher{Name: step.Accessible, Args: step.MatcherArgs{WithoutRules: []string{"label"}}}}),
	}
}

// TestNetworkRuns runs what Playwright alone has words for; each claim that does not hold fails.
func TestNetworkRuns(t *testing.T) {
	base := networkPage(t)
	require.NoError(t, step.Validate(networkTour()))
	right := script.Case{Name: "Network", TestURL: base, Steps: networkTour()}
	out, err := runNode(t, export(t, JavaScriptPlaywright, right))
	require.NoError(t, err, "%s", out)
	after := func(click string, s step.Step) []step.Step {
		return []step.Step{on(step.Click, click), limited(s, 500)}
	}
	files := []File{}
	for _, steps := range [][]step.Step{
		after("#echo", do(step.WaitForResponse, step.Args{URL: "**/api/echo", Status: ptr(500)})),
		after("h1", do(step.WaitForRequest, step.Args{URL: "**"})), // the page itself came before
		after("#report", do(step.WaitForDownload, step.Args{StateArgs: step.StateArgs{Name: "*.pdf"}})),
		after("#echo", traffic(false, step.RequestIs, step.MatcherArgs{URL: "**/api/echo", Body: &step.BodyCheck{Path: "$.count", Value: "3"}})),
		after("#echo", traffic(false, step.RequestIs, step.MatcherArgs{URL: "**/echo", Count: ptr(2)})),
		after("#echo", traffic(false, step.ResponseIs, step.MatcherArgs{URL: "**/echo",
			Header: &step.HeaderCheck{Name: "x-shop", Value: "South"}})),
		after("#report", traffic(false, step.DownloadIs, step.MatcherArgs{Size: ptr(int64(19))})),
		append(after("#loud", expect(css("#out"), step.TextIs, step.Contains, "thrown;")),
			limited(traffic(false, step.ConsoleIs, step.MatcherArgs{Ignore: []string{"loud"}}), 500)),
		after("#go", do(step.WaitForURL, step.Args{URL: "**/there"})),
		after("h1", do(step.Assert, step.Args{Matcher: &step.Matcher{Name: step.Accessible}})),
		append([]step.Step{do(step.Route, step.Args{URL: "**/echo", Abort: "failed"})},
			after("#echo", expect(css("#out"), step.TextIs, step.Contains, "200"))...),
	} {
		files = append(files, export(t, JavaScriptPlaywright, script.Case{Name: "wrong", TestURL: base, Steps: steps}))
	}
	for i, e := range runAllNode(t, files) {
		require.NotEmpty(t, e.Error, "%d: %s", i, files[i].Code)
		require.NotContains(t, e.Error, "TypeError")
		require.NotContains(t, e.Error, "ReferenceError")
	}
}

// Globs mean in exports what they mean in a run.
func TestGlobsOfExports(t *testing.T) {
	t.Parallel()
	globs := []string{"**/api/cart", "**/api/cart*", "/a/*/b", "https://x.example/{a,b}/**/c", `\*\{x\}?.(+)[1]$^|`,
		"**", "*.csv", "a,b**c", "***", `a\\b`}
	texts := []string{"http://h/api/cart", "http://h/api/cart?x=1", "https://h/a/x/b", "https://h/a/x/y/b",
		"https://x.example/b/c", "https://x.example/b/d/c",
		`*{x}?.(+)[1]$^|`, "report.csv", "a/b.csv", "a,b/c", `a\b`, ""}
	code := export(t, JavaScriptPlaywright, script.Case{Steps: []step.Step{do(step.WaitForURL, step.Args{URL: "**"})}}).Code
	_, code, _ = strings.Cut(code, "function glob(")
	code, _, _ = strings.Cut(code, "\n}\n")
	in, err := json.Marshal([]any{globs, texts})
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "glob.mjs")
	require.NoError(t, os.WriteFile(file, []byte("function glob("+code+"\n}\nconst [globs, texts] = "+string(in)+
		";\nconsole.log(JSON.stringify(globs.map((g) => texts.map((t) => glob(g).test(t)))));\n"), 0o600))
	out, err := exec.Command(program(t, "apt-get install nodejs", "node"), file).CombinedOutput()
	require.NoError(t, err, "%s", out)
	var got [][]bool
	require.NoError(t, json.Unmarshal(out, &got), "%s", out)
	for i, glob := range globs {
		parsed, err := step.ParseGlob(glob)
		require.NoError(t, err)
		for k, text := range texts {
			require.Equal(t, parsed.Match(text), got[i][k], "%s on %s", glob, text)
		}
	}
}
