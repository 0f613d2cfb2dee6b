package dwarf

import (
	"github.com/slipway-qa/slipway/storage/symbol"
)

// maxUnits bounds the units of a file: the largest browsers have some 60,000.
const maxUnits = 1 << 19

// file is a set of sections: of the image, of a .dwo or .dwp, or of a supplementary file.
type file struct {
	reader *reader
	big    bool // the highest byte first
	info, abbrev, str, strOffsets, lineStr,
	line, addr, ranges, rnglists *section
	units      []*unit // in the order of their offsets
	tables     map[uint64]*abbreviations
	tableOrder []uint64
	names      map[uint64]names
	table      *lineTable // the one that was used last, at tableAt
	tableAt    uint64
	packed     *packageIndex
	byID       map[uint64]*unit // of a .dwo file, once it was looked for
}

// openFile opens the sections and reads the headers of the units. The suffix is ".dwo"
// for files of split units.
func openFile(r *reader, from Sections, suffix string) (*file, error) {
	f := &file{reader: r, tables: map[uint64]*abbreviations{}, names: map[uint64]names{}}
	for _, s := range []struct {
		to   **section
		name string
	}{
		{&f.info, ".debug_info" + suffix}, {&f.abbrev, ".debug_abbrev" + suffix}, {&f.str, ".debug_str" + suffix},
		{&f.strOffsets, ".debug_str_offsets" + suffix}, {&f.lineStr, ".debug_line_str"}, {&f.line, ".debug_line" + suffix},
		{&f.addr, ".debug_addr"}, {&f.ranges, ".debug_ranges"}, {&f.rnglists, ".debug_rnglists" + suffix},
	} {
		opened, err := openSection(from, s.name)
		if err != nil {
			return nil, err
		}
		r.budget.grow(opened.size)
		*s.to = opened
	}
	if suffix != "" {
		index, err := openPackage(f, from)
		if err != nil || index != nil {
			f.packed = index
			return f, err
		}
	}
	f.big = f.order()
	return f, f.readHeaders()
}

// order returns whether the highest byte is first: as it was said, else so that the version
// of the first unit is one.
func (f *file) order() bool {
	if order := f.reader.Order; order != nil {
		return order.Uint16([]byte{0, 1}) == 1
	}
	head, err := f.info.some(0, 14)
	if err != nil {
		return false // reading the headers returns it
	}
	for _, big := range []bool{false, true} {
		d := decoder{data: head, big: big}
		d.length()
		if version := d.u16(); version >= 2 && version <= 5 && !d.bad {
			return big
		}
	}
	return false
}

// readHeaders reads the headers of all units. What comes after one that is wrong is not
// read; if that is the first, it is an error.
func (f *file) readHeaders() error {
	for offset := uint64(0); offset < uint64(f.info.size); {
		u, err := f.header(offset)
		if err != nil && offset > 0 {
			f.reader.summary.Skipped++
			f.reader.summary.warn("%v; what follows is not read", err)
			return nil
		}
		if err != nil {
			return err
		}
		if len(f.units) >= maxUnits {
			return symbol.Invalid(symbol.TooLarge, "the debug information has more than %d units", maxUnits)
		}
		f.units = append(f.units, u)
		offset = u.end
	}
	return nil
}

// header reads the header of the unit at an offset.
func (f *file) header(offset uint64) (*unit, error) {
	p, err := f.info.some(offset, 40)
	if err != nil {
		return nil, err
	}
	d := decoder{data: p, big: f.big}
	n, wide := d.length()
	begin := offset + uint64(d.at)
	if d.bad || n > uint64(f.info.size)-begin {
		return nil, symbol.Invalid(symbol.Truncated, "the unit at %#x of %s says that it has %d bytes; %d follow",
			offset, f.info.name, n, max(f.info.size-int64(begin), 0))
	}
	u := &unit{file: f, offset: offset, end: begin + n, wide: wide, version: d.u16(), kind: unitCompile}
	switch {
	case u.version >= 2 && u.version <= 4:
		u.abbrevOffset = d.offset(wide)
		u.addressSize = int(d.u8())
	case u.version == 5:
		u.kind = d.u8()
		u.addressSize = int(d.u8())
		u.abbrevOffset = d.offset(wide)
		if u.kind == unitSkeleton || u.kind == unitSplitCompile {
			u.id = d.uint(8)
		}
	default:
		u.invalid = symbol.Invalid(symbol.Unsupported, "version %d of DWARF is not known", u.version)
	}
	u.first = offset + uint64(d.at)
	switch {
	case u.invalid != nil:
	case d.bad || u.first > u.end:
		u.invalid = symbol.Invalid(symbol.Truncated, "its header is cut off")
	case u.addressSize != 2 && u.addressSize != 4 && u.addressSize != 8:
		u.invalid = symbol.Invalid(symbol.Unsupported, "addresses of %d bytes", u.addressSize)
	}
	return u, nil
}

// unitOf returns the unit that an offset of .debug_info lies in; nil if there is none.
func (f *file) unitOf(offset uint64) *unit {
	low, high := 0, len(f.units)
	for low < high {
		middle := (low + high) / 2
		if f.units[middle].end <= offset {
			low = middle + 1
		} else {
			high = middle
		}
	}
	if low == len(f.units) || offset < f.units[low].first {
		return nil
	}
	return f.units[low]
}
