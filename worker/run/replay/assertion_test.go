package replay_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	store "github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/run/replay"
)

const assertPage = `<h1 id=t>  Hello
  <b>World</b> </h1><p id=h style="display:none">gone</p><ul><li>1<li>2<li>3</ul>
<input id=f value="some value" data-kind=big><input id=c type=checkbox checked><input id=u type=checkbox>
<div id=aria role=checkbox aria-checked=true>x</div><button id=d disabled>D</button>
<input id=pw type=password value="top secret"><div id=up style="text-transform:uppercase">loud</div>`

func TestAssertHolds(t *testing.T) {
	t.Parallel()
	pass(t, assertPage,
		is("#t", step.Visible), is("#h", step.Hidden), is("#absent", step.Hidden), not(is("#absent", step.Visible)),
		not(is("#h", step.Visible)), not(is("#t", step.Hidden)),
		is("#t", step.TextIs, "Hello World"), is("#t", step.TextIs, "lo  Wor", step.Contains), is("#t", step.TextIs, "^Hel+o", step.Matches),
		not(is("#t", step.TextIs, "Hello")), is("#up", step.TextIs, "LOUD"),
		is("#f", step.ValueIs, "some value"), is("#f", step.ValueIs, "value", step.Contains), is("#pw", step.ValueIs, "top secret"),
		is("li", step.Count, "3"), is("li", step.Count, "2", step.AtLeast), is("li", step.Count, "3", step.AtMost),
		is("#absent", step.Count, "0"), not(is("li", step.Count, "4")), not(is("li", step.Count, "4", step.AtLeast)),
		is("", step.URLIs, "http://127", step.Contains), not(is("", step.URLIs, "https", step.Contains)), is("", step.TitleIs, ""),
		is("#f", step.Enabled), not(is("#d", step.Enabled)),
		is("#c", step.Checked), not(is("#u", step.Checked)), is("#aria", step.Checked),
		is("#f", step.AttributeIs, "big", "", "data-kind"), is("#f", step.AttributeIs, "^b", step.Matches, "data-kind"),
		not(is("#f", step.AttributeIs, "small", "", "data-kind")), not(is("#f", step.AttributeIs, "x", "", "data-absent")),
		do(step.Assert, step.Args{Selector: xpath("//li[2]"), Matcher: &step.Matcher{Name: step.TextIs, Args: step.MatcherArgs{Value: "2"}}}),
		do(step.Assert, step.Args{Selector: &step.Selector{Type: step.CSS, Value: "li", Index: new(int(2))},
			Matcher: &step.Matcher{Name: step.TextIs, Args: step.MatcherArgs{Value: "3"}}}),
	)
}

func TestAssertFails(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		step step.Step
		want string
	}{
		{"visible, absent", is("#absent", step.Visible), "expected to be visible; no such element"},
		{"visible, hidden", is("#h", step.Visible), "expected to be visible; it is not visible"},
		{"hidden", is("#t", step.Hidden), "expected to be hidden; it is visible"},
		{"not hidden, absent", not(is("#absent", step.Hidden)), "expected not to be hidden; no such element"},
		{"text", is("#t", step.TextIs, "Bye"), `css #t: expected text equals "Bye"; it is "Hello World"`},
		{"text, absent", is("#absent", step.TextIs, "x"), "no such element"},
		{"not text, absent", not(is("#absent", step.TextIs, "x")), "no such element"},
		{"not text", not(is("#t", step.TextIs, "World", step.Contains)), `expected text not contains "World"`},
		{"pattern", is("#t", step.TextIs, "^World", step.Matches), `expected text matches "^World"`},
		{"count", is("li", step.Count, "4", step.AtLeast), "expected count at least 4; there are 3"},
		{"enabled", is("#d", step.Enabled), "expected to be enabled; it is not enabled"},
		{"not enabled, absent", not(is("#absent", step.Enabled)), "no such element"},
		{"checked", is("#u", step.Checked), "it is not checked"},
		{"focused", is("#f", step.Focused), "expected to be focused; it is not focused"},
		{"not focused, absent", not(is("#absent", step.Focused)), "no such element"},
		{"attribute", is("#f", step.AttributeIs, "x", "", "data-absent"), "it has no such attribute"},
		{"value", is("#t", step.ValueIs, "x"), "it has no value"},
		{"password", is("#pw", step.ValueIs, "x"), "it holds another password"},
		{"url", is("", step.URLIs, "/elsewhere", step.Contains), `expected url contains "/elsewhere"`},
		{"title", is("", step.TitleIs, "x"), `expected title equals "x"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := fails(t, assertPage, store.CodeAssertionFailed, c.want, within(150, c.step))
			require.Equal(t, "FAILED", r.Status)
			require.NotContains(t, r.Message, "top secret")
		})
	}
}

// The focus is where keys go now: not what had it before, nor the last element of a frame that
// the focus left.
func TestAssertFocused(t *testing.T) {
	t.Parallel()
	page := func(inner string) string {
		return `<label id=l for=a>A</label><input id=a><input id=b><p id=p>text</p><iframe id=f ` + inner + `></iframe>
			<x-a id=x><template shadowrootmode=open><input id=deep></template></x-a>`
	}
	field := `<input id=in>`
	inside := func(inner string) {
		pass(t, page(inner), click("#b"), frame("#f", not(is("#in", step.Focused))), frame("#f", click("#in")),
			frame("#f", is("#in", step.Focused)), not(is("#b", step.Focused)), click("#a"), frame("#f", not(is("#in", step.Focused))))
	}
	pass(t, page(""), not(is("#a", step.Focused)), click("#a"), is("#a", step.Focused), is("#l", step.Focused), not(is("#b", step.Focused)),
		not(is("#p", step.Focused)), key("Tab"), is("#b", step.Focused), not(is("#a", step.Focused)),
		shadow("#x", click("#deep")), shadow("#x", is("#deep", step.Focused)), not(is("#b", step.Focused)))
	inside(`srcdoc="` + field + `"`)
	inside(`src="` + foreign(site(t, map[string]string{"/in": field})) + `/in"`)
	pass(t, `<input id=a><script>setTimeout(() => a.focus(), 400)</script>`, is("#a", step.Focused))
}

func TestAssertPolls(t *testing.T) {
	t.Parallel()
	pass(t, `<p id=p>old</p><script>setTimeout(() => p.textContent = "new", 500)</script>`, is("#p", step.TextIs, "new"))
	pass(t, `<p id=p>old</p><script>setTimeout(() => p.remove(), 500)</script>`, is("#p", step.Hidden))
	pass(t, `<p id=p>old</p><script>setTimeout(() => p.textContent = "new", 500)</script>`, not(is("#p", step.TextIs, "old")))
	pass(t, `<p id=p>0</p><script>setInterval(() => p.textContent++, 5)</script>`, is("#p", step.TextIs, "^1\\d\\d$", step.Matches))
	pass(t, `<script>setTimeout(() => location = "/#there", 300)</script>`, is("", step.URLIs, "#there", step.Contains))
}

// An assertion looks at nothing but its selector, however well a fingerprint fits.
func TestAssertNeverHeals(t *testing.T) {
	t.Parallel()
	save := step.Fingerprint{Tag: "button", Role: "button", Name: "Save", Text: "Save", TestID: "save",
		Attributes: map[string]string{"id": "save"}}
	body := `<button id=other data-testid=save>Save</button>`
	for _, matcher := range []*step.Matcher{{Name: step.Visible}, {Name: step.Enabled},
		{Name: step.TextIs, Args: step.MatcherArgs{Value: "Save"}},
		{Name: step.Count, Args: step.MatcherArgs{Value: "1"}}} {
		r := fails(t, body, store.CodeAssertionFailed, "css #save: expected", within(800,
			do(step.Assert, step.Args{Selector: printed("#save", save), Matcher: matcher})))
		require.Zero(t, r.Healed)
	}
	// The same step as an action does heal.
	r := pass(t, body, within(5000, do(step.Click, step.Args{Selector: printed("#save", save)})))
	require.Equal(t, 1, r.Healed)
	var _ replay.Result = r
}
