package replay_test

import (
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	store "github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/playback"
	"github.com/slipway-qa/slipway/worker/run/replay"
)

// A page that makes a file input of the field it is typed into receives no file of
// this machine.
func TestTypingUploadsNoFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "private.txt")
	require.NoError(t, os.WriteFile(path, []byte("content of the file"), 0o600))
	const turn = `f.value = ""; f.type = "file"`
	for name, script := range map[string]string{
		"after the input": `let n = 0; f.oninput = () => { if (!n++) setTimeout(() => { f.value = "x"; f.type = "file" }) }`,
		"by the input":    `f.oninput = () => { f.value = "x"; setTimeout(() => { ` + turn + ` }, 30) }`,
		"by the focus": `f.oninput = () => f.value = "x"; f.onchange = () => setTimeout(() => { f.blur(); f.onfocus = () => { ` +
			turn + ` } })`,
		"by the focus now": `let n = 0; f.oninput = () => { f.value = "x" }; f.onblur = () => n = 1; f.onfocus = () => { if (n) { ` +
			turn + ` } }`,
		"by the first key": `f.oninput = () => f.value = "x"; f.onkeydown = () => { ` + turn + ` }`,
		"by a later key":   `let n = 0; f.oninput = () => f.value = "x"; f.onkeydown = () => { if (++n === 3) { ` + turn + ` } }`,
		"by being read":    `f.oninput = () => f.value = "x"; f.select = () => { ` + turn + ` }`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			var got []string
			base := site(t, map[string]string{"/": `<input id=f><p id=end></p><script>` + script + `
				const tell = async () => { for (const file of f.files || []) await fetch("/got", {method: "POST",
				body: file.name + ": " + await file.text()}) };
				setInterval(tell, 20); f.addEventListener("change", tell); f.addEventListener("input", tell);
				setTimeout(() => end.textContent = f.type, 1500)</script>`},
				func(mux *http.ServeMux) {
					mux.HandleFunc("/got", func(_ http.ResponseWriter, r *http.Request) {
						body, _ := io.ReadAll(r.Body)
						mu.Lock()
						defer mu.Unlock()
						got = append(got, string(body))
					})
				})
			typing := optional(input("#f", path))
			r := play(t, replay.Config{TestURL: base, Steps: []step.Step{within(5000, typing),
				is("#end", step.TextIs, "", step.Contains), is("#end", step.TextIs, ".", step.Matches)}})
			require.Equal(t, "PASSED", r.Status, r.Message)
			mu.Lock()
			defer mu.Unlock()
			require.Empty(t, got)
		})
	}
}

// Keys reach what they are typed into.
func TestTyping(t *testing.T) {
	t.Parallel()
	// Only keys count here; what is set goes away.
	only := `<script>let text = ""; f.addEventListener("keydown", (e) => { if ([...e.key].length === 1) text += e.key;
		if (e.key === "Enter") text += "|" });
		f.addEventListener("input", () => f.value = text)</script>`
	pass(t, `<input id=f>`+only, input("#f", "aÄ€ z+@"), is("#f", step.ValueIs, "aÄ€ z+@"))
	pass(t, `<textarea id=f></textarea>`+only, input("#f", "one\r\ntwo"), is("#f", step.ValueIs, "one|two"))
	pass(t, `<form onsubmit="document.title = 'sent'"><input id=f></form>`+only, input("#f", "one\ntwo"),
		is("#f", step.ValueIs, "onetwo"), not(is("", step.TitleIs, "sent")))
	long := strings.Repeat("0123456789", 70)
	pass(t, `<input id=f>`+only, input("#f", long), is("#f", step.ValueIs, long))
	inner := site(t, map[string]string{"/in": `<input id=f>` + only})
	pass(t, `<iframe id=i src="`+strings.Replace(inner, "127.0.0.1", "localhost", 1)+`/in"></iframe>`,
		frame("#i", input("#f", "framed")), frame("#i", is("#f", step.ValueIs, "framed")))
	fails(t, `<input id=f oninput="this.value = ''"><input id=g><script>f.onfocus = () => g.focus()</script>`, store.CodeStepFailed,
		"does not take the focus", input("#f", "x"))
}

// A page that does not respond costs no more than the step's time and a grace.
func TestBlockedPage(t *testing.T) {
	t.Parallel()
	// A request that the page waits for holds its thread, from when the server has it.
	const block = `<input id=f><script>fetch("/begin").then(() => { const r = new XMLHttpRequest(); r.open("GET", "/blocked", false); ` +
		`r.send() })</script>`
	for name, c := range map[string]struct {
		body  string
		steps []step.Step
	}{
		"by itself":    {block, []step.Step{is("#f", step.Visible), within(500, click("#f"))}},
		"by its check": {block, []step.Step{is("#f", step.Visible), within(500, is("#f", step.Hidden))}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, begin, blocked, end := lease(), make(chan struct{}), make(chan struct{}), make(chan struct{})
			base := site(t, map[string]string{"/": c.body}, func(mux *http.ServeMux) {
				mux.HandleFunc("/begin", func(http.ResponseWriter, *http.Request) { <-begin })
				mux.HandleFunc("/blocked", func(http.ResponseWriter, *http.Request) { close(blocked); <-end })
			})
			r := play(t, replay.Config{Lease: l, TestURL: base, Steps: c.steps, Grace: time.Second, Progress: func(all []playback.Record) {
				if len(all) == 1 {
					close(begin)
					<-blocked
				}
			}})
			close(end)
			release(l, r.Broken)
			require.Equal(t, "FAILED", r.Status, r.Message)
			require.Contains(t, r.Message, "the page does not respond")
			require.True(t, r.Broken, "the driver is still busy with the page")
		})
	}
}

// What a page puts in place of the browser's own functions stays small.
// It is not parallel to other tests, which send long commands of their own.
func TestScriptResultsAreBounded(t *testing.T) {
	largest.Store(0)
	fails(t, `<p id=p data-x=1>x</p><script>String.prototype.slice = () => "x".repeat(9 << 20)</script>`, store.CodeStepFailed,
		"more than 8 MiB",
		within(30000, is("#p", step.AttributeIs, "y", "", "data-x"))) // so much takes its time on a busy machine
	// What was seen is longer as JSON, and is not sent back then.
	fails(t, `<p id=p>x</p><script>p.setAttribute("data-x", "\u0001".repeat(60000))</script>`, store.CodeAssertionFailed, "expected attribute",
		is("#p", step.AttributeIs, "y", "", "data-x"))
	require.Less(t, largest.Load(), int64(300<<10))
}

func TestHealedSelectorsAreBounded(t *testing.T) {
	t.Parallel()
	id := strings.Repeat("i", 300)
	print := step.Fingerprint{Tag: "button", Role: "button", Name: "Save", Text: "Save"}
	r := pass(t, `<button data-testid="`+id+`">Save</button>`, within(5000, do(step.Click, step.Args{Selector: printed("#gone", print)})))
	require.Equal(t, 1, r.Healed)
	require.Equal(t, "button", r.Records[0].Healed.To.Value)
	// A path of more than 2 KiB is none; a long name is no selector.
	print.Name = strings.TrimSpace(strings.Repeat("Save ", 30))
	print.Text = print.Name
	deep := strings.Repeat("<div><p></p></div><div>", 150)
	end := strings.Repeat("</div>", 150)
	fails(t, `<section>`+deep+`<button>`+print.Name+`</button>`+end+`</section><section>`+deep+`<button hidden>x</button>`+end+`</section>`,
		store.CodeStepFailed, "similar enough", within(800, do(step.Click, step.Args{Selector: printed("#gone", print)})))
}

// A fingerprint that an import guessed is replaced by a whole one.
func TestPartialFingerprint(t *testing.T) {
	t.Parallel()
	r := pass(t, `<button id=b>Save</button>`, do(step.Click, step.Args{Selector: printed("#b", step.Fingerprint{Text: "Save"})}))
	require.Equal(t, "button", r.Fingerprints["s1"].Tag)
}

// A message is cut after its secrets are gone: no half of one is left.
func TestSecretsAcrossCuts(t *testing.T) {
	t.Parallel()
	const value = "correct-horse-battery-staple"
	known := func(r step.Reference) (string, bool, bool) { return value, true, true }
	for cut, s := range map[int]step.Step{
		120: click("#" + strings.Repeat("x", 109) + "{{v}}"),
		40:  window(step.WindowIndex, strings.Repeat("x", 30)+"{{v}}"),
		41:  is("p", step.Count, strings.Repeat("x", 30)+"{{v}}"),
		42:  key(strings.Repeat("x", 30) + "{{v}}"),
		300: click("##" + strings.Repeat("x", 217) + "{{v}}"),
	} {
		r := play(t, replay.Config{TestURL: site(t, map[string]string{"/": "<p>x"}), Lookup: known, Steps: []step.Step{within(200, s)}})
		require.Equal(t, store.CodeStepFailed, r.Code, "%d: %s", cut, r.Message)
		for n := 4; n <= len(value); n += 4 {
			require.NotContains(t, r.Message, value[:n], cut)
		}
	}
}

// The console is its last lines, however much a page writes. They arrive behind the page, for
// which the last step leaves time.
func TestConsole(t *testing.T) {
	t.Parallel()
	var text string
	r := play(t, replay.Config{TestURL: site(t,
		map[string]string{"/": `<p>x<script>console.log("first"); for (let i = 0; i < 1200; i++) console.warn("line " + i);
		console.error("long " + "x".repeat(100000)); setTimeout(() => { setTimeout(() => document.body.append(done)); throw new Error("last") });
		const done = Object.assign(document.createElement("i"), { id: "done", textContent: "done" })</script>`}),
		Steps: []step.Step{within(30000, is("#done", step.Visible)), within(8000, click("#none"))},
		Capture: func(_ context.Context, a replay.Artifact) string {
			if a.Kind == store.Console {
				text = string(a.Data)
			}
			return "id"
		}})
	require.Equal(t, store.CodeStepFailed, r.Code)
	lines := strings.Split(strings.TrimSpace(text), "\n")
	require.LessOrEqual(t, len(lines), 1001)
	require.Equal(t, "…", lines[0])
	require.NotContains(t, text, "first")
	require.Regexp(t, `(?m)^\d\d:\d\d:\d\d\.\d{3} WARNING line 1199 \(http://127\.0\.0\.1:\d+/:\d+:\d+\)$`, text)
	long := slices.IndexFunc(lines, func(line string) bool { return strings.Contains(line, "SEVERE long xxx") })
	require.Positive(t, long)
	require.Less(t, len(lines[long]), 66000)
	require.Contains(t, lines[len(lines)-1], "last")
}
