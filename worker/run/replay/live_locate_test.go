package replay_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/run/replay"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

const locatePage = `<header><nav aria-label=Main><a href=/home>Home</a> <a href=/inbox>Inbox (3)</a></nav></header>
<h1>Orders</h1>
<form id=x1><label>Name <input id=i1></label> <label for=i2>City</label><input id=i2> <input placeholder="Zip code">
	<p>Street <input class=s></p><div><span>Phone</span><span><input class=s></span></div>Note:<textarea></textarea> <input type=password>` +
	`<button>Send</button></form>
<table><caption>Goods</caption><tr><th>Thing<th>Price<th>Do<tr><td>Lamp<td>12.50<td><button>Buy</button><tr><td>Chair<td>12.50<td>` +
	`<button>Buy</button></table>
<ul><li>Ann <button class=d><svg width=9 height=9></svg></button><li>Bob <button class=d><svg width=9 height=9></svg></button></ul>
<div class=mails><div class=mail><div>Carol</div><div>Hello there</div><span class="icon star"></span><span class="icon bin"></span></div>
	<div class=mail><div>Dave</div><div>Good day</div><span class="icon star"></span><span class="icon bin"></span></div></div>
<div role=dialog aria-label=Terms><button>OK</button></div><div role=dialog aria-label=Cookies><button>OK</button></div>
<section><h2>Billing</h2><input type=checkbox id=c1><button>Edit</button></section><section><h2>Shipping</h2><input type=checkbox id=c2>` +
	`<button>Edit</button></section>
<div class=tile onclick="1"><b>Reports</b><i>7 minutes ago</i></div><img alt="A cat" src=x><div id=slider>` +
	`<a class=handle tabindex=0></a></div>
<iframe title=Help srcdoc="<button>Ask</button><input aria-label=Question>"></iframe><x-box></x-box>
<style>.icon { display:inline-block; width:16px; height:16px; background: red; cursor: pointer } .handle { display: block; width: 20px;
height: 20px; background: blue }</style>
<script>const root = document.querySelector("x-box").attachShadow({mode: "open"});
root.innerHTML = "<label>Inner <input></label><button>Deep</button>"</script>`

// markScript marks all elements, through shadow roots and frames, by a property.
const markScript = `let n = 0; const walk = (root) => { for (const el of root.querySelectorAll("*")) {
	el.testMark = ++n; if (el.shadowRoot) walk(el.shadowRoot); if (el.contentDocument) walk(el.contentDocument) } }; walk(document)`

// changeScript changes ids, classes, wrappers and the order of entries.
const changeScript = `for (const el of document.querySelectorAll("[id]")) { const old = el.id; el.id = "n" + old + "z"; for (const label ` +
	`of document.querySelectorAll("label[for=" + old + "]")) label.htmlFor = el.id }
for (const el of document.querySelectorAll("[class]")) el.className = "k" + el.className.length + " " + ` +
	`el.className.replace(/\b(\w)/g, "q$1");
for (const el of document.querySelectorAll("form > *, section > *, li > button, .qtile")) { const box = document.createElement("div"); ` +
	`el.replaceWith(box); box.append(el) }
for (const list of document.querySelectorAll("ul, nav, tbody, .q" + "mails")) for (const el of [...list.children].slice(list.localName ` +
	`=== "tbody" ? 1 : 0).reverse()) list.append(el);
document.body.prepend(document.querySelector("table"))`

// TestLocateRefs finds what is on a page again, as it was, and after the page has changed.
func TestLocateRefs(t *testing.T) {
	t.Parallel()
	lease := lease()
	l := openLive(t, replay.Config{Lease: lease, TestURL: site(t, map[string]string{"/": locatePage})})
	s := l.snapshot()
	require.NoError(t, lease.Session.Execute(l.ctx, markScript, nil))
	var refs []string
	var nodes []snapshot.Node
	for _, n := range s.Nodes {
		if n.Interactive || n.Role == "text" || n.Role == "cell" || n.Role == "heading" || n.Role == "row" {
			nodes, refs = append(nodes, n), append(refs, n.Ref)
		}
	}
	began := time.Now()
	located, err := l.Locate(l.ctx, refs...)
	t.Log(len(refs), "refs", time.Since(began))
	require.NoError(t, err)
	find := func(s *step.Selector) (found []float64) {
		t.Helper()
		body := `try { return evaluate(arguments[0], document, newLook(document, false), true).map((el) => el.testMark) } catch (e) { return [] }`
		require.NoError(t, replay.Probe(l.ctx, lease.Session, body, &found, s))
		return found
	}
	was := map[int][]float64{}
	for i, at := range located {
		doc, _ := json.Marshal(withoutPrint(at.Selector))
		place, _ := json.Marshal(withoutPrint(*at.Place))
		t.Logf("%s %q %s: %s place %s frames %v", nodes[i].Role, nodes[i].Name, nodes[i].Ref, doc, place, at.Frames)
		require.NotEmpty(t, at.Selector.Type)
		if len(at.Frames) > 0 {
			continue
		}
		was[i] = find(&at.Selector)
		require.Len(t, was[i], 1, "%s", doc)
		require.Len(t, find(at.Place), 1, "%s", place)
	}
	require.NoError(t, lease.Session.Execute(l.ctx, changeScript, nil))
	for i, at := range located {
		if len(at.Frames) == 0 {
			doc, _ := json.Marshal(withoutPrint(at.Selector))
			if now := find(&at.Selector); len(now) != 1 || now[0] != was[i][0] {
				t.Errorf("%s %q after the change: %v in place of %v: %s", nodes[i].Role, nodes[i].Name, now, was[i], doc)
			}
		}
	}
}

func withoutPrint(s step.Selector) step.Selector {
	s.Fingerprint = nil
	return s
}

const placesPage = `<h1>Cottages</h1><dl><dt>Nights</dt><dd id=n>3</dd><dt>Cottage</dt><dd id=c>Eider</dd></dl>
<p>Total: <b id=t>12.50</b></p><p id=o>Ready</p><p id=s role=status>Eider was chosen</p>`

// A test that compares a text finds its element by what it is or what stands before it, in place of an
// id that the next look of the page may not have.
func TestPlacesOutlastIDs(t *testing.T) {
	t.Parallel()
	l := openLive(t, replay.Config{Lease: lease(), TestURL: site(t, map[string]string{"/": placesPage})})
	refs := map[string]string{}
	for _, n := range l.snapshot().Nodes {
		if n.Role == "text" || n.Role == "status" {
			refs[n.Text+n.Name] = n.Ref
		}
	}
	beside := func(label, tag string) *step.Selector {
		return &step.Selector{Type: step.XPath, Value: "//text()[normalize-space()='" + label + "']/following::" + tag +
			"[1][preceding::text()[normalize-space()][1][normalize-space()='" + label + "']]"}
	}
	for text, want := range map[string]*step.Selector{
		"3": beside("Nights", "dd"), "Eider": beside("Cottage", "dd"), "12.50": beside("Total:", "b"),
		"Eider was chosen": {Type: step.ByRole, Value: "status"}, "Ready": {Type: step.CSS, Value: "#o"},
	} {
		require.NotEmpty(t, refs[text], "%s in %v", text, refs)
		located, err := l.Locate(l.ctx, refs[text])
		require.NoError(t, err)
		require.Equal(t, *want, withoutPrint(*located[0].Place), text)
	}
}
