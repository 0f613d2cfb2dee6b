package naming

import (
	"bytes"

	"github.com/slipway-qa/slipway/worker/crash/fingerprint/rule"
	"github.com/slipway-qa/slipway/worker/crash/fingerprint/scan"

	"strings"
)

// maxClosures bounds the nesting of Swift closures that is written out.
const maxClosures = 8

// swift removes the decoration from names of swift-demangle, and reports whether
// s was one. What is left is a qualified name.
//
//	closure #1 (Swift.Int) -> () in App.View.load() -> ()  ->  closure in App.View.load() -> ()
func (n *Namer) swift(s string) (string, bool) {
	word, _, _ := strings.Cut(s, " ")
	switch word {
	case "partial", "merged", "@objc", "@nonobjc", "dispatch", "protocol", "specialized", "curry", "generic", "function",
		"static", "variable", "async", "default", "distributed":
	default:
		if strings.IndexByte(s, '#') < 0 && !strings.HasPrefix(s, "(") {
			return s, false
		}
	}
	found := false
	for range maxClosures {
		rest := s
		for _, p := range [...]string{
			"partial apply forwarder for ", "partial apply for ", "merged ", "@objc ", "@nonobjc ", "dispatch thunk of ",
			"protocol witness for ", "specialized ", "curry thunk of ", "variable initialization expression of ",
			"async function pointer to ", "static ",
			"@Sendable ", "@MainActor ", "isolated ", "distributed thunk ",
		} {
			if strings.HasPrefix(rest, p) {
				rest = rest[len(p):]
				if p == "protocol witness for " {
					if i := indexOutsideBrackets(rest, " in conformance "); i > 0 {
						rest = rest[:i]
					}
				}
			}
		}
		if strings.HasPrefix(rest, "generic specialization <") || strings.HasPrefix(rest, "function signature specialization <") {
			end := scan.BracketEnd(rest, strings.IndexByte(rest, '<'))
			if tail, ok := strings.CutPrefix(rest[end:], " of "); ok {
				rest = tail
			}
		}
		if strings.HasPrefix(rest, "(") {
			// A part of an asynchronous function: "(1) suspend resume partial function for ".
			if number, tail, ok := strings.Cut(rest[1:], ") "); ok && scan.AllDigits(number) {
				if i := strings.Index(scan.Truncate(tail, 64), "partial function for "); i >= 0 {
					rest = tail[i+len("partial function for "):]
				}
			}
		}
		if number, ok := strings.CutPrefix(rest, "default argument "); ok {
			if _, tail, ok := strings.Cut(number, " of "); ok {
				rest = tail
			}
		}
		if rest == s {
			break
		}
		s, found = rest, true
		n.noteRule(rule.SwiftDecoration)
	}
	if !strings.Contains(s, "#") || !strings.Contains(s, " in ") {
		return s, found
	}
	var parts []string
	rest := s
	for range maxClosures {
		i := indexOutsideBrackets(rest, " in ")
		if i < 0 {
			break
		}
		scope := rest[:i]
		switch {
		case strings.HasPrefix(scope, "closure #"), strings.HasPrefix(scope, "implicit closure #"), scope == "closure":
			if scope = "closure"; len(parts) > 0 && parts[len(parts)-1] == scope {
				scope = "" // a closure in a closure
			}
		case strings.Contains(scope, " #"):
			scope = scope[:strings.Index(scope, " #")]
		default:
			return s, found
		}
		if scope != "" {
			parts = append(parts, scope)
		}
		rest = rest[i+len(" in "):]
	}
	if len(parts) == 0 {
		return s, found
	}
	n.noteRule(rule.SwiftClosure)
	return strings.Join(append(parts, rest), " in "), true
}

// inSwiftClosure reports whether out is "... in ", as swift writes it: what
// precedes is a part of the name and no return type.
func inSwiftClosure(out []byte) bool {
	return bytes.HasSuffix(out, []byte(" in "))
}

// indexOutsideBrackets returns the index of the first sep outside of brackets, or
// -1.
func indexOutsideBrackets(s, sep string) int {
	for i := 0; i < len(s); {
		switch s[i] {
		case '(', '[', '{':
			i = scan.BracketEnd(s, i)
			continue
		case sep[0]:
			if strings.HasPrefix(s[i:], sep) {
				return i
			}
		}
		i++
	}
	return -1
}

// swiftPrivate reads "(name in _0123ABCD...)", a private name with the hash of
// its file.
func swiftPrivate(s string) (string, bool) {
	name, hash, ok := strings.Cut(strings.TrimSuffix(strings.TrimPrefix(s, "("), ")"), " in _")
	if !ok || !scan.AllHex(hash) || len(hash) != 32 {
		return "", false
	}
	return name, true
}

// objc handles Objective-C methods, which stay as they are, and blocks, which
// lose their number. It reports false for any other name.
//
//	__31-[ViewController viewDidLoad]_block_invoke_2  ->  -[ViewController viewDidLoad]_block
//	__save_block_invoke.12                            ->  save_block
func (n *Namer) objc(s string) (string, bool) {
	const block = "_block_invoke"
	text := s
	if strings.IndexByte("-+_", s[0]) < 0 && !strings.Contains(s, block) {
		return s, false
	}
	if scan.HasPrefixAny(text, "__", "___") {
		inner := strings.TrimLeft(text, "_")
		inner = inner[scan.CountDigits(inner):]
		if scan.HasPrefixAny(inner, "-[", "+[") {
			text = inner
		}
	}
	if scan.HasPrefixAny(text, "-[", "+[") {
		i := strings.IndexByte(text, ']')
		if i < 0 {
			return text, true
		}
		name, suffix := text[:i+1], text[i+1:]
		if open := strings.IndexByte(name, '('); open > 2 {
			// Not every tool writes the category in which a method stands.
			if end := strings.IndexByte(name[open:], ')'); end > 0 && strings.IndexByte(name[:open], ' ') < 0 {
				name = name[:open] + name[open+end+1:]
				n.noteRule(rule.Qualifiers)
			}
		}
		switch {
		case suffix == "" || suffix == "_block":
			return name + suffix, true
		case strings.HasPrefix(suffix, block):
			n.noteRule(rule.Block)
			return name + "_block", true
		}
		n.noteRule(rule.CodeOffset)
		return name, true
	}
	i := strings.Index(s, block)
	if i <= 0 || strings.ContainsAny(s[:i], "(<: ") {
		return s, false
	}
	tail := strings.TrimLeft(s[i+len(block):], "_.")
	if tail != "" && !scan.AllDigits(tail) {
		return s, false
	}
	n.noteRule(rule.Block)
	return strings.TrimLeft(s[:i], "_") + "_block", true
}
