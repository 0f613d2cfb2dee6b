package naming

import (
	"strings"

	"github.com/slipway-qa/slipway/worker/crash/fingerprint/rule"
	"github.com/slipway-qa/slipway/worker/crash/fingerprint/scan"
)

// jvmNamer applies the rules for names of the Java virtual machine.
type jvmNamer struct{ *Namer }

// name normalizes names of the Java virtual machine: a package, a class with
// $ between its parts, and a method, as the compilers of Java, Kotlin, Scala,
// Groovy and Clojure, D8, R8 and the proxy libraries write them.
//
//	com.shop.Cart.lambda$pay$3              ->  com.shop.Cart.pay$lambda
//	com.shop.Cart$pay$1.invokeSuspend       ->  com.shop.Cart.pay$lambda
//	com.shop.Cart$$Lambda$14/0x0000c00.run  ->  com.shop.Cart$Lambda.run
//	shop.cart$pay$fn__1234.invoke           ->  shop.cart.pay$lambda
func (n jvmNamer) name(s string) string {
	s = strings.TrimPrefix(s, "at ")
	if rest, ok := strings.CutPrefix(s, "kfun:"); ok { // Kotlin/Native
		s = strings.Replace(rest, "#", ".", 1)
		n.noteRule(rule.KotlinMangling)
	}
	if i := strings.IndexByte(s, '('); i > 0 {
		s = s[:i]
		n.noteRule(rule.Arguments)
	}
	s = n.module(s)
	class, method := "", s
	if i := strings.LastIndexByte(s, '.'); i >= 0 {
		class, method = s[:i], s[i+1:]
	}
	pkg := ""
	if i := strings.LastIndexByte(class, '.'); i >= 0 {
		pkg, class = class[:i+1], class[i+1:]
	}
	if rest, ok := strings.CutPrefix(pkg, "Proxies."); ok {
		pkg = rest
	}
	if plainJavaClass(class) && plainJava(strings.TrimSuffix(method, lambdaSuffix)) {
		return s
	}
	class, function := n.class(class)
	method, inner := n.method(method)
	switch {
	case function == "":
		function = method
	case method == "$Lambda":
		function += lambdaSuffix
	case isFunctional(method):
		// The class was made for the body of one function.
		n.noteRule(rule.JavaLambda)
	default:
		function = strings.TrimSuffix(function, lambdaSuffix) + AnonymousClass + "." + method
	}
	if inner {
		function = strings.TrimSuffix(function, lambdaSuffix) + lambdaSuffix
	}
	n.out = append(append(n.out[:0], pkg...), class...)
	if len(n.out) > 0 && function != "" && n.out[len(n.out)-1] != '.' {
		n.out = append(n.out, '.')
	}
	n.out = append(n.out, function...)
	return n.result(s)
}

// AnonymousClass stands for the numbers of anonymous classes (Cart$1), and
// lambdaSuffix follows the method that contains a lambda.
const (
	AnonymousClass = "$anon"
	lambdaSuffix   = "$lambda"
)

// plainJava reports whether a part of a name has no sign of a generated one.
func plainJava(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; !scan.IsLetter(c) && !scan.IsDigit(c) && (c != '_' || i+1 < len(s) && s[i+1] == '_') {
			return false
		}
	}
	return !isGeneratedWord(s) && !strings.Contains(s, "_aroundBody") && !scan.HasSuffixAny(s, "_ClientProxy", "_Subclass")
}

// plainJavaClass reports whether a class has only such parts, each nested in the one
// before: Cart$Line.
func plainJavaClass(s string) bool {
	for first := true; ; first = false {
		part, tail, nested := strings.Cut(s, "$")
		switch {
		case !plainJava(part), part == "DefaultImpls", part == "ComposableSingletons",
			!first && (part == "" || part[0] < 'A' || part[0] > 'Z'),
			nested && (tail == "" || strings.HasSuffix(part, "Kt")):
			return false
		}
		if !nested {
			return true
		}
		s = tail
	}
}

func isGeneratedWord(s string) bool {
	word := scan.TrimDigits(s)
	return word != s && (scan.IsOneOf(word, "Proxy", "Script", "eval") || strings.HasPrefix(word, "Generated"))
}

// module removes the module and the class loader before a class:
// "java.base@17/java.lang.Thread.run", "app//com.shop.Cart.pay"; and what follows
// the name of a hidden class: "Cart$$Lambda$14/0x0000000800c03000.run".
func (n jvmNamer) module(s string) string {
	for range 4 {
		i := strings.IndexByte(s, '/')
		if i < 0 {
			break
		}
		tail := s[i+1:]
		address, method, _ := strings.Cut(tail, ".")
		if hex, ok := strings.CutPrefix(address, "0x"); ok && scan.AllHex(hex) || i > 0 && scan.AllDigits(address) && address != "" {
			s = s[:i]
			if method != "" {
				s += "." + method
			}
			n.noteRule(rule.JavaLambda)
			continue
		}
		s = strings.TrimLeft(tail, "/")
		n.noteRule(rule.ModulePrefix)
	}
	return s
}

// isFunctional reports whether a method only runs the body of the lambda that its
// class was made for.
func isFunctional(method string) bool {
	switch method {
	case "", "invoke", "invokeStatic", "doInvoke", "invokeSuspend", "invokePrim", "applyTo", "run", "call", "apply",
		"accept", "test", "get", "doCall", "emit", "onClick", "handle", "execute", "compare", "apply$mcV$sp":
		return true
	}
	return false
}

// class normalizes a class between dots. A class that was made for a function
// or a lambda (Cart$pay$1, cart$pay$fn__12, Cart$_pay_closure1) is returned as
// the class around it and the function.
func (n jvmNamer) class(s string) (class, function string) {
	s = n.proxyClass(s)
	if rest, ok := strings.CutPrefix(s, "-$$Lambda$"); ok {
		// Old D8: -$$Lambda$Cart$<hash of 22 to 27 characters>.
		class, _, _ = strings.Cut(rest, "$")
		n.noteRule(rule.JavaLambda)
		return class + "$Lambda", ""
	}
	if head, tail, ok := strings.Cut(s, "$$"); ok && head != "" && scan.HasPrefixAny(tail, "Lambda", "ExternalSynthetic",
		"InternalSynthetic", "SyntheticLambda") {
		class, function = n.class(head)
		n.noteRule(rule.JavaLambda)
		if strings.Contains(tail, "Lambda") {
			return joinFunction(class, function) + "$Lambda", ""
		}
		return joinFunction(class, function) + "$Synthetic", ""
	}
	for first := true; s != "" && len(class) <= MaxText; first = false {
		part, tail, more := strings.Cut(s, "$")
		if !more {
			tail = ""
		}
		lambda, kind := javaPart(part)
		switch {
		case first:
			class = n.word(part)
		case part == "", scan.IsOneOf(part, "inlined", "anonfun", "DefaultImpls", "-CC", "-EL"):
			n.noteRule(rule.Accessor)
		case kind == partNumber && function != "":
			function = strings.TrimSuffix(function, lambdaSuffix) + lambdaSuffix
			n.noteRule(rule.JavaLambda)
		case kind == partNumber:
			if !strings.HasSuffix(class, AnonymousClass) {
				class += AnonymousClass
			}
			n.noteRule(rule.JavaAnonymousClass)
		case kind == partLambda:
			if function == "" {
				function = lambda
			}
			function = strings.TrimSuffix(function, lambdaSuffix) + lambdaSuffix
			n.noteRule(rule.JavaLambda)
		case function != "":
			// What stands inside a function's class: a variable, a nested lambda.
			n.noteRule(rule.JavaLambda)
		case class == "ComposableSingletons":
			class = part
			n.noteRule(rule.KotlinMangling)
		case part == "sam" && strings.HasPrefix(tail, "i$"):
			n.noteRule(rule.JavaLambda)
			return class + "$Lambda", ""
		case part[0] >= 'a' && part[0] <= 'z' && len(part) > 2 || strings.HasSuffix(class, "Kt") && part != "Lambda" && part != "Synthetic":
			function = strings.TrimSuffix(part, "__"+lastDigits(part))
		default:
			if k := scan.CountDigits(part); k > 0 {
				part = part[k:] // the local class Cart$1Line
				n.noteRule(rule.JavaAnonymousClass)
			}
			class += "$" + n.word(part)
		}
		s = tail
	}
	if function == lambdaSuffix {
		function = "lambda"
	}
	return class, function
}

func joinFunction(class, function string) string {
	if function == "" {
		return class
	}
	return class + "$" + function
}

// Kinds of the parts of a class between dollar signs.
const (
	partName = iota
	partNumber
	partLambda
)

// javaPart returns the kind of a part, and for a lambda the function around it.
func javaPart(part string) (function string, kind int) {
	if scan.AllDigits(part) || part == AnonymousClass[1:] {
		return "", partNumber
	}
	switch word := scan.TrimDigits(part); {
	case strings.HasPrefix(part, "_") && scan.HasSuffixAny(word, "_closure", "_lambda"):
		// Groovy: _pay_closure1, and _closure2 inside it.
		word = word[1:]
		return strings.TrimRight(word[:max(strings.LastIndexByte(word, '_'), 0)], "_"), partLambda
	case word != part && (word == "fn__" || word == "reify__" || strings.HasSuffix(word, "__") &&
		scan.IsOneOf(word, "fn__", "iter__", "reify__", "thunk__")):
		return "", partLambda // Clojure
	case word == "eval" && word != part:
		return "eval", partLambda
	case word == "lambda-", part == "lambda":
		return "", partLambda
	}
	return "", partName
}

// lastDigits returns the digits at the end of s.
func lastDigits(s string) string { return s[len(scan.TrimDigits(s)):] }

// proxyClass removes what proxy libraries and compilers append to the class
// that they extend.
func (n jvmNamer) proxyClass(s string) string {
	if head, tail, ok := strings.Cut(s, "$$"); ok && head != "" && scan.ContainsAny(tail, "CGLIB", "jvst", "javassist",
		"Proxy", "Enhancer", "Weld", "Guice") {
		n.noteRule(rule.JavaProxy)
		if strings.Contains(tail, "FastClass") {
			return strings.TrimRight(head, "_") + "$Lambda"
		}
		s = strings.TrimRight(head, "_")
	}
	for _, mark := range [...]string{"$HibernateProxy", "$ByteBuddy", "$MockitoMock", "$Proxy$_", "_ClientProxy", "_Subclass", "$AjcClosure"} {
		if i := strings.Index(s, mark); i > 0 {
			s = s[:i]
			n.noteRule(rule.JavaProxy)
			if mark == "$AjcClosure" {
				s += "$Lambda"
			}
		}
	}
	if rest, ok := strings.CutSuffix(s, "$"); ok && rest != "" && !strings.HasSuffix(rest, "$") {
		s = rest // a Scala object
		n.noteRule(rule.Accessor)
	}
	return s
}

// method normalizes a method; lambda is set when it is the body of a lambda
// inside the method that is returned.
func (n jvmNamer) method(s string) (method string, lambda bool) {
	if i := strings.LastIndexByte(s, '-'); i > 0 && (s[i+1:] == "impl" || len(s)-i-1 == 7 && IsPlainWord(s[i+1:])) {
		s = s[:i] // a hash of inline class parameters
		n.noteRule(rule.KotlinMangling)
	}
	if i := strings.Index(s, "_aroundBody"); i > 0 {
		s = s[:i] // AspectJ
		n.noteRule(rule.JavaProxy)
	}
	if strings.IndexByte(s, '$') < 0 {
		if i := strings.Index(s, "lambda_"); i == 0 && scan.AllDigits(s[len("lambda_"):]) || strings.HasPrefix(s, "lambda-") {
			n.noteRule(rule.JavaLambda)
			return "lambda", false
		}
		return n.word(s), false
	}
	switch {
	case scan.HasPrefixAny(s, "$r8$lambda$", "$deserializeLambda$"), strings.HasSuffix(s, "$adapted"):
		n.noteRule(rule.JavaLambda)
		return "$Lambda", false
	case scan.HasPrefixAny(s, "access$", "-$$Nest$", "super$", "this$dist$"):
		if s != "access$" {
			n.noteRule(rule.Accessor)
		}
		return "access$", false
	case strings.HasPrefix(s, "lambda$"), strings.HasPrefix(s, "$anonfun$"):
		// lambda$pay$3, lambda$pay$3$com-shop-Cart, lambda$null$0
		s = s[strings.IndexByte(s[1:], '$')+2:]
		method, _, _ = strings.Cut(s, "$")
		n.noteRule(rule.JavaLambda)
		switch {
		case method == "new":
			return "<init>", true
		case method == "null" || method == "" || scan.AllDigits(method):
			return "lambda", false
		}
		return method, true
	case strings.HasPrefix(s, "$default$"):
		n.noteRule(rule.Accessor)
		return s[len("$default$"):], false
	case s == "$values", s == "$Lambda", s == "$init$":
		return s, false
	}
	head, tail, _ := strings.Cut(s, "$")
	if head == "" {
		return s, false // an operator of Scala: $plus
	}
	for part := ""; tail != "" && len(head) <= MaxText; {
		part, tail, _ = strings.Cut(tail, "$")
		switch {
		case part == "lambda", strings.HasPrefix(part, "lambda-"), part == "anonfun":
			lambda = true
			n.noteRule(rule.JavaLambda)
		case part == "", scan.AllDigits(part):
			n.noteRule(rule.JavaLambda)
		case part == "suspendImpl", part == "default", part == "extension", part == "jd", isKotlinModule(part):
			n.noteRule(rule.KotlinCoroutine)
		case lambda:
		default:
			head += "$" + part
		}
	}
	return head, lambda
}

// isKotlinModule reports whether a part of a method is the module whose internal
// function it is: functions have no underscores.
func isKotlinModule(part string) bool {
	return strings.IndexByte(part, '_') > 0 && IsPlainWord(part) && strings.ToLower(part) == part ||
		scan.IsOneOf(part, "app", "core", "main", "lib", "library", "common", "shared", "debug", "release", "commonMain",
			"androidMain") || scan.HasSuffixAny(part, "_release", "_debug", "Release", "Debug")
}

// word returns a word without its number when it is generated.
func (n jvmNamer) word(s string) string {
	if s == "" || !scan.IsDigit(s[len(s)-1]) {
		return s
	}
	switch word := scan.TrimDigits(s); word {
	case "GeneratedMethodAccessor", "GeneratedConstructorAccessor", "GeneratedSerializationConstructorAccessor":
		n.noteRule(rule.JavaReflection)
		return word
	case "Proxy":
		n.noteRule(rule.JavaProxy)
		return word
	case "Script", "eval":
		n.noteRule(rule.JavaLambda)
		return word
	}
	return s
}

// IsSynthetic reports whether a frame of the JVM only leads to another one: it is
// there or not as the compiler and its version like.
func IsSynthetic(name string) bool {
	return scan.HasSuffixAny(name, ".access$", ".$Lambda", "$Synthetic.m") || strings.Contains(name, "$Lambda.") ||
		strings.HasPrefix(name, "$Proxy.") || strings.Contains(name, "$Synthetic.")
}

// IsPlainWord reports whether a text is one word of letters, digits and underscores.
func IsPlainWord(s string) bool {
	for i := 0; i < len(s); i++ {
		if !scan.IsLetter(s[i]) && !scan.IsDigit(s[i]) && s[i] != '_' {
			return false
		}
	}
	return s != ""
}
