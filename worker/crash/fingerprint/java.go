package fingerprint

import (
	"bytes"
	"strings"
)

// java normalizes names of the Java virtual machine: a package, a class with
// $ between its parts, and a method, as Java, Kotlin, Scala, D8 and R8 and the
// proxy libraries write them.
//
//	com.shop.Cart$$Lambda$14/0x0000000800c03000.run  ->  com.shop.Cart$Lambda.run
//	com.shop.Cart$pay$1.invokeSuspend                ->  com.shop.Cart$pay
func (n *namer) java(s string) string {
	s = strings.TrimPrefix(s, "at ")
	if i := strings.IndexByte(s, '('); i > 0 {
		s = s[:i]
		n.noteRule(RuleArguments)
	}
	// "java.base@17/java.lang.Thread.run", "app//com.shop.Cart.pay"; not the
	// address of a lambda, which follows "Lambda".
	if i := strings.IndexByte(s, '/'); i > 0 && !strings.Contains(s[:i], "Lambda") {
		for i+1 < len(s) && s[i+1] == '/' {
			i++
		}
		s = s[i+1:]
		n.noteRule(RuleModulePrefix)
	}
	n.out = n.out[:0]
	for rest := s; ; {
		segment, tail, more := strings.Cut(rest, ".")
		if !more && segment == "invokeSuspend" && len(n.out) > 1 {
			// The body of a coroutine: the class is named after the function.
			n.out = n.out[:len(n.out)-1]
			n.out = bytes.TrimSuffix(n.out, []byte(anonymousClass))
			n.noteRule(RuleKotlinCoroutine)
			break
		}
		n.javaSegment(segment, !more)
		if !more {
			break
		}
		n.out = append(n.out, '.')
		rest = tail
	}
	return n.result(s)
}

// anonymousClass stands for the numbers of anonymous classes (Cart$1).
const anonymousClass = "$anon"

// javaSegment writes one part of a name between dots; last is the method.
func (n *namer) javaSegment(s string, last bool) {
	if i := strings.IndexByte(s, '/'); i >= 0 {
		s = s[:i] // Lambda$14/0x0000000800c03000
		n.noteRule(RuleJavaLambda)
	}
	if strings.IndexByte(s, '$') < 0 && strings.IndexByte(s, '-') < 0 {
		n.javaWord(s)
		return
	}
	switch {
	case strings.HasPrefix(s, "-$$Lambda$"):
		// Old D8: -$$Lambda$Cart$<hash of 22 to 27 characters>.
		class, _, _ := strings.Cut(s[len("-$$Lambda$"):], "$")
		n.out = append(append(n.out, class...), "$Lambda"...)
		n.noteRule(RuleJavaLambda)
		return
	case strings.HasPrefix(s, "$r8$lambda$"):
		n.out = append(n.out, "$r8$lambda"...)
		n.noteRule(RuleJavaLambda)
		return
	case strings.HasPrefix(s, "access$"):
		n.out = append(n.out, "access$"...)
		if s != "access$" {
			n.noteRule(RuleAccessor)
		}
		return
	}
	if head, tail, ok := strings.Cut(s, "$$"); ok && head != "" {
		switch {
		case hasPrefixAny(tail, "Lambda", "ExternalSyntheticLambda"):
			n.javaParts(head, false)
			n.out = append(n.out, "$Lambda"...)
			n.noteRule(RuleJavaLambda)
			return
		case containsAny(tail, "CGLIB", "jvst", "javassist", "Proxy", "Enhancer", "FastClass"):
			n.javaParts(strings.TrimRight(head, "_"), false)
			n.noteRule(RuleJavaProxy)
			return
		}
	}
	for _, mark := range [...]string{"$HibernateProxy", "$ByteBuddy", "$MockitoMock"} {
		if i := strings.Index(s, mark); i > 0 {
			s = s[:i]
			n.noteRule(RuleJavaProxy)
		}
	}
	if last {
		if i := strings.LastIndexByte(s, '-'); i > 0 && (s[i+1:] == "impl" || len(s)-i-1 == 7 && isPlainWord(s[i+1:])) {
			s = s[:i] // a hash of inline class parameters
			n.noteRule(RuleKotlinMangling)
		}
	}
	n.javaParts(s, last)
}

// javaParts writes the parts of a class or method between dollar signs.
func (n *namer) javaParts(s string, last bool) {
	start := len(n.out)
	for first := true; ; first = false {
		part, tail, more := strings.Cut(s, "$")
		switch {
		case !first && allDigits(part) && last:
			n.noteRule(RuleJavaLambda) // lambda$pay$3
		case !first && allDigits(part):
			if !bytes.HasSuffix(n.out[start:], []byte(anonymousClass)) {
				n.out = append(n.out, anonymousClass...)
			}
			n.noteRule(RuleJavaAnonymousClass)
		case !first && last && (part == "suspendImpl" || part == "default"):
			n.noteRule(RuleKotlinCoroutine)
		case !first && last && strings.HasPrefix(part, "lambda-") && allDigits(part[len("lambda-"):]):
			n.out = append(n.out, "$lambda"...)
			n.noteRule(RuleJavaLambda)
		default:
			if !first {
				n.out = append(n.out, '$')
				if k := countDigits(part); k > 0 && k < len(part) {
					part = part[k:] // the local class Cart$1Line
					n.noteRule(RuleJavaAnonymousClass)
				}
			}
			n.javaWord(part)
		}
		if !more {
			return
		}
		s = tail
	}
}

// javaWord writes a word, without its number when it is generated.
func (n *namer) javaWord(s string) {
	if s == "" || s[0] != 'G' && s[0] != 'P' || !isDigit(s[len(s)-1]) {
		n.out = append(n.out, s...)
		return
	}
	for _, generated := range [...]string{"GeneratedMethodAccessor", "GeneratedConstructorAccessor", "GeneratedSerializationConstructorAccessor", "Proxy"} {
		if tail, ok := strings.CutPrefix(s, generated); ok && allDigits(tail) {
			n.out = append(n.out, generated...)
			if generated == "Proxy" {
				n.noteRule(RuleJavaProxy)
			} else {
				n.noteRule(RuleJavaReflection)
			}
			return
		}
	}
	n.out = append(n.out, s...)
}

func isPlainWord(s string) bool {
	for i := 0; i < len(s); i++ {
		if !isLetter(s[i]) && !isDigit(s[i]) && s[i] != '_' {
			return false
		}
	}
	return s != ""
}
