package noise

import (
	"strings"

	"github.com/slipway-qa/slipway/worker/crash/fingerprint/naming"
	"github.com/slipway-qa/slipway/worker/crash/fingerprint/scan"
)

// SystemCall returns the public function that a frame of a system library stands
// for, or "" when it stands for none. One function has many names: those of the
// variants for a processor, of the library's own aliases, of checks and
// sanitizers.
//
//	__memmove_avx_unaligned_erms, __GI_memcpy, __asan_memcpy, memcpy@plt  ->  memcpy
//
// What is compiled into the caller (templates of the standard library) and what
// only starts, ends or reports stands for none.
func SystemCall(name string) string {
	if name == "" || isNativeErrorFrame(name) || isNativeThreadStart(name) || naming.IsCompilerHelper(name) {
		return ""
	}
	if strings.HasPrefix(name, "operator ") {
		switch {
		case strings.HasPrefix(name, "operator new"):
			return "operator new"
		case strings.HasPrefix(name, "operator delete"):
			return "operator delete"
		}
		return ""
	}
	if strings.ContainsAny(name, ":<>{}(). ") {
		if scan.HasPrefixAny(name, "-[", "+[") {
			return objectiveCCall(name)
		}
		return ""
	}
	base := strings.TrimLeft(name, "_")
	for range 4 {
		before := base
		for _, p := range [...]string{"interceptor_trampoline_", "interceptor_", "wrap_", "asan_", "msan_", "tsan_",
			"hwasan_", "GI_", "libc_", "IO_", "platform_", "sanitizer_internal_", "new_", "old_", "builtin_", "imp_",
			"ubsan_", "scudo_", "je_", "tc_", "real_", "int_", "rtld_", "nptl_", "pthread_pthread_", "kernel_"} {
			if rest, ok := strings.CutPrefix(base, p); ok && rest != "" {
				base = strings.TrimLeft(rest, "_")
			}
		}
		if base == before {
			break
		}
	}
	base = cutVariant(base)
	if public := publicName(base); public != "" {
		return public
	}
	if base == "" || len(base) < 3 {
		return ""
	}
	return base
}

// cutVariant removes what marks a variant for a processor, a check or an inner
// part of a function.
func cutVariant(s string) string {
	for _, mark := range [...]string{"_avx", "_sse", "_ssse", "_evex", "_erms", "_rtm", "_generic", "_neon", "_sve",
		"_asimd", "_aarch64", "_falkor", "_thunderx", "_kryo", "_oryon", "_mops", "_zva", "_a64fx", "_unaligned", "_ifunc",
		"_i386", "_i586", "_i686", "_ia32", "_bsd", "_power", "_z13", "_z900", "_cortex", "_krait", "_mte", "_vx"} {
		if i := strings.Index(s, mark); i > 2 {
			s = s[:i]
		}
	}
	for range 3 {
		before := s
		for _, suffix := range [...]string{"_chk", "_internal", "_impl", "_nocancel", "_cancel", "_base", "_dbg", "_default",
			"_worker", "_common", "_nolock", "_unlocked", "_r", "_full", "_finite", "_slow", "_l", "64", "_time64", "_noconv"} {
			if rest, ok := strings.CutSuffix(s, suffix); ok && len(rest) > 2 {
				s = rest
			}
		}
		if s == before {
			break
		}
	}
	return s
}

// publicName returns the function that a caller named, of one that it was
// compiled or forwarded to.
func publicName(base string) string {
	switch base {
	case "memcpy", "memmove", "memmove_vec", "mempcpy", "bcopy", "memcpy_s", "memmove_s", "RtlMoveMemory", "RtlCopyMemory",
		"memcpy_repmovs", "intel_fast_memcpy", "MemmoveVec", "memcpy_vec":
		return "memcpy"
	case "memset", "bzero", "explicit_bzero", "RtlZeroMemory", "RtlFillMemory", "memset_repstos", "memset_explicit",
		"wmemset", "memset_vec", "memset_pattern16":
		return "memset"
	case "memcmp", "bcmp", "memcmpeq", "RtlCompareMemory":
		return "memcmp"
	case "free", "cfree", "HeapFree", "RtlFreeHeap", "RtlpFreeHeap", "RtlpFreeHeapInternal", "RtlpLowFragHeapFree",
		"free_dbg", "find_zone_and_free", "szone_free", "nanov2_free", "tiny_free", "small_free", "free_tiny", "free_small",
		"malloc_zone_free", "free_perturb", "arena_dalloc", "ifree", "aligned_free", "tcache_put", "libc_freeres",
		"free_list_checksum_botch", "tiny_free_list_add_ptr", "free_sized":
		return "free"
	case "malloc", "HeapAlloc", "RtlAllocateHeap", "RtlpAllocateHeap", "RtlpAllocateHeapInternal",
		"RtlpLowFragHeapAllocFromContext", "malloc_zone_malloc", "szone_malloc", "nanov2_malloc", "nanov2_allocate",
		"tiny_malloc", "tiny_malloc_from_free_list", "small_malloc", "sysmalloc", "malloc_consolidate", "tcache_get",
		"unlink_chunk", "malloc_zone_malloc_instrumented_or_legacy", "szone_malloc_should_clear", "small_malloc_from_free_list",
		"szone_malloc_should_clear_legacy", "ptmalloc_init", "arena_malloc", "imalloc":
		return "malloc"
	case "calloc", "malloc_zone_calloc", "szone_calloc", "nanov2_calloc":
		return "calloc"
	case "realloc", "malloc_zone_realloc", "szone_realloc", "RtlReAllocateHeap", "HeapReAlloc", "reallocarray",
		"nanov2_realloc", "mremap_chunk":
		return "realloc"
	case "memalign", "aligned_alloc", "posix_memalign", "valloc", "pvalloc", "aligned_malloc":
		return "aligned_alloc"
	case "printf", "vprintf", "fprintf", "vfprintf", "vxprintf", "printf_positional", "printf_buffer", "Xprintf_buffer",
		"sfvwrite", "wprintf", "fwprintf", "vfwprintf", "stdio_common_vfprintf":
		return "printf"
	case "sprintf", "vsprintf", "snprintf", "vsnprintf", "asprintf", "vasprintf", "sprintf_s", "vsprintf_s", "snprintf_s",
		"vsnprintf_s", "swprintf", "vswprintf", "stdio_common_vsprintf", "stdio_common_vsprintf_s", "stdio_common_vsnprintf_s":
		return "sprintf"
	case "scanf", "vscanf", "fscanf", "vfscanf", "isoc99_scanf", "isoc99_fscanf", "isoc23_scanf", "isoc23_fscanf":
		return "scanf"
	case "sscanf", "vsscanf", "isoc99_sscanf", "isoc23_sscanf", "isoc99_vsscanf", "isoc23_vsscanf", "sscanf_s":
		return "sscanf"
	case "strcpy", "stpcpy", "strcpy_s", "lstrcpyA", "lstrcpy":
		return "strcpy"
	case "strncpy", "stpncpy", "strncpy_s", "strlcpy":
		return "strncpy"
	case "strlen", "strnlen", "strnlen_s", "lstrlenA", "lstrlen":
		return "strlen"
	case "strchr", "strchrnul", "index", "memchr", "rawmemchr":
		return "strchr"
	case "strrchr", "rindex", "memrchr":
		return "strrchr"
	case "strcasecmp", "stricmp", "strcmpi":
		return "strcasecmp"
	case "strtol", "strtoll", "strtoul", "strtoull", "isoc23_strtol", "isoc23_strtoul", "isoc23_strtoll", "isoc23_strtoull",
		"strtoq", "atoi", "atol", "atoll", "strtoimax":
		return "strtol"
	case "strtod", "strtof", "strtold", "atof":
		return "strtod"
	case "strtok", "strtok_s", "strsep":
		return "strtok"
	case "strdup", "strndup":
		return base
	case "fclose", "new_fclose", "file_close_it":
		return "fclose"
	case "fopen", "fopen_s", "new_fopen", "fdopen", "freopen", "file_fopen":
		return "fopen"
	case "fgets", "getline", "getdelim", "gets", "fgets_s", "getdelim_unlocked":
		return "fgets"
	case "fwrite", "fputs", "puts", "new_file_xsputn", "file_xsputn", "sputn", "fputc", "putc", "putchar", "xsputn":
		return "fwrite"
	case "fread", "sgetn", "file_xsgetn", "fgetc", "getc", "getchar", "xsgetn":
		return "fread"
	case "qsort", "msort_with_tmp", "quicksort", "msort", "qsort_s", "introsort_loop":
		return "qsort"
	case "pthread_mutex_lock", "pthread_mutex_cond_lock", "pthread_mutex_timedlock", "pthread_mutex_trylock",
		"pthread_mutex_firstfit_lock", "lll_lock_wait", "lll_mutex_lock_optimized", "RtlEnterCriticalSection",
		"EnterCriticalSection", "RtlpEnterCriticalSectionContended", "pthread_mutex_firstfit_lock_wait", "psynch_mutexwait",
		"mtx_lock", "pthread_mutex_lock_parent", "gthread_mutex_lock":
		return "pthread_mutex_lock"
	case "pthread_mutex_unlock", "pthread_mutex_unlock_usercnt", "LeaveCriticalSection", "RtlLeaveCriticalSection",
		"mtx_unlock", "gthread_mutex_unlock":
		return "pthread_mutex_unlock"
	case "pthread_cond_wait", "pthread_cond_timedwait", "pthread_cond_clockwait", "psynch_cvwait", "SleepConditionVariableSRW",
		"RtlSleepConditionVariableSRW", "SleepConditionVariableCS":
		return "pthread_cond_wait"
	case "pthread_join", "pthread_clockjoin_ex", "pthread_timedjoin_ex", "pthread_timedjoin_np":
		return "pthread_join"
	case "objc_msgSend", "objc_msgSend_uncached", "objc_msgSendSuper2", "objc_msgSendSuper", "objc_msgSend_stret",
		"lookUpImpOrForward", "objc_msgLookup":
		return "objc_msgSend"
	case "objc_release", "objc_release_x0", "objc_release_x8", "objc_release_x19", "objc_release_x20", "objc_release_x21",
		"objc_release_x22", "CFRelease", "CF_release", "objc_storeStrong", "swift_release", "swift_release_dealloc", "objc_object_release":
		return "objc_release"
	case "objc_retain", "objc_retain_x0", "objc_retain_x8", "objc_retain_x19", "objc_retain_x20",
		"objc_retainAutoreleasedReturnValue", "objc_retainAutorelease", "CFRetain", "swift_retain":
		return "objc_retain"
	}
	return ""
}

// objectiveCCall returns a method of Apple's classes by its public class: each
// collection has several private ones, by its size.
//
//	-[__NSArrayM objectAtIndexedSubscript:]  ->  -[NSArray objectAtIndex:]
func objectiveCCall(method string) string {
	class, selector, ok := strings.Cut(method[2:], " ")
	if !ok {
		return method
	}
	bare := strings.TrimLeft(class, "_")
	for _, public := range [...]string{"NSArray", "NSDictionary", "NSSet", "NSOrderedSet", "NSString", "NSNumber", "NSData", "NSDate"} {
		if strings.HasPrefix(bare, public) || strings.HasPrefix(bare, "NSCF"+public[2:]) ||
			strings.HasPrefix(bare, "NSFrozen"+public[2:]) || strings.HasPrefix(bare, "NSSingleObject"+public[2:]) ||
			strings.HasPrefix(bare, "NSPlaceholder"+public[2:]) || strings.HasPrefix(bare, "NSMutable"+public[2:]) ||
			strings.HasPrefix(bare, "NSConcrete"+public[2:]) {
			class = public
			break
		}
	}
	switch selector {
	case "objectAtIndexedSubscript:]":
		selector = "objectAtIndex:]"
	case "objectForKeyedSubscript:]":
		selector = "objectForKey:]"
	case "setObject:atIndexedSubscript:]":
		selector = "setObject:atIndex:]"
	case "setObject:forKeyedSubscript:]":
		selector = "setObject:forKey:]"
	}
	return method[:2] + class + " " + selector
}
