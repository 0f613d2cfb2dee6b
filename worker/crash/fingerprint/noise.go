package fingerprint

import "strings"

// isErrorFrame reports whether a frame only raises or reports the error: it is
// removed from the top of a stack.
func isErrorFrame(f family, name string) bool {
	switch f {
	case familyJVM:
		return hasSuffixAny(name, "Exception.<init>", "Error.<init>", ".fillInStackTrace") ||
			hasPrefixAny(name, "kotlin.jvm.internal.Intrinsics.", "dalvik.system.VMStack.", "kotlin.PreconditionsKt",
				"kotlin.ResultKt.throwOnFailure", "com.google.common.base.Preconditions.", "com.google.common.base.Verify.",
				"org.junit.Assert.", "org.junit.jupiter.api.Assert", "org.springframework.util.Assert.",
				"org.apache.commons.lang3.Validate.", "kotlin.test.Assertions", "com.android.internal.util.Preconditions.",
				"androidx.core.util.Preconditions.",
				"scala.Predef.assert", "scala.Predef.require", "scala.sys.package.error", "android.util.Log.", "org.slf4j.",
				"java.util.logging.Logger.") ||
			isOneOf(name, "java.lang.Throwable.<init>", "java.lang.Thread.getStackTrace", "java.lang.Thread.dumpStack",
				"java.util.Objects.requireNonNull", "java.util.Objects.checkIndex", "kotlin.ExceptionsKt__ExceptionsKt.addSuppressed")
	case familyJS:
		// A constructor: its name begins with a capital.
		return isOneOf(name, "Error", "Error.captureStackTrace", "captureStackTrace", "invariant", "assert", "throw",
			"reportError", "triggerUncaughtException", "abort", "process.abort") ||
			name != "" && name[0] >= 'A' && name[0] <= 'Z' && !strings.Contains(name, ".") && hasSuffixAny(name, "Error", "Exception")
	case familyPython:
		return isOneOf(name, "reraise", "raise_from", "raise_with_traceback", "excepthook", "_excepthook", "print_exception",
			"format_exception", "capture_exception", "send_last_exception", "extract_stack")
	case familyRuby:
		return isOneOf(name, "raise", "fail", "abort", "throw", "method_missing", "backtrace", "caller", "set_backtrace")
	case familyPHP:
		return isOneOf(name, "trigger_error", "user_error", "error_log", "debug_backtrace", "abort", "abort_if",
			"abort_unless", "throw_if", "throw_unless", "debug_print_backtrace") ||
			hasSuffixAny(name, "::handleError", "::handleException", "::handleShutdown") ||
			strings.HasSuffix(name, "::__construct") && hasSuffixAny(strings.TrimSuffix(name, "::__construct"), "Exception", "Error")
	case familyDotNet:
		return hasPrefixAny(name, "System.ThrowHelper.", "System.Runtime.ExceptionServices.ExceptionDispatchInfo.Throw",
			"System.Runtime.CompilerServices.TaskAwaiter.ThrowForNonSuccess",
			"System.Runtime.CompilerServices.TaskAwaiter.HandleNonSuccess", "System.Environment.FailFast",
			"System.Diagnostics.Debug.Fail", "UnityEngine.Debug.", "UnityEngine.Assertions.", "UnityEngine.StackTraceUtility",
			"System.ArgumentNullException.Throw", "System.ArgumentException.Throw", "System.ArgumentOutOfRangeException.Throw",
			"System.ObjectDisposedException.Throw", "System.InvalidOperationException.Throw", "System.Diagnostics.Debug.Assert",
			"System.Diagnostics.Trace.", "System.Environment.get_StackTrace", "System.Environment.GetStackTrace",
			"Microsoft.FSharp.Core.Operators.Raise", "Microsoft.FSharp.Core.Operators.FailWith", "Microsoft.FSharp.Core.Operators.Failure") ||
			strings.HasSuffix(name, "Exception..ctor")
	case familyGo:
		return isOneOf(name, "panic", "runtime.gopanic", "runtime.throw", "runtime.fatal", "runtime.fatalthrow",
			"runtime.fatalpanic", "runtime.sigpanic", "runtime.raise", "runtime.abort", "runtime.crash",
			"runtime.dieFromSignal", "runtime.sighandler", "runtime.sigtrampgo", "runtime.sigtramp", "runtime.sigfwdgo",
			"runtime.systemstack", "runtime/debug.Stack", "runtime/debug.PrintStack", "runtime.Stack", "runtime.Callers", "runtime.asmcgocall") ||
			hasPrefixAny(name, "runtime.goPanic", "runtime.panic", "log.Fatal", "log.Panic", "log.Logger.Fatal",
				"log.Logger.Panic", "runtime.raise", "runtime.memoryError")
	}
	return isNativeErrorFrame(name)
}

// isErrorBoundary reports whether everything above a frame is the reaction to
// an error: a signal handler, a deferred function, a terminate or panic
// handler.
func isErrorBoundary(f family, name string) bool {
	switch f {
	case familyGo:
		return isOneOf(name, "runtime.gopanic", "panic", "runtime.panic", "runtime.sigpanic")
	case familyNative, familyUnknown:
		return isNativeErrorBoundary(name)
	}
	return false
}

// isThreadStart reports whether a frame only starts a thread or a process: it is
// removed from the bottom of a stack.
func isThreadStart(f family, name string) bool {
	switch f {
	case familyGo:
		return isOneOf(name, "runtime.goexit", "runtime.main", "runtime.mstart", "runtime.mcall", "runtime.rt0_go",
			"runtime.asmcgocall") || strings.HasPrefix(name, "created by ")
	case familyJVM:
		return isOneOf(name, "java.lang.Thread.run", "java.lang.Thread.runWith", "java.lang.VirtualThread.run",
			"com.android.internal.os.ZygoteInit.main", "dalvik.system.NativeStart.main") ||
			hasPrefixAny(name, "com.android.internal.os.RuntimeInit$", "java.util.concurrent.ThreadPoolExecutor",
				"java.util.concurrent.ForkJoinWorkerThread.", "jdk.internal.vm.Continuation.")
	case familyPython:
		return isOneOf(name, "_bootstrap", "_bootstrap_inner", "Thread._bootstrap", "Thread._bootstrap_inner",
			"_run_module_as_main", "_run_code", "run_path", "_run_module_code")
	case familyDotNet:
		return hasPrefixAny(name, "System.Threading.Thread.Start", "System.Threading.ThreadHelper.",
			"System.Threading.PortableThreadPool.", "System.Threading.ThreadPoolWorkQueue.")
	case familyRuby:
		return isOneOf(name, "<main>", "Thread.new")
	case familyPHP:
		return name == "{main}"
	case familyJS:
		return isOneOf(name, "__webpack_require__", "processTicksAndRejections", "bootstrap_node")
	}
	return isNativeThreadStart(name)
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
