package export

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/api/authoring/export/script"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/capability"
)

// shop serves the pages of testdata/shop: a log-in whose button is usable late,
// and a shop with dialogs, a frame, a shadow root and a further window.
func shop(t *testing.T) string {
	t.Helper()
	mux := http.NewServeMux()
	for _, page := range []string{"login", "shop", "pay", "help", "team"} {
		content, err := os.ReadFile(filepath.Join("testdata", "shop", page+".html"))
		require.NoError(t, err)
		mux.HandleFunc("/"+page, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			_, _ = w.Write(content)
		})
	}
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL
}

func ptr[T any](v T) *T { return &v }

func css(value string) *step.Selector { return &step.Selector{Type: step.CSS, Value: value} }
func nth(s *step.Selector, index int) *step.Selector {
	s.Index = &index
	return s
}

func do(tool string, args step.Args) step.Step {
	return step.Step{Tool: step.Tool{Type: tool, Args: args}}
}

func on(tool, selector string) step.Step { return do(tool, step.Args{Selector: css(selector)}) }

func fillIn(selector, text string) step.Step {
	return do(step.InputText, step.Args{Selector: css(selector), Text: &text})
}

func inside(tool, selector string, inner step.Step) step.Step {
	return do(tool, step.Args{Selector: css(selector), Tool: &inner.Tool})
}

func expect(s *step.Selector, name, mode, value string) step.Step {
	return do(step.Assert, step.Args{Selector: s, Matcher: &step.Matcher{Name: name, Args: step.MatcherArgs{Value: value, Mode: mode}}})
}

func not(s step.Step) step.Step {
	s.Tool.Args.Not = true
	return s
}

func optional(s step.Step) step.Step {
	s.Optional = true
	return s
}

func limited(s step.Step, ms int) step.Step {
	s.TimeoutMS = ms
	return s
}

func because(s step.Step, reasoning string) step.Step {
	s.Tool.Args.Reasoning = reasoning
	return s
}

func attribute(s step.Step, name string) step.Step {
	s.Tool.Args.Matcher.Args.Name = name
	return s
}

func window(name, value string) step.Step {
	return do(step.SwitchWindow, step.Args{Matcher: &step.Matcher{Name: name, Args: step.MatcherArgs{Value: value}}})
}

func dialog(action string, text *string) step.Step {
	return do(step.HandleDialog, step.Args{Action: action, Text: text})
}

// tour is a case with every tool, every matcher and every way to say where an
// element is; it passes on the shop.
func tour(base string) script.Case {
	steps := []step.Step{
		because(fillIn("input#email.field", "{{user}}@example.com"), "The first field that can be seen is the mail address."),
		fillIn("#password", "{{team:password}}"),
		fillIn("#birthday", "1999-12-31"),
		not(expect(css("#stay"), step.Checked, "", "")),
		on(step.Click, "#stay"),
		expect(css("#stay"), step.Checked, "", ""),
		expect(css("#stay"), step.Focused, "", ""),
		not(expect(css("#password"), step.Focused, "", "")),
		do(step.Select, step.Args{Selector: css("#country"), OptionValue: ptr("no")}),
		expect(css("#country"), step.ValueIs, "", "no"),
		do(step.Select, step.Args{Selector: css("#country"), OptionValue: ptr("index=0")}),
		expect(css("#country"), step.ValueIs, "", ""),
		do(step.Select, step.Args{Selector: css("#country"), OptionValue: ptr("Norway")}),
		expect(css("#email"), step.ValueIs, step.Matches, `(?i)^[A-Z]+@\w+\.com\z`),
		expect(nth(css(".go"), 1), step.Enabled, "", ""),
		do(step.Click, step.Args{Selector: nth(css(".go"), -1)}),

		expect(css("h1"), step.TextIs, "", "Welcome, {{user}}@example.com"),
		expect(css("#got"), step.TextIs, step.Contains, "1999-12-31 / no"),
		not(expect(css("#got"), step.TextIs, step.Contains, "2000")),
		expect(nil, step.URLIs, step.Contains, "/shop?"),
		not(expect(nil, step.URLIs, step.Matches, `/login$`)),
		expect(nil, step.TitleIs, "", "Shop of the north"),
		not(expect(nil, step.TitleIs, "", "Log in")),
		expect(css("#late .note"), step.Visible, "", ""),
		expect(css("#late .note"), step.TextIs, step.Matches, `^Order #\d+ \(ready\)$`),
		expect(css("#gone"), step.Hidden, "", ""),
		not(expect(css("#tip"), step.Visible, "", "")),
		not(expect(css("#who"), step.Hidden, "", "")),
		expect(css("#items li"), step.Count, "", "3"),
		expect(css("#items li"), step.Count, step.AtLeast, "2"),
		expect(css("#items li"), step.Count, step.AtMost, "3"),
		not(expect(css("#items li"), step.Count, step.AtLeast, "4")),
		not(expect(css("#items li"), step.Count, "", "0")),
		expect(nth(css("#items li"), 1), step.TextIs, "", "Stove"),
		expect(&step.Selector{Type: step.XPath, Value: "//ul/li[last()]"}, step.TextIs, "", "Lamp"),
		not(expect(css("#locked"), step.Enabled, "", "")),
		attribute(expect(css("#delete"), step.AttributeIs, "", "danger"), "data-kind"),
		attribute(not(expect(css("#delete"), step.AttributeIs, step.Contains, "safe")), "data-kind"),
		attribute(not(expect(css("#delete"), step.AttributeIs, step.Matches, "^x")), "data-none"),

		on(step.Click, "#delete"),
		dialog("accept", nil),
		dialog("accept", nil),
		on(step.Click, "#delete"),
		do(step.Pause, step.Args{Time: ptr(50)}),
		dialog("dismiss", nil),
		expect(css("#answer"), step.TextIs, "", "kept"),
		on(step.Click, "#rename"),
		dialog("accept", ptr("it's \"new\" ${name} \\")),
		expect(css("#answer"), step.TextIs, "", `named it's "new" ${name} \`),

		on(step.Click, "#search"),
		limited(optional(dialog("accept", nil)), 100),

		on(step.Hover, "#menu"),
		expect(css("#tip"), step.Visible, "", ""),
		do(step.Drag, step.Args{Selector: css("#from"), Target: css("#to")}),
		expect(css("#dropped"), step.TextIs, "", "dropped"),
		do(step.UploadFile, step.Args{Selector: css("#file"), File: &step.File{Name: "note é.txt", Content: []byte("hello")}}),
		expect(css("#uploaded"), step.TextIs, "", "note é.txt: hello"),
		fillIn("#search", "tent 🎪"),
		do(step.EnterKeySubmit, step.Args{}),
		expect(css("#searched"), step.TextIs, "", "searched tent 🎪"),
		do(step.PressKey, step.Args{Selector: css("#search"), Key: "Control+a"}),
		do(step.PressKey, step.Args{Key: "x"}),
		expect(css("#search"), step.ValueIs, "", "x"),
		do(step.PressKey, step.Args{Selector: css("#search"), Key: "Escape"}),
		expect(css("#search"), step.ValueIs, "", ""),
		do(step.PressKey, step.Args{Key: "Shift+Tab"}),

		do(step.ScrollElement, step.Args{Selector: css("#list"), Direction: "down"}),
		expect(css("#scrolled"), step.TextIs, "", "at 48"),
		do(step.ScrollDocument, step.Args{Direction: "bottom"}),
		do(step.ScrollDocument, step.Args{Direction: "up"}),

		inside(step.InFrame, "#pay", fillIn("#card", "4242")),
		inside(step.InFrame, "#pay", on(step.Click, "#confirm")),
		dialog("accept", nil),
		inside(step.InFrame, "#pay", expect(css("#paid"), step.TextIs, "", "paid with 4242")),
		inside(step.InShadowRoot, "shop-card", on(step.Click, "button")),
		inside(step.InShadowRoot, "shop-card", expect(css("p"), step.TextIs, "", "1 in the cart")),

		on(step.Click, "#help"),
		window(step.WindowNew, ""),
		expect(css("h1"), step.TextIs, "", "How may we help?"),
		window(step.WindowIndex, "0"),
		window(step.WindowTitle, "Help"),
		window(step.WindowURL, "/shop"),
		optional(limited(on(step.Click, "#cookies"), 200)),
		limited(expect(css("#who"), step.Visible, "", ""), 3000),
	}
	steps = append(steps, teamTour()...)
	steps = append(steps,
		do(step.GoToURL, step.Args{URL: "/help"}),
		expect(nil, step.TitleIs, "", "Help"),
		do(step.Back, step.Args{}),
		expect(nil, step.TitleIs, "", "Team"),
		do(step.Forward, step.Args{}),
		expect(nil, step.TitleIs, "", "Help"),
		do(step.Finish, step.Args{}),
		on(step.Click, "#behind-the-end"),
	)
	return script.Case{ID: "64f0c0ffee64f0c0ffee0001", Name: "Tour of the shop: log in, buy & leave", TestURL: base + "/login",
		Steps:        steps,
		Capabilities: capability.Capabilities{"browserName": "chrome", "browserVersion": "latest", "platformName": "Linux"}}
}

func by(kind, value string) *step.Selector { return &step.Selector{Type: kind, Value: value} }

func role(value, name string) *step.Selector {
	return &step.Selector{Type: step.ByRole, Value: value, Name: name}
}

func within(s, around *step.Selector) *step.Selector {
	s.Within = around
	return s
}

func has(s, inner *step.Selector) *step.Selector {
	s.Has = inner
	return s
}

func hasText(s *step.Selector, text string) *step.Selector {
	s.HasText = text
	return s
}

func exact(s *step.Selector) *step.Selector {
	s.Exact = true
	return s
}

func inState(s *step.Selector, name string, is bool) *step.Selector {
	s.State = map[string]bool{name: is}
	return s
}

func when(s step.Step, selector *step.Selector, matcher string, timeoutMS int) step.Step {
	s.When = &step.Condition{Selector: selector, Matcher: &step.Matcher{Name: matcher}, TimeoutMS: timeoutMS}
	return s
}

// teamTour has every type of selector, and the tools that came with them.
func teamTour() []step.Step {
	click := func(s *step.Selector) step.Step { return do(step.Click, step.Args{Selector: s}) }
	said := func(text string) step.Step { return expect(css("#said"), step.TextIs, "", text) }
	row := func(text string) *step.Selector { return hasText(role("row", ""), text) }
	return []step.Step{
		do(step.GoToURL, step.Args{URL: "/team"}),
		click(role("button", "save")), // not one of those that have it as a part
		said("Save"),
		expect(role("button", "save"), step.Count, "", "1"),
		expect(role("button", "save d"), step.Count, "", "1"),
		limited(expect(role("button", "nobody"), step.Count, "", "0"), 1500),
		click(role("button", "save DRAFT")),
		said("Save draft"),
		click(exact(role("button", "Save as"))),
		said("Save as"),
		click(within(role("button", "Remove"), row("Grace"))),
		said("Remove Grace"),
		click(within(by(step.ByText, "remove"), has(role("row", ""), by(step.AltText, "ada")))),
		said("Remove Ada"),
		click(nth(role("button", "Remove"), -1)),
		said("Remove Linus"),
		expect(role("row", ""), step.Count, "", "4"),
		expect(&step.Selector{Type: step.ByRole, Value: "heading", Level: 2}, step.TextIs, "", "Members"),
		do(step.InputText, step.Args{Selector: by(step.ByLabel, "mail address"), Text: ptr("ada@example.com")}),
		expect(by(step.Placeholder, "NAME@"), step.ValueIs, "", "ada@example.com"),
		expect(exact(by(step.Title, "Kept for  a year")), step.Visible, "", ""),
		click(by(step.TestID, `odd "id"`)),
		said("odd"),
		click(inState(role("checkbox", ""), "checked", false)),
		expect(inState(role("checkbox", ""), "checked", true), step.Count, "", "2"),
		expect(inState(role("button", ""), "expanded", true), step.TextIs, "", "More"),
		expect(inState(role("button", "Locked"), "disabled", true), step.Visible, "", ""),
		expect(role("button", "Hidden twin"), step.Count, "", "0"),
		click(css("team-card .inner button")),
		said("card"),
		click(within(css("button.extra"), css("team-card"))),
		said("slotted"),
		do(step.DoubleClick, step.Args{Selector: by(step.ByText, "Twice")}),
		said("twice"),
		do(step.RightClick, step.Args{Selector: exact(by(step.ByText, "Twice"))}),
		said("menu"),
		do(step.TypeKeys, step.Args{Selector: by(step.ByLabel, "Note"), Text: ptr(" and more")}),
		expect(css("#note"), step.ValueIs, "", "Old and more"),
		do(step.TypeKeys, step.Args{Text: ptr("!")}),
		expect(css("#note"), step.ValueIs, "", "Old and more!"),
		fillIn("#masked", "12345678"),
		expect(css("#masked"), step.ValueIs, "", "1234-5678"),
		do(step.ScrollElement, step.Args{Selector: css("#virtual"), Direction: "down"}),
		expect(css("#virtual"), step.TextIs, step.Contains, "turned"),
		do(step.Drag, step.Args{Selector: css("#handle"), Target: css("#goal")}),
		said("moved and dropped"),
		when(click(by(step.ByText, "Accept cookies")), by(step.ByText, "Accept cookies"), step.Visible, 0),
		said("accepted"),
		when(click(css("#never")), css("#never"), step.Visible, 100),
		when(inside(step.InFrame, "#never", on(step.Click, "x")), css("x"), step.Visible, 100),
		do(step.SetViewport, step.Args{Width: ptr(700), Height: ptr(600)}),
		expect(css("#size"), step.TextIs, "", "700 x 600"),
		do(step.Reload, step.Args{}),
		said("nothing"),
	}
}
