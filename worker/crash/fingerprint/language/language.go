// Package language says which family of languages a report, a file or a frame is of.
//
// A family has function names that are written alike. Stacks are mixed (native code below Java,
// JavaScript above C++), so each frame has its own: the file decides, then the report, then the
// shape of the name. What is of no known language is read as native code.
package language

import (
	"strings"

	"github.com/slipway-qa/slipway/worker/crash/fingerprint/scan"
)

// Family is a set of languages whose function names are written alike. A new one is known by
// name (familyOf) and by its files (OfFile), has rules for names (applyRules) and for what
// is a library's (IsSystemName, IsSystemFile), and says whether files count (withFiles). Its
// reports get other keys than before, so it raises Version.
type Family uint8

const (
	Unknown Family = iota
	Native         // C, C++, Rust, Swift, Objective-C
	JVM            // Java, Kotlin, Scala
	JS
	Python
	Ruby
	PHP
	DotNet
	Dart
	Elixir // and Erlang
	Go
	Count // how many there are
)

// WithFiles reports whether the file is part of a frame's text, because function
// names are short. Elsewhere the name already has its package, class or namespace.
func (f Family) WithFiles() bool {
	return f == JS || f == Python || f == Ruby || f == PHP || f == Dart
}

// IsNative reports whether errors of the family are signals: a report whose
// language is not known is read as native.
func (f Family) IsNative() bool { return f == Native || f == Unknown }

// OfReport reads the report's lang, then its agent: some clients send a
// lang of their own ("crashpad", "unity").
func OfReport(lang, agent string) Family {
	if f := familyOf(lang); f != Unknown {
		return f
	}
	return familyOf(agent)
}

// familyOf finds a language's name in a short text such as "C#", "nodejs" or
// "backtrace-python". Longer names are tried before those they contain.
func familyOf(text string) Family {
	text = strings.ToLower(scan.Truncate(text, 64))
	switch text {
	case "c", "c++", "cpp", "cxx", "d", "zig", "objc", "rust", "swift", "wasm":
		return Native
	case "go", "golang":
		return Go
	case "js", "ts":
		return JS
	}
	switch {
	case scan.ContainsAny(text, "dart", "flutter"):
		return Dart
	case scan.ContainsAny(text, "elixir", "erlang"):
		return Elixir
	case scan.ContainsAny(text, "javascript", "typescript", "node", "ecmascript", "browser", "react", "electron", "hermes",
		"deno", "angular", "vue"):
		return JS
	case scan.ContainsAny(text, "java", "kotlin", "android", "dalvik", "scala", "groovy", "clojure", "jvm"):
		return JVM
	case scan.ContainsAny(text, "python", "django", "flask"):
		return Python
	case scan.ContainsAny(text, "ruby", "rails", "sinatra"):
		return Ruby
	case scan.ContainsAny(text, "php", "laravel", "symfony"):
		return PHP
	case scan.ContainsAny(text, "csharp", "c#", "f#", "dotnet", ".net", "unity", "mono", "fsharp"):
		return DotNet
	case scan.ContainsAny(text, "rust", "swift", "objective", "c++", "cpp", "native", "crashpad", "breakpad", "minidump", "cocoa", "unreal"):
		return Native
	case strings.HasPrefix(text, "go-"), strings.HasSuffix(text, "-go"), strings.Contains(text, "golang"):
		return Go
	}
	return Unknown
}

// OfFrame returns the language of one frame. Stacks are mixed (native
// frames in an Android or Unity report, JavaScript above native code), so the
// file or the library decides, then the report, then the shape of the name.
func OfFrame(reported, file Family, name string) Family {
	if IsIL2CPP(name) {
		return DotNet
	}
	if reported == JS && isNativeInScript(name) {
		return Native
	}
	if file != Unknown {
		return file
	}
	if reported != Unknown {
		// Only these shapes mean the same in every report.
		if strings.HasPrefix(name, "-[") || strings.HasPrefix(name, "+[") || strings.HasPrefix(name, "_ZN") {
			return Native
		}
		return reported
	}
	switch {
	case strings.Contains(name, "$$Lambda"), strings.HasPrefix(name, "java."), strings.HasPrefix(name, "android."):
		return JVM
	case strings.Contains(name, ">d__"), strings.Contains(name, "<>c"), strings.HasPrefix(name, "System."):
		return DotNet
	case strings.Contains(name, ".(*"), strings.HasPrefix(name, "runtime."):
		return Go
	case strings.Contains(name, "@anonymous"), strings.HasSuffix(name, "{closure}") && strings.Contains(name, `\`):
		return PHP
	case strings.Contains(name, "<locals>"), strings.HasPrefix(name, "<") && scan.ContainsAny(name, "<module>", "<lambda>", "comp>"):
		return Python
	case strings.HasPrefix(name, "Object."), strings.HasSuffix(name, "<anonymous>"):
		return JS
	}
	return Native
}

// isNativeInScript reports whether a function that a JavaScript engine shows is of C++ or Rust,
// compiled to WebAssembly: no name of JavaScript has a path with colons.
func isNativeInScript(name string) bool {
	if len(name) > MaxName {
		name = name[:MaxName]
	}
	return strings.Contains(name, "::") || scan.HasPrefixAny(name, "_ZN", "_R") && len(name) > 8 || strings.Contains(name, WasmFunction)
}

// OfFile reads a file name's extension.
func OfFile(file string) Family {
	if len(file) > 4096 {
		return Unknown
	}
	if strings.HasPrefix(file, "node:") {
		return JS
	}
	if isWasmFile(file) {
		return Native
	}
	if i := strings.IndexByte(file, '?'); i >= 0 {
		file = file[:i]
	}
	if strings.Contains(file, ".so.") {
		return Native
	}
	dot := strings.LastIndexByte(file, '.')
	if dot < 0 || len(file)-dot > 9 {
		return Unknown
	}
	switch file[dot+1:] {
	case "so", "dylib", "node", "c", "cc", "cpp", "cxx", "h", "hpp", "rs", "swift", "m", "mm":
		return Native
	case "java", "kt", "kts", "scala", "groovy", "clj", "cljc", "jar", "dex", "apk":
		return JVM
	case "js", "mjs", "cjs", "ts", "tsx", "jsx", "vue", "svelte", "bundle", "jsbundle":
		return JS
	case "py", "pyx", "pyc", "pyw", "ipynb":
		return Python
	case "rb", "erb", "haml", "slim", "rake":
		return Ruby
	case "php", "phtml":
		return PHP
	case "cs", "fs", "vb", "razor", "cshtml":
		return DotNet
	case "dart":
		return Dart
	case "ex", "exs", "erl":
		return Elixir
	case "go":
		return Go
	}
	return Unknown
}

// MaxName is how many bytes of a submitted name are read.
const MaxName = 64 << 10

// isWasmFile reports whether a file is a module of WebAssembly, as browsers write it.
func isWasmFile(file string) bool {
	return strings.HasPrefix(file, "wasm://") || strings.Contains(file, ".wasm:") || strings.HasSuffix(file, ".wasm")
}

const WasmFunction = "wasm-function["

// IsIL2CPP reports whether Unity's compiler to C++ wrote a name: it ends with the
// method's hash.
func IsIL2CPP(name string) bool { return Il2cppStem(name) != "" }

// Il2cppStem returns a name without the hash at its end ("_m" and 8, 32 or 40
// hexadecimal digits), or "" when it has none.
func Il2cppStem(name string) string {
	if i := strings.IndexByte(name, '('); i > 0 {
		name = strings.TrimRight(name[:i], " ") // with the parameters of C++
		name = name[strings.LastIndexByte(name, ' ')+1:]
	}
	if name == "" {
		return ""
	}
	switch name[len(name)-1] {
	case 'd', 'e', 'k':
		for _, suffix := range [...]string{"_inline", "_gshared", "_AdjustorThunk"} {
			name = strings.TrimSuffix(name, suffix)
		}
	}
	for _, digits := range [...]int{40, 32, 8} {
		i := len(name) - digits - 2
		if i > 0 && name[i] == '_' && name[i+1] == 'm' {
			if hash := name[i+2:]; scan.AllHex(hash) && strings.ToUpper(hash) == hash {
				return name[:i]
			}
		}
	}
	return ""
}
