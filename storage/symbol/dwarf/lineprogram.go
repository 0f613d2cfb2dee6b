package dwarf

import (
	"cmp"
	"slices"
	"sort"

	"github.com/slipway-qa/slipway/storage/symbol"
	"github.com/slipway-qa/slipway/storage/symbol/native"
)

// maxRows bounds the rows of a unit, which are in memory while it is read (96 MiB).
const maxRows = 4 << 20

// row says that the code from an address on, up to the next row's, comes from a line.
type row struct {
	address            uint64
	file, line, column uint32
}

// maxFunctionRows bounds the lines of one function: an index has no room for more.
const maxFunctionRows = 1 << 19

// sequence is a run of rows whose addresses do not decrease.
type sequence struct {
	start, end  uint64
	first, last int // rows[first:last]
}

// program is the state of a line program.
type program struct {
	*lineTable
	row
	op     uint64 // of several operations in one instruction
	first  int    // row of the sequence
	dead   bool   // the linker removed the code
	sorted bool
}

func (p *program) reset() {
	p.row = row{file: 1, line: 1}
	p.op, p.first, p.dead, p.sorted = 0, len(p.rows), false, true
}

// run runs a program. What an error leaves is kept.
func (t *lineTable) run(d *decoder) error {
	p := program{lineTable: t}
	p.reset()
	for d.left() > 0 && !d.bad {
		if len(t.rows) >= maxRows {
			t.sort()
			return symbol.Invalid(symbol.TooLarge, "a program has more than %d rows", maxRows)
		}
		p.step(d)
	}
	t.sort()
	if d.bad {
		return symbol.Invalid(symbol.Truncated, "a program is cut off")
	}
	return nil
}

func (t *lineTable) sort() {
	slices.SortStableFunc(t.sequences, func(a, b sequence) int { return cmp.Compare(a.start, b.start) })
}

func (p *program) step(d *decoder) {
	opcode := d.u8()
	switch {
	case opcode >= p.opcodeBase:
		p.special(opcode - p.opcodeBase)
	case opcode == 0:
		p.extended(d)
	default:
		p.standard(d, opcode)
	}
}

// special advances address and line, and appends a row.
func (p *program) special(adjusted byte) {
	if p.lineRange == 0 {
		p.append()
		return
	}
	p.advance(uint64(adjusted / p.lineRange))
	p.line += uint32(int32(p.lineBase) + int32(adjusted%p.lineRange))
	p.append()
}

func (p *program) advance(operations uint64) {
	if p.maxOps <= 1 {
		p.address += operations * uint64(p.minLength)
		return
	}
	n := p.op + operations
	p.address += n / uint64(p.maxOps) * uint64(p.minLength)
	p.op = n % uint64(p.maxOps)
}

func (p *program) append() {
	if p.dead {
		return
	}
	if n := len(p.rows); n > p.first {
		last := &p.rows[n-1]
		if p.address < last.address {
			p.sorted = false
		}
		if p.address == last.address {
			*last = p.row // of several at one address the last holds
			return
		}
	}
	p.rows = append(p.rows, p.row)
}

func (p *program) standard(d *decoder, opcode byte) {
	switch opcode {
	case lnsCopy:
		p.append()
	case lnsAdvancePC:
		p.advance(d.uleb())
	case lnsAdvanceLine:
		p.line += uint32(d.sleb())
	case lnsSetFile:
		p.row.file = uint32(d.uleb())
	case lnsSetColumn:
		p.column = uint32(d.uleb())
	case lnsNegateStmt, lnsSetBasicBlock, lnsSetPrologueEnd, lnsSetEpilogueBegin:
	case lnsConstAddPC:
		if p.lineRange != 0 {
			p.advance(uint64((255 - p.opcodeBase) / p.lineRange))
		}
	case lnsFixedAdvancePC:
		p.address += uint64(d.u16())
		p.op = 0
	case lnsSetISA:
		d.skipLEB()
	default:
		for range p.lengths[opcode-1] {
			d.skipLEB()
		}
	}
}

func (p *program) extended(d *decoder) {
	n := d.uleb()
	if n == 0 {
		return
	}
	operands := decoder{data: d.take(n), big: d.big}
	switch operands.u8() {
	case lneEndSequence:
		p.endSequence()
		p.reset()
	case lneSetAddress:
		size := operands.left()
		if size > 8 {
			size = p.unit.addressSize
		}
		p.address, p.op = operands.uint(size), 0
		mask := p.unit.mask()
		p.dead = size > 0 && p.address >= mask-1
	case lneDefineFile:
		if name := operands.text(); len(name) > 0 {
			p.define(&operands, name)
		}
	}
}

// endSequence keeps the rows since the last one if they cover addresses.
func (p *program) endSequence() {
	rows := p.rows[p.first:]
	if len(rows) > 0 && !p.sorted {
		slices.SortStableFunc(rows, func(a, b row) int { return cmp.Compare(a.address, b.address) })
	}
	if p.dead || len(rows) == 0 || p.address <= rows[0].address {
		p.rows = p.rows[:p.first]
		return
	}
	p.sequences = append(p.sequences, sequence{start: rows[0].address, end: p.address, first: p.first, last: len(p.rows)})
}

// lookBack is how many sequences before the last one that begins before an address are
// asked whether they reach it: sequences of one unit overlap when the linker removed some.
const lookBack = 8

// find returns the sequence that an address lies in; else the first that begins after it.
func (t *lineTable) find(address uint64) (at int, inside bool) {
	after := sort.Search(len(t.sequences), func(i int) bool { return t.sequences[i].start > address })
	for i := after - 1; i >= 0 && i >= after-lookBack; i-- {
		if address < t.sequences[i].end {
			return i, true
		}
	}
	return after, false
}

// between appends the lines of a range: those of the code in it, and lines without a file where
// no sequence says anything.
func (t *lineTable) between(at native.Range, to []native.Line) ([]native.Line, error) {
	for address := at.Start; address < at.End && len(to) < maxFunctionRows; {
		i, inside := t.find(address)
		if !inside {
			if i == len(t.sequences) || t.sequences[i].start >= at.End {
				return to, nil
			}
			address = t.sequences[i].start
			continue
		}
		s := &t.sequences[i]
		end := min(s.end, at.End)
		var err error
		if to, err = t.rowsOf(s, native.Range{Start: address, End: end}, to); err != nil {
			return to, err
		}
		if end < at.End {
			to = append(to, native.Line{Address: end})
		}
		address = end
	}
	return to, nil
}

// rowsOf appends the rows of a sequence that hold in a range.
func (t *lineTable) rowsOf(s *sequence, at native.Range, to []native.Line) ([]native.Line, error) {
	rows := t.rows[s.first:s.last]
	i := sort.Search(len(rows), func(i int) bool { return rows[i].address > at.Start })
	for i = max(i-1, 0); i < len(rows) && rows[i].address < at.End; i++ {
		r := &rows[i]
		if len(to) >= maxFunctionRows {
			return append(to, native.Line{Address: max(r.address, at.Start)}), nil
		}
		file, err := t.file(uint64(r.file))
		if err != nil {
			return to, err
		}
		to = append(to, native.Line{Address: max(r.address, at.Start), File: file, Line: r.line, Column: r.column})
	}
	return to, nil
}
