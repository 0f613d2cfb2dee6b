package walk

import (
	"math/bits"
	"strings"

	"github.com/slipway-qa/slipway/worker/symbols/dump"
)

// machine is what the walk needs to know of an architecture.
type machine struct {
	arch  string
	width int
	// The names of the registers with a role; lr and fp are "" where there is none.
	ip, sp, fp, lr string
	// saved are those that a function restores before it returns: they are the caller's,
	// unless a rule says where they were saved.
	saved []string
	// before is how far the call is before its return address, at least.
	before uint64
	// names maps other names of registers to those of the dump.
	names map[string]string
}

func machines() map[string]machine {
	return map[string]machine{
		dump.X86: {arch: dump.X86, width: 4, ip: "eip", sp: "esp", fp: "ebp", before: 1, saved: []string{"ebp", "ebx", "edi", "esi"}},
		dump.X86_64: {arch: dump.X86_64, width: 8, ip: "rip", sp: "rsp", fp: "rbp", before: 1,
			saved: []string{"rbx", "rbp", "r12", "r13", "r14", "r15"}},
		dump.ARM: {arch: dump.ARM, width: 4, ip: "pc", sp: "sp", fp: "fp", lr: "lr", before: 2,
			saved: []string{"r4", "r5", "r6", "r7", "r8", "r9", "r10", "fp"},
			names: map[string]string{"r11": "fp", "r12": "ip", "r13": "sp", "r14": "lr", "r15": "pc"}},
		dump.ARM64: {arch: dump.ARM64, width: 8, ip: "pc", sp: "sp", fp: "fp", lr: "lr", before: 4,
			saved: []string{"x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28", "fp"},
			names: map[string]string{"x29": "fp", "x30": "lr", "x31": "sp"}},
	}
}

// canonical returns the dump's name of a register of a rule: without the dollar sign.
func (m *machine) canonical(name string) string {
	name = strings.TrimPrefix(name, "$")
	if other, ok := m.names[name]; ok {
		return other
	}
	return name
}

// canonicalAddress reports whether an address can be one of a process. Of x86-64 and
// ARM64, 48 bits are used.
func (m *machine) canonicalAddress(address uint64) bool {
	return m.width == 4 && address < 1<<32 || m.width == 8 && address < 1<<47 || m.arch == dump.ARM64 && address < 1<<48
}

// addressMask returns the bits of an address that are one. ARMv8.3 signs return
// addresses and frame pointers in their upper bits; how many are an address depends on
// the system: 47 for Apple's, more if a module lies higher.
func addressMask(d *dump.Dump) uint64 {
	switch d.System.Arch {
	case dump.ARM64:
	case dump.X86, dump.ARM:
		return 1<<32 - 1
	default:
		return ^uint64(0)
	}
	highest := uint64(1<<47 - 1)
	if n := len(d.Modules); n > 0 {
		highest = max(highest, d.Modules[n-1].Start+d.Modules[n-1].Size-1)
	}
	return uint64(1)<<bits.Len64(highest) - 1
}
