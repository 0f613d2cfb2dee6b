package naming

import (
	"bytes"

	"github.com/slipway-qa/slipway/worker/crash/fingerprint/language"
	"github.com/slipway-qa/slipway/worker/crash/fingerprint/rule"
	"github.com/slipway-qa/slipway/worker/crash/fingerprint/scan"

	"strings"
)

// dotnetNamer applies the rules for names of .NET.
type dotnetNamer struct{ *Namer }

// name normalizes names of C# and related languages, as the .NET runtime, Mono,
// Unity and IL2CPP write them.
//
//	Shop.Cart.<PayAsync>d__12.MoveNext()               ->  Shop.Cart.PayAsync
//	Shop.Cart+<>c__DisplayClass3_0.<Pay>b__1(Int32 x)  ->  Shop.Cart.Pay.lambda
//	System.Collections.Generic.List`1[T].Add(T item)   ->  System.Collections.Generic.List.Add
func (n dotnetNamer) name(s string) string {
	s = strings.TrimPrefix(s, "at ")
	if i := strings.IndexByte(s, '!'); i > 0 && IsPlainWord(strings.ReplaceAll(s[:i], ".", "_")) {
		s = s[i+1:] // Shop.dll!Shop.Cart.Pay
		n.noteRule(rule.ModulePrefix)
	}
	if strings.HasPrefix(s, "(wrapper ") {
		s = strings.TrimSpace(s[scan.BracketEnd(s, 0):])
		n.noteRule(rule.ModulePrefix)
	}
	s = n.otherCompilers(n.demystified(s))
	n.out = n.out[:0]
scan:
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case c == '(':
			n.noteRule(rule.Arguments)
			break scan
		case c == ' ' && i+1 < len(s) && (s[i+1] == '(' || s[i+1] == '['):
			i++
		case c == '+' && i > 0, c == '/' && i > 0, c == ':' && i > 0 && i+1 < len(s) && (scan.IsIdent(s[i+1]) || s[i+1] == '<'):
			n.out = append(n.out, '.')
			n.noteRule(rule.DotNetNesting)
			i++
		case c == '`' && i+1 < len(s) && scan.IsDigit(s[i+1]):
			i += 1 + scan.CountDigits(s[i+1:])
			n.noteRule(rule.DotNetGenerics)
		case c == '[':
			i = scan.BracketEnd(s, i)
			n.noteRule(rule.DotNetGenerics)
		case c == '<':
			i = n.compilerName(s, i)
		case c == '_' && il2cppHashLength(s[i:]) > 0:
			i += il2cppHashLength(s[i:])
			n.noteRule(rule.IL2CPP)
		default:
			n.out = append(n.out, c)
			i++
		}
	}
	return n.result(s)
}

// otherCompilers brings what the compilers of Visual Basic and F#, and IL2CPP,
// generate to the form of C#'s.
func (n dotnetNamer) otherCompilers(s string) string {
	if strings.Contains(s, "U3C") && strings.Contains(s, "U3E") {
		s = strings.ReplaceAll(strings.ReplaceAll(s, "U3C", "<"), "U3E", ">")
		n.noteRule(rule.IL2CPP)
	}
	if language.IsIL2CPP(s) {
		s = n.il2cpp(s)
	}
	if i := strings.Index(s, " + 0x"); i > 0 && strings.IndexByte(s[:i], '(') < 0 {
		s = s[:i] // ahead-of-time compiled, without arguments
		n.noteRule(rule.CodeOffset)
	}
	if i := strings.Index(s, "VB$StateMachine_"); i >= 0 {
		// Cart.VB$StateMachine_12_PayAsync.MoveNext
		rest := s[i+len("VB$StateMachine_"):]
		if k := scan.CountDigits(rest); k > 0 && k < len(rest) && rest[k] == '_' {
			s = s[:i] + strings.Replace(rest[k+1:], ".MoveNext", "", 1)
			n.noteRule(rule.DotNetAsync)
		}
	}
	for _, mark := range [...]string{"_Closure$__", "_Lambda$__"} {
		if i := strings.Index(s, mark); i >= 0 {
			end := i + len(mark)
			for end < len(s) && (scan.IsDigit(s[end]) || s[end] == '-' || s[end] == 'R' || s[end] == 'I') {
				end++
			}
			word := "lambda"
			if mark == "_Closure$__" {
				word = ""
				if end < len(s) && (s[end] == '.' || s[end] == '+') {
					end++
				}
			}
			s = s[:i] + word + s[end:]
			n.noteRule(rule.DotNetLambda)
		}
	}
	// F#: the closure pay@12-1.Invoke is in pay.
	if i := strings.IndexByte(s, '@'); i > 0 && i+1 < len(s) && scan.IsDigit(s[i+1]) {
		end := i + 1
		for end < len(s) && (scan.IsDigit(s[end]) || s[end] == '-' || s[end] == '@') {
			end++
		}
		tail := s[end:]
		if strings.HasPrefix(tail, ".Invoke") || strings.HasPrefix(tail, ".MoveNext") || strings.HasPrefix(tail, ".GenerateNext") {
			tail = ""
		}
		s = s[:i] + tail
		n.noteRule(rule.DotNetLambda)
	}
	if strings.HasPrefix(s, "lambda_method") && scan.AllDigits(Identifier(s, 0)[len("lambda_method"):]) {
		s = "lambda_method"
		n.noteRule(rule.DotNetLambda)
	}
	return s
}

// il2cpp returns Player.get_Name for Player_get_Name_m<hash>: the class, which
// has no namespace, ends at the first underscore.
func (n dotnetNamer) il2cpp(s string) string {
	s = language.Il2cppStem(s)
	n.noteRule(rule.IL2CPP)
	class, method, ok := strings.Cut(s, "_")
	if !ok || class == "" || strings.ContainsAny(class, "<>.:") {
		return s
	}
	if k := scan.CountDigits(method); k > 0 && k < len(method) && method[k] == '_' {
		method = method[k+1:] // the number of type parameters
	}
	if scan.IsOneOf(method, "_ctor", "_cctor") {
		method = "." + method[1:]
	}
	if method == "" {
		return s
	}
	return class + "." + method
}

// compilerName handles a name in angle brackets, which the compiler generated from
// that of a method, or a list of type arguments, and returns the position after
// what belongs to it.
func (n dotnetNamer) compilerName(s string, i int) int {
	end := scan.BracketEnd(s, i)
	inner := strings.TrimSuffix(s[i+1:end], ">")
	rest := s[end:]
	if !n.atNameStart() {
		n.noteRule(rule.DotNetGenerics) // Add<T_INT>
		return end
	}
	if inner == "" {
		// <>c and <>c__DisplayClass3_0 contain lambdas; the method follows.
		word := Identifier(rest, 0)
		n.noteRule(rule.DotNetLambda)
		end += len(word)
		if end < len(s) && (s[end] == '.' || s[end] == '+' || s[end] == '/' || s[end] == ':') {
			end++
		}
		return end
	}
	word := Identifier(rest, 0)
	switch {
	case scan.HasPrefixAny(word, "c__Iterator", "c__async") && scan.AllDigits(strings.TrimLeft(word[len("c__async"):], "tor")):
		// Old Mono: <PayRoutine>c__Iterator0.MoveNext
		n.out = append(n.out, inner...)
		n.noteRule(rule.DotNetAsync)
		return n.skipMoveNext(s, end+len(word))
	case scan.HasPrefixAny(word, "c__AnonStorey", "c__DisplayClass"):
		// The container of lambdas of a method: <>m__0 follows.
		n.out = append(append(n.out, inner...), ".lambda"...)
		n.noteRule(rule.DotNetLambda)
		end += len(word)
		if k := strings.Index(s[end:], "<>m__"); k >= 0 && k < 4 {
			end += k + len("<>m__") + scan.CountDigits(s[end+k+len("<>m__"):])
		}
		return end
	case strings.HasPrefix(word, "m__"):
		n.out = append(append(n.out, inner...), ".lambda"...)
		n.noteRule(rule.DotNetLambda)
		return end + len(word)
	case strings.HasPrefix(word, "d__") || strings.HasPrefix(word, "d") && scan.AllDigits(word[1:]):
		n.out = append(n.out, inner...)
		n.noteRule(rule.DotNetAsync)
		end += len(word)
		if end < len(s) && s[end] == '`' {
			end += 1 + scan.CountDigits(s[end+1:])
		}
		if end < len(s) && s[end] == '[' {
			end = scan.BracketEnd(s, end)
		}
		return n.skipMoveNext(s, end)
	case strings.HasPrefix(word, "b__"):
		n.out = append(append(n.out, inner...), ".lambda"...)
		n.noteRule(rule.DotNetLambda)
		return end + len(word)
	case strings.HasPrefix(word, "g__"):
		local := strings.TrimPrefix(word, "g__")
		n.out = append(append(append(n.out, inner...), '.'), local...)
		n.noteRule(rule.DotNetLambda)
		end += len(word)
		if strings.HasPrefix(s[end:], "|") {
			end += 1 + len(Identifier(s, end+1))
		}
		return end
	}
	n.out = append(n.out, inner...)
	n.noteRule(rule.DotNetLambda)
	return end
}

// skipMoveNext returns the position after the method of a state machine, whose
// class has the name of the function.
func (n dotnetNamer) skipMoveNext(s string, end int) int {
	for _, sep := range [...]string{".", "+", ":", "/", "_"} {
		if strings.HasPrefix(s[end:], sep+"MoveNext") {
			return end + len(sep) + len("MoveNext")
		}
	}
	return end
}

func (n dotnetNamer) atNameStart() bool {
	return len(n.out) == 0 || bytes.IndexByte([]byte(".+/:"), n.out[len(n.out)-1]) >= 0
}

// il2cppHashLength returns the length of a method's hash at the start of s
// ("_m" and 8, 32 or 40 hexadecimal digits in capitals), or 0.
func il2cppHashLength(s string) int {
	if !strings.HasPrefix(s, "_m") {
		return 0
	}
	word := Identifier(scan.Truncate(s, 64), 0)
	hash := word[2:]
	if k := strings.IndexByte(hash, '_'); k >= 0 {
		hash = hash[:k] // _m0123ABCD_gshared
	}
	if (len(hash) == 8 || len(hash) == 32 || len(hash) == 40) && scan.AllHex(hash) && strings.ToUpper(hash) == hash {
		return 2 + len(hash)
	}
	return 0
}
