package replay_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	store "github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/run/replay"
)

func on(s *step.Selector) step.Step { return do(step.Click, step.Args{Selector: s}) }

func that(s *step.Selector, matcher, value string) step.Step {
	return do(step.Assert, step.Args{Selector: s, Matcher: &step.Matcher{Name: matcher, Args: step.MatcherArgs{Value: value}}})
}

func role(value, name string) *step.Selector {
	return &step.Selector{Type: step.ByRole, Value: value, Name: name}
}

func by(kind, value string) *step.Selector { return &step.Selector{Type: kind, Value: value} }

func (s pick) in(scope *step.Selector) *step.Selector { s.Selector.Within = scope; return s.Selector }

type pick struct{ *step.Selector }

// Actions and assertions take every type.
func TestSelectorTypes(t *testing.T) {
	t.Parallel()
	body := `<p id=out></p><form><label>E-mail <input placeholder="you@example.org"></label>
		<table><tr><td>Ada<td><button type=button onclick="out.textContent='ada'">Edit</button></tr><tr><td>Grace<td>` +
		`<button type=button onclick="out.textContent='grace'">Edit</button></tr></table>
		<button type=button data-cy=save title="Save it" onclick="out.textContent='saved'">Save</button>` +
		`<button type=button onclick="out.textContent='all'">Save all</button>
		<img alt="The logo" width=20 height=20 onclick="out.textContent='logo'"><input type=checkbox aria-label=On checked>` +
		`<input type=checkbox aria-label=Off></form>`
	out := func(text string) step.Step { return is("#out", step.TextIs, text) }
	last := role("button", "sav")
	last.Index = new(int(-1))
	exact := role("button", "Save")
	exact.Exact = true
	checked := by(step.ByRole, "checkbox")
	checked.State = map[string]bool{"checked": false}
	button := by(step.CSS, "button")
	button.HasText = "save all"
	row := by(step.CSS, "tr")
	row.Has = by(step.ByText, "grace")
	text := "a@b"
	pass(t, body,
		on(pick{role("button", "Edit")}.in(&step.Selector{Type: step.ByRole, Value: "row", HasText: "grace"})), out("grace"),
		on(pick{by(step.CSS, "button")}.in(by(step.CSS, "tr:first-child"))), out("ada"),
		on(pick{by(step.ByText, "Edit")}.in(row)), out("grace"),
		on(exact), out("saved"), on(last), out("all"), on(by(step.AltText, "logo")), out("logo"), on(by(step.TestID, "save")), out("saved"),
		on(button), out("all"), on(by(step.Title, "save IT")), out("saved"), on(checked), that(by(step.ByLabel, "off"), step.Checked, ""),
		do(step.InputText, step.Args{Selector: by(step.ByLabel, "e-mail"), Text: &text}),
		that(by(step.Placeholder, "example"), step.ValueIs, "a@b"),
		that(by(step.ByRole, "row"), step.Count, "2"), that(last, step.Count, "1"), that(role("button", "Delete"), step.Hidden, ""),
		that(by(step.ByText, "ada"), step.TextIs, "Ada"))
	fails(t, body, store.CodeStepFailed, `role button "Delete" within css form was not found`,
		on(pick{role("button", "Delete")}.in(by(step.CSS, "form"))))
	fails(t, body, store.CodeStepFailed, `there is no role "buton"`, on(by(step.ByRole, "buton")))
	fails(t, body, store.CodeAssertionFailed, `text "Ada" within role row "Grace": expected to be visible; no such element`,
		that(pick{by(step.ByText, "Ada")}.in(role("row", "Grace")), step.Visible, ""))
	// The types reach into frames and shadow roots that a step names as well.
	pass(t, `<iframe id=f title=Inner srcdoc="<button onclick=&quot;this.textContent='done'&quot;>Go</button>"></iframe>
		<x-a><template shadowrootmode=open><button onclick="this.textContent='in'">Here</button><p>p</p></template></x-a>`,
		step.Step{Tool: step.Tool{Type: step.InFrame, Args: step.Args{Selector: by(step.Title, "inner"),
			Tool: &step.Tool{Type: step.Click, Args: step.Args{Selector: role("button", "go")}}}}},
		frame("#f", that(role("button", "done"), step.Visible, "")), shadow("x-a", on(by(step.ByText, "here"))),
		on(role("button", "in")), is("x-a p", step.TextIs, "p"))
}

// A selector that finds several elements waits until it finds one, and then fails with
// what it finds.
func TestSeveralMatches(t *testing.T) {
	t.Parallel()
	body := `<div class=row><button id=a>Save</button></div><div class=row><button id=b aria-label="Save it">x</button></div><div class=row>` +
		`<button class="c d" hidden>Save</button></div>`
	const which = `3 elements match, and the step does not say which: button#a "Save", button#b "Save it", button.c "Save"`
	fails(t, body, store.CodeStepFailed, "css .row button: "+which, click(".row button"))
	for _, s := range []step.Step{is(".row button", step.Visible), not(is(".row button", step.Visible)),
		is(".row button", step.Hidden), is(".row button", step.TextIs, "Save")} {
		fails(t, body, store.CodeStepFailed, "css .row button: "+which, within(200, s))
	}
	pass(t, body, is(".row button", step.Count, "3"),
		do(step.Click, step.Args{Selector: &step.Selector{Type: step.CSS, Value: ".row button", Index: new(int(0))}}))
	fails(t, body, store.CodeStepFailed, "css .row: 3 elements match", on(pick{by(step.CSS, "#a")}.in(by(step.CSS, ".row"))))
	fails(t, body, store.CodeStepFailed, "css .row: 3 elements match",
		within(200, that(pick{by(step.CSS, "button")}.in(by(step.CSS, ".row")), step.Count, "3")))
	fails(t, strings.Repeat("<p>x</p>", 7), store.CodeStepFailed,
		`css p: 7 elements match, and the step does not say which: p "x", p "x", p "x", p "x", p "x", ...`, click("p"))
	fails(t, `<i id=t style="display:inline-block;width:9px;height:9px"></i><b>1</b><b>2</b>`, store.CodeStepFailed,
		"css b: 2 elements match", do(step.Drag, step.Args{Selector: css("#t"), Target: css("b")}))
	fails(t, `<iframe srcdoc=x></iframe><iframe srcdoc=y></iframe>`, store.CodeStepFailed, "css iframe: 2 elements match",
		frame("iframe", click("p")))
	fails(t, `<iframe srcdoc=x></iframe><iframe srcdoc=y></iframe>`, store.CodeStepFailed, "css iframe: 2 elements match",
		within(200, frame("iframe", is("p", step.Visible))))
	host := `<x-a><template shadowrootmode=open><p>p</p></template></x-a>`
	fails(t, host+host, store.CodeStepFailed, "css x-a: 2 elements match", shadow("x-a", click("p")))
	// What is there for a moment only, such as the old page during a transition, is waited for.
	pass(t, `<p id=old>Old</p><p>New</p><script>setTimeout(() => old.remove(), 400)</script>`, click("p"), is("p", step.TextIs, "New"))
	pass(t, `<p id=old>Old</p><p>New</p><script>setTimeout(() => old.remove(), 400)</script>`, is("p", step.TextIs, "New"))
}

// Cases that allow it take the first match that can be used, and say so.
func TestFirstMatch(t *testing.T) {
	t.Parallel()
	body := `<p id=out></p><button class=b style="display:none">No</button><button class=b onclick="out.textContent='second'">Go</button>` +
		`<button class=b>Third</button>`
	base := site(t, map[string]string{"/": body, "/frames": `<iframe srcdoc="<p>one"></iframe><iframe srcdoc="<p>two"></iframe>`})
	r := play(t, replay.Config{TestURL: base, FirstMatch: true, Steps: []step.Step{click(".b"), is("#out", step.TextIs, "second"),
		is(".b", step.Hidden),
		on(pick{by(step.CSS, ".b")}.in(by(step.CSS, "body, html"))), is(".b", step.Count, "3")}})
	require.Equal(t, "PASSED", r.Status, r.Message)
	const note = "3 elements match; the first was used"
	require.Contains(t, r.Records[0].Result.Message, note)
	require.NotContains(t, r.Records[1].Result.Message, "match")
	require.Contains(t, r.Records[2].Result.Message, note)
	require.Contains(t, r.Records[3].Result.Message, note)
	require.NotContains(t, r.Records[4].Result.Message, "match")
	r = play(t, replay.Config{TestURL: base + "/frames", FirstMatch: true, Steps: []step.Step{frame("iframe", is("p", step.TextIs, "one"))}})
	require.Equal(t, "PASSED", r.Status, r.Message)
	r = play(t, replay.Config{TestURL: base, FirstMatch: true,
		Steps: []step.Step{within(300, on(&step.Selector{Type: step.CSS, Value: ".b", Index: new(int(0))}))}})
	require.Equal(t, store.CodeStepFailed, r.Code)
	require.Contains(t, r.Message, "css .b index 0 is not visible")
}

// The texts of candidates are the page's: a secret is in none of them.
func TestMatchesWithoutSecrets(t *testing.T) {
	t.Parallel()
	lookup := func(step.Reference) (string, bool, bool) { return "correct horse battery", true, true }
	text := "{{secret}}"
	r := play(t, replay.Config{TestURL: site(t,
		map[string]string{"/": `<input id=f><p>1</p><p>this is a long text that ends with correct horse battery</p>` +
			`<p id="correct horse battery">x</p>`}),
		Lookup: lookup, Steps: []step.Step{do(step.InputText, step.Args{Selector: css("#f"), Text: &text}), within(300, click("p"))}})
	require.Equal(t, store.CodeStepFailed, r.Code)
	require.Contains(t, r.Message, `3 elements match, and the step does not say which: p "1", p "this is a long text that ends with`)
	require.NotContains(t, r.Message, "horse")
}

// locate returns what finds just its element, and what lasts longest of that.
func TestLocate(t *testing.T) {
	t.Parallel()
	row := func(text string) *step.Selector {
		return &step.Selector{Type: step.ByRole, Value: "row", HasText: text}
	}
	for name, c := range map[string]struct {
		body string
		want *step.Selector // nil: only that it finds the element
	}{
		"test id": {`<button id=x data-testid=save>Save</button><button>Save</button>`, by(step.TestID, "save")},
		"test id twice": {`<button id=x data-testid=save>Save</button><button data-testid=save>Store</button>`,
			&step.Selector{Type: step.ByRole, Value: "button", Name: "Save", Exact: true}},
		"name": {`<button class=x>Save</button><button>Save all</button>`, &step.Selector{Type: step.ByRole,
			Value: "button", Name: "Save", Exact: true}},
		"label": {`<label>Mail <input type=password class=x></label><label>Mail <textarea></textarea></label>` +
			`<input type=password aria-label=Mail hidden>`, nil},
		"placeholder":    {`<input class=x placeholder=Name title=Who><input title=Who>`, by(step.Placeholder, "Name")},
		"id":             {`<div class=y><span class=x id=total>1</span></div><span id=other>1</span>`, by(step.CSS, "#total")},
		"name attribute": {`<input class=x name=mail><input name=other>`, by(step.CSS, `input[name="mail"]`)},
		"text":           {`<span class=x>In stock</span><span>In</span>`, by(step.ByText, "In stock")},
		"row": {`<table><tr><td>Ada<td><button>Edit</button></tr><tr><td>Grace<td><button class=x>Edit</button></tr></table>`,
			pick{&step.Selector{Type: step.ByRole, Value: "button", Name: "Edit", Exact: true}}.in(row("Grace"))},
		"dialog": {`<button>OK</button><div role=dialog aria-label=Sure><button class=x>OK</button></div>`,
			pick{&step.Selector{Type: step.ByRole, Value: "button", Name: "OK", Exact: true}}.in(&step.Selector{Type: step.ByRole,
				Value: "dialog", Name: "Sure", Exact: true})},
		"only in the row": {`<ul><li>One <input type=checkbox><li>Two <b>b</b><input class=x type=checkbox></ul>`, nil},
		"path":            {`<div><div><i></i></div></div><div><div><i class=x></i></div></div>`, nil},
		"shadow root": {`<x-a><template shadowrootmode=open><i></i><i class=x></i></template></x-a><x-a><template shadowrootmode=open>` +
			`<i></i></template></x-a>`, nil},
		"shadow root name": {`<x-a><template shadowrootmode=open><button class=x>Deep</button></template></x-a>`,
			&step.Selector{Type: step.ByRole, Value: "button", Name: "Deep", Exact: true}},
		"clobbered form": {`<form class=x><input name=id><input name=getAttribute><input name=parentNode><input name=querySelectorAll></form>`,
			nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/html")
				_, _ = w.Write([]byte("<!doctype html><body>" + c.body))
			}))
			t.Cleanup(server.Close)
			l := lease()
			defer func() { release(l, false) }()
			ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
			defer cancel()
			require.NoError(t, l.Session.Navigate(ctx, server.URL))
			var got struct {
				Selector *step.Selector `json:"selector"`
				Finds    bool           `json:"finds"`
			}
			require.NoError(t, replay.Probe(ctx, l.Session,
				`const el = queryAll("#x, .x", document, newLook(document, false))[0], selector = locate(el);
				const found = evaluate(selector, document, newLook(document, false), true); return { selector, finds: found.length === 1 && `+
					`found[0] === el }`, &got))
			require.NotNil(t, got.Selector)
			require.True(t, got.Finds, "%+v", got.Selector)
			if c.want != nil {
				got.Selector.Exact = c.want.Exact // those by text are exact as well
				require.Equal(t, c.want, got.Selector)
			}
		})
	}
}

// The name of a role is that of the elements which have it as a whole, and a part where
// there are none.
func TestRoleNamesMatchWholeFirst(t *testing.T) {
	t.Parallel()
	press := func(name string, index ...int) step.Step {
		s := &step.Selector{Type: step.ByRole, Value: "button", Name: name}
		if len(index) > 0 {
			s.Index = &index[0]
		}
		return do(step.Click, step.Args{Selector: s})
	}
	page := noted(`<button>Continue without saving</button><button> CONTINUE</button><button>Save draft</button><button>Save copy</button>`)
	out := func(want string) step.Step { return is("#out", step.TextIs, want) }
	pass(t, page, press("Continue"), out("CONTINUE"))
	pass(t, page, press("without"), out("Continue without saving"))
	pass(t, page, press("save", 1), out("Save copy"))
	fails(t, page, store.CodeStepFailed, "2 elements match", press("Save d"), press("save c"), press("copy"),
		press("continue w"), press("nue", 0), press("Save "))
}
