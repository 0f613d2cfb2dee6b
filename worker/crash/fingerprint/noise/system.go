package noise

import (
	"strings"

	"github.com/slipway-qa/slipway/worker/crash/fingerprint/filename"
	"github.com/slipway-qa/slipway/worker/crash/fingerprint/language"
	"github.com/slipway-qa/slipway/worker/crash/fingerprint/scan"
)

// A frame is a system frame when it belongs to the platform or to a library
// that the application uses, and not to the application itself.
//
// Third-party packages (node_modules, site-packages, gems, vendor, the Go
// module cache, Spring and its like) count as libraries: an update of one
// renames its inner functions, and the application's own frames show where
// the error comes from. When no frame is the application's, all count.

// IsSystemName reports whether a frame is a system frame by its normalized name:
// its package, namespace or import path.
func IsSystemName(f language.Family, name string) bool {
	switch f {
	case language.JVM:
		return isJavaLibrary(name)
	case language.JS:
		return isJSSystemName(name)
	case language.DotNet:
		return isDotNetLibrary(name)
	case language.PHP:
		return isPHPSystemName(name)
	case language.Ruby:
		return isRubySystemName(name)
	case language.Elixir:
		return isElixirLibrary(name)
	case language.Go:
		return isGoStandard(name)
	case language.Native, language.Unknown:
		return isNativeSystemName(name)
	}
	return false
}

// IsSystemFile reports whether a frame is a system frame by its source path and
// its library, as submitted.
func IsSystemFile(f language.Family, sourcePath, library string) bool {
	file := filename.Location(sourcePath, library)
	switch f {
	case language.JS:
		return isJSSystemFile(file)
	case language.Python:
		return isPythonSystemFile(file)
	case language.Ruby:
		return isRubySystemFile(file)
	case language.PHP:
		return isPHPSystemFile(file)
	case language.Dart:
		return isDartSystemFile(file)
	case language.Elixir:
		return strings.HasPrefix(file, "deps/") || scan.ContainsAny(filename.Tail(file), "/deps/", "/lib/elixir/")
	case language.Go:
		return scan.ContainsAny(filename.Tail(file), "/pkg/mod/", "/vendor/", "/usr/local/go/src/", "/usr/lib/go")
	case language.Native, language.Unknown:
		return isNativeSystemFile(sourcePath, library)
	}
	return false
}
