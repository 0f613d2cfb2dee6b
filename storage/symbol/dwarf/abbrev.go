package dwarf

import (
	"github.com/slipway-qa/slipway/storage/symbol"
)

const (
	// maxAbbrevs bounds the declarations of a table: compilers write some hundred, with
	// link-time optimization some thousand.
	maxAbbrevs = 1 << 17
	// maxAttributes bounds those of one declaration.
	maxAttributes = 1 << 10
	// keptTables is how many tables of abbreviations are kept: units of one file share
	// them, or have one each.
	keptTables = 32
)

// role says what the walk does with an entry.
type role uint8

const (
	other role = iota
	subprogram
	inlinedCall
)

type attribute struct {
	name     uint32
	form     uint32
	implicit int64
}

// declaration is what a code of a table of abbreviations stands for.
type declaration struct {
	tag        uint64
	role       role
	children   bool
	hasCode    bool // it has addresses
	attributes []attribute
	// If every attribute has a fixed size, fixed is true and the size the sum of these.
	fixed                     bool
	bytes, addresses, offsets int
}

// abbreviations is a table of declarations: those of small codes, which is what
// compilers use, by their code.
type abbreviations struct {
	dense  []*declaration
	sparse map[uint64]*declaration
}

func (a *abbreviations) get(code uint64) *declaration {
	if code < uint64(len(a.dense)) {
		return a.dense[code]
	}
	return a.sparse[code]
}

// abbrevs returns the table at an offset of the section.
func (f *file) abbrevs(offset uint64) (*abbreviations, error) {
	if t, ok := f.tables[offset]; ok {
		return t, nil
	}
	t, err := f.readAbbrevs(offset)
	if err != nil {
		return nil, err
	}
	if len(f.tableOrder) >= keptTables {
		delete(f.tables, f.tableOrder[0])
		f.tableOrder = f.tableOrder[1:]
	}
	f.tables[offset] = t
	f.tableOrder = append(f.tableOrder, offset)
	return t, nil
}

// readAbbrevs reads more and more bytes until the table's end is among them: a table
// does not say how long it is.
func (f *file) readAbbrevs(offset uint64) (*abbreviations, error) {
	for size := 8 << 10; ; size *= 8 {
		p, err := f.abbrev.some(offset, size)
		if err != nil {
			return nil, err
		}
		if err := f.reader.budget.spend(len(p)); err != nil {
			return nil, err
		}
		d := decoder{data: p}
		t, err := parseAbbrevs(&d)
		if d.bad && len(p) == size {
			continue
		}
		if d.bad && err == nil {
			return nil, symbol.Invalid(symbol.Truncated, "the table of abbreviations at %#x is cut off", offset)
		}
		return t, err
	}
}

func parseAbbrevs(d *decoder) (*abbreviations, error) {
	t := &abbreviations{}
	for n := 0; ; n++ {
		code := d.uleb()
		if code == 0 {
			return t, nil
		}
		if n >= maxAbbrevs {
			return nil, symbol.Invalid(symbol.TooLarge, "a table of abbreviations has more than %d entries", maxAbbrevs)
		}
		a := &declaration{tag: d.uleb(), children: d.u8() != 0, fixed: true}
		if err := a.read(d); err != nil {
			return nil, err
		}
		if d.bad {
			return t, nil
		}
		t.put(code, a)
	}
}

func (a *abbreviations) put(code uint64, d *declaration) {
	if code <= uint64(len(a.dense))+256 && code < maxAbbrevs {
		for uint64(len(a.dense)) <= code {
			a.dense = append(a.dense, nil)
		}
		a.dense[code] = d
		return
	}
	if a.sparse == nil {
		a.sparse = map[uint64]*declaration{}
	}
	a.sparse[code] = d
}

func (a *declaration) read(d *decoder) error {
	for {
		name, form := d.uleb(), d.uleb()
		if name == 0 && form == 0 || d.bad {
			break
		}
		if len(a.attributes) >= maxAttributes {
			return symbol.Invalid(symbol.TooLarge, "an abbreviation has more than %d attributes", maxAttributes)
		}
		x := attribute{name: uint32(min(name, 1<<31)), form: uint32(min(form, 1<<31))}
		if form == formImplicitConst {
			x.implicit = d.sleb()
		}
		a.attributes = append(a.attributes, x)
		a.measure(x.form)
		a.hasCode = a.hasCode || name == attrLowPC || name == attrRanges
	}
	switch a.tag {
	case tagSubprogram:
		a.role = subprogram
	case tagInlined:
		a.role = inlinedCall
	}
	return nil
}

// measure adds the size of a form.
func (a *declaration) measure(form uint32) {
	switch form {
	case formFlagPresent, formImplicitConst:
	case formData1, formRef1, formFlag, formStrx1, formAddrx1:
		a.bytes++
	case formData2, formRef2, formStrx2, formAddrx2:
		a.bytes += 2
	case formStrx3, formAddrx3:
		a.bytes += 3
	case formData4, formRef4, formStrx4, formAddrx4, formRefSup4:
		a.bytes += 4
	case formData8, formRef8, formRefSig8, formRefSup8:
		a.bytes += 8
	case formData16:
		a.bytes += 16
	case formAddr:
		a.addresses++
	case formStrp, formSecOffset, formLineStrp, formStrpSup, formGNURefAlt, formGNUStrpAlt:
		a.offsets++
	default:
		a.fixed = false
	}
}
