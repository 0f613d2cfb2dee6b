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

// Demangle returns a name of C++, Rust, OCaml or Nim as it is written in the source, with parameters
// (C++) and without the hash (Rust); other names, Swift's among them, as they are.
func Demangle(name string) string {
	if len(name) > maxMangled {
		return name
	}
	if !mangled(name) {
		return demangleC(name)
	}
	text := name
	if strings.HasPrefix(text, "__Z") || strings.HasPrefix(text, "__R") {
		text = text[1:] // Mach-O adds an underscore to each name
	}
	if strings.HasPrefix(text, "_R") {
		text, _, _ = strings.Cut(text, ".llvm.") // a number that changes with each build
	}
	clear, err := demangle.ToString(text, demangle.LLVMStyle, demangle.MaxLength(maxDemangled))
	if err != nil {
		return name
	}
	return clear
}

// demangleC returns the name of a function in OCaml or Nim, whose compilers have names of C.
func demangleC(name string) string {
	if clear, ok := ocamlName(name); ok {
		return clear
	}
	if clear, ok := nimName(name, false); ok {
		return clear
	}
	return name
}

// decorated reports whether a name may be one that Demangle changes.
func decorated(name string) bool {
	return mangled(name) || strings.Contains(name, "__") || strings.HasPrefix(strings.TrimPrefix(name, "_"), "caml")
}

// mangled reports whether a name may be one of C++ or Rust's linkage names.
func mangled(name string) bool {
	rest := strings.TrimLeft(name, "_")
	underscores := len(name) - len(rest)
	return underscores > 0 && underscores <= 4 && rest != "" && (rest[0] == 'Z' || rest[0] == 'R')
}
