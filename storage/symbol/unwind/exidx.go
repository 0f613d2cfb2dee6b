package unwind

import (
	"fmt"
	"math/bits"
	"slices"
	"strconv"

	"github.com/slipway-qa/slipway/storage/symbol"
)

// https://github.com/ARM-software/abi-aa/blob/main/ehabi32/ehabi32.rst
const (
	exidxSize  = 8
	cantUnwind = 1
)

// exidx reads .ARM.exidx, a sorted table of functions with their instructions in the entry
// or in .ARM.extab. A function has one row: the tables say nothing of prologues.
func (r *reader) exidx() error {
	if r.file.Kind != symbol.ELF || r.file.Arch != "arm" {
		return nil
	}
	s, err := r.open(".ARM.exidx")
	if err != nil || s.size == 0 {
		return err
	}
	var start uint64
	var rules string
	for at := int64(0); at+exidxSize <= s.size; {
		p, err := s.read(at, int(min(s.size-at, pieceSize))/exidxSize*exidxSize)
		if err != nil {
			return err
		}
		for ; len(p) > 0; p = p[exidxSize:] {
			entry := s.address + uint64(at)
			at += exidxSize
			next := prel31(entry, r.file.Order.Uint32(p)) &^ 1
			if err := r.report(start, next, rules); err != nil {
				return err
			}
			start = next
			if rules, err = r.exidxRules(entry+4, r.file.Order.Uint32(p[4:])); err != nil {
				return err
			}
		}
	}
	if text, ok := r.file.Header(".text"); ok {
		if err := r.report(start, text.Address+text.Size, rules); err != nil {
			return err
		}
	}
	return r.flush()
}

// prel31 is an offset of 31 bits from where it stands.
func prel31(at uint64, n uint32) uint64 {
	return uint64(uint32(at) + uint32(int32(n<<1)>>1))
}

// exidxRules returns the rules of the second word of an entry.
func (r *reader) exidxRules(at uint64, word uint32) (string, error) {
	if word == cantUnwind {
		return ".cfa: sp 0 + .ra: .undef", nil
	}
	codes := []byte{byte(word >> 16), byte(word >> 8), byte(word)}
	if word&0x80000000 == 0 {
		var err error
		if codes, err = r.extab(prel31(at, word)); err != nil {
			return "", err
		}
	} else if word>>24 != 0x80 {
		codes = nil
	}
	rules, err := armInstructions(codes)
	if err != nil {
		r.skip("the function of the ARM index entry at %#x: %v", at-4, err)
		return "", nil
	}
	return rules, nil
}

// extab returns the instructions of an entry of .ARM.extab; nil where it has none that are
// known.
func (r *reader) extab(at uint64) ([]byte, error) {
	p, err := r.file.Bytes(at, 8)
	if err != nil || len(p) < 4 {
		return nil, err
	}
	word := r.file.Order.Uint32(p)
	var codes []byte
	var more uint32
	from := at + 4
	switch {
	case word>>24 == 0x80:
		return []byte{byte(word >> 16), byte(word >> 8), byte(word)}, nil
	case word>>24 == 0x81, word>>24 == 0x82:
		codes, more = []byte{byte(word >> 8), byte(word)}, word>>16&0xff
	case word&0x80000000 == 0 && len(p) == 8: // a personality routine, and what GNU's take
		word = r.file.Order.Uint32(p[4:])
		codes, more, from = []byte{byte(word >> 16), byte(word >> 8), byte(word)}, word>>24, at+8
	default:
		return nil, nil
	}
	if p, err = r.file.Bytes(from, 4*int(more)); err != nil || len(p) < 4*int(more) {
		return nil, err
	}
	for ; len(p) > 0; p = p[4:] {
		word = r.file.Order.Uint32(p)
		codes = append(codes, byte(word>>24), byte(word>>16), byte(word>>8), byte(word))
	}
	return codes, nil
}

// armMachine runs the instructions, which undo what a function did to the stack.
type armMachine struct {
	top       place
	registers []saved
	returns   place // where the return address is; register "" is lr
	popped    bool  // into the program counter
}

func armInstructions(codes []byte) (string, error) {
	if len(codes) == 0 {
		return "", fmt.Errorf("its instructions are missing")
	}
	m := &armMachine{top: place{"sp", 0}}
	for len(codes) > 0 && codes[0] != 0xb0 {
		n, err := m.run(codes)
		if err != nil {
			return "", err
		}
		codes = codes[n:]
	}
	text := "lr"
	if m.returns.register != "" {
		text = relative(m.returns, m.top) + " ^"
	}
	slices.SortStableFunc(m.registers, func(a, b saved) int { return armOrder(a.name) - armOrder(b.name) })
	return frameRules(m.top, text, m.registers), nil
}

func armOrder(name string) int {
	n, _ := strconv.Atoi(name[1:])
	return n
}

// pop reads registers from the stack, the lowest from the lowest address.
func (m *armMachine) pop(mask uint32) {
	for register := range 16 {
		if mask>>register&1 == 0 {
			continue
		}
		switch {
		case register == 15:
			m.returns, m.popped = m.top, true
		case register == 14 && !m.popped:
			m.returns = m.top
		case register < 13:
			m.registers = append(m.registers, saved{"r" + strconv.Itoa(register), m.top})
		}
		m.top = m.top.plus(4)
	}
}

// run runs an instruction and returns its length.
func (m *armMachine) run(p []byte) (int, error) {
	c := p[0]
	second := uint32(0)
	if len(p) > 1 {
		second = uint32(p[1])
	}
	wide := c>>4 == 8 || c >= 0xb1 && c <= 0xb3 || c >= 0xc6 && c <= 0xc9
	if wide && len(p) < 2 {
		return 0, fmt.Errorf("its instructions are cut off")
	}
	switch {
	case c < 0x40:
		m.top = m.top.plus(int64(c)*4 + 4)
	case c < 0x80:
		m.top = m.top.plus(-int64(c&0x3f)*4 - 4)
	case c < 0x90:
		mask := uint32(c&0xf)<<8 | second
		if mask == 0 {
			return 0, fmt.Errorf("it says that it cannot be unwound")
		}
		m.pop(mask << 4)
	case c < 0xa0:
		if n := c & 0xf; n == 13 || n == 15 {
			return 0, fmt.Errorf("it has the reserved instruction %#x", c)
		}
		m.top = place{"r" + strconv.Itoa(int(c&0xf)), 0}
	case c < 0xb0:
		mask := uint32(1)<<(c&7+1) - 1
		if c >= 0xa8 {
			mask |= 1 << 10
		}
		m.pop(mask << 4)
	case c == 0xb1:
		if second == 0 || second > 0xf {
			return 0, fmt.Errorf("it has the reserved instruction %#x %#x", c, second)
		}
		m.pop(second)
	case c == 0xb2:
		n, length := uleb(p[1:])
		if length == 0 || n > 1<<24 {
			return 0, fmt.Errorf("its instructions are cut off")
		}
		m.top = m.top.plus(0x204 + int64(n)*4)
		return 1 + length, nil
	case c == 0xb4: // the code that signs the return address
		m.top = m.top.plus(4)
	default:
		return m.floating(c, second)
	}
	if wide {
		return 2, nil
	}
	return 1, nil
}

// floating skips registers of floating point on the stack.
func (m *armMachine) floating(c byte, second uint32) (int, error) {
	switch {
	case c == 0xb3:
		m.top = m.top.plus(int64(second&0xf)*8 + 12)
		return 2, nil
	case c >= 0xb8 && c < 0xc0:
		m.top = m.top.plus(int64(c&7)*8 + 12)
		return 1, nil
	case c < 0xc6 && c >= 0xc0, c >= 0xd0 && c < 0xd8:
		m.top = m.top.plus(int64(c&7)*8 + 8)
		return 1, nil
	case c == 0xc6, c == 0xc8, c == 0xc9:
		m.top = m.top.plus(int64(second&0xf)*8 + 8)
		return 2, nil
	case c == 0xc7 && second > 0 && second < 0x10:
		m.top = m.top.plus(int64(bits.OnesCount32(second)) * 4)
		return 2, nil
	}
	return 0, fmt.Errorf("it has the unknown instruction %#x", c)
}

func uleb(p []byte) (n uint64, length int) {
	for i, b := range p {
		if i > 4 {
			return 0, 0
		}
		n |= uint64(b&0x7f) << (7 * i)
		if b < 0x80 {
			return n, i + 1
		}
	}
	return 0, 0
}
