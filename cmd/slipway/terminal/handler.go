package terminal

import (
	"context"
	"io"
	"log/slog"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/slipway-qa/slipway/cmd/slipway-ci/progress"
)

// Handler prints records for people. It is used by several goroutines.
type Handler struct {
	out   *output
	level slog.Level
	attrs []slog.Attr
	group string
}

// output is what the handlers that come from one share.
type output struct {
	mu sync.Mutex
	to io.Writer
	// again counts for each line of the last second how often it came since.
	again map[string]int
}

// NewHandler returns a handler that prints records from level on. At slog.LevelDebug
// it prints all of them, whole.
func NewHandler(to io.Writer, level slog.Level) *Handler {
	return &Handler{out: &output{to: to, again: map[string]int{}}, level: level}
}

// Enabled reports whether records of the level are read. Below warnings it reads all of
// them: that crashes were read is said at debug level, since in a storm they are many.
func (h *Handler) Enabled(_ context.Context, level slog.Level) bool {
	return level >= h.level || h.level <= slog.LevelInfo
}

// WithAttrs returns a handler whose records have the attributes as well.
func (h *Handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	next := *h
	next.attrs = slices.Clip(h.attrs)
	for _, a := range attrs {
		next.attrs = append(next.attrs, slog.Attr{Key: h.group + a.Key, Value: a.Value})
	}
	return &next
}

// WithGroup returns a handler that puts the name before those of attributes.
func (h *Handler) WithGroup(name string) slog.Handler {
	next := *h
	next.group = h.group + name + "."
	return &next
}

// Handle prints a record, if it is worth a line.
func (h *Handler) Handle(_ context.Context, r slog.Record) error {
	of := fields{}
	for _, a := range h.attrs {
		of.add("", a)
	}
	r.Attrs(func(a slog.Attr) bool {
		of.add(h.group, a)
		return true
	})
	h.out.mu.Lock()
	defer h.out.mu.Unlock()
	if h.level < slog.LevelInfo {
		return h.out.print(r.Time, progress.Printable(r.Level.String()+" "+r.Message+of.inBrackets(nil)))
	}
	line := clean(h.line(r, of))
	switch {
	case line == "":
		return nil
	case r.Level >= slog.LevelWarn:
		return h.out.print(r.Time, line)
	}
	return h.out.seldom(r.Time, line)
}

// line is what a person reads of a record, who did not ask for all; "" for nothing.
func (h *Handler) line(r slog.Record, of fields) string {
	switch {
	case r.Level >= max(slog.LevelWarn, h.level):
		return trouble(r, of)
	case r.Message == "task ended" && of.text("kind") == "crash:process" && of.text("outcome") == "succeeded":
		return crashesRead
	case r.Level < max(slog.LevelInfo, h.level):
		return ""
	case r.Message == "task ended":
		return succeeded[of.text("kind")]
	case r.Message == "request":
		return request(of)
	case of.is(Routine):
		return ""
	}
	return r.Message + of.inBrackets(aside)
}

// print writes a line with its time.
func (o *output) print(at time.Time, line string) error {
	_, err := io.WriteString(o.to, at.Format("15:04:05")+"  "+line+"\n")
	return err
}

// seldom prints a line at once, and that it came again once a second: twenty tasks of one
// kind that end together are two lines.
func (o *output) seldom(at time.Time, line string) error {
	if _, said := o.again[line]; said {
		o.again[line]++
		return nil
	}
	o.again[line] = 0
	time.AfterFunc(time.Second, func() { o.flush(line) })
	return o.print(at, line)
}

// flush ends a second of a line.
func (o *output) flush(line string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	n := o.again[line]
	if n == 0 {
		delete(o.again, line)
		return
	}
	o.again[line] = 0
	time.AfterFunc(time.Second, func() { o.flush(line) })
	text := line
	if line != crashesRead {
		text += " (" + strconv.Itoa(n) + " more)"
	}
	_ = o.print(time.Now(), text) // a terminal that is gone is no failure of the program
}

// maxLine is the length of a line in characters: two lines of a usual terminal.
const maxLine = 240

// clean returns a text as a line for people, no longer than maxLine.
func clean(text string) string {
	text = progress.Printable(text)
	if letters := []rune(text); len(letters) > maxLine {
		return string(letters[:maxLine-1]) + "…"
	}
	return text
}
