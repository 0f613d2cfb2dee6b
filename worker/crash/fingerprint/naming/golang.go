package naming

import (
	"strings"

	"github.com/slipway-qa/slipway/storage/report"
	"github.com/slipway-qa/slipway/worker/crash/fingerprint/filename"
	"github.com/slipway-qa/slipway/worker/crash/fingerprint/language"
	"github.com/slipway-qa/slipway/worker/crash/fingerprint/rule"
	"github.com/slipway-qa/slipway/worker/crash/fingerprint/scan"
)

// QualifyGo returns the name of a frame's function with its package, and whether
// the package was added. The Go client cuts each line of a stack at its last
// point: "shop/cart.(*Cart).Pay(0xc0, ...)" arrives as the library
// "shop/cart.(*Cart)" and the function "Pay", an inlined call, "main.pay(...)", as
// "main.pay(.." and ")", and the built-in panic without any name.
func QualifyGo(f *report.Frame) (string, bool) {
	name, library := f.Function, strings.TrimSpace(scan.Truncate(f.Library, language.MaxName))
	if name == "" && library == "" {
		if strings.HasSuffix(f.Path, "/runtime/panic.go") {
			return "panic", true
		}
		return "", false
	}
	if name == "" || IsPlaceholder(strings.TrimSpace(scan.Truncate(name, MaxFunction))) {
		return name, false
	}
	head, _, _ := strings.Cut(name, "(")
	if strings.IndexByte(head, '/') >= 0 {
		return name, false
	}
	// A package is written with small letters, a receiver's type seldom.
	qualified := strings.IndexByte(head, '.') > 0 && head[0]|0x20 == head[0]
	if !isGoPackage(library) {
		if qualified || f.Path == "" {
			return name, false
		}
		dir, base, _ := filename.Split(f.Path)
		if dir == "" {
			dir = strings.TrimSuffix(base, ".go")
		}
		return dir + "." + name, true
	}
	if strings.HasSuffix(library, "."+name) || strings.HasSuffix(library, "/"+name) {
		return library, true
	}
	if qualified && strings.HasPrefix(name, library[strings.LastIndexByte(library, '/')+1:]+".") {
		return name, false
	}
	return library + "." + name, true
}

// isGoPackage reports whether a library is an import path, with or without a
// receiver, and not the file of a program.
func isGoPackage(library string) bool {
	if library == "" || scan.HasPrefixAny(library, "/", "./", `\\`) || strings.Contains(library, `:\`) {
		return false
	}
	return !scan.HasSuffixAny(library, ".exe", ".so", ".dll", ".dylib", ".go", ".a")
}

// GoPlace returns what distinguishes the main packages of one project: the folder
// below cmd, and the file.
func GoPlace(file string) string {
	file = strings.ReplaceAll(filename.Tail(file), `\`, "/")
	if i := strings.LastIndex(file, "/cmd/"); i >= 0 && strings.Count(file[i+len("/cmd/"):], "/") == 1 {
		return file[i+1:]
	}
	return file[strings.LastIndexByte(file, '/')+1:]
}

// majorVersion returns where the element of an import path begins that is its module's major version
// (/v2), or 0: the packages behind it are those of before.
func majorVersion(s string) int {
	for i := strings.Index(s, "/v"); i > 0; {
		rest := s[i+len("/v"):]
		n := scan.CountDigits(rest)
		if n > 0 && n < 4 && n < len(rest) && (rest[n] == '/' || rest[n] == '.') {
			return i
		}
		next := strings.Index(rest, "/v")
		if next < 0 {
			return 0
		}
		i += len("/v") + next
	}
	return 0
}

// golang normalizes names of the Go runtime.
//
//	shop/cart.(*Cart).Pay.func1.2  ->  shop/cart.Cart.Pay.func
//	main.Map[...].Each             ->  main.Map.Each
func (n *Namer) golang(s string) string {
	if i := strings.Index(s, "/vendor/"); i > 0 {
		i = strings.LastIndex(s, "/vendor/")
		s = s[i+len("/vendor/"):]
		n.noteRule(rule.GoVendor)
	}
	if i := majorVersion(s); i > 0 {
		end := i + len("/v") + scan.CountDigits(s[i+len("/v"):])
		s = s[:i] + s[end:]
		n.noteRule(rule.GoVendor)
	}
	if i := strings.Index(s, " in goroutine "); i > 0 {
		s = s[:i]
		n.noteRule(rule.Arguments)
	}
	n.out = n.out[:0]
	for i := 0; i < len(s); {
		switch c := s[i]; c {
		case '[':
			i = scan.BracketEnd(s, i)
			n.noteRule(rule.GoGenerics)
		case '(':
			end := scan.BracketEnd(s, i)
			inner := strings.TrimSuffix(s[i+1:end], ")")
			if i > 0 && s[i-1] == '.' && inner != "" && end < len(s) && s[end] == '.' {
				inner = strings.TrimPrefix(inner, "*")
				if k := strings.IndexByte(inner, '['); k >= 0 {
					inner = inner[:k]
					n.noteRule(rule.GoGenerics)
				}
				n.out = append(n.out, inner...)
				n.noteRule(rule.GoReceiver)
				i = end
				continue
			}
			if inner != "..." || end < len(s) {
				n.noteRule(rule.Arguments)
			}
			i = len(s)
		default:
			n.out = append(n.out, c)
			i++
		}
	}
	text := n.result(s)
	if trimmed := goClosure(text); trimmed != text {
		n.noteRule(rule.GoClosure)
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
		kind := scan.TrimDigits(last)
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
