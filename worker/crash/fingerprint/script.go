package fingerprint

import "strings"

// python normalizes co_name and co_qualname: "load.<locals>.<lambda>".
func (n *namer) python(s string) string {
	if strings.Contains(s, ".<locals>") {
		s = strings.ReplaceAll(s, ".<locals>", "")
		n.noteRule(RulePythonScope)
	}
	if i := strings.IndexByte(s, '('); i > 0 {
		s = s[:i]
		n.noteRule(RuleArguments)
	}
	if head, ok := strings.CutSuffix(s, "<lambda>"); ok {
		s = head + "lambda"
		n.noteRule(RuleLambda)
	}
	return s
}

// isComprehension reports whether a Python frame is that of a list, set or dict
// comprehension, which has had no frame since Python 3.12.
func isComprehension(name string) bool {
	return containsAny(name, "<listcomp>", "<setcomp>", "<dictcomp>")
}

// ruby normalizes the labels of Ruby's backtraces and the methods that its
// template engines generate.
//
//	block (2 levels) in pay                     ->  block in pay
//	_app_views_cart_html_erb__3823_70123        ->  _app_views_cart_html_erb
func (n *namer) ruby(s string) string {
	for range maxNameRounds {
		before := s
		if rest, ok := strings.CutPrefix(s, "block ("); ok {
			if i := strings.Index(rest, "levels) in "); i >= 0 {
				s = "block in " + rest[i+len("levels) in "):]
				n.noteRule(RuleRubyBlock)
			}
		}
		for _, p := range [...]string{"rescue in ", "ensure in ", "block in block in "} {
			if rest, ok := strings.CutPrefix(s, p); ok {
				if strings.HasPrefix(p, "block") {
					rest = "block in " + rest
				}
				s = rest
				n.noteRule(RuleRubyBlock)
			}
		}
		if s == before {
			break
		}
	}
	if i := strings.LastIndex(s, "__"); i > 0 && strings.HasPrefix(s, "_") {
		numbers := strings.TrimLeft(s[i+2:], "_")
		if a, b, ok := strings.Cut(strings.TrimPrefix(numbers, "-"), "_"); ok && allDigits(a) && allDigits(b) {
			s = strings.TrimRight(s[:i], "_")
			n.noteRule(RuleRubyTemplate)
		}
	}
	return s
}

// php normalizes functions and methods: arguments, the paths in the names of
// anonymous classes and closures, and the hashes of compiled templates.
//
//	class@anonymous\0/srv/app/Cart.php:12$0->pay  ->  class@anonymous->pay
//	{closure:App\Cart::pay():12}                  ->  {closure}
func (n *namer) php(s string) string {
	const class = "@anonymous"
	if i := strings.Index(s, class); i >= 0 {
		if tail := s[i+len(class):]; tail != "" {
			method := ""
			for _, sep := range [...]string{"->", "::"} {
				if k := strings.LastIndex(tail, sep); k >= 0 && len(tail[k:]) > len(method) && (k > 0 || method == "") {
					method = tail[k:]
				}
			}
			if method != tail {
				s = s[:i+len(class)] + method
				n.noteRule(RulePHPAnonymousClass)
			}
		}
	}
	if i := strings.Index(s, "{closure:"); i >= 0 {
		s = s[:i] + "{closure}" + s[bracketEnd(s, i):]
		n.noteRule(RulePHPClosure)
	}
	if i := strings.IndexByte(s, '('); i > 0 {
		s = s[:i]
		n.noteRule(RuleArguments)
	}
	const twig = "__TwigTemplate_"
	if i := strings.Index(s, twig); i >= 0 {
		hash := identifier(s, i)[len(twig):]
		for j := 0; j <= len(hash); j++ {
			if j == len(hash) || !isHex(hash[j]) {
				hash = hash[:j]
				break
			}
		}
		if len(hash) >= 16 {
			s = s[:i+len(twig)-1] + s[i+len(twig)+len(hash):]
			n.noteRule(RuleTemplateHash)
		}
	}
	return s
}
