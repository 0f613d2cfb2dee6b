package native

import (
	"encoding/binary"
	"fmt"
	"strings"
)

// chunkLines is the number of lines of a chunk in a body. A body is what the index says about
// a function, as varints:
//
//	name           offset of the string, and 1; 0: none
//	files          their number, and the offset of each string
//	inlines        bytes of all of them, and they: a caller before what is inlined in it.
//	               Each: number of ranges, for each its start less the end of the former one (the first:
//	               the function's start; signed) and its size; name; file of the call (its number
//	               and 1; 0: none), line, column; bytes of what is inlined in it
//	chunks         their number; of each the distance of its first address from that of
//	               the former one (the first: the function's start) and its bytes
//	lines          chunks of chunkLines lines, each line: its distance from the former
//	               address in the chunk, doubled, and 1 if the file changes; the file (its number and 1;
//	               0: none); the line less the former one's (signed); the column
const chunkLines = 128

const (
	// maxBody bounds a function's body: half a million lines. What has more is kept
	// without lines and inlined functions.
	maxBody = 4 << 20
	// maxInlineDepth bounds the functions that are inlined into one another: compilers
	// stop at some hundred.
	maxInlineDepth = 1 << 10
	// maxRanges bounds those of an inlined function.
	maxRanges = 1 << 16
)

// encoder encodes bodies; its buffers serve again.
type encoder struct {
	strings  *interner
	files    map[string]uint64 // number and 1
	offsets  []uint64
	lastFile string
	lastID   uint64
	own      []byte // inlines, without what is inlined in them
	ends     []int  // of each in own
	below    []int  // bytes of what is inlined in each
	deep     []int  // sums by depth
	depths   []int
	inlines  []byte
	lines    []byte
	chunks   []byte
}

// function appends the body of a function.
func (e *encoder) function(p []byte, f *Function, s *Summary) ([]byte, error) {
	clear(e.files)
	e.offsets, e.lastFile, e.lastID = e.offsets[:0], "", 0
	if e.files == nil {
		e.files = map[string]uint64{}
	}
	var name uint64
	if f.Name != "" {
		at, err := e.strings.add(f.Name)
		if err != nil {
			return p, err
		}
		name = at + 1
	}
	if err := e.encodeInlines(f); err != nil {
		return p, err
	}
	chunks, lines, err := e.encodeLines(f)
	if err != nil {
		return p, err
	}
	if len(e.inlines)+len(e.lines)+len(e.chunks)+10*len(e.offsets) > maxBody {
		s.Dropped += int64(len(f.Lines) + len(f.Inlines))
		return append(binary.AppendUvarint(p, name), 0, 0, 0), nil
	}
	s.Inlines += int64(len(f.Inlines))
	s.Lines += lines
	p = binary.AppendUvarint(p, name)
	p = binary.AppendUvarint(p, uint64(len(e.offsets)))
	for _, at := range e.offsets {
		p = binary.AppendUvarint(p, at)
	}
	p = append(binary.AppendUvarint(p, uint64(len(e.inlines))), e.inlines...)
	p = append(binary.AppendUvarint(p, uint64(chunks)), e.chunks...)
	return append(p, e.lines...), nil
}

// file returns the number of a file in the function, and 1; 0 for none.
func (e *encoder) file(name string) (uint64, error) {
	if name == "" {
		return 0, nil
	}
	if name == e.lastFile {
		return e.lastID, nil
	}
	id, ok := e.files[name]
	if !ok {
		at, err := e.strings.add(name)
		if err != nil {
			return 0, err
		}
		e.offsets = append(e.offsets, at)
		id = uint64(len(e.offsets))
		e.files[strings.Clone(name)] = id
	}
	e.lastFile, e.lastID = name, id
	return id, nil
}

func (e *encoder) encodeLines(f *Function) (chunks int, count int64, err error) {
	e.lines, e.chunks = e.lines[:0], e.chunks[:0]
	var before Line // the former one, of this chunk
	var beforeFile uint64
	chunkStart, chunkFrom, inChunk := f.Start, 0, 0
	closeChunk := func() { e.chunks = binary.AppendUvarint(e.chunks, uint64(len(e.lines)-chunkFrom)) }
	for i := range f.Lines {
		l := f.Lines[i]
		if l.Address >= f.End {
			break
		}
		if i+1 < len(f.Lines) && f.Lines[i+1].Address <= max(l.Address, f.Start) {
			continue // of several lines at one address the last holds
		}
		l.Address = max(l.Address, f.Start)
		file, err := e.file(l.File)
		if err != nil {
			return 0, 0, err
		}
		if inChunk > 0 && file == beforeFile && l.Line == before.Line && l.Column == before.Column || l.Address < before.Address {
			continue
		}
		if inChunk == chunkLines || inChunk == 0 {
			if inChunk > 0 {
				closeChunk()
			}
			e.chunks = binary.AppendUvarint(e.chunks, l.Address-chunkStart)
			chunkStart, chunkFrom, inChunk = l.Address, len(e.lines), 0
			before, beforeFile = Line{Address: l.Address}, 0
			chunks++
		}
		e.lines = appendLine(e.lines, &before, &l, beforeFile, file)
		before, beforeFile = l, file
		inChunk++
		count++
		if len(e.lines) > maxBody {
			break // the caller drops them
		}
	}
	if inChunk > 0 {
		closeChunk()
	}
	return chunks, count, nil
}

func appendLine(p []byte, before, l *Line, beforeFile, file uint64) []byte {
	distance := (l.Address - before.Address) << 1
	if file != beforeFile {
		p = binary.AppendUvarint(binary.AppendUvarint(p, distance|1), file)
	} else {
		p = binary.AppendUvarint(p, distance)
	}
	p = binary.AppendVarint(p, int64(l.Line)-int64(before.Line))
	return binary.AppendUvarint(p, uint64(l.Column))
}

// encodeInlines encodes each inlined function, then from the last to the first how many
// bytes are below it, then puts both together.
func (e *encoder) encodeInlines(f *Function) error {
	e.own, e.ends, e.depths, e.inlines = e.own[:0], e.ends[:0], e.depths[:0], e.inlines[:0]
	if len(f.Inlines) == 0 {
		return nil
	}
	depth := -1
	for i := range f.Inlines {
		x := &f.Inlines[i]
		if x.Depth < 0 || x.Depth >= maxInlineDepth || len(x.Ranges) > maxRanges {
			return fmt.Errorf("inlined function %q: depth %d, %d ranges", x.Name, x.Depth, len(x.Ranges))
		}
		depth = min(x.Depth, depth+1)
		if err := e.inline(f.Start, x); err != nil {
			return err
		}
		e.ends, e.depths = append(e.ends, len(e.own)), append(e.depths, depth)
		if len(e.own) > maxBody {
			break // the caller drops them
		}
	}
	e.sumBelow()
	from := 0
	for i, end := range e.ends {
		e.inlines = append(e.inlines, e.own[from:end]...)
		e.inlines = binary.AppendUvarint(e.inlines, uint64(e.below[i]))
		from = end
	}
	return nil
}

func (e *encoder) sumBelow() {
	n := len(e.ends)
	e.below = append(e.below[:0], make([]int, n)...)
	e.deep = append(e.deep[:0], make([]int, maxInlineDepth+1)...)
	for i := n - 1; i >= 0; i-- {
		d := e.depths[i]
		below := e.deep[d+1]
		e.deep[d+1] = 0
		e.below[i] = below
		from := 0
		if i > 0 {
			from = e.ends[i-1]
		}
		e.deep[d] += e.ends[i] - from + uvarintSize(uint64(below)) + below
	}
}

func (e *encoder) inline(start uint64, x *Inline) error {
	name, err := e.strings.add(x.Name)
	if err != nil {
		return err
	}
	file, err := e.file(x.CallFile)
	if err != nil {
		return err
	}
	p := binary.AppendUvarint(e.own, uint64(len(x.Ranges)))
	last := start
	for _, r := range x.Ranges {
		p = binary.AppendVarint(p, int64(r.Start-last))
		p = binary.AppendUvarint(p, max(r.End, r.Start)-r.Start)
		last = max(r.End, r.Start)
	}
	p = binary.AppendUvarint(p, name)
	p = binary.AppendUvarint(p, file)
	p = binary.AppendUvarint(p, uint64(x.CallLine))
	e.own = binary.AppendUvarint(p, uint64(x.CallColumn))
	return nil
}

func uvarintSize(v uint64) int {
	n := 1
	for v >= 0x80 {
		v >>= 7
		n++
	}
	return n
}
