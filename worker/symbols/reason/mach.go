package reason

import (
	"fmt"

	"github.com/slipway-qa/slipway/worker/symbols/dump"
)

// The Mach exceptions with a meaning of their codes. Sources of the names:
// mach/exception_types.h, mach/kern_return.h, mach/i386/exception.h,
// mach/arm/exception.h, kern/exc_resource.h and kern/exc_guard.h of XNU.
const (
	excBadAccess      = 1
	excBadInstruction = 2
	excArithmetic     = 3
	excSoftware       = 5
	excBreakpoint     = 6
	excResource       = 11
	excGuard          = 12
)

func macExceptions() map[uint32]string {
	return map[uint32]string{
		excBadAccess: "EXC_BAD_ACCESS", excBadInstruction: "EXC_BAD_INSTRUCTION", excArithmetic: "EXC_ARITHMETIC",
		4: "EXC_EMULATION", excSoftware: "EXC_SOFTWARE", excBreakpoint: "EXC_BREAKPOINT", 7: "EXC_SYSCALL",
		8: "EXC_MACH_SYSCALL", 9: "EXC_RPC_ALERT", 10: "EXC_CRASH", excResource: "EXC_RESOURCE", excGuard: "EXC_GUARD",
		13: "EXC_CORPSE_NOTIFY",
	}
}

// macCode returns the name of a code of an exception; "" for an unknown one.
func (e Exception) macCode() string {
	switch e.Code {
	case excBadAccess:
		name := map[uint32]string{1: "KERN_INVALID_ADDRESS", 2: "KERN_PROTECTION_FAILURE", 5: "KERN_FAILURE", 8: "KERN_NO_ACCESS",
			9: "KERN_MEMORY_FAILURE", 10: "KERN_MEMORY_ERROR", 50: "KERN_CODESIGN_ERROR"}[e.Flags]
		if name == "" {
			name = e.byArch(map[uint32]string{13: "EXC_I386_GPFLT"}, map[uint32]string{0x101: "EXC_ARM_DA_ALIGN", 0x102: "EXC_ARM_DA_DEBUG"})
		}
		return name
	case excBadInstruction:
		return e.byArch(map[uint32]string{1: "EXC_I386_INVOP", 10: "EXC_I386_INVTSSFLT", 11: "EXC_I386_SEGNPFLT", 12: "EXC_I386_STKFLT",
			13: "EXC_I386_GPFLT", 17: "EXC_I386_ALIGNFLT"}, map[uint32]string{1: "EXC_ARM_UNDEFINED"})
	case excArithmetic:
		return e.byArch(map[uint32]string{1: "EXC_I386_DIV", 2: "EXC_I386_INTO", 3: "EXC_I386_NOEXT", 4: "EXC_I386_EXTOVR",
			5: "EXC_I386_EXTERR", 6: "EXC_I386_EMERR", 7: "EXC_I386_BOUND", 8: "EXC_I386_SSEEXTERR"},
			map[uint32]string{0: "EXC_ARM_FP_UNDEFINED", 1: "EXC_ARM_FP_IO", 2: "EXC_ARM_FP_DZ", 3: "EXC_ARM_FP_OF", 4: "EXC_ARM_FP_UF",
				5: "EXC_ARM_FP_IX", 6: "EXC_ARM_FP_ID"})
	case excSoftware:
		return map[uint32]string{0x10000: "SIGSYS", 0x10001: "SIGPIPE", 0x10002: "SIGABRT", 0xdeadc0de: "UNCAUGHT_NS_EXCEPTION"}[e.Flags]
	case excBreakpoint:
		return e.byArch(map[uint32]string{1: "EXC_I386_SGL", 2: "EXC_I386_BPT"},
			map[uint32]string{1: "EXC_ARM_BREAKPOINT", 0x101: "EXC_ARM_DA_ALIGN", 0x102: "EXC_ARM_DA_DEBUG"})
	}
	return ""
}

func (e Exception) byArch(x86, arm map[uint32]string) string {
	switch e.Arch {
	case dump.X86, dump.X86_64:
		return x86[e.Flags]
	case dump.ARM, dump.ARM64:
		return arm[e.Flags]
	}
	return ""
}

func (e Exception) mac() string {
	if e.Code == 0x43507378 { // "CPsx": Crashpad was asked for a dump
		return "Simulated Exception"
	}
	name := macExceptions()[e.Code]
	if name == "" {
		return e.unknown()
	}
	var code, subcode uint64
	if len(e.Parameters) >= 3 {
		code, subcode = e.Parameters[1], e.Parameters[2]
	}
	switch e.Code {
	case excResource:
		return name + e.resource(code, subcode)
	case excGuard:
		return name + e.guard(code, subcode)
	}
	if text := e.macCode(); text != "" {
		return name + " / " + text
	}
	return fmt.Sprintf("%s / 0x%08x", name, e.Flags)
}

// resource says which limit was reached. The type is in the upper bits of the code.
func (e Exception) resource(code, subcode uint64) string {
	flavor := code >> 58 & 7
	switch e.Flags >> 29 & 7 {
	case 1:
		text := " / RESOURCE_TYPE_CPU"
		if name := []string{1: "FLAVOR_CPU_MONITOR", 2: "FLAVOR_CPU_MONITOR_FATAL", 7: ""}[flavor]; name != "" {
			return fmt.Sprintf("%s / %s interval: %ds CPU limit: %d%% CPU consumed: %d%%", text, name, code>>7&0x1ffffff, code&0x7f, subcode&0x7f)
		}
		return text + pair(code, subcode)
	case 2:
		if flavor == 1 {
			return fmt.Sprintf(" / RESOURCE_TYPE_WAKEUPS / FLAVOR_WAKEUPS_MONITOR interval: %ds wakeups permitted: %d wakeups observed: %d",
				code>>20&0xfffff, code&0xfff, subcode&0xfff)
		}
		return " / RESOURCE_TYPE_WAKEUPS" + pair(code, subcode)
	case 3:
		if flavor == 1 {
			return fmt.Sprintf(" / RESOURCE_TYPE_MEMORY / FLAVOR_HIGH_WATERMARK high watermark limit: %dMiB", code&0x1fff)
		}
		return " / RESOURCE_TYPE_MEMORY" + pair(code, subcode)
	case 4:
		if name := []string{1: "FLAVOR_IO_PHYSICAL_WRITES", 2: "FLAVOR_IO_LOGICAL_WRITES", 7: ""}[flavor]; name != "" {
			return fmt.Sprintf(" / RESOURCE_TYPE_IO / %s interval: %ds I/O limit: %d I/O observed: %d", name, code>>15&0x1ffff,
				code&0x7fff, subcode&0x7fff)
		}
		return " / RESOURCE_TYPE_IO" + pair(code, subcode)
	case 5:
		if flavor == 1 {
			return fmt.Sprintf(" / RESOURCE_TYPE_THREADS / FLAVOR_THREADS_HIGH_WATERMARK high watermark limit: %d", code&0x7fff)
		}
		return " / RESOURCE_TYPE_THREADS" + pair(code, subcode)
	}
	return fmt.Sprintf(" / 0x%08x", e.Flags)
}

func pair(code, subcode uint64) string { return fmt.Sprintf(" / 0x%016x / 0x%016x", code, subcode) }

// guard says which guarded thing was misused, and how. The type is in the upper bits
// of the code, the way in the bits from 32 on.
func (e Exception) guard(code, subcode uint64) string {
	flavor := code >> 32 & 0x1fffffff
	var name, what string
	var flavors map[uint64]string
	switch e.Flags >> 29 & 7 {
	case 0:
		return " / GUARD_TYPE_NONE"
	case 1:
		name, what = "GUARD_TYPE_MACH_PORT", "port name"
		flavors = map[uint64]string{1: "DESTROY", 2: "MOD_REFS", 4: "SET_CONTEXT", 8: "UNGUARDED", 0x10: "INCORRECT_GUARD", 0x20: "IMMOVABLE",
			0x40: "STRICT_REPLY", 0x80: "MSG_FILTERED", 0x100: "INVALID_RIGHT", 0x200: "INVALID_NAME", 0x400: "INVALID_VALUE",
			0x800: "INVALID_ARGUMENT", 0x1000: "RIGHT_EXISTS", 0x2000: "KERN_NO_SPACE", 0x4000: "KERN_FAILURE", 0x8000: "KERN_RESOURCE",
			0x10000: "SEND_INVALID_REPLY", 0x20000: "SEND_INVALID_VOUCHER", 0x40000: "SEND_INVALID_RIGHT", 0x80000: "RCV_INVALID_NAME",
			0x100000: "RCV_GUARDED_DESC", 0x200000: "MOD_REFS_NON_FATAL", 0x400000: "IMMOVABLE_NON_FATAL"}
	case 2:
		name, what = "GUARD_TYPE_FD", "file descriptor"
		flavors = map[uint64]string{1: "CLOSE", 2: "DUP", 4: "NOCLOEXEC", 8: "SOCKET_IPC", 0x10: "FILEPORT", 0x20: "MISMATCH", 0x40: "WRITE"}
	case 3:
		return fmt.Sprintf(" / GUARD_TYPE_USER / namespace: %d guard identifier: %d", code&0xffffffff, subcode)
	case 4:
		name, what = "GUARD_TYPE_VN", "pid"
		flavors = map[uint64]string{1: "RENAME_TO", 2: "RENAME_FROM", 4: "UNLINK", 8: "WRITE_OTHER", 0x10: "TRUNC_OTHER",
			0x20: "LINK", 0x40: "EXCHDATA"}
	case 5:
		if flavor == 1 {
			return fmt.Sprintf(" / GUARD_TYPE_VIRT_MEMORY / GUARD_EXC_DEALLOC_GAP offset: %d", subcode)
		}
		return " / GUARD_TYPE_VIRT_MEMORY" + pair(code, subcode)
	default:
		return fmt.Sprintf(" / 0x%08x", e.Flags)
	}
	if flavors[flavor] == "" {
		return " / " + name + pair(code, subcode)
	}
	return fmt.Sprintf(" / %s / GUARD_EXC_%s %s: %d guard identifier: %d", name, flavors[flavor], what, code&0xfffffff, subcode)
}
