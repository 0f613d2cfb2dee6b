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
		return isJSSystemName(name)
	case familyDotNet:
		return isDotNetLibrary(name)
	case familyPHP:
		return isPHPSystemName(name)
	case familyRuby:
		return isRubySystemName(name)
	case familyElixir:
		return isElixirLibrary(name)
	case familyGo:
		return isGoStandard(name)
	case familyNative, familyUnknown:
		return isNativeSystemName(name)
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
	case "archive", "bufio", "bytes", "cmp", "compress", "container", "context", "crypto", "database", "debug", "embed",
		"encoding", "errors", "expvar", "flag", "fmt", "go", "hash", "html",
		"image", "index", "internal", "io", "iter", "log", "maps", "math", "mime", "net", "os", "path", "plugin",
		"reflect", "regexp", "runtime", "slices", "sort", "strconv", "strings",
		"sync", "syscall", "testing", "text", "time", "unicode", "unique", "unsafe", "vendor", "weak":
		return true
	}
	return isGoLibrary(name)
}

// isSystemFile reports whether a frame is a system frame by its source path and
// its library, as submitted.
func isSystemFile(f family, sourcePath, library string) bool {
	file := location(sourcePath, library)
	switch f {
	case familyJS:
		return isJSSystemFile(file)
	case familyPython:
		return isPythonSystemFile(file)
	case familyRuby:
		return isRubySystemFile(file)
	case familyPHP:
		return isPHPSystemFile(file)
	case familyDart:
		return isDartSystemFile(file)
	case familyElixir:
		return strings.HasPrefix(file, "deps/") || containsAny(pathTail(file), "/deps/", "/lib/elixir/")
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
