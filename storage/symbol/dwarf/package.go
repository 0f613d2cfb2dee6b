package dwarf

import (
	"slices"

	"github.com/slipway-qa/slipway/storage/symbol"
)

// contribution says where the parts of a split unit begin in the sections of a package.
type contribution struct{ info, abbrev, line, strOffsets, rnglists uint64 }

// packageIndex is .debug_cu_index of a .dwp file: a hash table of the ids of units, and
// a table of their contributions (DWARF 5, 7.3.5.3; version 2 is GNU's).
type packageIndex struct {
	from    *section
	big     bool
	columns []uint32
	units   uint64
	slots   uint64
	// Where its tables begin.
	hashes, rows, offsets uint64
}

// maxColumns bounds the kinds of sections: eight are defined.
const maxColumns = 16

// openPackage reads the index of a package; nil if the file is none.
func openPackage(f *file, from Sections) (*packageIndex, error) {
	s, err := openSection(from, ".debug_cu_index")
	if err != nil || s.size == 0 {
		return nil, err
	}
	head, err := s.bytes(0, 16)
	if err != nil {
		return nil, err
	}
	p := &packageIndex{from: s}
	d := decoder{data: head}
	version := d.u32()
	if version != 2 && version&0xffff != 5 {
		d = decoder{data: head, big: true}
		p.big = true
		if version = d.u32(); version != 2 && version>>16 != 5 {
			return nil, symbol.Invalid(symbol.Unsupported, "the package's index has an unknown version")
		}
	}
	columns, units, slots := uint64(d.u32()), uint64(d.u32()), uint64(d.u32())
	p.units, p.slots = units, slots
	p.hashes = 16
	p.rows = p.hashes + 8*slots
	p.offsets = p.rows + 4*slots + 4*columns
	if columns > maxColumns || slots&(slots-1) != 0 || p.offsets+4*units*columns > uint64(s.size) {
		return nil, symbol.Invalid(symbol.Malformed, "the package's index is not as long as its header says")
	}
	f.big = p.big
	names, err := s.bytes(p.rows+4*slots, int(4*columns))
	if err != nil {
		return nil, err
	}
	d = decoder{data: names, big: p.big}
	for range columns {
		p.columns = append(p.columns, d.u32())
	}
	return p, nil
}

func (p *packageIndex) number(offset uint64, size int) (uint64, error) {
	b, err := p.from.bytes(offset, size)
	if err != nil {
		return 0, err
	}
	d := decoder{data: b, big: p.big}
	return d.uint(size), nil
}

// maxProbes bounds the search in the hash table, which has enough empty slots.
const maxProbes = 1 << 12

// find returns where the parts of the unit with an id are.
func (p *packageIndex) find(id uint64) (contribution, bool, error) {
	if p.slots == 0 {
		return contribution{}, false, nil
	}
	mask := p.slots - 1
	slot, step := id&mask, id>>32&mask|1
	for range min(p.slots, maxProbes) {
		row, err := p.number(p.rows+4*slot, 4)
		if err != nil || row == 0 {
			return contribution{}, false, err
		}
		have, err := p.number(p.hashes+8*slot, 8)
		if err != nil {
			return contribution{}, false, err
		}
		if have == id && row <= p.units {
			c, err := p.row(row - 1)
			return c, err == nil, err
		}
		slot = (slot + step) & mask
	}
	return contribution{}, false, nil
}

func (p *packageIndex) row(row uint64) (contribution, error) {
	var c contribution
	n := uint64(len(p.columns))
	for i, column := range p.columns {
		v, err := p.number(p.offsets+4*(row*n+uint64(i)), 4)
		if err != nil {
			return c, err
		}
		switch column {
		case sectInfo:
			c.info = v
		case sectAbbrev:
			c.abbrev = v
		case sectLine:
			c.line = v
		case sectStrOffsets:
			c.strOffsets = v
		case sectRnglists:
			c.rnglists = v
		}
	}
	return c, nil
}

// ids returns the ids of the units, each once, in rising order.
func (p *packageIndex) ids() ([]uint64, error) {
	if p.slots > 2*maxUnits {
		return nil, symbol.Invalid(symbol.TooLarge, "the package's index has more than %d slots", 2*maxUnits)
	}
	var ids []uint64
	for slot := range p.slots {
		row, err := p.number(p.rows+4*slot, 4)
		if err != nil {
			return nil, err
		}
		if row == 0 {
			continue
		}
		id, err := p.number(p.hashes+8*slot, 8)
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return slices.Compact(ids), nil
}
