package export

import (
	"encoding/base64"
	"regexp"
	"strconv"
	"strings"

	"github.com/slipway-qa/slipway/api/authoring/export/language"
	"github.com/slipway-qa/slipway/api/authoring/export/script"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/testfile"
)

// java writes statements of a JUnit test.
type java struct{}

func (java) unit() (string, int) { return "    ", 2 }

// next goes on in a further method, as the size of one is limited: of the test or, unless it is
// nil, of the function of a step group.
func (java) next(f *script.Function, part int) []string {
	name, given, declared := "part"+strconv.Itoa(part), "", ""
	if f != nil {
		name += "Of" + strings.ToUpper(f.Name[:1]) + f.Name[1:]
		given, declared = listedParameters(f, javaParameter), listedParameters(f, javaDeclaration)
	}
	return []string{"        " + name + "(" + given + ");", "    }", "", "    private void " + name + "(" + declared + ") {"}
}

func (java) comment(text string) string { return "// " + text }
func (java) literal(s string) string    { return language.Java(s) }
func (java) milliseconds(n int) string  { return "Duration.ofMillis(" + language.Thousands(n) + ")" }

func (java) text(t script.Text) string {
	return language.Joined(t, language.Java, javaVariable)
}

func javaVariable(p script.Part) string {
	switch {
	case p.Row != "":
		return "row.get(" + language.Java(p.Row) + ")"
	case p.Param != "":
		return javaParameter(p.Param)
	}
	return `env("` + p.Env + `")`
}

func (java) function(f *script.Function) (open, end string, method bool) {
	return "private void " + f.Name + "(" + listedParameters(f, javaDeclaration) + ") {", "}", true
}

func javaDeclaration(parameter string) string { return "String " + javaParameter(parameter) }

func (d java) run(c *script.Call) string {
	return c.Function + "(" + listedValues(c, func(a script.Argument) string { return d.text(a.Value) }) + ");"
}

// rows are calls of a method with the values in the order of the columns.
func (java) rows(data *testfile.Data) (rows []string, name string) {
	for _, row := range data.Rows {
		values := make([]string, len(row))
		for i, value := range row {
			values[i] = language.Java(value)
		}
		rows = append(rows, "row("+strings.Join(values, ", ")+")")
	}
	return rows, "row.get(" + language.Java(data.NameColumn()) + ")"
}

func (d java) number(t script.Text) string {
	literal, fixed := t.Fixed()
	if n, err := strconv.ParseInt(strings.TrimSpace(literal), 10, 32); fixed && err == nil {
		return strconv.FormatInt(n, 10)
	}
	return "Integer.parseInt(" + d.text(t) + ")"
}

func (d java) address(_ *page, t, base script.Text) string {
	if len(base) == 0 {
		return d.text(t)
	}
	return "URI.create(" + d.text(base) + ").resolve(" + d.text(t) + ").toString()"
}

func (d java) locator(at script.Place) string {
	var b strings.Builder
	b.WriteString(at.Kind + "(" + d.text(at.Value) + ")")
	add := func(name string, arguments ...string) {
		b.WriteString("." + name + "(" + strings.Join(arguments, ", ") + ")")
	}
	if len(at.Name) > 0 {
		add("name", d.text(at.Name))
	}
	if at.Exact {
		add("exact")
	}
	if at.Level > 0 {
		add("level", strconv.Itoa(at.Level))
	}
	for _, s := range at.State {
		add("state", language.Java(s.Name), strconv.FormatBool(s.Is))
	}
	if at.Within != nil {
		add("within", d.locator(*at.Within))
	}
	if at.Has != nil {
		add("has", d.locator(*at.Has))
	}
	if len(at.HasText) > 0 {
		add("hasText", d.text(at.HasText))
	}
	if at.Index != nil {
		add("nth", strconv.Itoa(*at.Index))
	}
	return b.String()
}

func (java) call(p *page, name string, arguments ...string) string {
	p.call(name)
	return name + "(" + strings.Join(arguments, ", ") + ");"
}

func (d java) open(p *page, address string) string {
	return d.call(p, "load", "() -> driver.get("+address+")")
}

func (d java) load(p *page, how string) string {
	return d.call(p, "load", "() -> driver.navigate()."+how+"()")
}

func (java) pause(p *page, ms int) string {
	p.call("sleep")
	return "sleep(" + language.Thousands(ms) + ");"
}

func (d java) press(p *page, on string, held []string, key string) string {
	var arguments []string
	if on != "" {
		arguments = append(arguments, on)
	}
	for _, k := range append(held, key) {
		arguments = append(arguments, seleniumKey(k, language.Java))
	}
	if strings.Contains(strings.Join(arguments, " "), "Keys.") {
		p.call("Keys")
	}
	if on != "" {
		return d.call(p, "pressOn", arguments...)
	}
	return d.call(p, "press", arguments...)
}

func (d java) window(p *page, matcher string, value script.Text) string {
	switch matcher {
	case step.WindowTitle:
		return d.call(p, "switchWindow", "() -> driver.getTitle().contains("+d.text(value)+")")
	case step.WindowURL:
		return d.call(p, "switchWindow", "() -> driver.getCurrentUrl().contains("+d.text(value)+")")
	case step.WindowIndex:
		return d.call(p, "switchToWindow", d.number(value))
	}
	return d.call(p, "switchToNewWindow")
}

// maxConstant is characters of one literal: a class file takes 65,535 bytes.
const maxConstant = 60_000

func (d java) upload(p *page, on string, name string, content []byte) string {
	var parts []string
	encoded := base64.StdEncoding.EncodeToString(content)
	for len(encoded) > maxConstant {
		parts = append(parts, `"`+encoded[:maxConstant]+`"`)
		encoded = encoded[maxConstant:]
	}
	parts = append(parts, `"`+encoded+`"`)
	return d.call(p, "upload", append([]string{on, language.Java(name)}, parts...)...)
}

func (d java) claim(p *page, m *step.Matcher, on string, value script.Text, not bool) string {
	p.call("eventually")
	read := func(name string) string {
		p.call(name)
		return name + "(" + on + ")"
	}
	choose := func(yes, no string) string {
		if not {
			return no
		}
		return yes
	}
	wait := func(claim string, arguments ...string) string {
		p.call(claim)
		return "expect(() -> " + claim + "(" + strings.Join(arguments, ", ") + "));"
	}
	truth := choose("assertTrue", "assertFalse")
	switch m.Name {
	case step.Visible:
		return wait(truth, read("isVisible"))
	case step.Hidden:
		return wait(choose("assertFalse", "assertTrue"), read("isVisible"))
	case step.Enabled:
		return wait(truth, read("isEnabled"))
	case step.Checked:
		return wait(truth, read("isChecked"))
	case step.Focused:
		return wait(truth, read("isFocused"))
	case step.Count:
		count := read("findAll") + ".size()"
		number := d.number(value)
		switch m.Args.Mode {
		case step.AtLeast:
			return wait(truth, count+" >= "+number)
		case step.AtMost:
			return wait(truth, count+" <= "+number)
		}
		return wait(choose("assertEquals", "assertNotEquals"), number, count)
	}
	var actual string
	switch m.Name {
	case step.TextIs:
		actual = read("textOf")
	case step.ValueIs:
		actual = read("valueOf")
	case step.URLIs:
		actual = "driver.getCurrentUrl()"
	case step.TitleIs:
		actual = "driver.getTitle()"
	case step.AttributeIs:
		actual = read("first") + ".getDomAttribute(" + language.Java(m.Args.Name) + ")"
		if m.Args.Mode == step.Contains || m.Args.Mode == step.Matches {
			p.call("orEmpty")
			actual = "Objects.toString(" + actual + `, "")`
		}
	}
	switch m.Args.Mode {
	case step.Contains:
		function := choose("assertContains", "assertLacks")
		return wait(function, d.text(value), actual)
	case step.Matches:
		function := choose("assertMatches", "assertDiffers")
		return wait(function, d.pattern(value), actual)
	}
	return wait(choose("assertEquals", "assertNotEquals"), d.text(value), actual)
}

func (d java) pattern(t script.Text) string {
	literal, fixed := t.Fixed()
	if _, err := regexp.Compile(literal); !fixed || err != nil {
		return d.text(t)
	}
	return language.Java(language.InlinePattern(literal, language.JavaRune))
}

func (java) block(p *page, name, argument string) (open, end string) {
	p.call(name)
	if name == "optional" {
		return "optional(() -> {", "});"
	}
	return name + "(" + argument + ", () -> {", "});"
}

func (java) condition(p *page, limit string) (open, end, last string) {
	p.call("holds")
	return "if (holds(" + limit + ", () -> {", "})) {", "}"
}
