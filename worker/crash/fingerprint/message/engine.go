package message

import (
	"strings"

	"github.com/slipway-qa/slipway/worker/crash/fingerprint/naming"
	"github.com/slipway-qa/slipway/worker/crash/fingerprint/scan"
)

// OfEngine returns one text for what the engines of JavaScript word
// differently, and whether line was such a message.
//
//	Cannot read properties of undefined (reading 'x')     V8
//	can't access property "x", y is undefined             SpiderMonkey
//	undefined is not an object (evaluating 'y.x')         JavaScriptCore
func OfEngine(line string) (string, bool) {
	line = strings.TrimRight(scan.Truncate(line, naming.MaxText), ". ")
	if text, ok := accessMessage(line); ok {
		return text, true
	}
	if i := strings.Index(line, " is not a function"); i > 0 {
		return member(line[:i]) + " is not a function", true
	}
	if i := strings.Index(line, " is not a constructor"); i > 0 {
		return member(line[:i]) + " is not a constructor", true
	}
	if name, ok := strings.CutPrefix(line, "Can't find variable: "); ok {
		return name + " is not defined", true
	}
	if tail, ok := strings.CutPrefix(line, "Property '"); ok {
		if name, ok := strings.CutSuffix(tail, "' doesn't exist"); ok {
			return name + " is not defined", true
		}
	}
	lower := strings.ToLower(line)
	for _, m := range [...]struct{ word, text string }{
		{"assignment to constant variable", "assignment to a constant"}, {"invalid assignment to const",
			"assignment to a constant"}, {"attempted to assign to readonly property", "assignment to a constant"},
		{"dynamically imported module", "import of a module failed"}, {"importing a module script failed", "import of a module failed"},
		{"failed to fetch", "fetch failed"}, {"networkerror when attempting to fetch resource", "fetch failed"}, {"load failed", "fetch failed"},
		{"resizeobserver loop", "ResizeObserver loop"}, {"not iterable", "not iterable"}, {"symbol.iterator", "not iterable"},
		{"converting circular structure", "circular structure"}, {"cyclic object value", "circular structure"},
		{"cyclic structures", "circular structure"},
		{"unexpected end of json", "unexpected end of JSON"}, {"unexpected end of data", "unexpected end of JSON"},
		{"json parse error: unexpected eof", "unexpected end of JSON"},
		{"json.parse:", "invalid JSON"}, {"json parse error:", "invalid JSON"}, {"is not valid json", "invalid JSON"},
		{"in json at position", "invalid JSON"},
		// WebAssembly's traps: V8, SpiderMonkey, JavaScriptCore.
		{"memory access out of bounds", "memory access out of bounds"}, {"index out of bounds", "memory access out of bounds"},
		{"out of bounds memory access", "memory access out of bounds"},
		{"unreachable code should not be executed", "unreachable"}, {"unreachable executed", "unreachable"},
		{"null function or function signature mismatch", "indirect call mismatch"}, {"indirect call signature mismatch",
			"indirect call mismatch"}, {"indirect call to null", "indirect call mismatch"},
		{"call_indirect to a signature that does not match", "indirect call mismatch"},
		{"call_indirect to a null table entry", "indirect call mismatch"},
		{"table index is out of bounds", "table index out of bounds"}, {"table index out of bounds", "table index out of bounds"},
		{"out of bounds call_indirect", "table index out of bounds"},
		{"divide by zero", "division by zero"}, {"division by zero", "division by zero"}, {"integer overflow", "integer overflow"},
		{"float unrepresentable in integer range", "conversion out of range"}, {"integer result unrepresentable",
			"conversion out of range"}, {"out of bounds trunc operation", "conversion out of range"},
		{"maximum call stack", StackOverflow}, {"too much recursion", StackOverflow}, {"quotaexceedederror", "quota exceeded"},
		{"exceeded the quota", "quota exceeded"},
	} {
		if strings.Contains(lower, m.word) && (m.word != "load failed" || lower == m.word) {
			return m.text, true
		}
	}
	return "", false
}

// accessMessage reads the messages for a property of undefined or null. Whether
// it was read or set is not in SpiderMonkey's.
func accessMessage(line string) (string, bool) {
	for _, p := range [...]string{"Cannot read propert", "Cannot set propert", "Cannot destructure propert"} {
		tail, ok := strings.CutPrefix(line, p)
		if !ok {
			continue
		}
		name := quoted(tail)
		for _, value := range [...]string{"undefined", "null"} {
			if strings.Contains(tail, "of "+value) || strings.Contains(tail, "is "+value) {
				return access(name, value), true
			}
		}
		return "", false
	}
	for _, value := range [...]string{"undefined", "null"} {
		if tail, ok := strings.CutPrefix(line, value+" is not an object"); ok {
			return access(member(strings.TrimSpace(strings.SplitN(quoted(tail), " = ", 2)[0])), value), true
		}
		if strings.HasPrefix(line, "can't access property ") && strings.HasSuffix(line, " is "+value) {
			return access(quoted(line[len("can't access property"):]), value), true
		}
	}
	return "", false
}

func access(name, value string) string {
	if name == "" {
		return "a property of " + value
	}
	return "property " + name + " of " + value
}

// quoted returns the first quoted text in s, or "".
func quoted(s string) string {
	i := strings.IndexAny(s, `'"`)
	if i < 0 {
		return ""
	}
	rest := s[i+1:]
	end := strings.IndexByte(rest, s[i])
	if end < 0 {
		return ""
	}
	return rest[:end]
}

// member returns the last member of an expression: y.x -> x, a[0] -> "".
func member(s string) string {
	s = strings.TrimSpace(s)
	if i := strings.LastIndexByte(s, '.'); i >= 0 {
		s = s[i+1:]
	}
	if i := strings.IndexAny(s, "[("); i >= 0 {
		s = s[:i]
	}
	return s
}

// StackOverflow is the kind of a stack that ran out, and its class in every
// language: RangeError and InternalError are one error in two browsers.
const StackOverflow = "stack-overflow"
