package naming

import (
	"bytes"

	"github.com/slipway-qa/slipway/worker/crash/fingerprint/rule"
	"github.com/slipway-qa/slipway/worker/crash/fingerprint/scan"

	"strings"
)

// maxTypeDepth bounds the nesting of Rust paths that are kept
// ("<<A as B>::C as D>::e"); what is deeper is left out.
const maxTypeDepth = 4

// angleBracket handles the bracket at s[i] and returns the position after its end.
// Template arguments are left out. A bracket at the start of a path is a part
// of the name: Rust's <A as B> and <impl A for B>, Microsoft's <lambda_...>.
func (n *Namer) angleBracket(s string, i, depth int) int {
	end := scan.BracketEnd(s, i)
	inner := strings.TrimSuffix(s[i+1:end], ">")
	if n.atPathStart() {
		switch {
		case strings.HasPrefix(inner, "lambda"):
			n.nested("lambda", "lambda::operator()::")
			n.noteRule(rule.Lambda)
			return end
		case strings.HasPrefix(inner, "unnamed"):
			n.out = append(n.out, "{anon}"...)
			n.noteRule(rule.AnonymousNamespace)
			return end
		}
		turbofish := bytes.HasSuffix(n.out, []byte("::")) && !strings.HasPrefix(inner, "impl ") && !strings.Contains(inner, " as ")
		if !turbofish && depth < maxTypeDepth {
			if depth == 0 && !strings.HasPrefix(s[end:], "::") {
				n.out = append(n.out, s[i:end]...) // <signal handler called>
				return end
			}
			n.rustType(inner, depth+1)
			return end
		}
		if turbofish {
			n.out = n.out[:len(n.out)-2]
			n.noteRule(rule.TemplateArguments)
		}
	}
	n.noteRule(rule.TemplateArguments)
	return end
}

// rustType writes the type or the implementation before a method of Rust in the
// one way that all its manglings have.
//
//	<app::Cart<u8>>::pay                        ->  app::Cart::pay
//	app::cart::<impl app::Pay for app::Cart>::f ->  <app::Cart as app::Pay>::f
func (n *Namer) rustType(inner string, depth int) {
	rest, impl := strings.CutPrefix(inner, "impl ")
	trait, typ, isTrait := cutOutsideAngles(rest, " for ")
	start := bytes.LastIndexByte(n.out, ' ') + 1
	switch {
	case impl && depth == 1 && isTrait:
		n.out = append(n.out[:start], '<')
		n.typePath(typ, depth)
		n.out = append(n.out, " as "...)
		n.typePath(trait, depth)
		n.out = append(n.out, '>')
		n.noteRule(rule.TemplateArguments)
	case depth == 1 && (impl || !strings.Contains(inner, " as ")):
		if impl {
			n.out = n.out[:start]
		}
		n.typePath(rest, depth)
		n.noteRule(rule.TemplateArguments)
	default:
		n.out = append(n.out, '<')
		n.typePath(inner, depth)
		n.out = append(n.out, '>')
	}
}

// cutOutsideAngles cuts s around the first sep that is in no angle bracket.
func cutOutsideAngles(s, sep string) (before, after string, found bool) {
	for i := 0; i < len(s); {
		switch {
		case s[i] == '<':
			i = scan.BracketEnd(s, i)
		case strings.HasPrefix(s[i:], sep):
			return s[:i], s[i+len(sep):], true
		default:
			i++
		}
	}
	return s, "", false
}

func (n *Namer) atPathStart() bool {
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
func (n *Namer) typePath(s string, depth int) {
	for i := 0; i < len(s); {
		switch s[i] {
		case '<':
			i = n.angleBracket(s, i, depth)
		case '{':
			end := scan.BracketEnd(s, i)
			n.curlyBracket(s[i:end])
			i = end
		case '[':
			end := scan.BracketEnd(s, i)
			if rustCrateHash(s, i, end) {
				n.noteRule(rule.RustHash)
			} else {
				n.out = append(n.out, "[]"...) // a slice or an array
				if s[i:end] != "[]" {
					n.noteRule(rule.TemplateArguments)
				}
			}
			i = end
		default:
			n.out = append(n.out, s[i])
			i++
		}
	}
}

// curlyBracket writes the name inside braces without its number and arguments:
// {lambda(int)#1} and {{closure}} and {closure#0}.
func (n *Namer) curlyBracket(s string) {
	inner := strings.TrimRight(strings.TrimLeft(s, "{"), "}")
	word := ""
	if inner != "" && scan.IsIdent(inner[0]) {
		word = Identifier(inner, 0)
	}
	switch word {
	case "anon", "anonymous":
		n.out = append(n.out, "{anon}"...)
		if s != "{anon}" {
			n.noteRule(rule.AnonymousNamespace)
		}
	case "":
		n.out = append(n.out, "{}"...)
	case "closure", "closure_env":
		n.noteRule(rule.Lambda)
		n.nested("closure", "closure::")
	case "lambda":
		n.noteRule(rule.Lambda)
		n.nested("lambda", "lambda::operator()::")
	default:
		n.out = append(n.out, word...)
		n.noteRule(rule.Lambda)
	}
}

// nested writes the name of a closure, which stands for those around it in the same
// function too: compilers number and nest them differently.
func (n *Namer) nested(word, enclosing string) {
	if text, ok := bytes.CutSuffix(n.out, []byte(enclosing)); ok {
		n.out = text
	}
	n.out = append(n.out, word...)
}

// quotedPart handles the quotes of Microsoft's and LLVM's demanglers and returns
// the position after them: `anonymous namespace', `2', 'lambda'.
func (n *Namer) quotedPart(s string, i int) int {
	const longest = 1024 // so that repeated quotes are read once, not once for each
	j := strings.IndexByte(scan.Truncate(s[i+1:], longest), '\'')
	if j < 0 {
		n.out = append(n.out, s[i])
		return i + 1
	}
	end := i + 1 + j + 1
	inner := s[i+1 : end-1]
	switch {
	case strings.HasPrefix(inner, "anonymous namespace"), strings.HasPrefix(inner, "anonymous-namespace"):
		n.out = append(n.out, "{anon}"...)
		n.noteRule(rule.AnonymousNamespace)
	case strings.HasPrefix(inner, "lambda"):
		n.nested("lambda", "lambda::operator()::")
		n.noteRule(rule.Lambda)
	case scan.HasPrefixAny(inner, "adjustor{", "vtordisp{", "vtordispex{", "vcall"):
		n.noteRule(rule.Thunk)
		return len(s)
	case scan.HasPrefixAny(inner, "scalar deleting destructor", "vector deleting destructor", "vbase destructor"):
		n.out = append(n.out, "deleting destructor"...)
		n.noteRule(rule.Thunk)
	case s[i] == '`' && strings.IndexByte(inner, '(') > 0:
		// The function around a local name, as a whole declaration.
		head := inner[:strings.IndexByte(inner, '(')]
		n.out = append(n.out, head[strings.LastIndexByte(head, ' ')+1:]...)
		n.noteRule(rule.LocalScope)
	case scan.AllDigits(inner):
		// A numbered scope inside a function: `f'::`2'::local.
		n.noteRule(rule.LocalScope)
		if strings.HasPrefix(s[end:], "::") {
			end += 2
		}
	case s[i] == '`' && !strings.Contains(inner, "`") && !strings.ContainsAny(inner, " <(["):
		n.out = append(n.out, inner...)
		n.noteRule(rule.LocalScope)
	default:
		n.out = append(n.out, s[i:end]...)
	}
	return end
}
