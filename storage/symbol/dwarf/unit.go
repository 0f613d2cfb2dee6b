package dwarf

import (
	"path"
	"strings"

	"github.com/slipway-qa/slipway/storage/symbol"
)

// maxUnit bounds the bytes of a unit, which are in memory while it is read: the largest
// ones of link-time optimization have some 50 MB.
const maxUnit = 96 << 20

// unit is a unit of .debug_info.
type unit struct {
	file         *file
	offset       uint64 // of its header
	first        uint64 // of its first entry
	end          uint64
	abbrevOffset uint64
	id           uint64 // of a skeleton and its split unit
	invalid      error  // why it cannot be read
	version      uint16
	kind         byte
	wide         bool // 64-bit DWARF
	addressSize  int
	data         []byte // from offset to end, while it is being read
	skeleton     *unit  // of a split unit
	contribution contribution
	*root
}

// root is what the first entry says about the unit.
type root struct {
	tag             uint64
	compDir         string
	hasLines        bool
	lineOffset      uint64
	lowPC           uint64
	strOffsetsBase  uint64
	addrBase        uint64
	rnglistsBase    uint64
	rangesBase      uint64 // of version 4: of the split unit's ranges
	dwoName         string
	declaresDwoName bool
}

func (u *unit) mayHoldCode() bool {
	return u.invalid != nil || u.kind == unitCompile || u.kind == unitSkeleton
}

func (u *unit) offsetSize() int {
	if u.wide {
		return 8
	}
	return 4
}

// mask is the highest address.
func (u *unit) mask() uint64 { return 1<<(8*u.addressSize) - 1 }

// load takes the bytes of the unit into memory; the buffer serves again.
func (u *unit) load(buffer []byte) ([]byte, error) {
	n := u.end - u.offset
	if n > maxUnit {
		return buffer, symbol.Invalid(symbol.TooLarge, "it has %d bytes, more than %d", n, maxUnit)
	}
	if uint64(cap(buffer)) < n {
		buffer = make([]byte, n+n/4)
	}
	u.data = buffer[:n]
	return buffer, u.file.info.read(u.data, u.offset)
}

// at calls use with the entry at an offset of .debug_info, after its code. The bytes are
// those of the unit, or read by ranges: more of them when use finds too few.
func (u *unit) at(offset uint64, use func(d *decoder, a *declaration) error) error {
	if offset < u.first || offset >= u.end {
		return symbol.Invalid(symbol.Malformed, "a reference to %#x, outside of the unit", offset)
	}
	table, err := u.file.abbrevs(u.abbrevOffset)
	if err != nil {
		return err
	}
	for size := uint64(256); ; size *= 16 {
		d, complete, err := u.entry(offset, size)
		if err != nil {
			return err
		}
		a := table.get(d.uleb())
		if a == nil && !d.bad {
			return symbol.Invalid(symbol.Malformed, "no abbreviation for the entry at %#x", offset)
		}
		if a != nil {
			err = use(&d, a)
		}
		if !d.bad {
			return err
		}
		if complete {
			return symbol.Invalid(symbol.Truncated, "the entry at %#x is cut off", offset)
		}
	}
}

// entry returns the bytes from an offset of the unit, at most size unless the unit is
// in memory; complete says that they reach to its end.
func (u *unit) entry(offset, size uint64) (decoder, bool, error) {
	if u.data != nil {
		return decoder{data: u.data[offset-u.offset:], big: u.file.big}, true, nil
	}
	n := min(size, u.end-offset)
	if err := u.file.reader.budget.spend(int(n / 16)); err != nil {
		return decoder{}, false, err
	}
	p, err := u.file.info.bytes(offset, int(n))
	return decoder{data: p, big: u.file.big}, n == u.end-offset, err
}

// rootValues are the attributes of the first entry, as they are written: to read some,
// others must be known.
type rootValues struct {
	tag                         uint64
	compDir, lowPC, dwoName     value
	stmtList                    value
	strOffsets, addr, rnglists  value
	gnuAddr, gnuRanges, gnuName value
	gnuID                       value
}

func (r *rootValues) field(name uint32) *value {
	switch name {
	case attrCompDir:
		return &r.compDir
	case attrLowPC:
		return &r.lowPC
	case attrDwoName:
		return &r.dwoName
	case attrStmtList:
		return &r.stmtList
	case attrStrOffsetsBase:
		return &r.strOffsets
	case attrAddrBase:
		return &r.addr
	case attrRnglistsBase:
		return &r.rnglists
	case attrGNUAddrBase:
		return &r.gnuAddr
	case attrGNURangesBase:
		return &r.gnuRanges
	case attrGNUDwoName:
		return &r.gnuName
	case attrGNUDwoID:
		return &r.gnuID
	}
	return nil
}

// open reads the first entry, once.
func (u *unit) open() error {
	if u.invalid != nil || u.root != nil {
		return u.invalid
	}
	var v rootValues
	if u.first < u.end {
		err := u.at(u.first, func(d *decoder, a *declaration) error {
			v = rootValues{tag: a.tag}
			for _, x := range a.attributes {
				read, err := u.form(d, x.form, x.implicit)
				if err != nil {
					return err
				}
				if field := v.field(x.name); field != nil {
					*field = read
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return u.setRoot(&v)
}

func (u *unit) setRoot(v *rootValues) error {
	r := &root{tag: v.tag, hasLines: v.stmtList.form != 0, lineOffset: v.stmtList.number,
		strOffsetsBase: v.strOffsets.number, addrBase: v.addr.number, rnglistsBase: v.rnglists.number, rangesBase: v.gnuRanges.number}
	if v.gnuAddr.form != 0 {
		r.addrBase = v.gnuAddr.number
	}
	if v.gnuID.form != 0 {
		u.id = v.gnuID.number
	}
	u.root = r
	u.splitBases(v)
	var err error
	if r.compDir, err = u.text(v.compDir); err != nil {
		return err
	}
	name := v.dwoName
	if name.form == 0 {
		name = v.gnuName
	}
	r.declaresDwoName = name.form != 0
	if r.dwoName, err = u.text(name); err != nil {
		return err
	}
	if u.skeleton == nil {
		r.lowPC, _, err = u.address(v.lowPC)
		return err
	}
	r.lowPC, r.compDir = u.skeleton.lowPC, u.skeleton.compDir
	return nil
}

// splitName returns where the split unit of a skeleton is.
func (u *unit) splitName() string {
	if path.IsAbs(u.dwoName) || strings.Contains(u.dwoName, ":") || u.compDir == "" {
		return u.dwoName
	}
	return u.compDir + "/" + u.dwoName
}
