package replay_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	store "github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/playback"
	"github.com/slipway-qa/slipway/worker/run/replay"
)

func TestClickWaits(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"late": `<p id=out></p><script>setTimeout(() => { const b = document.createElement("button"); b.id = "b"; b.textContent = "Go";
			b.onclick = () => out.textContent = "clicked"; document.body.append(b) }, 700)</script>`,
		"covered for a while": `<p id=out></p><button id=b onclick="out.textContent='clicked'">Go</button>
			<div id=cover style="position:fixed;inset:0;background:#0008" onclick="out.textContent='cover'"></div>
			<script>setTimeout(() => cover.remove(), 400)</script>`,
		"moving": `<p id=out></p><button id=b style="position:absolute;top:100px;left:0" onclick="out.textContent='clicked'">Go</button>
			<script>const t0 = performance.now(); (function move() { const d = performance.now() - t0; b.style.left = Math.min(d, 500) + "px";
			if (d < 500) requestAnimationFrame(move) })()</script>`,
		"enabled later": `<p id=out></p><button id=b disabled onclick="out.textContent='clicked'">Go</button>
			<script>setTimeout(() => b.disabled = false, 400)</script>`,
		"far below": `<p id=out style="position:fixed;top:0"></p><div style="height:5000px"></div>` +
			`<button id=b onclick="out.textContent='clicked'">Go</button>`,
		"under a sticky header": `<div style="position:sticky;top:0;height:100px;background:red;z-index:2"><p id=out></p></div>` +
			`<button id=b onclick="out.textContent='clicked'">Go</button><div style="height:3000px"></div><script>scrollTo(0, 60)</script>`,
		"a part of the button": `<p id=out></p><button onclick="out.textContent='clicked'">` +
			`<svg id=b width=20 height=20 style="pointer-events:none"></svg></button>`,
		// It stops when the button is pressed: a press and a release on two buttons are
		// no click, whoever makes them.
		"replaced by the script": `<p id=out></p><div id=box></div><script>let n = 0; const i = setInterval(() => {
			box.innerHTML = "<button id=b onclick=\"out.textContent='clicked'\">Go</button>"; if (++n > 20) clearInterval(i) }, 25);
			addEventListener("pointerdown", () => clearInterval(i), true)</script>`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pass(t, body, click("#b"), is("#out", step.TextIs, "clicked"))
		})
	}
	fails(t, `<button id=b disabled>Go</button>`, store.CodeStepFailed, "it is disabled", click("#b"))
	fails(t, `<button id=b>Go</button><div class=modal style="position:fixed;inset:0"></div>`, store.CodeStepFailed,
		"it is covered by div.modal", click("#b"))
	fails(t, `<p>nothing</p>`, store.CodeStepFailed, "css #b was not found", click("#b"))
	fails(t, `<button id=b style="visibility:hidden">Go</button>`, store.CodeStepFailed, "is not visible", click("#b"))
	fails(t, `<p>x</p>`, store.CodeStepFailed, "selector", click("##"))
	fails(t, `<button class=b>1</button>`, store.CodeStepFailed, "was not found",
		do(step.Click, step.Args{Selector: &step.Selector{Type: step.CSS, Value: ".b", Index: new(int(1))}}))
}

func TestClickIsTrusted(t *testing.T) {
	t.Parallel()
	pass(t, `<button id=b onclick="out.textContent = event.isTrusted">Go</button><p id=out></p>`,
		click("#b"), is("#out", step.TextIs, "true"))
	pass(t, `<p id=out></p><ul><li><a href=#1>One</a><li><a href=# onclick="out.textContent='two'">Two</a></ul>`,
		do(step.Click, step.Args{Selector: xpath("//a[.='Two']")}), is("#out", step.TextIs, "two"))
}

func TestInput(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ body, text, want string }{
		"text":               {`<input id=f value=old>`, "new", "new"},
		"empty":              {`<input id=f value=old>`, "", ""},
		"textarea":           {`<textarea id=f>old</textarea>`, "a\r\nb", "a\nb"},
		"number":             {`<input id=f type=number>`, "42.5", "42.5"},
		"date":               {`<input id=f type=date>`, "2024-02-29", "2024-02-29"},
		"time":               {`<input id=f type=time>`, "13:37", "13:37"},
		"color":              {`<input id=f type=color>`, "#ff0000", "#ff0000"},
		"range":              {`<input id=f type=range min=0 max=10>`, "7", "7"},
		"limit":              {`<input id=f maxlength=3>`, "abcdef", "abc"},
		"label":              {`<label id=f>Name <input></label>`, "x", "x"},
		"editor":             {`<div id=f contenteditable><p>old</p></div>`, "new text", "new text"},
		"read-only at first": {`<input id=f readonly><script>setTimeout(() => f.readOnly = false, 300)</script>`, "x", "x"},
		"controlled": {`<input id=f><script>
			// As React does: its own setter sees what scripts set, and an input event counts
			// only when the value is another one than it has seen.
			const proto = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value"); let tracked = "", state = "";
			Object.defineProperty(f, "value", { get() { return proto.get.call(f) }, set(v) { tracked = v; proto.set.call(f, v) } });
			f.addEventListener("input", () => { const now = proto.get.call(f); if (now !== tracked) { tracked = now; state = now }
				queueMicrotask(() => { proto.set.call(f, state); tracked = state }) });
			f.addEventListener("change", () => proto.set.call(f, state))</script>`, "hello", "hello"},
		"masked": {`<input id=f><script>
			// Only keys count here; what is set goes away.
			let digits = ""; const show = () => f.value = digits.length > 3 ? "(" + digits.slice(0, 3) + ") " + digits.slice(3) : digits;
			f.addEventListener("keydown", (e) => { if (/^\d$/.test(e.key)) digits += e.key;
			if (e.key === "Backspace") digits = digits.slice(0, -1); });
			f.addEventListener("input", () => show())</script>`, "1234567", "(123) 4567"},
		"upper case": {`<input id=f oninput="this.value = this.value.toUpperCase()">`, "abc", "ABC"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			field := "#f"
			if name == "label" {
				field = "#f input"
			}
			r := pass(t, c.body, input("#f", c.text), is(field, step.ValueIs, c.want))
			require.Len(t, r.Fingerprints, 1)
		})
	}
	pass(t, `<p id=out></p><input id=f oninput="out.textContent += 'i'" onchange="out.textContent += 'c'" onfocus="out.textContent += 'f'">`,
		input("#f", "x"), is("#out", step.TextIs, "fic"))
	fails(t, `<input id=f readonly>`, store.CodeStepFailed, "it is read-only", input("#f", "x"))
	fails(t, `<input id=f disabled>`, store.CodeStepFailed, "it is disabled", input("#f", "x"))
	fails(t, `<input id=f type=date>`, store.CodeStepFailed, "does not take this text", input("#f", "tomorrow"))
	fails(t, `<input id=f type=checkbox>`, store.CodeStepFailed, "of type checkbox", input("#f", "x"))
	fails(t, `<div id=f>x</div>`, store.CodeStepFailed, "it takes no text", input("#f", "x"))
	fails(t, `<input id=f oninput="this.value = ''">`, store.CodeStepFailed, "does not take the text", input("#f", "x"))
}

// What counts of a text is that the page keeps it.
func TestInputIsKept(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ body, text, words string }{
		"set back by a timer": {`<input id=f oninput="setTimeout(() => f.value = '', 5)">`, "Ada", "does not take the text"},
		"replaced": {`<div id=box onchange="box.innerHTML = box.innerHTML"><input id=f></div>`, "Ada",
			"the page did not keep the text: the field is empty"},
		"replaced by a key": {`<div id=box oninput="if (!event.isTrusted) f.value = ''" onkeyup="if (event.key === 'a') box.innerHTML = ` +
			`'<input id=f>'"><input id=f></div>`, "Ada", "it changed while it was typed into"},
		"replaced when rendered": {`<div id=box onchange="requestAnimationFrame(() => box.innerHTML = '<input id=f value=Bob>')">` +
			`<input id=f></div>`, "Ada", `the field holds "Bob"`},
		"replaced, with a secret": {`<div id=box onchange="box.innerHTML = '<input id=f type=password value=Bob>'">` +
			`<input id=f type=password></div>`, "Ada", "the field holds another one"},
		"a cleared one, replaced": {`<div id=box onchange="box.innerHTML = box.innerHTML"><input id=f value=old></div>`,
			"", `the field holds "old"`},
		"out of a range":        {`<input id=f type=range min=0 max=10>`, "50", `makes "10" of this text`},
		"no color":              {`<input id=f type=color value="#00ff00">`, "a color", `of type color makes`},
		"a slider that is held": {`<input id=f type=range min=0 max=10 value=3 onchange="f.value = 3">`, "7", `the field holds "3"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fails(t, c.body, store.CodeStepFailed, c.words, input("#f", c.text))
		})
	}
	// Rendered again with the text, or gone because the text was all that it was for.
	pass(t, `<div id=box onchange="const v = f.value; box.innerHTML = '<input id=f>'; document.querySelector('#f').value = v">`+
		`<input id=f></div>`, input("#f", "Ada"), is("#f", step.ValueIs, "Ada"))
	pass(t, `<div id=box onchange="box.innerHTML = '<span id=f>' + f.value + '</span>'"><input id=f></div>`, input("#f", "Ada"),
		is("#f", step.TextIs, "Ada"))
	pass(t, `<input id=f type=color>`, input("#f", "#FF0000"), is("#f", step.ValueIs, "#ff0000"))
}

func TestSelect(t *testing.T) {
	t.Parallel()
	list := `<p id=out></p><select id=s onchange="out.textContent += 'c' + this.value" oninput="out.textContent += 'i'">
		<option value=1>One<option value=2>Two  words<option value=3>Three</select>`
	pass(t, list, choose("#s", "2"), is("#out", step.TextIs, "ic2"))
	pass(t, list, choose("#s", "Two words"), is("#s", step.ValueIs, "2"))
	pass(t, list, choose("#s", "index=2"), is("#s", step.ValueIs, "3"))
	pass(t, `<select id=s multiple><option>a<option>b<option>c</select>`, choose("#s", "a"), choose("#s", "c"),
		is("#s option:checked", step.Count, "2"), is("#s option:nth-child(3)", step.Checked), not(is("#s option:nth-child(2)", step.Checked)))
	pass(t, `<select id=s></select><script>setTimeout(() => s.innerHTML = "<option>late", 300)</script>`, choose("#s", "late"))
	fails(t, list, store.CodeStepFailed, "it has no such option", choose("#s", "4"))
	fails(t, `<ul id=s><li>1</ul>`, store.CodeStepFailed, "not a select list", choose("#s", "1"))
}

func TestPointerAndKeys(t *testing.T) {
	t.Parallel()
	pass(t, `<style>#menu { display: none } #top:hover #menu { display: block }</style>`+
		`<div id=top style="width:200px">Menu<div id=menu>Item</div></div>`,
		not(is("#menu", step.Visible)), do(step.Hover, step.Args{Selector: css("#top")}), is("#menu", step.Visible))
	// HTML5 drag and drop, and one by mouse events.
	pass(t, `<div id=a draggable=true style="width:80px;height:40px;background:red"
		ondragstart="event.dataTransfer.setData('text/plain', 'ball')">drag</div>
		<div id=z style="margin-top:80px;width:200px;height:80px;background:blue" ondragover="event.preventDefault()"
		ondrop="event.preventDefault(); this.textContent = event.dataTransfer.getData('text/plain')"></div>`,
		do(step.Drag, step.Args{Selector: css("#a"), Target: css("#z")}), is("#z", step.TextIs, "ball"))
	pass(t, `<div id=a style="width:80px;height:40px;background:red;position:absolute;left:0;top:0"></div>`+
		`<div id=z style="position:absolute;left:300px;top:300px;width:90px;height:90px;background:blue"></div><p id=out></p>
		<script>let on; a.onmousedown = () => on = true; document.onmousemove = (e) => { if (on) { a.style.left = e.clientX + 2 + "px";
		a.style.top = e.clientY + 2 + "px" } };
		document.onmouseup = (e) => { if (on) out.textContent = document.elementFromPoint(e.clientX, e.clientY).id }</script>`,
		do(step.Drag, step.Args{Selector: css("#a"), Target: css("#z")}), is("#out", step.TextIs, "z"))
	pass(t, `<input id=f value=abc onkeydown="out.textContent += event.key + (event.ctrlKey ? '!' : '') + ' '"><p id=out></p>`,
		do(step.PressKey, step.Args{Selector: css("#f"), Key: "Control+a"}), key("Delete"), key("x"),
		is("#f", step.ValueIs, "x"), is("#out", step.TextIs, "Control! a! Delete x"))
	pass(t, `<form action=/#sent onsubmit="event.preventDefault(); out.textContent = f.value"><input id=f></form><p id=out></p>`,
		input("#f", "hello"), do(step.EnterKeySubmit, step.Args{}), is("#out", step.TextIs, "hello"))
	fails(t, `<p>x`, store.CodeStepFailed, "unknown", key("Hyper+x"))
}

func TestScroll(t *testing.T) {
	t.Parallel()
	body := `<style>html { scroll-behavior: smooth }</style><p id=out style="position:fixed;top:0;left:300px"></p>
		<div id=box style="height:100px;width:100px;overflow:auto"><div id=in style="width:1000px;height:1000px">x</div></div>
		<div style="height:4000px;width:4000px"></div>
		<script>setInterval(() => out.textContent = [scrollX > 0, scrollY > 0, scrollY + innerHeight + 5 > document.documentElement.scrollHeight,
		box.scrollTop > 0, box.scrollLeft > 0].map(Number).join(""), 20)</script>`
	page := func(direction string) step.Step { return do(step.ScrollDocument, step.Args{Direction: direction}) }
	pass(t, body, page("down"), is("#out", step.TextIs, "01000"), page("bottom"), is("#out", step.TextIs, "01100"),
		page("up"), is("#out", step.TextIs, "01000"), page("right"), is("#out", step.TextIs, "11000"),
		page("left"), page("top"), is("#out", step.TextIs, "00000"),
		scroll("#box", "down"), is("#out", step.TextIs, "00010"), scroll("#in", "right"), is("#out", step.TextIs, "00011"),
		scroll("#in", "top"), is("#out", step.TextIs, "00001"))
}

func TestUpload(t *testing.T) {
	t.Parallel()
	content := []byte("name,value\n\x00\xff")
	received := make(chan string, 1)
	base := site(t, map[string]string{"/": `<form action=/upload method=post enctype=multipart/form-data>
		<input id=f type=file name=file style="display:none"><button id=b>Send</button></form>`}, func(mux *http.ServeMux) {
		mux.HandleFunc("/upload", func(w http.ResponseWriter, r *http.Request) {
			file, header, err := r.FormFile("file")
			if err != nil {
				received <- err.Error()
				return
			}
			defer file.Close()
			doc := make([]byte, header.Size)
			_, _ = file.Read(doc)
			received <- fmt.Sprintf("%s %s %x", header.Filename, header.Header.Get("Content-Type"), doc)
		})
	})
	give := do(step.UploadFile, step.Args{Selector: css("#f"), File: &step.File{Name: "data é.json", Content: content}})
	r := play(t, replay.Config{TestURL: base, Steps: []step.Step{give, click("#b")}})
	require.Equal(t, "PASSED", r.Status, r.Message)
	select {
	case got := <-received:
		require.Equal(t, fmt.Sprintf("data é.json application/json %x", content), got)
	case <-time.After(time.Minute):
		t.Fatal("nothing was sent")
	}
	fails(t, `<input id=f>`, store.CodeStepFailed, "not a file input", give)
	r = pass(t, `<input id=f type=file onchange="this.value = ''">`, give)
	require.Equal(t, "the page took the file, and the input is empty again", r.Records[0].Result.Message)
	r = pass(t, `<input id=f type=file onchange="this.remove()">`, give)
	require.Empty(t, r.Records[0].Result.Message)
}

// An input of several files keeps those that it has; one of a single file says that it
// gave up the one before.
func TestSecondFile(t *testing.T) {
	t.Parallel()
	file := func(name string) step.Step {
		return do(step.UploadFile, step.Args{Selector: css("#f"), File: &step.File{Name: name, Content: []byte(name)}})
	}
	page := func(kind string) string {
		return `<p id=out></p><input id=f type=file ` + kind +
			` onchange="out.textContent = Array.from(this.files, (f) => f.name + f.size).join()">`
	}
	r := pass(t, page("multiple"), file("a.txt"), file("b.txt"), is("#out", step.TextIs, "a.txt5,b.txt5"))
	require.Empty(t, r.Records[1].Result.Message)
	r = pass(t, page(""), file("a.txt"), file("b.txt"), is("#out", step.TextIs, "b.txt5"))
	require.Equal(t, `the input takes one file: it replaced "a.txt"`, r.Records[1].Result.Message)
}

func TestPauseAndFinish(t *testing.T) {
	t.Parallel()
	ms := 300
	start := time.Now()
	r := pass(t, `<p>x`, do(step.Pause, step.Args{Time: &ms}), do(step.Finish, step.Args{}), click("#nothing"))
	require.GreaterOrEqual(t, time.Since(start), 300*time.Millisecond)
	require.Equal(t, []string{playback.Passed, playback.Passed, playback.Skipped}, statuses(r))
}

func statuses(r replay.Result) []string {
	var all []string
	for _, record := range r.Records {
		all = append(all, record.Status)
	}
	return all
}

func TestOptional(t *testing.T) {
	t.Parallel()
	r := pass(t, `<button id=b onclick="this.textContent='done'">Go</button>`,
		within(300, optional(click("#popup"))), click("#b"), is("#b", step.TextIs, "done"))
	require.Equal(t, []string{playback.Skipped, playback.Passed, playback.Passed}, statuses(r))
	require.Contains(t, r.Records[0].Result.Message, "optional: css #popup was not found")
	require.False(t, r.Records[0].Result.Success)

	r = pass(t, `<div id=popup style="position:fixed;inset:0;background:#fff"><button id=close onclick="popup.remove()">x</button></div>`+
		`<button id=b>Go</button>`,
		optional(click("#close")), click("#b"))
	require.Equal(t, []string{playback.Passed, playback.Passed}, statuses(r))

	r = play(t, replay.Config{TestURL: site(t, map[string]string{"/": "x"}), Steps: []step.Step{within(200, click("#a")),
		click("#b"), click("#c")}})
	require.Equal(t, "FAILED", r.Status)
	require.Equal(t, []string{playback.Failed, playback.Skipped, playback.Skipped}, statuses(r))
	require.Empty(t, r.Records[1].Result.Message)
	require.False(t, r.Broken)
}
