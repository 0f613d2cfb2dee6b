package fingerprint

import (
	"bytes"
	"strings"
)

// maxClosures bounds the nesting of Swift closures that is written out.
const maxClosures = 8

// swift removes the decoration from names of swift-demangle, and reports whether
// s was one. What is left is a qualified name.
//
//	closure #1 (Swift.Int) -> () in App.View.load() -> ()  ->  closure in App.View.load() -> ()
func (n *namer) swift(s string) (string, bool) {
	word, _, _ := strings.Cut(s, " ")
	switch word {
	case "partial", "merged", "@objc", "@nonobjc", "dispatch", "(1)", "(2)", "protocol", "specialized", "curry", "generic", "function":
	default:
		if strings.IndexByte(s, '#') < 0 {
			return s, false
		}
	}
	found := false
	for range maxClosures {
		rest := s
		for _, p := range [...]string{
			"partial apply forwarder for ", "partial apply for ", "merged ", "@objc ", "@nonobjc ", "dispatch thunk of ",
			"(1) await resume partial function for ", "(2) await resume partial function for ",
			"(1) suspend resume partial function for ", "(2) suspend resume partial function for ",
			"protocol witness for ", "specialized ", "curry thunk of ",
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
			end := bracketEnd(rest, strings.IndexByte(rest, '<'))
			if tail, ok := strings.CutPrefix(rest[end:], " of "); ok {
				rest = tail
			}
		}
		if rest == s {
			break
		}
		s, found = rest, true
		n.noteRule(RuleSwiftDecoration)
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
			scope = "closure"
		case strings.Contains(scope, " #"):
			scope = scope[:strings.Index(scope, " #")]
		default:
			return s, found
		}
		parts = append(parts, scope)
		rest = rest[i+len(" in "):]
	}
	if len(parts) == 0 {
		return s, found
	}
	n.noteRule(RuleSwiftClosure)
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
			i = bracketEnd(s, i)
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
	if !ok || !allHex(hash) || len(hash) != 32 {
		return "", false
	}
	return name, true
}

// objc handles Objective-C methods, which stay as they are, and blocks, which
// lose their number. It reports false for any other name.
//
//	__31-[ViewController viewDidLoad]_block_invoke_2  ->  -[ViewController viewDidLoad]_block
//	__save_block_invoke.12                            ->  save_block
func (n *namer) objc(s string) (string, bool) {
	const block = "_block_invoke"
	text := s
	if hasPrefixAny(text, "__", "___") {
		inner := strings.TrimLeft(text, "_")
		inner = inner[countDigits(inner):]
		if hasPrefixAny(inner, "-[", "+[") {
			text = inner
		}
	}
	if hasPrefixAny(text, "-[", "+[") {
		i := strings.IndexByte(text, ']')
		if i < 0 {
			return text, true
		}
		name, suffix := text[:i+1], text[i+1:]
		switch {
		case suffix == "" || suffix == "_block":
			return text, true
		case strings.HasPrefix(suffix, block):
			n.noteRule(RuleBlock)
			return name + "_block", true
		}
		n.noteRule(RuleCodeOffset)
		return name, true
	}
	i := strings.Index(s, block)
	if i <= 0 || strings.ContainsAny(s[:i], "(<: ") {
		return s, false
	}
	tail := strings.TrimLeft(s[i+len(block):], "_.")
	if tail != "" && !allDigits(tail) {
		return s, false
	}
	n.noteRule(RuleBlock)
	return strings.TrimLeft(s[:i], "_") + "_block", true
}
