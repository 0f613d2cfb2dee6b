package noise

import (
	"strings"

	"github.com/slipway-qa/slipway/worker/crash/fingerprint/scan"
)

// isNativeErrorFrame is IsErrorFrame for native code.
func isNativeErrorFrame(name string) bool {
	switch name {
	case "abort", "_abort", "raise", "_raise", "gsignal", "kill", "tgkill", "tkill", "pthread_kill", "__pthread_kill",
		"__pthread_kill_implementation", "__pthread_kill_internal", "__kill", "__tgkill", "thr_kill",
		"__GI_raise", "__GI_abort", "__GI___pthread_kill", "__GI_gsignal", "__libc_message", "__GI___libc_message",
		"__libc_message_impl", "__libc_fatal", "__fortify_fail", "__GI___fortify_fail", "__fortify_fail_abort",
		"__stack_chk_fail", "__stack_chk_fail_local", "__GI___stack_chk_fail",
		"__chk_fail", "__GI___chk_fail", "__fortify_chk_fail", "___chk_fail", "__strcpy_chk_fail", "__assert_fail",
		"__assert_fail_base", "__assert_perror_fail", "__assert_fail_base.cold", "abort_report_np", "__abort",
		"bionic_abort", "__fortify_fatal", "__bionic_assert",
		"__assert_rtn", "__assert", "__assert2", "_assert", "_wassert", "malloc_printerr", "__GI___assert_fail",
		"__abort_msg", "__restore_rt", "_sigtramp", "__kernel_rt_sigreturn", "<signal handler called>", "malloc_vreport",
		"malloc_report", "malloc_zone_error", "szone_error", "malloc_error_break",
		"free_list_checksum_botch", "_os_crash", "_os_crash_fmt", "__abort_with_payload", "abort_with_payload",
		"abort_with_reason", "abort_with_payload_wrapper_internal", "__cfi_slowpath_diag", "sigaction", "__sigaction",
		"__libc_sigaction", "__darwin_check_fd_set_overflow": // C library
		return true
	case "__cxa_throw", "__cxa_rethrow", "__cxa_call_unexpected", "__cxa_call_terminate", "__cxa_pure_virtual",
		"__cxa_deleted_virtual", "__cxa_bad_cast", "__cxa_throw_bad_array_new_length", "_Unwind_RaiseException",
		"_Unwind_Resume", "_Unwind_Resume_or_Rethrow", "_Unwind_ForcedUnwind",
		"std::terminate", "std::unexpected", "std::rethrow_exception", "std::__terminate", "std::abort", "terminate",
		"__clang_call_terminate", "abort_message", "demangling_terminate_handler", "failed_throw", "_purecall", "purecall",
		"__gxx_personality_v0", "std::__glibcxx_assert_fail", "std::__replacement_assert",
		"std::__libcpp_verbose_abort", "std::__libcpp_assertion_handler", "__glibcxx_assert_fail", "__verbose_abort": // C++
		return true
	case "_CxxThrowException", "CxxThrowException", "RaiseException", "RtlRaiseException", "RtlRaiseStatus",
		"KiUserExceptionDispatcher", "KiUserExceptionDispatch", "RtlDispatchException", "RtlFailFast2",
		"KiRaiseUserExceptionDispatcher", "RtlpExecuteHandlerForException", "RtlReportCriticalFailure", "RtlpReportHeapFailure",
		"RtlpHeapHandleError", "RtlpLogHeapFailure", "RtlpBreakPointHeap", "RtlReportFatalFailure", "RtlReportException",
		"RtlUnhandledExceptionFilter", "RtlUnhandledExceptionFilter2", "ZwRaiseException", "NtRaiseException",
		"ZwRaiseHardError", "NtTerminateProcess", "ZwTerminateProcess", "TerminateProcess", "RtlExitUserProcess",
		"_invoke_watson", "_invalid_parameter", "_invalid_parameter_noinfo", "_invalid_parameter_noinfo_noreturn",
		"UnhandledExceptionFilter", "__report_gsfailure", "__report_securityfailure", "__report_rangecheckfailure",
		"__fastfail", "DebugBreak", "RaiseFailFastException", "__raise_securityfailure", "__GSHandlerCheck", "__C_specific_handler",
		"_call_reportfault", "issue_debug_notification", "__acrt_call_reportfault", "common_assert_to_stderr",
		"common_assert_to_message_box", "_CrtDbgReport", "_VCrtDbgReportA", "_CrtDbgBreak", "__FrameHandler3::CxxCallCatchBlock",
		"_CallSettingFrame", "WerpReportFault", "_XcptFilter", "__FrameUnwindFilter", "_seh_filter_exe": // Microsoft
		return true
	case "objc_exception_throw", "objc_exception_rethrow", "objc_terminate", "_objc_terminate", "__exceptionPreprocess",
		"-[NSException raise]", "+[NSException raise:format:]", "+[NSException raise:format:arguments:]", "__forwarding__",
		"___forwarding___", "_CF_forwarding_prep_0", "__CF_forwarding_prep_0", "__forwarding_prep_0___", "__forwarding_prep_1___",
		"_objc_fatal", "_objc_fatalv",
		"-[NSAssertionHandler handleFailureInMethod:object:file:lineNumber:description:]",
		"-[NSAssertionHandler handleFailureInFunction:file:lineNumber:description:]",
		"-[NSObject(NSObject) doesNotRecognizeSelector:]", "-[NSObject doesNotRecognizeSelector:]",
		"+[NSObject(NSObject) doesNotRecognizeSelector:]", "swift_unexpectedError", "swift_deallocPartialClassInstance",
		"_swift_runtime_on_report", "_assertionFailure", "_fatalErrorMessage", "fatalError", "Swift._assertionFailure",
		"Swift._fatalErrorMessage", "Swift.fatalError", "Swift.preconditionFailure", "Swift.precondition", "Swift.assert",
		"Swift.assertionFailure", "Swift._diagnoseUnexpectedNilOptional", "Swift._unimplementedInitializer",
		"assertionFailure in _assertionFailure",
		"closure in Swift._assertionFailure", "closure in Swift._fatalErrorMessage", "closure in _assertionFailure",
		"closure in _fatalErrorMessage", "swift_fatalError", "swift_reportError", "__swift_reportFatalError",
		"_swift_stdlib_reportFatalErrorInFile", "_swift_stdlib_reportFatalError", "swift_dynamicCastFailure",
		"swift::fatalError", "swift::fatalErrorv", "swift::swift_abortRetainUnowned", "swift_willThrow",
		"CFRetain_assertion", "__CFRUNTIME_IS_MSGSENDING_TO_DEAD", "_CFThrowFormattedException", "_CFAssertMismatchedTypeID",
		"_dispatch_bug", "_dispatch_assert_queue_fail", "dispatch_assert_queue", "_os_assumes_log": // Objective-C and Swift
		return true
	case "rust_panic", "rust_begin_unwind", "__rust_start_panic", "_rust_begin_unwind", "core::result::unwrap_failed",
		"core::option::unwrap_failed", "core::option::expect_failed", "core::option::expect_none_failed",
		"core::option::Option::unwrap", "core::option::Option::expect", "core::result::Result::unwrap", "core::result::Result::expect",
		"core::result::Result::unwrap_err", "core::result::Result::expect_err", "core::cell::panic_already_borrowed",
		"core::cell::panic_already_mutably_borrowed", "core::str::slice_error_fail", "core::str::slice_error_fail_rt",
		"alloc::alloc::handle_alloc_error", "alloc::raw_vec::capacity_overflow", "alloc::raw_vec::handle_error",
		"rust_oom", "__rg_oom", "__rust_foreign_exception",
		"rust_eh_personality", "core::intrinsics::abort", "std::process::abort", "core::hint::unreachable_unchecked",
		"alloc::vec::Vec::remove::assert_failed", "alloc::vec::Vec::swap_remove::assert_failed",
		"alloc::vec::Vec::insert::assert_failed", "alloc::vec::Vec::split_off::assert_failed",
		"core::slice::copy_from_slice::len_mismatch_fail": // Rust
		return true
	case "qt_message_fatal", "QMessageLogger::fatal", "qFatal", "qt_assert", "qt_assert_x", "g_assertion_message",
		"g_assertion_message_expr", "g_assertion_message_cmpnum", "g_assertion_message_cmpstr", "g_log", "g_logv",
		"g_log_structured", "g_log_writer_default", "_g_log_abort", "g_abort", "g_return_if_fail_warning",
		"__afl_report", "arm_abort", "_dl_signal_error", "_dl_signal_exception", "__builtin_trap", "llvm.trap", "ucrtbase_abort",
		"emscripten_abort", "__assert_func", "mono_handle_native_crash", "sigsegv_signal_handler", "unwind_stack", "__hwasan_check": // Others
		return true
	}
	return scan.HasPrefixAny(name, "Swift runtime failure: ", "std::__throw_", "__throw_", "__cxxabiv1::",
		"__gnu_cxx::__verbose_terminate", "core::panicking::", "std::panicking::begin_panic", "std::panicking::rust_panic",
		"std::panicking::default_hook", "std::panicking::panic_handler", "std::panicking::panic_with_hook",
		"std::rt::begin_panic", "std::backtrace", "backtrace::",
		"core::slice::index::slice_", "core::slice::index::range_", "_invalid_parameter", "google::LogMessage::",
		"google::LogMessageFatal::", "logging::LogMessage::~", "logging::CheckError::", "absl::log_internal::", "__asan::",
		"__ubsan::", "__sanitizer::", "__msan::", "__tsan::", "__lsan::", "__hwasan::", "__scudo::", "scudo::", "gwp_asan::",
		"__asan_report_", "__asan_handle_no_return", "__asan_set_error", "__ubsan_handle_", "__ubsan_on_report",
		"__ubsan_default", "__msan_warning", "__msan_report", "__tsan_report", "__tsan_on_report", "__sanitizer_",
		"__lsan_", "__hwasan_tag_mismatch", "__hwasan_report", "__asan_on_error", "fuzzer::Fuzzer::CrashCallback",
		"fuzzer::Fuzzer::StaticCrashSignalCallback",
		"crashpad::CrashpadClient::Dump", "crashpad::", "google_breakpad::", "sentry__", "swift_runtime_on_report",
		"std::sys::backtrace::__rust_end_short_backtrace", "std::sys_common::backtrace::__rust_end_short_backtrace",
		"__rust_end_short_backtrace", "swift::runtime::", "__cxa_bad_")
}

// isNativeErrorBoundary is IsErrorBoundary for native code.
func isNativeErrorBoundary(name string) bool {
	switch name {
	case "<signal handler called>", "__restore_rt", "_sigtramp", "__kernel_rt_sigreturn", "KiUserExceptionDispatcher",
		"KiUserExceptionDispatch", "std::terminate", "rust_begin_unwind", "__cxa_throw", "_CxxThrowException", "objc_exception_throw",
		"__sigtramp", "sigtramp", "__default_rt_sa_restorer", "__default_sa_restorer", "__kernel_sigreturn",
		"core::panicking::panic_fmt", "std::panicking::begin_panic", "_assertionFailure", "Swift._assertionFailure",
		"__assert_fail", "__assert_rtn", "art_sigsegv_fault":
		return true
	}
	return strings.HasPrefix(name, "__asan_report_") || strings.HasPrefix(name, "__ubsan_handle_")
}

// isNativeThreadStart is IsThreadStart for native code.
func isNativeThreadStart(name string) bool {
	switch name {
	case "start_thread", "__start_thread", "thread_start", "_pthread_start", "_pthread_body", "__pthread_start", "start",
		"_start", "clone", "__clone", "clone3", "__clone3", "__clone_internal", "__GI___clone", "__GI___clone3",
		"__bionic_clone", "asan_thread_start", "__asan::AsanThread::ThreadStart", "__tsan_thread_start_func",
		"__libc_start_main", "__libc_start_main_impl", "__libc_start_call_main", "__libc_start_main_stage2",
		"__GI___libc_start_main", "generic_start_main", "__libc_init", "__libc_init_main_thread", "RtlUserThreadStart",
		"_RtlUserThreadStart", "__RtlUserThreadStart", "BaseThreadInitThunk", "thread_start_routine", "BaseProcessStart",
		"libc_start_main_stage2",
		"invoke_main", "mainCRTStartup", "WinMainCRTStartup", "wmainCRTStartup", "wWinMainCRTStartup", "__tmainCRTStartup",
		"__scrt_common_main", "__scrt_common_main_seh", "execute_native_thread_routine", "_threadstartex", "_callthreadstartex",
		"thread_start<T>", "_endthreadex", "call_init", "_dl_init", "_dl_start_user", "__libc_csu_init",
		"_dispatch_worker_thread2", "_dispatch_worker_thread3", "_dispatch_worker_thread", "_dispatch_root_queue_drain",
		"start_wqthread", "_pthread_wqthread", "std::rt::lang_start", "std::rt::lang_start_internal",
		"__rust_begin_short_backtrace", "__rust_try", "std::panic::catch_unwind", "std::panicking::try",
		"std::panicking::catch_unwind", "std::panicking::catch_unwind::do_call",
		"_dl_start", "dyldbootstrap::start", "dyld4::start", "start_sim", "g_thread_proxy", "thread_proxy", "SDL_RunThread",
		"RunThread", "__wasm_call_ctors", "_emscripten_thread_entry":
		return true
	}
	return scan.HasPrefixAny(name, "std::thread::_", "std::thread::Builder::spawn", "std::thread::lifecycle::",
		"std::sys::pal::unix::thread::", "std::sys::unix::thread::", "std::sys::thread::", "std::sys::windows::thread::",
		"std::sys_common::backtrace::__rust_begin", "std::sys::backtrace::__rust_begin", "std::rt::lang_start",
		"<alloc::boxed::Box as core::ops::function::FnOnce",
		"fuzzer::", "__sanitizer_thread", "std::__thread_proxy", "std::__thread_execute", "QThreadPrivate::start",
		"dyld4::", "art::Thread::CreateCallback", "HonggfuzzMain", "HonggfuzzRunOneInput", "HonggfuzzRunFromFile",
		"__afl_", "std::panicking::try::do_call", "core::ops::function::impls")
}
