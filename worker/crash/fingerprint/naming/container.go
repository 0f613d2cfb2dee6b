package naming

import (
	"strings"

	"github.com/slipway-qa/slipway/worker/crash/fingerprint/filename"
	"github.com/slipway-qa/slipway/worker/crash/fingerprint/language"
	"github.com/slipway-qa/slipway/worker/crash/fingerprint/scan"
)

// Some names are not those of a function: a symbol that stands for a whole section or a
// stripped module, and a function that is known by its number alone. There the number is what
// tells two places apart, and stays.
//
//	_kDartIsolateSnapshotInstructions+0x1e26d7   a Flutter application that was built for release
//	wasm-function[42]                            WebAssembly without a name section

// maxFunctionSize is the largest offset that can be within one function. With a larger one the
// name is that of the nearest symbol before it, which a stripped library has anywhere.
const maxFunctionSize = 1 << 20

// isSectionSymbol reports whether a symbol stands for all code of a module.
func isSectionSymbol(name string) bool {
	name = strings.TrimLeft(name, "_")
	if rest, ok := strings.CutPrefix(name, "kDart"); ok {
		return strings.Contains(rest, "Snapshot")
	}
	return scan.IsOneOf(name, "mh_execute_header", "mh_dylib_header", "mh_bundle_header", "executable_start", "ehdr_start", "ImageBase",
		"text_start")
}

// sectionOffset returns such a symbol with its offset in one spelling, and whether s is one.
func sectionOffset(s string) (string, bool) {
	i := strings.LastIndexByte(s, '+')
	if i <= 0 {
		return s, false
	}
	name := strings.TrimSpace(s[:i])
	offset, ok := scan.Address(strings.TrimSpace(s[i+1:]))
	if !ok || !IsPlainWord(name) || !isSectionSymbol(name) && offset < maxFunctionSize {
		return s, false
	}
	return name + "+0x" + scan.Hex(offset), true
}

// IsSectionOffset reports whether a normalized name is of that form.
func IsSectionOffset(name string) bool {
	i := strings.LastIndexByte(name, '+')
	return i > 0 && strings.HasPrefix(name[i:], "+0x")
}

// LoadOffset returns the module and the offset in it that stand where a function's name would be, as
// the reports of Apple's systems have them for code without symbols; "" for a name.
//
//	0x104a4c000 + 2023856, Shop + 2023856  ->  Shop+0x1ee1b0
func LoadOffset(name, library string) string {
	base, offset, ok := strings.Cut(name, " + ")
	if !ok || library == "" || offset == "" || len(offset) > 20 || !scan.AllDigits(offset) {
		return ""
	}
	module := filename.Library(library)
	if base != module && (!strings.HasPrefix(base, "0x") || !scan.AllHex(base[2:])) {
		return ""
	}
	value, ok := scan.Address(offset)
	if !ok {
		return ""
	}
	return module + "+0x" + scan.Hex(value)
}

// wasmIndex returns a function of WebAssembly that is known by its number, without the module
// before it and the offset in the module after it, and whether s is one. Safari writes a name
// where others have the number: then the name alone stays.
//
//	app.wasm.wasm-function[42]:0x1a2b  ->  wasm-function[42]
//	<?>.wasm-function[draw]            ->  draw
func wasmIndex(s string) (string, bool) {
	i := strings.Index(s, language.WasmFunction)
	if i < 0 || i > 0 && scan.IsIdent(s[i-1]) {
		return s, false
	}
	rest := s[i+len(language.WasmFunction):]
	n := scan.CountDigits(rest)
	if name, _, ok := strings.Cut(rest, "]"); ok && n == 0 && IsPlainWord(name) {
		return name, true
	}
	if n == 0 || n == len(rest) || rest[n] != ']' {
		return s, false
	}
	return s[i : i+len(language.WasmFunction)+n+1], true
}

// WasmModule returns the name of a module, "" where an engine knows only its hash.
func WasmModule(file string) string {
	if i := strings.Index(file, ":wasm-function"); i >= 0 {
		file = file[:i]
	}
	if rest, ok := strings.CutPrefix(file, "wasm://wasm/"); ok {
		name, _, _ := strings.Cut(rest, ":")
		if i := strings.LastIndexByte(name, '-'); i > 0 {
			return name[:i] + ".wasm" // name-hash
		}
		return ""
	}
	_, base, _ := filename.Split(file)
	return base
}
