package unwind

import (
	"encoding/binary"
	"fmt"
	"strconv"
)

// https://learn.microsoft.com/cpp/build/arm64-exception-handling

// armStep is an unwind code: what one instruction of a prologue did.
type armStep struct {
	operation armOperation
	register  int   // the first that is saved
	count     int   // how many registers are saved, from it on
	with      int   // another register that is saved behind them; 0 is none
	offset    int64 // where they are saved
	size      int64 // what the stack grew by
}

type armOperation byte

const (
	armNothing armOperation = iota // floating point, signing of addresses, and what does nothing
	armGrow
	armSave
	armSetFrame // x29 = sp + offset
	armNextPair
)

// windowsARM64 reports the rows of an entry: a function's start, and its information, which
// is packed into the entry or elsewhere. Each code is one instruction of the prologue.
func (r *reader) windowsARM64(p []byte) (start, end uint64, err error) {
	start = r.file.Base + uint64(binary.LittleEndian.Uint32(p))
	data := binary.LittleEndian.Uint32(p[4:])
	var all prologue
	var length uint64
	switch data & 3 {
	case 0:
		all, length, err = r.armInfo(data)
	case 1, 2:
		all.steps, length = packedSteps(data), uint64(data>>2&0x7ff)*4
		if data&3 == 1 { // else a part of a function, whose prologue is elsewhere
			all.own = len(all.steps)
		}
	default:
		err = fmt.Errorf("%w is of a reserved kind", errFunction)
	}
	if err != nil {
		return start, start, err
	}
	end = start + length
	for left := all.own; left >= 0; left-- { // instructions of the prologue that are not done yet
		from, to := start+4*uint64(all.own-left), end
		if left > 0 {
			to = min(end, from+4)
		}
		if err := r.report(from, to, armRules(all.steps[left:])); err != nil {
			return start, end, err
		}
	}
	return start, end, nil
}

// armInfo reads an .xdata record: the codes of its prologue, the last instruction's first.
func (r *reader) armInfo(at uint32) (prologue, uint64, error) {
	p, err := r.file.Bytes(r.file.Base+uint64(at), 8)
	if err != nil {
		return prologue{}, 0, err
	}
	if len(p) < 8 {
		return prologue{}, 0, fmt.Errorf("%w lies outside of the image at %#x", errFunction, at)
	}
	head := binary.LittleEndian.Uint32(p)
	if head>>18&3 != 0 {
		return prologue{}, 0, fmt.Errorf("%w has version %d; 0 is read", errFunction, head>>18&3)
	}
	length, inHead := uint64(head&0x3ffff)*4, head>>21&1 != 0
	epilogues, words, from := int(head>>22&0x1f), int(head>>27), 4
	if epilogues == 0 && words == 0 {
		more := binary.LittleEndian.Uint32(p[4:])
		epilogues, words, from = int(more&0xffff), int(more>>16&0xff), 8
	}
	if !inHead {
		from += 4 * epilogues
	}
	codes, err := r.file.Bytes(r.file.Base+uint64(at)+uint64(from), 4*words)
	if err != nil {
		return prologue{}, 0, err
	}
	steps, err := armCodes(codes)
	return steps, length, err
}

// prologue is what the instructions of a prologue did, the last one first. Those of a part
// of a function are its own; those after them were done elsewhere, before it.
type prologue struct {
	steps []armStep
	own   int
}

// armCodes reads codes up to the end.
func armCodes(p []byte) (prologue, error) {
	var done prologue
	split := false
	for len(p) > 0 {
		c := p[0]
		n := 1
		switch {
		case c >= 0xc0 && c <= 0xdf || c == 0xe2:
			n = 2
		case c == 0xe0:
			n = 4
		case c == 0xe7:
			n = 3
		case c == 0xe5: // end_c
			split, p = true, p[1:]
			continue
		case c == 0xe4: // end
			return done, nil
		}
		if len(p) < n {
			return prologue{}, fmt.Errorf("%w ends within a code", errFunction)
		}
		s, err := armCode(p[:n])
		if err != nil {
			return prologue{}, err
		}
		done.steps, p = append(done.steps, s), p[n:]
		if !split {
			done.own++
		}
	}
	return prologue{}, fmt.Errorf("%w has no end", errFunction)
}

func armCode(p []byte) (armStep, error) {
	c := p[0]
	var x, z int
	if len(p) == 2 {
		wide := int(c)<<8 | int(p[1])
		x, z = wide>>6&0xf, wide&0x3f
	}
	switch {
	case c < 0x20: // alloc_s
		return armStep{operation: armGrow, size: int64(c) * 16}, nil
	case c < 0x40: // save_r19r20_x
		return armStep{operation: armSave, register: 19, count: 2, size: int64(c&0x1f) * 8}, nil
	case c < 0x80: // save_fplr
		return armStep{operation: armSave, register: 29, count: 2, offset: int64(c&0x3f) * 8}, nil
	case c < 0xc0: // save_fplr_x
		return armStep{operation: armSave, register: 29, count: 2, size: int64(c&0x3f)*8 + 8}, nil
	case c < 0xc8: // alloc_m
		return armStep{operation: armGrow, size: (int64(c&7)<<8 | int64(p[1])) * 16}, nil
	case c < 0xcc: // save_regp
		return armStep{operation: armSave, register: 19 + x, count: 2, offset: int64(z) * 8}, nil
	case c < 0xd0: // save_regp_x
		return armStep{operation: armSave, register: 19 + x, count: 2, size: int64(z)*8 + 8}, nil
	case c < 0xd4: // save_reg
		return armStep{operation: armSave, register: 19 + x, count: 1, offset: int64(z) * 8}, nil
	case c < 0xd6: // save_reg_x
		x = (int(c)<<8 | int(p[1])) >> 5 & 0xf
		return armStep{operation: armSave, register: 19 + x, count: 1, size: int64(p[1]&0x1f)*8 + 8}, nil
	case c < 0xd8: // save_lrpair
		x &= 7
		return armStep{operation: armSave, register: 19 + 2*x, count: 1, with: 30, offset: int64(z) * 8}, nil
	case c < 0xda, c >= 0xdc && c < 0xde: // save_fregp, save_freg
		return armStep{}, nil
	case c < 0xdc: // save_fregp_x
		return armStep{operation: armGrow, size: int64(z)*8 + 8}, nil
	case c == 0xde: // save_freg_x
		return armStep{operation: armGrow, size: int64(p[1]&0x1f)*8 + 8}, nil
	case c == 0xe0: // alloc_l
		return armStep{operation: armGrow, size: (int64(p[1])<<16 | int64(p[2])<<8 | int64(p[3])) * 16}, nil
	case c == 0xe1: // set_fp
		return armStep{operation: armSetFrame}, nil
	case c == 0xe2: // add_fp
		return armStep{operation: armSetFrame, offset: int64(p[1]) * 8}, nil
	case c == 0xe3, c == 0xfc: // nop, pac_sign_lr
		return armStep{}, nil
	case c == 0xe6: // save_next
		return armStep{operation: armNextPair}, nil
	}
	return armStep{}, fmt.Errorf("%w has the code %#x", errFunction, c)
}

// packedSteps returns the codes of a packed entry: its prologue has one form.
func packedSteps(data uint32) []armStep {
	floats, integers, homes := int(data>>13&7), int(data>>16&0xf), data>>20&1 != 0
	linked, frame := data>>21&3, int64(data>>23)*16
	integerBytes := int64(integers) * 8
	if linked == 1 {
		integerBytes += 8 // lr
	}
	floatBytes := int64(floats) * 8
	if floats > 0 {
		floatBytes += 8
	}
	homeBytes := int64(0)
	if homes {
		homeBytes = 8 * 8
	}
	area := (integerBytes + floatBytes + homeBytes + 15) &^ 15
	local := frame - area
	var done []armStep // in the order of the instructions
	if linked == 2 {
		done = append(done, armStep{})
	}
	done = append(done, packedSaves(integers, linked == 1, area)...)
	if floats > 0 {
		for i := 0; i <= floats; i += 2 {
			s := armStep{}
			if i == 0 && integerBytes == 0 {
				s = armStep{operation: armGrow, size: area}
			}
			done = append(done, s)
		}
	}
	if homes {
		first := armStep{}
		if area > 0 && integerBytes+floatBytes == 0 {
			first = armStep{operation: armGrow, size: area}
		}
		done = append(append(done, first), make([]armStep, 3)...)
	}
	if linked >= 2 {
		switch {
		case local > 512:
			done = append(done, grown(local)...)
			done = append(done, armStep{operation: armSave, register: 29, count: 2})
		case local > 0:
			done = append(done, armStep{operation: armSave, register: 29, count: 2, size: local})
		default:
			done = append(done, armStep{operation: armSave, register: 29, count: 2})
		}
		done = append(done, armStep{operation: armSetFrame})
	} else {
		done = append(done, grown(local)...)
	}
	for i, j := 0, len(done)-1; i < j; i, j = i+1, j-1 {
		done[i], done[j] = done[j], done[i]
	}
	return done
}

// grown returns how the locals are made: by one instruction, or by two above 4,080 bytes.
func grown(local int64) []armStep {
	const most = 4080
	switch {
	case local <= 0:
		return nil
	case local <= most:
		return []armStep{{operation: armGrow, size: local}}
	}
	return []armStep{{operation: armGrow, size: most}, {operation: armGrow, size: local - most}}
}

// packedSaves returns how x19 and the following are saved, in pairs; the first makes room.
func packedSaves(integers int, link bool, area int64) []armStep {
	var saves []armStep
	for i := 0; i < integers; i += 2 {
		s := armStep{operation: armSave, register: 19 + i, count: min(2, integers-i), offset: int64(i) * 8}
		if s.count == 1 && link {
			s.with = 30
		}
		saves = append(saves, s)
	}
	if link && integers%2 == 0 {
		saves = append(saves, armStep{operation: armSave, register: 30, count: 1, offset: int64(integers) * 8})
	}
	if len(saves) > 0 {
		saves[0].size = area
	}
	return saves
}

// armRules undoes the steps, the last instruction's first.
func armRules(steps []armStep) string {
	top, registers := place{"sp", 0}, []saved(nil)
	returns, pairs := place{}, 0
	for _, s := range steps {
		switch s.operation {
		case armNothing:
			pairs = 0 // those were of floating point
		case armGrow:
			top, pairs = top.plus(s.size), 0
		case armSetFrame:
			top = place{"x29", -s.offset}
		case armNextPair:
			pairs++
		case armSave:
			at := top.plus(s.offset)
			save := func(register int) {
				if register == 30 {
					returns = at
				} else {
					registers = append(registers, saved{"x" + strconv.Itoa(register), at})
				}
				at = at.plus(8)
			}
			for i := range min(s.count+2*pairs, 31-s.register) {
				save(s.register + i)
			}
			if s.with != 0 {
				save(s.with)
			}
			pairs = 0
			top = top.plus(s.size)
		}
	}
	text := "x30"
	if returns.register != "" {
		text = relative(returns, top) + " ^"
	}
	return frameRules(top, text, registers)
}
