// Package symbol is the common ground of symbol files: their kinds, their
// identifiers, and the container of the compact index that each one is parsed into.
//
// A symbol file is parsed once, in a child process, and what its kind needs for
// lookups is written as an index: a container of named sections (container.go) whose
// content belongs to the package of the kind: proguard, sourcemap and native below
// this folder. Readers take ranges of it through an io.ReaderAt, so that the
// bytes may be in memory, in a folder, or in an object store behind a cache.
//
// Files from outside are hostile. Whatever is wrong with one is an *InvalidError,
// whose reason is meant for the person who uploaded it.
//
// The package is a leaf: it knows nothing of where the bytes are.
package symbol

import (
	"fmt"
	"strings"
)

// Kind is what a symbol file is.
type Kind string

// The kinds.
const (
	ProGuard  Kind = "proguard"  // a mapping of ProGuard or R8
	SourceMap Kind = "sourcemap" // a source map
	Source    Kind = "source"    // a minified script or a source text
	Breakpad  Kind = "breakpad"  // a .sym file
	ELF       Kind = "elf"
	MachO     Kind = "macho"
	PE        Kind = "pe"
	PDB       Kind = "pdb"
	Wasm      Kind = "wasm" // a module of WebAssembly
	// PortablePDB is the debug information of .NET.
	PortablePDB Kind = "portable_pdb"
)

// Native reports whether addresses are looked up in files of the kind.
func (k Kind) Native() bool {
	switch k {
	case Breakpad, ELF, MachO, PE, PDB, Wasm, PortablePDB:
		return true
	}
	return false
}

// IdentifierType says what kind of name an identifier is.
type IdentifierType string

// The types of identifiers. Their values are normalized by Normalize.
const (
	// DebugID names the debug information of a native module as Breakpad does: 32
	// hexadecimal digits in upper case and the age in hexadecimal, in lower case.
	DebugID IdentifierType = "debug_id"
	// CodeID names the code file of a native module: an ELF build id or a Mach-O UUID
	// in lower-case hexadecimal; of a PE its time stamp (8 digits) and image size.
	CodeID IdentifierType = "code_id"
	// BuildID is the ELF build id, in lower-case hexadecimal: the name in debuginfod.
	BuildID IdentifierType = "build_id"
	// MappingID is the id of a ProGuard or R8 mapping: its pg_map_id or pg_map_hash, or
	// the symbolication_id or UUID that whoever uploaded it named.
	MappingID IdentifierType = "mapping_id"
	// ScriptID is the debugId of a source map: a UUID in lower case with dashes.
	ScriptID IdentifierType = "debugId"
	// URL names a script or a source map by the address that stack traces have it
	// under, or by "~/" and its path, within a release.
	URL IdentifierType = "url"
)

// maxValue bounds the value of an identifier, in bytes.
const maxValue = 2048

// Identifier is a name by which a crash finds a symbol file.
type Identifier struct {
	Type IdentifierType `json:"type"`
	// Value is the name.
	Value string `json:"value"`
	// Release restricts a URL to a version of the application; "" for other types, and for
	// a URL that holds for every release.
	Release string `json:"release,omitempty"`
}

// Normalize returns the identifier in the one spelling in which it is stored and
// looked for; false when its value cannot be one of its type.
func (id Identifier) Normalize() (Identifier, bool) {
	value := strings.TrimSpace(id.Value)
	if value == "" || len(value) > maxValue || strings.ContainsRune(value, 0) {
		return id, false
	}
	ok := true
	switch id.Type {
	case DebugID:
		value, ok = debugID(value)
	case CodeID, BuildID:
		value = strings.ToLower(strings.ReplaceAll(value, "-", ""))
		ok = isHex(value) && len(value) >= 8 && len(value) <= 128
	case ScriptID:
		value, ok = uuidText(value)
	case MappingID:
		value = strings.ToLower(value)
	}
	return Identifier{Type: id.Type, Value: value, Release: strings.TrimSpace(id.Release)}, ok
}

// debugID reads the spellings of a debug id: Breakpad's (33 digits or more), a UUID with
// or without dashes (age 0), and a UUID with "-" and the age.
func debugID(text string) (string, bool) {
	plain := strings.Trim(text, "{}")
	age := "0"
	if len(plain) > 36 && plain[8] == '-' && plain[36] == '-' {
		plain, age = plain[:36], plain[37:]
	}
	plain = strings.ReplaceAll(plain, "-", "")
	if len(plain) > 32 {
		plain, age = plain[:32], plain[32:]
	}
	age = strings.TrimLeft(strings.ToLower(age), "0")
	if age == "" {
		age = "0"
	}
	if len(plain) != 32 || !isHex(plain) || !isHex(age) || len(age) > 8 {
		return "", false
	}
	return strings.ToUpper(plain) + age, true
}

// uuidText reads a UUID in any spelling and returns it in lower case with dashes.
func uuidText(text string) (string, bool) {
	plain := strings.ToLower(strings.ReplaceAll(strings.Trim(text, "{}"), "-", ""))
	if len(plain) != 32 || !isHex(plain) {
		return "", false
	}
	return plain[:8] + "-" + plain[8:12] + "-" + plain[12:16] + "-" + plain[16:20] + "-" + plain[20:], true
}

func isHex(text string) bool {
	for i := range len(text) {
		c := text[i] | 0x20
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return text != ""
}

// InvalidError is what is wrong with a symbol file.
type InvalidError struct {
	// Code names the reason for programs: truncated, cyclic, too_large, unsupported,
	// malformed, timeout, internal.
	Code string
	// Reason says it for the person who uploaded the file.
	Reason string
}

func (e *InvalidError) Error() string { return e.Reason }

// The codes of an InvalidError.
const (
	Truncated   = "truncated"
	Cyclic      = "cyclic"
	TooLarge    = "too_large"
	Unsupported = "unsupported"
	Malformed   = "malformed"
	// Timeout: reading the file takes too long. Internal: its reader crashed.
	Timeout  = "timeout"
	Internal = "internal"
)

// Invalid returns an *InvalidError.
func Invalid(code, format string, args ...any) error {
	return &InvalidError{Code: code, Reason: fmt.Sprintf(format, args...)}
}
