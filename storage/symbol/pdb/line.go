package pdb

import (
	"encoding/binary"
	"slices"
	"sort"

	"github.com/slipway-qa/slipway/storage/symbol"
)

// https://llvm.org/docs/PDB/ModiStream.html and CodeView's DEBUG_S subsections
const (
	subsectionLines     = 0xf2
	subsectionChecksums = 0xf4
	subsectionInlinees  = 0xf6

	// maxLineBytes bounds the line information of a module in memory; link-time
	// optimization makes the largest modules.
	maxLineBytes = 96 << 20

	noFile    = 0xffffffff
	neverStep = 0xf00f00 // code without a line of its own
	alwaysIn  = 0xfeefee
)

// row says which line the code from an address on comes from. Line 0 is none.
type row struct {
	address uint32
	line    uint32
	file    uint32 // offset in the checksums, which is the number of a file
	column  uint16
}

// inlinee is where a function that was inlined is written.
type inlinee struct{ id, file, line uint32 }

// lineTable is the line information of a module.
type lineTable struct {
	rows      []row
	inlinees  []inlinee
	checksums []byte
	imports   []imported
}

// lines reads the line information of a module.
func (d *database) lines(p []byte) (*lineTable, error) {
	t := &lineTable{}
	for c := (&cursor{p: p}); len(c.p) >= 8; {
		kind, n := c.u32(), int(c.u32())
		body := c.take(n)
		if c.failed {
			return t, symbol.Invalid(symbol.Truncated, "a part of the line information (type %#x) states %d bytes", kind, n)
		}
		c.take(min((4-n%4)%4, len(c.p)))
		switch kind {
		case subsectionLines:
			d.lineBlock(t, body)
		case subsectionChecksums:
			t.checksums = body
		case subsectionImports:
			t.imports = append(t.imports, importsOf(body)...)
		case subsectionInlinees:
			t.addInlinees(body)
		}
	}
	// An end stands before a line at the same address, which counts then.
	slices.SortStableFunc(t.rows, func(a, b row) int {
		switch {
		case a.address < b.address:
			return -1
		case a.address > b.address:
			return 1
		case a.line == 0 && b.line != 0:
			return -1
		case a.line != 0 && b.line == 0:
			return 1
		}
		return 0
	})
	sort.SliceStable(t.inlinees, func(i, j int) bool { return t.inlinees[i].id < t.inlinees[j].id })
	return t, nil
}

// lineBlock reads the lines of one range of code, which has a part for each file.
func (d *database) lineBlock(t *lineTable, p []byte) {
	c := &cursor{p: p}
	offset, section, flags, size := c.u32(), c.u16(), c.u16(), c.u32()
	_, end, ok := d.span(section, offset, size)
	if c.failed || !ok {
		return
	}
	const hasColumns = 1
	for len(c.p) >= 12 {
		file, count, length := c.u32(), c.u32(), c.u32()
		if length < 12 || int64(length-12) > int64(len(c.p)) {
			return
		}
		body := c.take(int(length - 12))
		each := 8
		if flags&hasColumns != 0 {
			each = 12
		}
		if int64(count)*int64(each) > int64(len(body)) {
			return
		}
		for i := range int(count) {
			at, ok := d.address(section, offset+binary.LittleEndian.Uint32(body[8*i:]))
			if !ok || at >= end {
				continue
			}
			r := row{address: uint32(at), line: binary.LittleEndian.Uint32(body[8*i+4:]) & 0xffffff, file: file}
			if r.line == neverStep || r.line == alwaysIn {
				r.line = 0
			}
			if flags&hasColumns != 0 {
				r.column = binary.LittleEndian.Uint16(body[8*int(count)+4*i:])
			}
			t.rows = append(t.rows, r)
		}
	}
	t.rows = append(t.rows, row{address: uint32(end), file: noFile})
}

func (t *lineTable) addInlinees(p []byte) {
	c := &cursor{p: p}
	const withFiles = 1
	more := c.u32() == withFiles
	for len(c.p) >= 12 {
		t.inlinees = append(t.inlinees, inlinee{id: c.u32(), file: c.u32(), line: c.u32()})
		if more {
			c.take(4 * int(min(c.u32(), 1<<24)))
		}
	}
}

// within returns the rows of a range of addresses, with the one that is in force at its
// start.
func (t *lineTable) within(start, end uint64) []row {
	first := sort.Search(len(t.rows), func(i int) bool { return uint64(t.rows[i].address) >= start })
	if first > 0 && t.rows[first-1].line != 0 && (first == len(t.rows) || uint64(t.rows[first].address) > start) {
		first--
	}
	last := sort.Search(len(t.rows), func(i int) bool { return uint64(t.rows[i].address) >= end })
	return t.rows[min(first, last):last]
}

func (t *lineTable) inlinee(id uint32) (inlinee, bool) {
	i := sort.Search(len(t.inlinees), func(i int) bool { return t.inlinees[i].id >= id })
	if i == len(t.inlinees) || t.inlinees[i].id != id {
		return inlinee{}, false
	}
	return t.inlinees[i], true
}

// fileName returns the name of a file by its offset in the checksums.
func (d *database) fileName(t *lineTable, offset uint32) (string, error) {
	if int64(offset)+4 > int64(len(t.checksums)) {
		return "", nil
	}
	return d.names.at(binary.LittleEndian.Uint32(t.checksums[offset:]), d.caches.files)
}
