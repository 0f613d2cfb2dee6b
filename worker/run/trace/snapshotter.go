package trace

import (
	"context"
	_ "embed" // the script
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/slipway-qa/slipway/worker/browser/webdriver"
)

//go:embed page/snapshot.js
var source string

// script is the function that reads a page, without the lines that are comments.
var script = compact(source)

func compact(text string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "//") {
			out.WriteString(line + "\n")
		}
	}
	return out.String()
}

const (
	// world is the name of the snapshots' own world in a page.
	world = "slipway-trace"
	// readTimeout bounds one snapshot; a page that does not respond has none.
	readTimeout = 5 * time.Second
	// again is after which time a page that was just being replaced is read once more.
	again = 30 * time.Millisecond
)

// Snapshotter reads the pages of one session.
type Snapshotter struct {
	mu      sync.Mutex
	reader  reader
	windows []string // the place of one is the number of its page
}

// NewSnapshotter returns a snapshotter for the pages that a recorder records.
func (r *Recorder) NewSnapshotter() *Snapshotter {
	return &Snapshotter{reader: reader{redact: r.redact, seed: r.seed, sheets: map[string]string{}}}
}

// Mark is the element that an action is about to meet: the one at a point.
type Mark struct {
	Point Point
	Call  string // of the action
}

// query is the argument of page/snapshot.js.
type query struct {
	Keep  bool       `json:"keep"`
	Frame string     `json:"frame"`
	Realm string     `json:"realm"`
	Seq   int        `json:"seq"`
	Nodes int        `json:"nodes"`
	Units int        `json:"units"`
	Sheet int        `json:"sheet"`
	MS    int        `json:"ms"`
	Point *[]float64 `json:"point,omitempty"`
	Call  string     `json:"call,omitempty"`
}

// Request asks for a snapshot of a window over BiDi, and returns what waits for it. It is on
// its way when Request returns, before the next command of the session.
func (s *Snapshotter) Request(ctx context.Context, conn *webdriver.BiDi, window string, mark *Mark) func() (*Document, error) {
	sent, err := s.send(ctx, conn, window, mark)
	return func() (*Document, error) {
		ctx, cancel := context.WithTimeout(ctx, readTimeout)
		defer cancel()
		doc, err := s.receive(ctx, sent, window, err)
		if err == nil || ctx.Err() != nil {
			return doc, err
		}
		// A page that is just being replaced cannot be read.
		wait := time.NewTimer(again)
		defer wait.Stop()
		select {
		case <-wait.C:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		sent, err := s.send(ctx, conn, window, mark)
		return s.receive(ctx, sent, window, err)
	}
}

func (s *Snapshotter) send(ctx context.Context, conn *webdriver.BiDi, window string, mark *Mark) (*webdriver.SentCommand, error) {
	return conn.Send(ctx, "script.callFunction", map[string]any{
		"functionDeclaration": script, "awaitPromise": false,
		"target":    map[string]string{"context": window, "sandbox": world},
		"arguments": []any{map[string]string{"type": "string", "value": s.argument(window, mark, true)}},
	})
}

func (s *Snapshotter) receive(ctx context.Context, sent *webdriver.SentCommand, window string, err error) (*Document, error) {
	if err != nil {
		return nil, fmt.Errorf("snapshot: %w", err)
	}
	var got struct {
		Type   string `json:"type"`
		Result struct {
			Type  string `json:"type"`
			Value any    `json:"value"`
		} `json:"result"`
	}
	if err := sent.Result(ctx, &got); err != nil {
		return nil, fmt.Errorf("snapshot: %w", err)
	}
	text, ok := got.Result.Value.(string)
	if !ok {
		return nil, errDocument
	}
	return s.read(window, text)
}

// Execute takes a snapshot by a command of the session: execute runs a script in the page, in
// the page's own world.
func (s *Snapshotter) Execute(window string, mark *Mark, execute func(script string, out any, args ...any) error) (*Document, error) {
	var text string
	if err := execute("return ("+script+")(arguments[0])", &text, s.argument(window, mark, false)); err != nil {
		return nil, fmt.Errorf("snapshot: %w", err)
	}
	return s.read(window, text)
}

func (s *Snapshotter) read(window, text string) (*Document, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.reader.read(pageID(s.number(window)), text)
}

func (s *Snapshotter) argument(window string, mark *Mark, keep bool) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := query{Keep: keep, Frame: fmt.Sprintf("frame@%d", s.number(window)), Nodes: maxNodes, Units: maxUnits, Sheet: maxSheet, MS: maxReadMS}
	if last := s.reader.last; last != nil && keep {
		q.Realm, q.Seq = last.realm, last.seq
	}
	if mark != nil {
		q.Point, q.Call = &[]float64{mark.Point.X, mark.Point.Y}, mark.Call
	}
	text, _ := json.Marshal(q) // texts and numbers
	return string(text)
}

// number returns the number of a window, from 1.
func (s *Snapshotter) number(window string) int {
	for i, known := range s.windows {
		if known == window {
			return i + 1
		}
	}
	s.windows = append(s.windows, window)
	return len(s.windows)
}

func pageID(number int) string { return fmt.Sprintf("page@%d", number) }
