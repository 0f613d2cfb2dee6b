package replay_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	store "github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/playback"
	"github.com/slipway-qa/slipway/worker/run/replay"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// by returns the only node with an id.
func (l *liveSession) by(s *snapshot.Snapshot, id string) snapshot.Node {
	l.t.Helper()
	for _, n := range s.Nodes {
		if n.ID == id && n.Role != "text" {
			return n
		}
	}
	l.t.Fatalf("no node has the id %s: %s", id, s.Outline())
	return snapshot.Node{}
}

func TestSnapshotOfControls(t *testing.T) {
	t.Parallel()
	l := openBody(t,
		`<html lang=de-AT><script>document.title = "Shop"; Array.prototype.toJSON = String.prototype.toJSON = () => "wrong"</script>
		<button id=a title="Deletes all"><svg width=9 height=9><use href="#icon-trash"/></svg></button>
		<button id=b aria-pressed=true disabled>Bold</button><label for=c>Yes</label><input type=checkbox id=c checked>
		<div role=switch id=d aria-checked=mixed tabindex=0>Wifi</div><input type=password id=e value=hunter2 aria-label=Secret required>
		<input type=range id=f min=1 max=9 step=2 value=5 aria-label=Size><select id=g multiple aria-label=Colours>`+
			`<option value=r selected>Red<option disabled>Blue</select>
		<div role=slider id=h style="height:9px" aria-valuenow=3 aria-valuemin=0 aria-valuemax=7 aria-label=Depth tabindex=0></div>
		<details id=i><summary id=j>More</summary><a id=k href=/x>Inside</a></details><a id=m href="/new">New</a>`+
			`<textarea id=n placeholder=Note readonly>text</textarea>
		<div id=o contenteditable>edit me</div><button id=p aria-haspopup=menu aria-expanded=false aria-controls=q>Menu</button>`+
			`<ul id=q role=menu style="display:none"><li role=menuitem id=r>Open</ul>
		<div role=tablist><button role=tab id=s aria-selected=true>One</button></div><h3 id=u>Title <b>three</b></h3><input type=file id=v>`+
			`<p id=w aria-hidden=true><button id=x>Seen</button></p>
		<img id=y alt=""><img id=z alt="A cat" src=x><div style="display:none"><button id=none>None</button></div>
		<script>document.getElementById("n").focus()</script>`)
	s := l.snapshot()
	require.Equal(t, "Shop", s.Title)
	require.Equal(t, "de-AT", s.Lang)
	require.True(t, s.Quiet)
	require.Equal(t, 1, s.Windows)
	n := l.by(s, "a")
	require.Equal(t, []string{"button", "Deletes all"}, []string{n.Role, n.Name})
	require.Contains(t, n.Hints, "trash")
	n = l.by(s, "b")
	require.Equal(t, "true", n.Checked)
	require.True(t, n.Disabled)
	require.False(t, n.Interactive)
	n = l.by(s, "c")
	require.Equal(t, []string{"checkbox", "Yes", "Yes", "true"}, []string{n.Role, n.Name, n.Label, n.Checked})
	require.Equal(t, "mixed", l.by(s, "d").Checked)
	n = l.by(s, "e")
	require.True(t, n.Password && n.HasValue && n.Required && n.Editable)
	require.NotContains(t, inJSON(s), "hunter2")
	n = l.by(s, "f")
	require.Equal(t, []string{"slider", "5", "1", "9", "2"}, []string{n.Role, n.Value, n.Min, n.Max, n.Step})
	n = l.by(s, "g")
	require.Equal(t, []snapshot.Option{{Label: "Red", Value: "r", Selected: true}, {Label: "Blue", Value: "Blue", Disabled: true}}, n.Options)
	require.True(t, n.Multiple)
	n = l.by(s, "h")
	require.Equal(t, []string{"3", "0", "7"}, []string{n.Value, n.Min, n.Max})
	require.Equal(t, "false", l.by(s, "i").Expanded)
	require.Equal(t, "false", l.by(s, "j").Expanded)
	n = l.by(s, "k")
	require.True(t, n.Hidden)
	require.Equal(t, l.by(s, "j").Ref, n.Opener)
	require.Equal(t, "/new", l.by(s, "m").Href)
	n = l.by(s, "n")
	require.True(t, n.ReadOnly && n.Focused)
	require.Equal(t, "text", n.Value)
	n = l.by(s, "o")
	require.True(t, n.Editable && n.Interactive)
	require.Equal(t, "edit me", n.Value)
	n = l.by(s, "p")
	require.Equal(t, []string{"menu", "false"}, []string{n.Popup, n.Expanded})
	require.Equal(t, n.Ref, l.by(s, "r").Opener)
	require.Equal(t, "true", l.by(s, "s").Selected)
	n = l.by(s, "u")
	require.Equal(t, "Title three", n.Name)
	require.Equal(t, 3, n.Level)
	require.True(t, l.by(s, "v").Interactive)
	n = l.by(s, "x")
	require.Empty(t, n.Role)
	require.True(t, n.Interactive)
	require.Equal(t, "A cat", l.by(s, "z").Name)
	require.NotContains(t, s.Outline(), "None")
}

// What reacts is found however the page listens, and what lies over it.
func TestSnapshotOfReactions(t *testing.T) {
	t.Parallel()
	l := openBody(t, `<script>const nothing = () => {}</script><div id=a>Listener</div><div id=b onclick="1">Attribute</div>`+
		`<div id=c>Property</div><div id=d style="cursor:pointer">Cursor <b id=d1>in it</b></div>
		<div id=e tabindex=0>Focus</div><div id=f draggable=true>Drag</div><div id=g>Plain</div><div id=h>Double</div><div id=i>Hover</div>`+
		`<div id=j>Drop</div>
		<svg width=200 height=100><circle id=k cx=30 cy=30 r=20 fill=red /><rect id=l x=80 y=10 width=30 height=30 fill="#0000ff"/></svg>
		<div id=m style="height:40px;overflow:auto;width:200px"><p>one<p>two<p>three<p>four</div><button id=n>Under</button>`+
		`<button id=o>Free</button>
		<div id=cover style="position:fixed;left:0;bottom:0;width:100%;height:60px;background:white">Cookies <button id=ok>OK</button></div>
		<script>for (const [id, type] of [["a", "click"], ["h", "dblclick"], ["i", "mouseenter"], ["j", "drop"], ["k",
		"click"]]) document.getElementById(id).addEventListener(type, nothing);
		document.getElementById("c").onclick = nothing; document.addEventListener("click", nothing);
		n.style.cssText = "position:fixed;left:100px;bottom:10px"</script>`)
	s := l.snapshot()
	for id, want := range map[string]string{"a": "listener", "b": "listener", "c": "listener", "d": "cursor", "e": "tabindex",
		"f": "draggable", "h": "dblclick"} {
		n := l.by(s, id)
		require.Equal(t, want, n.Reacts, id)
		require.True(t, n.Interactive, id)
		require.NotEmpty(t, n.Name, id)
	}
	require.Equal(t, "hover", l.by(s, "i").Reacts)
	require.Equal(t, "drop", l.by(s, "j").Reacts)
	l.node(s, "text", "Plain")
	require.Equal(t, map[string]string{"shape": "circle", "background": "red"}, l.by(s, "k").Style)
	require.Equal(t, map[string]string{"shape": "square", "background": "blue"}, l.by(s, "l").Style)
	require.True(t, l.by(s, "k").Interactive)
	require.False(t, l.by(s, "l").Interactive)
	require.Equal(t, "y", l.by(s, "m").Scrolls)
	require.True(t, l.by(s, "n").Covered)
	require.False(t, l.by(s, "o").Covered)
	require.False(t, l.by(s, "ok").Covered)
	// The same element has the same ref.
	again := l.snapshot()
	require.Equal(t, l.by(s, "k").Ref, l.by(again, "k").Ref)
}

func TestSnapshotOfTablesFramesAndShadowRoots(t *testing.T) {
	t.Parallel()
	l := openBody(t, `<table id=t><tr><th>Thing<th>Price<tr><td rowspan=2>Lamp<td>1.50<tr><td>2.50</table>
		<div role=grid id=g><div role=row><span role=columnheader>Who</span><span role=columnheader>Age</span></div><div role=row>`+
		`<span role=gridcell>Ann</span><span role=gridcell id=age>33</span></div></div>
		<iframe id=f style="border:0;margin:0" srcdoc="<body style='margin:0'><button id=in>Inside</button>"></iframe><x-a></x-a>
		<script>document.querySelector("x-a").attachShadow({mode: "open"}).innerHTML = "<label>Deep <input></label><slot></slot>"</script>`)
	s := l.snapshot()
	cell := l.node(s, "cell", "2.50")
	require.Equal(t, []int{2, 1}, []int{cell.Row, cell.Column})
	require.Equal(t, "Price", cell.ColumnHeader)
	require.Equal(t, l.by(s, "t").Ref, cell.Table)
	cell = l.by(s, "age")
	require.Equal(t, []string{"gridcell", "Age", "Ann"}, []string{cell.Role, cell.ColumnHeader, cell.RowHeader})
	in, frame := l.by(s, "in"), l.by(s, "f")
	require.Equal(t, []string{"#f"}, in.Frame)
	require.Equal(t, frame.Box[0], in.Box[0])
	require.Equal(t, frame.Box[1], in.Box[1])
	deep := l.node(s, "textbox", "Deep")
	require.Equal(t, []string{"x-a"}, deep.Shadow)
	located, err := l.Locate(l.ctx, in.Ref, deep.Ref)
	require.NoError(t, err)
	require.Equal(t, "iframe[id=\"f\"]", located[0].Frames[0].Value)
	inner := step.Tool{Type: step.Click, Args: step.Args{Selector: &located[0].Selector}}
	r := l.do(step.Step{ID: "f", Tool: step.Tool{Type: step.InFrame, Args: step.Args{Selector: &located[0].Frames[0], Tool: &inner}}})
	require.Equal(t, playback.Passed, r.Status, r.Result.Message)
	text := "x"
	r = l.do(step.Step{ID: "g", Tool: step.Tool{Type: step.InputText, Args: step.Args{Selector: &located[1].Selector, Text: &text}}})
	require.Equal(t, playback.Passed, r.Status, r.Result.Message)
	require.Equal(t, "x", l.node(l.snapshot(), "textbox", "Deep").Value)
}

func TestSnapshotOfDialogs(t *testing.T) {
	t.Parallel()
	l := openBody(t, `<button id=a onclick="d.showModal()">Open</button><dialog id=d><button id=in onclick="d.close()">Close</button></dialog>
		<button id=b onclick="over.hidden = panel.hidden = false">Own</button><style>[hidden] { display: none !important }</style>
		<div id=over hidden style="position:fixed;inset:0;z-index:9;background:#0008"></div>`+
		`<div id=panel hidden style="position:fixed;left:30%;top:30%;width:40%;height:40%;z-index:10;background:white">Sure? `+
		`<button id=no>No</button></div>
		<div role=dialog id=r aria-label=Chat style="position:fixed;right:0;bottom:0">Chat <button>Send</button></div>`)
	s := l.snapshot()
	require.False(t, l.by(s, "r").Modal)
	l.do(click("#a"))
	s = l.snapshot()
	require.True(t, l.by(s, "d").Modal)
	require.True(t, l.by(s, "a").Covered)
	require.False(t, l.by(s, "in").Covered)
	l.do(click("#in"))
	l.do(click("#b"))
	s = l.snapshot()
	require.True(t, l.by(s, "panel").Modal)
	require.True(t, l.by(s, "a").Covered)
	require.False(t, l.by(s, "no").Covered)
}

// A dialog that a step opens stays for the next one, and is dismissed by another.
func TestLiveDialogsAndWindows(t *testing.T) {
	t.Parallel()
	base := site(t, map[string]string{"/": `<p id=out></p><button id=a onclick="out.textContent = confirm('Sure?')">Ask</button>` +
		`<a id=b href=/two target=_blank>Two</a>`,
		"/two": `<p id=p>second</p><button id=x onclick="window.close()">Close</button>`})
	l := openLive(t, replay.Config{TestURL: base, Screenshots: true, Capture: func(context.Context, replay.Artifact) string { return "file" }})
	l.do(named("s1", click("#a")))
	s := l.snapshot()
	require.Equal(t, "Sure?", s.Dialog.Text)
	require.Empty(t, s.Nodes)
	r := l.do(named("s2", dialog("accept")))
	require.Equal(t, playback.Passed, r.Status)
	l.node(l.snapshot(), "text", "true")
	l.do(click("#a"))
	r = l.do(named("s3", click("#b")))
	require.Contains(t, r.Result.Message, "dismissed the dialog")
	require.NotNil(t, r.Tool.Args.Selector.Fingerprint)
	s = l.snapshot()
	require.Equal(t, []int{2, 0}, []int{s.Windows, s.Window})
	l.do(window(step.WindowIndex, "1"))
	s = l.snapshot()
	require.Equal(t, 1, s.Window)
	l.node(s, "text", "second")
	l.do(click("#x"))
	s = l.snapshot()
	require.Equal(t, []int{1, 0}, []int{s.Windows, s.Window})
	// The steps before the dialog and after it have screenshots.
	require.False(t, l.Close())
	require.NotContains(t, l.Screenshots(), "s1")
	require.Equal(t, "file", l.Screenshots()["s2"])
}

func named(id string, s step.Step) step.Step {
	s.ID = id
	return s
}

func TestLiveFailures(t *testing.T) {
	t.Parallel()
	l := openBody(t, `<p>x`)
	r := l.do(within(200, click("#none")))
	require.Equal(t, playback.Failed, r.Status)
	require.Contains(t, r.Result.Message, "was not found")
	ctx, cancel := context.WithCancel(l.ctx)
	cancel()
	_, err := l.Snapshot(ctx)
	require.ErrorIs(t, err, context.Canceled)
	_, err = l.Do(l.ctx, click("p"))
	require.Error(t, err)
	require.True(t, l.Broken())
}

func TestLiveDoesNotOpenWhatItMayNot(t *testing.T) {
	t.Parallel()
	at := lease()
	l, err := replay.Open(context.Background(), replay.Config{Lease: at, TestURL: "file:///etc/passwd"})
	defer func() { release(at, l.Close()) }()
	var refused *replay.LiveError
	require.ErrorAs(t, err, &refused)
	require.Equal(t, store.CodeForbidden, refused.Code)
}

// Secrets are typed, and are in no snapshot, selector or fingerprint afterwards.
func TestLiveSecrets(t *testing.T) {
	t.Parallel()
	base := site(t,
		map[string]string{"/": `<label>User <input id=u oninput="out.textContent = tell.textContent = 'Hello ' + this.value"></label>` +
			`<p id=out></p><button id=tell>x</button>`})
	l := openLive(t, replay.Config{TestURL: base, Lookup: func(step.Reference) (string, bool, bool) { return "s3cr3t-value", true, true }})
	text := "{{name}}"
	r := l.do(do(step.InputText, step.Args{Selector: css("#u"), Text: &text}))
	require.Equal(t, playback.Passed, r.Status, r.Result.Message)
	s := l.snapshot()
	require.NotContains(t, inJSON(s), "s3cr3t")
	require.Contains(t, inJSON(s), "Hello")
	located, err := l.Locate(l.ctx, l.by(s, "tell").Ref)
	require.NoError(t, err)
	require.NotContains(t, fmt.Sprint(located), "s3cr3t")
}

// A page that goes on without end is looked at within the bounds.
func TestSnapshotOfEndlessPage(t *testing.T) {
	t.Parallel()
	var body strings.Builder
	for i := range 20000 {
		fmt.Fprintf(&body, "<div class=row><b>Row %d</b> <button>Open</button></div>", i)
	}
	l := openBody(t, body.String())
	s := l.snapshot()
	require.True(t, s.Truncated)
	require.LessOrEqual(t, len(s.Nodes), 3000)
	l.node(s, "text", "Row 0")
}

// A page that leaves while it is looked at is looked at where it goes.
func TestSnapshotOfLeavingPage(t *testing.T) {
	t.Parallel()
	base := site(t, map[string]string{"/": `<script>setTimeout(() => location = "/two", 50)</script>one`, "/three": "three"},
		func(mux *http.ServeMux) {
			mux.HandleFunc("/two", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/three", http.StatusFound) })
		})
	l := openLive(t, replay.Config{TestURL: base})
	require.Eventually(t, func() bool { return strings.HasSuffix(l.snapshot().URL, "/three") }, time.Minute, 10*time.Millisecond)
}

// What a style sheet shows while the pointer is over its row is opened by pointing at that, and not by what
// stands before it and does something else.
func TestSnapshotOfToolsOfARow(t *testing.T) {
	t.Parallel()
	l := openBody(t, `<style>.tools { visibility: hidden }
		@media screen { .row:hover > .tools, .row:focus-within > .tools { visibility: visible } }</style>
		<div class=row id=a><span id=b style="cursor:pointer">Tea party</span><span class=tools><button id=c>Archive</button></span></div>
		<div class=row><span style="cursor:pointer">Old bike</span><span class=tools><button>Archive</button></span></div>`)
	s := l.snapshot()
	require.True(t, l.by(s, "c").Hidden)
	require.Equal(t, l.by(s, "a").Ref, l.by(s, "c").Opener)
	require.Contains(t, l.by(s, "a").Reacts, "hover")
}
