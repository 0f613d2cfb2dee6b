package language

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/slipway-qa/slipway/api/authoring/export/script"
	"github.com/slipway-qa/slipway/storage/step/testfile"
)

func javaScriptOdd(r rune) string { return fmt.Sprintf(`\u{%x}`, r) }

// JavaScript is a string literal of JavaScript.
func JavaScript(s string) string { return quote(s, "'", javaScriptEscapes, javaScriptOdd) }

// JavaScriptText is an expression; variables stand in a template literal.
func JavaScriptText(t script.Text) string {
	if s, ok := t.Fixed(); ok {
		return JavaScript(s)
	}
	if len(t) == 1 && t[0].Saved != "" {
		return "saved." + t[0].Saved
	}
	if len(t) == 1 && t[0].Row != "" {
		return javaScriptMember("data", t[0].Row)
	}
	if len(t) == 1 && t[0].Param != "" {
		return javaScriptMember("given", t[0].Param)
	}
	if len(t) == 1 {
		return "env." + t[0].Env
	}
	var b strings.Builder
	for _, p := range t {
		switch {
		case p.Saved != "":
			b.WriteString("${saved." + p.Saved + "}")
		case p.Row != "":
			b.WriteString("${" + javaScriptMember("data", p.Row) + "}")
		case p.Param != "":
			b.WriteString("${" + javaScriptMember("given", p.Param) + "}")
		case p.Env != "":
			b.WriteString("${env." + p.Env + "}")
		default:
			b.WriteString(quote(p.Literal, "", templateEscapes, javaScriptOdd))
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
	return of + "[" + JavaScript(name) + "]"
}

// Members are the members of an object of JavaScript.
type Members []string

// Add adds a member with its value, both as they stand in the code.
func (o *Members) Add(name, value string) { *o = append(*o, name+": "+value) }

// Flag adds a member that is true, where it is.
func (o *Members) Flag(name string, on bool) {
	if on {
		o.Add(name, "true")
	}
}

// String is the object.
func (o Members) String() string { return "{ " + strings.Join(o, ", ") + " }" }

// JavaScriptKey is a member's name; __proto__ would be none if it did not stand in brackets.
func JavaScriptKey(name string) string {
	if name == "__proto__" {
		return "['__proto__']"
	}
	return JavaScript(name)
}

// JavaScriptName is a member's name, without quotes where it needs none.
func JavaScriptName(name string) string {
	if identifier.MatchString(name) && name != "__proto__" {
		return name
	}
	return JavaScriptKey(name)
}

// JavaScriptRows are data rows as elements of a list, and an expression for the name of one.
func JavaScriptRows(d *testfile.Data) (rows []string, name string) {
	for _, row := range d.Rows {
		var o Members
		for i, column := range d.Columns {
			o.Add(JavaScriptName(column), JavaScript(row[i]))
		}
		rows = append(rows, o.String())
	}
	return rows, javaScriptMember("data", d.NameColumn())
}

// Thousands writes a number as 10_000.
func Thousands(n int) string {
	s := strconv.Itoa(n)
	for at := len(s) - 3; at > 0; at -= 3 {
		s = s[:at] + "_" + s[at:]
	}
	return s
}

// JavaScriptNumber is a number that a text says.
func JavaScriptNumber(t script.Text) string {
	literal, fixed := t.Fixed()
	if n, err := strconv.Atoi(strings.TrimSpace(literal)); fixed && err == nil {
		return strconv.Itoa(n)
	}
	return "Number(" + JavaScriptText(t) + ")"
}

// JavaScriptPattern is a regular expression.
func JavaScriptPattern(t script.Text) string {
	literal, fixed := t.Fixed()
	if _, err := regexp.Compile(literal); !fixed || err != nil {
		return "new RegExp(" + JavaScriptText(t) + ", 'u')"
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
