package fingerprint

import "strings"

// family is a set of languages whose function names are written alike. A new one is known by
// name (familyOf) and by its files (fileFamily), has rules for names (applyRules) and for what
// is a library's (isSystemName, isSystemFile), and says whether files count (withFiles). Its
// reports get other keys than before, so it raises Version.
type family uint8

const (
	familyUnknown family = iota
	familyNative         // C, C++, Rust, Swift, Objective-C
	familyJVM            // Java, Kotlin, Scala
	familyJS
	familyPython
	familyRuby
	familyPHP
	familyDotNet
	familyDart
	familyElixir // and Erlang
	familyGo
	familyCount // how many there are
)

// withFiles reports whether the file is part of a frame's text, because function
// names are short. Elsewhere the name already has its package, class or namespace.
func (f family) withFiles() bool {
	return f == familyJS || f == familyPython || f == familyRuby || f == familyPHP || f == familyDart
}

// isNative reports whether errors of the family are signals: a report whose
// language is not known is read as native.
func (f family) isNative() bool { return f == familyNative || f == familyUnknown }

// reportFamily reads the report's lang, then its agent: some clients send a
// lang of their own ("crashpad", "unity").
func reportFamily(lang, agent string) family {
	if f := familyOf(lang); f != familyUnknown {
		return f
	}
	return familyOf(agent)
}

// familyOf finds a language's name in a short text such as "C#", "nodejs" or
// "backtrace-python". Longer names are tried before those they contain.
func familyOf(text string) family {
	text = strings.ToLower(truncate(text, 64))
	switch text {
	case "c", "c++", "cpp", "cxx", "d", "zig", "objc", "rust", "swift", "wasm":
		return familyNative
	case "go", "golang":
		return familyGo
	case "js", "ts":
		return familyJS
	}
	switch {
	case containsAny(text, "dart", "flutter"):
		return familyDart
	case containsAny(text, "elixir", "erlang"):
		return familyElixir
	case containsAny(text, "javascript", "typescript", "node", "ecmascript", "browser", "react", "electron", "hermes",
		"deno", "angular", "vue"):
		return familyJS
	case containsAny(text, "java", "kotlin", "android", "dalvik", "scala", "groovy", "clojure", "jvm"):
		return familyJVM
	case containsAny(text, "python", "django", "flask"):
		return familyPython
	case containsAny(text, "ruby", "rails", "sinatra"):
		return familyRuby
	case containsAny(text, "php", "laravel", "symfony"):
		return familyPHP
	case containsAny(text, "csharp", "c#", "f#", "dotnet", ".net", "unity", "mono", "fsharp"):
		return familyDotNet
	case containsAny(text, "rust", "swift", "objective", "c++", "cpp", "native", "crashpad", "breakpad", "minidump", "cocoa", "unreal"):
		return familyNative
	case strings.HasPrefix(text, "go-"), strings.HasSuffix(text, "-go"), strings.Contains(text, "golang"):
		return familyGo
	}
	return familyUnknown
}

// frameFamily returns the language of one frame. Stacks are mixed (native
// frames in an Android or Unity report, JavaScript above native code), so the
// file or the library decides, then the report, then the shape of the name.
func frameFamily(reported, file family, name string) family {
	if isIL2CPP(name) {
		return familyDotNet
	}
	if reported == familyJS && isNativeInScript(name) {
		return familyNative
	}
	if file != familyUnknown {
		return file
	}
	if reported != familyUnknown {
		// Only these shapes mean the same in every report.
		if strings.HasPrefix(name, "-[") || strings.HasPrefix(name, "+[") || strings.HasPrefix(name, "_ZN") {
			return familyNative
		}
		return reported
	}
	switch {
	case strings.Contains(name, "$$Lambda"), strings.HasPrefix(name, "java."), strings.HasPrefix(name, "android."):
		return familyJVM
	case strings.Contains(name, ">d__"), strings.Contains(name, "<>c"), strings.HasPrefix(name, "System."):
		return familyDotNet
	case strings.Contains(name, ".(*"), strings.HasPrefix(name, "runtime."):
		return familyGo
	case strings.Contains(name, "@anonymous"), strings.HasSuffix(name, "{closure}") && strings.Contains(name, `\`):
		return familyPHP
	case strings.Contains(name, "<locals>"), strings.HasPrefix(name, "<") && containsAny(name, "<module>", "<lambda>", "comp>"):
		return familyPython
	case strings.HasPrefix(name, "Object."), strings.HasSuffix(name, "<anonymous>"):
		return familyJS
	}
	return familyNative
}

// isNativeInScript reports whether a function that a JavaScript engine shows is of C++ or Rust,
// compiled to WebAssembly: no name of JavaScript has a path with colons.
func isNativeInScript(name string) bool {
	if len(name) > maxName {
		name = name[:maxName]
	}
	return strings.Contains(name, "::") || hasPrefixAny(name, "_ZN", "_R") && len(name) > 8 || strings.Contains(name, wasmFunction)
}

// fileFamily reads a file name's extension.
func fileFamily(file string) family {
	if len(file) > 4096 {
		return familyUnknown
	}
	if strings.HasPrefix(file, "node:") {
		return familyJS
	}
	if isWasmFile(file) {
		return familyNative
	}
	if i := strings.IndexByte(file, '?'); i >= 0 {
		file = file[:i]
	}
	if strings.Contains(file, ".so.") {
		return familyNative
	}
	dot := strings.LastIndexByte(file, '.')
	if dot < 0 || len(file)-dot > 9 {
		return familyUnknown
	}
	switch file[dot+1:] {
	case "so", "dylib", "node", "c", "cc", "cpp", "cxx", "h", "hpp", "rs", "swift", "m", "mm":
		return familyNative
	case "java", "kt", "kts", "scala", "groovy", "clj", "cljc", "jar", "dex", "apk":
		return familyJVM
	case "js", "mjs", "cjs", "ts", "tsx", "jsx", "vue", "svelte", "bundle", "jsbundle":
		return familyJS
	case "py", "pyx", "pyc", "pyw", "ipynb":
		return familyPython
	case "rb", "erb", "haml", "slim", "rake":
		return familyRuby
	case "php", "phtml":
		return familyPHP
	case "cs", "fs", "vb", "razor", "cshtml":
		return familyDotNet
	case "dart":
		return familyDart
	case "ex", "exs", "erl":
		return familyElixir
	case "go":
		return familyGo
	}
	return familyUnknown
}

func containsAny(s string, parts ...string) bool {
	for _, p := range parts {
		if strings.Contains(s, p) {
			return true
		}
	}
	return false
}
