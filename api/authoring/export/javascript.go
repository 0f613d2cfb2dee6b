package export

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/testfile"
)

func javaScriptOdd(r rune) string { return fmt.Sprintf(`\u{%x}`, r) }

// javaScript is a string literal of JavaScript.
func javaScript(s string) string { return quote(s, "'", javaScriptEscapes, javaScriptOdd) }

// javaScriptText is an expression; variables stand in a template literal.
func javaScriptText(t text) string {
	if s, ok := t.fixed(); ok {
		return javaScript(s)
	}
	if len(t) == 1 && t[0].saved != "" {
		return "saved." + t[0].saved
	}
	if len(t) == 1 && t[0].row != "" {
		return javaScriptMember("data", t[0].row)
	}
	if len(t) == 1 && t[0].param != "" {
		return javaScriptMember("given", t[0].param)
	}
	if len(t) == 1 {
		return "env." + t[0].env
	}
	var b strings.Builder
	for _, p := range t {
		switch {
		case p.saved != "":
			b.WriteString("${saved." + p.saved + "}")
		case p.row != "":
			b.WriteString("${" + javaScriptMember("data", p.row) + "}")
		case p.param != "":
			b.WriteString("${" + javaScriptMember("given", p.param) + "}")
		case p.env != "":
			b.WriteString("${env." + p.env + "}")
		default:
			b.WriteString(quote(p.literal, "", templateEscapes, javaScriptOdd))
		}
	}
	return "`" + b.String() + "`"
}

// identifier is a name that stands behind a dot.
var identifier = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// javaScriptMember is a member of an object: of the data row, or of the parameters of a group.
func javaScriptMember(of, name string) string {
	if identifier.MatchString(name) {
		return of + "." + name
	}
	return of + "[" + javaScript(name) + "]"
}

// javaScriptRows are data rows as elements of a list, and an expression for the name of one.
func javaScriptRows(d *testfile.Data) (rows []string, name string) {
	for _, row := range d.Rows {
		var o objectMembers
		for i, column := range d.Columns {
			key := column
			if !identifier.MatchString(column) || column == "__proto__" {
				key = javaScriptKey(column)
			}
			o.add(key, javaScript(row[i]))
		}
		rows = append(rows, o.String())
	}
	return rows, javaScriptMember("data", d.NameColumn())
}

// thousands writes a number as 10_000.
func thousands(n int) string {
	s := strconv.Itoa(n)
	for at := len(s) - 3; at > 0; at -= 3 {
		s = s[:at] + "_" + s[at:]
	}
	return s
}

// javaScriptNumber is a number that a text says.
func javaScriptNumber(t text) string {
	literal, fixed := t.fixed()
	if n, err := strconv.Atoi(strings.TrimSpace(literal)); fixed && err == nil {
		return strconv.Itoa(n)
	}
	return "Number(" + javaScriptText(t) + ")"
}

// javaScriptPattern is a regular expression.
func javaScriptPattern(t text) string {
	literal, fixed := t.fixed()
	if _, err := regexp.Compile(literal); !fixed || err != nil {
		return "new RegExp(" + javaScriptText(t) + ", 'u')"
	}
	written, anyCase := pattern(literal, javaScriptRune)
	flags := "u"
	if anyCase {
		flags = "iu"
	}
	if written == "" {
		written = "(?:)"
	}
	var b strings.Builder
	for i := 0; i < len(written); i++ {
		switch {
		case written[i] == '\\' && i+1 < len(written):
			b.WriteByte('\\')
			i++
		case written[i] == '/':
			b.WriteByte('\\')
		}
		b.WriteByte(written[i])
	}
	return "/" + b.String() + "/" + flags
}

// javaScriptClaim is a call of node:assert about what read gives for a matcher.
func javaScriptClaim(p *page, m *step.Matcher, value text, not bool, read func(matcher string) string) string {
	actual := read(m.Name)
	wrapped := actual
	if strings.HasPrefix(actual, "await ") {
		wrapped = "(" + actual + ")"
	}
	choose := func(yes, no string) string {
		if not {
			return no
		}
		return yes
	}
	switch m.Name {
	case step.Enabled, step.Checked, step.Focused, step.Visible, step.Hidden:
		return "assert.equal(" + actual + ", " + choose("true", "false") + ")"
	case step.Count:
		number := javaScriptNumber(value)
		switch m.Args.Mode {
		case step.AtLeast:
			return "assert.ok(" + wrapped + choose(" >= ", " < ") + number + ")"
		case step.AtMost:
			return "assert.ok(" + wrapped + choose(" <= ", " > ") + number + ")"
		}
		return "assert." + choose("equal", "notEqual") + "(" + actual + ", " + number + ")"
	}
	switch m.Args.Mode {
	case step.Contains:
		function := choose("assertContains", "assertLacks")
		p.call(function)
		return function + "(" + actual + ", " + javaScriptText(value) + ")"
	case step.Matches:
		if m.Name == step.AttributeIs {
			actual = wrapped + " ?? ''"
		}
		return "assert." + choose("match", "doesNotMatch") + "(" + actual + ", " + javaScriptPattern(value) + ")"
	}
	return "assert." + choose("equal", "notEqual") + "(" + actual + ", " + javaScriptText(value) + ")"
}
