package reason

import (
	_ "embed"
	"fmt"
	"strings"
)

const (
	accessViolation    = 0xc0000005
	inPageError        = 0xc0000006
	stackBufferOverrun = 0xc0000409 // __fastfail
)

// windowsExceptions are the codes that winnt.h and minwinbase.h name as exceptions, and
// those of runtimes.
func windowsExceptions() map[uint32]string {
	return map[uint32]string{
		0x80000001: "EXCEPTION_GUARD_PAGE", 0x80000002: "EXCEPTION_DATATYPE_MISALIGNMENT", 0x80000003: "EXCEPTION_BREAKPOINT",
		0x80000004: "EXCEPTION_SINGLE_STEP", accessViolation: "EXCEPTION_ACCESS_VIOLATION", inPageError: "EXCEPTION_IN_PAGE_ERROR",
		0xc0000008: "EXCEPTION_INVALID_HANDLE", 0xc000001d: "EXCEPTION_ILLEGAL_INSTRUCTION", 0xc0000025: "EXCEPTION_NONCONTINUABLE_EXCEPTION",
		0xc0000026: "EXCEPTION_INVALID_DISPOSITION", 0xc000008c: "EXCEPTION_BOUNDS_EXCEEDED", 0xc000008d: "EXCEPTION_FLT_DENORMAL_OPERAND",
		0xc000008e: "EXCEPTION_FLT_DIVIDE_BY_ZERO", 0xc000008f: "EXCEPTION_FLT_INEXACT_RESULT", 0xc0000090: "EXCEPTION_FLT_INVALID_OPERATION",
		0xc0000091: "EXCEPTION_FLT_OVERFLOW", 0xc0000092: "EXCEPTION_FLT_STACK_CHECK", 0xc0000093: "EXCEPTION_FLT_UNDERFLOW",
		0xc0000094: "EXCEPTION_INT_DIVIDE_BY_ZERO", 0xc0000095: "EXCEPTION_INT_OVERFLOW", 0xc0000096: "EXCEPTION_PRIV_INSTRUCTION",
		0xc00000fd: "EXCEPTION_STACK_OVERFLOW", 0xc0000194: "EXCEPTION_POSSIBLE_DEADLOCK",
		stackBufferOverrun: "EXCEPTION_STACK_BUFFER_OVERRUN",
		0xe0000008:         "Out of Memory", // of Chromium and Mozilla
		0xe06d7363:         "Unhandled C++ Exception",
		0xe0434352:         "Unhandled .NET Exception",
		0x0517a7ed:         "Simulated Exception", // Crashpad was asked for a dump
		0xc06d007e:         "FACILITY_VISUALCPP / ERROR_MOD_NOT_FOUND",
		0xc06d007f:         "FACILITY_VISUALCPP / ERROR_PROC_NOT_FOUND",
	}
}

// fastFails are the codes of __fastfail in winnt.h, from 0 on.
func fastFails() []string {
	return strings.Fields(`LEGACY_GS_VIOLATION VTGUARD_CHECK_FAILURE STACK_COOKIE_CHECK_FAILURE CORRUPT_LIST_ENTRY INCORRECT_STACK
		INVALID_ARG GS_COOKIE_INIT FATAL_APP_EXIT RANGE_CHECK_FAILURE UNSAFE_REGISTRY_ACCESS GUARD_ICALL_CHECK_FAILURE
		GUARD_WRITE_CHECK_FAILURE INVALID_FIBER_SWITCH INVALID_SET_OF_CONTEXT INVALID_REFERENCE_COUNT - - - INVALID_JUMP_BUFFER
		MRDATA_MODIFIED CERTIFICATION_FAILURE INVALID_EXCEPTION_CHAIN CRYPTO_LIBRARY INVALID_CALL_IN_DLL_CALLOUT INVALID_IMAGE_BASE
		DLOAD_PROTECTION_FAILURE UNSAFE_EXTENSION_CALL DEPRECATED_SERVICE_INVOKED INVALID_BUFFER_ACCESS INVALID_BALANCED_TREE
		INVALID_NEXT_THREAD GUARD_ICALL_CHECK_SUPPRESSED APCS_DISABLED INVALID_IDLE_STATE MRDATA_PROTECTION_FAILURE
		UNEXPECTED_HEAP_EXCEPTION INVALID_LOCK_STATE GUARD_JUMPTABLE INVALID_LONGJUMP_TARGET INVALID_DISPATCH_CONTEXT INVALID_THREAD
		INVALID_SYSCALL_NUMBER INVALID_FILE_OPERATION LPAC_ACCESS_DENIED GUARD_SS_FAILURE LOADER_CONTINUITY_FAILURE
		GUARD_EXPORT_SUPPRESSION_FAILURE INVALID_CONTROL_STACK SET_CONTEXT_DENIED INVALID_IAT HEAP_METADATA_CORRUPTION
		PAYLOAD_RESTRICTION_VIOLATION LOW_LABEL_ACCESS_DENIED ENCLAVE_CALL_FAILURE UNHANDLED_LSS_EXCEPTON ADMINLESS_ACCESS_DENIED
		UNEXPECTED_CALL CONTROL_INVALID_RETURN_ADDRESS UNEXPECTED_HOST_BEHAVIOR FLAGS_CORRUPTION VEH_CORRUPTION ETW_CORRUPTION
		RIO_ABORT INVALID_PFN GUARD_ICALL_CHECK_FAILURE_XFG CAST_GUARD HOST_VISIBILITY_CHANGE KERNEL_CET_SHADOW_STACK_ASSIST
		PATCH_CALLBACK_FAILED NTDLL_PATCH_FAILED INVALID_FLS_DATA`)
}

//go:embed ntstatus.txt
var ntstatus string

// ntName returns the name of an NTSTATUS; "" for an unknown one.
func ntName(code uint32) string {
	line := fmt.Sprintf("\n%08x ", code)
	n := strings.Index(ntstatus, line)
	if n < 0 {
		return ""
	}
	name, _, _ := strings.Cut(ntstatus[n+len(line):], "\n")
	return name
}

func hexOr(name string, code uint64) string {
	if name == "" {
		return fmt.Sprintf("0x%08x", code)
	}
	return name
}

func (e Exception) windows() string {
	name := windowsExceptions()[e.Code]
	p := e.Parameters
	switch {
	case name == "":
		if name = ntName(e.Code); name == "" {
			return fmt.Sprintf("unknown 0x%08x", e.Code)
		}
	case e.Code == accessViolation && len(p) >= 1:
		name += access(p[0])
	case e.Code == inPageError && len(p) >= 3:
		name += access(p[0]) + " / " + hexOr(ntName(uint32(p[2])), p[2])
	case e.Code == stackBufferOverrun && len(p) >= 1:
		fast := ""
		if codes := fastFails(); p[0] < uint64(len(codes)) && codes[p[0]] != "-" {
			fast = "FAST_FAIL_" + codes[p[0]]
		}
		name += " / " + hexOr(fast, p[0])
	}
	return name
}

// access says what the access was for: the first parameter of an access violation.
func access(kind uint64) string {
	switch kind {
	case 0:
		return "_READ"
	case 1:
		return "_WRITE"
	case 8:
		return "_EXEC"
	}
	return ""
}
