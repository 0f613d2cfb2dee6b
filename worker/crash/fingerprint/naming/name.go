// Package naming normalizes the names of functions: of each language, what changes between
// builds, runs and compilers is left out, and the name of the function stays.
//
// A Namer has the rules of all languages, in a file for each or for several that are near; native
// code has several, since demanglers, compilers and tools write one function in many ways. It notes
// which rules changed a name. The rules are applied until a name stays as it is: normalizing twice
// is normalizing once.
//
// The input is hostile. Names are cut, all names of a report are bounded together, every scanner is
// linear, and a name that never settles gets a fixed text.
package naming

import (
	"strings"

	"github.com/slipway-qa/slipway/worker/crash/fingerprint/language"
	"github.com/slipway-qa/slipway/worker/crash/fingerprint/rule"
	"github.com/slipway-qa/slipway/worker/crash/fingerprint/scan"
)

// Bounds of one name. A demangled C++ name of a few kilobytes is common and
// its end matters, so that much more is read than is kept.
const (
	maxNames      = 1 << 20 // bytes of all names of a report that are read; then MaxText each
	MaxText       = 512     // bytes of a normalized name
	maxNameRounds = 8       // applications of the rules to one name
)

// MaxFunction bounds the submitted name where it is shown, or looked at as a whole.
const MaxFunction = 256

// Unreadable stands for a name that still changes after maxNameRounds: no
// compiler writes one.
const Unreadable = "unreadable-name"

// Namer normalizes names; its buffer is reused for each.
type Namer struct {
	out       []byte
	rules     rule.Set
	bytesRead int // bytes of names so far
	// mangledRead counts the bytes of symbols that were demangled.
	mangledRead int
	// receivers is set when JavaScript's names are all in V8's form: the class
	// before a method then distinguishes it.
	receivers bool
}

// New returns a namer of one report; receivers says that JavaScript's names are all in V8's form.
func New(receivers bool) *Namer { return &Namer{out: make([]byte, 0, 256), receivers: receivers} }

// Normalize returns a function name of a language family without what varies, and
// the rules that changed it. It returns "" for a placeholder ("<anonymous>").
//
// The rules are applied until the name stays as it is, since one may enable
// another. Hence normalizing twice is normalizing once.
func (n *Namer) Normalize(f language.Family, s string) (string, rule.Set) {
	n.rules = rule.Set{}
	if limit := max(MaxText, min(language.MaxName, maxNames-n.bytesRead)); len(s) > limit {
		s = scan.Truncate(s, limit)
		n.noteRule(rule.Length)
	}
	n.bytesRead += len(s)
	s = scan.OneLine(s, language.MaxName)
	for range maxNameRounds {
		text := scan.OneLine(n.applyRules(f, s), language.MaxName)
		if len(text) > MaxText {
			text = scan.OneLine(scan.Truncate(text, MaxText), MaxText)
			n.noteRule(rule.Length)
		}
		if text == s {
			return text, n.rules
		}
		s = text
	}
	n.noteRule(rule.Unreadable)
	return Unreadable, n.rules
}

func (n *Namer) applyRules(f language.Family, s string) string {
	switch f {
	case language.JVM:
		return jvmNamer{n}.name(s)
	case language.JS:
		return jsNamer{n}.name(s)
	case language.Python:
		return n.python(s)
	case language.Ruby:
		return n.ruby(s)
	case language.PHP:
		return n.php(s)
	case language.DotNet:
		return dotnetNamer{n}.name(s)
	case language.Dart:
		return n.dart(s)
	case language.Elixir:
		return n.elixir(s)
	case language.Go:
		return n.golang(s)
	}
	return n.native(s)
}

// noteRule adds a rule to those that changed the name.
func (n *Namer) noteRule(r rule.Rule) { n.rules.Add(r) }

// result returns what was written to the buffer, sharing s when nothing
// changed.
func (n *Namer) result(s string) string {
	if string(n.out) == s {
		return s
	}
	return string(n.out)
}

// IsPlaceholder reports whether a function name only stands for an unknown one.
func IsPlaceholder(name string) bool {
	switch name {
	case "", "?", "??", "???", "unknown", "<unknown>", "(unknown)", "Unknown", "<UNKNOWN>", "<unknown function>", "(null)", "null",
		"<redacted>", "<name omitted>", "[unknown]", "<unresolved>", "UnknownFunction", "<stripped>", "no symbol":
		return true
	}
	if strings.IndexByte("0sFfl_", name[0]) < 0 {
		return false
	}
	if scan.HasPrefixAny(name, "0x", "0X") {
		return len(name) <= 18 && scan.AllHex(name[2:])
	}
	for _, p := range [...]string{"sub_", "FUN_", "fun_", "loc_", "func_0x", "___lldb_unnamed_symbol"} {
		if tail, ok := strings.CutPrefix(name, p); ok {
			tail, _, _ = strings.Cut(tail, "$")
			return tail == "" || scan.AllHex(tail) && (len(tail) >= 6 || scan.AllDigits(tail))
		}
	}
	return false
}
