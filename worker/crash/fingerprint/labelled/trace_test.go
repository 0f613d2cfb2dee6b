package labelled_test

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/slipway-qa/slipway/worker/crash/fingerprint/labelled"
)

// A traceReader turns what a program printed when it crashed into a report as the
// language's client would send it.
type traceReader func(output string) labelled.Text

var (
	backtraceLine = regexp.MustCompile(`^(\S+)\(([^()+]*)(?:\+0x([0-9a-f]+))?\)\[0x([0-9a-f]+)\]$`)
	sanitizerLine = regexp.MustCompile(`^\s+#\d+ 0x[0-9a-f]+ in (.+?) (?:(/\S+|\.\./\S+):(\d+)(?::\d+)?|\((\S+)\))$`)
	sanitizerHead = regexp.MustCompile(`AddressSanitizer: (\S+)`)
	goCall        = regexp.MustCompile(`^(.*)\.([^(]+)`)
	goCreated     = regexp.MustCompile(`^created by (.*)\.([^ ]+) in goroutine \d+$`)
	goPlace       = regexp.MustCompile(`^\s*(.*):(\d+)`)
	v8Place       = regexp.MustCompile(`^(.+):(\d+):(\d+)\)?$`)
	javaLine      = regexp.MustCompile(`^\s+at (\S+)\(([^:)]+)(?::(\d+))?\)$`)
	rustLine      = regexp.MustCompile(`^ +\d+: (.+)$`)
	rustPlace     = regexp.MustCompile(`^ +at (.+):(\d+):(\d+)$`)
)

// readBacktrace reads "signal 11" and the lines of backtrace_symbols_fd, without the
// program's own handler and the signal's return.
func readBacktrace(output string) labelled.Text {
	t := labelled.Text{Lang: "c", Agent: "backtrace-crashpad"}
	names := map[string]string{"11": "SIGSEGV", "8": "SIGFPE", "6": "SIGABRT", "7": "SIGBUS"}
	modules := make(map[string]bool)
	for line := range strings.Lines(output) {
		line = strings.TrimSpace(line)
		if number, found := strings.CutPrefix(line, "signal "); found {
			t.Classes = []string{names[number]}
		}
		m := backtraceLine.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		t.Frames = append(t.Frames, labelled.Frame{Function: m[2], Library: m[1], Address: "0x" + m[4]})
		if m[2] == "" && !modules[m[1]] {
			// Without a symbol the offset counts from the module's start.
			address, _ := strconv.ParseUint(m[4], 16, 64)
			offset, _ := strconv.ParseUint(m[3], 16, 64)
			modules[m[1]] = true
			t.Modules = append(t.Modules, labelled.Module{File: m[1], Start: "0x" + strconv.FormatUint(address-offset, 16), Size: "0x200000"})
		}
	}
	if len(t.Frames) > 2 {
		t.Frames = t.Frames[2:]
	}
	return t
}

func readSanitizer(output string) labelled.Text {
	t := labelled.Text{Lang: "c++", Agent: "backtrace-crashpad"}
	if m := sanitizerHead.FindStringSubmatch(output); m != nil {
		t.Classes = []string{m[1]}
	}
	for line := range strings.Lines(output) {
		line = strings.TrimRight(line, "\n")
		if message, found := strings.CutPrefix(line, "=="); found && len(t.Message) == 0 {
			if _, text, found := strings.Cut(message, "==ERROR: "); found {
				t.Message = []string{text}
			}
		}
		m := sanitizerLine.FindStringSubmatch(line)
		if m == nil {
			if len(t.Frames) > 0 {
				break // the stacks of the allocation and of the release follow
			}
			continue
		}
		t.Frames = append(t.Frames, labelled.Frame{Function: m[1], File: m[2], Line: m[3], Library: m[4]})
	}
	return t
}

// readGo splits names at the last dot, as the Go client does.
func readGo(output string) labelled.Text {
	t := labelled.Text{Lang: "go", Agent: "backtrace-go", Classes: []string{"runtime.errorString"}}
	header, stack, _ := strings.Cut(output, "\n\ngoroutine ")
	message := strings.TrimPrefix(strings.TrimSpace(header), "panic: ")
	if strings.Contains(message, "index out of range") {
		t.Classes = []string{"runtime.boundsError"}
	}
	t.Message = []string{message}
	stack, _, _ = strings.Cut(stack, "\n\n")
	lines := strings.Split(stack, "\n")[1:]
	for i := 0; i+1 < len(lines); i += 2 {
		m := goCreated.FindStringSubmatch(lines[i])
		if m == nil {
			m = goCall.FindStringSubmatch(lines[i])
		}
		place := goPlace.FindStringSubmatch(lines[i+1])
		if m != nil && place != nil {
			t.Frames = append(t.Frames, labelled.Frame{Function: m[2], Library: m[1], File: place[1], Line: place[2]})
		}
	}
	return t
}

// readPython reads the lines that cart.py's hook prints.
func readPython(output string) labelled.Text {
	t := labelled.Text{Lang: "python", Agent: "backtrace-python"}
	for line := range strings.Lines(output) {
		kind, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch kind {
		case "class":
			t.Classes = []string{value}
		case "message":
			t.Message = []string{value}
		case "frame":
			p := strings.Split(value, "|")
			t.Frames = append(t.Frames, labelled.Frame{Function: p[0], File: p[1], Library: p[1], Line: p[2]})
		}
	}
	return t
}

func readNode(output string) labelled.Text {
	t := labelled.Text{Lang: "nodejs", Agent: "@backtrace/node"}
	for line := range strings.Lines(output) {
		line = strings.TrimRight(line, "\n")
		if class, found := strings.CutPrefix(line, "class "); found {
			t.Classes = []string{class}
		}
		if message, found := strings.CutPrefix(line, "message "); found {
			t.Message = []string{message}
		}
		at, found := strings.CutPrefix(strings.TrimSpace(line), "at ")
		if !found {
			continue
		}
		// As the client has it: the path is the library, a call without a name is
		// anonymous, and a native one keeps its (<anonymous>).
		name, place, named := strings.Cut(strings.TrimPrefix(at, "async "), " (")
		switch {
		case !named:
			name, place = "anonymous", name
		case place == "<anonymous>)":
			name, place = name+" (<anonymous>)", ""
		}
		f := labelled.Frame{Function: name}
		if m := v8Place.FindStringSubmatch(place); m != nil {
			f.Library, f.Line, f.Column = m[1], m[2], m[3]
		}
		t.Frames = append(t.Frames, f)
	}
	return t
}

func readJava(output string) labelled.Text {
	t := labelled.Text{Lang: "java", Agent: "backtrace-java"}
	for line := range strings.Lines(output) {
		line = strings.TrimRight(line, "\n")
		if head, found := strings.CutPrefix(line, `Exception in thread "main" `); found {
			class, message, _ := strings.Cut(head, ": ")
			t.Classes, t.Message = []string{class}, []string{message}
		}
		if m := javaLine.FindStringSubmatch(line); m != nil {
			t.Frames = append(t.Frames, labelled.Frame{Function: m[1], File: m[2], Line: m[3]})
		}
	}
	return t
}

func readRust(output string) labelled.Text {
	t := labelled.Text{Lang: "rust", Agent: "backtrace-crashpad", Classes: []string{"panic"}}
	panicked := false
	for line := range strings.Lines(output) {
		line = strings.TrimRight(line, "\n")
		if panicked && len(t.Message) == 0 {
			t.Message = []string{line}
		}
		panicked = panicked || strings.Contains(line, "panicked at ")
		if m := rustLine.FindStringSubmatch(line); m != nil {
			t.Frames = append(t.Frames, labelled.Frame{Function: m[1]})
		} else if m := rustPlace.FindStringSubmatch(line); m != nil && len(t.Frames) > 0 {
			last := &t.Frames[len(t.Frames)-1]
			last.File, last.Line, last.Column = m[1], m[2], m[3]
		}
	}
	return t
}
