package noise

import (
	"strings"

	"github.com/slipway-qa/slipway/worker/crash/fingerprint/language"
	"github.com/slipway-qa/slipway/worker/crash/fingerprint/naming"
	"github.com/slipway-qa/slipway/worker/crash/fingerprint/scan"
)

// A telling frame names the place of a bug by itself. Two kinds of application
// frames do not: helpers, which only check, log, raise or wrap what others do,
// and frames whose names have no content (main, a lambda, a minified name).
// Both rules read normalized names.

// IsHelper reports whether a function only serves others: an assertion, a
// function that raises, logs or reports errors, a decorator's wrapper, or a
// function of the language's core that is shown at its caller's place. A helper
// is never the culprit while the stack has another application frame.
func IsHelper(f language.Family, name string) bool {
	scope, function := SplitScope(f, name)
	switch f {
	case language.Native, language.Unknown:
		return false
	case language.Ruby:
		if isRubyCore(function) {
			return true
		}
	case language.PHP:
		switch function {
		case "include", "include_once", "require", "require_once":
			return true
		}
	case language.Python:
		if function == "__call__" || function == "__enter__" || function == "__exit__" {
			return true
		}
	}
	return isWrapper(function) || isCheck(function) || isHelperClass(scope, function)
}

// IsTelling reports whether a function's name, with its class or file, says where
// the bug is.
func IsTelling(f language.Family, name string) bool {
	if name == "" || name == naming.Unreadable || IsHelper(f, name) {
		return false
	}
	scope, function := SplitScope(f, name)
	switch f {
	case language.Elixir:
		return scope != "" && !IsEmptyName(scope)
	case language.JVM, language.DotNet:
		if strings.Contains(name, naming.AnonymousClass) {
			return false
		}
		if f == language.JVM && function == "lambda" {
			return false
		}
		// "a.b.c" and "a.b.onClick" name nothing; "Cart.a" names a class.
		return !naming.IsMinified(scope) && (scope != "" || !naming.IsMinified(function) && !IsEmptyName(function))
	case language.Go:
		if function == "func" {
			return scope != "" && scope != "glob" && !IsEmptyName(scope) // a closure is where its function is
		}
		return !IsEmptyName(function) || scope != "" && scope != "main" && function != "init"
	case language.PHP:
		return !strings.HasSuffix(function, "{closure}") && !IsEmptyName(function)
	case language.Ruby:
		// Service objects are named by their file: call (pay_cart.rb).
		return !isRubyCommon(function) && !isRubyCommon(strings.TrimPrefix(function, "block in "))
	}
	if naming.IsMinified(function) || IsEmptyName(function) {
		// A named container says where it is: Cart.on, load.lambda.
		return scope != "" && !naming.IsMinified(scope) && !IsEmptyName(scope)
	}
	return true
}

// SplitScope returns the last two parts of a name: the class, module or enclosing
// function, "" when the name has none, and the function.
func SplitScope(f language.Family, name string) (scope, function string) {
	separators := "."
	switch f {
	case language.PHP:
		separators = `\:>`
	case language.Ruby:
		separators = ".#:"
	case language.Go:
		separators = "./"
	}
	function = name
	if i := strings.LastIndexAny(strings.TrimRight(name, separators), separators); i >= 0 {
		scope, function = strings.TrimRight(name[:i], `.#:\->`), name[i+1:]
	}
	if i := strings.LastIndexAny(scope, separators+"$"); i >= 0 {
		scope = scope[i+1:]
	}
	return scope, function
}

// IsEmptyName reports whether a name is one that functions without a name of
// their own have.
func IsEmptyName(name string) bool {
	switch name {
	case "", "main", "Main", "<main>", "{main}", "<module>", "lambda", "<lambda>", "closure", "{closure}", "func",
		"init", "eval", "exec", "anonymous",
		"exports", "default", "_default", "value", "callback", "cb", "fn", "f", "fun", "func1", "handler", "listener",
		"next", "step", "run", "call", "apply", "invoke", "execute",
		"then", "resolve", "reject", "emit", "dispatch", "dispatchEvent", "emitEvent", "fireEvent", "notifyListeners",
		"constructor", "factory", "module", "block", "yield":
		return true
	}
	return false
}

// isWrapper reports whether a function is what a decorator puts around another.
func isWrapper(function string) bool {
	switch strings.Trim(function, "_") {
	case "wrapper", "wrapped", "wrap", "inner", "decorated", "decorator", "inner_wrapper", "wrapper_inner", "func_wrapper",
		"wrapper_func", "wrapped_func", "wrapped_f", "wrapped_view", "wrapped_function",
		"wrap_func", "wrapper_function", "inner_func", "inner_function", "new_func", "new_function", "sync_wrapper",
		"async_wrapper", "async_inner", "decorated_function", "decorated_view", "with_retry",
		"wrappedFunction", "wrapperFunction", "wrappedFn", "wrapperFn", "innerFunction", "wrapFunction", "sentryWrapped",
		"catchErrors", "asyncHandler", "tryCatch", "trampoline":
		return true
	}
	return false
}

// isHelperClass reports whether a class has nothing but checks, or writes logs
// and error reports. Some of their names have other meanings too: then the method
// decides.
func isHelperClass(class, method string) bool {
	switch class {
	case "Assert", "Assertions", "Assertion", "Preconditions", "Precondition", "Log", "Logger", "logger", "Logging",
		"Timber", "ErrorReporter", "ErrorHandler", "CrashReporter", "ExceptionHandler", "ThrowHelper", "Thrower":
		return true
	case "Check", "Checks", "Ensure", "Guard", "Guards", "Require", "Contract", "Contracts", "Verify", "Validate",
		"Debug", "Throw", "Exceptions", "Must":
		known, _, _ := checkWords(method)
		return known
	}
	return false
}

// isCheck reports whether every word of a function's name is about checking,
// raising or reporting as such, so that the name says nothing about what was
// checked: assertNotNull, require_positive, throwIfNull, logAndExit, checkErr.
func isCheck(function string) bool {
	known, verb, last := checkWords(function)
	return known && verb && !scan.IsOneOf(last, "in", "on", "to", "of") // "log_in"
}

// checkWords reports whether a name has only words about checking, whether one of
// them is a verb, and the last word. "verify" and "capture" alone are about
// something and no such verb.
func checkWords(function string) (known, verb bool, last string) {
	if len(function) > 48 {
		return false, false, ""
	}
	words, weak := 0, false
	for rest := function; ; words++ {
		word := ""
		if word, rest = scan.NextWord(rest); word == "" {
			return words > 0, verb || weak && words > 1, last
		}
		last = strings.ToLower(word)
		switch last {
		case "assert", "check", "require", "requires", "ensure", "expect", "panic", "die", "fail", "throw", "throws",
			"raise", "bail", "abort", "fatal", "must", "unwrap", "log", "warn",
			"rethrow", "crash", "invariant", "precondition", "assertion", "unreachable", "guard", "error", "errors", "exit":
			verb = true
		case "verify", "report", "capture", "exception":
			weak = true
		case "true", "false", "equal", "equals", "same", "not", "no", "non", "null", "nil", "none", "undefined", "empty",
			"valid", "invalid", "that", "is", "if", "on", "or", "and", "with", "in", "when", "unless",
			"err", "condition", "state", "arg", "args", "argument", "arguments", "param", "parameter", "index", "bounds",
			"bound", "range", "positive", "negative", "zero", "type", "instance", "present",
			"defined", "exists", "exist", "value", "ok", "failure", "failed", "message", "msg", "handle", "handler",
			"handling", "unhandled", "to", "has", "impl", "internal", "helper", "the", "all", "any", "of", "a", "an", "e", "t", "x":
		default:
			return false, false, ""
		}
	}
}

// isRubyCore reports whether a method is one of Ruby's core classes that nobody
// else defines: a backtrace shows it in the file of its caller.
func isRubyCore(method string) bool {
	switch method {
	case "each", "each_with_index", "each_with_object", "each_pair", "each_key", "each_value", "each_slice", "each_cons",
		"each_entry", "each_char", "each_line", "each_byte", "map", "map!", "flat_map", "collect", "filter_map", "inject", "reduce",
		"sum", "detect", "find_index", "any?", "all?", "none?", "sort", "sort!", "sort_by", "sort_by!", "min_by", "max_by",
		"group_by", "partition", "zip", "times", "upto", "downto", "loop", "tap", "yield_self", "reverse_each",
		"fetch_values", "Integer", "Float", "Rational", "Complex", "Array", "String", "Hash", "strptime", "iso8601",
		"require", "require_relative", "sysopen", "instance_eval", "class_eval", "module_eval", "instance_exec", "class_exec",
		"public_send", "send", "__send__", "const_missing", "const_get", "transform_values", "transform_keys",
		"transform_values!", "to_h", "sprintf", "gsub", "gsub!", "sub!", "unpack", "unpack1", "encode", "synchronize", "catch",
		"+", "-", "*", "/", "%", "**", "<", ">", "<=", ">=", "<=>", "==", "[]", "[]=", "<<", "div", "modulo", "fdiv",
		"divmod", "instance_variable_get", "instance_variable_set", "define_method", "raise", "throw", "sleep", "cycle":
		return true
	}
	return false
}

// isRubyCommon reports whether a method of Ruby's core classes also is a usual name
// of an application's own: the frame below tells which of them it is.
func isRubyCommon(method string) bool {
	switch method {
	case "fetch", "dig", "select", "filter", "reject", "find", "count", "first", "last", "parse", "load", "open", "read", "write",
		"readlines", "format", "scan", "pack", "join", "value", "new", "eval", "yield", "step", "then", "to_i", "initialize_copy",
		"sub", "freeze", "exit", "resume", "merge", "delete", "split", "slice", "take", "strip", "to_sym", "to_proc",
		"lock", "pop", "push", "shift", "keys", "method_missing", "<top (required)>", "<main>":
		return true
	}
	return false
}
