package replay_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	store "github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/playback"
	"github.com/slipway-qa/slipway/worker/run/replay"
)

func doubleClick(s string) step.Step {
	return do(step.DoubleClick, step.Args{Selector: css(s)})
}

func rightClick(s string) step.Step { return do(step.RightClick, step.Args{Selector: css(s)}) }

// A click that reaches its element is done once, whatever the page does meanwhile.
func TestClickArrives(t *testing.T) {
	t.Parallel()
	const byTheClock = "replaced every 150 ms"
	const count = `<p id=out>0</p><script>const hit = () => out.textContent = +out.textContent + 1</script>`
	for name, body := range map[string]string{
		// Whoever clicks, some presses end on another button than they began on.
		byTheClock: `<div id=box></div><script>setInterval(() => { box.innerHTML = "<button id=b onclick='hit()'>Go</button>" }, 150)</script>`,
		"replaced between press and release": `<div id=box><button id=b onclick="hit()">Go</button></div><script>let n = 0;
			addEventListener("pointerup", (e) => { if (!n++) box.innerHTML = "<button id=b onclick='hit()'>Go</button>" }, true)</script>`,
		"moved by itself between press and release": `<button id=b onclick="hit()" style="position:relative">Go</button><script>let n = 0;
			addEventListener("pointerup", () => { if (!n++) { b.style.left = "300px" } }, true)</script>`,
		"replaced once it is pointed at": `<div id=box><button id=b onclick="hit()">Go</button></div><script>let n = 0;
			addEventListener("pointermove", (e) => { if (!n++) box.innerHTML = "<button id=b onclick='hit()'>Go</button>" }, true)</script>`,
		"covered once it is pointed at": `<button id=b onclick="hit()">Go</button><script>let n = 0;
			addEventListener("pointermove", (e) => { if (!n++) { const d = document.createElement("div"); d.style = "position:fixed;inset:0"; ` +
			`d.onclick = d.onmousedown = () => out.textContent = "cover"; document.body.append(d); setTimeout(() => d.remove(), 100) } }, ` +
			`true)</script>`,
		// The press is all that these need, and what goes away by it is not pressed again.
		"acts on the press and closes": `<button id=b onmousedown="hit(); this.remove()">Go</button>`,
		"goes by a press that its box stops": `<div id=box><button id=b>Go</button></div>` +
			`<script>box.onmousedown = (e) => { e.stopPropagation(); hit(); b.remove() }</script>`,
		"acts on the press and is rendered again": `<div id=box></div><script>const render = () => { box.innerHTML = ` +
			`"<button id=b>Go</button>"; b.onmousedown = () => { hit(); render() } }; render()</script>`,
		"acts on the press and is covered": `<button id=b>Go</button><script>b.onpointerdown = () => { hit(); ` +
			`document.body.insertAdjacentHTML("beforeend", "<div style='position:fixed;inset:0'></div>") }</script>`,
		"takes the pointer": `<div id=box><button id=b>Go</button></div>` +
			`<script>b.onpointerdown = (e) => { hit(); box.setPointerCapture(e.pointerId) }</script>`,
		// Its listeners are before all others, and it keeps the events from those.
		"keeps its events": `<button id=b>Go</button>`,
		"keeps its clicks": `<button id=b onmousedown="hit()">Go</button>`,
		"stops them": `<button id=b onclick="hit()">Go</button><script>for (const t of ["pointerdown", "mousedown", "mouseup", "click"]) ` +
			`b.addEventListener(t, (e) => { e.stopImmediatePropagation(); if (t === "click") hit() }, true)</script>`,
		"has a label":   `<label id=b>Go <input type=checkbox onclick="hit()"></label>`,
		"is in a label": `<label>Go <input id=b type=checkbox style="opacity:0;width:1px;height:1px" onclick="hit()"><i>box</i></label>`,
		"inner element": `<button onclick="hit()"><span><b id=b>Go</b></span></button>`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			first := ""
			switch name {
			case "keeps its events":
				first = `<script>for (const t of ["pointerdown", "mousedown", "pointerup", "mouseup", "click", "pointermove", "mousemove"]) ` +
					`addEventListener(t, (e) => { e.stopImmediatePropagation(); if (t === "click") hit() }, true)</script>`
			case "keeps its clicks":
				first = `<script>addEventListener("click", (e) => e.stopImmediatePropagation(), true)</script>`
			}
			once := []step.Step{within(60000, click("#b")), is("#out", step.TextIs, "1"),
				do(step.Pause, step.Args{Time: new(int(100))}), is("#out", step.TextIs, "1")}
			if name == byTheClock {
				// On a machine that is late by more than its pauses, one that goes away after a
				// press seems to go away by it.
				for range 2 {
					once[1].TimeoutMS = 5000
					if play(t, replay.Config{TestURL: site(t, map[string]string{"/": count + body}), Steps: once}).Status == "PASSED" {
						return
					}
				}
			}
			pass(t, count+first+body, once...)
		})
	}
}

// A click that another element would get is kept from it and fails, as one does whose
// element is covered when it is tried again.
func TestClickElsewhereFails(t *testing.T) {
	t.Parallel()
	body := `<p id=out>nothing</p><button id=b onclick="out.textContent='clicked'">Go</button><script>addEventListener("pointermove", () => {
		if (document.querySelector("#cover")) return;
		document.body.insertAdjacentHTML("beforeend", "<div id=cover style='position:fixed;inset:0;z-index:1'></div>");
		cover.onpointerdown = cover.onmousedown = cover.onmouseup = cover.onclick = () => out.textContent = "cover";
		setTimeout(() => cover.remove(), 400) }, true)</script>`
	r := pass(t, body, within(3000, optional(click("#b"))), is("#out", step.TextIs, "nothing"))
	require.Equal(t, playback.Skipped, r.Records[0].Status)
	require.Contains(t, r.Records[0].Result.Message, "div#cover")
	fails(t, body, store.CodeStepFailed, "div#cover", within(3000, doubleClick("#b")))
	// Nothing stays behind that would keep a later click from its element.
	pass(t, body+`<button id=c onclick="out.textContent='other'">Other</button>`, within(500, optional(click("#b"))),
		do(step.EnterKeySubmit, step.Args{}), is("#out", step.TextIs, "nothing"))
}

// The page knows nothing of the watch.
func TestWatchIsNotSeen(t *testing.T) {
	t.Parallel()
	pass(t, `<button id=b>Go</button><p id=out></p><script>const before = new Set(Object.getOwnPropertyNames(window)), symbols = `+
		`Object.getOwnPropertySymbols(window).length, attributes = b.attributes.length;
		addEventListener("click", () => setTimeout(() => { const more = Object.getOwnPropertyNames(window).filter((n) => !before.has(n) && n `+
		`!== "ret_nodes"); // the driver's own
			out.textContent = JSON.stringify([more, Object.getOwnPropertySymbols(window).length - symbols, b.attributes.length - attributes]) }, `+
		`50))</script>`,
		click("#b"), is("#out", step.TextIs, "[[],0,0]"))
	// Events that a page sends are no clicks.
	r := fails(t, `<p id=out>0</p><div id=b style="width:50px;height:50px">Go</div><script>addEventListener("pointermove", () => {
		b.dispatchEvent(new MouseEvent("mousedown", {bubbles: true})); b.dispatchEvent(new MouseEvent("mouseup", {bubbles: true})); `+
		`b.dispatchEvent(new MouseEvent("dblclick", {bubbles: true}));
		if (!document.querySelector("#cover")) document.body.insertAdjacentHTML("beforeend", `+
		`"<div id=cover style='position:fixed;inset:0'></div>") }, true)</script>`,
		store.CodeStepFailed, "it is covered by div#cover", within(8000, doubleClick("#b")))
	require.Equal(t, "FAILED", r.Status)
}

func TestDoubleAndRightClick(t *testing.T) {
	t.Parallel()
	log := `<p id=out></p><script>for (const t of ["click", "dblclick", "contextmenu", "auxclick"]) addEventListener(t, (e) => ` +
		`out.textContent += t + e.button + " ")</script>`
	pass(t, `<button id=b>Go</button>`+log, doubleClick("#b"), is("#out", step.TextIs, "click0 click0 dblclick0"))
	pass(t, `<button id=b oncontextmenu="event.preventDefault()">Go</button>`+log, rightClick("#b"),
		is("#out", step.TextIs, "contextmenu2", step.Contains))
	pass(t, `<p id=word>word</p><p id=out></p><script>document.onselectionchange = () => out.textContent = getSelection().toString()</script>`,
		doubleClick("#word"), is("#out", step.TextIs, "word"))
	inner := site(t, map[string]string{"/in": `<p id=far style="margin-top:1500px">far</p><button id=b>Go</button>` + log})
	for _, address := range []string{inner, foreign(inner)} {
		pass(t, `<div style="height:1500px"></div><iframe id=f src="`+address+`/in"></iframe>`,
			frame("#f", doubleClick("#b")), frame("#f", is("#out", step.TextIs, "click0 click0 dblclick0")),
			frame("#f", rightClick("#b")), frame("#f", is("#out", step.TextIs, "contextmenu2", step.Contains)))
	}
	fails(t, `<button id=b disabled>Go</button>`, store.CodeStepFailed, "it is disabled", doubleClick("#b"))
	// One whose first click the page acts on is not repeated.
	for _, act := range []string{"box.innerHTML = box.innerHTML", "b.remove()"} {
		r := pass(t, `<p id=out>0</p><div id=box><button id=b>Go</button></div><script>box.onclick = (e) => { if (e.target.id === "b") { `+
			`out.textContent = +out.textContent + 1; `+act+` } }</script>`,
			optional(doubleClick("#b")), not(is("#out", step.TextIs, "0")), not(is("#out", step.TextIs, `[3-9]|\d\d`, step.Matches)))
		require.Contains(t, r.Records[0].Result.Message, "the page saw no dblclick, only a click")
	}
	fails(t, `<p>x`, store.CodeStepFailed, "was not found", rightClick("#b"))
}
