package replay_test

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/redaction"
	"github.com/slipway-qa/slipway/worker/run/replay"
	"github.com/slipway-qa/slipway/worker/run/trace"
)

// traceSecret is the value of {{password}} in tests of traces.
const traceSecret = "correct horse/\"battery\""

// recording returns a recorder that knows the secret.
func recording(always bool) *trace.Recorder {
	return trace.New(trace.Config{Title: "Shop", Browser: "chrome", Always: always, Redact: redaction.New([]string{traceSecret}).Text})
}

func password(r step.Reference) (string, bool, bool) { return traceSecret, true, r.Name == "password" }

// unpacked returns the files of a trace, by name.
func unpacked(t testing.TB, data []byte) map[string]string {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	require.NoError(t, err)
	files := map[string]string{}
	for _, f := range z.File {
		r, err := f.Open()
		require.NoError(t, err)
		text, err := io.ReadAll(r) // checks the sum
		require.NoError(t, err)
		files[f.Name] = string(text)
	}
	return files
}

// traceEvent is a line of a trace: what tests look at.
type traceEvent struct {
	Type          string             `json:"type"`
	CallID        string             `json:"callId"`
	Title         string             `json:"title"`
	Text          string             `json:"text"`
	Method        string             `json:"method"`
	ParentID      string             `json:"parentId"`
	Params        map[string]string  `json:"params"`
	Point         map[string]float64 `json:"point"`
	Error         *struct{ Message string }
	AfterSnapshot string `json:"afterSnapshot"`
	Snapshot      struct {
		Name     string          `json:"snapshotName"`
		Frame    string          `json:"frameId"`
		HTML     json.RawMessage `json:"html"`
		Request  struct{ URL string }
		Response struct{ Status int }
	} `json:"snapshot"`
}

func traceEvents(t testing.TB, text string) (list []traceEvent) {
	t.Helper()
	for line := range strings.Lines(text) {
		var e traceEvent
		require.NoError(t, json.Unmarshal([]byte(line), &e), line)
		list = append(list, e)
	}
	return list
}

// traceShop is a site with what a trace has to show: a style sheet and a picture of files, a
// shadow root, a frame, a request with credentials, lines of the console, and fields.
func traceShop(t testing.TB) string {
	return site(t, map[string]string{
		"/": `<link rel=stylesheet href=/shop.css><h1 class=big>Shop</h1><img id=logo src=/logo.png><shop-cart></shop-cart>
<iframe src=/offer width=300 height=80></iframe><input id=user><input id=secret><p id=shown></p>
<button id=buy onclick="shown.textContent = secret.value; console.log('bought for ' + secret.value); console.error('no stock');
fetch('/api/cart', {method: 'POST', headers: {Authorization: 'Bearer ' + 12345}, body: JSON.stringify({password: secret.value})})
.then((r) => r.json()).then((r) => { done.textContent = r.state })">Buy</button><p id=done></p>
<script>customElements.define('shop-cart', class extends HTMLElement { constructor() { super();
this.attachShadow({mode: 'open'}).innerHTML = '<style>b { color: rgb(1, 2, 3) }</style><b id=count>7 things</b>' } })</script>`,
		"/offer": `<b id=offer>An offer</b>`,
	}, func(mux *http.ServeMux) {
		mux.HandleFunc("/shop.css", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/css")
			fmt.Fprint(w, ".big { color: rgb(10, 20, 30) }")
		})
		mux.HandleFunc("/logo.png", func(w http.ResponseWriter, _ *http.Request) {
			img := image.NewRGBA(image.Rect(0, 0, 40, 30))
			img.Set(1, 1, color.RGBA{200, 0, 0, 255})
			w.Header().Set("Content-Type", "image/png")
			_ = png.Encode(w, img)
		})
		mux.HandleFunc("/api/cart", func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Set-Cookie", "session=abcdef")
			_ = json.NewEncoder(w).Encode(map[string]string{"state": "ordered", "echo": string(body)})
		})
	})
}

// tracedShop plays a test of the shop that fails at its end, and returns its trace.
func tracedShop(t testing.TB) []byte {
	recorder := recording(false)
	failing := is("#done", step.TextIs, "sent")
	failing.TimeoutMS = 1500
	r := play(t, replay.Config{TestURL: traceShop(t), Lookup: password, Trace: recorder, Screenshots: true, Steps: []step.Step{
		input("#user", "ann"), input("#secret", "{{password}}"), click("#buy"), is("#done", step.TextIs, "ordered"), failing}})
	require.Equal(t, "FAILED", r.Status, r.Message)
	data, err := recorder.Zip()
	require.NoError(t, err)
	require.Less(t, len(data), 2<<20, "bytes for five steps")
	return data
}

func TestTraceHidesSecrets(t *testing.T) {
	t.Parallel()
	files := unpacked(t, tracedShop(t))
	for name, text := range files {
		require.NotContains(t, text, "correct horse", name)
		require.NotContains(t, text, "correct%20horse", name)
		require.NotContains(t, text, "Bearer 12345", name)
		require.NotContains(t, text, "session=abcdef", name)
	}
	require.Contains(t, files["trace.trace"], "bought for ***")
	require.Contains(t, files["trace.trace"], `"__playwright_value_":"***"`)
	bodies := 0
	for name, text := range files {
		if strings.HasPrefix(name, "resources/") && strings.Contains(text, "***") {
			bodies++
		}
	}
	require.Equal(t, 2, bodies, "of the request and of its response")
}

// A secret that a step saves is none that the recorder knew when the test began.
func TestTraceHidesSavedSecrets(t *testing.T) {
	t.Parallel()
	const saved = "hunter2 of the page"
	base := site(t, map[string]string{"/": `<input id=made type=password value="` + saved + `"><input id=out>
<button id=send onclick="console.log('sends ' + out.value); fetch('/?' + new URLSearchParams({q: out.value}), {method: 'POST', body: ` +
		`JSON.stringify({deep: btoa(out.value)})})
.then(() => { done.textContent = 'sent' })">Send</button><p id=done></p>`})
	recorder := recording(true)
	r := play(t, replay.Config{TestURL: base, Trace: recorder, Steps: []step.Step{saving(step.SavedValue, "#made", "", "token"),
		input("#out", "{{saved:token}}"), click("#send"), is("#done", step.TextIs, "sent")}})
	require.Equal(t, "PASSED", r.Status, r.Message)
	data, err := recorder.Zip()
	require.NoError(t, err)
	files := unpacked(t, data)
	for _, name := range []string{"trace.trace", "trace.network"} {
		require.NotContains(t, files[name], "hunter2", name)
		require.Contains(t, files[name], "***", name)
	}
	require.Contains(t, files["trace.trace"], "sends ***")
	for name, text := range files {
		require.NotContains(t, text, "aHVudGVyMi", name)
	}
}

func TestTraceOfPassedTestHasNoNetwork(t *testing.T) {
	t.Parallel()
	for _, always := range []bool{false, true} {
		recorder := recording(always)
		r := play(t, replay.Config{TestURL: traceShop(t), Trace: recorder, Steps: []step.Step{input("#user", "ann")}})
		require.Equal(t, "PASSED", r.Status, r.Message)
		require.Equal(t, always, recorder.Keeps(true))
		data, err := recorder.Zip()
		require.NoError(t, err)
		require.Equal(t, always, len(traceEvents(t, unpacked(t, data)["trace.network"])) > 0)
	}
}

// A hub without BiDi gives the pages, by commands of the session, and says what is missing.
func TestTraceWithoutBiDi(t *testing.T) {
	t.Parallel()
	l := lease()
	socket := l.Session.Capabilities["webSocketUrl"]
	delete(l.Session.Capabilities, "webSocketUrl")
	defer func() {
		l.Session.Capabilities["webSocketUrl"] = socket
		release(l, false)
	}()
	recorder := recording(true)
	r := play(t, replay.Config{Lease: l, TestURL: traceShop(t), Trace: recorder, Steps: []step.Step{input("#user", "ann"), click("#buy")}})
	require.Equal(t, "PASSED", r.Status, r.Message)
	data, err := recorder.Zip()
	require.NoError(t, err)
	files := unpacked(t, data)
	require.Empty(t, files["trace.network"])
	require.Contains(t, files["trace.trace"], `"__playwright_value_":"ann"`)
	require.Contains(t, files["trace.trace"], "No network and no console")
}

// What pages do to the browser's own functions, and how large they are, fails no step.
func TestTraceOfHostilePages(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		body string
		says string // in the trace
	}{
		"prototypes": {body: `<script>Object.defineProperty(Node.prototype, 'firstChild', {get() { return null }});
Object.defineProperty(Node.prototype, 'nextSibling', {get() { throw 1 }}); WeakMap.prototype.get = WeakMap.prototype.set = null;
Math.random = null; Object.defineProperty(CSSStyleSheet.prototype, 'cssRules', {get() { throw 1 }})</script><p>still here</p>`,
			says: "still here"},
		"large text": {body: `<p id=p></p><script>p.textContent = 'x'.repeat(50 << 20)</script>`, says: "the page is too large"},
		"elements":   {body: `<div id=d></div><script>d.innerHTML = '<i></i>'.repeat(60000)</script>`, says: "Snapshots are cut"},
		"deep": {body: `<div id=d></div><script>let at = d; for (let i = 0; i ` +
			`< 1000; i++) at = at.appendChild(document.createElement('div')); at.textContent = 'deepest'</script>`},
		"sheets": {body: `<script>for (let i = 0; i < 3000; i++) { const s = document.createElement('style');` +
			` s.textContent = '.a' + i + '{color:red}'; document.head.append(s) }</script><p>styled</p>`, says: "styled"},
		"a large sheet": {body: `<style id=s></style><script>s.textContent = '.a { color: red }'.repeat(200000)</script>`,
			says: "Snapshots are cut"},
		"odd attributes": {body: `<div id=d></div><script>d.setAttribute('@click', 'x'); d.setAttribute('\u2028', '"><script>')</script>` +
			`<p>odd</p>`, says: "odd"},
		"canvas":         {body: `<canvas id=c width=3000 height=3000></canvas>`, says: "__playwright_bounding_rect__"},
		"endless frames": {body: `<iframe src="/?1"></iframe><iframe src="/?2"></iframe>`},
		"dialogs":        {body: `<script>setTimeout(() => alert('now'), 50)</script><p>quiet</p>`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			recorder := recording(true)
			r := play(t, replay.Config{TestURL: site(t, map[string]string{"/": c.body +
				`<button id=b style="position:fixed;left:0;top:0;z-index:9">b</button>`}), Trace: recorder,
				Steps: []step.Step{click("#b"), click("#b")}})
			require.Equal(t, "PASSED", r.Status, r.Message)
			data, err := recorder.Zip()
			require.NoError(t, err)
			require.Less(t, len(data), 2<<20)
			files := unpacked(t, data)
			require.Contains(t, files["trace.trace"], c.says)
			traceEvents(t, files["trace.trace"])
			traceEvents(t, files["trace.network"])
		})
	}
}

// A page that has not changed costs a reference.
func TestTraceRefersToFormerSnapshots(t *testing.T) {
	t.Parallel()
	recorder := recording(true)
	r := play(t, replay.Config{TestURL: site(t, map[string]string{"/": rows(400)}), Trace: recorder, Steps: []step.Step{
		is("#add-3", step.TextIs, "Add"), is("#add-4", step.TextIs, "Add"), is("#add-5", step.TextIs, "Add")}})
	require.Equal(t, "PASSED", r.Status, r.Message)
	data, err := recorder.Zip()
	require.NoError(t, err)
	long, short := 0, 0
	for _, e := range traceEvents(t, unpacked(t, data)["trace.trace"]) {
		if e.Type != "frame-snapshot" {
			continue
		}
		if len(e.Snapshot.HTML) > 1000 {
			long++
		} else {
			require.Regexp(t, `^\[\[\d+,\d+\]\]$`, string(e.Snapshot.HTML))
			short++
		}
	}
	require.Equal(t, 1, long)
	require.GreaterOrEqual(t, short, 5)
}
