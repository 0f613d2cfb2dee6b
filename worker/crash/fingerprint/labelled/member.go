package labelled

import (
	"fmt"
	"strings"
)

// removed is the value of a member that side b has not, though side a has it.
const removed = "-"

// member reads a line of a report, or a default of the file.
func (r *reader) member(key, value string) error {
	t := r.text
	if t == nil {
		if r.pair != nil || r.crash != nil || (key != "lang" && key != "agent") {
			return fmt.Errorf("%q belongs to a report", key)
		}
		t = &r.defaults
	}
	switch key {
	case "lang":
		t.Lang = value
	case "agent":
		t.Agent = value
	case "symbolication":
		t.Symbolication = value
	case "class":
		t.Classes = appendUnless(t.Classes, value == removed, value)
	case "message":
		t.Message = appendUnless(t.Message, value == removed, value)
	case "attr":
		name, v, found := strings.Cut(value, " ")
		if !found && value != removed {
			return fmt.Errorf("attr needs a key and a value")
		}
		t.Attributes = appendUnless(t.Attributes, value == removed, [2]string{name, v})
	case "module":
		fields := strings.Fields(value)
		if len(fields) != 3 && value != removed {
			return fmt.Errorf("module needs a file, a start and a size")
		}
		fields = append(fields, "", "")
		t.Modules = appendUnless(t.Modules, value == removed, Module{File: fields[0], Start: fields[1], Size: fields[2]})
	case "stack":
		if value != removed {
			return fmt.Errorf("stack is only written to remove it")
		}
		t.Frames = []Frame{}
	case "thread":
		t.Threads = append(t.Threads, Thread{Name: value})
		r.thread = &t.Threads[len(t.Threads)-1]
	default:
		return fmt.Errorf("%q is not known", key)
	}
	return nil
}

func appendUnless[E any](list []E, none bool, e E) []E {
	if none {
		return []E{}
	}
	return append(list, e)
}

func (r *reader) frame(line string) error {
	if r.text == nil {
		return fmt.Errorf("a frame belongs to a report")
	}
	f, err := parseFrame(line)
	if err != nil {
		return err
	}
	frames := &r.text.Frames
	if r.thread != nil {
		frames = &r.thread.Frames
	}
	*frames = append(*frames, f)
	return nil
}
