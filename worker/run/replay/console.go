package replay

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/slipway-qa/slipway/worker/browser/webdriver"
)

const (
	// consoleLines and consoleBytes are what is kept of the console: its end. A page
	// can write without end.
	consoleLines = 1000
	consoleBytes = maxConsole
	consoleLine  = 64 << 10
	// consoleWait is how long the lines that are on their way are waited for.
	consoleWait = time.Second
	logEvent    = "log.entryAdded"
)

// console keeps the last lines that pages wrote since the test began, as events
// of the session's BiDi connection. A log that the driver keeps would grow until
// somebody asks for it.
type console struct {
	conn *webdriver.BiDi
	off  func()

	mu    sync.Mutex
	lines []consoleEntry
	size  int
	lost  bool // older ones were dropped
	heard int  // lines, also those that were dropped
}

type consoleEntry struct {
	at        int64 // Unix, ms
	level     string
	text, end string // what was written, and where in the code
	cut       bool   // text is but the beginning
}

// listen begins to keep the lines of a session; nil when it has no BiDi. The own
// browsers are subscribed by their pool, to the windows of the lease alone.
func listen(ctx context.Context, p *player) *console {
	if p.Lease.Mobile || p.s.Capabilities["webSocketUrl"] == nil {
		return nil
	}
	conn, err := p.s.BiDi(ctx)
	if err != nil {
		p.Log.DebugContext(ctx, "no BiDi for the console", "error", err)
		return nil
	}
	c := &console{conn: conn}
	c.off = conn.On(logEvent, c.hear)
	if !p.Lease.Local {
		if err := conn.Subscribe(ctx, logEvent); err != nil {
			p.Log.DebugContext(ctx, "no events of the console", "error", err)
			c.off()
			return nil
		}
	}
	return c
}

// levels are the names that drivers use in their logs.
var levels = map[string]string{"debug": "DEBUG", "info": "INFO", "warn": "WARNING", "error": "SEVERE"}

// hear keeps a line.
func (c *console) hear(params json.RawMessage) {
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
		e.text, e.cut = strings.Clone(bounded(e.text, consoleLine)), true
	}
	if frames := event.StackTrace.CallFrames; len(frames) > 0 && len(frames[0].URL) <= consoleLine {
		e.end = fmt.Sprintf(" (%s:%d:%d)", frames[0].URL, frames[0].LineNumber+1, frames[0].ColumnNumber+1)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lines = append(c.lines, e)
	c.heard++
	c.size += e.size()
	for len(c.lines) > consoleLines || c.size > consoleBytes {
		c.size -= c.lines[0].size()
		c.lines[0] = consoleEntry{}
		c.lines, c.lost = c.lines[1:], true
	}
}

func (c *console) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.heard
}

func (e consoleEntry) size() int { return len(e.text) + len(e.end) + 30 }

// entries gives what was kept, after the lines that are on their way have come:
// the answer to a command comes behind the events before it.
func (c *console) entries(ctx context.Context) (lines []consoleEntry, lost bool) {
	ctx, cancel := context.WithTimeout(ctx, consoleWait)
	defer cancel()
	if c.conn.Command(ctx, "session.status", nil, nil) == nil {
		// Their handler has a goroutine of its own, and a busy browser sends lines that
		// are long behind others: the last one has come when none comes any more.
		for before, heard := -1, c.count(); heard != before && rest(ctx, again) == nil; heard = c.count() {
			before = heard
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]consoleEntry(nil), c.lines...), c.lost
}

func (c *console) close() {
	if c != nil {
		c.off()
	}
}

// consoleText gives the console as lines of time, level, text and source, the last
// ones of it; "" where there is none.
func (p *player) consoleText(ctx context.Context) string {
	var lines []string
	lost := false
	if p.console != nil {
		var all []consoleEntry
		all, lost = p.console.entries(ctx)
		for _, e := range all {
			text := p.vault.redact(e.text)
			if e.cut { // half a secret may stand at the end
				text = bounded(text, max(len(text)-p.vault.longest(), 0))
			}
			lines = append(lines, consoleRow(e.at, e.level, text+p.vault.redact(e.end)))
		}
	} else {
		all, err := p.s.Log(ctx)
		if err != nil {
			return ""
		}
		for _, e := range all {
			lines = append(lines, consoleRow(e.Timestamp, e.Level, p.vault.redact(e.Message)))
		}
	}
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

func consoleRow(at int64, level, text string) string {
	return fmt.Sprintf("%s %s %s\n", time.UnixMilli(at).UTC().Format("15:04:05.000"), level, text)
}
