package export

import (
	"encoding/base64"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/slipway-qa/slipway/api/authoring/export/language"
	"github.com/slipway-qa/slipway/api/authoring/export/script"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/testfile"
)

// python writes statements of a unittest.TestCase.
type python struct{}

func (python) unit() (string, int)        { return "    ", 2 }
func (python) comment(text string) string { return "# " + text }
func (python) literal(s string) string    { return language.Python(s) }
func (python) empty() string              { return "pass" }

func (python) text(t script.Text) string {
	return language.Joined(t, language.Python, pythonVariable)
}

func pythonVariable(p script.Part) string {
	switch {
	case p.Row != "":
		return "self.row[" + language.Python(p.Row) + "]"
	case p.Param != "":
		return pythonParameter(p.Param)
	}
	return `env("` + p.Env + `")`
}

func (python) function(f *script.Function) (open, end string, method bool) {
	parameters := "self"
	if len(f.Parameters) > 0 {
		parameters += ", " + listedParameters(f, pythonParameter)
	}
	return "def " + pythonName(f.Name) + "(" + parameters + "):", "", true
}

func (d python) run(c *script.Call) string {
	given := listedValues(c, func(a script.Argument) string { return pythonParameter(a.Name) + "=" + d.text(a.Value) })
	return "self." + pythonName(c.Function) + "(" + given + ")"
}

// rows are dictionaries.
func (python) rows(data *testfile.Data) (rows []string, name string) {
	for _, row := range data.Rows {
		members := make([]string, len(row))
		for i, value := range row {
			members[i] = language.Python(data.Columns[i]) + ": " + language.Python(value)
		}
		rows = append(rows, "{"+strings.Join(members, ", ")+"}")
	}
	return rows, "row[" + language.Python(data.NameColumn()) + "]"
}

func (d python) number(t script.Text) string {
	literal, fixed := t.Fixed()
	if n, err := strconv.Atoi(strings.TrimSpace(literal)); fixed && err == nil {
		return strconv.Itoa(n)
	}
	return "int(" + d.text(t) + ")"
}

func (d python) address(p *page, t, base script.Text) string {
	if len(base) == 0 {
		return d.text(t)
	}
	p.call("urljoin")
	return "urljoin(" + d.text(base) + ", " + d.text(t) + ")"
}

func (d python) locator(at script.Place) string {
	arguments := []string{d.text(at.Value)}
	add := func(name, value string) { arguments = append(arguments, name+"="+value) }
	if len(at.Name) > 0 {
		add("name", d.text(at.Name))
	}
	if at.Exact {
		add("exact", "True")
	}
	if at.Level > 0 {
		add("level", strconv.Itoa(at.Level))
	}
	if len(at.State) > 0 {
		var states []string
		for _, s := range at.State {
			states = append(states, fmt.Sprintf("%q: %s", s.Name, pythonBool(s.Is)))
		}
		add("state", "{"+strings.Join(states, ", ")+"}")
	}
	if at.Within != nil {
		add("within", d.locator(*at.Within))
	}
	if at.Has != nil {
		add("has", d.locator(*at.Has))
	}
	if len(at.HasText) > 0 {
		add("has_text", d.text(at.HasText))
	}
	if at.Index != nil {
		add("nth", strconv.Itoa(*at.Index))
	}
	return pythonName(at.Kind) + "(" + strings.Join(arguments, ", ") + ")"
}

func pythonBool(b bool) string {
	if b {
		return "True"
	}
	return "False"
}

var capitals = regexp.MustCompile(`[A-Z]`)

// pythonName turns acceptDialog into accept_dialog.
func pythonName(name string) string {
	return strings.ToLower(capitals.ReplaceAllString(name, "_$0"))
}

func (python) call(p *page, name string, arguments ...string) string {
	p.call(name)
	return "self." + pythonName(name) + "(" + strings.Join(arguments, ", ") + ")"
}

func (d python) open(p *page, address string) string {
	return d.call(p, "load", "self.driver.get", address)
}

func (d python) load(p *page, how string) string { return d.call(p, "load", "self.driver."+how) }

func (python) pause(p *page, ms int) string {
	p.call("sleep")
	return "time.sleep(" + strconv.FormatFloat(float64(ms)/1000, 'f', -1, 64) + ")"
}

func (python) milliseconds(n int) string { return strconv.FormatFloat(float64(n)/1000, 'f', -1, 64) }

// upperWithUnderscores turns PageDown into PAGE_DOWN.
func upperWithUnderscores(name string) string {
	return strings.ToUpper(strings.TrimPrefix(capitals.ReplaceAllString(name, "_$0"), "_"))
}

// seleniumKey is a key in the words of Selenium.
func seleniumKey(key string, literal func(string) string) string {
	if len([]rune(key)) > 1 {
		return "Keys." + upperWithUnderscores(key)
	}
	return literal(key)
}

func (d python) press(p *page, on string, held []string, key string) string {
	var arguments []string
	if on != "" {
		arguments = append(arguments, on)
	}
	for _, k := range append(held, key) {
		arguments = append(arguments, seleniumKey(k, language.Python))
	}
	if strings.Contains(strings.Join(arguments, " "), "Keys.") {
		p.call("Keys")
	}
	if on != "" {
		return d.call(p, "pressOn", arguments...)
	}
	return d.call(p, "press", arguments...)
}

func (d python) window(p *page, matcher string, value script.Text) string {
	switch matcher {
	case step.WindowTitle:
		return d.call(p, "switchWindow", "lambda: "+d.text(value)+" in self.driver.title")
	case step.WindowURL:
		return d.call(p, "switchWindow", "lambda: "+d.text(value)+" in self.driver.current_url")
	case step.WindowIndex:
		return d.call(p, "switchToWindow", d.number(value))
	}
	return d.call(p, "switchToNewWindow")
}

func (d python) upload(p *page, on string, name string, content []byte) string {
	return d.call(p, "upload", on, language.Python(name), `"`+base64.StdEncoding.EncodeToString(content)+`"`)
}

func (d python) claim(p *page, m *step.Matcher, on string, value script.Text, not bool) string {
	p.call("eventually")
	read := func(name string, arguments ...string) string {
		p.call(name)
		return "self." + pythonName(name) + "(" + strings.Join(arguments, ", ") + ")"
	}
	choose := func(yes, no string) string {
		if not {
			return no
		}
		return yes
	}
	wait := func(claim string, arguments ...string) string {
		return "self.expect(lambda: self." + claim + "(" + strings.Join(arguments, ", ") + "))"
	}
	truth := choose("assertTrue", "assertFalse")
	switch m.Name {
	case step.Visible:
		return wait(truth, read("isVisible", on))
	case step.Hidden:
		return wait(choose("assertFalse", "assertTrue"), read("isVisible", on))
	case step.Enabled:
		return wait(truth, read("isEnabled", on))
	case step.Checked:
		return wait(truth, read("isChecked", on))
	case step.Focused:
		return wait(truth, read("isFocused", on))
	case step.Count:
		count := "len(" + read("findAll", on) + ")"
		switch m.Args.Mode {
		case step.AtLeast:
			return wait(choose("assertGreaterEqual", "assertLess"), count, d.number(value))
		case step.AtMost:
			return wait(choose("assertLessEqual", "assertGreater"), count, d.number(value))
		}
		return wait(choose("assertEqual", "assertNotEqual"), d.number(value), count)
	}
	var actual string
	switch m.Name {
	case step.TextIs:
		actual = read("textOf", on)
	case step.ValueIs:
		actual = read("valueOf", on)
	case step.URLIs:
		actual = "self.driver.current_url"
	case step.TitleIs:
		actual = "self.driver.title"
	case step.AttributeIs:
		actual = read("first", on) + ".get_dom_attribute(" + language.Python(m.Args.Name) + ")"
		if m.Args.Mode == step.Contains || m.Args.Mode == step.Matches {
			actual += ` or ""`
		}
	}
	switch m.Args.Mode {
	case step.Contains:
		return wait(choose("assertIn", "assertNotIn"), d.text(value), actual)
	case step.Matches:
		p.call("pattern")
		return wait(choose("assertRegex", "assertNotRegex"), actual, "re.compile("+d.pattern(value)+", re.ASCII)")
	}
	return wait(choose("assertEqual", "assertNotEqual"), d.text(value), actual)
}

// pattern is a raw string where that can hold the pattern.
func (d python) pattern(t script.Text) string {
	literal, fixed := t.Fixed()
	if !fixed {
		return d.text(t)
	}
	written := language.InlinePattern(literal, language.PythonRune)
	quoted := language.Python(written)
	if !strings.ContainsAny(written, `"`) && !strings.HasSuffix(written, `\`) && strings.ReplaceAll(quoted, `\\`, `\`) == `"`+written+`"` {
		return `r"` + written + `"`
	}
	return quoted
}

func (d python) block(p *page, name, argument string) (open, end string) {
	p.call(name)
	if name == "optional" {
		return "with suppress(WebDriverException):  # Optional: the test goes on when this does not work out.", ""
	}
	return "with self." + pythonName(name) + "(" + argument + "):", ""
}

func (python) condition(p *page, limit string) (open, end, last string) {
	p.call("holds")
	return "def condition():", "if self.holds(" + limit + ", condition):", ""
}
