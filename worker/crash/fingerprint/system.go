package fingerprint

import "strings"

// A frame is a system frame when it belongs to the platform or to a library
// that the application uses, and not to the application itself.
//
// Third-party packages (node_modules, site-packages, gems, vendor, the Go
// module cache, Spring and its like) count as libraries: an update of one
// renames its inner functions, and the application's own frames show where
// the error comes from. When no frame is the application's, all count.

// isSystemName reports whether a frame is a system frame by its normalized name:
// its package, namespace or import path.
func isSystemName(f family, name string) bool {
	switch f {
	case familyJVM:
		return isJavaLibrary(name)
	case familyJS:
		return name == "processTicksAndRejections" || name == "__webpack_require__"
	case familyDotNet:
		return hasPrefixAny(name, "System.", "Microsoft.", "Mono.", "MS.", "Windows.", "Internal.", "UnityEngine.", "UnityEditor.", "Unity.", "Interop.", "FSharp.", "Xamarin.", "Java.Interop.", "Android.", "UIKit.", "Foundation.", "ObjCRuntime.")
	case familyGo:
		return isGoStandard(name)
	case familyNative, familyUnknown:
		return name != "" && strings.IndexByte("sca<_S", name[0]) >= 0 && hasPrefixAny(name, "std::", "core::", "alloc::", "<core::", "<alloc::", "<std::", "<T as core::", "__gnu_cxx::", "__cxxabiv1::", "__libc_", "__GI_", "art::", "Swift.")
	}
	return false
}

// isJavaLibrary reports whether a class is of a library, by the first part of its
// package, and by the second where that is named after a domain.
func isJavaLibrary(name string) bool {
	first, rest, _ := strings.Cut(name, ".")
	switch first {
	case "java", "javax", "jdk", "sun", "android", "androidx", "dalvik", "libcore", "kotlin", "kotlinx", "scala", "groovy", "clojure", "jakarta", "reactor", "okhttp3", "okio", "retrofit2":
		return true
	case "com":
		return hasPrefixAny(rest, "sun.", "android.", "google.android.", "google.common.")
	case "org":
		return hasPrefixAny(rest, "apache.", "codehaus.groovy.", "springframework.", "hibernate.", "junit.", "eclipse.jetty.")
	case "io":
		return hasPrefixAny(rest, "netty.", "reactivex.")
	}
	return false
}

// isGoStandard reports whether a function is of the standard library, whose import
// paths begin with a known word without a dot.
func isGoStandard(name string) bool {
	end := strings.IndexAny(name, "./")
	if end < 0 {
		return false
	}
	switch name[:end] {
	case "archive", "bufio", "bytes", "cmp", "compress", "container", "context", "crypto", "database", "debug", "embed", "encoding", "errors", "expvar", "flag", "fmt", "go", "hash", "html",
		"image", "index", "internal", "io", "iter", "log", "maps", "math", "mime", "net", "os", "path", "plugin", "reflect", "regexp", "runtime", "slices", "sort", "strconv", "strings",
		"sync", "syscall", "testing", "text", "time", "unicode", "unique", "unsafe", "vendor", "weak":
		return true
	}
	return strings.HasPrefix(name, "golang.org/x/")
}

// isSystemFile reports whether a frame is a system frame by its source path and
// its library, as submitted.
func isSystemFile(f family, sourcePath, library string) bool {
	file := location(sourcePath, library)
	switch f {
	case familyJS:
		return hasPrefixAny(file, "node:", "internal/", "native ", "chrome-extension:", "moz-extension:", "safari-extension:", "safari-web-extension:", "webpack/bootstrap", "webpack/runtime") ||
			containsAny(pathTail(file), "node_modules/", `node_modules\`, "webpack/bootstrap", "webpack/runtime/", "/webpack-internal") ||
			file == "[native code]" || file == "native"
	case familyPython:
		return strings.HasPrefix(file, "<frozen ") || containsAny(pathTail(file), "site-packages/", "dist-packages/", `site-packages\`, "/lib/python2", "/lib/python3", `\lib\asyncio\`, `\lib\threading.py`, "/lib64/python", ".egg/")
	case familyRuby:
		return hasPrefixAny(file, "<internal:", "(eval") || containsAny(pathTail(file), "/gems/", "/lib/ruby/", "/rubygems/", "/bundler/")
	case familyPHP:
		return file == "[internal function]" || strings.HasPrefix(file, "vendor/") || containsAny(pathTail(file), "/vendor/", `\vendor\`, "phar://")
	case familyGo:
		return containsAny(pathTail(file), "/pkg/mod/", "/vendor/", "/usr/local/go/src/", "/usr/lib/go")
	case familyNative, familyUnknown:
		return isNativeSystemFile(sourcePath, library)
	}
	return false
}

// pathTail returns the part of a path that is searched.
func pathTail(file string) string {
	if len(file) > maxFile {
		return file[len(file)-maxFile:]
	}
	return file
}

// isNativeSystemFile decides by the folder of the source file, the folder of the
// library, and the names of the platforms' libraries.
func isNativeSystemFile(sourcePath, library string) bool {
	if hasPrefixAny(sourcePath, "/rustc/", "/usr/include/", "/build/glibc", "/usr/lib/", "./nptl/", "./stdlib/", "./csu/", "../sysdeps/") || strings.Contains(pathTail(sourcePath), "/.cargo/registry/") {
		return true
	}
	if library == "" {
		return false
	}
	if hasPrefixAny(library, "/usr/lib", "/lib/", "/lib64/", "/lib32/", "/system/", "/apex/", "/vendor/lib", "/System/Library/", "/Library/Apple/", "linux-vdso", "[vdso]", "linux-gate") {
		return true
	}
	base := strings.ToLower(libraryName(library))
	if hasPrefixAny(strings.ToLower(truncate(library, 16)), `c:\windows\`) {
		return true
	}
	if strings.HasPrefix(base, "lib") {
		stem := base[3:]
		if i := strings.IndexAny(stem, ".-"); i >= 0 {
			stem = stem[:i]
		}
		switch stem {
		case "c", "m", "dl", "rt", "pthread", "stdc++", "gcc_s", "c++", "c++abi", "c++_shared", "objc", "dispatch", "system_c", "art", "android_runtime", "utils", "binder", "hwui", "log", "unwind", "asan", "ubsan", "tsan", "swiftcore", "gobject", "glib", "gtk", "x11", "xcb":
			return true
		}
		return hasPrefixAny(stem, "system_", "swift", "asan", "nativehelper")
	}
	base = strings.TrimSuffix(strings.TrimSuffix(base, ".dll"), ".exe")
	switch base {
	case "ntdll", "kernel32", "kernelbase", "ucrtbase", "ucrtbased", "msvcrt", "user32", "win32u", "gdi32", "combase", "ole32", "oleaut32", "rpcrt4", "advapi32", "sechost", "ws2_32", "clr", "coreclr", "mscorwks", "shell32", "comctl32", "d3d11", "dxgi", "wow64", "wow64cpu",
		"dyld", "dyld_sim", "corefoundation", "foundation", "uikit", "uikitcore", "appkit", "graphicsservices", "hitoolbox", "quartzcore", "cfnetwork", "coredata", "swiftui", "libdyld.dylib", "app_process", "app_process32", "app_process64", "[vdso]":
		return true
	}
	return hasPrefixAny(base, "msvcp", "vcruntime", "msvcr1", "api-ms-win", "ld-linux", "ld-musl", "ld-2", "linker64")
}
