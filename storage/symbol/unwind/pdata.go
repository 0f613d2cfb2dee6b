package unwind

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/storage/symbol"
	container "github.com/slipway-qa/slipway/storage/symbol/binary"
)

// https://learn.microsoft.com/cpp/build/exception-handling-x64
const (
	runtimeFunctionSize = 12
	// maxChain bounds unwind information that continues elsewhere; compilers stop at two.
	maxChain = 32
	// pieceSize is how much of a table is read at once.
	pieceSize = 1 << 20
)

// windowsNames are the registers by their numbers in unwind codes.
var windowsNames = [16]string{"$rax", "$rcx", "$rdx", "$rbx", "$rsp", "$rbp", "$rsi", "$rdi",
	"$r8", "$r9", "$r10", "$r11", "$r12", "$r13", "$r14", "$r15"}

// errFunction is what is wrong with one function.
var errFunction = errors.New("its unwind information")

// unwindCode is an operation of a prologue.
type unwindCode struct {
	after     byte // the offset in the function after the instruction
	operation byte
	info      byte
	operand   uint32
}

// unwindInfo is an UNWIND_INFO without its handler.
type unwindInfo struct {
	codes []unwindCode
	frame byte // the register; 0 is none
	shift int64
	next  uint32 // of the information that continues it, relative; 0 is none
}

// pdata reads the functions of a Windows image.
func (r *reader) pdata() error {
	if r.file.Kind != symbol.PE {
		return nil
	}
	s, err := r.open(".pdata")
	if err != nil || s.size == 0 {
		return err
	}
	switch r.file.Arch {
	case "x86_64":
		return r.eachFunction(s, runtimeFunctionSize, r.windowsFunction)
	case "arm64":
		return r.eachFunction(s, 8, r.windowsARM64)
	}
	return nil
}

// eachFunction reads a table of entries of one size. Functions without an entry do not
// change the stack: between two entries the return address is on top of it (x64), or in
// its register.
func (r *reader) eachFunction(s section, size int, take func(p []byte) (start, end uint64, err error)) error {
	leaf := ".cfa: $rsp 8 + .ra: .cfa -8 + ^"
	if r.file.Arch == "arm64" {
		leaf = ".cfa: sp 0 + .ra: x30"
	}
	var last uint64
	for at := int64(0); at+int64(size) <= s.size; {
		p, err := s.read(at, int(min(s.size-at, pieceSize))/size*size)
		if err != nil {
			return err
		}
		at += int64(len(p))
		for ; len(p) > 0; p = p[size:] {
			begin := r.file.Base + uint64(binary.LittleEndian.Uint32(p))
			if begin == r.file.Base {
				continue // what fills the section up
			}
			if last != 0 && begin > last && r.sameCode(last, begin) {
				if err := r.report(last, begin, leaf); err != nil {
					return err
				}
			}
			start, end, err := take(p[:size])
			if errors.Is(err, errFunction) {
				r.skip("the function at %#x: %v", begin, err)
			} else if err != nil {
				return err
			}
			if end > start {
				last = max(last, end)
			}
		}
	}
	return r.flush()
}

// sameCode reports whether two addresses lie in one section of code.
func (r *reader) sameCode(a, b uint64) bool {
	return slices.ContainsFunc(r.file.Sections(), func(s container.Section) bool {
		return s.Code && a-s.Address < s.Size && b-s.Address < s.Size
	})
}

// windowsFunction reports the rows of a RUNTIME_FUNCTION: one for each step of its
// prologue, and one for what follows. Epilogues have the row of the body.
func (r *reader) windowsFunction(p []byte) (start, end uint64, err error) {
	base := r.file.Base
	start, end = base+uint64(binary.LittleEndian.Uint32(p)), base+uint64(binary.LittleEndian.Uint32(p[4:]))
	if end <= start {
		return 0, 0, fmt.Errorf("%w ends before it begins", errFunction)
	}
	chain, err := r.windowsChain(binary.LittleEndian.Uint32(p[8:]))
	if err != nil {
		return start, end, err
	}
	steps := []uint64{0}
	for _, c := range chain[0].codes {
		steps = append(steps, uint64(c.after))
	}
	slices.Sort(steps)
	steps = slices.Compact(steps)
	for i, step := range steps {
		to := end
		if i+1 < len(steps) {
			to = min(end, start+steps[i+1])
		}
		rules, err := windowsRules(chain, step)
		if err != nil {
			return start, end, err
		}
		if err := r.report(start+step, to, rules); err != nil {
			return start, end, err
		}
	}
	return start, end, nil
}

// windowsChain reads unwind information and what continues it.
func (r *reader) windowsChain(at uint32) ([]unwindInfo, error) {
	var chain []unwindInfo
	for at != 0 {
		if len(chain) >= maxChain {
			return nil, fmt.Errorf("%w continues more than %d times", errFunction, maxChain)
		}
		if at&1 != 0 { // the entry of another function, whose information holds here too
			p, err := r.file.Bytes(r.file.Base+uint64(at&^1), runtimeFunctionSize)
			if err != nil {
				return nil, err
			}
			if len(p) < runtimeFunctionSize {
				return nil, fmt.Errorf("%w lies outside of the image at %#x", errFunction, at)
			}
			chain, at = append(chain, unwindInfo{}), binary.LittleEndian.Uint32(p[8:])
			continue
		}
		info, err := r.windowsInfo(at)
		if err != nil {
			return nil, err
		}
		chain, at = append(chain, info), info.next
	}
	if len(chain) == 0 {
		return nil, fmt.Errorf("%w is missing", errFunction)
	}
	return chain, nil
}

func (r *reader) windowsInfo(at uint32) (unwindInfo, error) {
	var info unwindInfo
	p, err := r.file.Bytes(r.file.Base+uint64(at), 4+2*256+runtimeFunctionSize)
	if err != nil {
		return info, err
	}
	if len(p) < 4 {
		return info, fmt.Errorf("%w lies outside of the image at %#x", errFunction, at)
	}
	version, flags, count := p[0]&7, p[0]>>3, int(p[2])
	if version != 1 && version != 2 {
		return info, fmt.Errorf("%w has version %d; 1 and 2 are read", errFunction, version)
	}
	info.frame, info.shift = p[3]&0xf, int64(p[3]>>4)*16
	if len(p) < 4+2*count {
		return info, fmt.Errorf("%w is cut off", errFunction)
	}
	if info.codes, err = windowsCodes(p[4:4+2*count], version); err != nil {
		return info, err
	}
	const chained = 4
	if flags&chained != 0 {
		from := 4 + 2*((count+1)&^1)
		if from+runtimeFunctionSize > len(p) {
			return info, fmt.Errorf("%w is cut off", errFunction)
		}
		info.next = binary.LittleEndian.Uint32(p[from+8:])
	}
	return info, nil
}

// The operations of unwind codes.
const (
	pushNonvolatile = iota
	allocLarge
	allocSmall
	setFrame
	saveNonvolatile
	saveNonvolatileFar
	epilogue // of version 2; version 1 had a register of floating point
	spare
	saveXMM
	saveXMMFar
	pushMachineFrame
)

func windowsCodes(p []byte, version byte) ([]unwindCode, error) {
	var codes []unwindCode
	for len(p) > 0 {
		c := unwindCode{after: p[0], operation: p[1] & 0xf, info: p[1] >> 4}
		slots := 1
		switch c.operation {
		case allocLarge:
			slots = 2
			if c.info == 1 {
				slots = 3
			}
		case saveNonvolatile, saveXMM:
			slots = 2
		case saveNonvolatileFar, saveXMMFar, spare:
			slots = 3
		case epilogue:
			if version == 1 {
				slots = 2
			}
		case pushNonvolatile, allocSmall, setFrame, pushMachineFrame:
		default:
			return nil, fmt.Errorf("%w has the operation %d", errFunction, c.operation)
		}
		if len(p) < 2*slots {
			return nil, fmt.Errorf("%w ends within an operation", errFunction)
		}
		switch slots {
		case 2:
			c.operand = uint32(binary.LittleEndian.Uint16(p[2:]))
		case 3:
			c.operand = binary.LittleEndian.Uint32(p[2:])
		}
		p = p[2*slots:]
		if c.operation != epilogue {
			codes = append(codes, c)
		}
	}
	return codes, nil
}

// place is where something is on the stack: a register and an offset.
type place struct {
	register string
	offset   int64
}

func (p place) plus(n int64) place { return place{p.register, p.offset + n} }

// saved is where a register was saved.
type saved struct {
	name string
	at   place
}

// frameRules returns the rules for the places of a frame. Those with the register of the CFA are
// said relative to it.
func frameRules(cfa place, returns string, registers []saved) string {
	var b strings.Builder
	b.WriteString(".cfa: " + plus(cfa.register, cfa.offset) + " .ra: " + returns)
	named := map[string]bool{}
	for _, s := range registers {
		if named[s.name] {
			continue // compilers save a register once
		}
		named[s.name] = true
		b.WriteString(" " + s.name + ": " + relative(s.at, cfa) + " ^")
	}
	return b.String()
}

func relative(at, cfa place) string {
	if at.register == cfa.register {
		return plus(".cfa", at.offset-cfa.offset)
	}
	return plus(at.register, at.offset)
}

// windowsRules undoes the operations that were done at an offset in the first function of
// the chain, the last first, and all of the others.
func windowsRules(chain []unwindInfo, step uint64) (string, error) {
	frame := place{}
	for i, info := range chain {
		for _, c := range info.codes {
			if c.operation == setFrame && (i > 0 || uint64(c.after) <= step) && frame.register == "" {
				frame = place{windowsNames[info.frame], -info.shift}
			}
		}
	}
	top, registers := place{"$rsp", 0}, []saved(nil)
	fixed := top // what offsets of saved registers are relative to
	if frame.register != "" {
		fixed = frame
	}
	for i, info := range chain {
		for _, c := range info.codes {
			if i == 0 && uint64(c.after) > step {
				continue
			}
			switch c.operation {
			case pushNonvolatile:
				registers = append(registers, saved{windowsNames[c.info], top})
				top = top.plus(8)
			case allocLarge:
				size := int64(c.operand)
				if c.info == 0 {
					size *= 8
				}
				top = top.plus(size)
			case allocSmall:
				top = top.plus(int64(c.info)*8 + 8)
			case setFrame:
				top = frame
			case saveNonvolatile:
				registers = append(registers, saved{windowsNames[c.info], fixed.plus(int64(c.operand) * 8)})
			case saveNonvolatileFar:
				registers = append(registers, saved{windowsNames[c.info], fixed.plus(int64(c.operand))})
			case pushMachineFrame:
				// What the processor pushed: [error code] rip cs flags rsp ss.
				if c.info > 1 {
					return "", fmt.Errorf("%w has a machine frame of kind %d", errFunction, c.info)
				}
				top = top.plus(8 * int64(c.info))
				return machineFrame(top, registers), nil
			}
		}
	}
	return frameRules(top.plus(8), ".cfa -8 + ^", registers), nil
}

func machineFrame(top place, registers []saved) string {
	var b strings.Builder
	fmt.Fprintf(&b, ".cfa: %s ^ .ra: %s ^", plus(top.register, top.offset+24), plus(top.register, top.offset))
	for _, s := range registers {
		b.WriteString(" " + s.name + ": " + plus(s.at.register, s.at.offset) + " ^")
	}
	return b.String()
}
