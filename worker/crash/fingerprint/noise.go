package fingerprint

import "strings"

// isErrorFrame reports whether a frame only raises or reports the error: it is
// removed from the top of a stack.
func isErrorFrame(f family, name string) bool {
	switch f {
	case familyJVM:
		return hasSuffixAny(name, "Exception.<init>", "Error.<init>") ||
			hasPrefixAny(name, "kotlin.jvm.internal.Intrinsics.", "dalvik.system.VMStack.") ||
			isOneOf(name, "java.lang.Throwable.<init>", "java.lang.Throwable.fillInStackTrace", "java.lang.Thread.getStackTrace", "java.util.Objects.requireNonNull", "org.junit.Assert.fail")
	case familyJS:
		return isOneOf(name, "Error", "Error.captureStackTrace", "captureStackTrace", "invariant", "assert", "throw", "reportError", "triggerUncaughtException", "process.abort") ||
			strings.HasPrefix(name, "new ") && hasSuffixAny(name, "Error", "Exception")
	case familyPython:
		return isOneOf(name, "reraise", "raise_from", "raise_with_traceback", "excepthook")
	case familyRuby:
		return isOneOf(name, "raise", "fail", "abort", "Kernel#raise", "Kernel#fail", "Kernel#abort")
	case familyPHP:
		return isOneOf(name, "trigger_error", "user_error", "error_log", "debug_backtrace")
	case familyDotNet:
		return hasPrefixAny(name, "System.ThrowHelper.", "System.Runtime.ExceptionServices.ExceptionDispatchInfo.Throw", "System.Runtime.CompilerServices.TaskAwaiter.ThrowForNonSuccess",
			"System.Runtime.CompilerServices.TaskAwaiter.HandleNonSuccess", "System.Environment.FailFast", "System.Diagnostics.Debug.Fail", "UnityEngine.Debug.", "UnityEngine.Assertions.", "UnityEngine.StackTraceUtility", "System.ArgumentNullException.Throw", "System.ArgumentException.Throw")
	case familyGo:
		return isOneOf(name, "panic", "runtime.gopanic", "runtime.throw", "runtime.fatal", "runtime.fatalthrow", "runtime.fatalpanic", "runtime.sigpanic", "runtime.raise", "runtime.abort", "runtime.crash",
			"runtime.dieFromSignal", "runtime.sighandler", "runtime.sigtrampgo", "runtime.sigtramp", "runtime.sigfwdgo", "runtime.systemstack", "runtime/debug.Stack", "runtime/debug.PrintStack", "runtime.Stack", "runtime.Callers", "runtime.asmcgocall") ||
			hasPrefixAny(name, "runtime.goPanic", "runtime.panic", "log.Fatal", "log.Panic", "log.Logger.Fatal", "log.Logger.Panic", "runtime.raise", "runtime.memoryError")
	}
	return isNativeErrorFrame(name)
}

func isNativeErrorFrame(name string) bool {
	switch name {
	case "abort", "_abort", "raise", "_raise", "gsignal", "kill", "tgkill", "tkill", "pthread_kill", "__pthread_kill", "__pthread_kill_implementation", "__pthread_kill_internal",
		"__GI_raise", "__GI_abort", "__GI___pthread_kill", "__libc_message", "__libc_message_impl", "__libc_fatal", "__fortify_fail", "__stack_chk_fail", "__chk_fail", "__assert_fail", "__assert_fail_base", "__assert_perror_fail",
		"__assert_rtn", "__assert", "__assert2", "_assert", "_wassert", "malloc_printerr", "__GI___assert_fail", "__abort_msg", "__restore_rt", "_sigtramp", "__kernel_rt_sigreturn", "<signal handler called>": // C library
		return true
	case "__cxa_throw", "__cxa_rethrow", "__cxa_call_unexpected", "__cxa_call_terminate", "__cxa_pure_virtual", "_Unwind_RaiseException", "_Unwind_Resume", "_Unwind_Resume_or_Rethrow", "_Unwind_ForcedUnwind",
		"std::terminate", "std::unexpected", "std::rethrow_exception", "terminate", "__clang_call_terminate", "abort_message", "demangling_terminate_handler", "failed_throw", "_purecall", "purecall": // C++
		return true
	case "_CxxThrowException", "CxxThrowException", "RaiseException", "RtlRaiseException", "RtlRaiseStatus", "KiUserExceptionDispatcher", "KiUserExceptionDispatch", "RtlDispatchException", "RtlFailFast2",
		"_invoke_watson", "UnhandledExceptionFilter", "__report_gsfailure", "__fastfail", "DebugBreak", "RaiseFailFastException": // Microsoft
		return true
	case "objc_exception_throw", "objc_exception_rethrow", "objc_terminate", "_objc_terminate", "__exceptionPreprocess", "-[NSException raise]", "+[NSException raise:format:]", "+[NSException raise:format:arguments:]",
		"-[NSAssertionHandler handleFailureInMethod:object:file:lineNumber:description:]", "-[NSObject(NSObject) doesNotRecognizeSelector:]", "swift_unexpectedError", "swift_deallocPartialClassInstance",
		"_swift_runtime_on_report", "_assertionFailure", "_fatalErrorMessage", "fatalError", "Swift._assertionFailure", "Swift._fatalErrorMessage", "Swift.fatalError", "Swift.preconditionFailure", "assertionFailure in _assertionFailure", "closure in _assertionFailure", "closure in closure in _assertionFailure": // Objective-C and Swift
		return true
	case "rust_panic", "rust_begin_unwind", "__rust_start_panic", "_rust_begin_unwind", "core::result::unwrap_failed", "core::option::unwrap_failed", "core::option::expect_failed", "core::option::expect_none_failed",
		"core::str::slice_error_fail", "alloc::alloc::handle_alloc_error", "alloc::raw_vec::capacity_overflow", "alloc::raw_vec::handle_error", "rust_oom": // Rust
		return true
	case "qt_message_fatal", "QMessageLogger::fatal", "qFatal", "qt_assert", "qt_assert_x", "g_assertion_message", "g_assertion_message_expr", "g_log", "g_logv": // Others
		return true
	}
	return hasPrefixAny(name, "std::__throw_", "__cxxabiv1::", "__gnu_cxx::__verbose_terminate", "core::panicking::", "std::panicking::begin_panic", "std::panicking::rust_panic", "std::rt::begin_panic", "std::backtrace", "backtrace::",
		"core::slice::index::slice_", "_invalid_parameter", "google::LogMessage::", "google::LogMessageFatal::", "logging::LogMessage::~", "logging::CheckError::", "__asan::", "__ubsan::", "__sanitizer::", "crashpad::CrashpadClient::Dump", "swift_runtime_on_report", "std::sys::backtrace::__rust_end_short_backtrace", "std::sys_common::backtrace::__rust_end_short_backtrace")
}

// isErrorBoundary reports whether everything above a frame is the reaction to
// an error: a signal handler, a deferred function, a terminate or panic
// handler.
func isErrorBoundary(f family, name string) bool {
	switch f {
	case familyGo:
		return isOneOf(name, "runtime.gopanic", "panic", "runtime.sigpanic")
	case familyNative, familyUnknown:
		switch name {
		case "<signal handler called>", "__restore_rt", "_sigtramp", "__kernel_rt_sigreturn", "KiUserExceptionDispatcher", "KiUserExceptionDispatch", "std::terminate", "rust_begin_unwind", "__cxa_throw", "_CxxThrowException", "objc_exception_throw":
			return true
		}
	case familyDotNet:
		return strings.HasPrefix(name, "--- End of")
	}
	return false
}

// isThreadStart reports whether a frame only starts a thread or a process: it is
// removed from the bottom of a stack.
func isThreadStart(f family, name string) bool {
	switch f {
	case familyGo:
		return isOneOf(name, "runtime.goexit", "runtime.main", "runtime.mstart", "runtime.mcall", "runtime.rt0_go", "runtime.asmcgocall") || strings.HasPrefix(name, "created by ")
	case familyJVM:
		return isOneOf(name, "java.lang.Thread.run", "java.lang.Thread.runWith", "java.lang.VirtualThread.run", "com.android.internal.os.ZygoteInit.main", "dalvik.system.NativeStart.main") ||
			hasPrefixAny(name, "com.android.internal.os.RuntimeInit$", "java.util.concurrent.ThreadPoolExecutor")
	case familyPython:
		return isOneOf(name, "_bootstrap", "_bootstrap_inner", "Thread._bootstrap", "Thread._bootstrap_inner", "_run_module_as_main", "_run_code")
	case familyDotNet:
		return hasPrefixAny(name, "System.Threading.Thread.Start", "System.Threading.ThreadHelper.", "System.Threading.PortableThreadPool.", "System.Threading.ThreadPoolWorkQueue.")
	case familyRuby:
		return isOneOf(name, "<main>", "Thread.new")
	case familyPHP:
		return name == "{main}"
	case familyJS:
		return isOneOf(name, "__webpack_require__", "processTicksAndRejections", "bootstrap_node")
	}
	switch name {
	case "start_thread", "__start_thread", "thread_start", "_pthread_start", "_pthread_body", "__pthread_start", "start", "_start", "clone", "__clone", "clone3", "__clone3", "__clone_internal",
		"__libc_start_main", "__libc_start_main_impl", "__libc_start_call_main", "__libc_init", "RtlUserThreadStart", "_RtlUserThreadStart", "__RtlUserThreadStart", "BaseThreadInitThunk", "thread_start_routine",
		"invoke_main", "mainCRTStartup", "WinMainCRTStartup", "wmainCRTStartup", "wWinMainCRTStartup", "__tmainCRTStartup", "__scrt_common_main", "__scrt_common_main_seh", "execute_native_thread_routine",
		"_dispatch_worker_thread2", "_dispatch_worker_thread3", "start_wqthread", "_pthread_wqthread", "std::rt::lang_start", "std::rt::lang_start_internal", "__rust_begin_short_backtrace", "__rust_try", "std::panic::catch_unwind", "std::panicking::try":
		return true
	}
	return hasPrefixAny(name, "std::thread::_", "std::sys::pal::unix::thread::", "std::sys::unix::thread::", "std::sys::thread::", "std::sys_common::backtrace::__rust_begin", "std::sys::backtrace::__rust_begin", "std::rt::lang_start")
}

// isOneOf reports whether name is one of the names.
func isOneOf(name string, names ...string) bool {
	for _, s := range names {
		if s == name {
			return true
		}
	}
	return false
}

func hasSuffixAny(s string, suffixes ...string) bool {
	for _, x := range suffixes {
		if strings.HasSuffix(s, x) {
			return true
		}
	}
	return false
}
