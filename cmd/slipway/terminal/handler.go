package terminal

import (
	"context"
	"io"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
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
	// crashes are those read since the line of crashes at said.
	crashes int
	said    time.Time
}

// NewHandler returns a handler that prints records from level on. At slog.LevelDebug
// it prints all of them.
func NewHandler(to io.Writer, level slog.Level) *Handler {
	return &Handler{out: &output{to: to}, level: level}
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
	line := h.line(r, of)
	if line == "" {
		return nil
	}
	_, err := io.WriteString(h.out.to, r.Time.Format("15:04:05")+"  "+clean(line)+"\n")
	return err
}

// line is what a person reads of a record; "" for nothing.
func (h *Handler) line(r slog.Record, of fields) string {
	switch {
	case r.Level >= max(slog.LevelWarn, h.level):
		return trouble(r, of)
	case h.level < slog.LevelInfo:
		return r.Message + of.inBrackets()
	case r.Message == "task ended" && of.text("kind") == "crash:process" && of.text("outcome") == "succeeded":
		return h.out.crash(r.Time, of.number("tasks"))
	case r.Level < max(slog.LevelInfo, h.level):
		return ""
	case r.Message == "task ended":
		return succeeded[of.text("kind")]
	case r.Message == "request":
		return request(of)
	case routine[r.Message]:
		return ""
	}
	return r.Message + of.inBrackets()
}

// crash counts crashes, and returns a line once a second: the first is told at once.
func (o *output) crash(at time.Time, tasks int64) string {
	o.crashes += int(max(1, tasks))
	if at.Sub(o.said) < time.Second {
		return ""
	}
	n := o.crashes
	o.crashes, o.said = 0, at
	if n == 1 {
		return "a crash was read"
	}
	return strconv.Itoa(n) + " crashes were read"
}

// maxLine is the length of a line in characters: two lines of a usual terminal.
const maxLine = 240

// clean returns a text of one line without control characters, which could move the
// cursor of a terminal, change its title or type for whoever sits there.
func clean(text string) string {
	text = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(text, "?"), func(r rune) bool {
		return r == ' ' || !unicode.IsGraphic(r)
	}), " ")
	if letters := []rune(text); len(letters) > maxLine {
		return string(letters[:maxLine-1]) + "…"
	}
	return text
}
