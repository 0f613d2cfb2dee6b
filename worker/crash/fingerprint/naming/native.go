package naming

import (
	"bytes"

	"github.com/slipway-qa/slipway/worker/crash/fingerprint/rule"
	"github.com/slipway-qa/slipway/worker/crash/fingerprint/scan"

	"strings"
)

// native normalizes the names of C, C++ and Rust in symbol tables and from
// demanglers: GNU, LLVM and Microsoft spellings. Objective-C and Swift have other
// forms, which are recognized first.
//
//	int ns::f<int>(std::vector<int>) const [clone .cold]  ->  ns::f<T>
func (n *Namer) native(s string) string {
	if text, ok := sectionOffset(s); ok {
		return text
	}
	if text, ok := wasmIndex(s); ok {
		return text
	}
	if plainNative(s) {
		return s
	}
	if text := n.frameLine(s); text != s {
		s = text
	}
	if text, ok := n.objc(s); ok {
		return text
	}
	prefixed := n.nativePrefixes(s)
	s = n.demangled(prefixed)
	block := false
	if rest, ok := strings.CutPrefix(s, "invocation function for block in "); ok {
		n.noteRule(rule.Block)
		s, block = rest, true
	}
	if text, ok := compilerHelper(s); ok {
		if text != s {
			n.noteRule(rule.SwiftDecoration)
		}
		return text
	}
	if text, ok := n.swift(s); ok {
		if helper, ok := compilerHelper(text); ok {
			return helper
		}
		s = text
	}
	if s != prefixed {
		s = n.nativePrefixes(s)
	}
	text := strings.TrimPrefix(n.qualified(s), "__rustc::") // the runtime's own crate
	if block && text != "" {
		text += "_block"
	}
	return text
}

// plainNative reports whether a name has nothing to normalize.
func plainNative(s string) bool {
	if strings.HasPrefix(s, "_") && scan.HasPrefixAny(s, "__swift_", "__copy_helper_block", "__destroy_helper_block") ||
		scan.HasPrefixAny(s, "swift_memcpy", "OUTLINED_FUNCTION_") {
		return false
	}
	if strings.IndexByte(s, '(') >= 0 || strings.IndexByte(s, ' ') >= 0 {
		return false // as most names of C++
	}
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case ':':
			if inlineNamespaceEnd(s, i+2) > 0 && strings.HasPrefix(s[i:], "::") {
				return false
			}
		case '<', '(', '[', '{', '`', '\'', '$', '@', '.', '+', ' ', '!', '#', '?', '-':
			return false
		case '_':
			if strings.HasPrefix(s[i:], "_block_invoke") || strings.HasPrefix(s[i:], "_GLOBAL__N_") || i < 2 &&
				isMangledStart(s[i+1:]) || i == 0 && strings.HasPrefix(s, "_cgo_") || strings.HasPrefix(s[i:], "__anon_") ||
				strings.HasPrefix(s[i:], "__allocating_") || strings.HasPrefix(s[i:], "__deallocating_") {
				return false
			}
		case 'l':
			if strings.HasPrefix(s[i:], "lambda") && scan.HasPrefixAny(s[i:], "lambda_", "lambda::operator()::") {
				return false
			}
		case 'h':
			if i > 0 && s[i-1] == ':' && rustHash(s, i) > 0 {
				return false
			}
		}
	}
	return true
}

// qualified scans a qualified name once from left to right.
func (n *Namer) qualified(s string) string {
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
		case scan.IsIdent(c):
			if end := inlineNamespaceEnd(s, i); end > 0 && bytes.HasSuffix(n.out, []byte("::")) {
				n.noteRule(rule.InlineNamespace)
				i = end
				continue
			}
			word := Identifier(s, i)
			next, isOperator := n.word(s, i, word)
			operator = operator || isOperator
			i = next
		case c == '<':
			i = n.angleBracket(s, i, 0)
		case c == '(':
			end := scan.BracketEnd(s, i)
			if scan.IsOneOf(s[i:end], "(anonymous namespace)", "(anonymous)", "(anonymous class)") {
				n.out = append(n.out, "{anon}"...)
				n.noteRule(rule.AnonymousNamespace)
				i = end
				continue
			}
			if bytes.HasSuffix(n.out, []byte(".")) {
				if name, ok := swiftPrivate(s[i:end]); ok {
					n.out = append(n.out, name...)
					n.noteRule(rule.SwiftDecoration)
					i = end
					continue
				}
			}
			if strings.HasPrefix(s[i:end], "(extension in ") && strings.HasPrefix(s[end:], ":") {
				n.noteRule(rule.SwiftDecoration)
				i = end + 1
				continue
			}
			if !args && blank > 0 && blank < len(n.out) {
				n.out = append(n.out[:0], n.out[blank:]...)
				n.noteRule(rule.ReturnType)
			}
			if string(bytes.TrimRight(n.out, " ")) == "decltype" {
				n.out, blank = n.out[:0], -1
				n.noteRule(rule.ReturnType)
				i = end
				continue
			}
			args, operator = true, false
			n.noteRule(rule.Arguments)
			rest := trimQualifiers(s[end:])
			if strings.HasPrefix(rest, "::") || strings.HasPrefix(rest, ".(") || strings.HasPrefix(rest, "'::") {
				i = len(s) - len(rest)
				continue
			}
			n.noteSuffix(s[end:])
			break scan
		case c == ' ':
			rest := s[i:]
			if rest == " const" || strings.HasPrefix(rest, " [") || strings.HasPrefix(rest, " + ") ||
				strings.HasPrefix(rest, " (.") || strings.HasPrefix(rest, " : ") || strings.HasPrefix(rest, " -> ") {
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
			end := scan.BracketEnd(s, i)
			n.curlyBracket(s[i:end])
			i = end
		case c == '`' || c == '\'':
			i = n.quotedPart(s, i)
		case c == '[':
			end := scan.BracketEnd(s, i)
			switch {
			case len(n.out) == 0 || strings.HasPrefix(s[i:], "[clone") || strings.HasPrefix(s[i:], "[abi:"):
				n.noteRule(rule.CloneSuffix)
				i = end
				continue
			case rustCrateHash(s, i, end):
				n.noteRule(rule.RustHash)
				i = end
				continue
			}
			n.out = append(n.out, s[i:end]...)
			i = end
		case c == '@':
			if end := symbolVersion(s, i); end > 0 {
				if scan.AllDigits(s[i+1 : end]) {
					n.noteRule(rule.StdcallSuffix)
					if len(n.out) > 1 && n.out[0] == '_' && n.out[1] != '_' {
						n.out = append(n.out[:0], n.out[1:]...)
					}
				} else {
					n.noteRule(rule.SymbolVersion)
				}
				i = end
				continue
			}
			if i == 0 {
				n.noteRule(rule.StdcallSuffix) // @fastcall@8
			} else {
				n.out = append(n.out, c)
			}
			i++
		case c == '.':
			if end := cloneSuffix(s, i); end > 0 {
				n.noteRule(rule.CloneSuffix)
				i = end
				continue
			}
			n.out = append(n.out, c)
			i++
		case c == '?' && strings.HasPrefix(s[i:], "?A0x"):
			i += 1 + len(Identifier(s, i+1))
			n.out = append(n.out, "{anon}"...)
			n.noteRule(rule.AnonymousNamespace)
		case c == '+' && codeOffset(s[i+1:]):
			n.noteRule(rule.CodeOffset)
			break scan
		default:
			n.out = append(n.out, c)
			i++
		}
	}
	return n.result(s)
}

// Identifier returns the identifier that begins at s[i], which may be empty.
func Identifier(s string, i int) string {
	j := i
	for j < len(s) && scan.IsIdent(s[j]) {
		j++
	}
	return s[i:j]
}

// word writes one identifier, or its replacement, and returns the position after
// it, and whether it is a conversion operator or operator new.
func (n *Namer) word(s string, i int, word string) (int, bool) {
	end := i + len(word)
	if len(word) < 40 && strings.IndexByte("oh$", word[0]) < 0 && strings.IndexByte(word, '_') < 0 && strings.IndexByte(word, '$') < 0 {
		n.out = append(n.out, word...) // as most words
		return end, false
	}
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
			n.noteRule(rule.TemplateArguments)
			return scan.BracketEnd(s, end+1), false
		}
		return end, false
	case strings.HasPrefix(word, "_GLOBAL__N_"), scan.IsOneOf(word, "_anonymous_namespace_", "__anonymous_namespace__"):
		n.out = append(n.out, "{anon}"...)
		n.noteRule(rule.AnonymousNamespace)
		return end, false
	case strings.HasPrefix(word, "$_") && scan.AllDigits(word[2:]),
		strings.HasPrefix(word, "lambda_") && len(word) >= len("lambda_")+1 && scan.AllHex(word[len("lambda_"):]) &&
			(len(word) == len("lambda_")+32 || scan.AllDigits(word[len("lambda_"):])):
		n.nested("lambda", "lambda::operator()::")
		n.noteRule(rule.Lambda)
		return end, false
	case word == "__allocating_init", word == "__deallocating_deinit", word == "__isolated_deallocating_deinit":
		n.out = append(n.out, word[strings.LastIndexByte(word, '_')+1:]...)
		n.noteRule(rule.SwiftDecoration)
		return end, false
	case strings.HasPrefix(word, "_cgo_") && len(n.out) == 0 && strings.Contains(word, "_Cfunc_"):
		n.out = append(n.out, word[strings.Index(word, "_Cfunc_")+len("_Cfunc_"):]...)
		n.noteRule(rule.LocalScope)
		return end, false
	case strings.Contains(word, "__anon_") && scan.AllDigits(word[strings.Index(word, "__anon_")+len("__anon_"):]):
		n.out = append(n.out, word[:strings.Index(word, "__anon_")]...) // an instance of a generic function of Zig
		n.noteRule(rule.TemplateArguments)
		return end, false
	case word[0] == 'h' && rustHash(s, i) > 0 && bytes.HasSuffix(n.out, []byte("::")):
		n.out = n.out[:len(n.out)-2]
		n.noteRule(rule.RustHash)
		return end, false
	}
	if k := len(word) - len("_m") - 40; k > 0 && strings.HasPrefix(word[k:], "_m") && scan.AllHex(word[k+2:]) {
		n.out = append(n.out, word[:k]...)
		n.noteRule(rule.IL2CPP)
		return end, false
	}
	if strings.IndexByte(word, '$') < 0 {
		n.out = append(n.out, word...)
		return end, false
	}
	for _, mark := range [...]string{"impl", "closure", "closure_env", "async_fn_env", "async_block_env", "enum2", "async_fn", "async_block"} {
		// Rust in the debug information of Windows: impl$2, closure_env$0.
		if tail, ok := strings.CutPrefix(word, mark+"$"); ok && (tail == "" || scan.AllDigits(tail)) {
			word, _, _ = strings.Cut(mark, "_env")
			n.nested(word, "closure::")
			n.noteRule(rule.Lambda)
			return end, false
		}
	}
	for _, mark := range [...]string{"$VARIANT$", "$NOCANCEL", "$UNIX2003", "$DARWIN_EXTSN"} {
		if k := strings.Index(word, mark); k > 0 {
			n.out = append(n.out, word[:k]...)
			n.noteRule(rule.CloneSuffix)
			return end, false
		}
	}
	n.out = append(n.out, word...)
	return end, false
}

// isMangledStart reports whether a symbol begins so after its first underscore.
func isMangledStart(s string) bool {
	s = strings.TrimLeft(scan.Truncate(s, 4), "_")
	return len(s) > 0 && (s[0] == 'Z' || s[0] == 'R' || s[0] == 'D' || s[0] == 'T')
}

// rustCrateHash reports whether the bracket s[i:end] is the hash that a demangler
// writes after the name of a crate: app[4d2f1c]::main.
func rustCrateHash(s string, i, end int) bool {
	return i > 0 && scan.IsIdent(s[i-1]) && end-i > 2 && end-i <= 18 && s[end-1] == ']' && scan.AllHex(s[i+1:end-1]) &&
		(end == len(s) || s[end] == ':' || s[end] == '>' || s[end] == ' ')
}

// rustHash returns the length of "h" and 16 hexadecimal digits at i when they
// are the last part of a path, else 0.
func rustHash(s string, i int) int {
	const length = 17
	if i < 2 || s[i-1] != ':' || s[i-2] != ':' || len(s)-i < length || s[i] != 'h' || !scan.AllHex(s[i+1:i+length]) {
		return 0
	}
	if i+length < len(s) && (scan.IsIdent(s[i+length]) || s[i+length] == ':') {
		return 0
	}
	return length
}
