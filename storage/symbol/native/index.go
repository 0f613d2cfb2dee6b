package native

import (
	"fmt"
	"strings"

	"github.com/slipway-qa/slipway/storage/symbol"
)

// Index looks up addresses. It is safe for concurrent use. Each lookup reads a block
// of a table, the body of a function and its names; what is held in memory is the tops of the
// tables and the names that were used lately.
type Index struct {
	functions, publics, unwinds, windows *table
	bodies                               part
	texts                                texts
	buffers                              bufferPool
}

// Open reads the tops of an index. An error means that the file is no index of this
// package's version, is damaged, or could not be read.
func Open(f *symbol.File) (*Index, error) {
	if f.Kind != Kind || f.Version != Version {
		return nil, fmt.Errorf("an index of kind %q in version %d, not %q in version %d", f.Kind, f.Version, Kind, Version)
	}
	x := &Index{}
	var err error
	if x.bodies, err = openPart(f, "bodies"); err != nil {
		return nil, err
	}
	if x.texts.from, err = openPart(f, "strings"); err != nil {
		return nil, err
	}
	for name, t := range map[string]**table{"functions": &x.functions, "publics": &x.publics, "unwind": &x.unwinds, "windows": &x.windows} {
		opened, err := openTable(f, name)
		if err != nil {
			return nil, err
		}
		*t = opened
	}
	return x, nil
}

// cachedOfByte is what a byte of names takes when all are cached: a name of forty bytes takes
// sixty-four more as it is, and again demangled, where it is twice as long.
const cachedOfByte = 8

// Cost returns the bytes of memory that the index holds at most, without those of the reader
// below.
func (x *Index) Cost() int64 {
	held := len(x.bodies.whole) + len(x.texts.from.whole)
	for _, t := range []*table{x.functions, x.publics, x.unwinds, x.windows} {
		held += len(t.top) + len(t.blocks.whole)
	}
	return int64(held) + min(4*cacheBytes, cachedOfByte*x.texts.from.size)
}

// Lookup returns the functions at an address, relative to the base of the image: the
// innermost inlined one first, the one that they are inlined into last. Where no function is
// known, it returns that of the symbol there, with Public set; nothing if there is none. Where
// only lines are known, the frame has the name of the symbol and Public set.
func (x *Index) Lookup(address uint64) ([]Frame, error) {
	b := x.buffers.get()
	defer x.buffers.put(b)
	s, ok, err := x.functions.find(address, b)
	if err != nil {
		return nil, err
	}
	if !ok || address >= s.end {
		return x.public(address, s, ok, b)
	}
	frames, err := x.function(s, address, b)
	if err != nil || len(frames) == 0 || frames[len(frames)-1].Symbol != "" {
		return frames, err
	}
	return x.named(frames, address, b)
}

// function returns the frames of the function of a segment.
func (x *Index) function(s segment, address uint64, b *buffers) ([]Frame, error) {
	size := uint64(x.bodies.size)
	if s.v2 > maxBody+1<<10 || s.v1 > size || s.v2 > size-s.v1 {
		return nil, fmt.Errorf("index: a function lies outside of it")
	}
	p, err := x.bodies.read(&b.body, int64(s.v1), int(s.v2))
	if err != nil {
		return nil, err
	}
	if err := b.decode(p, s.origin, address); err != nil {
		return nil, err
	}
	return x.frames(&b.found, s.origin)
}

// frames turns what was found in a body into frames: each has the place of the next
// inner one's call, the innermost that of the line.
func (x *Index) frames(b *body, start uint64) ([]Frame, error) {
	frames := make([]Frame, 0, len(b.inlines)+1)
	file, line, column := b.file, b.line, b.column
	for i := len(b.inlines) - 1; i >= 0; i-- {
		n := b.inlines[i]
		frame, err := x.frame(n.name, file, line, column)
		if err != nil {
			return nil, err
		}
		frame.Inlined, frame.Start = true, start
		frames = append(frames, frame)
		file, line, column = n.file, n.line, n.column
	}
	frame, err := x.frame(b.name, file, line, column)
	if err != nil {
		return nil, err
	}
	frame.Start = start
	return append(frames, frame), nil
}

// frame reads the texts of a frame; offsets are one more than they are, 0 is none.
func (x *Index) frame(name, file, line, column uint64) (f Frame, err error) {
	f.Line, f.Column = uint32(line), uint32(column)
	if name > 0 {
		if f.Symbol, f.Function, err = x.texts.function(name - 1); err != nil {
			return f, err
		}
	}
	if file > 0 {
		f.File, err = x.texts.at(file - 1)
	}
	if f.Function == f.Symbol && strings.Contains(f.File, ".nim") {
		if clear, ok := nimName(f.Symbol, true); ok {
			f.Function = clear
		}
	}
	return f, err
}

// public returns the symbol at an address that no function covers. A symbol of unknown
// size does not reach beyond a function that follows it.
func (x *Index) public(address uint64, function segment, known bool, b *buffers) ([]Frame, error) {
	s, ok, err := x.publics.find(address, b)
	if err != nil || !ok || address >= s.end {
		return nil, err
	}
	if s.v2 != 0 && known && function.end > s.origin {
		return nil, nil
	}
	frame, err := x.frame(s.v1+1, 0, 0, 0)
	if err != nil {
		return nil, err
	}
	frame.Public, frame.Start = true, s.origin
	return []Frame{frame}, nil
}

// named fills in the name of the outermost frame from the symbol there.
func (x *Index) named(frames []Frame, address uint64, b *buffers) ([]Frame, error) {
	found, err := x.public(address, segment{}, false, b)
	if err != nil {
		return nil, err
	}
	last := &frames[len(frames)-1]
	last.Public = true
	if len(found) > 0 {
		last.Symbol, last.Function, last.Start = found[0].Symbol, found[0].Function, found[0].Start
	}
	return frames, nil
}

// Unwind returns how to unwind at an address: the CFI rules there, and the STACK WIN data, either of
// which may be missing. False: neither is known. Start and End are those of the CFI rule's range, if
// there is one.
func (x *Index) Unwind(address uint64) (Unwind, bool, error) {
	var u Unwind
	windows, known, err := x.rules(x.windows, address, &u)
	if err != nil {
		return u, false, err
	}
	rules, ok, err := x.rules(x.unwinds, address, &u)
	u.Rules, u.Windows = rules, windows
	return u, known || ok, err
}

func (x *Index) rules(t *table, address uint64, u *Unwind) (string, bool, error) {
	b := x.buffers.get()
	defer x.buffers.put(b)
	s, ok, err := t.find(address, b)
	if err != nil || !ok || address >= s.end {
		return "", false, err
	}
	u.Start, u.End = s.start, s.end
	text, err := x.texts.at(s.v1)
	return text, err == nil, err
}
