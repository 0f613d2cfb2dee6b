package replay_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	store "github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/step"
)

func drag(from, to string) step.Step {
	return do(step.Drag, step.Args{Selector: css(from), Target: css(to)})
}

func pageScroll(direction string) step.Step {
	return do(step.ScrollDocument, step.Args{Direction: direction})
}

// Each way in which pages let things be dragged.
func TestDragArrives(t *testing.T) {
	t.Parallel()
	const boxes = `<style>#a, #z { position: absolute; width: 60px; height: 40px; left: 20px; top: 60px; background: red } #z { left: 400px;
		top: 300px; width: 120px; height: 120px; background: blue }</style>
		<p id=out></p><div id=z></div><div id=a></div>`
	for name, script := range map[string]string{
		// As jQuery UI does: the drag begins with the second move, ends when the button is
		// seen to be up, and only moves of one press count.
		"by mouse events": `let from, on = 0; a.onmousedown = (e) => { from = e; e.preventDefault() };
			document.onmousemove = (e) => { if (from && !e.buttons) from = null; if (!from) return; if (Math.abs(e.pageX - from.pageX) + ` +
			`Math.abs(e.pageY - from.pageY) >= 1) on++;
				if (on > 1) { a.style.left = e.pageX - 30 + "px"; a.style.top = e.pageY - 20 + "px" } };
			document.onmouseup = (e) => { const box = z.getBoundingClientRect(); if (on > 2 && e.clientX > box.left && e.clientY > box.top) ` +
			`out.textContent = "dropped"; from = null }`,
		// As dnd-kit does: pointer events after a distance, and a frame between.
		"by pointer events": `let from, active; a.onpointerdown = (e) => { from = e };
			addEventListener("pointermove", (e) => { if (!from) return; if (Math.hypot(e.clientX - from.clientX, e.clientY - from.clientY) > 10) ` +
			`requestAnimationFrame(() => active = true) });
			addEventListener("pointerup", (e) => { if (active && e.composedPath().includes(z)) out.textContent = "dropped"; from = null })`,
		"by a captured pointer": `a.style.touchAction = "none"; a.onpointerdown = (e) => a.setPointerCapture(e.pointerId);
			a.onpointermove = (e) => { if (e.buttons) { a.style.left = e.clientX - 30 + "px"; a.style.top = e.clientY - 20 + "px" } };
			a.onpointerup = (e) => { if (e.clientX > 400 && e.clientY > 300) out.textContent = "dropped" }`,
		"by drag and drop": `a.draggable = true; a.ondragstart = (e) => e.dataTransfer.setData("text/plain", "dropped");
			z.ondragover = (e) => e.preventDefault(); z.ondrop = (e) => { e.preventDefault(); out.textContent = ` +
			`e.dataTransfer.getData("text/plain") }`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pass(t, boxes+`<script>`+script+`</script>`, drag("#a", "#z"), is("#out", step.TextIs, "dropped"))
			// One of them is out of view at first, and then both fit into it.
			pass(t, `<div style="height:1500px"></div><div style="position:relative;height:800px">`+boxes+
				`</div><script>document.querySelector("#z").style.left = "700px"</script>`+
				`<script>`+script+`</script>`, drag("#a", "#z"), is("#out", step.Visible))
		})
	}
	// A list that is sorted while the pointer is over its entries.
	pass(t, `<ul id=list style="width:200px"><li draggable=true id=i1>1<li draggable=true id=i2>2<li draggable=true id=i3>3</ul>`+
		`<script>let moved;
		list.ondragstart = (e) => { moved = e.target }; list.ondragover = (e) => { e.preventDefault(); const over = e.target.closest("li");
		if (over && over !== moved) { const all = [...list.children]; list.insertBefore(moved,
		all.indexOf(moved) < all.indexOf(over) ? over.nextSibling : over) } }; list.ondrop = (e) => e.preventDefault()</script>`,
		drag("#i1", "#i3"), is("#list li:last-child", step.TextIs, "1"))
	// Both never fit into the view.
	pass(t, `<div id=a style="width:60px;height:60px;background:red"></div><div style="height:3000px"></div>`+
		`<div id=z style="width:200px;height:200px;background:blue"></div><p id=out style="position:fixed;top:0;left:300px"></p>
		<script>let on; a.onmousedown = () => on = true;
		document.onmouseup = (e) => { if (on && e.target === z) out.textContent = "dropped" }</script>`,
		drag("#a", "#z"), is("#out", step.TextIs, "dropped"))
}

func TestDragWithoutEffectFails(t *testing.T) {
	t.Parallel()
	const boxes = `<div id=a style="width:60px;height:40px;background:red;user-select:none"></div>` +
		`<div id=z style="margin-top:200px;width:120px;height:120px;background:blue"></div>`
	for name, c := range map[string]struct{ script, words string }{
		"a drag that reaches no target": {`a.draggable = true; addEventListener("dragover", (e) => e.stopImmediatePropagation(), true); ` +
			`addEventListener("dragenter", (e) => e.stopImmediatePropagation(), true)`, "reached no target"},
		"a target that takes no drop": {`a.draggable = true`, "the target did not take the drop"},
		"a press that is kept": {`for (const t of ["pointerdown", "mousedown"]) addEventListener(t, (e) => ` +
			`e.stopImmediatePropagation(), true)`, "did not receive the press"},
		"a target that flees": {`addEventListener("pointermove", (e) => { if (e.buttons) z.style.transform = "translate(600px, 0)" })`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.words == "" { // the pointer follows it
				pass(t, boxes+`<script>`+c.script+`</script>`, drag("#a", "#z"))
				return
			}
			fails(t, boxes+`<script>`+c.script+`</script>`, store.CodeStepFailed, c.words, drag("#a", "#z"))
		})
	}
	// Some pages take what was dragged from the end of the drag, and no drop.
	pass(t, boxes+`<script>a.draggable = true; a.ondragend = () => z.append(a)</script>`, drag("#a", "#z"), is("#z #a", step.Visible))
}

func TestScrollWithoutEffectFails(t *testing.T) {
	t.Parallel()
	tall := `<div id=box style="height:100px;width:100px;overflow:auto"><div style="height:150px">x</div></div><p>short page`
	fails(t, tall, store.CodeStepFailed, "at its end already", scroll("#box", "down"), scroll("#box", "down"))
	fails(t, tall, store.CodeStepFailed, "at its end already", within(300, scroll("#box", "up")))
	fails(t, tall, store.CodeStepFailed, "nothing scrolls there", within(700, pageScroll("down")))
	fails(t, tall, store.CodeStepFailed, "nothing scrolls there", within(700, scroll("#box", "right")))
	// What moves by itself is no effect of the wheel.
	const short = `<div id=box style="height:50px;width:50px"><div id=i style="width:5px;height:5px;background:red">x</div></div>`
	for _, body := range []string{
		`<div id=tick style="height:20px;overflow:auto"><div style="height:9000px">x</div></div>` + short +
			`<script>setInterval(() => tick.scrollTop += 1, 10)</script>`,
		`<style>@keyframes m { to { transform: translateX(20px) } } #i { animation: m 1s infinite alternate }</style>` + short,
		`<style>@keyframes m { to { transform: translateX(20px) } } #box { animation: m 1s infinite alternate }</style>` + short,
	} {
		fails(t, body, store.CodeStepFailed, "nothing scrolls there", within(700, scroll("#box", "down")))
	}
	r := pass(t, tall, scroll("#box", "bottom"), scroll("#box", "bottom"), pageScroll("top"))
	require.Empty(t, r.Records[0].Result.Message)
	require.Equal(t, "it was at its bottom already", r.Records[1].Result.Message)
	require.Equal(t, "it was at its top already", r.Records[2].Result.Message)
	// More comes when its end is reached.
	pass(t, `<div id=box style="height:100px;overflow:auto"><div id=in style="height:99px">x</div></div>`+
		`<script>setTimeout(() => document.querySelector("#in").style.height = "900px", 400)</script>`,
		scroll("#in", "down"))
}

// Lists that show a part of their entries, and move it by the events of the wheel.
func TestVirtualLists(t *testing.T) {
	t.Parallel()
	// As rc-virtual-list does: what overflows is hidden, and scripts set its scrollTop.
	pass(t, `<div id=list style="height:200px;overflow:hidden"><div id=in></div></div><script>
		const render = () => { const first = Math.min(988, Math.floor(list.scrollTop / 20));
		document.querySelector("#in").innerHTML = "<div style='height:" + 1000 * 20 + "px;position:relative'>" +
			Array.from({length: 12}, (_, i) => "<div class=row style='position:absolute;height:20px;top:" + (first + i) * 20 + "px'>row " + `+
		`(first + i) + "</div>").join("") + "</div>" };
		render(); list.addEventListener("wheel", (e) => { e.preventDefault(); list.scrollTop += e.deltaY; render() }, {passive: false})</script>`,
		scroll("#list", "down"), is(".row:first-child", step.TextIs, "row 8"), scroll("#list", "bottom"),
		is("#list", step.TextIs, "row 999", step.Contains),
		scroll("#list", "top"), is(".row:first-child", step.TextIs, "row 0"))
	// A transform in place of scrolling.
	pass(t, `<div id=list style="height:200px;overflow:hidden"><div id=in><div style="height:2000px">x</div></div></div><p id=out></p>`+
		`<script>let at = 0; const inner = document.querySelector("#in");
		list.onwheel = (e) => { e.preventDefault(); at = Math.max(0, Math.min(1800, at + e.deltaY));
		inner.style.transform = "translateY(" + -at + "px)"; out.textContent = at }</script>`,
		scroll("#list", "down"), is("#out", step.TextIs, "160"), scroll("#list", "bottom"), is("#out", step.TextIs, "1800"))
	// The page itself does not scroll, but what fills it does.
	pass(t, `<style>body { margin: 0 !important }</style><div id=app style="height:100vh;overflow:auto">`+
		`<div style="height:5000px">x</div></div><p id=out style="position:fixed;top:0"></p>
		<script>app.onscroll = () => out.textContent = app.scrollTop > 100</script>`, pageScroll("down"), is("#out", step.TextIs, "true"))
	fails(t, `<div id=list style="height:200px;overflow:hidden"><div style="height:2000px">x</div></div>`, store.CodeStepFailed,
		"nothing scrolls there",
		within(700, scroll("#list", "down")))
}

// What counts of an option is that it is selected in the end.
func TestSelectIsKept(t *testing.T) {
	t.Parallel()
	const list = `<select id=s><option value=1>One<option value=2>Two</select>`
	fails(t, list+`<script>s.onchange = () => s.value = "1"</script>`, store.CodeStepFailed, `it selected "One"`, choose("#s", "2"))
	fails(t, list+`<script>s.onchange = () => setTimeout(() => s.selectedIndex = -1)</script>`, store.CodeStepFailed,
		`none is selected`, choose("#s", "2"))
	// Rendered again, or accepted late.
	pass(t, `<div id=box>`+list+
		`</div><script>s.onchange = () => { const v = s.value; box.innerHTML = box.innerHTML; s.value = v }</script>`,
		choose("#s", "2"), is("#s", step.ValueIs, "2"))
	pass(t, list+`<script>s.onchange = () => { const v = s.value; s.value = "1"; setTimeout(() => s.value = v, 100) }</script>`,
		choose("#s", "2"), is("#s", step.ValueIs, "2"))
	pass(t, list+`<script>s.onchange = () => s.remove()</script>`, choose("#s", "2"), is("#s", step.Hidden))
	pass(t, list+`<script>s.onchange = () => location = "#next"</script>`, choose("#s", "2"), is("", step.URLIs, "#next", step.Contains))
}

func TestTypeKeys(t *testing.T) {
	t.Parallel()
	typing := func(s, text string) step.Step {
		a := step.Args{Text: &text}
		if s != "" {
			a.Selector = css(s)
		}
		return do(step.TypeKeys, a)
	}
	pass(t, `<input id=f value=abc onkeydown="out.textContent += event.key + event.isTrusted + ' '"><p id=out></p>`,
		typing("#f", "de"), is("#f", step.ValueIs, "abcde"), is("#out", step.TextIs, "dtrue etrue"), typing("", "f"),
		is("#f", step.ValueIs, "abcdef"))
	for _, body := range []string{`<input id=f type=number value=12>`, `<input id=f type=email value=12>`,
		`<textarea id=f>12</textarea>`, `<label id=l>Label <input id=f value=12></label>`} {
		pass(t, body, typing("#f", "34"), is("#f", step.ValueIs, "1234"))
	}
	pass(t, `<div id=f contenteditable>one <b>two</b></div>`, typing("#f", " three"), is("#f", step.TextIs, "one two three"))
	pass(t, `<textarea id=f>a</textarea>`, typing("#f", "\nb"), is("#f", step.ValueIs, "a\nb"))
	pass(t, `<div id=f tabindex=0 style="height:20px" onkeydown="this.textContent += event.key"></div>`, typing("#f", "xy"),
		is("#f", step.TextIs, "xy"))
	pass(t, `<x-a id=f></x-a><p id=out></p><script>const r = f.attachShadow({mode: "open", delegatesFocus: true}); r.innerHTML = "<input>"; `+
		`r.firstChild.oninput = (e) => out.textContent = e.target.value</script>`,
		typing("#f", "xy"), is("#out", step.TextIs, "xy"))
	inner := site(t, map[string]string{"/in": `<input id=f value=a>`})
	pass(t, `<iframe id=i src="`+foreign(inner)+`/in"></iframe>`, frame("#i", typing("#f", "b")), frame("#i", is("#f", step.ValueIs, "ab")))
	fails(t, `<p id=f>x`, store.CodeStepFailed, "does not take the focus", typing("#f", "x"))
	fails(t, `<input id=f readonly>`, store.CodeStepFailed, "it is read-only", typing("#f", "x"))
	pass(t, `<input id=f readonly><script>setTimeout(() => f.readOnly = false, 300)</script>`, typing("#f", "x"), is("#f", step.ValueIs, "x"))
	fails(t, `<input id=f><script>f.onfocus = () => f.blur()</script>`, store.CodeStepFailed, "does not take the focus", typing("#f", "x"))
}
