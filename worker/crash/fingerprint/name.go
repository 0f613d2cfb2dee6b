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
}

// normalize returns a function name of a language family without what varies, and
// the rules that changed it. It returns "" for a placeholder ("<anonymous>").
//
// The rules are applied until the name stays as it is, since one may enable
// another. Hence normalizing twice is normalizing once.
func (n *namer) normalize(f family, s string) (string, Rules) {
	n.rules = 0
	if limit := max(maxText, min(maxName, maxNames-n.bytesRead)); len(s) > limit {
		s = truncate(s, limit)
		n.rules |= rulesOf(RuleLength)
	}
	n.bytesRead += len(s)
	s = oneLine(s, maxName)
	for range maxNameRounds {
		text := oneLine(n.applyRules(f, s), maxName)
		if len(text) > maxText {
			text = oneLine(truncate(text, maxText), maxText)
			n.rules |= rulesOf(RuleLength)
		}
		if text == s {
			return text, n.rules
		}
		s = text
	}
	return unreadable, n.rules | rulesOf(RuleUnreadable)
}

func (n *namer) applyRules(f family, s string) string {
	switch f {
	case familyJVM:
		return n.java(s)
	case familyJS:
		return n.javascript(s)
	case familyPython:
		return n.python(s)
	case familyRuby:
		return n.ruby(s)
	case familyPHP:
		return n.php(s)
	case familyDotNet:
		return n.dotnet(s)
	case familyGo:
		return n.golang(s)
	}
	return n.native(s)
}

// noteRule adds a rule to those that changed the name.
func (n *namer) noteRule(r Rule) { n.rules |= 1 << r }

// result returns what was written to the buffer, sharing s when nothing
// changed.
func (n *namer) result(s string) string {
	if string(n.out) == s {
		return s
	}
	return string(n.out)
}
