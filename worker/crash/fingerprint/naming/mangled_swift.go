package naming

import (
	"strings"

	"github.com/slipway-qa/slipway/worker/crash/fingerprint/scan"
)

// isSwiftSymbol reports whether a name is a symbol of Swift 4.2 and later, or of
// Swift 4 and 5.0 ("_T0").
func isSwiftSymbol(s string) bool {
	_, ok := cutSwiftPrefix(s)
	return ok
}

func cutSwiftPrefix(s string) (string, bool) {
	for _, p := range [...]string{"$s", "_$s", "$S", "_$S", "$e", "_$e", "_T0", "__T0"} {
		if rest, ok := strings.CutPrefix(s, p); ok {
			return rest, rest != "" && (scan.IsDigit(rest[0]) || rest[0] == 'S' || rest[0] == 's')
		}
	}
	return "", false
}

// swiftName returns the qualified name of a symbol of Swift, as far as it can be
// read without its types, or "" when it cannot. The parts of a name are
// identifiers with their length, each type's followed by a letter for its kind;
// what follows the name describes the signature, and at the end stand the
// closures and what the compiler made of the function.
//
//	$s3App4ViewC4loadyyFyycfU_TA  ->  closure in App.View.load
func swiftName(s string) string {
	rest, _ := cutSwiftPrefix(s)
	tail := trimSwiftSuffix(rest)
	if helper := swiftHelper(tail, rest); helper != "" {
		return helper
	}
	r := swiftReader{rest: tail}
	name := r.qualified()
	if name == "" {
		return ""
	}
	if strings.HasSuffix(tail, "_") && swiftClosure(tail) {
		return "closure in " + name
	}
	return name
}

// trimSwiftSuffix removes what marks a function as a copy or a part of another:
// a specialization, a partial application, a part between two suspensions.
func trimSwiftSuffix(s string) string {
	if i := strings.IndexByte(s, '.'); i > 0 {
		s = s[:i]
	}
	for range 4 {
		before := s
		for _, suffix := range [...]string{"TA", "Ta", "Tm", "To", "TO", "Tj", "Tq", "Tu", "TW", "TY_", "TQ_", "Tg5", "TG5", "Tg", "TU", "Z"} {
			s = strings.TrimSuffix(s, suffix)
		}
		if strings.HasSuffix(s, "_") {
			// TY0_, TQ12_
			if i := len(scan.TrimDigits(s[:len(s)-1])); i >= 2 && i < len(s)-1 && (s[i-2:i] == "TY" || s[i-2:i] == "TQ") {
				s = s[:i-2]
			}
		}
		if i := strings.LastIndex(s, "Tf"); i > 0 && strings.IndexByte(s[i:], '_') > 0 && len(s)-i < 40 {
			s = s[:i]
		}
		if s == before {
			break
		}
	}
	return s
}

// swiftClosure reports whether a symbol without suffixes is that of a closure:
// U_ or U0_ after its type.
func swiftClosure(s string) bool {
	inner := scan.TrimDigits(s[:len(s)-1])
	return strings.HasSuffix(inner, "U") || strings.HasSuffix(inner, "u")
}

// swiftHelper returns the name of a function that the compiler made for a type.
func swiftHelper(trimmed, s string) string {
	if i := strings.IndexByte(s, '.'); i > 0 {
		s = s[:i]
	}
	switch {
	case len(s) > 3 && s[len(s)-3:len(s)-1] == "WO":
		return "outlined copy"
	case scan.HasSuffixAny(trimmed, "TR", "Tr", "TRTA"):
		return "reabstraction thunk"
	case scan.HasSuffixAny(s, "Ma", "Mr", "Md"):
		return "type metadata accessor"
	case scan.HasSuffixAny(s, "Wl", "WL"):
		return "lazy protocol witness table accessor"
	case len(s) > 3 && s[len(s)-3] == 'w' && scan.IsLetter(s[len(s)-2]) && scan.IsLetter(s[len(s)-1]):
		return "value witness"
	}
	return ""
}

// swiftReader reads identifiers.
type swiftReader struct {
	rest  string
	words []string
}

// qualified reads the module, the types, and the first name that is no type's:
// those after it are labels of arguments.
func (r *swiftReader) qualified() string {
	var parts []string
	if r.rest != "" && (r.rest[0] == 's' || r.rest[0] == 'S') {
		// The standard library, and its types by a letter: SS is String.
		r.rest = r.rest[1:]
		parts = append(parts, "Swift")
		if r.rest != "" && scan.IsLetter(r.rest[0]) && len(parts) == 1 {
			r.rest = r.rest[1:]
		}
	}
	for len(parts) < 16 {
		name := r.identifier()
		if name == "" {
			break
		}
		parts = append(parts, name)
		if len(parts) == 1 {
			continue // the module
		}
		if r.rest == "" || strings.IndexByte("VCOP", r.rest[0]) < 0 {
			break
		}
		r.rest = strings.TrimPrefix(r.rest[1:], "E") // of an extension
	}
	if len(parts) < 2 {
		return ""
	}
	last := ""
	switch {
	case strings.Contains(r.rest, "fC") || strings.Contains(r.rest, "fc") && !strings.Contains(r.rest, "cfU"):
		last = "init"
	case strings.HasSuffix(r.rest, "fD"), strings.HasSuffix(r.rest, "fd"):
		last = "deinit"
	case strings.HasSuffix(r.rest, "vg"), strings.Contains(r.rest, "vgy"):
		last = "getter"
	case strings.HasSuffix(r.rest, "vs"):
		last = "setter"
	case strings.HasSuffix(r.rest, "vM"):
		last = "modify"
	}
	if last != "" {
		parts = append(parts, last)
	}
	return strings.Join(parts, ".")
}

// identifier reads one identifier. One that begins with 0 has words of earlier
// ones in it, by a letter for each: the last is a capital letter.
func (r *swiftReader) identifier() string {
	if r.rest == "" || !scan.IsDigit(r.rest[0]) {
		return ""
	}
	text := ""
	if r.rest[0] != '0' {
		text = r.literal()
		r.split(text)
		return text
	}
	r.rest = r.rest[1:]
	for range 8 {
		if r.rest == "" {
			return text
		}
		c := r.rest[0]
		switch {
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
			k := int(c|0x20) - 'a'
			if k >= len(r.words) {
				return ""
			}
			text += r.words[k]
			r.rest = r.rest[1:]
			if c < 'a' { // the last word; a literal part can follow, 0 for none
				if strings.HasPrefix(r.rest, "0") {
					r.rest = r.rest[1:]
				} else if r.rest != "" && scan.IsDigit(r.rest[0]) {
					part := r.literal()
					r.split(part)
					text += part
				}
				return text
			}
		case scan.IsDigit(c):
			part := r.literal()
			if part == "" {
				return ""
			}
			r.split(part)
			text += part
		default:
			return text
		}
	}
	return text
}

// literal reads a length and as many bytes.
func (r *swiftReader) literal() string {
	length, digits := symbolLength(r.rest)
	if length == 0 || digits+length > len(r.rest) {
		return ""
	}
	text := r.rest[digits : digits+length]
	r.rest = r.rest[digits+length:]
	return text
}

// split adds the words of an identifier to those that can be repeated: each
// begins with a capital letter or after an underscore, and has two letters.
func (r *swiftReader) split(text string) {
	const most = 26
	start := 0
	for i := 1; i <= len(text); i++ {
		if i < len(text) && !(text[i] >= 'A' && text[i] <= 'Z' && (text[i-1] < 'A' || text[i-1] > 'Z')) && text[i] != '_' {
			continue
		}
		word := strings.TrimLeft(text[start:i], "_")
		if len(word) >= 2 && len(r.words) < most {
			r.words = append(r.words, word)
		}
		start = i
	}
}
