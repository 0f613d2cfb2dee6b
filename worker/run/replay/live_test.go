package replay_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/playback"
	"github.com/slipway-qa/slipway/worker/run/replay"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// liveSession is a live session on a page, with the test that uses it.
type liveSession struct {
	*replay.Live
	t   testing.TB
	ctx context.Context
}

// openLive opens a page with a body in a live session.
func openLive(t testing.TB, cfg replay.Config) *liveSession {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	t.Cleanup(cancel)
	if cfg.Lease == nil {
		cfg.Lease = lease()
	}
	l, err := replay.Open(ctx, patient(cfg))
	t.Cleanup(func() { release(cfg.Lease, l.Close()) })
	require.NoError(t, err)
	return &liveSession{l, t, ctx}
}

func openBody(t testing.TB, body string) *liveSession {
	t.Helper()
	return openLive(t, replay.Config{TestURL: site(t, map[string]string{"/": body})})
}

func (l *liveSession) snapshot() *snapshot.Snapshot {
	l.t.Helper()
	began := time.Now()
	s, err := l.Snapshot(l.ctx)
	l.t.Log("snapshot", time.Since(began))
	require.NoError(l.t, err)
	return s
}

func (l *liveSession) do(s step.Step) playback.Record {
	l.t.Helper()
	began := time.Now()
	r, err := l.Do(l.ctx, s)
	l.t.Log(s.Tool.Type, time.Since(began))
	require.NoError(l.t, err)
	return r
}

// node returns the only node of a role and name.
func (l *liveSession) node(s *snapshot.Snapshot, role, name string) snapshot.Node {
	l.t.Helper()
	var found []snapshot.Node
	for _, n := range s.Nodes {
		if n.Role == role && n.Name == name {
			found = append(found, n)
		}
	}
	require.Len(l.t, found, 1, "%s %q in %s", role, name, inJSON(s))
	return found[0]
}

func inJSON(s *snapshot.Snapshot) string {
	doc, _ := json.MarshalIndent(s, "", " ")
	return string(doc)
}

func TestLiveFirst(t *testing.T) {
	t.Parallel()
	l := openBody(t, `<h1>Shop</h1><form><label>Name <input id=n></label>`+
		`<button type=button onclick="out.textContent='hello '+n.value; setTimeout(()=>confirm('sure?'),0)">Go</button></form>
		<p id=out></p><table><tr><th>Who<th>Age<tr><td>Ann<td>3</table><div id=d>React</div><script>d.addEventListener("click",
		() => out.textContent = "d")</script>
		<ul><li>One <a href=#x>Delete</a><li>Two <a href=#x>Delete</a></ul>`)
	s := l.snapshot()
	name, go1 := l.node(s, "textbox", "Name"), l.node(s, "button", "Go")
	located, err := l.Locate(l.ctx, name.Ref, go1.Ref, "e999")
	require.NoError(t, err)
	doc, _ := json.Marshal(located)
	t.Log(string(doc))
	text := "Ann"
	r := l.do(step.Step{ID: "a", Tool: step.Tool{Type: step.InputText, Args: step.Args{Selector: &located[0].Selector, Text: &text}}})
	require.Equal(t, "PASSED", r.Status, r.Result.Message)
	r = l.do(step.Step{ID: "b", Tool: step.Tool{Type: step.Click, Args: step.Args{Selector: &located[1].Selector}}})
	require.Equal(t, "PASSED", r.Status, r.Result.Message)
	s = l.snapshot()
	require.NotNil(t, s.Dialog)
	require.Equal(t, "sure?", s.Dialog.Text)
	l.do(dialog("accept"))
	s = l.snapshot()
	l.node(s, "text", "hello Ann")
}

// What a page has begun when it is looked at is waited for, and what never ends is not.
func TestQuiet(t *testing.T) {
	t.Parallel()
	body := `<p id=out>none</p><p id=tick></p><div id=poll></div>
		<button onclick="setTimeout(() => out.textContent = 'timer', 400)">Timer</button>
		<button onclick="fetch('/slow').then((r) => r.text()).then((text) => out.textContent = text)">Fetch</button>
		<button onclick="const r = new XMLHttpRequest(); r.open('GET', '/slow?x'); r.onload = () => setTimeout(() => out.textContent = 'xhr', ` +
		`100); r.send()">XHR</button>
		<button onclick="let n = 0; const f = () => { out.textContent = 'frame ' + ++n; if (n ` +
		`< 20) requestAnimationFrame(f) }; f()">Frames</button>
		<button onclick="box.className = 'on'">Move</button><button onclick="fetch('/never')">Poll</button>
		<button onclick="setInterval(() => tick.textContent = Date.now(), 10)">Tick</button><button>Nothing</button>
		<style>#box { position: absolute; left: 10px; top: 400px; transition: left .4s }
		#box.on { left: 500px }</style><button id=box>Box</button>`
	base := site(t, map[string]string{"/": body}, func(mux *http.ServeMux) {
		mux.HandleFunc("/slow", func(w http.ResponseWriter, _ *http.Request) {
			<-time.After(300 * time.Millisecond)
			fmt.Fprint(w, "fetched")
		})
		mux.HandleFunc("/never", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	})
	l := openLive(t, replay.Config{TestURL: base})
	press := func(name string) (*snapshot.Snapshot, time.Duration) {
		t.Helper()
		r := l.do(click(fmt.Sprintf("button:nth-of-type(%d)", map[string]int{"Timer": 1, "Fetch": 2, "XHR": 3, "Frames": 4,
			"Move": 5, "Poll": 6, "Tick": 7, "Nothing": 8}[name])))
		require.Equal(t, playback.Passed, r.Status, r.Result.Message)
		began := time.Now()
		s := l.snapshot()
		t.Log(name, time.Since(began), s.Quiet)
		return s, time.Since(began)
	}
	l.snapshot()
	for name, text := range map[string]string{"Timer": "timer", "Fetch": "fetched", "XHR": "xhr", "Frames": "frame 20"} {
		s, _ := press(name)
		require.True(t, s.Quiet, name)
		l.node(s, "text", text)
	}
	s, _ := press("Move")
	require.Equal(t, 500, l.node(s, "button", "Box").Box[0])
	press("Nothing")
	// These have no end, and cost that only once.
	for _, name := range []string{"Poll", "Tick"} {
		press(name)
		s, _ := press("Nothing")
		require.True(t, s.Quiet, name)
	}
}
