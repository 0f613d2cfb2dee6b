package native

import (
	"strings"

	"github.com/ianlancetaylor/demangle"
)

const (
	// maxMangled bounds the names that are demangled: a name's clear form may be as long as
	// the power of it, and the time with it. Longer ones stay as they are.
	maxMangled = 16 << 10
	// maxDemangled bounds the clear form, as a power of two.
	maxDemangled = 16
)

// Demangle returns a C++ or Rust name as it is written in the source, with parameters
// (C++) and without the hash (Rust); other names, Swift's among them, as they are.
func Demangle(name string) string {
	if !mangled(name) || len(name) > maxMangled {
		return name
	}
	text := name
	if strings.HasPrefix(text, "__Z") || strings.HasPrefix(text, "__R") {
		text = text[1:] // Mach-O adds an underscore to each name
	}
	clear, err := demangle.ToString(text, demangle.LLVMStyle, demangle.MaxLength(maxDemangled))
	if err != nil {
		return name
	}
	return clear
}

// mangled reports whether a name may be one that Demangle changes.
func mangled(name string) bool {
	rest := strings.TrimLeft(name, "_")
	underscores := len(name) - len(rest)
	return underscores > 0 && underscores <= 4 && rest != "" && (rest[0] == 'Z' || rest[0] == 'R')
}
