package intent

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// chained reads a name that is also a verb, in a chain of names: "Go to Edit, then Find,
// then Previous". It stands in capitals inside of a sentence, alone or before "then".
func chained(src string, c *Clause) {
	if len(c.Readings) == 0 || len(c.Readings[0].Instructions) != 1 {
		return
	}
	first, _ := utf8.DecodeRuneInString(c.Text)
	if !unicode.IsUpper(first) {
		return
	}
	in := c.Readings[0].Instructions[0]
	name, rest, _ := strings.Cut(c.Text, " ")
	name = strings.TrimRight(name, ",;")
	next := ""
	switch {
	case in.Target == nil && len(in.Values) == 0 && rest == "":
	case in.Target != nil && (strings.HasPrefix(in.Target.Name, "then ") || strings.HasPrefix(in.Target.Name, "dann ")):
		next = in.Target.Name[len("then "):]
	default:
		return
	}
	if before, _, found := strings.Cut(src, c.Text); !found || !continues(strings.TrimSpace(before)) {
		return
	}
	list := []Instruction{{Text: name, Kind: Click, Target: &Phrase{Text: name, Name: name}, Lang: in.Lang}}
	if next != "" {
		list = append(list, Instruction{Text: next, Kind: Click, Target: &Phrase{Text: next, Name: next}, Lang: in.Lang})
		c.Readings = nil // nothing is called "then Previous"
	}
	c.Readings = append([]Reading{{Instructions: list, Prior: 1}}, c.Readings...)
}

// continues reports whether a text ends where another name of a chain follows.
func continues(before string) bool {
	return strings.HasSuffix(before, ",") || strings.HasSuffix(before, " then") || strings.HasSuffix(before, " dann")
}
