package fingerprint

import "strings"

// golang normalizes names of the Go runtime.
//
//	shop/cart.(*Cart).Pay.func1.2  ->  shop/cart.Cart.Pay.func
//	main.Map[...].Each             ->  main.Map.Each
func (n *namer) golang(s string) string {
	if i := strings.LastIndex(s, "/vendor/"); i > 0 {
		s = s[i+len("/vendor/"):]
		n.noteRule(RuleGoVendor)
	}
	if i := strings.Index(s, " in goroutine "); i > 0 {
		s = s[:i]
		n.noteRule(RuleArguments)
	}
	n.out = n.out[:0]
	for i := 0; i < len(s); {
		switch c := s[i]; c {
		case '[':
			i = bracketEnd(s, i)
			n.noteRule(RuleGoGenerics)
		case '(':
			end := bracketEnd(s, i)
			inner := strings.TrimSuffix(s[i+1:end], ")")
			if i > 0 && s[i-1] == '.' && inner != "" && end < len(s) && s[end] == '.' {
				inner = strings.TrimPrefix(inner, "*")
				if k := strings.IndexByte(inner, '['); k >= 0 {
					inner = inner[:k]
					n.noteRule(RuleGoGenerics)
				}
				n.out = append(n.out, inner...)
				n.noteRule(RuleGoReceiver)
				i = end
				continue
			}
			if inner != "..." || end < len(s) {
				n.noteRule(RuleArguments)
			}
			i = len(s)
		default:
			n.out = append(n.out, c)
			i++
		}
	}
	text := n.result(s)
	if trimmed := goClosure(text); trimmed != text {
		n.noteRule(RuleGoClosure)
		return trimmed
	}
	return text
}

// goClosure drops the numbers of closures and of init functions, and folds
// nested closures into one, since a closure added before another renumbers it.
func goClosure(s string) string {
	closure := false
	for {
		dot := strings.LastIndexByte(s, '.')
		if dot <= 0 {
			break
		}
		last := s[dot+1:]
		kind := trimDigits(last)
		if kind == "" && last != "" {
			s = s[:dot] // init.0, func1.2
			continue
		}
		if kind = strings.TrimSuffix(kind, "-range"); (kind == "func" || kind == "gowrap" || kind == "deferwrap") && (kind != last || closure) {
			closure = closure || kind == "func"
			s = s[:dot]
			continue
		}
		break
	}
	s = strings.TrimSuffix(s, "-fm")
	if closure {
		s = strings.TrimRight(s, ".") + ".func" // glob..func1 -> glob.func
	}
	return s
}
