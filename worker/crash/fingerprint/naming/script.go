package naming

import (
	"strings"

	"github.com/slipway-qa/slipway/worker/crash/fingerprint/rule"
	"github.com/slipway-qa/slipway/worker/crash/fingerprint/scan"
)

// python normalizes co_name and co_qualname. Few clients send the latter: the class
// and the function around a name are dropped.
//
//	Cart.load.<locals>.<lambda>  ->  lambda
func (n *Namer) python(s string) string {
	if i := strings.IndexByte(s, '('); i > 0 {
		s = s[:i]
		n.noteRule(rule.Arguments)
	}
	if i := strings.LastIndexByte(s, '.'); i > 0 && i+1 < len(s) {
		s = s[i+1:]
		n.noteRule(rule.PythonScope)
	}
	if s == "<lambda>" {
		s = "lambda"
		n.noteRule(rule.Lambda)
	}
	if rest, ok := strings.CutPrefix(s, "async "); ok {
		s = rest
		n.noteRule(rule.PythonScope)
	}
	return s
}

// IsComprehension reports whether a Python frame is that of a list, set or dict
// comprehension, which has had no frame since Python 3.12, or of a generator
// expression, which its user may write as one.
func IsComprehension(name string) bool {
	return scan.ContainsAny(name, "<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")
}

// ruby normalizes the labels of Ruby's backtraces and the methods that its
// template engines generate. Only Ruby 3.4 and later write the class: it is
// dropped, so that both spellings have one name.
//
//	block (2 levels) in Cart#pay                ->  block in pay
//	_app_views_cart_html_erb__3823_70123        ->  _app_views_cart_html_erb
func (n *Namer) ruby(s string) string {
	s = strings.Trim(strings.TrimPrefix(s, "in "), "`'")
	block := false
	for range maxNameRounds {
		before := s
		if rest, ok := strings.CutPrefix(s, "block ("); ok {
			if i := strings.Index(rest, "levels) in "); i >= 0 {
				s = rest[i+len("levels) in "):]
				block = true
				n.noteRule(rule.RubyBlock)
			}
		}
		if rest, ok := strings.CutPrefix(s, "block in "); ok {
			if block {
				n.noteRule(rule.RubyBlock)
			}
			s, block = rest, true
		}
		for _, p := range [...]string{"rescue in ", "ensure in "} {
			if rest, ok := strings.CutPrefix(s, p); ok {
				s = rest
				n.noteRule(rule.RubyBlock)
			}
		}
		if s == before {
			break
		}
	}
	if method := rubyMethod(s); method != s {
		s = method
		n.noteRule(rule.RubyClass)
	}
	if i := strings.LastIndex(s, "__"); i > 0 && strings.HasPrefix(s, "_") {
		numbers := strings.TrimLeft(s[i+2:], "_")
		if a, b, ok := strings.Cut(strings.TrimPrefix(numbers, "-"), "_"); ok && scan.AllDigits(a) && scan.AllDigits(b) {
			s = strings.TrimRight(s[:i], "_")
			n.noteRule(rule.RubyTemplate)
		}
	}
	if block {
		s = "block in " + s
	}
	return s
}

// rubyMethod returns the method of a label: of "Shop::Cart#pay", "Cart.build" and
// "#<Class:0x00007f>#pay".
func rubyMethod(s string) string {
	if s == "" || s[0] != '#' && (s[0] < 'A' || s[0] > 'Z') {
		return s
	}
	if i := strings.LastIndexByte(s, '#'); i > 0 && i+1 < len(s) {
		return s[i+1:]
	}
	// A dot between a class and its own method; "GET /cart.json" has none.
	if i := strings.LastIndexByte(s, '.'); i > 0 && i+1 < len(s) && !strings.ContainsAny(s[:i], " /") {
		return s[i+1:]
	}
	return s
}

// php normalizes functions and methods: arguments, the paths in the names of
// anonymous classes, closures in the spellings of all versions, and the hashes of
// compiled templates, containers and proxies.
//
//	class@anonymous\0/srv/app/Cart.php:12$0->pay  ->  class@anonymous::pay
//	App\Cart->App\{closure}                       ->  {closure}
//	App\Cart->{closure:App\Cart::pay():12}        ->  {closure}
//
// A closure is named by its file and the frame below it: only PHP 8.4 writes the
// function that contains it.
func (n *Namer) php(s string) string {
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
				n.noteRule(rule.PHPAnonymousClass)
			}
		}
	}
	if i := strings.Index(s, "{closure"); i >= 0 && (i == 0 || strings.IndexByte(`\>:`, s[i-1]) >= 0) && s != phpClosure {
		n.noteRule(rule.PHPClosure)
		return phpClosure
	}
	if i := strings.IndexByte(s, '('); i > 0 {
		s = s[:i]
		n.noteRule(rule.Arguments)
	}
	if i := strings.Index(s, "->"); i > 0 {
		s = s[:i] + "::" + s[i+2:]
		n.noteRule(rule.PHPCall)
	}
	return n.phpGenerated(s)
}

const phpClosure = "{closure}"

// phpGenerated removes what tools generate into the names of classes.
func (n *Namer) phpGenerated(s string) string {
	const twig = "__TwigTemplate_"
	if i := strings.Index(s, twig); i >= 0 {
		if hash := hexPrefix(s[i+len(twig):]); hash >= 16 {
			s = s[:i+len(twig)-1] + s[i+len(twig)+hash:]
			n.noteRule(rule.TemplateHash)
		}
	}
	if rest, ok := strings.CutPrefix(s, "content_"); ok {
		// Smarty: content_<hash>_<numbers>.
		if k := hexPrefix(rest); k >= 8 && strings.Trim(rest[k:], "_0123456789abcdef") == "" {
			s = "content"
			n.noteRule(rule.TemplateHash)
		}
	}
	// Symfony's compiled container and Doctrine's proxies.
	if rest, ok := strings.CutPrefix(s, "Container"); ok {
		if i := strings.IndexByte(rest, '\\'); i == 7 && IsPlainWord(rest[:i]) {
			s = "Container" + rest[i:]
			n.noteRule(rule.TemplateHash)
		}
	}
	if rest, ok := strings.CutPrefix(s, `Proxies\__CG__\`); ok && rest != "" {
		s = rest
		n.noteRule(rule.TemplateHash)
	}
	if rest, ok := strings.CutPrefix(s, "Mock_"); ok {
		// PHPUnit: Mock_Cart_1a2b3c4d::pay
		class, method, _ := strings.Cut(rest, "::")
		if i := strings.LastIndexByte(class, '_'); i > 0 && len(class)-i == 9 && scan.AllHex(class[i+1:]) {
			s = class[:i] + "::" + method
			n.noteRule(rule.TemplateHash)
		}
	}
	return s
}

// hexPrefix returns the number of hexadecimal digits at the start of s.
func hexPrefix(s string) int {
	k := 0
	for k < len(s) && scan.IsHex(s[k]) {
		k++
	}
	return k
}
