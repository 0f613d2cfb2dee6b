package export

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/api/authoring/export/script"
	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/storage/step"
)

// standIn is a site with a stand-in for the runner of Cypress (testdata/cypress) in front of
// pages, which Cypress would serve likewise: from one origin.
type standIn struct {
	URL   string
	specs map[string]string
}

func cypressModules(t *testing.T) string {
	t.Helper()
	return servicetest.NodeModulesOf(t, "cypress", "cypress", "typescript", "dom-accessibility-api")
}

const standInPage = `<!doctype html><title>runner</title><script type="importmap">{"imports": {"dom-accessibility-api": "/standin/names/index.mjs"}}</script>
<iframe style="width:1000px;height:660px;border:0"></iframe><script src="/standin/jquery.js"></script>
<script>window.variables = { TEST_USER: "eve", TEAM_PASSWORD: "s3cret $x", X: "x", O: "o", N: "1", BASE: "http://x.example" }</script>
<script type="module" src="/standin/standin.mjs"></script><script type="module" src="/standin/%s.spec.mjs"></script>`

func newStandIn(t *testing.T, pages string) *standIn {
	t.Helper()
	behind, err := url.Parse(pages)
	require.NoError(t, err)
	s := &standIn{specs: map[string]string{}}
	names := filepath.Join(cypressModules(t), "dom-accessibility-api", "dist")
	jquery := filepath.Join(servicetest.NodeModules(t, "jquery"), "jquery", "dist", "jquery.js")
	mux := http.NewServeMux()
	mux.Handle("/standin/names/", http.StripPrefix("/standin/names/", http.FileServer(http.Dir(names))))
	mux.HandleFunc("/standin/jquery.js", func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, jquery) })
	mux.HandleFunc("/standin/standin.mjs", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/javascript")
		http.ServeFile(w, r, filepath.Join("testdata", "cypress", "standin.mjs"))
	})
	mux.HandleFunc("/standin/{name}", func(w http.ResponseWriter, r *http.Request) {
		if name, ok := strings.CutSuffix(r.PathValue("name"), ".spec.mjs"); ok {
			w.Header().Set("Content-Type", "text/javascript; charset=utf-8")
			fmt.Fprint(w, s.specs[name])
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprintf(w, standInPage, strings.TrimSuffix(r.PathValue("name"), ".html"))
	})
	mux.Handle("/", httputil.NewSingleHostReverseProxy(behind))
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	s.URL = server.URL
	return s
}

// run plays exports one after the other.
func (s *standIn) run(t *testing.T, files []File) []ending {
	t.Helper()
	folder := t.TempDir()
	require.NoError(t, os.Symlink(servicetest.NodeModules(t, "playwright-core"), filepath.Join(folder, "node_modules")))
	runner, err := os.ReadFile(filepath.Join("testdata", "cypress", "run.mjs"))
	require.NoError(t, err)
	write(t, folder, "run.mjs", string(runner))
	arguments := []string{"run.mjs", s.URL}
	clear(s.specs)
	for i, f := range files {
		name := fmt.Sprintf("case%03d", i)
		s.specs[name] = f.Code
		arguments = append(arguments, name)
	}
	out, err := runFor(t, folder, widgetTimeout, []string{"PLAYWRIGHT_CHROMIUM_EXECUTABLE_PATH=" + chromium(t)}, "node", arguments...)
	require.NoError(t, err, "%s", out)
	return readEndings(t, folder)
}

// cypressTour is what Cypress has words for, on the pages of the shop.
func cypressTour(base string) script.Case {
	said := func(text string) step.Step { return expect(css("#said"), step.TextIs, "", text) }
	click := func(s *step.Selector) step.Step { return do(step.Click, step.Args{Selector: s}) }
	row := func(text string) *step.Selector { return hasText(role("row", ""), text) }
	return script.Case{ID: "64f0", Name: "Tour */", TestURL: base + "/login", Steps: []step.Step{
		do(step.SetStorage, step.Args{Key: "theme", StateArgs: step.StateArgs{Area: step.LocalStorage, Value: ptr("dark")}}),
		because(fillIn("input#email.field", "{{user}}@example.com"), "The first field that can be seen is the mail address."),
		fillIn("#password", "{{team:password}}"), fillIn("#birthday", "1999-12-31"),
		not(expect(css("#stay"), step.Checked, "", "")), on(step.Click, "#stay"), expect(css("#stay"), step.Checked, "", ""),
		expect(css("#stay"), step.Focused, "", ""), not(expect(css("#password"), step.Focused, "", "")),
		do(step.Select, step.Args{Selector: css("#country"), OptionValue: ptr("index=0")}), expect(css("#country"), step.ValueIs, "", ""),
		do(step.Select, step.Args{Selector: css("#country"), OptionValue: ptr("Norway")}), expect(css("#country"), step.ValueIs, "", "no"),
		expect(css("#email"), step.ValueIs, step.Matches, `(?i)^[A-Z]+@\w+\.com\z`),
		do(step.Assert, step.Args{Matcher: &step.Matcher{Name: step.StorageIs, Args: step.MatcherArgs{Area: step.LocalStorage,
			Key: "theme", Value: "dar", Mode: step.Contains}}}),
		expect(nth(css(".go"), 1), step.Enabled, "", ""), do(step.Click, step.Args{Selector: nth(css(".go"), -1)}),
		expect(css("h1"), step.TextIs, "", "Welcome, {{user}}@example.com"), expect(nil, step.URLIs, step.Contains, "/shop?"),
		not(expect(nil, step.URLIs, step.Matches, `/login$`)), expect(nil, step.TitleIs, "", "Shop of the north"),
		expect(css("#late .note"), step.Visible, "", ""), expect(css("#late .note"), step.TextIs, step.Matches, `^Order #\d+ \(ready\)$`),
		do(step.Save, step.Args{Selector: css("#late .note"), StateArgs: step.StateArgs{From: step.SavedText, Name: "order", Match: `#(\d+)`}}),

		do(step.GoToURL, step.Args{URL: "/team"}),
		click(role("button", "save")), said("Save"), click(role("button", "save DRAFT")), said("Save draft"),
		click(exact(role("button", "Save as"))), said("Save as"),
		click(within(role("button", "Remove"), row("Grace"))), said("Remove Grace"),
		click(within(by(step.ByText, "remove"), has(role("row", ""), by(step.AltText, "ada")))), said("Remove Ada"),
		expect(role("row", ""), step.Count, "", "4"), not(expect(role("row", ""), step.Count, step.AtLeast, "5")),
		expect(&step.Selector{Type: step.ByRole, Value: "heading", Level: 2}, step.TextIs, "", "Members"),
		do(step.InputText, step.Args{Selector: by(step.ByLabel, "mail address"), Text: ptr("ada{{saved:order}}@example.com")}),
		expect(by(step.Placeholder, "NAME@"), step.ValueIs, step.Matches, `^ada\d+@`),
		expect(by(step.Placeholder, "NAME@"), step.ValueIs, step.Contains, "{{saved:order}}"),
		expect(exact(by(step.Title, "Kept for  a year")), step.Visible, "", ""), click(by(step.TestID, `odd "id"`)), said("odd"),
		click(inState(role("checkbox", ""), "checked", false)), expect(inState(role("checkbox", ""), "checked", true), step.Count, "", "2"),
		expect(role("button", "Hidden twin"), step.Count, "", "0"), click(css("team-card .inner button")), said("card"),
		do(step.DoubleClick, step.Args{Selector: by(step.ByText, "Twice")}), said("twice"),
		do(step.RightClick, step.Args{Selector: exact(by(step.ByText, "Twice"))}), said("menu"),
		do(step.TypeKeys, step.Args{Selector: by(step.ByLabel, "Note"), Text: ptr(" and {more}")}),
		expect(css("#note"), step.ValueIs, "", "Old and {more}"),
		when(click(by(step.ByText, "Accept cookies")), by(step.ByText, "Accept cookies"), step.Visible, 0), said("accepted"),
		when(click(css("#never")), css("#never"), step.Visible, 100), optional(limited(click(css("#never")), 100)),
		do(step.SetViewport, step.Args{Width: ptr(700), Height: ptr(600)}), expect(css("#size"), step.TextIs, "", "700 x 600"),
		do(step.Reload, step.Args{}), said("nothing"),
	}}
}

// TestCypressRuns plays exports to Cypress in the stand-in, and wrong ones, which must fail.
func TestCypressRuns(t *testing.T) {
	pages := newStandIn(t, shop(t))
	state := newStandIn(t, statePage(t))
	c := cypressTour(pages.URL)
	require.NoError(t, step.Validate(c.Steps))
	rows := func(last string) []step.Step {
		return []step.Step{
			do(step.ForEach, step.Args{Selector: css("li"), StateArgs: step.StateArgs{Max: ptr(5), Tools: []step.Tool{
				{Type: step.Save, Args: step.Args{Selector: css("b"), StateArgs: step.StateArgs{From: step.SavedText, Name: "who"}}},
				{Type: step.Click, Args: step.Args{Selector: css("button")}}}}}),
			expect(css("#out"), step.TextIs, "", "Ada;Linus;"), limited(expect(css("#out"), step.TextIs, step.Contains, last), 500),
			do(step.Click, step.Args{Selector: css("#box"), Pointing: step.Pointing{Position: &step.Position{X: 20, Y: 30},
				Modifiers: []string{"Shift"}}}),
			expect(css("#out"), step.TextIs, "", "20,30,true,1"),
			do(step.UploadFile, step.Args{Selector: css("#many"), Files: []step.File{{Name: "a.txt", Content: []byte("a")},
				{Name: "b.txt", Content: []byte("b")}}}),
			expect(css("#out"), step.TextIs, "", "a.txt,b.txt"),
			do(step.SetCookie, step.Args{StateArgs: step.StateArgs{Name: "token", Value: ptr("t1")}}),
			do(step.Assert, step.Args{Matcher: &step.Matcher{Name: step.CookieIs, Args: step.MatcherArgs{Name: "token", Value: "t1"}}}),
			do(step.ClearState, step.Args{StateArgs: step.StateArgs{Cookies: true}}),
			do(step.Assert, step.Args{Not: true, Matcher: &step.Matcher{Name: step.CookieIs, Args: step.MatcherArgs{Name: "token"}}}),
		}
	}
	for i, e := range append(pages.run(t, []File{export(t, JavaScriptCypress, c)}),
		state.run(t, []File{export(t, JavaScriptCypress, script.Case{Name: "State", TestURL: state.URL,
			Steps: rows("{{saved:who}}")})})...) {
		require.Empty(t, e.Error, "%d", i)
	}
	for _, e := range state.run(t, []File{export(t, JavaScriptCypress, script.Case{Name: "State", TestURL: state.URL,
		Steps: rows("Ada;{{saved:who}};x")})}) {
		require.Contains(t, e.Error, `to include "Ada;Linus;x"`)
	}
	var wrong []File
	for _, s := range []step.Step{
		expect(css("h1"), step.TextIs, "", "Twelve"), not(expect(css("h1"), step.Visible, "", "")), expect(css("h1"), step.Hidden, "", ""),
		expect(css("#none"), step.Visible, "", ""), on(step.Click, "#none"), on(step.Click, "button"), expect(css("button"), step.Count, "", "1"),
		expect(css("h1"), step.TextIs, step.Matches, "^x$"), attribute(expect(css("h1"), step.AttributeIs, "", "x"), "id"),
		expect(nil, step.URLIs, "", "x"),
		expect(css("button"), step.TextIs, "", "Save"), // of several
		inside(step.InFrame, "h1", on(step.Click, "a")),
	} {
		wrong = append(wrong, export(t, JavaScriptCypress, script.Case{Name: "wrong", TestURL: pages.URL + "/team",
			Steps: []step.Step{limited(s, 400)}}))
	}
	for i, e := range pages.run(t, wrong) {
		require.NotEmpty(t, e.Error, "%s", wrong[i].Code)
		require.NotContains(t, e.Error, "is not defined")
		require.NotContains(t, e.Error, "stand-in")
	}
}

// TestCypressTypes lets the compiler of TypeScript read exports of every tool and selector with
// the types of Cypress.
func TestCypressTypes(t *testing.T) {
	modules := cypressModules(t)
	folder := t.TempDir()
	require.NoError(t, os.Symlink(modules, filepath.Join(folder, "node_modules")))
	cases := []script.Case{{}, cypressTour("https://shop.example")}
	for i, c := range located() {
		if i%5 < 2 { // the compiler takes long
			cases = append(cases, c)
		}
	}
	for _, tool := range step.Tools() {
		cases = append(cases, single(tool)...)
	}
	for _, s := range hostile {
		cases = append(cases, holding(s))
	}
	for _, s := range stateTour("https://shop.example") {
		if text, err := json.Marshal(s); err != nil || strings.Contains(string(text), "{{saved:") {
			continue // of a step that is not there
		}
		cases = append(cases, script.Case{Steps: []step.Step{on(step.Click, "a"), s}})
	}
	written := 0
	for _, c := range cases {
		f, _, err := Export(JavaScriptCypress, c)
		var invalid *step.InvalidError
		if errors.As(err, &invalid) {
			require.Contains(t, invalid.Msg, "has no words in JavaScript, Cypress")
			continue
		}
		require.NoError(t, err)
		written++
		write(t, folder, fmt.Sprintf("case%03d.cy.mjs", written), f.Code)
	}
	require.Greater(t, written, 100)
	write(t, folder, "commands.d.ts", `declare namespace Cypress {
  interface Chainable {
    element(locator: any, timeout?: number): Chainable<JQuery<HTMLElement>>;
    look(read: (document: any) => any, timeout?: number): Chainable<any>;
  }
}`)
	options, err := json.Marshal(map[string]any{"compilerOptions": map[string]any{"allowJs": true, "checkJs": true,
		"noEmit": true, "target": "es2022",
		"module": "esnext", "moduleResolution": "bundler", "types": []string{"cypress"}, "lib": []string{"es2023", "dom",
			"dom.iterable"}, "skipLibCheck": true,
		"strict": false, "noImplicitAny": false}, "include": []string{"*.mjs", "*.d.ts"}})
	require.NoError(t, err)
	write(t, folder, "tsconfig.json", string(options))
	out, _ := runFor(t, folder, 8*time.Minute, nil, "node", filepath.Join(modules, "typescript", "bin", "tsc"), "-p", ".")
	var others []string
	queries := 0
	for line := range strings.Lines(out) {
		if !strings.HasPrefix(line, "case") {
			continue // more of the one before
		}
		// Both stand in the manual of custom queries; the types lack them.
		if strings.Contains(line, `Argument of type '"timeout"' is not assignable`) ||
			strings.Contains(line, "error TS2349: This expression is not callable.") {
			queries++
			continue
		}
		others = append(others, line)
	}
	require.Empty(t, others)
	require.Greater(t, queries, written/2, "the compiler has read the exports: %s", shortened(out))
}

// What Cypress has no words for is refused with its path.
func TestCypressUnwritable(t *testing.T) {
	t.Parallel()
	for path, s := range map[string]step.Step{
		"steps[1].tool.type":                        on(step.Hover, "a"),
		"steps[1].tool.args.key":                    do(step.PressKey, step.Args{Key: "F5"}),
		"steps[1].tool.args.matcher.name":           traffic(false, step.ConsoleIs, step.MatcherArgs{}),
		"steps[1].tool.args.selector":               do(step.UploadFile, step.Args{File: &step.File{Name: "a"}}),
		"steps[1].tool.args.all":                    do(step.ClearState, step.Args{StateArgs: step.StateArgs{All: true}}),
		"steps[1].tool.args.tool.args.matcher.name": inside(step.InFrame, "f", expect(css("a"), step.Focused, "", "")),
		"steps[1].optional":                         optional(do(step.Reload, step.Args{})),
	} {
		_, ok, err := Export(JavaScriptCypress, script.Case{TestURL: "https://shop.example", Steps: []step.Step{on(step.Click, "a"), s}})
		require.True(t, ok)
		var wrong *step.InvalidError
		require.True(t, errors.As(err, &wrong), path)
		require.Equal(t, path, wrong.Path)
		require.Contains(t, wrong.Msg, "has no words in JavaScript, Cypress")
	}
}

func TestCypressGolden(t *testing.T) {
	t.Parallel()
	f := export(t, JavaScriptCypress, cypressTour("https://shop.example"))
	file := filepath.Join("testdata", JavaScriptCypress+".golden")
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(f.Code), 0o600))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), f.Code, "write it anew with -update")
}
