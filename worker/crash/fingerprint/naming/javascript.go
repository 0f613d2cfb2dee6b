package naming

import (
	"strings"

	"github.com/slipway-qa/slipway/worker/crash/fingerprint/language"
	"github.com/slipway-qa/slipway/worker/crash/fingerprint/rule"
	"github.com/slipway-qa/slipway/worker/crash/fingerprint/scan"
)

// jsNamer applies the rules for names of JavaScript.
type jsNamer struct{ *Namer }

// name normalizes the function names of V8, SpiderMonkey, JavaScriptCore
// and Hermes, so that one function has one name in all of them. It returns ""
// for a function without a name.
//
//	async Object.pay [as handler]  ->  pay   V8
//	Pt</t.prototype.pay            ->  pay   SpiderMonkey: the path to a function
//	new Cart                       ->  Cart  the others do not write new
//
// Only V8 writes the class of a receiver. In a report that V8 alone can have sent
// it distinguishes methods (n.receivers), elsewhere it is dropped.
func (n jsNamer) name(s string) string {
	if rest, ok := strings.CutPrefix(s, "?anon_"); ok {
		// Hermes: a function without a name, or the body of an asynchronous one.
		if _, name, ok := strings.Cut(rest, "_"); ok {
			n.noteRule(rule.JSAnonymous)
			s = name
		}
	}
	if text, ok := wasmIndex(s); ok {
		return text
	}
	if IsPlainWord(s) && !strings.Contains(s, "callee") {
		return n.word(s)
	}
	for _, p := range [...]string{"at ", "address at ", "async ", "bound ", "new ", "get ", "set ", "static ", "function "} {
		if rest, ok := strings.CutPrefix(s, p); ok {
			s = strings.TrimSpace(rest)
			n.noteRule(rule.JSReceiver)
		}
	}
	if i := strings.Index(s, " [as "); i >= 0 {
		s = s[:i]
		n.noteRule(rule.JSAlias)
	}
	if strings.HasSuffix(s, "(<anonymous>)") {
		n.noteRule(rule.JSAnonymous) // the engine's own function: Object.keys
		return ""
	}
	if isModulePath(s) {
		n.noteRule(rule.JSAnonymous) // a module's own code, named by its path
		return ""
	}
	if i := strings.IndexByte(s, '('); i > 0 {
		s = strings.TrimSpace(s[:i])
		n.noteRule(rule.Arguments)
	}
	// SpiderMonkey: what scheduled the call, and the way to the function.
	if i := strings.LastIndexByte(s, '*'); i >= 0 {
		s = s[i+1:]
		n.noteRule(rule.JSReceiver)
	}
	if i := strings.LastIndexByte(s, '/'); i >= 0 {
		s = s[i+1:]
		n.noteRule(rule.JSReceiver)
	}
	for _, end := range [...]string{"<", "<anonymous>", "<computed>", ".eval"} {
		if strings.HasSuffix(s, end) {
			n.noteRule(rule.JSAnonymous)
			return ""
		}
	}
	return n.word(n.receiver(strings.TrimSpace(s)))
}

// receiver drops what stands before a function's own name.
func (n jsNamer) receiver(s string) string {
	if IsJSBuiltin(s) {
		return s
	}
	end := len(s)
	if strings.HasSuffix(s, "]") {
		symbol := strings.LastIndexByte(s, '[')
		if !strings.HasPrefix(s[max(symbol, 0):], "[Symbol.") {
			n.noteRule(rule.JSAnonymous) // named by an expression: e[t], [1]
			return ""
		}
		end = symbol
	}
	dot := strings.LastIndexByte(s[:end], '.')
	if end < len(s) && dot == end-1 {
		dot = strings.LastIndexByte(s[:max(dot, 0)], '.')
		dot = max(dot, -1)
		if receiver := s[:max(end-1, 0)]; !n.receivers || !isJSClass(receiver[dot+1:]) {
			n.noteRule(rule.JSReceiver)
			return s[end:]
		}
	}
	if dot < 0 {
		return s
	}
	function := s[dot+1:]
	receiver := strings.TrimSuffix(s[:dot], ".prototype")
	receiver = receiver[strings.LastIndexByte(receiver, '.')+1:]
	if n.receivers && isJSClass(receiver) {
		if kept := receiver + "." + function; kept != s {
			n.noteRule(rule.JSReceiver)
			return kept
		}
		return s
	}
	n.noteRule(rule.JSReceiver)
	return function
}

// isJSClass reports whether a receiver's name is that of a class which somebody
// wrote, and neither the platform's nor minified.
func isJSClass(name string) bool {
	switch name {
	case "Object", "Function", "Module", "Proxy", "Array", "EventEmitter", "EventTarget", "Timeout", "Immediate", "Socket",
		"Server", "ServerResponse", "IncomingMessage", "Stream", "VueComponent", "Window", "Context", "Generator",
		"AsyncGenerator", "GeneratorFunction", "Promise", "WebSocket", "XMLHttpRequest", "AsyncFunction", "AsyncResource", "AsyncLocalStorage":
		return false
	}
	return len(name) > 2 && name[0] >= 'A' && name[0] <= 'Z' && IsPlainWord(name) && !IsMinified(name) && !strings.HasPrefix(name, "HTML")
}

// word returns a function's own name, or "" when a compiler or an
// engine made it up.
func (n jsNamer) word(s string) string {
	if i := strings.LastIndexByte(s, '$'); i > 0 && scan.AllDigits(s[i+1:]) {
		s = s[:i] // pay$1: a bundler renamed one of two
		n.noteRule(rule.JSAlias)
	}
	if len(s) > 3 && strings.HasSuffix(s, "$") && s[len(s)-2] != '$' {
		s = s[:len(s)-1] // pay$: the body of a compiled generator
		n.noteRule(rule.JSAlias)
	}
	if isJSPlaceholder(s) {
		if s != "" {
			n.noteRule(rule.JSAnonymous)
		}
		return ""
	}
	return s
}

func isJSPlaceholder(s string) bool {
	if scan.AllDigits(s) {
		return true // a module's number
	}
	switch scan.TrimDigits(s) {
	case "_callee", "callee$", "_callee$", "_loop":
		return true
	}
	if len(s) > 24 {
		return false
	}
	switch strings.ToLower(s) {
	case "", "eval", "<anonymous>", "anonymous", "{anonymous}", "[anonymous]", "anonymous function", "<anonymous function>",
		"[native code]", "native code", "<eval>",
		"eval code", "global code", "module code", "function code", "async function code", "?", "null", "undefined",
		"<unknown>", "unknown", "<global>", "<top-level>", "global",
		"<instance_members_initializer>", "<static_initializer>", "__webpack_modules__":
		return true
	}
	return false
}

// isModulePath reports whether a function is named by the path of its module, as
// the functions are that bundlers put around modules.
func isModulePath(s string) bool {
	if strings.HasPrefix(s, "eval at ") || strings.Contains(s, "://") {
		return true
	}
	return scan.ContainsAny(s, "./", "node_modules") && !strings.Contains(s, "<")
}

// IsJSBuiltin reports whether a name in V8's form is that of a function of the
// language itself: other engines have no frame for most of them.
func IsJSBuiltin(s string) bool {
	object, method, ok := strings.Cut(s, ".")
	if !ok {
		return false
	}
	switch object {
	case "Array", "String", "Promise", "JSON", "Map", "Set", "WeakMap", "RegExp", "Number", "Math", "Reflect", "Generator",
		"AsyncGenerator", "Date", "BigInt", "Iterator", "Symbol", "WebAssembly",
		"Int8Array", "Uint8Array", "Uint8ClampedArray", "Int16Array", "Uint16Array", "Int32Array", "Uint32Array",
		"Float32Array", "Float64Array", "ArrayBuffer", "DataView", "SharedArrayBuffer", "Intl", "Atomics":
	default:
		return false
	}
	switch method {
	case "forEach", "map", "filter", "reduce", "reduceRight", "some", "every", "find", "findIndex", "findLast", "flatMap",
		"flat", "sort", "toSorted", "from", "of", "push", "splice", "concat", "fill", "includes", "keys", "values",
		"replace", "replaceAll", "split", "match", "matchAll", "repeat", "normalize", "padStart", "padEnd", "localeCompare",
		"then", "catch", "finally", "all", "allSettled", "race", "any",
		"parse", "stringify", "apply", "call", "construct", "exec", "test", "return", "throw", "assign", "entries",
		"fromEntries", "defineProperty", "defineProperties", "freeze", "create",
		"toFixed", "toPrecision", "toString", "toISOString", "toLocaleString", "toLocaleDateString", "groupBy",
		"setPrototypeOf", "getOwnPropertyDescriptor", "raw", "compile", "instantiate", "get", "set", "has", "add":
		return true
	case "next":
		return strings.HasSuffix(object, "Generator")
	}
	return false
}

// IsV8 reports whether all JavaScript of a report ran in V8, which writes the class
// of a receiver: it is of Node or Electron.
func IsV8(lang, agent string) bool {
	return scan.ContainsAny(strings.ToLower(scan.Truncate(lang, 64)), "node", "electron") ||
		scan.ContainsAny(strings.ToLower(scan.Truncate(agent, 64)), "node", "electron")
}

// IsAsyncFrame reports whether the runtime appended a frame to the real stack, to
// show who awaited: whether it is there depends on timing.
func IsAsyncFrame(f language.Family, name string) bool {
	switch f {
	case language.JS:
		name = strings.TrimPrefix(name, "at ")
		return scan.HasPrefixAny(name, "async ", "promise callback*", "setTimeout handler*", "setInterval handler*",
			"From previous event", "Promise.all (index") ||
			strings.IndexByte(name, '*') > 0 || name == "<asynchronous suspension>"
	case language.DotNet:
		return strings.HasPrefix(name, "--- End of ")
	}
	return name == "<asynchronous suspension>"
}

// IsMinified reports whether a minifier or an obfuscator chose a name: one or two
// letters, or three with a digit or a capital inside.
func IsMinified(name string) bool {
	name = strings.TrimLeft(name, "_$#")
	if len(name) <= 2 {
		return true
	}
	if len(name) > 3 {
		return false
	}
	for i := 1; i < len(name); i++ {
		if scan.IsDigit(name[i]) || name[i] == '$' || name[i] == '_' || name[i] >= 'A' && name[i] <= 'Z' && name[i-1] >= 'a' && name[i-1] <= 'z' {
			return true
		}
	}
	return false
}
