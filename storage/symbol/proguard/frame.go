package proguard

import "encoding/binary"

// state is what the lines before say to the next: the exception that was thrown, for the
// first frame below it, and the line within an outlined method, for its caller.
type state struct {
	exception string
	outline   bool
	line      int32
}

// frame is a frame of the original program, of texts that belong to the mapping.
type frame struct {
	class, method, result, types []byte
	file                         []byte // nil: to be inferred from the class
	known                        bool   // the mapping knows the method
	line                         int32  // -1 none
	hidden                       bool   // only the compiler knows it
}

// alternative is one way to read a frame: frames, innermost first. Without frames all of
// it is the compiler's.
type alternative struct {
	from, to int // of the frames of the result
	state    state
}

// result is what a frame was retraced to. Its memory is used again.
type result struct {
	// classKnown: the mapping has the class. found: it has the method too.
	classKnown, found bool
	ambiguous         bool
	truncated         bool
	depends           bool   // on the exception
	original          []byte // the original class
	file              []byte // its source file
	frames            []frame
	alternatives      []alternative
	picks             []picked
}

func (r *result) reset() {
	*r = result{frames: r.frames[:0], alternatives: r.alternatives[:0], picks: r.picks[:0]}
}

// finder looks frames up, one after another. Its memory is used again.
type finder struct {
	access
	result
	// What is looked for.
	overloads uint32
	count     int64
	residual  string
	line      int32
	// named are the methods of the name when no row fits.
	named []methodRows
}

// target is the class and the methods that a frame names.
type target struct {
	class classRecord
	known bool // the mapping has the class
	// overloads and count are those of the method's name; count 0 when there are none.
	overloads uint32
	count     int64
}

// target looks the names of a frame up.
func (f *finder) target(class, method string) (t target) {
	if t.class, t.known = f.class(class); t.known {
		t.overloads, t.count = f.member(&t.class, false, method)
	}
	return t
}

// retrace looks a frame up. line is -1 when it has none. residual restricts it to methods
// with a signature in the obfuscated program; "" does not. With hidden the result has
// the frames that only the compiler knows too.
func (f *finder) retrace(s state, t *target, residual string, line int32, hidden bool) {
	f.reset()
	if !t.known {
		return
	}
	f.classKnown = true
	f.original, f.file = f.text(t.class.original), f.text(t.class.source)
	if t.count == 0 {
		return
	}
	f.overloads, f.count, f.residual, f.named = t.overloads, min(t.count, maxOverloads), residual, f.named[:0]
	f.pick(s, line)
	if len(f.picks)+len(f.named) == 0 {
		return
	}
	f.found = true
	f.build(s, hidden)
}

// wants reports whether an overload is asked for.
func (f *finder) wants(o *methodRows) bool {
	return f.err == nil && (f.residual == "" || f.is(o.residual, f.residual))
}

// pick finds the rows of a frame: those that contain its line, else those without a range;
// without a line those for line 0, else the first without a range, else the methods
// themselves.
func (f *finder) pick(s state, line int32) {
	f.line = line
	f.pickFirst(s)
	switch {
	case len(f.picks) > 0:
	case line > 0:
		f.pickAllPlain(s)
	default:
		for i := range f.count {
			if o := f.overload(f.overloads, i); f.wants(&o) && len(f.named) <= maxAlternatives {
				f.named = append(f.named, o)
			}
		}
	}
}

// pickFirst picks one frame of each overload.
func (f *finder) pickFirst(s state) {
	for i := range f.count {
		o := f.overload(f.overloads, i)
		if !f.wants(&o) {
			continue
		}
		var p picked
		if f.line > 0 {
			p = f.pickLine(&o, f.line)
		} else {
			p = f.pickAnyLine(&o)
		}
		if p.count == 0 {
			continue
		}
		if f.picks = append(f.picks, p); len(f.picks) > maxAlternatives || f.follow(s) {
			return
		}
	}
}

// pickAllPlain picks all rows without a range.
func (f *finder) pickAllPlain(s state) {
	for i := range f.count {
		o := f.overload(f.overloads, i)
		if !f.wants(&o) {
			continue
		}
		from := len(f.picks)
		if f.picks = f.pickPlain(f.picks, &o); from < len(f.picks) && f.follow(s) {
			return
		}
	}
}

// follow looks for the line of the call instead, where the frame below is an outlined method
// and the outermost of the rows picked last calls it. The line counts for all overloads.
func (f *finder) follow(s state) bool {
	if !s.outline {
		return false
	}
	line, ok := f.callerLine(&f.picks[len(f.picks)-1], s.line)
	if !ok {
		return false
	}
	f.picks, f.line = f.picks[:0], line
	for i := range f.count {
		if o := f.overload(f.overloads, i); f.wants(&o) && len(f.picks) <= maxAlternatives {
			if p := f.pickLine(&o, line); p.count > 0 {
				f.picks = append(f.picks, p)
			}
		}
	}
	return true
}

// callerLine returns the line that a line of an outlined method stands for in the outermost
// row; false when that does not call one.
func (f *finder) callerLine(p *picked, line int32) (int32, bool) {
	last := f.last(p)
	flags, text := f.infoOf(last.info)
	if flags&flagCallsite == 0 {
		return 0, false
	}
	if flags&flagRewrite != 0 {
		_, text = cutRewrite(text, "")
	}
	count, n := binary.Uvarint(text)
	text = text[max(n, 0):]
	for range count {
		from, n := binary.Varint(text)
		to, m := binary.Varint(text[max(n, 0):])
		if n <= 0 || m <= 0 {
			break
		}
		if from == int64(line) {
			return int32(to), true
		}
		text = text[n+m:]
	}
	return line, true
}

// infoOf reads flags of an encoded rowInfo, and returns what follows them.
func (x *access) infoOf(ref uint32) (flags byte, rest []byte) {
	text := x.text(ref)
	if len(text) == 0 {
		return 0, nil
	}
	return text[0], text[1:]
}

// cutRewrite reads the rewriting of a frame: how many inner frames are left out when an
// exception was thrown, and what follows.
func cutRewrite(text []byte, exception string) (remove int64, rest []byte) {
	count, n := binary.Uvarint(text)
	text = text[max(n, 0):]
	classes, n := binary.Uvarint(text)
	text = text[max(n, 0):]
	remove = int64(min(count, maxLineNumber))
	for range classes {
		size, n := binary.Uvarint(text)
		if n <= 0 || size > uint64(len(text)-n) {
			return 0, nil
		}
		if string(text[n:n+int(size)]) != exception {
			remove = 0
		}
		text = text[n+int(size):]
	}
	return remove, text
}

// build makes the frames of the rows.
func (f *finder) build(s state, hidden bool) {
	f.ambiguous = len(f.picks)+len(f.named) > 1
	for i := range f.picks {
		p := &f.picks[i]
		for n := int64(0); n < p.count && !f.ambiguous; n++ {
			row := f.row(&p.overload, p.first+n)
			f.ambiguous = row.ambiguous()
		}
	}
	for i := range f.picks {
		p := &f.picks[i]
		if !f.ambiguous {
			f.add(s, p, -1, hidden)
			continue
		}
		inner := f.row(&p.overload, p.first)
		if !inner.ambiguous() {
			f.add(s, p, -1, hidden)
			continue
		}
		for line := int64(inner.original.from); line <= int64(inner.original.to) && !f.full(); line++ {
			f.add(s, p, int32(line), hidden)
		}
	}
	for i := range f.named {
		f.addNamed(&f.named[i], hidden)
	}
}

// full reports whether there are as many alternatives as are listed.
func (f *finder) full() bool {
	f.truncated = f.truncated || len(f.alternatives) >= maxAlternatives
	return f.truncated || f.err != nil
}

// addNamed adds a method of which no row fits.
func (f *finder) addNamed(o *methodRows, hidden bool) {
	if f.full() {
		return
	}
	a := alternative{from: len(f.frames)}
	if o.flags&memberOutline != 0 {
		a.state = state{outline: true, line: f.line}
	}
	synthetic := o.flags&(memberSynthetic|memberOutline) != 0
	if !synthetic || hidden {
		f.frames = append(f.frames, f.frame(o.original, -1))
		f.frames[len(f.frames)-1].hidden = synthetic
	}
	a.to = len(f.frames)
	f.alternatives = append(f.alternatives, a)
}

// add adds the frames of rows. innermost is the line of the first; -1 that of its row.
func (f *finder) add(s state, p *picked, innermost int32, hidden bool) {
	if f.full() {
		return
	}
	flags, _ := f.infoOf(f.rowInfo(&p.overload, p.first+p.count-1))
	synthetic, outline := flags&(flagSynthetic|flagOutline) != 0, flags&flagOutline != 0
	if p.overload.flags&memberKnown != 0 {
		synthetic, outline = p.overload.flags&(memberSynthetic|memberOutline) != 0, p.overload.flags&memberOutline != 0
	}
	a := alternative{from: len(f.frames)}
	if outline {
		a.state = state{outline: true, line: f.line}
	}
	remove := f.removed(s, p)
	for n := range p.count {
		outermost := synthetic && n == p.count-1
		if n < remove && !hidden || outermost && !hidden {
			continue
		}
		row := f.row(&p.overload, p.first+n)
		line := f.lineOf(&row)
		if n == 0 && innermost >= 0 {
			line = innermost
		}
		f.frames = append(f.frames, f.frame(row.signature, line))
		f.frames[len(f.frames)-1].hidden = n < remove || outermost
	}
	a.to = len(f.frames)
	f.alternatives = append(f.alternatives, a)
}

// removed returns how many inner frames are left out under the exception.
func (f *finder) removed(s state, p *picked) int64 {
	sum := int64(0)
	for n := range p.count {
		info := f.rowInfo(&p.overload, p.first+n)
		if info == 0 {
			continue
		}
		if flags, text := f.infoOf(info); flags&flagRewrite != 0 {
			f.depends = true
			remove, _ := cutRewrite(text, s.exception)
			sum += remove
		}
	}
	if sum > p.count { // it speaks of other frames than these
		return 0
	}
	return sum
}

// lineOf returns the original line of a row; -1 when that is the frame's own.
func (f *finder) lineOf(r *storedRow) int32 {
	switch {
	case r.original.exists() && r.original.single():
		return r.original.from
	case !f.ambiguous && (!r.lines.exists() || f.line == -1):
		first := int32(0)
		if r.original.exists() {
			first = r.original.from
		} else if r.lines.exists() {
			first = r.lines.from
		}
		if first > 0 {
			return first
		}
		return -1
	case f.line == -1, !r.lines.contains(f.line):
		return -1
	}
	return r.originalLine(f.line)
}

// frame returns the frame of a signature.
func (f *finder) frame(ref uint32, line int32) frame {
	s := parseSignature(f.text(ref))
	class, file := s.class, []byte(nil)
	if len(class) == 0 {
		class, file = f.original, f.file
	}
	if file == nil {
		file = f.source(class)
	}
	return frame{class: class, method: s.name, result: s.result, types: s.types, file: file, known: true, line: line}
}

// addOriginal adds the frame of a class whose method is not known.
func (r *result) addOriginal(method []byte, s state) {
	r.frames = append(r.frames, frame{class: r.original, method: method, file: r.file, line: -1})
	r.alternatives = append(r.alternatives, alternative{from: 0, to: 1, state: s})
}
