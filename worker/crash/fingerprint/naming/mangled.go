package naming

import (
	"strings"

	"github.com/slipway-qa/slipway/worker/crash/fingerprint/rule"
	"github.com/slipway-qa/slipway/worker/crash/fingerprint/scan"

	"github.com/ianlancetaylor/demangle"
)

// Bounds of demangling. A demangler follows references inside a name, so that a
// short name can stand for a long one.
const (
	// maxMangled is the longest symbol that is demangled: a function of a library
	// of templates has some hundreds of bytes without its arguments.
	maxMangled = 2 << 10
	// maxMangledTotal bounds the symbols of one report that are demangled: 256
	// frames of some 500 bytes.
	maxMangledTotal = 128 << 10
	// maxDemangled is the longest name that a demangler may write, as a power of
	// two.
	maxDemangled = 12
)

// demangled returns the name that a symbol stands for, or s when it is none. The
// schemes are those of C++ (Itanium and Microsoft), Rust, Swift and D. What
// a demangler adds to a name goes through the other rules.
//
//	_ZN2ns1fEi.cold  ->  ns::f
func (n *Namer) demangled(s string) string {
	if len(s) < 3 || s[0] != '_' && s[0] != '$' && s[0] != '?' {
		return s
	}
	if s[0] == '?' && s[1] != '?' && !scan.IsLetter(s[1]) && s[1] != '_' && s[1] != '$' {
		return s
	}
	symbol := s
	if s[0] == '?' {
		if end := strings.IndexAny(s, " +("); end > 0 {
			symbol = s[:end]
		}
	} else if end := strings.IndexAny(s, "@ +("); end > 0 {
		symbol = s[:end]
	}
	if len(symbol) > maxMangled || n.mangledRead > maxMangledTotal {
		return s
	}
	text := ""
	switch {
	case s[0] == '?':
		text = microsoftName(symbol)
	case isSwiftSymbol(symbol):
		text = swiftName(symbol)
	default:
		text = n.itaniumName(symbol)
	}
	if text == "" || text == s {
		return s
	}
	n.noteRule(rule.Mangled)
	return text
}

// itaniumName demangles C++ and Rust by their common prefix, and D. Symbols of
// Mach-O have one more underscore. It returns "" for anything else.
func (n *Namer) itaniumName(s string) string {
	bare := strings.TrimLeft(s, "_")
	underscores := len(s) - len(bare)
	if underscores == 0 || underscores > 4 || len(bare) < 3 {
		return ""
	}
	switch {
	case bare[0] == 'D' && scan.IsDigit(bare[1]) && underscores <= 2:
		return dName(bare[1:])
	case bare[0] == 'Z' && underscores >= 3 && strings.Contains(bare, "_block_invoke"):
		s = "___" + bare
	case bare[0] == 'Z' || bare[0] == 'R' && underscores <= 2 && (bare[1] >= 'A' && bare[1] <= 'Z'):
		s = "_" + bare
		if bare[0] == 'Z' && bare[1] == 'Z' {
			break
		}
		// A part of a function has its compiler's suffix.
		if dot := strings.IndexByte(s, '.'); dot > 0 && !strings.Contains(s, "$") && cloneSuffix(s, dot) > 0 {
			s = s[:dot]
		}
	default:
		return ""
	}
	n.mangledRead += len(s)
	text, err := demangle.ToString(s, demangle.NoParams, demangle.NoTemplateParams, demangle.NoABITags, demangle.MaxLength(maxDemangled))
	if err != nil || len(text) >= 1<<maxDemangled {
		return ""
	}
	return text
}

// dName reads the identifiers of a symbol of D: 3app4mainFZv -> app.main.
func dName(s string) string {
	var parts []string
	for len(parts) < 16 {
		length, digits := symbolLength(s)
		if digits == 0 || length == 0 || digits+length > len(s) {
			break
		}
		part := s[digits : digits+length]
		if !strings.HasPrefix(part, "__T") { // an instance of a template, by its arguments
			parts = append(parts, part)
		} else if k, d := symbolLength(part[3:]); k > 0 && 3+d+k <= len(part) {
			parts = append(parts, part[3+d:3+d+k])
		}
		s = s[digits+length:]
	}
	return strings.Join(parts, ".")
}

// symbolLength reads the length before an identifier of a symbol, and returns it
// with the number of its digits.
func symbolLength(s string) (length, digits int) {
	for digits < len(s) && digits < 5 && scan.IsDigit(s[digits]) {
		length = 10*length + int(s[digits]-'0')
		digits++
	}
	return length, digits
}
