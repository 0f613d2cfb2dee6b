package replay_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/run/replay"
)

// What pages do to the browser's own objects changes nothing in what is found. The
// driver itself needs JSON.stringify and the method includes of arrays.
func TestSelectorsOnHostilePages(t *testing.T) {
	t.Parallel()
	const body = `<form id=form><label>Name <input name=id></label><input name=children><input name=getAttribute><input name=parentNode>` +
		`<input name=matches>
		<input name=querySelectorAll><input name=localName><input name=shadowRoot><input name=nodeType><input name=textContent><input name=role>
		<ul><li>Ada <button type=button>Edit</button></li><li>Grace <button type=button>Edit</button></li></ul></form>
		<img name=querySelectorAll alt="A picture" src="data:,"><img name=evaluate src="data:,"><form name=documentElement></form>` +
		`<form name=getElementById></form>
		<x-a><template shadowrootmode=open><p data-testid=deep>Deep</p></template></x-a>`
	in := func(text string) *step.Selector {
		return pick{role("button", "Edit")}.in(&step.Selector{Type: step.ByRole, Value: "listitem", HasText: text})
	}
	steps := []step.Step{
		that(in("Grace"), step.Visible, ""), that(in("Nobody"), step.Count, "0"), that(role("button", "Edit"), step.Count, "2"),
		that(role("button", "Delete"), step.Count, "0"),
		that(by(step.ByLabel, "Name"), step.Visible, ""), that(by(step.ByText, "Deep"), step.TextIs, "Deep"),
		that(by(step.TestID, "deep"), step.Count, "1"),
		that(by(step.AltText, "picture"), step.Count, "1"), that(by(step.CSS, "x-a p"), step.Count, "1"),
		that(by(step.XPath, "//li"), step.Count, "2"),
		that(by(step.CSS, "ul > li"), step.Count, "2"), that(by(step.CSS, "#none"), step.Hidden, ""),
	}
	for name, script := range map[string]string{
		"controls named as properties": ``,
		"methods of arrays": `for (const name of ["map", "filter", "find", "findIndex", "some", "every", "indexOf", "reduce", "forEach", ` +
			`"sort", "concat", "reverse", "flat", "entries", "keys"])
			Array.prototype[name] = () => { throw new Error("array " + name) }; Array.from = () => []`,
		"methods that lie": `Element.prototype.matches = Element.prototype.closest = () => true; Element.prototype.getAttribute = () => "x"; ` +
			`Element.prototype.hasAttribute = () => true;
			Document.prototype.querySelectorAll = Element.prototype.querySelectorAll = DocumentFragment.prototype.querySelectorAll = () => []; ` +
			`Document.prototype.getElementById = () => document.body;
			Element.prototype.checkVisibility = () => false; Document.prototype.evaluate = () => ({ snapshotLength: 0 })`,
		"getters that throw": `for (const [type, name] of [["Element", "localName"], ["Element", "shadowRoot"], ["Node", "textContent"], ` +
			`["Node", "parentNode"], ["Node", "firstChild"], ["Node", "nodeType"], ["Element", "assignedSlot"]])
			Object.defineProperty(window[type].prototype, name, { configurable: true, get() { throw new Error(name) } })`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := play(t, replay.Config{TestURL: site(t, map[string]string{"/": body + "<script>" + script + "</script>"}),
				Steps: steps, StepTimeout: 15 * time.Second})
			require.Equal(t, "PASSED", r.Status, r.Message)
			r = play(t, replay.Config{TestURL: site(t, map[string]string{"/": body + "<script>" + script + "</script>"}),
				Steps: []step.Step{that(role("button", "Edit"), step.Visible, "")}, StepTimeout: 5 * time.Second})
			require.Equal(t, "FAILED", r.Status)
			require.Contains(t, r.Message, `role button "Edit": 2 elements match`)
		})
	}
}

// A frame that lends what a page replaced is gone afterwards.
func TestNothingIsLeftBehind(t *testing.T) {
	t.Parallel()
	pass(t, `<button>Go</button><script>Element.prototype.matches = () => true; const before = new Set(Object.getOwnPropertyNames(window));
		// What begins with cdc_ is the driver's, as is ret_nodes.
		setInterval(() => document.title = document.querySelectorAll("iframe").length + " " + `+
		`Object.getOwnPropertyNames(window).filter((name) => !before.has(name) && !/^cdc_|^ret_nodes$/.test(name)), 20)</script>`,
		that(role("button", "Go"), step.Visible, ""), that(by(step.ByText, "Go"), step.Count, "1"), is("", step.TitleIs, "0"))
}
