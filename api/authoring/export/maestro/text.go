package maestro

import (
	"regexp"
	"strings"

	"github.com/slipway-qa/slipway/api/authoring/export/language"
	"github.com/slipway-qa/slipway/api/authoring/export/script"
)

// scriptIn is a script of Maestro in a text: ${...} without another dollar in it.
var scriptIn = regexp.MustCompile(`\$\{[^$]*\}`)

// escaped is a text that Maestro takes as it is.
func escaped(s string) string { return scriptIn.ReplaceAllString(s, `\$0`) }

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
			script.WriteString(strings.ReplaceAll(language.JavaScript(escaped(p.literal)), "$", `\x24`))
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
		return escaped(literal.String())
	case plain:
		return mixed.String()
	}
	return "${" + script.String() + "}"
}

// reference is the expression of a variable; "" for a literal.
func reference(p script.Part) string {
	switch {
	case p.Env != "":
		return p.Env
	case p.Saved != "":
		return "output." + p.Saved
	}
	return ""
}

// string is a text with its variables.
func (w *writer) string(t script.Text) string {
	pieces := make([]piece, len(t))
	for i, p := range t {
		pieces[i] = piece{p.Literal, reference(p)}
	}
	return rendered(pieces)
}
