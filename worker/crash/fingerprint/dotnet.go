package fingerprint

import (
	"bytes"
	"strings"
)

// dotnet normalizes names of C# and related languages, as the .NET runtime, Mono,
// Unity and IL2CPP write them.
//
//	Shop.Cart.<PayAsync>d__12.MoveNext()               ->  Shop.Cart.PayAsync
//	Shop.Cart+<>c__DisplayClass3_0.<Pay>b__1(Int32 x)  ->  Shop.Cart.Pay.lambda
//	System.Collections.Generic.List`1[T].Add(T item)   ->  System.Collections.Generic.List.Add
func (n *namer) dotnet(s string) string {
	s = strings.TrimPrefix(s, "at ")
	if strings.HasPrefix(s, "(wrapper ") {
		s = strings.TrimSpace(s[bracketEnd(s, 0):])
		n.noteRule(RuleModulePrefix)
	}
	n.out = n.out[:0]
scan:
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case c == '(':
			n.noteRule(RuleArguments)
			break scan
		case c == ' ' && i+1 < len(s) && (s[i+1] == '(' || s[i+1] == '['):
			i++
		case c == '+' && i > 0, c == '/' && i > 0, c == ':' && i > 0 && i+1 < len(s) && (isIdent(s[i+1]) || s[i+1] == '<'):
			n.out = append(n.out, '.')
			n.noteRule(RuleDotNetNesting)
			i++
		case c == '`' && i+1 < len(s) && isDigit(s[i+1]):
			i += 1 + countDigits(s[i+1:])
			n.noteRule(RuleDotNetGenerics)
		case c == '[':
			i = bracketEnd(s, i)
			n.noteRule(RuleDotNetGenerics)
		case c == '<':
			i = n.compilerName(s, i)
		case c == '_' && il2cppHashLength(s[i:]) > 0:
			i += il2cppHashLength(s[i:])
			n.noteRule(RuleIL2CPP)
		default:
			n.out = append(n.out, c)
			i++
		}
	}
	return n.result(s)
}

// compilerName handles a name in angle brackets, which the compiler generated from
// that of a method, or a list of type arguments, and returns the position after
// what belongs to it.
func (n *namer) compilerName(s string, i int) int {
	end := bracketEnd(s, i)
	inner := strings.TrimSuffix(s[i+1:end], ">")
	rest := s[end:]
	if !n.atNameStart() {
		n.noteRule(RuleDotNetGenerics) // Add<T_INT>
		return end
	}
	if inner == "" {
		// <>c and <>c__DisplayClass3_0 contain lambdas; the method follows.
		word := identifier(rest, 0)
		n.noteRule(RuleDotNetLambda)
		end += len(word)
		if end < len(s) && (s[end] == '.' || s[end] == '+' || s[end] == '/' || s[end] == ':') {
			end++
		}
		return end
	}
	word := identifier(rest, 0)
	switch {
	case strings.HasPrefix(word, "d__") || strings.HasPrefix(word, "d") && allDigits(word[1:]):
		n.out = append(n.out, inner...)
		n.noteRule(RuleDotNetAsync)
		end += len(word)
		if end < len(s) && s[end] == '`' {
			end += 1 + countDigits(s[end+1:])
		}
		if end < len(s) && s[end] == '[' {
			end = bracketEnd(s, end)
		}
		for _, sep := range [...]string{".", "+", ":", "/"} {
			if strings.HasPrefix(s[end:], sep+"MoveNext") {
				end += len(sep) + len("MoveNext")
				break
			}
		}
		return end
	case strings.HasPrefix(word, "b__"):
		n.out = append(append(n.out, inner...), ".lambda"...)
		n.noteRule(RuleDotNetLambda)
		return end + len(word)
	case strings.HasPrefix(word, "g__"):
		local := strings.TrimPrefix(word, "g__")
		n.out = append(append(append(n.out, inner...), '.'), local...)
		n.noteRule(RuleDotNetLambda)
		end += len(word)
		if strings.HasPrefix(s[end:], "|") {
			end += 1 + len(identifier(s, end+1))
		}
		return end
	}
	n.out = append(n.out, inner...)
	n.noteRule(RuleDotNetLambda)
	return end
}

func (n *namer) atNameStart() bool {
	return len(n.out) == 0 || bytes.IndexByte([]byte(".+/:"), n.out[len(n.out)-1]) >= 0
}

// il2cppHashLength returns the length of a method's hash at the start of s
// ("_m" and 8, 32 or 40 hexadecimal digits in capitals), or 0.
func il2cppHashLength(s string) int {
	if !strings.HasPrefix(s, "_m") {
		return 0
	}
	word := identifier(truncate(s, 64), 0)
	hash := word[2:]
	if k := strings.IndexByte(hash, '_'); k >= 0 {
		hash = hash[:k] // _m0123ABCD_gshared
	}
	if (len(hash) == 8 || len(hash) == 32 || len(hash) == 40) && allHex(hash) && strings.ToUpper(hash) == hash {
		return 2 + len(hash)
	}
	return 0
}
