package dwarf

import (
	"math"

	"github.com/slipway-qa/slipway/storage/symbol"
	"github.com/slipway-qa/slipway/storage/symbol/native"
)

// maxRanges bounds those of one entry: what has more is not from a compiler.
const maxRanges = 1 << 14

// placing are the attributes of an entry that say where its code is.
type placing struct{ low, high, ranges value }

func (p *placing) field(name uint32) *value {
	switch name {
	case attrLowPC:
		return &p.low
	case attrHighPC:
		return &p.high
	case attrRanges:
		return &p.ranges
	}
	return nil
}

// place appends the ranges of an entry, without the empty ones.
func (u *unit) place(p *placing, to []native.Range) ([]native.Range, error) {
	if p.low.form != 0 && p.high.form != 0 {
		low, ok, err := u.address(p.low)
		if err != nil || !ok {
			return to, err
		}
		high, ok, err := u.address(p.high)
		if err != nil {
			return to, err
		}
		if !ok {
			high = low + p.high.constant()
		}
		return u.addRange(to, low, high), nil
	}
	if p.ranges.form == 0 {
		return to, nil
	}
	if u.version >= 5 {
		return u.rangeList(p.ranges, to)
	}
	return u.oldRanges(p.ranges.number, to)
}

// addRange appends a range, unless it is empty or of code that the linker removed: which
// it marks with the two highest addresses.
func (u *unit) addRange(to []native.Range, low, high uint64) []native.Range {
	mask := u.mask()
	if high <= low || low >= mask-1 || high > mask {
		return to
	}
	if n := len(to); n > 0 && to[n-1].End == low && low != 0 {
		to[n-1].End = high
		return to
	}
	return append(to, native.Range{Start: low, End: high})
}

// oldRanges reads a list of .debug_ranges, of versions up to 4.
func (u *unit) oldRanges(offset uint64, to []native.Range) ([]native.Range, error) {
	owner := u
	if u.skeleton != nil {
		owner = u.skeleton
		offset += owner.rangesBase
	}
	base, mask, size := u.lowPC, u.mask(), u.addressSize
	for range maxRanges {
		if err := u.file.reader.budget.spend(8); err != nil {
			return to, err
		}
		p, err := owner.file.ranges.bytes(offset, 2*size)
		if err != nil {
			return to, err
		}
		offset += uint64(2 * size)
		d := decoder{data: p, big: owner.file.big}
		low, high := d.uint(size), d.uint(size)
		switch {
		case low == 0 && high == 0:
			return to, nil
		case low == mask:
			base = high
		case base >= mask-1 || low == mask-1:
		default:
			to = u.addRange(to, (base+low)&mask, (base+high)&mask)
		}
	}
	return to, symbol.Invalid(symbol.TooLarge, "a list of ranges has more than %d entries", maxRanges)
}

// rangeList reads a list of .debug_rnglists, of version 5.
func (u *unit) rangeList(v value, to []native.Range) ([]native.Range, error) {
	offset := v.number
	s := u.file.rnglists
	if v.form == formRnglistx {
		relative, err := u.indexed(s, u.rnglistsBase, v.number, u.offsetSize())
		if err != nil {
			return to, err
		}
		offset = u.rnglistsBase + relative
	}
	l := rangeReader{unit: u, base: u.lowPC}
	for done := false; !done; {
		// Entries have at most 21 bytes: those of a window are read before the next one is.
		p, err := s.some(offset, 512)
		if err != nil {
			return to, err
		}
		l.decoder = decoder{data: p, big: u.file.big}
		last := offset+uint64(len(p)) == uint64(s.size)
		if to, done, err = l.read(to, last); err != nil {
			return to, err
		}
		offset += uint64(l.at)
	}
	return to, nil
}

// rangeReader reads the entries of a list.
type rangeReader struct {
	decoder
	unit  *unit
	base  uint64
	count int
}

// maxEntry is the size of the longest entry: a kind and two LEB128, or two addresses.
const maxEntry = 21

func (l *rangeReader) read(to []native.Range, last bool) ([]native.Range, bool, error) {
	for last || l.left() >= maxEntry {
		if l.count++; l.count > maxRanges {
			return to, false, symbol.Invalid(symbol.TooLarge, "a list of ranges has more than %d entries", maxRanges)
		}
		if err := l.unit.file.reader.budget.spend(8); err != nil {
			return to, false, err
		}
		kind := l.u8()
		if l.bad {
			return to, false, symbol.Invalid(symbol.Truncated, "a list of ranges is cut off")
		}
		if kind == rleEnd {
			return to, true, nil
		}
		low, high, err := l.entry(kind)
		if err != nil {
			return to, false, err
		}
		if l.bad {
			return to, false, symbol.Invalid(symbol.Truncated, "a list of ranges is cut off")
		}
		to = l.unit.addRange(to, low, high)
	}
	return to, false, nil
}

// entry returns the range of an entry; an empty one if it sets the base.
func (l *rangeReader) entry(kind byte) (low, high uint64, err error) {
	u, size := l.unit, l.unit.addressSize
	switch kind {
	case rleBaseAddressx:
		l.base, err = u.addressAt(l.uleb())
	case rleBaseAddress:
		l.base = l.uint(size)
	case rleOffsetPair:
		low, high = l.uleb(), l.uleb()
		if l.base >= u.mask()-1 || low > math.MaxUint64-l.base || high > math.MaxUint64-l.base {
			return 0, 0, nil
		}
		return l.base + low, l.base + high, nil
	case rleStartxEndx:
		a, b := l.uleb(), l.uleb()
		if low, err = u.addressAt(a); err != nil {
			return 0, 0, err
		}
		high, err = u.addressAt(b)
	case rleStartxLength:
		a, n := l.uleb(), l.uleb()
		low, err = u.addressAt(a)
		high = low + n
	case rleStartEnd:
		low, high = l.uint(size), l.uint(size)
	case rleStartLength:
		low = l.uint(size)
		high = low + l.uleb()
	default:
		err = symbol.Invalid(symbol.Malformed, "a list of ranges has an entry of the unknown kind %d", kind)
	}
	return low, high, err
}
