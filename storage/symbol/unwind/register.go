package unwind

import "strconv"

// registers are the registers of an architecture in Breakpad's names, by their numbers in
// DWARF.
type registers struct {
	name func(n uint64) string // "" for one that is not told
	// pc is the number of the program counter where DWARF has one, else -1.
	pc int64
	// sp is the name of the stack pointer, ra that of the register which holds the return
	// address at a function's first instruction; "" where it is on the stack.
	sp, ra string
	size   int // of an address
}

// registersOf names the registers of each architecture that stacks are walked on. The
// numbers are those of the psABI documents:
// https://gitlab.com/x86-psABIs/x86-64-ABI, https://github.com/ARM-software/abi-aa.
var registersOf = map[string]*registers{
	"x86":    {name: listed(x86Names), pc: 8, sp: "$esp", size: 4},
	"x86_64": {name: listed(amd64Names), pc: 16, sp: "$rsp", size: 8},
	"arm":    {name: listed(armNames), pc: 15, sp: "sp", ra: "lr", size: 4},
	"arm64":  {name: arm64Name, pc: 32, sp: "sp", ra: "x30", size: 8},
}

var (
	x86Names   = []string{"$eax", "$ecx", "$edx", "$ebx", "$esp", "$ebp", "$esi", "$edi", "$eip"}
	amd64Names = []string{"$rax", "$rdx", "$rcx", "$rbx", "$rsi", "$rdi", "$rbp", "$rsp",
		"$r8", "$r9", "$r10", "$r11", "$r12", "$r13", "$r14", "$r15", "$rip"}
	armNames = []string{"r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9", "r10", "r11", "r12", "sp", "lr", "pc"}
)

func listed(names []string) func(uint64) string {
	return func(n uint64) string {
		if n < uint64(len(names)) {
			return names[n]
		}
		return ""
	}
}

func arm64Name(n uint64) string {
	switch {
	case n <= 30:
		return "x" + strconv.FormatUint(n, 10)
	case n == 31:
		return "sp"
	case n == 32:
		return "pc"
	}
	return ""
}
