package noise

import (
	"strings"

	"github.com/slipway-qa/slipway/worker/crash/fingerprint/scan"
)

// IsNativeHelper reports whether a function of an application only checks, logs,
// raises or wraps: it does not say by itself where the error is. The words of the
// last part of its name decide: one says what such a function does, and
// the others nothing more (log_fatal, assertFailed, throwIfNull). Wrappers of the
// allocator (xmalloc) and the operators of smart pointers and containers are
// helpers too: many places go through them, and an optimizer removes them.
func IsNativeHelper(name string) bool {
	if isHarness(name) || isCrashFunction(name) {
		return true
	}
	container, last := "", name
	if strings.HasPrefix(name, "-[") || strings.HasPrefix(name, "+[") {
		_, last, _ = strings.Cut(strings.TrimSuffix(name, "]"), " ")
		last, _, _ = strings.Cut(last, ":")
	} else if i := strings.LastIndexAny(name, ":."); i >= 0 {
		container, last = strings.TrimRight(name[:i], ":."), name[i+1:]
		if i := strings.LastIndexAny(container, ":."); i >= 0 {
			container = container[i+1:]
		}
	}
	if strings.HasPrefix(name, "<") && scan.IsOneOf(last, "deref", "deref_mut", "index", "index_mut", "as_ref", "as_mut",
		"borrow", "borrow_mut") {
		return true // Rust's operators of a pointer or a container
	}
	if symbol, ok := strings.CutPrefix(last, "operator"); ok && container != "" && container != "lambda" {
		return scan.IsOneOf(symbol, "->", "*", "[]", "->*", " bool")
	}
	if scan.IsOneOf(container, "Assert", "Assertion", "Assertions", "Precondition", "Preconditions", "Expects", "Ensures",
		"Contract", "Contracts", "LogMessage", "LogMessageFatal", "CheckError") {
		return true
	}
	return isNativeCheck(last) || isAllocatorWrapper(last)
}

// isHarness reports whether a function is the entry that a fuzzer calls, which
// every crash of a program under test has.
func isHarness(name string) bool {
	return scan.IsOneOf(name, "LLVMFuzzerTestOneInput", "LLVMFuzzerRunDriver", "fuzz_target", "rust_fuzzer_test_input",
		"fuzzerTestOneInput", "FuzzerTestOneInput", "fuzz_one_input")
}

// isCrashFunction reports whether a function of a known application framework only
// ends the process.
func isCrashFunction(name string) bool {
	return scan.HasPrefixAny(name, "WTFCrash", "MOZ_Crash", "mozalloc_abort", "mozalloc_handle_oom", "base::ImmediateCrash",
		"base::debug::BreakDebugger", "base::internal::OnNoMemory", "base::TerminateBecauseOutOfMemory",
		"partition_alloc::internal::OnNoMemory", "FDebug::", "FGenericPlatformMisc::RaiseException", "FOutputDevice::Logf",
		"ReportAssert", "ReportCrash", "blink::ReportOOMErrorInMainThread", "v8::base::OS::Abort", "V8_Fatal",
		"v8::internal::V8::FatalProcessOutOfMemory", "node::Abort", "node::Assert", "node::OnFatalError",
		"absl::log_internal::", "folly::detail::terminate_with", "QMessageLogger::", "CrashReporter::")
}

// isNativeCheck reports whether a function of C or C++ only checks, raises or
// reports. One that is called after what it does to the program stays.
func isNativeCheck(name string) bool {
	switch strings.Trim(name, "_") {
	case "crash", "verify", "report", "capture", "abort_all", "value", "check_all":
		return false
	case "fatalf", "panicf", "vfatal", "vpanic", "xdie", "vdie", "dief", "croak", "bug_check", "assert_ptr", "check_ptr",
		"require_ptr", "check_nullptr", "check_pointer", "assert_pointer", "check_not_nullptr", "throw_bad_alloc",
		"throw_runtime_error", "throw_logic_error", "throw_out_of_range",
		"throwRuntimeError", "throwOutOfRange", "ThrowRuntimeError", "err", "errx", "verr", "verrx", "oom", "out_of_memory",
		"print_error", "printError", "error_printf", "exit_with_message", "logger", "log_message", "logMessage",
		"log_printf", "vlog", "on_terminate", "terminate_handler", "on_fatal_signal", "signal_handler", "sig_handler",
		"sigsegv_handler", "segv_handler", "crash_handler", "crashHandler", "CrashHandler", "handle_signal", "SignalHandler",
		"signalHandler", "handle_crash", "dump_backtrace", "print_backtrace", "print_stacktrace", "print_stack_trace", "backtrace_handler":
		return true
	}
	return isCheck(name)
}

// isAllocatorWrapper reports whether a function is an application's own way to call
// the allocator or to copy memory: xmalloc, safe_free, my_memcpy.
func isAllocatorWrapper(name string) bool {
	lower := strings.ToLower(scan.Truncate(name, 32))
	for _, p := range [...]string{"x", "z", "s", "e", "k", "safe", "my", "checked", "wrap", "wrapped", "our", "mem",
		"util", "try", "must", "sys"} {
		rest, ok := strings.CutPrefix(lower, p)
		if !ok {
			continue
		}
		rest = strings.TrimPrefix(rest, "_")
		if scan.IsOneOf(rest, "malloc", "calloc", "realloc", "reallocarray", "free", "strdup", "strndup", "memcpy", "memmove",
			"memset", "memdup", "strcpy", "strncpy", "strcat", "strlcpy", "strlen", "strcmp", "asprintf", "alloc", "zalloc") {
			return true
		}
	}
	return false
}
