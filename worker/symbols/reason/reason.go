// Package reason says why a process ended in the words of its system: from the code of
// the exception or signal and what came with it, to "EXCEPTION_ACCESS_VIOLATION_READ",
// "SIGSEGV / SEGV_MAPERR" or "EXC_BAD_ACCESS / KERN_INVALID_ADDRESS", as the tools that
// print dumps do. A code without a name stands as its number.
//
// The names come from the systems' public headers, which the tables name. The package
// is a leaf.
package reason

import (
	"fmt"

	"github.com/slipway-qa/slipway/worker/symbols/dump"
)

// Exception is what the system said about the end of a process.
type Exception struct {
	// OS and Arch are those of dump.System.
	OS, Arch string
	// Code and Flags are, of Windows, the code of the exception and its flags; of Linux, the
	// signal and its si_code; of macOS, the Mach exception and its code (of EXC_RESOURCE and
	// EXC_GUARD the upper half of it).
	Code, Flags uint32
	// Address is that of the instruction, or the memory of the access.
	Address uint64
	// Parameters are Windows' ExceptionInformation; of macOS, the exception, its code and its
	// subcode.
	Parameters []uint64
}

// Name returns the reason.
func (e Exception) Name() string {
	switch e.OS {
	case dump.Windows:
		return e.windows()
	case dump.MacOS, dump.IOS:
		return e.mac()
	case dump.Linux, dump.Android:
		return e.linux()
	}
	return e.unknown()
}

func (e Exception) unknown() string { return fmt.Sprintf("unknown 0x%08x / 0x%08x", e.Code, e.Flags) }

// FaultAddress returns the address that could not be accessed, or that of the
// instruction; false for a signal that a process sent: its address means nothing.
func (e Exception) FaultAddress() (uint64, bool) {
	address := e.Address
	switch e.OS {
	case dump.Windows:
		if (e.Code == accessViolation || e.Code == inPageError) && len(e.Parameters) >= 2 {
			address = e.Parameters[1]
		}
	case dump.Linux, dump.Android:
		if !e.hasLinuxAddress() {
			return 0, false
		}
	}
	if e.Arch == dump.X86 || e.Arch == dump.ARM {
		address &= 0xffffffff // some writers extend the sign
	}
	return address, true
}

// linuxSignals are named as in signal.h and asm-generic/siginfo.h of the kernel.
func linuxSignals() map[uint32]string {
	return map[uint32]string{
		1: "SIGHUP", 2: "SIGINT", 3: "SIGQUIT", 4: "SIGILL", 5: "SIGTRAP", 6: "SIGABRT", 7: "SIGBUS", 8: "SIGFPE",
		9: "SIGKILL", 10: "SIGUSR1", 11: "SIGSEGV", 12: "SIGUSR2", 13: "SIGPIPE", 14: "SIGALRM", 15: "SIGTERM",
		16: "SIGSTKFLT", 17: "SIGCHLD", 18: "SIGCONT", 19: "SIGSTOP", 20: "SIGTSTP", 21: "SIGTTIN", 22: "SIGTTOU",
		23: "SIGURG", 24: "SIGXCPU", 25: "SIGXFSZ", 26: "SIGVTALRM", 27: "SIGPROF", 28: "SIGWINCH", 29: "SIGIO",
		30: "SIGPWR", 31: "SIGSYS", 0xffffffff: "DUMP_REQUESTED",
	}
}

// linuxCodes are what si_code says about one signal, from 1 on.
func linuxCodes() map[uint32][]string {
	return map[uint32][]string{
		4: {"ILL_ILLOPC", "ILL_ILLOPN", "ILL_ILLADR", "ILL_ILLTRP", "ILL_PRVOPC", "ILL_PRVREG", "ILL_COPROC", "ILL_BADSTK", "ILL_BADIADDR"},
		5: {"TRAP_BRKPT", "TRAP_TRACE", "TRAP_BRANCH", "TRAP_HWBKPT", "TRAP_UNK", "TRAP_PERF"},
		7: {"BUS_ADRALN", "BUS_ADRERR", "BUS_OBJERR", "BUS_MCEERR_AR", "BUS_MCEERR_AO"},
		8: {"FPE_INTDIV", "FPE_INTOVF", "FPE_FLTDIV", "FPE_FLTOVF", "FPE_FLTUND", "FPE_FLTRES", "FPE_FLTINV", "FPE_FLTSUB"},
		11: {"SEGV_MAPERR", "SEGV_ACCERR", "SEGV_BNDERR", "SEGV_PKUERR", "SEGV_ACCADI", "SEGV_ADIDERR", "SEGV_ADIPERR",
			"SEGV_MTEAERR", "SEGV_MTESERR", "SEGV_CPERR"},
		31: {"SYS_SECCOMP", "SYS_USER_DISPATCH"},
	}
}

func (e Exception) linux() string {
	signal := linuxSignals()[e.Code]
	if signal == "" {
		return e.unknown()
	}
	if codes := linuxCodes()[e.Code]; e.Flags >= 1 && int64(e.Flags) <= int64(len(codes)) {
		return signal + " / " + codes[e.Flags-1]
	}
	general := map[int32]string{0x80: "SI_KERNEL", -1: "SI_QUEUE", -2: "SI_TIMER", -3: "SI_MESGQ", -4: "SI_ASYNCIO",
		-5: "SI_SIGIO", -6: "SI_TKILL", -7: "SI_DETHREAD", -60: "SI_ASYNCNL"}
	switch name := general[int32(e.Flags)]; {
	case e.Flags == 0: // SI_USER
		return signal
	case name != "":
		return signal + " / " + name
	}
	return fmt.Sprintf("%s / 0x%08x", signal, e.Flags)
}
