package replay_test

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/storage/step"
)

// number gives each element of a page, those in open shadow roots too, a number in
// data-n.
const number = `(() => { let n = 0; (function walk(root) { for (const el of root.querySelectorAll("*")) {
	el.setAttribute("data-n", n++); if (el.shadowRoot) walk(el.shadowRoot) } })(document) })()`

// answer is what a selector finds, or why it is refused.
type answer struct {
	Found []int  `json:"found"`
	Error string `json:"error"`
}

// selectorCases are selectors and combinations for each page, beside those that the
// test derives from the page's elements.
var selectorCases = map[string][]step.Selector{
	"forms.html": {
		{Type: step.ByRole, Value: "checkbox", State: map[string]bool{"checked": true}},
		{Type: step.ByRole, Value: "checkbox", State: map[string]bool{"checked": false}},
		{Type: step.ByRole, Value: "checkbox", State: map[string]bool{"disabled": true}},
		{Type: step.ByRole, Value: "button", State: map[string]bool{"disabled": true}},
		{Type: step.ByRole, Value: "button", State: map[string]bool{"disabled": false}},
		{Type: step.ByRole, Value: "textbox", State: map[string]bool{"disabled": true}},
		{Type: step.ByRole, Value: "option", State: map[string]bool{"selected": true}}, {Type: step.ByRole, Value: "option",
			State: map[string]bool{"disabled": true}},
		{Type: step.ByRole, Value: "radio", State: map[string]bool{"checked": true}}, {Type: step.ByRole, Value: "button", Name: "save"},
		{Type: step.ByRole, Value: "button", Name: "save", Index: new(int(-1))}, {Type: step.ByRole, Value: "button", Name: "Save", Exact: true},
		{Type: step.ByRole, Value: "textbox", Name: "street", Within: &step.Selector{Type: step.ByRole, Value: "group", Name: "Shipping"}},
		{Type: step.ByLabel, Value: "street", Index: new(int(1))}, {Type: step.ByRole, Value: "group",
			Has: &step.Selector{Type: step.ByRole, Value: "button"}},
		{Type: step.CSS, Value: "label", Has: &step.Selector{Type: step.CSS, Value: "input[type=checkbox]"}, HasText: "data"},
		{Type: step.Placeholder, Value: "CITY"}, {Type: step.Placeholder, Value: "City", Exact: true}, {Type: step.Title, Value: "title"},
		{Type: step.AltText, Value: "go"}, {Type: step.ByText, Value: "send"}, {Type: step.ByText, Value: "Reset"},
		{Type: step.ByText, Value: "Plain", Exact: true},
	},
	"structure.html": {
		{Type: step.ByRole, Value: "heading", Level: 1}, {Type: step.ByRole, Value: "heading", Level: 2},
		{Type: step.ByRole, Value: "heading", Level: 3},
		{Type: step.ByRole, Value: "heading", Level: 5}, {Type: step.ByRole, Value: "row", HasText: "pear"},
		{Type: step.ByRole, Value: "row", Index: new(int(-1))},
		{Type: step.ByRole, Value: "button", Within: &step.Selector{Type: step.ByRole, Value: "row", HasText: "Apple"}},
		{Type: step.ByRole, Value: "row", Has: &step.Selector{Type: step.ByRole, Value: "button", Name: "Buy pear"}},
		{Type: step.CSS, Value: "tr", Has: &step.Selector{Type: step.ByText, Value: "1.00", Within: &step.Selector{Type: step.CSS, Value: "td"}}},
		{Type: step.CSS, Value: "ul > li:nth-child(2)"}, {Type: step.CSS, Value: "li:has(b), h2 + h2"},
		{Type: step.CSS, Value: ":scope li", Within: &step.Selector{Type: step.CSS, Value: "main"}},
		{Type: step.CSS, Value: "main li", Within: &step.Selector{Type: step.CSS, Value: "main"}},
		{Type: step.CSS, Value: "body li", Within: &step.Selector{Type: step.CSS, Value: "main"}},
		{Type: step.CSS, Value: ":scope > ul > li", Within: &step.Selector{Type: step.CSS, Value: "main"}},
		{Type: step.CSS, Value: "h2 ~ article h3", Within: &step.Selector{Type: step.CSS, Value: "main"}},
		{Type: step.XPath, Value: "//li"}, {Type: step.XPath, Value: "//td", Within: &step.Selector{Type: step.CSS, Value: "tbody tr"}},
		{Type: step.XPath, Value: "./td[2]", Within: &step.Selector{Type: step.CSS, Value: "tbody tr"}}, {Type: step.XPath, Value: "(//a)[2]"},
		{Type: step.ByText, Value: "Buy", Within: &step.Selector{Type: step.CSS, Value: "button"}},
	},
	"widgets.html": {
		{Type: step.ByRole, Value: "tab", State: map[string]bool{"selected": true}}, {Type: step.ByRole, Value: "tab",
			State: map[string]bool{"selected": false}},
		{Type: step.ByRole, Value: "button", State: map[string]bool{"expanded": true}}, {Type: step.ByRole, Value: "button",
			State: map[string]bool{"expanded": false}},
		{Type: step.ByRole, Value: "button", State: map[string]bool{"pressed": true}}, {Type: step.ByRole, Value: "button",
			State: map[string]bool{"pressed": false}},
		{Type: step.ByRole, Value: "checkbox", State: map[string]bool{"checked": true}},
		{Type: step.ByRole, Value: "checkbox", State: map[string]bool{"checked": false}},
		{Type: step.ByRole, Value: "menuitemcheckbox", State: map[string]bool{"checked": true}},
		{Type: step.ByRole, Value: "menuitemcheckbox", State: map[string]bool{"checked": false}},
		{Type: step.ByRole, Value: "switch", State: map[string]bool{"checked": true}}, {Type: step.ByRole, Value: "treeitem", Level: 2},
		{Type: step.ByRole, Value: "treeitem", State: map[string]bool{"expanded": true}},
		{Type: step.ByRole, Value: "button", State: map[string]bool{"disabled": true}},
		{Type: step.ByRole, Value: "link", State: map[string]bool{"disabled": true}}, {Type: step.ByRole, Value: "menuitem",
			State: map[string]bool{"disabled": true}},
		{Type: step.ByRole, Value: "button", Name: "delete", Within: &step.Selector{Type: step.ByRole, Value: "dialog", Name: "delete file"}},
		{Type: step.ByRole, Value: "dialog", Has: &step.Selector{Type: step.ByText, Value: "ok"}},
		{Type: step.ByRole, Value: "button", Name: "soft-hyphen"},
		{Type: step.ByRole, Value: "button", Name: "softhyphen"}, {Type: step.ByRole, Value: "row", State: map[string]bool{"selected": true}},
	},
	"shadow.html": {
		{Type: step.CSS, Value: "button"}, {Type: step.CSS, Value: ".box .in"}, {Type: step.CSS, Value: "x-card .in"},
		{Type: step.CSS, Value: "#c2 x-deep .in"},
		{Type: step.CSS, Value: "#c2 > .box > .in"}, {Type: step.CSS, Value: "#c2 > .in"}, {Type: step.CSS, Value: ".box > slot"},
		{Type: step.CSS, Value: "h3 ~ button"},
		{Type: step.CSS, Value: "x-card + x-card .in, x-button span"}, {Type: step.CSS, Value: "x-card x-deep button + span"},
		{Type: step.CSS, Value: "body x-card section button"},
		{Type: step.CSS, Value: ".in", Within: &step.Selector{Type: step.CSS, Value: "#c1"}},
		{Type: step.CSS, Value: "x-card .in", Within: &step.Selector{Type: step.CSS, Value: "#c1"}},
		{Type: step.CSS, Value: "body .in", Within: &step.Selector{Type: step.CSS, Value: "#c1"}},
		{Type: step.CSS, Value: "button", Within: &step.Selector{Type: step.CSS, Value: "section"}},
		{Type: step.ByRole, Value: "button", Within: &step.Selector{Type: step.CSS, Value: "x-card"}},
		{Type: step.ByText, Value: "Inside", Within: &step.Selector{Type: step.CSS, Value: "#c2"}},
		{Type: step.CSS, Value: "x-card", Has: &step.Selector{Type: step.Placeholder, Value: "deep"}},
		{Type: step.CSS, Value: "x-card", HasText: "fallback"},
		{Type: step.ByLabel, Value: "deep"}, {Type: step.ByLabel, Value: "Deep label", Exact: true},
		{Type: step.XPath, Value: "//button"}, {Type: step.CSS, Value: "x-card :is(section .in, h3)"},
		{Type: step.CSS, Value: "x-card [class~='in']:not(.box)"}, {Type: step.CSS, Value: "x-closed button"},
		{Type: step.CSS, Value: "x-deep"}, {Type: step.CSS, Value: "*"},
	},
	"text.html": {
		{Type: step.ByText, Value: "hello"}, {Type: step.ByText, Value: "Hello", Exact: true},
		{Type: step.ByText, Value: "hello world"}, {Type: step.ByText, Value: "spaced out text"},
		{Type: step.ByText, Value: "onetwo"}, {Type: step.ByText, Value: "softhyphen"}, {Type: step.ByText, Value: "apple"},
		{Type: step.ByText, Value: "Apple", Exact: true},
		{Type: step.ByText, Value: "nested"}, {Type: step.ByText, Value: `"q" 'r'`},
		{Type: step.ByText, Value: "line one line two"}, {Type: step.ByText, Value: "imя"},
		{Type: step.ByText, Value: "имя"}, {Type: step.ByText, Value: "名前"}, {Type: step.ByText, Value: "istanbul"},
		{Type: step.ByText, Value: "with script"},
		{Type: step.CSS, Value: "tr", HasText: "ada"}, {Type: step.CSS, Value: "tr", HasText: "ADAM"},
		{Type: step.ByRole, Value: "button", Within: &step.Selector{Type: step.CSS, Value: "tr", HasText: "Grace"}},
		{Type: step.CSS, Value: "tr", Has: &step.Selector{Type: step.AltText, Value: "face"}},
		{Type: step.CSS, Value: "tr", HasText: "ada", Index: new(int(1))}, {Type: step.CSS, Value: "tr", Index: new(int(-2))},
		{Type: step.TestID, Value: "a"}, {Type: step.TestID, Value: "c"}, {Type: step.TestID, Value: "A"},
		{Type: step.TestID, Value: "x"}, {Type: step.Placeholder, Value: "your name"},
		{Type: step.Placeholder, Value: "Your name", Exact: true}, {Type: step.AltText, Value: "face"},
		{Type: step.AltText, Value: "Face", Exact: true}, {Type: step.Title, Value: "face of adam"},
		{Type: step.ByRole, Value: "button", HasText: "hello"}, {Type: step.ByRole, Value: "cell", HasText: "edit"},
		{Type: step.ByText, Value: "Hello", Within: &step.Selector{Type: step.CSS, Value: "div"}},
	},
}

// otherThanPlaywright are the selectors that find something else than in Playwright,
// each with the reason.
var otherThanPlaywright = map[string]string{
	`{"type":"text","value":"Deep xDeep label"}`: "Playwright finds no text that is all of a shadow root, only texts " +
		"of elements in it",
	`{"type":"text","value":"Deep xDeep label","exact":true}`:          "as above",
	`{"type":"text","value":"bare textBanner in shadow"}`:              "as above",
	`{"type":"text","value":"bare textBanner in shadow","exact":true}`: "as above",
	`{"type":"text","value":"x"}`:                                      "as above: the x of \"bare text\"",
	`{"type":"css","value":"x-card :is(section .in, h3)"}`: "what is in the parentheses of :is is matched by the browser, " +
		"in one tree",
}

// Playwright finds the same: for all roles, for the role and name of each element, for
// each text and label, and for the table above. In pages with shadow roots the order
// is another one: Playwright has what is in shadow roots last, and here it stands
// where it is shown.
func TestSelectorsAsPlaywright(t *testing.T) {
	t.Parallel()
	modules := servicetest.NodeModules(t, "playwright-core")
	browser, err := exec.LookPath("chromium")
	require.NoError(t, err)
	server := httptest.NewServer(http.FileServer(http.Dir("testdata/selectors")))
	t.Cleanup(server.Close)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()

	type page struct {
		URL       string          `json:"url"`
		Selectors []step.Selector `json:"selectors"`
	}
	var pages []page
	var ours [][]answer
	l := lease()
	defer func() { release(l, false) }()
	for _, name := range slices.Sorted(maps.Keys(selectorCases)) {
		p := page{URL: server.URL + "/" + name}
		require.NoError(t, l.Session.Navigate(ctx, p.URL))
		require.NoError(t, l.Session.Execute(ctx, number, nil))
		p.Selectors = append(derived(ctx, t, l.Session), selectorCases[name]...)
		pages = append(pages, p)
		ours = append(ours, evaluate(ctx, t, l.Session, p.Selectors))
	}
	question, err := json.Marshal(map[string]any{"pages": pages, "number": number})
	require.NoError(t, err)
	node := exec.CommandContext(ctx, "node", "testdata/selectors/playwright.cjs", browser)
	node.Env = append(os.Environ(), "NODE_PATH="+modules)
	node.Stdin, node.Stderr = bytes.NewReader(question), os.Stderr
	out, err := node.Output()
	require.NoError(t, err)
	var theirs [][]answer
	require.NoError(t, json.Unmarshal(out, &theirs))
	count, differences := 0, 0
	for i, p := range pages {
		for j, selector := range p.Selectors {
			want, got := theirs[i][j], ours[i][j]
			if p.URL == server.URL+"/shadow.html" {
				slices.Sort(want.Found)
				slices.Sort(got.Found)
			}
			count++
			text, _ := json.Marshal(selector)
			same := (want.Error == "") == (got.Error == "") && slices.Equal(want.Found, got.Found)
			if reason, known := otherThanPlaywright[string(text)]; known && strings.HasSuffix(p.URL, "/shadow.html") {
				require.False(t, same, "no difference any more: %s: %s", text, reason)
				differences++
			} else if !same {
				t.Errorf("%s %s: %v, Playwright %v", p.URL, text, got, want)
			}
		}
	}
	t.Logf("%d selectors on %d pages, %d known differences", count, len(pages), differences)
	require.Greater(t, count, 1000)
}
