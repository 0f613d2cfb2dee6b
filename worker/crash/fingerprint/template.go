package fingerprint

import (
	"bytes"
	"strings"
)

// maxTypeDepth bounds the nesting of Rust paths that are kept
// ("<<A as B>::C as D>::e"); what is deeper becomes <T>.
const maxTypeDepth = 4

// angleBracket handles the bracket at s[i] and returns the position after its end.
// Template arguments become <T>. A bracket at the start of a path is a part
// of the name: Rust's <A as B> and <impl A for B>, Microsoft's <lambda_...>.
func (n *namer) angleBracket(s string, i, depth int) int {
	end := bracketEnd(s, i)
	inner := strings.TrimSuffix(s[i+1:end], ">")
	if n.atPathStart() {
		switch {
		case strings.HasPrefix(inner, "lambda"):
			n.out = append(n.out, "lambda"...)
			n.noteRule(RuleLambda)
			return end
		case strings.HasPrefix(inner, "unnamed"):
			n.out = append(n.out, "{anon}"...)
			n.noteRule(RuleAnonymousNamespace)
			return end
		}
		turbofish := bytes.HasSuffix(n.out, []byte("::")) && !strings.HasPrefix(inner, "impl ") && !strings.Contains(inner, " as ")
		if !turbofish && depth < maxTypeDepth {
			n.out = append(n.out, '<')
			n.typePath(inner, depth+1)
			n.out = append(n.out, '>')
			return end
		}
		if turbofish {
			n.out = n.out[:len(n.out)-2]
			n.noteRule(RuleTemplateArguments)
		}
	}
	n.out = append(n.out, "<T>"...)
	if inner != "T" {
		n.noteRule(RuleTemplateArguments)
	}
	return end
}

func (n *namer) atPathStart() bool {
	if len(n.out) == 0 {
		return true
	}
	switch n.out[len(n.out)-1] {
	case ' ', ':', '&', '*', '(', '[', ',', '<':
		return true
	}
	return false
}

// typePath writes the inside of a Rust path: it stays, but for the arguments
// of its types and the numbers of its closures.
func (n *namer) typePath(s string, depth int) {
	for i := 0; i < len(s); {
		switch s[i] {
		case '<':
			i = n.angleBracket(s, i, depth)
		case '{':
			end := bracketEnd(s, i)
			n.curlyBracket(s[i:end])
			i = end
		default:
			n.out = append(n.out, s[i])
			i++
		}
	}
}

// curlyBracket writes the name inside braces without its number and arguments:
// {lambda(int)#1} and {{closure}} and {closure#0}.
func (n *namer) curlyBracket(s string) {
	inner := strings.TrimRight(strings.TrimLeft(s, "{"), "}")
	word := ""
	if inner != "" && isIdent(inner[0]) {
		word = identifier(inner, 0)
	}
	switch word {
	case "anon", "anonymous":
		n.out = append(n.out, "{anon}"...)
		if s != "{anon}" {
			n.noteRule(RuleAnonymousNamespace)
		}
	case "":
		n.out = append(n.out, "{}"...)
	case "closure_env":
		n.out = append(n.out, "closure"...)
		n.noteRule(RuleLambda)
	default:
		n.out = append(n.out, word...)
		n.noteRule(RuleLambda)
	}
}

// quotedPart handles the quotes of Microsoft's and LLVM's demanglers and returns
// the position after them: `anonymous namespace', `2', 'lambda'.
func (n *namer) quotedPart(s string, i int) int {
	const longest = 1024 // so that repeated quotes are read once, not once for each
	j := strings.IndexByte(truncate(s[i+1:], longest), '\'')
	if j < 0 {
		n.out = append(n.out, s[i])
		return i + 1
	}
	end := i + 1 + j + 1
	inner := s[i+1 : end-1]
	switch {
	case strings.HasPrefix(inner, "anonymous namespace"), strings.HasPrefix(inner, "anonymous-namespace"):
		n.out = append(n.out, "{anon}"...)
		n.noteRule(RuleAnonymousNamespace)
	case strings.HasPrefix(inner, "lambda"):
		n.out = append(n.out, "lambda"...)
		n.noteRule(RuleLambda)
	case allDigits(inner):
		// A numbered scope inside a function: `f'::`2'::local.
		n.noteRule(RuleLocalScope)
		if strings.HasPrefix(s[end:], "::") {
			end += 2
		}
	case s[i] == '`' && !strings.Contains(inner, "`") && !strings.ContainsAny(inner, " <(["):
		n.out = append(n.out, inner...)
		n.noteRule(RuleLocalScope)
	default:
		n.out = append(n.out, s[i:end]...)
	}
	return end
}
