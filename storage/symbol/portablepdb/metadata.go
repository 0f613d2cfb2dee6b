package portablepdb

import (
	"bytes"
	"encoding/binary"
	"math/bits"

	"github.com/slipway-qa/slipway/storage/symbol"
)

const (
	// signature begins metadata.
	signature = "BSJB"
	// maxStreams is far above the six that there are.
	maxStreams = 64
	// maxRow is what a token can number.
	maxRow = 1<<24 - 1
	// pdbHeader is what the #Pdb stream has at least: an id, an entry point and a mask of tables.
	pdbHeader = 32
)

// The tables that are read, and how many there are.
const (
	documentTable = 0x30
	methodLines   = 0x31
	tableCount    = 64
)

// root is the metadata of a file: its heaps and tables.
type root struct {
	pdb, blobs    []byte
	docs, methods table
}

// open finds the streams.
func (r *root) open(all []byte) error {
	streams, err := streamsOf(all)
	if err != nil {
		return err
	}
	r.pdb, r.blobs = streams["#Pdb"], streams["#Blob"]
	if len(r.pdb) < pdbHeader {
		return symbol.Invalid(symbol.Unsupported, "the metadata is that of an assembly, not of a portable PDB: it has no #Pdb stream")
	}
	return r.readTables(streams["#~"])
}

// streamsOf reads the header of the metadata.
func streamsOf(all []byte) (map[string][]byte, error) {
	cut := symbol.Invalid(symbol.Truncated, "the metadata ends in its header")
	if len(all) < 20 || string(all[:4]) != signature {
		return nil, symbol.Invalid(symbol.Unsupported, "the file is no metadata of .NET: it does not begin with %s", signature)
	}
	at := 16 + int64(binary.LittleEndian.Uint32(all[12:]))
	if at+4 > int64(len(all)) {
		return nil, cut
	}
	count := int(binary.LittleEndian.Uint16(all[at+2:]))
	if count > maxStreams {
		return nil, symbol.Invalid(symbol.TooLarge, "the metadata states %d streams; %d are read at most", count, maxStreams)
	}
	p := all[at+4:]
	streams := map[string][]byte{}
	for range count {
		if len(p) < 8 {
			return nil, cut
		}
		offset, size := uint64(binary.LittleEndian.Uint32(p)), uint64(binary.LittleEndian.Uint32(p[4:]))
		end := bytes.IndexByte(p[8:min(len(p), 8+32)], 0)
		next := 8 + (end+4)&^3
		if end < 0 || next > len(p) {
			return nil, cut
		}
		name := string(p[8 : 8+end])
		if offset+size > uint64(len(all)) {
			return nil, symbol.Invalid(symbol.Truncated,
				"the stream %s (at %#x, %d bytes) lies beyond the end of the file (%d bytes)", name, offset, size, len(all))
		}
		streams[name] = all[offset : offset+size]
		p = p[next:]
	}
	return streams, nil
}

// table is rows of columns of two or four bytes.
type table struct {
	rows    []byte
	count   int
	columns []int // their sizes
	size    int   // of a row
}

func (t *table) column(row, column int) int {
	at := row * t.size
	for _, size := range t.columns[:column] {
		at += size
	}
	if t.columns[column] == 2 {
		return int(binary.LittleEndian.Uint16(t.rows[at:]))
	}
	return int(binary.LittleEndian.Uint32(t.rows[at:]))
}

// readTables finds the first two tables of a PDB, before which there are none.
func (r *root) readTables(p []byte) error {
	if len(p) < 24 {
		return symbol.Invalid(symbol.Truncated, "the stream #~ has %d bytes, less than its header", len(p))
	}
	sizes, valid := p[6], binary.LittleEndian.Uint64(p[8:])
	if valid&(1<<documentTable-1) != 0 {
		return symbol.Invalid(symbol.Unsupported, "the metadata has the tables of an assembly")
	}
	p = p[24:]
	var counts [tableCount]uint32
	if len(p) < 4*bits.OnesCount64(valid) {
		return symbol.Invalid(symbol.Truncated, "the stream #~ ends in the numbers of its rows")
	}
	for i := range counts {
		if valid>>i&1 != 0 {
			counts[i], p = binary.LittleEndian.Uint32(p), p[4:]
		}
		if counts[i] > maxRow {
			return symbol.Invalid(symbol.TooLarge, "the table %#x states %d rows, more than there can be", i, counts[i])
		}
	}
	index := func(wide bool) int {
		if wide {
			return 4
		}
		return 2
	}
	guid, blob := index(sizes&2 != 0), index(sizes&4 != 0)
	var err error
	if r.docs, p, err = takeTable(p, int(counts[documentTable]), blob, guid, blob, guid); err != nil {
		return err
	}
	r.methods, _, err = takeTable(p, int(counts[methodLines]), index(counts[documentTable] > 0xffff), blob)
	return err
}

func takeTable(p []byte, count int, columns ...int) (table, []byte, error) {
	t := table{count: count, columns: columns}
	for _, size := range columns {
		t.size += size
	}
	if count*t.size > len(p) {
		return t, nil, symbol.Invalid(symbol.Truncated,
			"a table of %d rows of %d bytes lies beyond the end of its stream (%d bytes)", count, t.size, len(p))
	}
	t.rows = p[:count*t.size]
	return t, p[count*t.size:], nil
}

// blob returns a blob of the heap.
func (r *root) blob(at int) ([]byte, error) {
	if at < 0 || at > len(r.blobs) {
		return nil, symbol.Invalid(symbol.Malformed, "a blob at %#x lies outside of the heap of %d bytes", at, len(r.blobs))
	}
	if at == 0 {
		return nil, nil
	}
	d := decoder{p: r.blobs[at:]}
	n := d.unsigned()
	if d.bad || uint64(n) > uint64(len(d.p)) {
		return nil, symbol.Invalid(symbol.Truncated, "the blob at %#x lies beyond the end of the heap of %d bytes", at, len(r.blobs))
	}
	return d.p[:n], nil
}

// decoder reads compressed integers (ECMA-335, II.23.2).
type decoder struct {
	p   []byte
	bad bool
}

func (d *decoder) take() (v uint32, size int) {
	if d.bad || len(d.p) == 0 {
		d.bad = true
		return 0, 0
	}
	first := d.p[0]
	switch {
	case first&0x80 == 0:
		size, v = 1, uint32(first)
	case first&0xc0 == 0x80 && len(d.p) >= 2:
		size, v = 2, uint32(binary.BigEndian.Uint16(d.p)&0x3fff)
	case first&0xe0 == 0xc0 && len(d.p) >= 4:
		size, v = 4, binary.BigEndian.Uint32(d.p)&0x1fffffff
	default:
		d.bad = true
		return 0, 0
	}
	d.p = d.p[size:]
	return v, size
}

func (d *decoder) unsigned() uint32 {
	v, _ := d.take()
	return v
}

// signed reads a number whose sign is in the lowest bit, and whose bits are rotated by it.
func (d *decoder) signed() int64 {
	v, size := d.take()
	n := int64(v >> 1)
	if v&1 == 0 {
		return n
	}
	return n - map[int]int64{1: 1 << 6, 2: 1 << 13, 4: 1 << 28}[size]
}
