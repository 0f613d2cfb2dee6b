package native

import (
	"encoding/binary"
	"fmt"
	"sort"

	"github.com/slipway-qa/slipway/storage/symbol"
)

// A table is two sections. NAME holds blocks of segments in the order of their
// addresses; for each segment, as varints: the distance from the end of the former one
// (in a block's first: from the block's start), the size, how far its start is from the
// start of what it is part of, v1 less the former v1 plus v2 (signed), v2.
// NAME.top holds for each block its start and its offset (8 bytes each), and at the end
// the end of the last segment and the size of NAME.
const (
	blockSize = 128
	topEntry  = 16
	// maxTop bounds what a table holds in memory: enough for 100 million segments.
	maxTop = 32 << 20
)

// tableWriter writes a table: its blocks into a spool, since sections follow one another.
type tableWriter struct {
	name     string
	blocks   spool
	top      spool
	block    []byte
	last     uint64 // end of the former segment
	expected uint64
	count    int64
}

func (t *tableWriter) add(start, end uint64, s *span) error {
	if len(t.block) >= blockSize {
		if err := t.flush(); err != nil {
			return err
		}
	}
	if len(t.block) == 0 {
		head := binary.LittleEndian.AppendUint64(nil, start)
		if _, err := t.top.Write(binary.LittleEndian.AppendUint64(head, uint64(t.blocks.size))); err != nil {
			return err
		}
		t.last, t.expected = start, 0
	}
	b := binary.AppendUvarint(t.block, start-t.last)
	b = binary.AppendUvarint(b, end-start)
	b = binary.AppendUvarint(b, start-s.start)
	b = binary.AppendVarint(b, int64(s.v1-t.expected))
	t.block = binary.AppendUvarint(b, s.v2)
	t.last, t.expected = end, s.v1+s.v2
	t.count++
	return nil
}

func (t *tableWriter) flush() error {
	_, err := t.blocks.Write(t.block)
	t.block = t.block[:0]
	return err
}

// finish writes the sections of the table.
func (t *tableWriter) finish(w *symbol.Writer) error {
	defer t.close()
	if err := t.flush(); err != nil {
		return err
	}
	w.Begin(t.name)
	if err := t.blocks.copyTo(w); err != nil {
		return err
	}
	w.Begin(t.name + ".top")
	if t.top.size > maxTop-topEntry {
		return symbol.Invalid(symbol.TooLarge, "the file describes more code than an index holds")
	}
	if err := t.top.copyTo(w); err != nil {
		return err
	}
	tail := binary.LittleEndian.AppendUint64(nil, t.last)
	_, err := w.Write(binary.LittleEndian.AppendUint64(tail, uint64(t.blocks.size)))
	return err
}

func (t *tableWriter) close() {
	t.blocks.close()
	t.top.close()
}

// table finds segments by address.
type table struct {
	top    []byte
	blocks part
}

// segment is a range of addresses in a table.
type segment struct {
	start, end uint64
	// origin is the start of what the segment is part of.
	origin uint64
	v1, v2 uint64
}

func openTable(f *symbol.File, name string) (*table, error) {
	top, err := f.ReadSection(name+".top", maxTop)
	if err != nil {
		return nil, err
	}
	if len(top)%topEntry != 0 {
		return nil, fmt.Errorf("index: the top of table %q is cut off", name)
	}
	blocks, err := openPart(f, name)
	return &table{top: top, blocks: blocks}, err
}

func (t *table) start(i int) uint64 { return binary.LittleEndian.Uint64(t.top[i*topEntry:]) }

func (t *table) offset(i int) uint64 { return binary.LittleEndian.Uint64(t.top[i*topEntry+8:]) }

// find returns the last segment that starts at an address or before; it may end before the
// address. False: there is none.
func (t *table) find(address uint64, b *buffers) (segment, bool, error) {
	n := len(t.top)/topEntry - 1
	i := sort.Search(max(n, 0), func(i int) bool { return t.start(i) > address }) - 1
	if i < 0 {
		return segment{}, false, nil
	}
	from, to := t.offset(i), t.offset(i+1)
	if from > to || to-from > 2*blockSize || to > uint64(t.blocks.size) {
		return segment{}, false, fmt.Errorf("index: a block of a table is too large")
	}
	block, err := t.blocks.read(&b.block, int64(from), int(to-from))
	if err != nil {
		return segment{}, false, err
	}
	return search(block, t.start(i), address)
}

// search walks the segments of a block.
func search(block []byte, start, address uint64) (segment, bool, error) {
	var found segment
	d := decoder{data: block}
	last, expected, ok := start, uint64(0), false
	for d.left() > 0 {
		begin := last + d.uvarint()
		size, lead := d.uvarint(), d.uvarint()
		v1 := expected + uint64(d.varint())
		v2 := d.uvarint()
		if d.bad {
			return segment{}, false, fmt.Errorf("index: a block of a table is damaged")
		}
		if begin > address {
			break
		}
		found, ok = segment{start: begin, end: begin + size, origin: begin - lead, v1: v1, v2: v2}, true
		last, expected = begin+size, v1+v2
	}
	return found, ok, nil
}

// decoder reads varints; bad says that the data ended or was wrong.
type decoder struct {
	data []byte
	at   int
	bad  bool
}

func (d *decoder) left() int { return len(d.data) - d.at }

func (d *decoder) uvarint() uint64 {
	if d.at < len(d.data) && d.data[d.at] < 0x80 {
		d.at++
		return uint64(d.data[d.at-1])
	}
	return d.long()
}

func (d *decoder) long() uint64 {
	v, n := binary.Uvarint(d.data[d.at:])
	if n <= 0 {
		d.bad, d.at = true, len(d.data)
		return 0
	}
	d.at += n
	return v
}

// take returns the next bytes.
func (d *decoder) take(n uint64) []byte {
	if n > uint64(d.left()) {
		d.bad, d.at = true, len(d.data)
		return nil
	}
	d.at += int(n)
	return d.data[d.at-int(n) : d.at]
}

func (d *decoder) varint() int64 {
	u := d.uvarint()
	return int64(u>>1) ^ -int64(u&1)
}
