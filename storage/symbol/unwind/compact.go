package unwind

import (
	"encoding/binary"
	"fmt"
	"strconv"

	"github.com/slipway-qa/slipway/storage/symbol"
)

// https://github.com/apple-oss-distributions/libunwind/blob/main/include/mach-o/compact_unwind_encoding.h
const (
	// maxCompact bounds the section, which is held in memory; a browser has 4 MiB.
	maxCompact   = 64 << 20
	compactIndex = 12 // bytes of an entry of the first level
	regularPage  = 2
	packedPage   = 3
)

// compact reads __unwind_info: two levels of tables from functions to encodings of 32 bits.
func (r *reader) compact() error {
	if r.file.Kind != symbol.MachO {
		return nil
	}
	s, err := r.open("__unwind_info")
	if err != nil || s.size == 0 {
		return err
	}
	if s.size > maxCompact {
		return symbol.Invalid(symbol.TooLarge, "section __unwind_info has %d bytes; %d are read at most", s.size, maxCompact)
	}
	p, err := s.read(0, int(s.size))
	if err != nil {
		return err
	}
	t := compactTable{reader: r, p: p, order: r.file.Order}
	if len(p) < 28 || t.u32(0) != 1 {
		r.skip("section __unwind_info has version %d; 1 is read", t.u32(0))
		return nil
	}
	t.common, t.commonCount = t.u32(4), t.u32(8)
	index, count := t.u32(20), t.u32(24)
	last := uint32(0)
	for i := uint32(0); i+1 < count; i++ {
		at := uint64(index) + uint64(i)*compactIndex
		if at+2*compactIndex > uint64(len(p)) {
			r.skip("section __unwind_info states %d pages and ends", count)
			break
		}
		page := t.u32(at + 4)
		if page <= last { // pages follow each other: one that is named twice is read once
			continue
		}
		last = page
		if err := t.page(uint64(page), t.u32(at), t.u32(at+compactIndex)); err != nil {
			return err
		}
	}
	return r.flush()
}

type compactTable struct {
	*reader
	p                   []byte
	order               binary.ByteOrder
	common, commonCount uint32
}

// u32 reads a number; 0 beyond the end.
func (t *compactTable) u32(at uint64) uint32 {
	if at+4 > uint64(len(t.p)) {
		return 0
	}
	return t.order.Uint32(t.p[at:])
}

func (t *compactTable) u16(at uint64) uint64 {
	if at+2 > uint64(len(t.p)) {
		return 0
	}
	return uint64(t.order.Uint16(t.p[at:]))
}

// page reads a page of the second level, whose functions lie from one offset up to another.
func (t *compactTable) page(at uint64, first, end uint32) error {
	kind, from, count := t.u32(at), at+t.u16(at+4), t.u16(at+6)
	each := uint64(8)
	if kind == packedPage {
		each = 4
	} else if kind != regularPage {
		t.skip("section __unwind_info has a page of kind %d", kind)
		return nil
	}
	if from+count*each > uint64(len(t.p)) {
		t.skip("a page of section __unwind_info has %d entries and ends", count)
		return nil
	}
	function := func(i uint64) (uint32, uint32) {
		if kind == regularPage {
			return t.u32(from + 8*i), t.u32(from + 8*i + 4)
		}
		packed := t.u32(from + 4*i)
		return first + packed&0xffffff, t.encoding(at, packed>>24)
	}
	for i := range count {
		start, encoding := function(i)
		next := end
		if i+1 < count {
			next, _ = function(i + 1)
		}
		rules, err := t.rules(encoding, t.file.Base+uint64(start))
		if err != nil {
			return err
		}
		if err := t.report(t.file.Base+uint64(start), t.file.Base+uint64(next), rules); err != nil {
			return err
		}
	}
	return nil
}

// encoding returns an encoding by its number: of the whole table, or of the page.
func (t *compactTable) encoding(page uint64, i uint32) uint32 {
	if i < t.commonCount {
		return t.u32(uint64(t.common) + 4*uint64(i))
	}
	if i -= t.commonCount; uint64(i) >= t.u16(page+10) {
		return 0
	}
	return t.u32(page + t.u16(page+8) + 4*uint64(i))
}

// rules returns the rules of an encoding; "" for none, as where DWARF has them.
func (t *compactTable) rules(encoding uint32, function uint64) (string, error) {
	if t.file.Arch == "arm64" {
		return compactARM64(encoding), nil
	}
	if t.file.Arch != "x86_64" && t.file.Arch != "x86" {
		return "", nil
	}
	size := uint64(t.arch.size)
	names, frame, stack := [7]string{"", "$rbx", "$r12", "$r13", "$r14", "$r15", "$rbp"}, "$rbp", "$rsp"
	if t.file.Arch == "x86" {
		names, frame, stack = [7]string{"", "$ebx", "$ecx", "$edx", "$edi", "$esi", "$ebp"}, "$ebp", "$esp"
	}
	var registers []saved
	returns := plus(".cfa", -int64(size)) + " ^"
	switch encoding >> 24 & 0xf {
	case 1: // a frame pointer; saved registers below it
		at := place{frame, -int64(size) * int64(encoding>>16&0xff)}
		registers = append(registers, saved{frame, place{frame, 0}})
		for i := range 5 {
			n := encoding >> (3 * i) & 7
			if n != 0 && n < 6 {
				registers = append(registers, saved{names[n], at.plus(int64(i) * int64(size))})
			}
		}
		return frameRules(place{frame, 2 * int64(size)}, returns, registers), nil
	case 2, 3: // a stack of fixed size; saved registers below the return address
		depth := uint64(encoding>>16&0xff) * size
		if encoding>>24&0xf == 3 { // the size is in the instruction that makes room
			p, err := t.file.Bytes(function+uint64(encoding>>16&0xff), 4)
			if err != nil {
				return "", err
			}
			if len(p) < 4 {
				t.skip("the function at %#x has no bytes, where its stack size is", function)
				return "", nil
			}
			depth = uint64(binary.LittleEndian.Uint32(p)) + uint64(encoding>>13&7)*size
		}
		count := int(encoding >> 10 & 7)
		order, ok := permutation(count, int(encoding&0x3ff))
		if !ok || depth > 1<<31 {
			t.skip("the function at %#x has the encoding %#x, which is none", function, encoding)
			return "", nil
		}
		at := place{stack, int64(depth) - int64(size)*int64(count+1)}
		for i, n := range order {
			registers = append(registers, saved{names[n], at.plus(int64(i) * int64(size))})
		}
		return frameRules(place{stack, int64(depth)}, returns, registers), nil
	}
	return "", nil
}

// permutation returns which of six registers are saved, in their order: the number counts,
// in a mixed base, those that were not taken before.
func permutation(count, n int) ([]int, bool) {
	bases := map[int][]int{0: nil, 1: {1}, 2: {5, 1}, 3: {20, 4, 1}, 4: {60, 12, 3, 1}, 5: {120, 24, 6, 2, 1}, 6: {120, 24, 6, 2, 1, 1}}
	base, ok := bases[count]
	if !ok {
		return nil, false
	}
	var order []int
	taken := [7]bool{}
	for i, b := range base {
		left := n / b
		n %= b
		if count == 6 && i == 5 {
			left = 0
		}
		for register := 1; register <= 6; register++ {
			if taken[register] {
				continue
			}
			if left == 0 {
				taken[register] = true
				order = append(order, register)
				break
			}
			left--
		}
	}
	return order, len(order) == count
}

// compactARM64 returns the rules of an encoding for arm64.
func compactARM64(encoding uint32) string {
	switch encoding >> 24 & 0xf {
	case 2: // a leaf, or one without a frame: the return address is in its register
		return fmt.Sprintf(".cfa: sp %d + .ra: x30", (encoding>>12&0xfff)*16)
	case 4: // a frame: pairs of registers below the frame pointer
		frame := place{"x29", 0}
		registers := []saved{{"x29", frame}}
		at := frame
		for i := range 5 {
			if encoding>>i&1 == 0 {
				continue
			}
			for k := range 2 {
				at = at.plus(-8)
				registers = append(registers, saved{"x" + strconv.Itoa(19+2*i+k), at})
			}
		}
		return frameRules(frame.plus(16), ".cfa -8 + ^", registers)
	}
	return ""
}
