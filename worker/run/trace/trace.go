// Package trace records what a test did and what it saw, as a zip that Playwright's trace
// viewer opens.
//
// A Recorder has the record of one test: its actions (one for each step, those of a step
// group or of a set-up as parts of one for the whole), the tree of the
// page before, at and after each, pictures, the console and the network. It writes version 8
// of the viewer's format, which its own viewers read since 1.53: trace.trace and
// trace.network are events, a line of JSON each, and resources/ holds bodies and pictures,
// each once, under the SHA-1 of its bytes. Trees are stored as differences: a subtree that a
// former snapshot of the frame has is a reference to it.
//
// A Snapshotter reads the page by one script (page/snapshot.js), over the session's BiDi
// connection in a world of its own, where the page cannot interfere; while it runs the next
// step already waits for its element. Without BiDi it is a command of the session.
//
// Everything of a page is hostile and bounded: the nodes, characters and time of a snapshot,
// the size and number of resources, and the trace as a whole. What does not fit is left out,
// and the trace says so in an action of its own. Recording never fails a test. All texts pass
// Config.Redact, and what Hide was told, before they are kept; names of headers that carry credentials hide the value.
//
// All is compressed as it comes and kept in memory, at most MaxBytes: the trace of a test
// that passed is usually dropped.
package trace

import (
	"bytes"
	"hash/maphash"
	"image"
	_ "image/jpeg" // the size of screenshots
	_ "image/png"
	"sync"
	"sync/atomic"
	"time"

	"github.com/slipway-qa/slipway/storage/step/redaction"
)

// MaxBytes bounds the zip of a trace.
const MaxBytes = 20 << 20

const (
	version = 8 // of the format
	// closing is what is left for the events that follow when the trace is full.
	closing = 1 << 20
	// MaxResource bounds the body of one resource.
	MaxResource = 1 << 20
	// maxPicture bounds a screenshot: that of a long page is larger than other resources.
	maxPicture   = 4 << 20
	maxResources = 2000
	maxSnapshots = 2000
	// maxText bounds the text of an error or a line of the console.
	maxText = 16 << 10
	// maxEvents bounds the lines of the console and the events of one kind.
	maxEvents = 20000
	// origin is where the clock of a trace begins, in ms: the viewer takes 0 for no time.
	origin = 1000
)

// Config is what a trace says of its test.
type Config struct {
	// Title is the name of the test, and Browser that of its browser.
	Title, Browser string
	// Redact replaces secrets in a text; nil leaves it. Hide adds secrets that a test finds.
	Redact func(string) string
	// Always keeps the trace of a test that passed, too.
	Always bool
	// Began is when the test began; now when zero.
	Began time.Time
}

// Recorder records the trace of one test. Its methods may be called concurrently; those of
// the nil Recorder do nothing.
type Recorder struct {
	cfg Config

	hiding sync.Mutex
	found  []string                           // by Hide
	hidden atomic.Pointer[redaction.Redactor] // of found

	mu        sync.Mutex
	trace     *stream
	network   *stream
	resources map[string]*resource
	stored    int64 // bytes of resources, compressed
	calls     int
	events    int
	snapshots int
	frames    map[string]*frame // by id
	seed      maphash.Seed      // of the hashes of their nodes
	latest    *Document         // the last snapshot of the page
	wanted    []name            // snapshots that the next document is
	notes     []string          // what is missing, each once
	full      bool
	now       func() time.Time
}

// New returns a recorder.
func New(cfg Config) *Recorder {
	if cfg.Began.IsZero() {
		cfg.Began = time.Now()
	}
	if cfg.Redact == nil {
		cfg.Redact = func(text string) string { return text }
	}
	r := &Recorder{cfg: cfg, trace: newStream(), network: newStream(), resources: map[string]*resource{}, frames: map[string]*frame{},
		seed: maphash.MakeSeed(), now: time.Now}
	r.event(map[string]any{"version": version, "type": "context-options", "origin": "library", "browserName": r.text(cfg.Browser),
		"platform": "linux", "wallTime": cfg.Began.UnixMilli(), "monotonicTime": origin, "sdkLanguage": "javascript",
		"title": r.text(cfg.Title), "options": map[string]any{}, "contextId": "context@1"})
	return r
}

// Hide replaces a secret that the test has found, in what is recorded from now on. The network
// is recorded at the end, and thus without it.
func (r *Recorder) Hide(secret string) {
	if r == nil {
		return
	}
	r.hiding.Lock()
	defer r.hiding.Unlock()
	r.found = append(r.found, secret)
	r.hidden.Store(redaction.New(r.found))
}

// redact replaces secrets in a text.
func (r *Recorder) redact(text string) string { return r.hidden.Load().Text(r.cfg.Redact(text)) }

// Keeps reports whether the trace of a test that ended so is kept: there is something in it,
// and the test did not pass, or those that do are kept too.
func (r *Recorder) Keeps(passed bool) bool {
	if r == nil || passed && !r.cfg.Always {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.calls > 0
}

// Picture adds a screenshot, from which secrets are gone, to the film of the test.
func (r *Recorder) Picture(data []byte, at time.Time) {
	if r == nil || len(data) == 0 {
		return
	}
	size, kind, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	key := r.store(data, kind, maxPicture)
	if key == "" {
		return
	}
	r.event(map[string]any{"type": "screencast-frame", "pageId": r.page(), "sha1": key, "width": size.Width, "height": size.Height,
		"timestamp": r.at(at), "frameSwapWallTime": at.UnixMilli()})
}

// Line is one of the console. URL is the address of the code.
type Line struct {
	Time         time.Time
	Level        string // debug, info, warning, error
	Text         string
	URL          string
	Line, Column int
}

// Console adds a line of the console.
func (r *Recorder) Console(l Line) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	text := r.text(l.Text)
	r.bounded(map[string]any{"type": "console", "time": r.at(l.Time), "pageId": r.page(), "messageType": l.Level, "text": text,
		"args": []any{}, "location": map[string]any{"url": r.text(l.URL), "lineNumber": l.Line, "columnNumber": l.Column}})
}

// Note says what is missing in the trace; each text once.
func (r *Recorder) Note(text string) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.note(text)
}

func (r *Recorder) note(text string) {
	const most = 20
	for _, known := range r.notes {
		if known == text {
			return
		}
	}
	if len(r.notes) < most {
		r.notes = append(r.notes, text)
	}
}

// Restart says that the test begins anew in another browser: what follows is behind it.
func (r *Recorder) Restart(reason string) {
	if r == nil {
		return
	}
	r.mu.Lock()
	r.wanted, r.latest = nil, nil
	recorded := r.calls > 0
	r.mu.Unlock()
	if !recorded {
		return
	}
	r.End(r.Begin(Action{Title: reason, Class: "Tracing", Method: "restart"}), "", false)
}

// Zip returns the trace as a zip. The recorder records nothing afterwards.
func (r *Recorder) Zip() ([]byte, error) {
	for _, text := range r.missing() {
		r.End(r.Begin(Action{Title: text, Class: "Tracing", Method: "note"}), "", false)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.archive()
}

func (r *Recorder) missing() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	notes := r.notes
	r.notes = nil
	return notes
}
