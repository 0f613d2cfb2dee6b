package session

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/slipway-qa/slipway/worker/browser/webdriver"
	"github.com/slipway-qa/slipway/worker/run/replay/failure"
	"github.com/slipway-qa/slipway/worker/run/trace"
)

const (
	// consoleLines and consoleBytes are what is kept of the console: its end. A page
	// can write without end.
	consoleLines = 1000
	consoleBytes = maxConsole
	consoleLine  = 64 << 10
	// consoleWait bounds the waiting for lines that are still on their way: long enough for a
	// browser that is slow, or a check that nothing was written holds too early.
	consoleWait = 5 * time.Second
	logEvent    = "log.entryAdded"
)

// Console keeps the last lines that pages wrote since the test began, as events
// of the session's BiDi connection. A log that the driver keeps would grow until
// it is read.
type Console struct {
	conn        *webdriver.BiDi
	unsubscribe func()
	trace       *trace.Recorder

	mu       sync.Mutex
	lines    []consoleEntry
	size     int
	lost     bool // older ones were dropped
	received int  // lines, also those that were dropped
}

type consoleEntry struct {
	at        int64 // Unix, ms
	level     string
	text, end string // what was written, and where in the code
	cut       bool   // text is only the beginning
}

// OpenConsole begins to keep the lines of a session; nil when it has no BiDi. The
// managed browsers are subscribed by their pool, to the windows of the lease alone.
func OpenConsole(ctx context.Context, s *Session) *Console {
	if s.Lease.Mobile || s.Driver.Capabilities["webSocketUrl"] == nil {
		return nil
	}
	conn, err := s.Driver.BiDi(ctx)
	if err != nil {
		s.Log.DebugContext(ctx, "no BiDi for the console", "error", err)
		return nil
	}
	c := &Console{conn: conn, trace: s.Trace}
	c.unsubscribe = conn.On(logEvent, c.add)
	if s.Lease.Local {
		return c
	}
	if err := conn.Subscribe(ctx, logEvent); err != nil {
		s.Log.DebugContext(ctx, "no events of the console", "error", err)
		c.unsubscribe()
		return nil
	}
	return c
}

// levels are the names that drivers use in their logs.
var levels = map[string]string{"debug": "DEBUG", "info": "INFO", "warn": "WARNING", "error": "SEVERE"}

// add keeps the line of an event.
func (c *Console) add(params json.RawMessage) {
	var event struct {
		Level      string `json:"level"`
		Text       string `json:"text"`
		Timestamp  int64  `json:"timestamp"`
		StackTrace struct {
			CallFrames []struct {
				URL          string `json:"url"`
				LineNumber   int    `json:"lineNumber"`
				ColumnNumber int    `json:"columnNumber"`
			} `json:"callFrames"`
		} `json:"stackTrace"`
	}
	if json.Unmarshal(params, &event) != nil {
		return
	}
	e := consoleEntry{at: event.Timestamp, level: levels[event.Level], text: event.Text}
	if e.level == "" {
		e.level = "INFO"
	}
	if len(e.text) > consoleLine {
		e.text, e.cut = strings.Clone(failure.Bounded(e.text, consoleLine)), true
	}
	line := trace.Line{Time: time.UnixMilli(e.at), Level: event.Level, Text: e.text}
	if frames := event.StackTrace.CallFrames; len(frames) > 0 && len(frames[0].URL) <= consoleLine {
		line.URL, line.Line, line.Column = frames[0].URL, frames[0].LineNumber+1, frames[0].ColumnNumber+1
		e.end = fmt.Sprintf(" (%s:%d:%d)", frames[0].URL, frames[0].LineNumber+1, frames[0].ColumnNumber+1)
	}
	c.trace.Console(line)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lines = append(c.lines, e)
	c.received++
	c.size += e.size()
	for len(c.lines) > consoleLines || c.size > consoleBytes {
		c.size -= c.lines[0].size()
		c.lines[0] = consoleEntry{}
		c.lines, c.lost = c.lines[1:], true
	}
}

func (c *Console) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.received
}

// Errors returns the first lines that are errors, each once, as far as they have come.
func (c *Console) Errors() (texts []string) {
	const most = 50
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range c.lines {
		if e.level == levels["error"] && len(texts) < most && !e.cut && !slices.Contains(texts, e.text) {
			texts = append(texts, e.text)
		}
	}
	return texts
}

func (e consoleEntry) size() int { return len(e.text) + len(e.end) + 30 }

// entries returns what was kept, after the lines that are on their way have come.
func (c *Console) entries(ctx context.Context) (lines []consoleEntry, lost bool) {
	ctx, cancel := context.WithTimeout(ctx, consoleWait)
	defer cancel()
	if c.conn.Settle(ctx) == nil {
		// A busy browser sends lines that are long behind others: the last one has come
		// when none comes any more.
		for before, received := -1, c.count(); received != before && Sleep(ctx, RetryPause) == nil; received = c.count() {
			before = received
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]consoleEntry(nil), c.lines...), c.lost
}

// Close ends the keeping of lines.
func (c *Console) Close() {
	if c != nil {
		c.unsubscribe()
	}
}

// consoleText returns the console as lines of time, level, text and source, the last
// ones of it; "" where there is none.
func (s *Session) consoleText(ctx context.Context) string {
	lines, lost := s.consoleLines(ctx)
	size, first := 0, len(lines)
	for first > 0 && len(lines)-first < consoleLines && size+len(lines[first-1]) <= maxConsole {
		first--
		size += len(lines[first])
	}
	text := strings.Join(lines[first:], "")
	if lost || first > 0 {
		return "…\n" + text
	}
	return text
}

// consoleLines returns the lines of the console without secrets, and whether earlier
// ones were dropped.
func (s *Session) consoleLines(ctx context.Context) (lines []string, lost bool) {
	if s.Console == nil {
		return s.driverLines(ctx), false
	}
	entries, lost := s.Console.entries(ctx)
	for _, e := range entries {
		text := s.Secrets.Redact(e.text)
		if e.cut { // half a secret may stand at the end
			text = failure.Bounded(text, max(len(text)-s.Secrets.longest(), 0))
		}
		lines = append(lines, consoleRow(e.at, e.level, text+s.Secrets.Redact(e.end)))
	}
	return lines, lost
}

// driverLines returns the lines that the driver kept.
func (s *Session) driverLines(ctx context.Context) (lines []string) {
	entries, err := s.Driver.Log(ctx)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		lines = append(lines, consoleRow(e.Timestamp, e.Level, s.Secrets.Redact(e.Message)))
	}
	return lines
}

func consoleRow(at int64, level, text string) string {
	return fmt.Sprintf("%s %s %s\n", time.UnixMilli(at).UTC().Format("15:04:05.000"), level, text)
}

// consoleErrors returns the lines of the console that are errors.
func (s *Session) consoleErrors(ctx context.Context) (errors []string, lost, known bool) {
	if s.Console == nil {
		return nil, false, false
	}
	lines, lost := s.consoleLines(ctx)
	for _, line := range lines {
		_, rest, _ := strings.Cut(line, " ") // behind the time
		if text, ok := strings.CutPrefix(rest, levels["error"]+" "); ok {
			errors = append(errors, text)
		}
	}
	return errors, lost, true
}
