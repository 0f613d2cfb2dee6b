package naming

import (
	"strconv"

	"github.com/slipway-qa/slipway/worker/crash/fingerprint/rule"
	"github.com/slipway-qa/slipway/worker/crash/fingerprint/scan"

	"strings"
)

// dart normalizes names of Dart's virtual machine and of its compilers to
// JavaScript.
//
//	_CartState.pay.<anonymous closure>.<anonymous closure>  ->  _CartState.pay.lambda
//	new Cart.fromJson                                       ->  Cart.fromJson
func (n *Namer) dart(s string) string {
	if text, ok := sectionOffset(s); ok {
		return text
	}
	if rest, ok := strings.CutPrefix(s, "new "); ok {
		s = rest
		n.noteRule(rule.JSReceiver)
	}
	if i := strings.IndexByte(s, '('); i > 0 {
		s = strings.TrimSpace(s[:i])
		n.noteRule(rule.Arguments)
	}
	for _, closure := range [...]string{"<anonymous closure>", "<fn>", "<closure>"} {
		if i := strings.Index(s, closure); i >= 0 {
			s = s[:i] + "lambda"
			n.noteRule(rule.Lambda)
		}
	}
	s = n.dartPrivate(s)
	if i := strings.IndexByte(s, '<'); i > 0 && strings.HasSuffix(s, ">") {
		s = s[:i]
		n.noteRule(rule.TemplateArguments)
	}
	return s
}

// dartPrivate removes the number of the library that a private name belongs to.
//
//	_Parser@1026248._read@1026248  ->  _Parser._read
func (n *Namer) dartPrivate(s string) string {
	if strings.IndexByte(s, '@') <= 0 {
		return s
	}
	n.out = n.out[:0]
	for i := 0; i < len(s); {
		if s[i] == '@' && i > 0 {
			if digits := scan.CountDigits(s[i+1:]); digits > 0 {
				n.noteRule(rule.LocalScope)
				i += 1 + digits
				continue
			}
		}
		n.out = append(n.out, s[i])
		i++
	}
	return n.result(s)
}

// elixir normalizes names of the Erlang virtual machine.
//
//	anonymous fn/1 in Shop.Cart.pay/2, Shop.Cart."-pay/2-fun-0-"/1  ->  Shop.Cart.pay.lambda
//	:lists.map/2                                                    ->  lists.map
func (n *Namer) elixir(s string) string {
	if strings.HasPrefix(s, "(") {
		// (shop 0.1.0) lib/shop/cart.ex:12: Shop.Cart.pay/2
		s = strings.TrimSpace(s[scan.BracketEnd(s, 0):])
		if i := strings.LastIndex(s, ": "); i > 0 {
			s = s[i+2:]
		}
		n.noteRule(rule.ModulePrefix)
	}
	lambda := false
	for range 4 {
		i := strings.Index(s, " in ")
		if i < 0 || !strings.HasPrefix(s, "anonymous fn") && !strings.HasPrefix(s, "fn ") {
			break
		}
		s, lambda = s[i+len(" in "):], true
		n.noteRule(rule.Lambda)
	}
	if module, rest, ok := strings.Cut(s, `"-`); ok {
		if function, tail, ok := strings.Cut(rest, "/"); ok && function != "" {
			s, lambda = module+function, true
			if digits := scan.CountDigits(tail); digits > 0 {
				s += "/" + tail[:digits]
			}
			n.noteRule(rule.Lambda)
		}
	}
	if i := strings.IndexByte(s, '('); i > 0 && strings.HasSuffix(s, ")") {
		// Where the arguments did not fit, they are written instead of their number.
		s = s[:i] + "/" + strconv.Itoa(countArguments(s[i+1:len(s)-1]))
		n.noteRule(rule.Arguments)
	} else if i > 0 {
		s = s[:i]
		n.noteRule(rule.Arguments)
	}
	if rest := strings.TrimPrefix(strings.TrimPrefix(s, ":"), "Elixir."); rest != s {
		s = rest
		n.noteRule(rule.ModulePrefix)
	}
	if i := strings.IndexByte(s, ':'); i > 0 && i+1 < len(s) && scan.IsIdent(s[i+1]) {
		s = s[:i] + "." + s[i+1:] // lists:map
		n.noteRule(rule.ModulePrefix)
	}
	if lambda && !strings.HasSuffix(s, ".lambda") {
		s += ".lambda"
	}
	return s
}

// countArguments counts what commas outside of brackets and strings separate.
func countArguments(s string) int {
	if strings.TrimSpace(s) == "" {
		return 0
	}
	count, depth := 1, 0
	var quote byte
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case quote != 0 && c == '\\':
			i++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '(' || c == '[' || c == '{':
			depth++
		case c == ')' || c == ']' || c == '}':
			depth--
		case c == '<' && i+1 < len(s) && s[i+1] == '<':
			depth, i = depth+1, i+1
		case c == '>' && i+1 < len(s) && s[i+1] == '>':
			depth, i = depth-1, i+1
		case c == ',' && depth == 0:
			count++
		}
	}
	return count
}
