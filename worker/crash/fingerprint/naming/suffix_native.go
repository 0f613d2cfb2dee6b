package naming

import (
	"strings"

	"github.com/slipway-qa/slipway/worker/crash/fingerprint/rule"
	"github.com/slipway-qa/slipway/worker/crash/fingerprint/scan"
)

// noteSuffix adds the rule that leaves out what follows a name.
func (n *Namer) noteSuffix(rest string) {
	switch {
	case rest == "":
	case strings.Contains(rest, "[clone") || strings.Contains(rest, "(."):
		n.noteRule(rule.CloneSuffix)
	case strings.HasPrefix(rest, "+") || strings.HasPrefix(rest, " +"):
		n.noteRule(rule.CodeOffset)
	case strings.HasPrefix(rest, "@"):
		n.noteRule(rule.SymbolVersion)
	default:
		n.noteRule(rule.Qualifiers)
	}
}

// trimQualifiers drops const, volatile, & and noexcept after an argument list
// when more of the name follows: "f(int) const::{lambda()#1}".
func trimQualifiers(s string) string {
	rest := s
	for {
		rest = strings.TrimLeft(rest, " &")
		before := rest
		for _, q := range [...]string{"const", "volatile", "noexcept"} {
			rest = strings.TrimPrefix(rest, q)
		}
		if rest == before {
			return rest
		}
	}
}

// operatorSymbol returns the symbol after the word operator, or "".
func operatorSymbol(s string) string {
	for _, op := range [...]string{"()", "[]", "<=>", "<<=", ">>=", "->*", "<<", ">>", "<=", ">=", "->", "==", "!=",
		"&&", "||", "++", "--", "+=", "-=", "*=", "/=", "%=", "^=", "&=", "|=", "<", ">", "+", "-", "*", "/", "%", "^",
		"&", "|", "~", "!", "=", ","} {
		if strings.HasPrefix(s, op) {
			return op
		}
	}
	return ""
}

// cloneSuffix returns the position after a suffix by which a compiler marks a
// part or a copy of a function (".constprop.0"), or 0.
func cloneSuffix(s string, i int) int {
	j := i + 1
	for j < len(s) && scan.IsIdent(s[j]) {
		j++
	}
	switch word := s[i+1 : j]; word {
	case "resume", "destroy", "cleanup", "specialized", "resolver", "clone", "warm", "hot", "part":
		// A person names a method so too: PlayerView.resume().
		if isTypeName(s, i) && (j == len(s) || s[j] == '(') {
			return 0
		}
	case "constprop", "isra", "cold", "unlikely", "llvm", "lto_priv", "localalias", "__uniq":
	default:
		if !scan.AllDigits(word) || i == 0 {
			return 0
		}
	}
	for j+1 < len(s) && s[j] == '.' && scan.IsDigit(s[j+1]) {
		j++
		j += scan.CountDigits(s[j:])
	}
	if j < len(s) && scan.IsIdent(s[j]) {
		return 0
	}
	return j
}

// isTypeName reports whether the word that ends at i is written as a type of Swift: it begins with a
// capital, and is one word after no other or a point.
func isTypeName(s string, i int) bool {
	start := i
	for start > 0 && scan.IsIdent(s[start-1]) {
		start--
	}
	return start < i && s[start] >= 'A' && s[start] <= 'Z' && strings.IndexByte(s[start:i], '_') < 0
}

// symbolVersion returns the position after a version, a stdcall size or a
// marker that follows @, or 0.
func symbolVersion(s string, i int) int {
	const longest = 64 // so that repeated @ are read once, not once for each
	j := i + 1
	for j < len(s) && j < i+longest && (scan.IsIdent(s[j]) || s[j] == '.' || s[j] == '@') {
		j++
	}
	word := strings.TrimLeft(s[i+1:j], "@")
	if i > 0 && (scan.AllDigits(word) || strings.EqualFold(word, "plt") || scan.HasPrefixAny(word, "GLIBC", "CXXABI", "GCC_",
		"LIBC", "OPENSSL", "Base", "Qt_")) {
		return j
	}
	return 0
}

// codeOffset reports whether s is a number to the end: the offset of an
// instruction in its function.
func codeOffset(s string) bool {
	if hex, ok := strings.CutPrefix(s, "0x"); ok {
		return scan.AllHex(hex)
	}
	return scan.AllDigits(s)
}
