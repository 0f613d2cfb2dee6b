package proguard

import (
	"hash/maphash"
	"strings"
)

// The lines of a text are looked up some at a time, one step for all before the next:
// indexes are larger than the caches of a processor, which then waits for several
// lines at once. And how a frame was printed is kept, and copied within the output when the
// same line follows: texts with many traces, as logs, have the same frames again and again.

// linesAhead is how many lines are looked up at a time.
const linesAhead = 16

// Bounds of the lines that are kept: a text has more lines than repeatAfter before any is,
// since most have no line twice. There is a place for each lineBytes of the text, at least
// minPrinted and at most maxPrinted, 64 bytes each. A line takes the place of another.
const (
	repeatAfter = 256
	minPrinted  = 1 << 9
	maxPrinted  = 1 << 15
	lineBytes   = 32
)

// textLine is a line of a text.
type textLine struct {
	text, end string
	hash      uint64
	place     *printedLine // nil: it is not kept
	parsed    bool
	traceLine
	target
}

// cut takes the first line off a text and returns the rest.
func (l *textLine) cut(text string) string {
	line, rest, ended := strings.Cut(text, "\n")
	end := ""
	if ended {
		end = "\n"
	}
	if strings.HasSuffix(line, "\r") {
		line, end = line[:len(line)-1], "\r"+end
	}
	l.text, l.end, l.place, l.parsed = line, end, nil, false
	return rest
}

// printed is the result, and the lines in it that are known again.
type printed struct {
	text   strings.Builder // without the lines that were prepared last
	lines  int             // of the text
	seed   maphash.Seed
	places []printedLine // as many as a power of two
}

// printedLine is what a frame was printed as, in the result. It holds for the same line
// again, since the frame depends on no line before it.
type printedLine struct {
	hash     uint64
	line     string
	end      string
	from, to int
	keeps    bool // the state for the lines that follow
}

// find sets the place of a line. rest is how many bytes of the text follow.
func (x *printed) find(l *textLine, rest int) {
	if x.lines++; x.lines < repeatAfter {
		return
	}
	if x.places == nil {
		count := minPrinted
		for count < maxPrinted && count < rest/lineBytes {
			count *= 2
		}
		x.seed, x.places = maphash.MakeSeed(), make([]printedLine, count)
	}
	l.hash = maphash.String(x.seed, l.text)
	l.place = &x.places[l.hash&uint64(len(x.places)-1)]
}

// prepare looks lines up. rest is how many bytes of the text follow.
func (p *printer) prepare(lines []textLine, rest int) {
	for i := range lines {
		p.printed.find(&lines[i], rest)
	}
	for i := range lines {
		l := &lines[i]
		if l.place != nil && l.place.hash == l.hash {
			continue // known again, unless the lines before say other
		}
		l.traceLine, l.parsed = parseLine(l.text), true
		if l.kind == FrameLine {
			l.target.class, l.known = p.class(l.traceLine.class.of(l.text))
		}
	}
	for i := range lines {
		l := &lines[i]
		if l.overloads, l.count = 0, 0; l.parsed && l.kind == FrameLine && l.known {
			l.overloads, l.count = p.member(&l.target.class, false, l.method.of(l.text))
		}
	}
}

// printLine prints a line that was prepared.
func (p *printer) printLine(l *textLine) {
	if p.repeat(l) {
		return
	}
	if !l.parsed {
		if l.traceLine = parseLine(l.text); l.kind == FrameLine {
			l.target = p.target(l.traceLine.class.of(l.text), l.method.of(l.text))
		}
	}
	from, before := len(p.out), p.state
	p.print(l.text, &l.traceLine, &l.target, l.end)
	if l.kind == FrameLine {
		p.keep(l, from, before)
	}
}

// repeat prints a line as it was printed before.
func (p *printer) repeat(l *textLine) bool {
	x := l.place
	if x == nil || x.hash != l.hash || p.state.outline || x.line != l.text || x.end != l.end {
		return false
	}
	if done := p.printed.text.Len(); x.from >= done {
		p.out = append(p.out, p.out[x.from-done:x.to-done]...)
	} else {
		p.out = append(p.out, p.printed.text.String()[x.from:x.to]...)
	}
	if !x.keeps {
		p.state = state{}
	}
	return true
}

// keep remembers how a frame was printed, from an index of p.out on.
func (p *printer) keep(l *textLine, from int, before state) {
	keeps := p.state == before && !p.found
	if l.place == nil || before.outline || p.depends || p.state != (state{}) && !keeps {
		return
	}
	done := p.printed.text.Len()
	*l.place = printedLine{hash: l.hash, line: l.text, end: l.end, from: done + from, to: done + len(p.out), keeps: keeps}
}
