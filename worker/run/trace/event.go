package trace

import (
	"encoding/json"
	"strings"
	"time"
)

// at is a time on the clock of the trace, in ms.
func (r *Recorder) at(t time.Time) float64 {
	return origin + max(float64(t.Sub(r.cfg.Began).Microseconds())/1000, 0)
}

// text returns a text without secrets, and bounded.
func (r *Recorder) text(text string) string {
	text = r.redact(text)
	if len(text) > maxText {
		text = text[:maxText] + "…"
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}

// event writes an event, unless the trace is at its very end.
func (r *Recorder) event(event any) {
	if line, err := json.Marshal(event); err == nil {
		r.line(r.trace, line)
	}
}

// bounded writes an event of which a page can make any number.
func (r *Recorder) bounded(event any) {
	if r.events++; r.events > maxEvents {
		r.note("The trace is cut: there are too many events")
		return
	}
	if r.roomFor(0) {
		r.event(event)
	}
}
