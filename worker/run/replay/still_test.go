package replay_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	store "github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/run/replay"
)

// What a click needs: an element that has come to rest. Each page refuses a click that
// comes earlier.
func TestClickWaitsUntilStill(t *testing.T) {
	t.Parallel()
	const early = `<p id=out>nothing</p><script>let ready = false; const note = () => out.textContent = ready ? "clicked" : "early"</script>`
	for name, body := range map[string]string{
		"a transition": `<style>#b { position: absolute; left: 0; top: 100px;
			transition: left .6s linear }</style><button id=b onclick="note()">Go</button>
			<script>b.ontransitionend = () => ready = true;
			requestAnimationFrame(() => requestAnimationFrame(() => b.style.left = "300px"))</script>`,
		"a transition that has hardly begun": `<style>#b { position: absolute; left: 0; top: 100px;
			transition: left .8s cubic-bezier(1,0,1,0) }</style><button id=b onclick="note()">Go</button>
			<script>b.ontransitionend = () => ready = true; b.getBoundingClientRect(); b.style.left = "300px"</script>`,
		"a modal that grows and fades in": `<style>@keyframes in { from { transform: scale(.5); opacity: 0 } } #m { position: fixed; inset: 100px;
			animation: in .7s } </style>
			<div id=m><button id=b onclick="note()">OK</button></div><script>m.onanimationend = () => ready = true</script>`,
		"what fades in": `<style>@keyframes in { from { opacity: 0 } } #m { animation: in .7s } </style><div id=m>` +
			`<button id=b onclick="note()">OK</button></div><script>m.onanimationend = () => ready = true</script>`,
		"the element around a host": `<style>@keyframes in { from { opacity: 0 } }
			#m { animation: in .7s }</style><div id=m><x-a><button id=b>OK</button></x-a></div>
			<script>document.querySelector("x-a").attachShadow({mode: "open"}).innerHTML = "<slot></slot>"; b.onclick = note;
			m.onanimationend = () => ready = true</script>`,
		"the slot that shows it": `<x-a><button id=b>OK</button></x-a>` +
			`<script>const root = document.querySelector("x-a").attachShadow({mode: "open"});
			root.innerHTML = "<style>@keyframes in { from { opacity: 0 } } div { animation: in .7s }</style><div><slot></slot></div>";
			b.onclick = note; root.querySelector("div").onanimationend = () => ready = true</script>`,
		"an animation that waits to begin": `<style>@keyframes in { from { opacity: 0 } } #b { animation: in .3s .5s both }</style>` +
			`<button id=b onclick="note()">OK</button><script>b.onanimationend = () => ready = true</script>`,
		// These have no end, or none soon, and do not move it.
		"a pulse": `<style>@keyframes p { 50% { box-shadow: 0 0 9px red; background: red } } #b { animation: p 1s ` +
			`infinite }</style><button id=b onclick="note()">OK</button><script>ready = true</script>`,
		"a spinner around it": `<style>@keyframes p { 50% { opacity: .9 } } #m { animation: p 1s infinite }</style><div id=m>` +
			`<button id=b onclick="note()">OK</button></div><script>ready = true</script>`,
		"a spinner in it": `<style>@keyframes p { to { transform: rotate(1turn) } } #b i { animation: p 1s infinite; display: ` +
			`inline-block }</style><button id=b onclick="note()"><i>x</i> OK</button><script>ready = true</script>`,
		"a long one": `<style>@keyframes p { to { opacity: .9 } } #m { animation: p 60s }</style><div id=m>` +
			`<button id=b onclick="note()">OK</button></div><script>ready = true</script>`,
		"colours": `<style>#b { transition: background 3s; background: red } #b.on { background: blue }</style>` +
			`<button id=b onclick="note()">OK</button><script>b.getBoundingClientRect(); b.className = "on"; ready = true</script>`,
		"one that has ended": `<style>@keyframes p { to { transform: translate(200px) } } #b { animation: p .2s both }</style>` +
			`<button id=b onclick="note()">OK</button><script>ready = true</script>`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pass(t, early+body, click("#b"), is("#out", step.TextIs, "clicked"))
		})
	}
	fails(t, `<style>@keyframes p { to { transform: translate(700px) } } #b { animation: p 3s infinite linear }</style>`+
		`<button id=b>Go</button>`,
		store.CodeStepFailed, "it is moving", click("#b"))
}

// What is slotted is shown by an element of the shadow root, which receives its events.
func TestSlottedContent(t *testing.T) {
	t.Parallel()
	define := func(root string) string {
		return `<p id=out></p><script>customElements.define("x-b", class extends HTMLElement { constructor() { super();
			this.attachShadow({mode: "open"}).innerHTML = "` + root +
			`"; this.shadowRoot.firstChild.onclick = () => out.textContent += "clicked" } })</script>`
	}
	button := define(`<button id=in style='padding:9px'><slot></slot></button>`)
	done := is("#out", step.TextIs, "clicked")
	pass(t, button+`<x-b id=h>Text</x-b>`, click("#h"), done)
	pass(t, button+`<x-b id=h>Text</x-b>`, shadow("#h", click("button")), done)
	pass(t, button+`<x-b id=h><b id=s>Text</b></x-b>`, click("#s"), done)
	pass(t, button+`<x-b id=h><b id=s>Text</b></x-b>`, shadow("#h", click("#in")), done)
	pass(t, button+`<x-b id=h><x-b id=s>Text</x-b></x-b>`, shadow("#s", click("#in")), is("#out", step.TextIs, "clickedclicked"))
	pass(t, button+`<x-b id=h><x-b id=s>Text</x-b></x-b>`, shadow("#h", click("#in")), is("#out", step.TextIs, "clickedclicked"))
	pass(t, define(`<label>x <input id=in type=checkbox style='opacity:0;position:absolute;pointer-events:none'><slot></slot></label>`)+
		`<x-b id=h>Text</x-b>`,
		shadow("#h", click("label")), shadow("#h", is("#in", step.Checked)))
	fails(t, button+`<x-b id=h>Text</x-b><div id=cover style="position:fixed;inset:0"></div>`, store.CodeStepFailed,
		"it is covered by div#cover", shadow("#h", click("#in")))
	fails(t, define(`<div><button id=in>x</button><div id=over style='position:absolute;inset:0'><slot></slot></div></div>`)+
		`<x-b id=h style="position:relative;display:block">Text</x-b>`,
		store.CodeStepFailed, "it is covered by div#over", shadow("#h", click("#in")))
}

// A page that does nothing else for a while is waited for, within the time of the step.
func TestBusyPagePasses(t *testing.T) {
	t.Parallel()
	const block = `busy();`
	for name, c := range map[string]struct {
		body string
		s    step.Step
	}{
		"before a click": {`<button id=b onclick="out.textContent = 'done'">Go</button><script>setTimeout(() => { ` +
			block + ` }, 300)</script>`, click("#b")},
		"while it waits": {`<script>setTimeout(() => { ` + block +
			` document.body.insertAdjacentHTML("beforeend", "<button id=b onclick=\"out.textContent = 'done'\">Go</button>") }, ` +
			`2700)</script>`, click("#b")},
		"by the click": {`<button id=b onclick="out.textContent = 'done'; ` + block + `">Go</button>`, click("#b")},
		"by the press": {`<button id=b onmousedown="` + block + `" onclick="out.textContent = 'done'">Go</button>`, click("#b")},
		"by an input":  {`<input id=b oninput="` + block + ` out.textContent = 'done'">`, input("#b", "x")},
		"by a selection": {`<select id=b onchange="` + block + ` out.textContent = 'done'"><option>1<option>2</select>`,
			choose("#b", "2")},
		"while an assertion waits": {`<i id=b></i><script>setTimeout(() => { ` + block +
			` b.textContent = out.textContent = "done" }, 300)</script>`, is("#b", step.TextIs, "done")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// A request that the page waits for holds its thread, and costs this machine nothing.
			page := `<p id=out></p><script>const busy = () => { const r = new XMLHttpRequest(); r.open("GET", "/slow", false); r.send() }</script>` +
				c.body
			base := site(t, map[string]string{"/": page}, func(mux *http.ServeMux) {
				mux.HandleFunc("/slow", func(_ http.ResponseWriter, r *http.Request) {
					select {
					case <-time.After(6 * time.Second):
					case <-r.Context().Done():
					}
				})
			})
			r := play(t, replay.Config{TestURL: base, Steps: []step.Step{within(60000, c.s), is("#out", step.TextIs, "done")}})
			require.Equal(t, "PASSED", r.Status, r.Message)
		})
	}
}

// Steps work on pages of 100,000 nodes.
func TestManyNodes(t *testing.T) {
	t.Parallel()
	var body strings.Builder
	body.WriteString(`<p id=out></p>`)
	for i := range 25000 {
		fmt.Fprintf(&body, `<div class=row><b>%d</b> <i>x</i> <u></u></div>`, i)
	}
	body.WriteString(`<button id=b onclick="out.textContent += 'c'">Go</button><input id=f><select id=s><option>1<option>2</select>` +
		`<div id=m style="width:50px;height:50px;background:red"></div>
		<style>@keyframes in { from { transform: scale(.5) } } #m { animation: in .3s }</style>`)
	r := play(t, replay.Config{TestURL: site(t, map[string]string{"/": body.String()}), Steps: []step.Step{
		click("#b"), input("#f", "x"), choose("#s", "2"), doubleClick("#m"), drag("#m", "#b"), pageScroll("top"), pageScroll("down"),
		is("#out", step.TextIs, "c"), is(".row", step.Count, "25000"), rightClick("#b"),
	}})
	require.Equal(t, "PASSED", r.Status, r.Message)
	for _, record := range r.Records {
		t.Logf("%s: %d ms", record.Tool.Type, record.TookMS)
	}
}
