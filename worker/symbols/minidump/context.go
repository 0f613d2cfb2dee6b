package minidump

import (
	"fmt"

	"github.com/slipway-qa/slipway/worker/symbols/dump"
)

// maxContext bounds the registers that are read. Vector registers follow those that
// a walk needs.
const maxContext = 512

// register is where a register stands in a context.
type register struct {
	name   string
	offset int
}

// layout is where the registers of an architecture stand.
type layout struct {
	arch      string
	size      int // the bytes that must be there
	width     int // of a register
	registers []register
}

// layoutX86 and those below are the layouts of winnt.h; of ARM, and of ARM64 in its former
// form, Breakpad's.
func layoutX86() layout {
	return layout{dump.X86, 204, 4, []register{{"eip", 184}, {"esp", 196}, {"ebp", 180}, {"ebx", 164}, {"esi", 160}, {"edi", 156},
		{"eax", 176}, {"ecx", 172}, {"edx", 168}, {"eflags", 192}}}
}

func layoutAMD64() layout {
	return layout{dump.X86_64, 256, 8, []register{{"rip", 248}, {"rsp", 152}, {"rbp", 160}, {"rbx", 144}, {"rax", 120}, {"rcx", 128},
		{"rdx", 136}, {"rsi", 168}, {"rdi", 176}, {"r8", 184}, {"r9", 192}, {"r10", 200}, {"r11", 208}, {"r12", 216}, {"r13", 224},
		{"r14", 232}, {"r15", 240}}}
}

func layoutARM() layout {
	l := layout{arch: dump.ARM, size: 72, width: 4}
	for i, name := range []string{"r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9", "r10", "fp", "ip", "sp", "lr", "pc", "cpsr"} {
		l.registers = append(l.registers, register{name, 4 + 4*i})
	}
	return l
}

func layoutARM64(first int) layout {
	l := layout{arch: dump.ARM64, size: first + 33*8, width: 8}
	for i := range 29 {
		l.registers = append(l.registers, register{fmt.Sprintf("x%d", i), first + 8*i})
	}
	for i, name := range []string{"fp", "lr", "sp", "pc"} {
		l.registers = append(l.registers, register{name, first + 8*(29+i)})
	}
	return l
}

// Flags of a context that name its architecture.
const (
	flagX86      = 0x00010000
	flagAMD64    = 0x00100000
	flagARM      = 0x40000000
	flagARM2     = 0x00200000 // Microsoft's; the same places
	flagARM64    = 0x00400000
	flagOldARM64 = 0x80000000
	flagMask     = 0xfffffe00 // without those for parts, and Breakpad's bit 6 for old ARM
)

// layoutOf chooses the layout of a context: by the flags in it, which must fit the
// architecture of the system where that is known. (A 32-bit process of a 64-bit system
// may have either.)
func (x *reader) layoutOf(b []byte) (layout, bool) {
	at := func(n int) uint32 {
		if len(b) < n+4 {
			return 0
		}
		return x.order.Uint32(b[n:]) & flagMask
	}
	unknown := x.arch == archUnknown
	switch {
	case (x.arch == archAMD64 || unknown) && at(48)&flagAMD64 != 0 && len(b) >= 256:
		return layoutAMD64(), true
	case (x.arch == archX86 || x.arch == archWoW64 || x.arch == archAMD64 || unknown) && at(0)&flagX86 != 0:
		return layoutX86(), true
	case x.arch == archARM64 || x.arch == archOldARM64 || unknown:
		if at(0)&flagARM64 != 0 {
			return layoutARM64(8), true
		}
		if at(0)&flagOldARM64 != 0 || x.arch == archOldARM64 {
			return layoutARM64(8), true
		}
	}
	switch x.arch {
	case archX86, archWoW64:
		return layoutX86(), true
	case archAMD64:
		return layoutAMD64(), true
	case archARM:
		return layoutARM(), true
	case archARM64, archOldARM64:
		return layoutARM64(8), true
	}
	return layout{}, false
}

// registers reads a context; nil when it is absent, too short or of an architecture
// that is not walked.
func (x *reader) registers(l location, what string) map[string]uint64 {
	if l.size == 0 {
		return nil
	}
	l.size = min(l.size, maxContext)
	b, ok := x.bytes(l)
	if !ok {
		x.warn("the registers of %s lie outside of the file", what)
		return nil
	}
	form, ok := x.layoutOf(b)
	if !ok {
		return nil
	}
	if len(b) < form.size {
		x.warn("the registers of %s are cut off", what)
		return nil
	}
	if x.d.System.Arch == "" {
		x.d.System.Arch = form.arch
	}
	if x.d.System.Arch != form.arch {
		if x.d.System.Arch == dump.X86_64 && form.arch == dump.X86 && len(x.d.Threads) == 0 {
			x.d.System.Arch = dump.X86 // a 32-bit process
		} else {
			x.warn("the registers of %s are those of %s", what, form.arch)
			return nil
		}
	}
	values := make(map[string]uint64, len(form.registers))
	for _, r := range form.registers {
		if form.width == 4 {
			values[r.name] = uint64(x.order.Uint32(b[r.offset:]))
		} else {
			values[r.name] = x.order.Uint64(b[r.offset:])
		}
	}
	return values
}
