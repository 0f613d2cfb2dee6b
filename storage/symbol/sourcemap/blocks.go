package sourcemap

import (
	"encoding/binary"
	"slices"

	"github.com/slipway-qa/slipway/storage/symbol"
)

// A block has up to 256 mappings, in the order of their generated positions, as columns
// of numbers: generated line and column, source, original line and column, name, flags.
// A column is written as its smallest value (4 bytes), the bytes that a value
// takes over it (1 byte: 0, 1, 2 or 4), and the values. So one value is read without
// the others, and what is equal in a block takes no space.
const (
	blockMappings = 256
	columns       = 7
	columnHead    = 5
	// directorySize is the size of a block's record: the first mapping's line and column,
	// the place of the block (8 bytes), its size, and its count (4 bytes each).
	directorySize = 24
)

// The columns of a block.
const (
	columnLine = iota
	columnColumn
	columnSource
	columnOriginLine
	columnOriginColumn
	columnName
	columnFlags
)

// blockWriter writes the blocks and keeps their directory.
type blockWriter struct {
	out       *symbol.Writer
	values    [columns][blockMappings]uint32
	n         int
	at        uint64
	directory []byte
	buf       []byte
	ranged    bool // the block has a range mapping
	// lastColumn is that of the mapping added last.
	lastColumn uint32
}

// add adds mappings of a line.
func (b *blockWriter) add(line uint32, list []segment) {
	for len(list) > 0 {
		part := list[:min(len(list), blockMappings-b.n)]
		b.copy(line, part)
		b.n += len(part)
		b.lastColumn = part[len(part)-1].column
		list = list[len(part):]
		if b.n == blockMappings {
			b.flush()
		}
	}
}

// copy copies mappings into the columns.
func (b *blockWriter) copy(line uint32, part []segment) {
	n := len(part)
	lines, generated := b.values[columnLine][b.n:][:n], b.values[columnColumn][b.n:][:n]
	sources, originLines := b.values[columnSource][b.n:][:n], b.values[columnOriginLine][b.n:][:n]
	originColumns, names := b.values[columnOriginColumn][b.n:][:n], b.values[columnName][b.n:][:n]
	flags := b.values[columnFlags][b.n:][:n]
	for i := range part {
		s := &part[i]
		lines[i], generated[i], sources[i], originLines[i] = line, s.column, s.source, s.line
		originColumns[i], names[i], flags[i] = s.origin, s.name, 0
		if s.ranged {
			flags[i], b.ranged = 1, true
		}
	}
}

// flush writes the block.
func (b *blockWriter) flush() {
	if b.n == 0 {
		return
	}
	b.buf = b.buf[:0]
	for c := range b.values {
		values := b.values[c][:b.n]
		if c == columnLine && values[0] == values[b.n-1] || c == columnFlags && !b.ranged {
			values = values[:1] // all are equal
		}
		b.buf = appendColumn(b.buf, values)
	}
	b.ranged = false
	b.directory = binary.LittleEndian.AppendUint32(b.directory, b.values[columnLine][0])
	b.directory = binary.LittleEndian.AppendUint32(b.directory, b.values[columnColumn][0])
	b.directory = binary.LittleEndian.AppendUint64(b.directory, b.at)
	b.directory = binary.LittleEndian.AppendUint32(b.directory, uint32(len(b.buf)))
	b.directory = binary.LittleEndian.AppendUint32(b.directory, uint32(b.n))
	b.at += uint64(len(b.buf))
	b.n = 0
	_, _ = b.out.Write(b.buf) // Close reports the error
}

func appendColumn(b []byte, values []uint32) []byte {
	lo, hi := values[0], values[0]
	for _, v := range values {
		lo, hi = min(lo, v), max(hi, v)
	}
	b = binary.LittleEndian.AppendUint32(b, lo)
	width := 4
	switch {
	case hi == lo:
		return append(b, 0)
	case hi-lo < 1<<8:
		width = 1
	case hi-lo < 1<<16:
		width = 2
	}
	b = append(b, byte(width))
	from := len(b)
	b = slices.Grow(b, width*len(values))[:from+width*len(values)]
	data := b[from:]
	switch width {
	case 1:
		data = data[:len(values)]
		for i, v := range values {
			data[i] = byte(v - lo)
		}
	case 2:
		for _, v := range values {
			binary.LittleEndian.PutUint16(data, uint16(v-lo))
			data = data[2:]
		}
	default:
		for _, v := range values {
			binary.LittleEndian.PutUint32(data, v-lo)
			data = data[4:]
		}
	}
	return b
}

// column reads the values of a column.
type column struct {
	lo    uint32
	width uint8
	data  []byte
}

func (c *column) at(i int) uint32 {
	switch c.width {
	case 0:
		return c.lo
	case 1:
		return c.lo + uint32(c.data[i])
	case 2:
		return c.lo + uint32(binary.LittleEndian.Uint16(c.data[2*i:]))
	}
	return c.lo + binary.LittleEndian.Uint32(c.data[4*i:])
}

// block is a block that is read.
type block struct {
	n       int
	columns [columns]column
}

// read finds the columns of a block of n mappings; false when its bytes are wrong.
func (b *block) read(p []byte, n int) bool {
	b.n = n
	for c := range b.columns {
		if len(p) < columnHead {
			return false
		}
		col := column{lo: binary.LittleEndian.Uint32(p), width: p[4]}
		size := int(col.width) * n
		if p = p[columnHead:]; size > len(p) || col.width > 4 || col.width == 3 {
			return false
		}
		col.data, p = p[:size], p[size:]
		b.columns[c] = col
	}
	return n > 0
}

func (b *block) segment(i int) segment {
	return segment{column: b.columns[columnColumn].at(i), source: b.columns[columnSource].at(i), line: b.columns[columnOriginLine].at(i),
		origin: b.columns[columnOriginColumn].at(i), name: b.columns[columnName].at(i), ranged: b.columns[columnFlags].at(i) != 0}
}

// before counts the mappings of the block before a generated position; with it, those at
// the position count too.
func (b *block) before(line, col uint32, with bool) int {
	lines, cols := &b.columns[columnLine], &b.columns[columnColumn]
	lo, hi := 0, b.n
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		l, c := lines.at(mid), cols.at(mid)
		if l < line || l == line && (c < col || with && c == col) {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}
