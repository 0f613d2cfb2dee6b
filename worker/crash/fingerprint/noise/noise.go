// Package noise knows the frames that do not say where an error is: those of the platform and of
// libraries, those that raise, report or handle the error, those that start a thread, and functions
// that only serve others or whose names have no content.
//
// All of it is lists for each family of languages, read with normalized names (package naming) and
// with files as submitted. What is in no list counts as the application's own, and where a stack
// has nothing else its frames count all the same.
package noise

import (
	"strings"

	"github.com/slipway-qa/slipway/worker/crash/fingerprint/language"
	"github.com/slipway-qa/slipway/worker/crash/fingerprint/scan"
)

// IsErrorFrame reports whether a frame only raises or reports the error: it is
// removed from the top of a stack.
func IsErrorFrame(f language.Family, name string) bool {
	switch f {
	case language.JVM:
		return scan.HasSuffixAny(name, "Exception.<init>", "Error.<init>", ".fillInStackTrace") ||
			scan.HasPrefixAny(name, "kotlin.jvm.internal.Intrinsics.", "dalvik.system.VMStack.", "kotlin.PreconditionsKt",
				"kotlin.ResultKt.throwOnFailure", "com.google.common.base.Preconditions.", "com.google.common.base.Verify.",
				"org.junit.Assert.", "org.junit.jupiter.api.Assert", "org.springframework.util.Assert.",
				"org.apache.commons.lang3.Validate.", "kotlin.test.Assertions", "com.android.internal.util.Preconditions.",
				"androidx.core.util.Preconditions.",
				"scala.Predef.assert", "scala.Predef.require", "scala.sys.package.error", "android.util.Log.", "org.slf4j.",
				"java.util.logging.Logger.") ||
			scan.IsOneOf(name, "java.lang.Throwable.<init>", "java.lang.Thread.getStackTrace", "java.lang.Thread.dumpStack",
				"java.util.Objects.requireNonNull", "java.util.Objects.checkIndex", "kotlin.ExceptionsKt__ExceptionsKt.addSuppressed")
	case language.JS:
		// A constructor: its name begins with a capital.
		return scan.IsOneOf(name, "Error", "Error.captureStackTrace", "captureStackTrace", "invariant", "assert", "throw",
			"reportError", "triggerUncaughtException", "abort", "process.abort") ||
			name != "" && name[0] >= 'A' && name[0] <= 'Z' && !strings.Contains(name, ".") && scan.HasSuffixAny(name, "Error", "Exception")
	case language.Python:
		return scan.IsOneOf(name, "reraise", "raise_from", "raise_with_traceback", "excepthook", "_excepthook", "print_exception",
			"format_exception", "capture_exception", "send_last_exception", "extract_stack")
	case language.Ruby:
		return scan.IsOneOf(name, "raise", "fail", "abort", "throw", "method_missing", "backtrace", "caller", "set_backtrace")
	case language.PHP:
		return scan.IsOneOf(name, "trigger_error", "user_error", "error_log", "debug_backtrace", "abort", "abort_if",
			"abort_unless", "throw_if", "throw_unless", "debug_print_backtrace") ||
			scan.HasSuffixAny(name, "::handleError", "::handleException", "::handleShutdown") ||
			strings.HasSuffix(name, "::__construct") && scan.HasSuffixAny(strings.TrimSuffix(name, "::__construct"), "Exception", "Error")
	case language.DotNet:
		return scan.HasPrefixAny(name, "System.ThrowHelper.", "System.Runtime.ExceptionServices.ExceptionDispatchInfo.Throw",
			"System.Runtime.CompilerServices.TaskAwaiter.ThrowForNonSuccess",
			"System.Runtime.CompilerServices.TaskAwaiter.HandleNonSuccess", "System.Environment.FailFast",
			"System.Diagnostics.Debug.Fail", "UnityEngine.Debug.", "UnityEngine.Assertions.", "UnityEngine.StackTraceUtility",
			"System.ArgumentNullException.Throw", "System.ArgumentException.Throw", "System.ArgumentOutOfRangeException.Throw",
			"System.ObjectDisposedException.Throw", "System.InvalidOperationException.Throw", "System.Diagnostics.Debug.Assert",
			"System.Diagnostics.Trace.", "System.Environment.get_StackTrace", "System.Environment.GetStackTrace",
			"Microsoft.FSharp.Core.Operators.Raise", "Microsoft.FSharp.Core.Operators.FailWith", "Microsoft.FSharp.Core.Operators.Failure") ||
			strings.HasSuffix(name, "Exception..ctor")
	case language.Go:
		return scan.IsOneOf(name, "panic", "runtime.gopanic", "runtime.throw", "runtime.fatal", "runtime.fatalthrow",
			"runtime.fatalpanic", "runtime.sigpanic", "runtime.raise", "runtime.abort", "runtime.crash",
			"runtime.dieFromSignal", "runtime.sighandler", "runtime.sigtrampgo", "runtime.sigtramp", "runtime.sigfwdgo",
			"runtime.systemstack", "runtime/debug.Stack", "runtime/debug.PrintStack", "runtime.Stack", "runtime.Callers", "runtime.asmcgocall") ||
			scan.HasPrefixAny(name, "runtime.goPanic", "runtime.panic", "log.Fatal", "log.Panic", "log.Logger.Fatal",
				"log.Logger.Panic", "runtime.raise", "runtime.memoryError")
	}
	return isNativeErrorFrame(name)
}

// IsErrorBoundary reports whether everything above a frame is the reaction to
// an error: a signal handler, a deferred function, a terminate or panic
// handler.
func IsErrorBoundary(f language.Family, name string) bool {
	switch f {
	case language.Go:
		return scan.IsOneOf(name, "runtime.gopanic", "panic", "runtime.panic", "runtime.sigpanic")
	case language.Native, language.Unknown:
		return isNativeErrorBoundary(name)
	}
	return false
}

// IsThreadStart reports whether a frame only starts a thread or a process: it is
// removed from the bottom of a stack.
func IsThreadStart(f language.Family, name string) bool {
	switch f {
	case language.Go:
		return scan.IsOneOf(name, "runtime.goexit", "runtime.main", "runtime.mstart", "runtime.mcall", "runtime.rt0_go",
			"runtime.asmcgocall") || strings.HasPrefix(name, "created by ")
	case language.JVM:
		return scan.IsOneOf(name, "java.lang.Thread.run", "java.lang.Thread.runWith", "java.lang.VirtualThread.run",
			"com.android.internal.os.ZygoteInit.main", "dalvik.system.NativeStart.main") ||
			scan.HasPrefixAny(name, "com.android.internal.os.RuntimeInit$", "java.util.concurrent.ThreadPoolExecutor",
				"java.util.concurrent.ForkJoinWorkerThread.", "jdk.internal.vm.Continuation.")
	case language.Python:
		return scan.IsOneOf(name, "_bootstrap", "_bootstrap_inner", "Thread._bootstrap", "Thread._bootstrap_inner",
			"_run_module_as_main", "_run_code", "run_path", "_run_module_code")
	case language.DotNet:
		return scan.HasPrefixAny(name, "System.Threading.Thread.Start", "System.Threading.ThreadHelper.",
			"System.Threading.PortableThreadPool.", "System.Threading.ThreadPoolWorkQueue.")
	case language.Ruby:
		return scan.IsOneOf(name, "<main>", "Thread.new")
	case language.PHP:
		return name == "{main}"
	case language.JS:
		return scan.IsOneOf(name, "__webpack_require__", "processTicksAndRejections", "bootstrap_node")
	}
	return isNativeThreadStart(name)
}
