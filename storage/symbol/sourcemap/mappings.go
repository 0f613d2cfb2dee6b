package sourcemap

import (
	"slices"

	"github.com/slipway-qa/slipway/storage/symbol"
)

// segment is a mapping; all from 0.
type segment struct {
	column       uint32
	source       uint32 // 1 more than the index; 0 for none
	line, origin uint32 // of the original: line and column
	name         uint32 // 1 more than the index; 0 for none
	ranged       bool   // a range mapping
}

// digits holds the value of each base64 digit (RFC 4648); 0xff for other bytes.
var digits = func() (t [256]byte) {
	for i := range t {
		t[i] = 0xff
	}
	for i, c := range []byte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/") {
		t[c] = byte(i)
	}
	return t
}()

// unsigned reads a base64 VLQ without sign (ECMA-426, VLQUnsignedValue) and returns it and
// how many bytes it has; 0 bytes when it is wrong.
func unsigned(p []byte) (v uint64, n int) {
	for shift := uint(0); n < len(p); shift += 5 {
		d := digits[p[n]]
		if d == 0xff {
			return 0, 0
		}
		n++
		if shift < 64 {
			v |= uint64(d&31) << shift
		}
		if shift >= 35 && d&31 != 0 || v >= 1<<32 {
			return 0, 0
		}
		if d < 32 {
			return v, n
		}
	}
	return 0, 0
}

// signed reads a base64 VLQ with sign (ECMA-426, VLQSignedValue).
func signed(p []byte) (v int64, n int) {
	if len(p) > 1 { // two digits
		if a, b := digits[p[0]], digits[p[1]]; a >= 32 && a < 64 && b < 32 && (a != 33 || b != 0) {
			u := int64(a&31) | int64(b)<<5
			return (u>>1 ^ -(u & 1)) + (u & 1), 2
		}
	}
	u, n := unsigned(p)
	switch {
	case u == 1:
		return -1 << 31, n
	case u&1 != 0:
		return -int64(u >> 1), n
	}
	return int64(u >> 1), n
}

// decoder reads the mappings of one map after another.
type decoder struct {
	leaf    *leaf
	blocks  *blockWriter
	line    int64 // the generated line, with the offset of the section
	shift   int64 // of the columns of the line
	pending []segment
	flushed bool // part of the line is written
	sorted  bool
	last    uint32
	ranges  *rangeReader
	// relative fields
	column, source, originLine, originColumn, name int64
	inLine                                         int // mappings of the line, those that are cut off too
	count                                          int
	before                                         int
}

// begin begins a map.
func (d *decoder) begin(l *leaf, r *rangeReader) {
	*d = decoder{leaf: l, blocks: d.blocks, line: l.line, shift: l.column, pending: d.pending[:0], sorted: true, ranges: r, count: d.count}
}

func (d *decoder) wrong(format string, args ...any) error {
	return d.leaf.malformed("mapping %d of generated line %d "+format, append([]any{d.inLine, d.line + 1}, args...)...)
}

// What stands before the next byte of the mappings.
const (
	atLine    = iota // nothing, in this line
	atMapping        // a mapping
	atComma          // a comma
)

// decode reads a part of the mappings that ends behind a mapping or a separator.
func (d *decoder) decode(p []byte) error {
	for i := 0; i < len(p); {
		switch p[i] {
		case ';':
			if d.before == atComma {
				return d.wrong("is empty")
			}
			d.before = atLine
			if err := d.endLine(); err != nil {
				return err
			}
			i++
		case ',':
			if d.before != atMapping {
				return d.wrong("is empty")
			}
			d.before = atComma
			i++
		default:
			n, err := d.segment(p[i:])
			if err != nil {
				return err
			}
			d.before = atMapping
			i += n
		}
	}
	return nil
}

// end ends the mappings of a map.
func (d *decoder) end() error {
	if d.before == atComma {
		return d.wrong("is empty")
	}
	return d.flush()
}

// segment reads one mapping.
func (d *decoder) segment(p []byte) (int, error) {
	var fields [5]int64
	n, count := 0, 0
	for n < len(p) && p[n] != ',' && p[n] != ';' {
		if count == 5 {
			return 0, d.wrong("has more than 5 fields")
		}
		if digit := digits[p[n]]; digit < 32 && digit != 1 { // one digit: most are
			v := int64(digit >> 1)
			fields[count] = (v ^ -int64(digit&1)) + int64(digit&1)
			count++
			n++
			continue
		}
		v, used := signed(p[n:])
		if used == 0 {
			return 0, d.wrong("has a field that is no base64 VLQ of 32 bits")
		}
		fields[count] = v
		count++
		n += used
	}
	d.column += fields[0]
	if d.column < 0 || d.column > maxValue {
		return 0, d.wrong("has the column %d", d.column)
	}
	s := segment{column: uint32(d.column + d.shift)}
	if count >= 4 {
		if err := d.origin(&s, &fields, count == 5); err != nil {
			return 0, err
		}
	} else if count != 1 {
		return 0, d.wrong("has %d fields instead of 1, 4 or 5", count)
	}
	if d.ranges != nil {
		s.ranged = d.ranges.next(d.inLine)
	}
	d.inLine++
	return n, d.add(s)
}

// origin reads the fields of a mapping that say where it comes from.
func (d *decoder) origin(s *segment, fields *[5]int64, named bool) error {
	d.source += fields[1]
	d.originLine += fields[2]
	d.originColumn += fields[3]
	if uint64(d.source) >= uint64(d.leaf.sources) || uint64(d.originLine) > maxValue || uint64(d.originColumn) > maxValue {
		switch {
		case uint64(d.source) >= uint64(d.leaf.sources):
			return d.wrong("has the source %d of %d", d.source, d.leaf.sources)
		case uint64(d.originLine) > maxValue:
			return d.wrong("has the original line %d", d.originLine)
		}
		return d.wrong("has the original column %d", d.originColumn)
	}
	s.source, s.line, s.origin = uint32(d.source)+uint32(d.leaf.source)+1, uint32(d.originLine), uint32(d.originColumn)
	if named {
		d.name += fields[4]
		if uint64(d.name) >= uint64(d.leaf.names) {
			return d.wrong("has the name %d of %d", d.name, d.leaf.names)
		}
		s.name = uint32(d.name) + uint32(d.leaf.name) + 1
	}
	return nil
}

// add keeps a mapping until the line's end, where they are sorted.
func (d *decoder) add(s segment) error {
	if l := d.leaf; d.line >= l.stopLine && (d.line > l.stopLine || int64(s.column) >= l.stopColumn) {
		if d.line > l.stopLine || int64(s.column) > l.stopColumn {
			return l.malformed("the section goes on to %d:%d, behind the beginning of the next one at %d:%d", d.line,
				s.column, l.stopLine, l.stopColumn)
		}
		return nil // where the next section begins, that one counts
	}
	if d.count++; d.count > maxSegments {
		return symbol.Invalid(symbol.TooLarge, "the source map has more than %d mappings", maxSegments)
	}
	if s.column < d.last {
		d.sorted = false
	}
	d.last = s.column
	if len(d.pending) >= maxUnsorted {
		if !d.sorted || d.flushed && s.column < d.pending[0].column {
			return symbol.Invalid(symbol.TooLarge,
				"generated line %d has more than %d mappings that are not in the order of their columns", d.line+1, maxUnsorted)
		}
		half := len(d.pending) / 2
		d.blocks.add(uint32(d.line), d.pending[:half])
		d.pending = append(d.pending[:0], d.pending[half:]...)
		d.flushed = true
	}
	d.pending = append(d.pending, s)
	return nil
}

func (d *decoder) endLine() error {
	if err := d.flush(); err != nil {
		return err
	}
	d.line++
	d.column, d.shift, d.inLine = 0, 0, 0
	if d.line >= maxValue {
		return symbol.Invalid(symbol.TooLarge, "the source map has more than %d lines", maxValue)
	}
	if d.ranges != nil {
		d.ranges.endLine()
	}
	return nil
}

func (d *decoder) flush() error {
	if !d.sorted {
		if d.flushed && slices.MinFunc(d.pending, byColumn).column < d.blocks.lastColumn {
			return symbol.Invalid(symbol.TooLarge,
				"generated line %d has more than %d mappings that are not in the order of their columns", d.line+1, maxUnsorted)
		}
		slices.SortStableFunc(d.pending, byColumn)
	}
	if len(d.pending) > 0 {
		d.blocks.add(uint32(d.line), d.pending)
	}
	d.pending, d.flushed, d.sorted, d.last = d.pending[:0], false, true, 0
	return nil
}

func byColumn(a, b segment) int {
	switch {
	case a.column < b.column:
		return -1
	case a.column > b.column:
		return 1
	}
	return 0
}

// smallMap is the size of maps up to which room for all mappings of a line is made at once.
const smallMap = 4 << 20

// maxCarried bounds a mapping that is longer than a window: a field may have any number
// of zero digits, but nobody writes so many.
const maxCarried = 64 << 10

func (x *indexer) writeMappings() error {
	x.out.Begin(sectionMappings)
	d := &decoder{blocks: &blockWriter{out: x.out}}
	for _, l := range x.leaves {
		if err := x.mappings(d, l); err != nil {
			return err
		}
	}
	d.blocks.flush()
	x.summary.Segments = d.count
	x.out.Begin(sectionBlocks)
	_, err := x.out.Write(d.blocks.directory)
	return err
}

// mappings reads those of one map.
func (x *indexer) mappings(d *decoder, l *leaf) error {
	ranges, err := x.rangeMappings(l)
	if err != nil {
		return err
	}
	d.begin(l, ranges)
	v := l.members.values["mappings"]
	x.in.seek(v.at)
	if guess := min(int((v.end-v.at)/5), maxUnsorted); cap(d.pending) < guess && x.in.size < smallMap {
		d.pending = make([]segment, 0, guess)
	}
	var carried []byte
	x.in.text(func(p []byte) {
		if err != nil {
			return
		}
		if p, carried = whole(p, carried); len(carried) > maxCarried {
			err = d.wrong("has more than %d digits", maxCarried)
			return
		}
		err = d.decode(p)
	})
	if x.in.err != nil {
		return x.in.err
	}
	if err != nil {
		return err
	}
	if err := d.decode(carried); err != nil {
		return err
	}
	return d.end()
}

// whole returns what was carried and p up to the last separator, and what is carried on.
func whole(p, carried []byte) (part, rest []byte) {
	n := len(p)
	for n > 0 && p[n-1] != ',' && p[n-1] != ';' {
		n--
	}
	if n == 0 {
		return nil, append(carried, p...)
	}
	if len(carried) > 0 {
		return append(carried, p[:n]...), append([]byte(nil), p[n:]...)
	}
	return p[:n], append([]byte(nil), p[n:]...)
}
