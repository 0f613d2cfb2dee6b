package export

import (
	"regexp"
	"strings"
)

// maestroScript is a script of Maestro in a text: ${...} without another dollar in it.
var maestroScript = regexp.MustCompile(`\$\{[^$]*\}`)

// maestroLiteral is a text that Maestro takes as it is.
func maestroLiteral(s string) string { return maestroScript.ReplaceAllString(s, `\$0`) }

// piece is a part of a text for Maestro: a literal, or an expression of its scripts.
type piece struct{ literal, script string }

// rendered is what Maestro makes the text of. A script ends with the last brace before the next
// dollar, so where a literal has either, all of it is one script.
func rendered(pieces []piece) string {
	var literal, mixed, script strings.Builder
	scripts, plain := 0, true
	for i, p := range pieces {
		if i > 0 {
			script.WriteString(" + ")
		}
		if p.script == "" {
			literal.WriteString(p.literal)
			mixed.WriteString(p.literal)
			script.WriteString(strings.ReplaceAll(javaScript(maestroLiteral(p.literal)), "$", `\x24`))
			plain = plain && !strings.ContainsAny(p.literal, `${}\`)
			continue
		}
		scripts++
		mixed.WriteString("${" + p.script + "}")
		script.WriteString(p.script)
		plain = plain && !strings.ContainsAny(p.script, "{}")
	}
	switch {
	case scripts == 0:
		return maestroLiteral(literal.String())
	case plain:
		return mixed.String()
	}
	return "${" + script.String() + "}"
}

// reference is the expression of a variable; "" for a literal.
func (p part) reference() string {
	switch {
	case p.env != "":
		return p.env
	case p.saved != "":
		return "output." + p.saved
	}
	return ""
}

// string is a text with its variables.
func (w *maestro) string(t text) string {
	pieces := make([]piece, len(t))
	for i, p := range t {
		pieces[i] = piece{p.literal, p.reference()}
	}
	return rendered(pieces)
}
