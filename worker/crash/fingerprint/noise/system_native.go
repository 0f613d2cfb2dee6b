package noise

import (
	"strings"

	"github.com/slipway-qa/slipway/worker/crash/fingerprint/filename"
	"github.com/slipway-qa/slipway/worker/crash/fingerprint/naming"
	"github.com/slipway-qa/slipway/worker/crash/fingerprint/scan"
)

// isNativeSystemName is IsSystemName for native code: functions of the languages'
// runtimes and libraries, by their namespace or their name, since a program that
// is linked statically, or runs under a sanitizer, has them in its own module.
func isNativeSystemName(name string) bool {
	if name == "" {
		return false
	}
	if naming.IsCompilerHelper(name) || isLibraryFunction(name) || isSwiftStandard(name) {
		return true
	}
	switch name[0] {
	case 's':
		return scan.HasPrefixAny(name, "std::", "stdext::", "swift::")
	case 'c', 'a', 't', 'p':
		return scan.HasPrefixAny(name, "core::", "alloc::", "art::", "tokio::runtime::", "compiler_builtins::", "proc_macro::",
			"absl::container_internal::")
	case '<':
		if typ, trait, ok := strings.Cut(name[1:], " as "); ok {
			// The type of an implementation decides; that of a trait of the
			// library for a type without a path (a parameter, a number) too.
			typ = strings.TrimPrefix(strings.TrimLeft(typ, "&*"), "mut ")
			typ = strings.TrimPrefix(typ, "dyn ")
			return scan.HasPrefixAny(typ, "core::", "alloc::", "std::") || !strings.Contains(typ, "::") &&
				scan.HasPrefixAny(trait, "core::", "alloc::", "std::")
		}
		return scan.HasPrefixAny(name, "<core::", "<alloc::", "<std::")
	case 'o':
		return scan.HasPrefixAny(name, "operator new", "operator delete", "objc_", "outlined ")
	case '_':
		return scan.HasPrefixAny(name, "__gnu_cxx::", "__cxxabiv1::", "__libc_", "__GI_", "__interceptor_", "___interceptor_",
			"__asan", "__msan", "__tsan", "__ubsan", "__sanitizer", "__hwasan", "__lsan", "__afl_", "_IO_", "__IO_",
			"_objc_", "__objc_", "_dispatch_", "_Block_", "_os_", "_platform_", "__CF", "_CF", "___CF", "__NS", "_NS",
			"_UI", "__UI", "_pthread_", "__pthread_", "_dl_", "__gthread_",
			"__mem", "__str", "__rust_", "__rdl_", "__rg_", "_int_", "__cxa_", "_Unwind_", "__vfprintf", "__vsnprintf",
			"__wrap_mem", "__wrap_str", "__wcs", "__lll_", "___pthread_", "__kernel_", "__vdso_", "__memcpy", "_mi_",
			"__syscall", "___asan", "__fortify", "__wrap_iter")
	case 'S':
		return scan.HasPrefixAny(name, "Swift.", "Swift::", "Stdlib__", "Stdlib.")
	case '-', '+':
		return isAppleClass(name)
	case 'f':
		return strings.HasPrefix(name, "fuzzer::")
	case 'R':
		return scan.HasPrefixAny(name, "RtlpAllocate", "RtlpFree", "RtlAllocate", "RtlFree", "RtlEnter", "RtlLeave", "RtlpHeap")
	case 'B', 'L':
		return scan.HasPrefixAny(name, "Base__", "Lwt__", "Lwt_main.") // OCaml's
	case 'C':
		return scan.HasPrefixAny(name, "CamlinternalOO.", "CamlinternalLazy.", "CamlinternalFormat.", "Core__", "CFRelease",
			"CFRetain", "CFRunLoop", "CFArray", "CFDictionary", "CFString")
	}
	return false
}

// isAppleClass reports whether a method is of one of the private classes of Apple's
// frameworks. That of a public class can stand in a category of the application,
// so that its library decides.
func isAppleClass(method string) bool {
	return scan.HasPrefixAny(method[1:], "[__NS", "[_NS", "[_UI", "[__UI", "[__CF", "[_WK", "[OS_")
}

// isLibraryFunction reports whether a name is of a function of the C library or of
// its like that no application defines: the common words among them (read, open,
// send) are no proof.
func isLibraryFunction(name string) bool {
	switch name {
	case "malloc", "calloc", "realloc", "free", "cfree", "reallocarray", "memalign", "aligned_alloc", "posix_memalign",
		"malloc_consolidate", "sysmalloc", "unlink_chunk", "memcpy", "memmove", "memset", "memcmp", "memchr", "memrchr",
		"mempcpy", "bcopy", "bzero", "memmem", "rawmemchr",
		"strlen", "strnlen", "strcpy", "strncpy", "stpcpy", "stpncpy", "strcat", "strncat", "strcmp", "strncmp",
		"strcasecmp", "strncasecmp", "strchr", "strrchr", "strchrnul", "strstr", "strcasestr", "strtok", "strtok_r",
		"strsep", "strdup", "strndup", "strspn", "strcspn", "strpbrk", "strcoll", "strlcpy", "strlcat",
		"strtol", "strtoul", "strtoll", "strtoull", "strtod", "strtof", "strtold", "atoi", "atol", "atoll", "atof",
		"wcslen", "wcscpy", "wcsncpy", "wcscat", "wcscmp", "wmemcpy", "wmemset", "mbstowcs", "wcstombs", "printf",
		"vprintf", "fprintf", "vfprintf", "sprintf", "vsprintf", "snprintf", "vsnprintf", "asprintf", "vasprintf",
		"dprintf", "scanf", "sscanf", "fscanf", "vsscanf", "vfscanf", "__isoc99_sscanf", "__isoc23_sscanf", "__isoc99_scanf",
		"__isoc99_fscanf", "__isoc23_fscanf", "__isoc23_strtol", "fopen", "fopen64", "fclose", "fread", "fwrite", "fgets", "fputs",
		"fputc", "fgetc", "getline", "getdelim", "fseek", "ftell", "fflush", "setvbuf", "qsort", "bsearch", "msort_with_tmp",
		"msort_with_tmp.part", "qsort_r", "getenv", "setenv", "localtime", "localtime_r", "gmtime", "gmtime_r", "mktime",
		"strftime", "strerror", "perror", "opendir", "readdir", "closedir", "getaddrinfo", "freeaddrinfo", "gethostbyname",
		"mmap", "munmap", "mprotect", "setjmp", "longjmp", "siglongjmp", "__longjmp_chk", "dlopen", "dlsym", "dlclose",
		"pthread_create", "pthread_join", "pthread_mutex_lock", "pthread_mutex_unlock", "pthread_mutex_trylock",
		"pthread_mutex_destroy", "pthread_cond_wait", "pthread_cond_timedwait", "pthread_cond_signal", "pthread_cond_broadcast",
		"pthread_rwlock_rdlock", "pthread_rwlock_wrlock", "pthread_once", "pthread_getspecific", "pthread_setspecific",
		"pthread_exit", "pthread_cancel", "sem_wait", "sem_post",
		"nanosleep", "clock_nanosleep", "usleep", "epoll_wait", "epoll_pwait", "syscall", "getpid", "ioctl", "sendmsg",
		"recvmsg", "sendto", "recvfrom", "getsockopt", "setsockopt", "memcpy_s", "memmove_s", "strcpy_s", "strncpy_s",
		"sprintf_s", "_free_base", "_malloc_base", "_free_dbg", "_malloc_dbg", "free_dbg", "heap_free_dbg", "HeapFree",
		"HeapAlloc", "lstrcpyA", "lstrcpyW",
		"EnterCriticalSection", "LeaveCriticalSection", "WaitForSingleObject", "WaitForSingleObjectEx", "WaitForMultipleObjects",
		"NtWaitForSingleObject", "ZwWaitForSingleObject", "DispatchMessageW", "DispatchMessageA", "GetMessageW",
		"UserCallWinProcCheckWow", "DispatchMessageWorker", "CallWindowProcW", "SendMessageW",
		"objc_msgSend", "objc_retain", "objc_release", "swift_retain", "swift_release", "dispatch_async", "dispatch_sync",
		"dispatch_once", "mach_msg_trap", "mach_msg", "mach_msg2_trap", "UIApplicationMain", "NSApplicationMain",
		"GSEventRunModal", "GSEventRun", "rust_eh_personality", "_start", "main_thread_start",
		"g_malloc", "g_free", "g_strdup", "g_main_context_dispatch", "g_main_loop_run", "g_main_context_iteration",
		"g_closure_invoke", "g_signal_emit", "g_signal_emit_valist", "g_signal_emitv", "je_malloc", "je_free", "tc_malloc",
		"tc_free", "mi_malloc", "mi_free", "dlmalloc", "dlfree", "emscripten_builtin_malloc", "emscripten_builtin_free":
		return true
	}
	return false
}

// isNativeSystemFile decides by the folder of the source file, the folder of the
// library, and the names of the platforms' libraries.
func isNativeSystemFile(sourcePath, library string) bool {
	if scan.HasPrefixAny(sourcePath, "/rustc/", "/usr/include/", "/build/glibc", "/usr/lib/", "./nptl/", "./stdlib/", "./csu/",
		"../sysdeps/", "./string/", "./malloc/", "./libio/", "./stdio-common/", "./debug/", "./elf/", "./signal/",
		"./time/", "./misc/", "./posix/", "./assert/", "./io/../sysdeps", "../nptl/", "../csu/", "../stdlib/", "../string/",
		"../malloc/", "../elf/",
		"/usr/src/debug/glibc", "/usr/src/debug/gcc", "/build/gcc", "../../../../src/libsanitizer", "../../../../libsanitizer",
		"../../../src/libsanitizer", "../../../../../src/libsanitizer", "/usr/include/c++", "/usr/local/include/c++",
		"/opt/gcc", "library/std/src/", "library/core/src/", "library/alloc/src/", "library/panic_unwind/", "libraries/base/",
		"libraries/containers/", "libraries/ghc-", "libraries/text/", "libraries/bytestring/", "minkernel\\", "onecore\\",
		"onecoreuap\\", "internal\\sdk\\", "/Applications/Xcode", "/AppleInternal/", "/Library/Developer/") ||
		scan.IsOneOf(sourcePath, "<compiler-generated>", "/<compiler-generated>", "<stdin>", "<built-in>") ||
		scan.ContainsAny(filename.Tail(sourcePath), "/.cargo/registry/", "/.cargo/git/checkouts/", "/.rustup/toolchains/",
			`\.cargo\registry\`, `\.rustup\toolchains\`, "/compiler-rt/lib/", "/libsanitizer/", "/llvm-project/",
			`\vctools\`, `\VC\Tools\MSVC\`, `\crt\src\`, `\ucrt\`, "/include/c++/", "/bits/stl_", "/libstdc++-v3/",
			"/libcxx/include/", "/sysdeps/", `\minkernel\`) {
		return true
	}
	if library == "" {
		return false
	}
	if scan.HasPrefixAny(library, "/usr/lib", "/lib/", "/lib64/", "/lib32/", "/libx32/", "/system/", "/apex/", "/vendor/lib",
		"/system_ext/", "/product/lib", "/odm/lib", "/System/Library/", "/System/iOSSupport/", "/Library/Apple/",
		"linux-vdso", "[vdso]", "[vdso32]", "[vectors]", "linux-gate", "/data/misc/apexdata", "/gnu/store/", "/usr/libexec/",
		"/private/preboot/Cryptexes/", "/Developer/") ||
		scan.ContainsAny(filename.Tail(library), ".simruntime/", "/iOS DeviceSupport/", "/Xcode.app/", "/usr/lib/swift/") {
		return true
	}
	if i := strings.Index(library, ".so."); i > 0 && !strings.ContainsAny(library, `/\`) &&
		scan.IsDigit(library[min(i+len(".so."), len(library)-1)]) {
		return true // a shared library with its version: one that is installed
	}
	base := strings.ToLower(filename.Library(library))
	if lower := strings.ToLower(scan.Truncate(library, 24)); scan.HasPrefixAny(lower, `c:\windows\`, `c:/windows/`, `\systemroot\`,
		`\windows\`, `d:\windows\`) {
		return true
	}
	if strings.HasPrefix(base, "lib") {
		if strings.HasSuffix(base, ".dylib") && !strings.ContainsAny(library, `/\`) {
			return true // in a report of Apple's, where an application's own are frameworks
		}
		stem := base[3:]
		if i := strings.IndexAny(stem, ".-"); i >= 0 {
			stem = stem[:i]
		}
		switch stem {
		case "c", "m", "dl", "rt", "pthread", "stdc++", "gcc_s", "c++", "c++abi", "c++_shared", "objc", "dispatch",
			"system_c", "art", "android_runtime", "utils", "binder", "hwui", "log", "unwind", "asan", "ubsan", "tsan",
			"msan", "lsan", "hwasan", "gobject", "glib", "gtk", "x11", "xcb", "system", "dyld", "nss_files", "resolv", "anl", "util", "gomp", "omp",
			"atomic", "crypt", "z", "dbus", "gio", "gmodule", "gdk_pixbuf", "wayland", "egl", "glesv2", "glesv1_cm",
			"gui", "ui", "cutils", "base", "backtrace", "unwindstack", "androidfw", "android", "artbase", "sigchain",
			"dexfile", "nativeloader", "openjdk", "javacore", "jvm", "vulkan", "gl", "glx", "drm", "musl", "backtracerecording",
			"mainthreadchecker", "xpc", "stdc", "ld", "nativebridge", "memunreachable", "c_malloc_debug", "sqlite",
			"sqlite3", "xml2", "xslt", "curl", "ssl", "crypto", "nghttp2", "bz2", "lzma", "zstd", "lz4", "archive",
			"iconv", "jpeg", "png16", "png", "turbojpeg", "freetype", "fontconfig", "harfbuzz", "pango", "cairo", "uv",
			"protobuf", "aaudio_internal", "audioclient", "wilhelm", "media", "stagefright", "camera_client", "sensor":
			return true
		}
		return scan.HasPrefixAny(stem, "system_", "swift", "asan", "nativehelper", "clang_rt", "gtk", "webkit2gtk", "nvidia", "stdc++", "icu")
	}
	base = strings.TrimSuffix(strings.TrimSuffix(base, ".dll"), ".exe")
	switch base {
	case "ntdll", "kernel32", "kernelbase", "ucrtbase", "ucrtbased", "msvcrt", "user32", "win32u", "gdi32", "gdi32full",
		"combase", "ole32", "oleaut32", "rpcrt4", "advapi32", "sechost", "ws2_32", "clr", "coreclr", "mscorwks", "shell32",
		"shlwapi", "comctl32", "comdlg32", "d3d9", "d3d11", "d3d12", "d3d10warp", "dxgi", "opengl32", "wow64", "wow64cpu",
		"wow64win", "bcrypt", "bcryptprimitives", "crypt32", "winhttp", "wininet", "mswsock", "dbghelp", "verifier",
		"apphelp", "imm32", "uxtheme", "dwmapi", "setupapi", "cfgmgr32", "winmm", "dsound", "xaudio2_9", "propsys",
		"windows.storage", "coremessaging", "msctf", "mfc140u", "mfc140", "concrt140", "nvoglv64", "nvwgf2umx", "nvd3dumx",
		"atidxx64", "igd10iumd64", "ntoskrnl", "mscoree",
		"dyld", "dyld_sim", "corefoundation", "foundation", "uikit", "uikitcore", "appkit", "graphicsservices", "hitoolbox",
		"quartzcore", "cfnetwork", "coredata", "swiftui", "swiftuicore", "libdyld.dylib", "app_process", "app_process32",
		"app_process64", "[vdso]", "coregraphics", "coretext", "coreanimation", "coreui", "webkit", "webcore",
		"javascriptcore", "metal", "metalperformanceshaders", "avfoundation", "avfaudio", "coreaudio", "audiotoolbox",
		"corelocation", "corebluetooth", "coremedia", "corevideo", "imageio", "iokit", "security", "network", "skylight",
		"scenekit", "spritekit", "mapkit", "storekit", "usernotifications", "combine", "attributegraph", "frontboardservices",
		"backboardservices", "runningboardservices", "uifoundation", "glkit", "opengles", "coreimage", "corefoundation.framework",
		"libobjc.a.dylib", "linker", "swiftdata", "photosui", "photos", "avkit", "vision", "coreml", "arkit", "realitykit",
		"healthkit", "corespotlight", "cloudkit", "watchconnectivity", "widgetkit", "contacts", "eventkit", "gamekit", "passkit", "coremotion", "multipeerconnectivity", "networkextension", "pdfkit", "quicklook", "safariservices", "authenticationservices", "localauthentication", "systemconfiguration", "accelerate", "vimage", "mediaplayer", "mobilecoreservices", "textinput", "uikitmacos", "corewlan", "observation", "_concurrency", "libdispatch", "sqlite3", "qt5core", "qt6core", "qt5gui", "qt6gui", "qt5widgets", "qt6widgets", "qtcore", "qtgui", "qtwidgets":
		return true
	}
	return scan.HasPrefixAny(base, "msvcp", "vcruntime", "msvcr1", "api-ms-win", "ext-ms-", "ld-linux", "ld-musl", "ld-2",
		"linker64", "clang_rt.", "asan_clang", "agxmetal", "libsystem", "libswift")
}
