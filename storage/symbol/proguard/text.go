package proguard

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// Text retraces a text line by line as R8's retrace prints it: each frame is followed by
// those that it was inlined into, alternatives are marked with "<OR>", and all that is no
// stack trace stays as it is. With verbose methods are printed with their types.
func (m *Mapping) Text(text string, verbose bool) (string, error) {
	p := newPrinter(m, verbose)
	p.printed.text.Grow(len(text) + len(text)/2)
	var ahead [linesAhead]textLine
	for len(text) > 0 && p.err == nil {
		n := 0
		for ; n < len(ahead) && len(text) > 0; n++ {
			text = ahead[n].cut(text)
		}
		p.prepare(ahead[:n], len(text))
		for i := range ahead[:n] {
			p.printLine(&ahead[i])
		}
		p.printed.text.Write(p.out)
		p.out = p.out[:0]
	}
	return p.printed.text.String(), p.err
}

// Line is a line of a text and what it was retraced to.
type Line struct {
	Kind LineKind
	// Original is the frame that a FrameLine has, and the class that an ExceptionLine has.
	Original Frame
	// Retraced has the frames of a FrameLine. Of an ExceptionLine it has one alternative of
	// one frame, which has only a class.
	Retraced Retraced
	// Text has the lines as Text prints them; none when all that the line has is the compiler's.
	Text []string
}

// Lines retraces the lines of a text, which have no ends of lines.
func (m *Mapping) Lines(lines []string, verbose bool) ([]Line, error) {
	p := newPrinter(m, verbose)
	all := make([]Line, len(lines))
	for i, line := range lines {
		l := parseLine(line)
		p.out = p.out[:0]
		var t target
		if l.kind == FrameLine {
			t = p.target(l.class.of(line), l.method.of(line))
		}
		p.print(line, &l, &t, "\n")
		x := &all[i]
		x.Kind = l.kind
		if text := strings.TrimSuffix(string(p.out), "\n"); len(p.out) > 0 {
			x.Text = strings.Split(text, "\n")
		}
		switch l.kind {
		case FrameLine:
			x.Original = Frame{Class: l.class.of(line), Method: l.method.of(line), File: l.file.of(line), Line: int(max(l.number, 0))}
			x.Retraced = p.result.exported(&x.Original)
		case ExceptionLine:
			class, known := p.name(l.class.of(line))
			if !known && !strings.Contains(class, ".") { // any word may be one
				x.Kind = OtherLine
				continue
			}
			x.Original = Frame{Class: l.class.of(line)}
			x.Retraced = Retraced{ClassKnown: known, Found: known, Alternatives: [][]Frame{{{Class: class}}}}
		}
	}
	return all, p.err
}

// printer prints the lines of one text.
type printer struct {
	finder
	state   state
	verbose bool
	out     []byte
	printed printed
}

func newPrinter(m *Mapping, verbose bool) *printer {
	return &printer{finder: finder{access: access{m: m}}, verbose: verbose}
}

// name returns the original name of a class.
func (p *printer) name(name string) (string, bool) {
	c, ok := p.class(name)
	if !ok {
		return name, false
	}
	return string(p.text(c.original)), true
}

// print prints what a line is retraced to. t is what a FrameLine names.
func (p *printer) print(line string, l *traceLine, t *target, end string) {
	switch l.kind {
	case FrameLine:
		p.printFrame(line, l, t, end)
		return
	case ExceptionLine:
		class := p.exception(line, l)
		p.state = state{exception: l.class.of(line)}
		p.out = append(append(p.out, line[:l.class.from]...), class...)
		line = line[l.class.to:]
	default:
		if l.class, l.kind = p.circular(line); l.kind == ExceptionLine {
			p.print(line, l, t, end)
			return
		}
	}
	p.out = append(append(p.out, line...), end...)
}

// exception returns the original class of an exception. Where the mapping does not have
// it, it is the first name of the line that the mapping has; and if it has none, the first
// that has a package: what looks like a class may be the end of a message.
func (p *printer) exception(line string, l *traceLine) string {
	class, known := p.name(l.class.of(line))
	if known {
		return class
	}
	qualified := false
	for _, name := range exceptions(line) {
		if other, known := p.name(name.of(line)); known {
			l.class = name
			return other
		}
		if !qualified && strings.Contains(name.of(line), ".") {
			l.class, qualified = name, true
		}
	}
	return l.class.of(line)
}

// circular finds the exception that old virtual machines print as a circular reference,
// when the mapping has it.
func (p *printer) circular(line string) (span, LineKind) {
	i := strings.Index(line, circular)
	if i < 0 || strings.TrimSpace(line[:i]) != "" {
		return span{}, OtherLine
	}
	from := i + len(circular)
	to := nameAt(line, from)
	if to == from || to >= len(line) || line[to] != ']' {
		return span{}, OtherLine
	}
	if _, known := p.class(line[from:to]); !known {
		return span{}, OtherLine
	}
	return span{from, to}, ExceptionLine
}

// printFrame prints the frames of a line.
func (p *printer) printFrame(line string, l *traceLine, t *target, end string) {
	p.retrace(p.state, t, "", l.number, false)
	r := &p.result
	switch {
	case p.err != nil:
		return
	case !r.classKnown:
		p.out = append(append(p.out, line...), end...)
		return
	case !r.found:
		r.addOriginal([]byte(l.method.of(line)), p.state)
	}
	p.settle(l.file.of(line), l.number)
	r.distinct(p.verbose, l.number)
	p.state = r.next()
	r.sort()
	if len(r.alternatives) == 1 {
		for i := range r.frames[r.alternatives[0].from:r.alternatives[0].to] {
			p.printOne(line, l, &r.frames[r.alternatives[0].from+i], end)
		}
		return
	}
	p.printAlternatives(line, l, end)
}

// settle gives the frames their source files and lines as they are printed.
func (r *result) settle(file string, number int32) {
	for i := range r.frames {
		f := &r.frames[i]
		if f.file == nil {
			f.file = inferFile(f.class, file)
		}
		if f.line == -1 {
			f.line = number
		}
	}
}

// printOne prints a frame in place of that of the line.
func (p *printer) printOne(line string, l *traceLine, f *frame, end string) {
	p.out = append(p.out, line[:l.class.from]...)
	p.out = append(p.out, f.class...)
	p.out = append(p.out, line[l.class.to:l.method.from]...)
	if p.verbose && f.known {
		p.out = append(append(p.out, f.result...), ' ')
		p.out = append(p.out, f.method...)
		p.out = append(append(append(p.out, '('), f.types...), ')')
	} else {
		p.out = append(p.out, f.method...)
	}
	p.out = append(p.out, line[l.method.to:l.file.from]...)
	p.out = append(p.out, f.file...)
	switch {
	case f.line == -1 || l.number < 0 && p.result.ambiguous && !p.verbose:
		p.out = append(p.out, l.digits.of(line)...)
	case f.line > 0:
		p.out = strconv.AppendInt(append(p.out, ':'), int64(f.line), 10)
	}
	p.out = append(append(p.out, line[l.digits.to:]...), end...)
}

// printAlternatives prints the first frame of each alternative, then the second of each,
// and so on, and of equal ones the first.
func (p *printer) printAlternatives(line string, l *traceLine, end string) {
	r := &p.result
	for depth := 0; ; depth++ {
		more := false
		seen := map[string]bool{}
		for i, a := range r.alternatives {
			if a.from+depth >= a.to {
				continue
			}
			more = true
			from := len(p.out)
			p.printOne(line, l, &r.frames[a.from+depth], end)
			text := string(p.out[from:])
			if seen[text] {
				p.out = p.out[:from]
				continue
			}
			seen[text] = true
			if i > 0 {
				p.out = append(append(append(p.out[:from], text[:orIndex(text)]...), "<OR> "...), text[orIndex(text):]...)
			}
		}
		if !more {
			return
		}
	}
}

// orIndex returns where "<OR> " is put into a line.
func orIndex(line string) int {
	if i := strings.Index(line, "at "); i >= 0 {
		return i
	}
	return len(line) - len(strings.TrimLeft(line, " \t\v\f\r\n"))
}

// next returns the state after a frame: that of the alternative, when there is only one.
func (r *result) next() (s state) {
	n := 0
	var last state
	for _, a := range r.alternatives {
		last = a.state
		if a.from < a.to {
			s, n = a.state, n+1
		}
	}
	switch n {
	case 0:
		return last
	case 1:
		return s
	}
	return state{}
}

// distinct removes alternatives whose first frame is that of one before.
func (r *result) distinct(verbose bool, number int32) {
	if len(r.alternatives) < 2 {
		return
	}
	seen := map[string]bool{}
	r.alternatives = slices.DeleteFunc(r.alternatives, func(a alternative) bool {
		if a.from == a.to {
			return false
		}
		f := &r.frames[a.from]
		key := append(append(append(append([]byte(nil), f.class...), 0), f.method...), 0)
		key = append(key, f.file...)
		if verbose || number > 0 {
			key = strconv.AppendInt(append(key, 0), int64(f.line), 10)
		}
		if verbose {
			key = append(append(append(append(key, 0), f.result...), 0), f.types...)
		}
		found := seen[string(key)]
		seen[string(key)] = true
		return found
	})
}

// sort sorts the alternatives, and those without frames to the end.
func (r *result) sort() {
	if len(r.alternatives) < 2 {
		return
	}
	r.alternatives = slices.DeleteFunc(r.alternatives, func(a alternative) bool { return a.from == a.to })
	slices.SortStableFunc(r.alternatives, func(a, b alternative) int {
		x, y := &r.frames[a.from], &r.frames[b.from]
		return cmp.Or(bytes.Compare(x.class, y.class), bytes.Compare(x.method, y.method), bytes.Compare(x.result, y.result),
			slices.CompareFunc(bytes.Split(x.types, []byte(",")), bytes.Split(y.types, []byte(",")), bytes.Compare),
			bytes.Compare(x.file, y.file), cmp.Compare(x.line, y.line))
	})
}

// nativeMethod is what virtual machines print for the source of a native method.
const nativeMethod = "Native Method"

// inferFile returns the source file of a class of which the mapping does not say it: the
// outermost class, and the extension of the frame's file when that is Kotlin's.
func inferFile(class []byte, file string) []byte {
	if file == nativeMethod {
		return []byte(file)
	}
	name := class[bytes.LastIndexByte(class, '.')+1:]
	if i := bytes.IndexByte(name, '$'); i >= 0 {
		name = name[:i]
	}
	base := file[strings.LastIndexByte(file, '/')+1:]
	extension := ""
	if i := strings.LastIndexByte(base, '.'); i >= 0 {
		extension = base[i+1:]
	}
	outer, kotlin := bytes.CutSuffix(name, []byte("Kt"))
	switch {
	case kotlin && (extension == "" || extension == "kt"):
		return append(append([]byte(nil), outer...), ".kt"...)
	case extension == "kt":
		return append(append([]byte(nil), name...), ".kt"...)
	}
	return append(append([]byte(nil), name...), ".java"...)
}
