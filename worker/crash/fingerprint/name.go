package fingerprint

// Bounds of one name. A demangled C++ name of a few kilobytes is common and
// its end matters, so that much more is read than is kept.
const (
	maxName       = 64 << 10 // bytes of a submitted name that are read
	maxNames      = 1 << 20  // bytes of all names of a report that are read; then maxText each
	maxText       = 512      // bytes of a normalized name
	maxNameRounds = 8        // applications of the rules to one name
)

// unreadable stands for a name that still changes after maxNameRounds: no
// compiler writes one.
const unreadable = "unreadable-name"

// namer normalizes names; its buffer is reused for each.
type namer struct {
	out       []byte
	rules     Rules
	bytesRead int // bytes of names so far
	// mangledRead counts the bytes of symbols that were demangled.
	mangledRead int
	// receivers is set when JavaScript's names are all in V8's form: the class
	// before a method then distinguishes it.
	receivers bool
}

// normalize returns a function name of a language family without what varies, and
// the rules that changed it. It returns "" for a placeholder ("<anonymous>").
//
// The rules are applied until the name stays as it is, since one may enable
// another. Hence normalizing twice is normalizing once.
func (n *namer) normalize(f family, s string) (string, Rules) {
	n.rules = Rules{}
	if limit := max(maxText, min(maxName, maxNames-n.bytesRead)); len(s) > limit {
		s = truncate(s, limit)
		n.noteRule(RuleLength)
	}
	n.bytesRead += len(s)
	s = oneLine(s, maxName)
	for range maxNameRounds {
		text := oneLine(n.applyRules(f, s), maxName)
		if len(text) > maxText {
			text = oneLine(truncate(text, maxText), maxText)
			n.noteRule(RuleLength)
		}
		if text == s {
			return text, n.rules
		}
		s = text
	}
	n.noteRule(RuleUnreadable)
	return unreadable, n.rules
}

func (n *namer) applyRules(f family, s string) string {
	switch f {
	case familyJVM:
		return jvmNamer{n}.name(s)
	case familyJS:
		return jsNamer{n}.name(s)
	case familyPython:
		return n.python(s)
	case familyRuby:
		return n.ruby(s)
	case familyPHP:
		return n.php(s)
	case familyDotNet:
		return dotnetNamer{n}.name(s)
	case familyDart:
		return n.dart(s)
	case familyElixir:
		return n.elixir(s)
	case familyGo:
		return n.golang(s)
	}
	return n.native(s)
}

// noteRule adds a rule to those that changed the name.
func (n *namer) noteRule(r Rule) { n.rules.add(r) }

// result returns what was written to the buffer, sharing s when nothing
// changed.
func (n *namer) result(s string) string {
	if string(n.out) == s {
		return s
	}
	return string(n.out)
}
