package labelled

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Text is a report as a set writes it.
type Text struct {
	Lang, Agent   string
	Symbolication string
	Classes       []string
	Message       []string // lines
	Attributes    [][2]string
	Modules       []Module
	Frames        []Frame  // of the faulting thread
	Threads       []Thread // the others
}

// Module is a loaded module.
type Module struct{ File, Start, Size string }

// Thread is a thread that did not fail.
type Thread struct {
	Name   string
	Frames []Frame
}

// Frame is one stack frame; Line and Column are "" when unknown.
type Frame struct {
	Function           string
	File, Line, Column string
	Library, Address   string
	Debug              string
	Guessed, Faulted   bool
}

var (
	position = regexp.MustCompile(`^(.+?)(?::(\d+))?(?::(\d+))?$`)
	place    = regexp.MustCompile(`^\d+(?::\d+)?$`)
)

// parseFrame reads "function | file f:1:2 | lib l | at 0x1 | guessed"; "line 1:2" is
// for a frame that has no file.
func parseFrame(line string) (Frame, error) {
	parts := strings.Split(" "+strings.TrimSpace(line), " | ")
	f := Frame{Function: strings.TrimSpace(parts[0])}
	for _, p := range parts[1:] {
		key, value, _ := strings.Cut(strings.TrimSpace(p), " ")
		known := value != ""
		switch {
		case key == "file" && known:
			m := position.FindStringSubmatch(value)
			f.File, f.Line, f.Column = m[1], m[2], m[3]
		case key == "line" && place.MatchString(value):
			f.Line, f.Column, _ = strings.Cut(value, ":")
		case key == "lib" && known:
			f.Library = value
		case key == "at" && known:
			f.Address = value
		case key == "debug" && known:
			f.Debug = value
		case key == "guessed" && !known:
			f.Guessed = true
		case key == "faulted" && !known:
			f.Faulted = true
		default:
			return f, fmt.Errorf("frame: %q is not known", p)
		}
	}
	if f.Function == "" && f.Address == "" {
		return f, fmt.Errorf("frame: a function or an address is needed")
	}
	return f, nil
}

func (f *Frame) format() string {
	parts := []string{f.Function}
	place := joinNonEmpty(f.File, f.Line, f.Column)
	file, line := place, ""
	if f.File == "" {
		file, line = "", place
	}
	for _, p := range [][2]string{{"file ", file}, {"lib ", f.Library}, {"line ", line}, {"at ", f.Address}, {"debug ", f.Debug}} {
		if p[1] != "" {
			parts = append(parts, p[0]+p[1])
		}
	}
	if f.Guessed {
		parts = append(parts, "guessed")
	}
	if f.Faulted {
		parts = append(parts, "faulted")
	}
	return "  " + strings.TrimPrefix(strings.Join(parts, " | "), " ")
}

func joinNonEmpty(texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(s string) bool { return s == "" }), ":")
}

// Lines returns the report in the form of a set's file.
func (t *Text) Lines() []string {
	var lines []string
	add := func(key, value string) {
		if value != "" {
			lines = append(lines, key+" "+value)
		}
	}
	add("lang", t.Lang)
	add("agent", t.Agent)
	add("symbolication", t.Symbolication)
	for _, c := range t.Classes {
		add("class", c)
	}
	for _, m := range t.Message {
		lines = append(lines, "message "+m)
	}
	for _, a := range t.Attributes {
		add("attr", a[0]+" "+a[1])
	}
	for _, m := range t.Modules {
		add("module", m.File+" "+m.Start+" "+m.Size)
	}
	for i := range t.Frames {
		lines = append(lines, t.Frames[i].format())
	}
	for i := range t.Threads {
		add("thread", t.Threads[i].Name)
		for j := range t.Threads[i].Frames {
			lines = append(lines, t.Threads[i].Frames[j].format())
		}
	}
	return lines
}

// inherit completes side b of a pair with what it leaves out.
func (t *Text) inherit(a *Text) {
	if t.Symbolication == "" {
		t.Symbolication = a.Symbolication
	}
	t.Classes = inheritList(t.Classes, a.Classes)
	t.Message = inheritList(t.Message, a.Message)
	t.Attributes = inheritList(t.Attributes, a.Attributes)
	t.Modules = inheritList(t.Modules, a.Modules)
	t.Frames = inheritList(t.Frames, a.Frames)
	t.Threads = inheritList(t.Threads, a.Threads)
}

// inheritList returns own, or other when own was not written at all: a list that
// was removed with "-" is empty but not nil.
func inheritList[E any](own, other []E) []E {
	if own == nil {
		return other
	}
	return own
}
