package naming

import (
	"strings"

	"github.com/slipway-qa/slipway/worker/crash/fingerprint/rule"
	"github.com/slipway-qa/slipway/worker/crash/fingerprint/scan"
)

// nativePrefixes removes what precedes a name: the rest of a line of a debugger,
// "ntdll!", thunks, the words of Microsoft's declarations.
func (n *Namer) nativePrefixes(s string) string {
	s = n.frameLine(s)
	for range maxClosures {
		if s == "" || strings.IndexByte("nvct[", s[0]) < 0 {
			break
		}
		before := s
		for _, p := range [...]string{"non-virtual thunk to ", "virtual thunk to ", "covariant return thunk to ",
			"[thunk]:", "[thunk]: ", "non-transaction clone for ", "transaction clone for "} {
			if strings.HasPrefix(s, p) {
				s = strings.TrimLeft(s[len(p):], " ")
				n.noteRule(rule.Thunk)
			}
		}
		if s == before {
			break
		}
	}
	if i := strings.IndexByte(s, '!'); i > 0 && i+1 < len(s) && s[i+1] != '=' && isModuleName(s[:i]) {
		s = s[i+1:]
		n.noteRule(rule.ModulePrefix)
	}
	for _, word := range [...]string{" __cdecl ", " __thiscall ", " __stdcall ", " __fastcall ", " __vectorcall "} {
		if !strings.Contains(s, " __") {
			break
		}
		if before, after, ok := strings.Cut(s, word); ok && !strings.ContainsAny(before, "(`") {
			s = after
			n.noteRule(rule.ReturnType)
			break
		}
	}
	if strings.IndexByte(s, '$') >= 0 {
		s = n.rustEscapes(s)
	}
	if rest, ok := strings.CutPrefix(s, "static "); ok {
		s = rest
		n.noteRule(rule.ReturnType)
	}
	return s
}

// frameLine returns the function of a whole line of a debugger or a sanitizer,
// which some clients send as its name.
//
//	#0 0x55d0c1 in pay (id=1) at cart.c:3      ->  pay (id=1) at cart.c:3
//	#01 pc 0001f2  /system/lib/libc.so (abort+164)  ->  abort+164
//	3   Shop   0x00000001 -[Cart pay] + 12     ->  -[Cart pay] + 12
func (n *Namer) frameLine(s string) string {
	rest := s
	if s == "" || s[0] != '#' && !scan.IsDigit(s[0]) && !strings.HasPrefix(s, "in ") {
		return s
	}
	if rest[0] == '#' {
		rest = rest[1:]
		digits := scan.CountDigits(rest)
		if digits == 0 {
			return s
		}
		rest = strings.TrimLeft(rest[digits:], " ")
		if pc, ok := strings.CutPrefix(rest, "pc "); ok {
			open := strings.IndexByte(pc, '(')
			if open < 0 {
				return s
			}
			end := scan.BracketEnd(pc, open)
			if inner := strings.TrimSuffix(pc[open+1:end], ")"); inner != "" && !strings.HasPrefix(inner, "BuildId") {
				n.noteRule(rule.ModulePrefix)
				return inner
			}
			return s
		}
	} else if digits := scan.CountDigits(rest); digits > 0 {
		fields := strings.Fields(scan.Truncate(rest, MaxFunction))
		if len(fields) < 4 || !strings.HasPrefix(fields[2], "0x") || len(fields[0]) != digits {
			return s
		}
		i := strings.Index(rest, fields[2])
		n.noteRule(rule.ModulePrefix)
		return strings.TrimLeft(rest[i+len(fields[2]):], " ")
	}
	if hex, after, ok := strings.Cut(rest, " "); ok && strings.HasPrefix(hex, "0x") && scan.AllHex(hex[2:]) {
		rest = strings.TrimLeft(after, " ")
	}
	rest = strings.TrimPrefix(rest, "in ")
	if rest == "" || rest == s {
		return s
	}
	n.noteRule(rule.ModulePrefix)
	return rest
}

func isModuleName(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; !scan.IsIdent(c) && c != '.' && c != '-' && c != '+' {
			return false
		}
	}
	return !strings.HasSuffix(s, "operator")
}

// isInlineNamespace reports whether a part of a qualified name is the namespace by
// which a library tells apart its binary versions: std::__1, std::__cxx11,
// fmt::v9, absl::lts_20230125. They are left out.
func isInlineNamespace(part string) bool {
	switch part {
	case "__cxx11", "__cxx1998", "__debug", "__profile", "__fs", "__Cr":
		return true
	}
	for _, p := range [...]string{"__ndk", "__", "_V", "lts_", "debian", "v"} {
		if tail, ok := strings.CutPrefix(part, p); ok && tail != "" && scan.IsDigit(tail[0]) {
			if p != "v" {
				return scan.AllDigits(tail)
			}
			tail = tail[scan.CountDigits(tail):]
			return part != "v8" && (tail == "" || tail[0] == '_' || tail == "s" || strings.HasPrefix(tail, "s_"))
		}
	}
	return strings.HasPrefix(part, "json_abi_")
}

// inlineNamespaceEnd returns the position after "name::" at i when that is an
// inline namespace inside of another, else 0.
func inlineNamespaceEnd(s string, i int) int {
	if i < 2 || i >= len(s) || s[i-1] != ':' || s[i-2] != ':' || s[i] != '_' && s[i] != 'v' && s[i] != 'l' && s[i] != 'd' && s[i] != 'j' {
		return 0
	}
	word := Identifier(s, i)
	if len(word) < 2 || !strings.HasPrefix(s[i+len(word):], "::") || !isInlineNamespace(word) {
		return 0
	}
	return i + len(word) + 2
}

// rustEscapes decodes what Rust's older symbols write for the signs of a path. A
// tool that only reads the lengths of a symbol leaves them.
//
//	_$LT$app..Cart$u20$as$u20$core..ops..Drop$GT$::drop  ->  <app::Cart as core::ops::Drop>::drop
func (n *Namer) rustEscapes(s string) string {
	if !scan.ContainsAny(s, "$LT$", "$u7b$", "$u20$", "$GT$", "$RF$", "$LP$", "$BP$") {
		return s
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); {
		rest := s[i:]
		switch {
		case rest[0] == '_' && strings.HasPrefix(rest, "_$") && (i == 0 || s[i-1] == ':'):
			i++
		case rest[0] == '.' && strings.HasPrefix(rest, ".."):
			out = append(out, "::"...)
			i += 2
		case rest[0] == '$':
			end := strings.IndexByte(scan.Truncate(rest[1:], 8), '$')
			sign := ""
			if end > 0 {
				sign = rustSign(rest[1 : 1+end])
			}
			if sign == "" {
				out = append(out, '$')
				i++
				continue
			}
			out = append(out, sign...)
			i += end + 2
		default:
			out = append(out, rest[0])
			i++
		}
	}
	n.noteRule(rule.Mangled)
	return string(out)
}

// rustSign returns what stands between two dollars for one sign.
func rustSign(code string) string {
	switch code {
	case "LT":
		return "<"
	case "GT":
		return ">"
	case "RF":
		return "&"
	case "BP":
		return "*"
	case "LP":
		return "("
	case "RP":
		return ")"
	case "C":
		return ","
	case "SP":
		return "@"
	}
	if len(code) == 3 && code[0] == 'u' {
		if v, ok := scan.Address("0x" + code[1:]); ok && v >= 0x20 && v < 0x7f {
			return string(rune(v))
		}
	}
	return ""
}
