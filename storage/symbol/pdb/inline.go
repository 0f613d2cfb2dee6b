package pdb

import (
	"cmp"
	"container/heap"
	"encoding/binary"
	"slices"
	"sort"

	"github.com/slipway-qa/slipway/storage/symbol/native"
)

// maxSegments bounds the lines of the inlined functions of one function.
const maxSegments = 1 << 20

// site is a place where a function was inlined.
type site struct {
	parent   int // the site that it lies in; -1 for the function
	depth    int
	inlinee  uint32
	segments []segment
}

// segment is a range of addresses that comes from a line.
type segment struct {
	start, end uint64
	file, line uint32
	column     uint16
	depth      int
}

// inline reads an S_INLINESITE record: parent, end, inlinee, [count] and annotations.
func (p *procedures) inline(content []byte, head int) {
	scope := -1
	if p.open && len(content) >= head && len(p.sites) < maxSites && len(p.scopes) < maxScopes {
		s := site{parent: -1, inlinee: binary.LittleEndian.Uint32(content[8:])}
		for i := len(p.scopes) - 1; i >= 0; i-- {
			if p.scopes[i] >= 0 {
				s.parent, s.depth = p.scopes[i], p.sites[p.scopes[i]].depth+1
				break
			}
		}
		from, _ := p.lines.inlinee(s.inlinee)
		s.segments = p.annotated(content[head:], from, s.depth+1)
		p.sites = append(p.sites, s)
		scope = len(p.sites) - 1
	}
	p.push(scope)
}

// annotations reads the numbers of binary annotations, which are packed in one, two or
// four bytes.
type annotations struct{ p []byte }

func (a *annotations) next() (uint32, bool) {
	p := a.p
	switch {
	case len(p) >= 1 && p[0]&0x80 == 0:
		a.p = p[1:]
		return uint32(p[0]), true
	case len(p) >= 2 && p[0]&0xc0 == 0x80:
		a.p = p[2:]
		return uint32(p[0]&0x3f)<<8 | uint32(p[1]), true
	case len(p) >= 4 && p[0]&0xe0 == 0xc0:
		a.p = p[4:]
		return uint32(p[0]&0x1f)<<24 | uint32(p[1])<<16 | uint32(p[2])<<8 | uint32(p[3]), true
	}
	return 0, false
}

// signed undoes how a signed number is stored: its sign is the lowest bit.
func signed(n uint32) uint32 {
	if n&1 != 0 {
		return -(n >> 1)
	}
	return n >> 1
}

// annotated runs the annotations of an inlined function: a small program that moves through
// the code and the lines.
func (p *procedures) annotated(content []byte, from inlinee, depth int) []segment {
	const (
		offset = iota + 1
		base
		changeOffset
		length
		file
		line
		lineEnd
		rangeKind
		column
		columnEndDelta
		offsetAndLine
		lengthAndOffset
		columnEnd
	)
	a := annotations{content}
	w := walker{p: p, depth: depth, file: from.file, line: from.line}
	for len(w.found) < maxSegments {
		op, ok := a.next()
		if !ok || op == 0 || op > columnEnd {
			break
		}
		n, ok := a.next()
		if !ok {
			break
		}
		switch op {
		case offset:
			w.offset = n
		case base:
			w.base = n
		case changeOffset:
			w.offset += n
			w.add()
		case length:
			w.close(n)
		case file:
			w.file = n
		case line:
			w.line += signed(n)
		case column:
			w.column = uint16(n)
		case offsetAndLine:
			w.line += signed(n >> 4)
			w.offset += n & 0xf
			w.add()
		case lengthAndOffset:
			more, ok := a.next()
			if !ok {
				return w.end()
			}
			w.offset += more
			w.add()
			w.lengthOf(n)
		}
	}
	return w.end()
}

// walker is the state of annotations.
type walker struct {
	p            *procedures
	depth        int
	offset, base uint32
	file, line   uint32
	column       uint16
	found        []segment
	open         bool // the last segment has no end yet
}

func (w *walker) address() uint64 { return w.p.proc.start + uint64(w.base+w.offset) }

// add begins a segment, which ends the one before.
func (w *walker) add() {
	at := w.address()
	if w.open {
		w.found[len(w.found)-1].end = at
	}
	w.found = append(w.found, segment{start: at, file: w.file, line: w.line, column: w.column, depth: w.depth})
	w.open = true
}

// close ends the last segment after a length, and moves there.
func (w *walker) close(n uint32) {
	w.lengthOf(n)
	w.offset += n
}

func (w *walker) lengthOf(n uint32) {
	if w.open {
		last := &w.found[len(w.found)-1]
		last.end, w.open = last.start+uint64(n), false
	}
}

// end returns the segments that lie in the function.
func (w *walker) end() []segment {
	if w.open {
		w.found[len(w.found)-1].end = w.p.proc.end
	}
	kept := w.found[:0]
	for _, s := range w.found {
		s.end = min(s.end, w.p.proc.end)
		if s.start >= w.p.proc.start && s.start < s.end {
			kept = append(kept, s)
		}
	}
	return kept
}

// segmentsOf returns the lines of a function itself, each up to the next.
func segmentsOf(rows []row, proc procedure) []segment {
	var found []segment
	for i, r := range rows {
		end := proc.end
		if i+1 < len(rows) {
			end = uint64(rows[i+1].address)
		}
		if start := max(uint64(r.address), proc.start); r.line != 0 && start < end {
			found = append(found, segment{start: start, end: end, file: r.file, line: r.line, column: r.column})
		}
	}
	return found
}

// addInline adds an inlined function: its ranges, its name, and the line that called it,
// which is that of the function around it at its first address.
func (p *procedures) addInline(f *native.Function, sites []site, i int, base []segment) error {
	s := &sites[i]
	if len(s.segments) == 0 {
		return nil
	}
	id, err := p.globalID(p.lines, s.inlinee)
	if err != nil {
		return err
	}
	name, err := p.inlineName(id)
	if err != nil {
		return err
	}
	slices.SortStableFunc(s.segments, func(a, b segment) int { return cmp.Compare(a.start, b.start) })
	in := native.Inline{Depth: s.depth, Name: name}
	for _, g := range s.segments {
		if n := len(in.Ranges); n > 0 && g.start <= in.Ranges[n-1].End {
			in.Ranges[n-1].End = max(in.Ranges[n-1].End, g.end)
			continue
		}
		in.Ranges = append(in.Ranges, native.Range{Start: g.start, End: g.end})
	}
	around := base
	if s.parent >= 0 {
		around = sites[s.parent].segments
	}
	if at, ok := covering(around, s.segments[0].start); ok {
		in.CallLine, in.CallColumn = at.line, uint32(at.column)
		if in.CallFile, err = p.fileName(p.lines, at.file); err != nil {
			return err
		}
	}
	f.Inlines = append(f.Inlines, in)
	return nil
}

// covering returns the segment that has an address.
func covering(sorted []segment, address uint64) (segment, bool) {
	i := sort.Search(len(sorted), func(i int) bool { return sorted[i].start > address })
	if i == 0 || sorted[i-1].end <= address {
		return segment{}, false
	}
	return sorted[i-1], true
}

// deepest is a heap of segments, the innermost first.
type deepest []segment

func (d deepest) Len() int { return len(d) }
func (d deepest) Less(i, j int) bool {
	return d[i].depth > d[j].depth || d[i].depth == d[j].depth && d[i].start > d[j].start
}
func (d deepest) Swap(i, j int) { d[i], d[j] = d[j], d[i] }
func (d *deepest) Push(x any)   { *d = append(*d, x.(segment)) }
func (d *deepest) Pop() any {
	last := (*d)[len(*d)-1]
	*d = (*d)[:len(*d)-1]
	return last
}

// addLines adds the lines of the function: at each address that of the innermost function
// that was inlined there.
func (p *procedures) addLines(f *native.Function, base []segment, sites []site) error {
	all := slices.Clone(base)
	for _, s := range sites {
		all = append(all, s.segments...)
	}
	slices.SortStableFunc(all, func(a, b segment) int { return cmp.Compare(a.start, b.start) })
	points := make([]uint64, 0, 2*len(all))
	for _, g := range all {
		points = append(points, g.start, g.end)
	}
	slices.Sort(points)
	var active deepest
	for _, at := range slices.Compact(points) {
		for ; len(all) > 0 && all[0].start <= at; all = all[1:] {
			heap.Push(&active, all[0])
		}
		for len(active) > 0 && active[0].end <= at {
			heap.Pop(&active)
		}
		line := native.Line{Address: at}
		if len(active) > 0 {
			var err error
			if line.File, err = p.fileName(p.lines, active[0].file); err != nil {
				return err
			}
			line.Line, line.Column = active[0].line, uint32(active[0].column)
		}
		same := native.Line{}
		if n := len(f.Lines); n > 0 {
			same = f.Lines[n-1]
			same.Address = at
		}
		if at < f.End && line != same && (line.Line != 0 || len(f.Lines) > 0) {
			f.Lines = append(f.Lines, line)
		}
	}
	return nil
}
