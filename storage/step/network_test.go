package step_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/storage/step"
)

func TestNetworkSteps(t *testing.T) {
	t.Parallel()
	for text, wrong := range map[string]string{
		`{"type":"route","args":{"url":"**/api/cart","answer":{"status":200,"json":{"total":3}}}}`:        "",
		`{"type":"route","args":{"url":"/api/**","method":"POST","abort":"connectionrefused","times":2}}`: "",
		`{"type":"route","args":{"url":"**","delay":60000}}`:                                              "",
		`{"type":"route","args":{"url":"**","delay":10,"change":{"headers":{"X-A":""},"status":500}}}`:    "",
		`{"type":"route","args":{"url":"**","change":{"urlTo":"{{mock}}/a"}}}`:                            "",
		`{"type":"unroute","args":{}}`:                                                                                   "",
		`{"type":"wait_for_request","args":{"url":"**/api/*","method":"PUT"}}`:                                           "",
		`{"type":"wait_for_response","args":{"url":"**/api/{a,b}","status":404}}`:                                        "",
		`{"type":"wait_for_url","args":{"url":"**/done"}}`:                                                               "",
		`{"type":"wait_for_url","args":{"matcher":{"name":"url","args":{"value":"done","mode":"contains"}}}}`:            "",
		`{"type":"wait_for_download","args":{"name":"*.csv"}}`:                                                           "",
		`{"type":"assert","args":{"matcher":{"name":"request","args":{"url":"**","count":2,"mode":"at_least"}}}}`:        "",
		`{"type":"assert","args":{"matcher":{"name":"request","args":{"url":"**","body":{"path":"$.a[0]","value":3}}}}}`: "",
		`{"type":"assert","args":{"matcher":{"name":"response","args":{"url":"**","header":{"name":"a","value":"b"}}}}}`: "",
		`{"type":"assert","args":{"matcher":{"name":"download","args":{"name":"a.csv","size":9,"value":"a"}}}}`:          "",
		`{"type":"assert","args":{"matcher":{"name":"console","args":{"ignore":["^x"]}}}}`:                               "",
		`{"type":"route","args":{"answer":{}}}`:                                                                          "[0].tool.args.url",
		`{"type":"route","args":{"url":"**"}}`:                                                                           "[0].tool.args",
		`{"type":"route","args":{"url":"**","answer":{},"abort":"failed"}}`:                                              "[0].tool.args",
		`{"type":"route","args":{"url":"a{b","answer":{}}}`:                                                              "[0].tool.args.url",
		`{"type":"route","args":{"url":"**",` +
			`"abort":"tired"}}`: "[0].tool.args.abort",
		`{"type":"route","args":{"url":"**",` +
			`"delay":60001}}`: "[0].tool.args.delay",
		`{"type":"route","args":{"url":"**","times":0,` +
			`"abort":"failed"}}`: "[0].tool.args.times",
		`{"type":"route","args":{"url":"**","method":"post",` +
			`"abort":"failed"}}`: "[0].tool.args.method",
		`{"type":"route","args":{"url":"**",` +
			`"answer":{"status":99}}}`: "[0].tool.args.answer.status",
		`{"type":"route","args":{"url":"**","answer":{"body":"a",` +
			`"json":1}}}`: "[0].tool.args.answer.json",
		`{"type":"route","args":{"url":"**",` +
			`"answer":{"headers":{"a b":"c"}}}}`: "[0].tool.args.answer.headers",
		`{"type":"route","args":{"url":"**",` +
			`"answer":{"headers":{"a":"b\nc"}}}}`: "[0].tool.args.answer.headers.a",
		`{"type":"route","args":{"url":"**",` +
			`"change":{}}}`: "[0].tool.args.change",
		`{"type":"route","args":{"url":"**","abort":"failed",` +
			`"name":"x"}}`: "[0].tool.args.name",
		`{"type":"click","args":{"selector":"a",` +
			`"delay":3}}`: "[0].tool.args.delay",
		`{"type":"wait_for_url","args":{}}`: "[0].tool.args.url",
		`{"type":"wait_for_url","args":{"matcher":{"name":"title",` +
			`"args":{"value":"a"}}}}`: "[0].tool.args.matcher.name",
		`{"type":"wait_for_response","args":{"url":"**",` +
			`"status":9}}`: "[0].tool.args.status",
		`{"type":"wait_for_download",` +
			`"args":{"name":"a{"}}`: "[0].tool.args.name",
		`{"type":"in_frame","args":{"selector":"f","tool":{"type":"wait_for_request",` +
			`"args":{"url":"**"}}}}`: "[0].tool.args.tool.type",
		`{"type":"assert","args":{"matcher":{"name":"request",` +
			`"args":{}}}}`: "[0].tool.args.matcher.args.url",
		`{"type":"assert","args":{"selector":"a","matcher":{"name":"request",` +
			`"args":{"url":"**"}}}}`: "[0].tool.args.selector",
		`{"type":"assert","args":{"matcher":{"name":"request","args":{"url":"**",` +
			`"mode":"at_least"}}}}`: "[0].tool.args.matcher.args.count",
		`{"type":"assert","args":{"matcher":{"name":"request","args":{"url":"**","count":1,` +
			`"mode":"contains"}}}}`: "[0].tool.args.matcher.args.mode",
		`{"type":"assert","args":{"matcher":{"name":"request","args":{"url":"**",` +
			`"status":200}}}}`: "[0].tool.args.matcher.args.status",
		`{"type":"assert","args":{"matcher":{"name":"response","args":{"url":"**","body":{"path":"a",` +
			`"value":1}}}}}`: "[0].tool.args.matcher.args.body.path",
		`{"type":"assert","args":{"matcher":{"name":"response","args":{"url":"**","body":{"value":"(",` +
			`"mode":"matches"}}}}}`: "[0].tool.args.matcher.args.body.value",
		`{"type":"assert","args":{"matcher":{"name":"response","args":{"url":"**","header":{"name":"a b",` +
			`"value":""}}}}}`: "[0].tool.args.matcher.args.header.name",
		`{"type":"assert","args":{"matcher":{"name":"download","args":{"size":-1}}}}`:           "[0].tool.args.matcher.args.size",
		`{"type":"assert","args":{"matcher":{"name":"console","args":{"ignore":["("]}}}}`:       "[0].tool.args.matcher.args.ignore",
		`{"type":"assert","args":{"matcher":{"name":"title","args":{"value":"a","url":"**"}}}}`: "[0].tool.args.matcher.args.url",
		`{"type":"switch_window","args":{"matcher":{"name":"new","args":{"status":200}}}}`:      "[0].tool.args.matcher.args.status",
	} {
		var steps []step.Step
		require.NoError(t, json.Unmarshal([]byte(`[{"tool":`+text+`}]`), &steps), text)
		err := step.Validate(steps)
		if wrong == "" {
			require.NoError(t, err, text)
			back, err := json.Marshal(steps)
			require.NoError(t, err)
			var again []step.Step
			require.NoError(t, json.Unmarshal(back, &again))
			require.Equal(t, steps, again, "nothing is lost")
			continue
		}
		var invalid *step.InvalidError
		require.ErrorAs(t, err, &invalid, text)
		require.Equal(t, wrong, invalid.Path, text)
	}
	steps := []step.Step{{Tool: step.Tool{Type: step.Click, Args: step.Args{Selector: &step.Selector{Type: step.CSS, Value: "a"}}},
		When: &step.Condition{Matcher: &step.Matcher{Name: step.ConsoleIs}}}}
	require.ErrorContains(t, step.Validate(steps), "[0].when.matcher.name")
}

func TestVariablesOfNetworkSteps(t *testing.T) {
	t.Parallel()
	var tool step.Tool
	require.NoError(t,
		json.Unmarshal([]byte(`{"type":"route","args":{"url":"{{host}}/a","answer":{"headers":{"A":"{{host}}"},"json":{"n":1.50,`+
			`"of":["{{quoted}}"]}}}}`), &tool))
	list := step.References([]step.Step{{Tool: tool}})
	require.Len(t, list, 2)
	expanded, err := step.ExpandTool(tool, func(r step.Reference) (string, bool) {
		return map[string]string{"host": "http://a", "quoted": `say "hi"`}[r.Name], true
	})
	require.NoError(t, err)
	require.Equal(t, "http://a/a", expanded.Args.URL)
	require.Equal(t, map[string]string{"A": "http://a"}, expanded.Args.Answer.Headers)
	require.JSONEq(t, `{"n":1.50,"of":["say \"hi\""]}`, string(expanded.Args.Answer.JSON))
	require.Contains(t, string(tool.Args.Answer.JSON), "{{quoted}}", "the stored step is as it was")
}

func TestNetworkStepsMove(t *testing.T) {
	t.Parallel()
	move := step.NewMove("http://old.example/", "https://new.example:8443/")
	routed := move.Tool(step.Tool{Type: step.Route, Args: step.Args{URL: "http://old.example/api/**"}})
	require.Equal(t, "https://new.example:8443/api/**", routed.Args.URL)
	asserted := move.Tool(step.Tool{Type: step.Assert, Args: step.Args{Matcher: &step.Matcher{Name: step.RequestIs,
		Args: step.MatcherArgs{URL: "http://old.example/a"}}}})
	require.Equal(t, "https://new.example:8443/a", asserted.Args.Matcher.Args.URL)
}

// Playwright's own translation of globs, out of its bundle.
func TestGlobsAreThoseOfPlaywright(t *testing.T) {
	t.Parallel()
	modules := servicetest.NodeModules(t, "playwright-core")
	bundle, err := os.ReadFile(filepath.Join(modules, "playwright-core", "lib", "coreBundle.js"))
	require.NoError(t, err)
	function := regexp.MustCompile(`(?s)\nfunction globToRegexPattern\(glob\) \{.*?\n\}\n`).Find(bundle)
	escaped := regexp.MustCompile(`escapedChars = .*;`).Find(bundle)
	require.NotEmpty(t, function)
	require.NotEmpty(t, escaped)
	globs := []string{"**/api/cart", "**/api/*", "http://a/**", "**", "*", "*.js", "**/*.{png,jpg}", "http://a/b?c=d",
		`http://a/\*`, `http://a/\{b\}`,
		"http://a/[b]", "**/a**b", "a/**/b", "{a,b}/**", "http://a.b/(c)+$^|", "***/x", "a,b", "ü/*", `a\`, "{", "}", "{a{b}}", "**/x/**/y"}
	addresses := []string{"http://a/api/cart", "http://a/api/cart?x=1", "/api/cart", "api/cart", "http://a/b?c=d",
		"http://a/bxc=d", "http://a/*", "http://a/{b}",
		"http://a/[b]", "http://a/b", "x.js", "http://a/x.js", "http://a/x.png", "http://a/x.gif", "axb", "a/x/y/b",
		"a/b", "http://a.b/(c)+$^|", "a,b", "ü/x",
		`a\`, "", "http://a/x/y", "http://a/x/1/y", "b/1"}
	input, err := json.Marshal(map[string][]string{"globs": globs, "addresses": addresses})
	require.NoError(t, err)
	script := "let " + string(escaped) + string(function) + `
const {globs, addresses} = ` + string(input) + `;
console.log(JSON.stringify(globs.map((glob) => { try { const re = new RegExp(globToRegexPattern(glob)); return addresses.map((a) => ` +
		`re.test(a)); } catch { return null; } })));`
	out, err := exec.Command("node", "-e", script).Output()
	require.NoError(t, err)
	var want [][]bool
	require.NoError(t, json.Unmarshal(out, &want))
	for i, text := range globs {
		glob, err := step.ParseGlob(text)
		if want[i] == nil {
			require.Error(t, err, text)
			continue
		}
		require.NoError(t, err, text)
		for j, address := range addresses {
			require.Equal(t, want[i][j], glob.Match(address), "%s on %s", text, address)
		}
	}
	anyHost, err := step.ParseGlob("/api/*")
	require.NoError(t, err)
	require.True(t, anyHost.Match("https://b:1/api/x"))
	require.False(t, anyHost.Match("https://b:1/v2/api/x"))
}

func FuzzGlob(f *testing.F) {
	for _, seed := range []string{"**/a", "{a,b}", `\*`, "a{", "*****/", "\xff"} {
		f.Add(seed, "http://a/a")
	}
	f.Fuzz(func(t *testing.T, glob, address string) {
		parsed, err := step.ParseGlob(glob)
		if err == nil {
			parsed.Match(address)
		}
	})
}

// The name is that of a file, of a cookie or of what is saved: each is replaced once.
func TestNamesAreReplacedOnce(t *testing.T) {
	t.Parallel()
	lookup := func(step.Reference) (string, bool) { return "{{again}}", true }
	for tool, want := range map[string]string{step.WaitForDownload: "{{again}}", step.SetCookie: "{{again}}", step.Save: "{{n}}"} {
		changed, err := step.ExpandTool(step.Tool{Type: tool, Args: step.Args{StateArgs: step.StateArgs{Name: "{{n}}"}}}, lookup)
		require.NoError(t, err)
		require.Equal(t, want, changed.Args.Name, tool)
	}
}
