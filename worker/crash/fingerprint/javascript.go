package fingerprint

import "strings"

// javascript normalizes the function names of V8, SpiderMonkey and
// JavaScriptCore. It returns "" for a function without a name.
//
//	async Object.foo [as handler]  ->  foo
func (n *namer) javascript(s string) string {
	for range maxNameRounds {
		if isPlainWord(s) {
			break
		}
		before := s
		for _, p := range [...]string{"at ", "async ", "async*", "bound ", "new "} {
			if p == "new " && !strings.HasPrefix(s, "new Object.") && !strings.HasPrefix(s, "new <anonymous>") {
				continue
			}
			if rest, ok := strings.CutPrefix(s, p); ok {
				s = rest
				n.noteRule(RuleJSReceiver)
			}
		}
		if i := strings.Index(s, " [as "); i >= 0 {
			s = s[:i]
			n.noteRule(RuleJSAlias)
		}
		if i := strings.IndexByte(s, '('); i > 0 && !strings.HasPrefix(s, "eval at ") {
			s = s[:i]
			n.noteRule(RuleArguments)
		}
		for _, p := range [...]string{"Object.", "Module.", "exports.", "module.", "window.", "globalThis.", "global.", "self.", "_this.", "this."} {
			if rest, ok := strings.CutPrefix(s, p); ok {
				s = rest
				n.noteRule(RuleJSReceiver)
			}
		}
		for _, suffix := range [...]string{".<anonymous>", ".<computed>", "/<", "<", ".eval"} {
			if rest, ok := strings.CutSuffix(s, suffix); ok {
				s = rest
				n.noteRule(RuleJSAnonymous)
			}
		}
		if i := strings.Index(s, ".prototype."); i > 0 {
			s = s[:i] + s[i+len(".prototype"):]
			n.noteRule(RuleJSReceiver)
		}
		s = strings.TrimSpace(s)
		if s == before {
			break
		}
	}
	switch s {
	case "", "eval", "<anonymous>", "anonymous", "(anonymous)", "(anonymous function)", "[native code]", "native code",
		"eval code", "global code", "module code", "?", "null", "undefined", "<unknown>":
		if s != "" {
			n.noteRule(RuleJSAnonymous)
		}
		return ""
	}
	if hasPrefixAny(s, "./", "../", "eval at ", "http://", "https://", "webpack://", "file://") {
		n.noteRule(RuleJSAnonymous) // a module's own code, named by its path
		return ""
	}
	return s
}

// isAsyncFrame reports whether the runtime appended a frame to the real stack, to
// show who awaited: whether it is there depends on timing.
func isAsyncFrame(f family, name string) bool {
	switch f {
	case familyJS:
		return hasPrefixAny(name, "async ", "at async ", "async*", "promise callback*", "setTimeout handler*", "setInterval handler*", "Promise.all (index") ||
			strings.HasPrefix(name, "From previous event") || name == "<asynchronous suspension>"
	case familyDotNet:
		return strings.HasPrefix(name, "--- End of ")
	}
	return name == "<asynchronous suspension>"
}
