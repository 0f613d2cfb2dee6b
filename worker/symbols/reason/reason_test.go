package reason

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/worker/symbols/dump"
)

func TestName(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		e    Exception
		want string
	}{
		{Exception{OS: dump.Windows, Code: 0xc0000005}, "EXCEPTION_ACCESS_VIOLATION"},
		{Exception{OS: dump.Windows, Code: 0xc0000005, Parameters: []uint64{0, 4}}, "EXCEPTION_ACCESS_VIOLATION_READ"},
		{Exception{OS: dump.Windows, Code: 0xc0000005, Parameters: []uint64{1, 4}}, "EXCEPTION_ACCESS_VIOLATION_WRITE"},
		{Exception{OS: dump.Windows, Code: 0xc0000005, Parameters: []uint64{8, 4}}, "EXCEPTION_ACCESS_VIOLATION_EXEC"},
		{Exception{OS: dump.Windows, Code: 0xc0000005, Parameters: []uint64{3, 4}}, "EXCEPTION_ACCESS_VIOLATION"},
		{Exception{OS: dump.Windows, Code: 0xc0000006, Parameters: []uint64{0, 4, 0xc0000185}},
			"EXCEPTION_IN_PAGE_ERROR_READ / STATUS_IO_DEVICE_ERROR"},
		{Exception{OS: dump.Windows, Code: 0xc0000006, Parameters: []uint64{1, 4, 0xcfffffff}}, "EXCEPTION_IN_PAGE_ERROR_WRITE / 0xcfffffff"},
		{Exception{OS: dump.Windows, Code: 0xc0000409, Parameters: []uint64{0}},
			"EXCEPTION_STACK_BUFFER_OVERRUN / FAST_FAIL_LEGACY_GS_VIOLATION"},
		{Exception{OS: dump.Windows, Code: 0xc0000409, Parameters: []uint64{18}},
			"EXCEPTION_STACK_BUFFER_OVERRUN / FAST_FAIL_INVALID_JUMP_BUFFER"},
		{Exception{OS: dump.Windows, Code: 0xc0000409, Parameters: []uint64{50}},
			"EXCEPTION_STACK_BUFFER_OVERRUN / FAST_FAIL_HEAP_METADATA_CORRUPTION"},
		{Exception{OS: dump.Windows, Code: 0xc0000409, Parameters: []uint64{70}}, "EXCEPTION_STACK_BUFFER_OVERRUN / FAST_FAIL_INVALID_FLS_DATA"},
		{Exception{OS: dump.Windows, Code: 0xc0000409, Parameters: []uint64{16}}, "EXCEPTION_STACK_BUFFER_OVERRUN / 0x00000010"},
		{Exception{OS: dump.Windows, Code: 0xc0000374}, "STATUS_HEAP_CORRUPTION"},
		{Exception{OS: dump.Windows, Code: 0xc000041d}, "STATUS_FATAL_USER_CALLBACK_EXCEPTION"},
		{Exception{OS: dump.Windows, Code: 0xe06d7363, Parameters: []uint64{0x19930520}}, "Unhandled C++ Exception"},
		{Exception{OS: dump.Windows, Code: 0x0517a7ed}, "Simulated Exception"},
		{Exception{OS: dump.Windows, Code: 0x12345678}, "unknown 0x12345678"},
		{Exception{OS: dump.Linux, Code: 11, Flags: 1}, "SIGSEGV / SEGV_MAPERR"},
		{Exception{OS: dump.Android, Code: 11, Flags: 9}, "SIGSEGV / SEGV_MTESERR"},
		{Exception{OS: dump.Linux, Code: 11, Flags: 0x80}, "SIGSEGV / SI_KERNEL"},
		{Exception{OS: dump.Linux, Code: 6, Flags: 0xfffffffa}, "SIGABRT / SI_TKILL"},
		{Exception{OS: dump.Linux, Code: 6}, "SIGABRT"},
		{Exception{OS: dump.Linux, Code: 4, Flags: 2}, "SIGILL / ILL_ILLOPN"},
		{Exception{OS: dump.Linux, Code: 8, Flags: 1}, "SIGFPE / FPE_INTDIV"},
		{Exception{OS: dump.Linux, Code: 7, Flags: 2}, "SIGBUS / BUS_ADRERR"},
		{Exception{OS: dump.Linux, Code: 5, Flags: 1}, "SIGTRAP / TRAP_BRKPT"},
		{Exception{OS: dump.Linux, Code: 31, Flags: 1}, "SIGSYS / SYS_SECCOMP"},
		{Exception{OS: dump.Linux, Code: 11, Flags: 77}, "SIGSEGV / 0x0000004d"},
		{Exception{OS: dump.Linux, Code: 0xffffffff}, "DUMP_REQUESTED"},
		{Exception{OS: dump.Linux, Code: 99, Flags: 1}, "unknown 0x00000063 / 0x00000001"},
		{Exception{OS: dump.MacOS, Arch: dump.X86_64, Code: 1, Flags: 1}, "EXC_BAD_ACCESS / KERN_INVALID_ADDRESS"},
		{Exception{OS: dump.MacOS, Arch: dump.X86_64, Code: 1, Flags: 13}, "EXC_BAD_ACCESS / EXC_I386_GPFLT"},
		{Exception{OS: dump.MacOS, Arch: dump.ARM64, Code: 1, Flags: 0x101}, "EXC_BAD_ACCESS / EXC_ARM_DA_ALIGN"},
		{Exception{OS: dump.MacOS, Arch: dump.X86_64, Code: 2, Flags: 1}, "EXC_BAD_INSTRUCTION / EXC_I386_INVOP"},
		{Exception{OS: dump.IOS, Arch: dump.ARM64, Code: 6, Flags: 1}, "EXC_BREAKPOINT / EXC_ARM_BREAKPOINT"},
		{Exception{OS: dump.MacOS, Arch: dump.X86_64, Code: 3, Flags: 1}, "EXC_ARITHMETIC / EXC_I386_DIV"},
		{Exception{OS: dump.MacOS, Code: 5, Flags: 0x10002}, "EXC_SOFTWARE / SIGABRT"},
		{Exception{OS: dump.MacOS, Code: 7, Flags: 3}, "EXC_SYSCALL / 0x00000003"},
		{Exception{OS: dump.MacOS, Code: 0x43507378}, "Simulated Exception"},
		{Exception{OS: dump.MacOS, Code: 12, Flags: 0x40000001, Parameters: []uint64{12, 0x4000000100000007, 5}},
			"EXC_GUARD / GUARD_TYPE_FD / GUARD_EXC_CLOSE file descriptor: 7 guard identifier: 5"},
		{Exception{OS: dump.MacOS, Code: 12, Flags: 0x20000008, Parameters: []uint64{12, 0x2000000800000a03, 0}},
			"EXC_GUARD / GUARD_TYPE_MACH_PORT / GUARD_EXC_UNGUARDED port name: 2563 guard identifier: 0"},
		{Exception{OS: dump.IOS, Code: 11, Flags: 0x64000000, Parameters: []uint64{11, 0x6400000000000032, 0}},
			"EXC_RESOURCE / RESOURCE_TYPE_MEMORY / FLAVOR_HIGH_WATERMARK high watermark limit: 50MiB"},
		{Exception{OS: dump.IOS, Code: 11, Flags: 0xe0000000}, "EXC_RESOURCE / 0xe0000000"},
		{Exception{OS: "Fuchsia", Code: 1, Flags: 2}, "unknown 0x00000001 / 0x00000002"},
	} {
		require.Equal(t, c.want, c.e.Name())
	}
}

// Every type and flavor of macOS has text, whatever the numbers are.
func TestMachNumbers(t *testing.T) {
	t.Parallel()
	for _, code := range []uint32{11, 12} {
		for kind := range uint32(8) {
			for flavor := range uint64(8) {
				e := Exception{OS: dump.MacOS, Code: code, Flags: kind << 29, Parameters: []uint64{0, flavor<<58 | flavor<<32, 1}}
				require.Contains(t, e.Name(), " / ")
			}
		}
	}
}

func TestFaultAddress(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		e    Exception
		want uint64
		ok   bool
	}{
		{Exception{OS: dump.Windows, Code: 0xc0000005, Address: 1, Parameters: []uint64{0, 7}}, 7, true},
		{Exception{OS: dump.Windows, Code: 0xc0000094, Address: 1, Parameters: []uint64{0, 7}}, 1, true},
		{Exception{OS: dump.Windows, Arch: dump.X86, Code: 0xc0000005, Parameters: []uint64{0, 0xffffffff80000000}}, 0x80000000, true},
		{Exception{OS: dump.Linux, Code: 11, Flags: 1, Address: 9}, 9, true},
		{Exception{OS: dump.Linux, Code: 6, Flags: 0xfffffffa, Address: 0x3e800001234}, 0, false},
		{Exception{OS: dump.Linux, Code: 11, Flags: 0x80}, 0, false},
		{Exception{OS: dump.Linux, Code: 11, Address: 0x45}, 0x45, true},
		{Exception{OS: dump.Android, Code: 7, Address: 0x7f1200001000}, 0x7f1200001000, true},
		{Exception{OS: dump.Linux, Code: 8, Address: 0x555555555139}, 0x555555555139, true},
		{Exception{OS: dump.Linux, Arch: dump.X86, Code: 11, Address: 0xffffffff80000000}, 0x80000000, true},
		{Exception{OS: dump.Linux, Code: 11, Address: 0x3e800001234}, 0, false}, // kill -SEGV of user 1000
		{Exception{OS: dump.Android, Code: 11, Address: 0x27b400001234}, 0, false},
		{Exception{OS: dump.Linux, Code: 6, Address: 0x45}, 0, false},
		{Exception{OS: dump.MacOS, Code: 1, Flags: 1, Address: 0x10}, 0x10, true},
	} {
		address, ok := c.e.FaultAddress()
		require.Equal(t, c.ok, ok)
		require.Equal(t, c.want, address)
	}
}
