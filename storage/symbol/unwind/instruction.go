package unwind

import (
	"errors"
	"fmt"
)

const (
	// columns is how many registers have rules; those above are of floating point.
	columns = 40
	// maxRemembered bounds the states that a function keeps; compilers keep one.
	maxRemembered = 64
	// maxStepped bounds the addresses of rows whose rules depend on the address itself, as
	// those of procedure linkage tables do. All linkage tables of a browser are below it.
	maxStepped = 4 << 20
)

type ruleKind byte

const (
	unspecified ruleKind = iota
	undefined
	sameValue
	atOffset      // saved at CFA + offset
	isOffset      // is CFA + offset
	inRegister    // is the value of another register
	atExpression  // saved where an expression says
	isExpression  // is what an expression says
	registerPlus  // CFA alone: register + offset
	maxRuleLength = 1 << 10
)

type rule struct {
	kind       ruleKind
	register   uint64
	offset     int64
	expression []byte
}

// state is the rules in force.
type state struct {
	cfa       rule
	registers [columns]rule
}

// machine runs the instructions of one function.
type machine struct {
	*frames
	common            *commonEntry
	state, initial    state
	remembered        []state
	location, end     uint64
	inCommon, stopped bool
}

var errSkipped = errors.New("the instructions cannot be run")

// rows runs the instructions of a function and reports a row for each range of addresses.
func (f *frames) rows(c *commonEntry, p *cursor, start, end uint64) error {
	m := &machine{frames: f, common: c, location: start, end: end, inCommon: true}
	err := m.runBoth(p)
	if errors.Is(err, errSkipped) {
		f.skip("section %s: the function at %#x: %v", f.name, start, err)
		return nil
	}
	if err != nil {
		return err
	}
	return m.emit(m.end)
}

// runBoth runs the instructions of the common entry, whose state restoring goes back to,
// and those of the function.
func (m *machine) runBoth(p *cursor) error {
	c := m.common
	if err := m.run(&cursor{p: c.instructions, order: p.order, at: m.address + uint64(c.at)}); err != nil {
		return err
	}
	m.initial, m.inCommon = m.state, false
	return m.run(p)
}

// advance reports the rules for the addresses up to a new location.
func (m *machine) advance(to uint64) error {
	if m.inCommon || to < m.location {
		return fmt.Errorf("%w: the address goes back from %#x to %#x", errSkipped, m.location, to)
	}
	if err := m.emit(min(to, m.end)); err != nil {
		return err
	}
	m.location = to
	m.stopped = to >= m.end
	return nil
}

func (m *machine) run(p *cursor) error {
	for len(p.p) > 0 && !m.stopped {
		op := p.u8()
		low := uint64(op & 0x3f)
		var err error
		switch op >> 6 {
		case 1:
			err = m.advance(m.location + low*m.common.codeFactor)
		case 2:
			m.set(low, rule{kind: atOffset, offset: int64(p.uleb()) * m.common.dataFactor})
		case 3:
			m.restore(low)
		default:
			err = m.extended(op, p)
		}
		if err != nil {
			return err
		}
		if p.failed {
			return fmt.Errorf("%w: they are cut off", errSkipped)
		}
	}
	return nil
}

func (m *machine) set(register uint64, r rule) {
	if register < columns {
		m.state.registers[register] = r
	}
}

func (m *machine) restore(register uint64) {
	if register < columns {
		m.state.registers[register] = m.initial.registers[register]
	}
}

// extended runs an instruction whose first two bits are 0.
func (m *machine) extended(op byte, p *cursor) error {
	factor := m.common.dataFactor
	switch op {
	case 0x00: // DW_CFA_nop
	case 0x01: // DW_CFA_set_loc
		to, ok := m.pointer(p, m.common.pointer, m.common.addressSize)
		if !ok {
			return fmt.Errorf("%w: a location is unknown", errSkipped)
		}
		return m.advance(to)
	case 0x02:
		return m.advance(m.location + uint64(p.u8())*m.common.codeFactor)
	case 0x03:
		return m.advance(m.location + uint64(p.u16())*m.common.codeFactor)
	case 0x04:
		return m.advance(m.location + uint64(p.u32())*m.common.codeFactor)
	case 0x1d: // DW_CFA_MIPS_advance_loc8
		return m.advance(m.location + p.u64()*m.common.codeFactor)
	case 0x05: // DW_CFA_offset_extended
		m.set(p.uleb(), rule{kind: atOffset, offset: int64(p.uleb()) * factor})
	case 0x06: // DW_CFA_restore_extended
		m.restore(p.uleb())
	case 0x07:
		m.set(p.uleb(), rule{kind: undefined})
	case 0x08:
		m.set(p.uleb(), rule{kind: sameValue})
	case 0x09:
		m.set(p.uleb(), rule{kind: inRegister, register: p.uleb()})
	case 0x0a, 0x0b:
		return m.rememberOrRestore(op == 0x0a)
	case 0x0c, 0x0d, 0x0e, 0x0f, 0x12, 0x13:
		return m.defineCFA(op, p)
	case 0x10, 0x16: // DW_CFA_expression, DW_CFA_val_expression
		register := p.uleb()
		m.set(register, rule{kind: map[byte]ruleKind{0x10: atExpression, 0x16: isExpression}[op], expression: p.block()})
	case 0x11: // DW_CFA_offset_extended_sf
		m.set(p.uleb(), rule{kind: atOffset, offset: p.sleb() * factor})
	case 0x14: // DW_CFA_val_offset
		m.set(p.uleb(), rule{kind: isOffset, offset: int64(p.uleb()) * factor})
	case 0x15:
		m.set(p.uleb(), rule{kind: isOffset, offset: p.sleb() * factor})
	case 0x2f: // DW_CFA_GNU_negative_offset_extended
		m.set(p.uleb(), rule{kind: atOffset, offset: -int64(p.uleb()) * factor})
	case 0x2c, 0x2d: // how the return address is signed on arm64; a register window on SPARC
	case 0x2e: // DW_CFA_GNU_args_size
		p.uleb()
	default:
		return fmt.Errorf("%w: the instruction %#x is unknown", errSkipped, op)
	}
	return nil
}

func (c *cursor) block() []byte {
	n := c.uleb()
	if n > uint64(len(c.p)) {
		c.failed = true
		return nil
	}
	return c.take(int(n))
}

func (m *machine) rememberOrRestore(remember bool) error {
	if remember {
		if len(m.remembered) >= maxRemembered {
			return fmt.Errorf("%w: they remember more than %d states", errSkipped, maxRemembered)
		}
		m.remembered = append(m.remembered, m.state)
		return nil
	}
	n := len(m.remembered)
	if n == 0 {
		return fmt.Errorf("%w: they restore a state that was not remembered", errSkipped)
	}
	m.state, m.remembered = m.remembered[n-1], m.remembered[:n-1]
	return nil
}

// defineCFA runs the instructions that say where the frame of the caller begins.
func (m *machine) defineCFA(op byte, p *cursor) error {
	c := &m.state.cfa
	switch op {
	case 0x0c: // DW_CFA_def_cfa
		*c = rule{kind: registerPlus, register: p.uleb(), offset: int64(p.uleb())}
	case 0x12:
		*c = rule{kind: registerPlus, register: p.uleb(), offset: p.sleb() * m.common.dataFactor}
	case 0x0f: // DW_CFA_def_cfa_expression
		*c = rule{kind: isExpression, expression: p.block()}
	default:
		if c.kind != registerPlus {
			return fmt.Errorf("%w: they change a CFA that has no register", errSkipped)
		}
		switch op {
		case 0x0d:
			c.register = p.uleb()
		case 0x0e:
			c.offset = int64(p.uleb())
		case 0x13:
			c.offset = p.sleb() * m.common.dataFactor
		}
	}
	return nil
}
