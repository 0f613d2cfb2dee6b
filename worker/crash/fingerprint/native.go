package fingerprint

import (
	"bytes"
	"strings"
)

// native normalizes the names of C, C++ and Rust in symbol tables and from
// demanglers: GNU, LLVM and Microsoft spellings. Objective-C and Swift have other
// forms, which are recognized first.
//
//	int ns::f<int>(std::vector<int>) const [clone .cold]  ->  ns::f<T>
func (n *namer) native(s string) string {
	if plainNative(s) {
		return s
	}
	if text, ok := n.objc(s); ok {
		return text
	}
	if text, ok := n.swift(s); ok {
		s = text
	}
	s = n.nativePrefixes(s)
	return n.qualified(s)
}

// plainNative reports whether a name has nothing to normalize.
func plainNative(s string) bool {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '<':
			if i == 0 || !isIdent(s[i-1]) || !strings.HasPrefix(s[i:], "<T>") {
				return false
			}
			i += len("<T>") - 1
		case '(', '[', '{', '`', '\'', '$', '@', '.', '+', ' ', '!', '#':
			return false
		case '_':
			if strings.HasPrefix(s[i:], "_block_invoke") || strings.HasPrefix(s[i:], "_GLOBAL__N_1") || i < 2 && strings.HasPrefix(s[i:], "_ZN") {
				return false
			}
		case 'l':
			if strings.HasPrefix(s[i:], "lambda_") {
				return false
			}
		case 'h':
			if rustHash(s, i) > 0 {
				return false
			}
		}
	}
	return true
}

// nativePrefixes removes what precedes a name: "ntdll!", thunks, and
// the hash at the end of a Rust name that was not demangled.
func (n *namer) nativePrefixes(s string) string {
	for _, p := range [...]string{"non-virtual thunk to ", "virtual thunk to ", "covariant return thunk to ", "[thunk]:", "[thunk]: "} {
		if strings.HasPrefix(s, p) {
			s = s[len(p):]
			n.noteRule(RuleThunk)
		}
	}
	if i := strings.IndexByte(s, '!'); i > 0 && i+1 < len(s) && s[i+1] != '=' && isModuleName(s[:i]) {
		s = s[i+1:]
		n.noteRule(RuleModulePrefix)
	}
	if strings.HasPrefix(s, "_ZN") || strings.HasPrefix(s, "__ZN") {
		const hashed = len("17h0123456789abcdefE")
		end := strings.IndexByte(s, '.')
		if end < 0 {
			end = len(s)
		}
		if start := end - hashed; start > 3 && strings.HasPrefix(s[start:], "17h") && s[end-1] == 'E' && allHex(s[start+3:end-1]) {
			s = s[:start] + "E"
			n.noteRule(RuleRustHash)
		}
	}
	return s
}

func isModuleName(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; !isIdent(c) && c != '.' && c != '-' && c != '+' {
			return false
		}
	}
	return !strings.HasSuffix(s, "operator")
}

// qualified scans a qualified name once from left to right.
func (n *namer) qualified(s string) string {
	n.out = n.out[:0]
	var (
		blank    = -1    // where the name begins in out, after the last blank
		args     = false // an argument list was left out
		operator = false // inside "operator unsigned int"
	)
scan:
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case isIdent(c):
			word := identifier(s, i)
			next, isOperator := n.word(s, i, word)
			operator = operator || isOperator
			i = next
		case c == '<':
			i = n.angleBracket(s, i, 0)
		case c == '(':
			end := bracketEnd(s, i)
			if s[i:end] == "(anonymous namespace)" {
				n.out = append(n.out, "{anon}"...)
				n.noteRule(RuleAnonymousNamespace)
				i = end
				continue
			}
			if name, ok := swiftPrivate(s[i:end]); ok && bytes.HasSuffix(n.out, []byte(".")) {
				n.out = append(n.out, name...)
				n.noteRule(RuleSwiftDecoration)
				i = end
				continue
			}
			if strings.HasPrefix(s[i:end], "(extension in ") && strings.HasPrefix(s[end:], ":") {
				n.noteRule(RuleSwiftDecoration)
				i = end + 1
				continue
			}
			if !args && blank > 0 && blank < len(n.out) {
				n.out = append(n.out[:0], n.out[blank:]...)
				n.noteRule(RuleReturnType)
			}
			if string(bytes.TrimRight(n.out, " ")) == "decltype" {
				n.out, blank = n.out[:0], -1
				n.noteRule(RuleReturnType)
				i = end
				continue
			}
			args, operator = true, false
			n.noteRule(RuleArguments)
			rest := trimQualifiers(s[end:])
			if strings.HasPrefix(rest, "::") || strings.HasPrefix(rest, ".(") || strings.HasPrefix(rest, "'::") {
				i = len(s) - len(rest)
				continue
			}
			n.noteSuffix(s[end:])
			break scan
		case c == ' ':
			rest := s[i:]
			if rest == " const" || strings.HasPrefix(rest, " [") || strings.HasPrefix(rest, " + ") || strings.HasPrefix(rest, " (.") || strings.HasPrefix(rest, " : ") || strings.HasPrefix(rest, " -> ") {
				n.noteSuffix(rest)
				break scan
			}
			n.out = append(n.out, ' ')
			switch {
			case inSwiftClosure(n.out):
				blank = -1
			case !operator:
				blank = len(n.out)
			}
			i++
		case c == '{':
			end := bracketEnd(s, i)
			n.curlyBracket(s[i:end])
			i = end
		case c == '`' || c == '\'':
			i = n.quotedPart(s, i)
		case c == '[':
			end := bracketEnd(s, i)
			if len(n.out) == 0 || strings.HasPrefix(s[i:], "[clone") || strings.HasPrefix(s[i:], "[abi:") {
				n.noteRule(RuleCloneSuffix)
			} else {
				n.out = append(n.out, s[i:end]...)
			}
			i = end
		case c == '@':
			if end := symbolVersion(s, i); end > 0 {
				if allDigits(s[i+1 : end]) {
					n.noteRule(RuleStdcallSuffix)
					if len(n.out) > 1 && n.out[0] == '_' && n.out[1] != '_' {
						n.out = append(n.out[:0], n.out[1:]...)
					}
				} else {
					n.noteRule(RuleSymbolVersion)
				}
				i = end
				continue
			}
			if i == 0 {
				n.noteRule(RuleStdcallSuffix) // @fastcall@8
			} else {
				n.out = append(n.out, c)
			}
			i++
		case c == '.':
			if end := cloneSuffix(s, i); end > 0 {
				n.noteRule(RuleCloneSuffix)
				i = end
				continue
			}
			n.out = append(n.out, c)
			i++
		case c == '+' && codeOffset(s[i+1:]):
			n.noteRule(RuleCodeOffset)
			break scan
		default:
			n.out = append(n.out, c)
			i++
		}
	}
	return n.result(s)
}

// noteSuffix adds the rule that leaves out what follows a name.
func (n *namer) noteSuffix(rest string) {
	switch {
	case rest == "":
	case strings.Contains(rest, "[clone") || strings.Contains(rest, "(."):
		n.noteRule(RuleCloneSuffix)
	case strings.HasPrefix(rest, "+") || strings.HasPrefix(rest, " +"):
		n.noteRule(RuleCodeOffset)
	case strings.HasPrefix(rest, "@"):
		n.noteRule(RuleSymbolVersion)
	default:
		n.noteRule(RuleQualifiers)
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

func identifier(s string, i int) string {
	j := i
	for j < len(s) && isIdent(s[j]) {
		j++
	}
	return s[i:j]
}

// word writes one identifier, or its replacement, and returns the position after
// it, and whether it is a conversion operator or operator new.
func (n *namer) word(s string, i int, word string) (int, bool) {
	end := i + len(word)
	switch {
	case word == "operator":
		n.out = append(n.out, word...)
		symbol := operatorSymbol(s[end:])
		if symbol == "" {
			return end, true
		}
		n.out = append(n.out, symbol...)
		end += len(symbol)
		if strings.HasPrefix(s[end:], " <") {
			n.out = append(n.out, " <T>"...)
			n.noteRule(RuleTemplateArguments)
			return bracketEnd(s, end+1), false
		}
		return end, false
	case word == "_GLOBAL__N_1":
		n.out = append(n.out, "{anon}"...)
		n.noteRule(RuleAnonymousNamespace)
		return end, false
	case strings.HasPrefix(word, "$_") && allDigits(word[2:]),
		strings.HasPrefix(word, "lambda_") && len(word) >= len("lambda_")+1 && allHex(word[len("lambda_"):]) && (len(word) == len("lambda_")+32 || allDigits(word[len("lambda_"):])):
		n.out = append(n.out, "lambda"...)
		n.noteRule(RuleLambda)
		return end, false
	case word[0] == 'h' && rustHash(s, i) > 0 && bytes.HasSuffix(n.out, []byte("::")):
		n.out = n.out[:len(n.out)-2]
		n.noteRule(RuleRustHash)
		return end, false
	}
	if strings.IndexByte(word, '$') < 0 {
		n.out = append(n.out, word...)
		return end, false
	}
	for _, mark := range [...]string{"$VARIANT$", "$NOCANCEL", "$UNIX2003", "$DARWIN_EXTSN"} {
		if k := strings.Index(word, mark); k > 0 {
			n.out = append(n.out, word[:k]...)
			n.noteRule(RuleCloneSuffix)
			return end, false
		}
	}
	n.out = append(n.out, word...)
	return end, false
}

// rustHash returns the length of "h" and 16 hexadecimal digits at i when they
// are the last part of a path, else 0.
func rustHash(s string, i int) int {
	const length = 17
	if i < 2 || s[i-1] != ':' || s[i-2] != ':' || len(s)-i < length || s[i] != 'h' || !allHex(s[i+1:i+length]) {
		return 0
	}
	if i+length < len(s) && (isIdent(s[i+length]) || s[i+length] == ':') {
		return 0
	}
	return length
}

// operatorSymbol returns the symbol after the word operator, or "".
func operatorSymbol(s string) string {
	for _, op := range [...]string{"()", "[]", "<=>", "<<=", ">>=", "->*", "<<", ">>", "<=", ">=", "->", "==", "!=", "&&", "||", "++", "--", "+=", "-=", "*=", "/=", "%=", "^=", "&=", "|=", "<", ">", "+", "-", "*", "/", "%", "^", "&", "|", "~", "!", "=", ","} {
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
	for j < len(s) && isIdent(s[j]) {
		j++
	}
	switch word := s[i+1 : j]; word {
	case "constprop", "isra", "part", "cold", "hot", "unlikely", "llvm", "lto_priv", "localalias", "clone", "resume", "destroy", "cleanup", "__uniq", "specialized", "resolver", "warm":
	default:
		if !allDigits(word) || i == 0 {
			return 0
		}
	}
	for j+1 < len(s) && s[j] == '.' && isDigit(s[j+1]) {
		j++
		j += countDigits(s[j:])
	}
	if j < len(s) && isIdent(s[j]) {
		return 0
	}
	return j
}

// symbolVersion returns the position after a version, a stdcall size or a
// marker that follows @, or 0.
func symbolVersion(s string, i int) int {
	const longest = 64 // so that repeated @ are read once, not once for each
	j := i + 1
	for j < len(s) && j < i+longest && (isIdent(s[j]) || s[j] == '.' || s[j] == '@') {
		j++
	}
	word := strings.TrimLeft(s[i+1:j], "@")
	if i > 0 && (allDigits(word) || strings.EqualFold(word, "plt") || hasPrefixAny(word, "GLIBC", "CXXABI", "GCC_", "LIBC", "OPENSSL", "Base", "Qt_")) {
		return j
	}
	return 0
}

func hasPrefixAny(s string, prefixes ...string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(s, p) {
			return true
		}
	}
	return false
}

// codeOffset reports whether s is a number to the end: the offset of an
// instruction in its function.
func codeOffset(s string) bool {
	if hex, ok := strings.CutPrefix(s, "0x"); ok {
		return allHex(hex)
	}
	return allDigits(s)
}
