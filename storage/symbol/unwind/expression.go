package unwind

import (
	"errors"
	"fmt"
	"math/bits"
	"strconv"
)

const (
	// maxStack bounds the stack of an expression, maxSteps the operations that it runs: it
	// may jump.
	maxStack = 64
	maxSteps = 1000
	// maxValueText bounds the text that one value becomes.
	maxValueText = 256
)

var (
	// errUnsaid: the notation knows + - * / % @ and ^ alone.
	errUnsaid = errors.New("an expression cannot be said in STACK CFI")
	// errNeedsPC: the expression depends on the address that it is run for.
	errNeedsPC = errors.New("an expression needs the program counter")
)

// value is a number that is known, or the text of one that is not.
type value struct {
	text   string
	number int64
}

func (v value) String() string {
	if v.text != "" {
		return v.text
	}
	return strconv.FormatInt(v.number, 10)
}

// stack is that of an expression.
type stack struct {
	values []value
	failed bool
}

func (s *stack) push(v value) {
	if len(s.values) >= maxStack || len(v.text) > maxValueText {
		s.failed = true
		return
	}
	s.values = append(s.values, v)
}

func (s *stack) pop() value {
	n := len(s.values)
	if n == 0 {
		s.failed = true
		return value{}
	}
	v := s.values[n-1]
	s.values = s.values[:n-1]
	return v
}

// peek returns a value that is n below the top.
func (s *stack) peek(n int) value {
	if n < 0 || n >= len(s.values) {
		s.failed = true
		return value{}
	}
	return s.values[len(s.values)-1-n]
}

// evaluate translates a DWARF expression. Numbers that are known are computed; of what
// depends on registers and memory the text grows. pc is the address it is run for.
func (m *machine) evaluate(expression []byte, initial []value, pc *uint64) (value, error) {
	s := &stack{values: initial}
	p := &cursor{p: expression, order: m.file.Order}
	for steps := 0; len(p.p) > 0; steps++ {
		if steps >= maxSteps {
			return value{}, fmt.Errorf("%w: it runs more than %d operations", errUnsaid, maxSteps)
		}
		if err := m.operate(s, p, expression, pc); err != nil {
			return value{}, err
		}
		if p.failed || s.failed {
			return value{}, fmt.Errorf("%w: it is cut off, or its stack is empty or too deep", errUnsaid)
		}
	}
	v := s.pop()
	if s.failed {
		return v, fmt.Errorf("%w: it has no result", errUnsaid)
	}
	return v, nil
}

func (m *machine) operate(s *stack, p *cursor, whole []byte, pc *uint64) error {
	op := p.u8()
	switch {
	case op >= 0x30 && op <= 0x4f: // DW_OP_lit
		s.push(value{number: int64(op - 0x30)})
	case op >= 0x70 && op <= 0x8f: // DW_OP_breg
		return m.pushRegister(s, uint64(op-0x70), p.sleb(), pc)
	case op == 0x92: // DW_OP_bregx
		register := p.uleb()
		return m.pushRegister(s, register, p.sleb(), pc)
	case op >= 0x08 && op <= 0x11:
		s.push(value{number: p.constant(op)})
	case op == 0x06: // DW_OP_deref
		s.push(value{text: s.pop().String() + " ^"})
	case op == 0x94: // DW_OP_deref_size
		if int(p.u8()) != m.arch.size {
			return fmt.Errorf("%w: it reads a part of a word", errUnsaid)
		}
		s.push(value{text: s.pop().String() + " ^"})
	case op >= 0x12 && op <= 0x17:
		s.shuffle(op, p)
	case op == 0x23: // DW_OP_plus_uconst
		s.add(s.pop(), value{number: int64(p.uleb())})
	case op == 0x28, op == 0x2f: // DW_OP_bra, DW_OP_skip
		return jump(s, p, whole, op == 0x28)
	case op == 0x96: // DW_OP_nop
	case op == 0x9c: // DW_OP_call_frame_cfa
		s.push(value{text: ".cfa"})
	case op == 0x19, op == 0x1f, op == 0x20: // DW_OP_abs, neg, not
		return s.unary(op)
	case op >= 0x1a && op <= 0x2e:
		return s.binary(op)
	default:
		return fmt.Errorf("%w: the operation %#x is unknown", errUnsaid, op)
	}
	return nil
}

// constant reads the operand of DW_OP_const1u to DW_OP_consts.
func (c *cursor) constant(op byte) int64 {
	switch op {
	case 0x08:
		return int64(c.u8())
	case 0x09:
		return int64(int8(c.u8()))
	case 0x0a:
		return int64(c.u16())
	case 0x0b:
		return int64(int16(c.u16()))
	case 0x0c:
		return int64(c.u32())
	case 0x0d:
		return int64(int32(c.u32()))
	case 0x0e, 0x0f:
		return int64(c.u64())
	case 0x10:
		return int64(c.uleb())
	}
	return c.sleb()
}

func (m *machine) pushRegister(s *stack, register uint64, offset int64, pc *uint64) error {
	if int64(register) == m.arch.pc {
		if pc == nil {
			return errNeedsPC
		}
		s.push(value{number: int64(*pc) + offset})
		return nil
	}
	name := m.registerName(register)
	if name == "" {
		return fmt.Errorf("%w: it needs register %d", errUnsaid, register)
	}
	s.add(value{text: name}, value{number: offset})
	return nil
}

func (s *stack) shuffle(op byte, p *cursor) {
	switch op {
	case 0x12: // DW_OP_dup
		s.push(s.peek(0))
	case 0x13:
		s.pop()
	case 0x14: // DW_OP_over
		s.push(s.peek(1))
	case 0x15:
		s.push(s.peek(int(p.u8())))
	case 0x16: // DW_OP_swap
		b, a := s.pop(), s.pop()
		s.push(b)
		s.push(a)
	case 0x17: // DW_OP_rot
		c, b, a := s.pop(), s.pop(), s.pop()
		s.push(c)
		s.push(a)
		s.push(b)
	}
}

func (s *stack) add(a, b value) {
	switch {
	case a.text == "" && b.text == "":
		s.push(value{number: a.number + b.number})
	case b == value{}:
		s.push(a)
	default:
		s.push(value{text: a.String() + " " + b.String() + " +"})
	}
}

func (s *stack) unary(op byte) error {
	v := s.pop()
	if v.text != "" {
		if op == 0x1f {
			s.push(value{text: "0 " + v.text + " -"})
			return nil
		}
		return fmt.Errorf("%w: the operation %#x", errUnsaid, op)
	}
	switch {
	case op == 0x20:
		v.number = ^v.number
	case op == 0x1f, v.number < 0:
		v.number = -v.number
	}
	s.push(v)
	return nil
}

// binary runs an operation of two values.
func (s *stack) binary(op byte) error {
	b, a := s.pop(), s.pop()
	if a.text == "" && b.text == "" {
		n, ok := compute(op, a.number, b.number)
		if !ok {
			return fmt.Errorf("%w: the operation %#x of %d and %d", errUnsaid, op, a.number, b.number)
		}
		s.push(value{number: n})
		return nil
	}
	sign := map[byte]string{0x1c: "-", 0x1e: "*", 0x22: "+"}[op]
	switch {
	case op == 0x22:
		s.add(a, b)
		return nil
	case op == 0x1a && b.text == "" && b.number < 0 && bits.OnesCount64(uint64(-b.number)) == 1:
		// A mask that rounds down, as a stack is aligned.
		sign, b.number = "@", -b.number
	case sign == "":
		return fmt.Errorf("%w: the operation %#x", errUnsaid, op)
	}
	s.push(value{text: a.String() + " " + b.String() + " " + sign})
	return nil
}

// jump runs DW_OP_skip, and DW_OP_bra where the condition is known.
func jump(s *stack, p *cursor, whole []byte, conditional bool) error {
	by := int(int16(p.u16()))
	if conditional {
		v := s.pop()
		if v.text != "" {
			return fmt.Errorf("%w: it depends on a register", errUnsaid)
		}
		if v.number == 0 {
			return nil
		}
	}
	to := len(whole) - len(p.p) + by
	if p.failed || to < 0 || to > len(whole) {
		return fmt.Errorf("%w: it jumps out of itself", errUnsaid)
	}
	p.p = whole[to:]
	return nil
}

// compute runs an operation of two numbers.
func compute(op byte, a, b int64) (int64, bool) {
	truth := map[bool]int64{true: 1}
	switch op {
	case 0x1a:
		return a & b, true
	case 0x1b:
		return quotient(a, b)
	case 0x1c:
		return a - b, true
	case 0x1d:
		if b == 0 {
			return 0, false
		}
		return int64(uint64(a) % uint64(b)), true
	case 0x1e:
		return a * b, true
	case 0x21:
		return a | b, true
	case 0x22:
		return a + b, true
	case 0x24:
		return a << uint64(b), true
	case 0x25:
		return int64(uint64(a) >> uint64(b)), true
	case 0x26:
		return a >> uint64(b), true
	case 0x27:
		return a ^ b, true
	case 0x29:
		return truth[a == b], true
	case 0x2a:
		return truth[a >= b], true
	case 0x2b:
		return truth[a > b], true
	case 0x2c:
		return truth[a <= b], true
	case 0x2d:
		return truth[a < b], true
	case 0x2e:
		return truth[a != b], true
	}
	return 0, false
}

func quotient(a, b int64) (int64, bool) {
	if b == 0 {
		return 0, false
	}
	return a / b, true
}
