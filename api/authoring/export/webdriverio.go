package export

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"

	"github.com/slipway-qa/slipway/api/authoring/export/language"
	"github.com/slipway-qa/slipway/api/authoring/export/script"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/testfile"
)

// webdriverIO writes statements of an async function.
type webdriverIO struct{}

func (webdriverIO) unit() (string, int)         { return "  ", 1 }
func (webdriverIO) comment(text string) string  { return "// " + text }
func (webdriverIO) literal(s string) string     { return language.JavaScript(s) }
func (webdriverIO) text(t script.Text) string   { return language.JavaScriptText(t) }
func (webdriverIO) number(t script.Text) string { return language.JavaScriptNumber(t) }
func (webdriverIO) milliseconds(n int) string   { return language.Thousands(n) }

func (webdriverIO) function(f *script.Function) (open, end string, method bool) {
	return "const " + f.Name + " = async (given) => {", "};", false
}

func (webdriverIO) run(c *script.Call) string { return "await " + javaScriptCall(c) }

func (webdriverIO) rows(d *testfile.Data) (rows []string, name string) {
	return language.JavaScriptRows(d)
}

func (webdriverIO) address(_ *page, t, base script.Text) string {
	if len(base) == 0 {
		return language.JavaScriptText(t)
	}
	return "new URL(" + language.JavaScriptText(t) + ", " + language.JavaScriptText(base) + ").href"
}

func (d webdriverIO) locator(at script.Place) string {
	var members []string
	add := func(name, value string) { members = append(members, name+": "+value) }
	if len(at.Name) > 0 {
		add("name", language.JavaScriptText(at.Name))
	}
	if at.Exact {
		add("exact", "true")
	}
	if at.Level > 0 {
		add("level", strconv.Itoa(at.Level))
	}
	if len(at.State) > 0 {
		var states []string
		for _, s := range at.State {
			states = append(states, fmt.Sprintf("%s: %t", s.Name, s.Is))
		}
		add("state", "{ "+strings.Join(states, ", ")+" }")
	}
	if at.Within != nil {
		add("within", d.locator(*at.Within))
	}
	if at.Has != nil {
		add("has", d.locator(*at.Has))
	}
	if len(at.HasText) > 0 {
		add("hasText", language.JavaScriptText(at.HasText))
	}
	if at.Index != nil {
		add("nth", strconv.Itoa(*at.Index))
	}
	return at.Kind + "(" + language.JavaScriptText(at.Value) + javaScriptOptions(members) + ")"
}

func (webdriverIO) call(p *page, name string, arguments ...string) string {
	p.call(name)
	return "await " + name + "(" + strings.Join(arguments, ", ") + ");"
}

func (d webdriverIO) open(p *page, address string) string {
	return d.call(p, "load", "() => browser.url("+address+")")
}

func (d webdriverIO) load(p *page, how string) string {
	return d.call(p, "load", "() => browser."+how+"()")
}

func (webdriverIO) pause(_ *page, ms int) string {
	return "await browser.pause(" + language.Thousands(ms) + ");"
}

func (d webdriverIO) press(p *page, on string, held []string, key string) string {
	var keys []string
	for _, k := range append(held, key) {
		switch {
		case k == "Meta":
			keys = append(keys, "Key.Command")
		case len([]rune(k)) > 1:
			keys = append(keys, "Key."+k)
		default:
			keys = append(keys, language.JavaScript(k))
		}
	}
	list := "[" + strings.Join(keys, ", ") + "]"
	if strings.Contains(list, "Key.") {
		p.call("Key")
	}
	if on != "" {
		return d.call(p, "pressOn", on, list)
	}
	if len(keys) == 1 {
		list = keys[0]
	}
	return "await browser.keys(" + list + ");"
}

func (d webdriverIO) window(p *page, matcher string, value script.Text) string {
	switch matcher {
	case step.WindowTitle:
		return d.call(p, "switchWindow", "async () => (await browser.getTitle()).includes("+language.JavaScriptText(value)+")")
	case step.WindowURL:
		return d.call(p, "switchWindow", "async () => (await browser.getUrl()).includes("+language.JavaScriptText(value)+")")
	case step.WindowIndex:
		return d.call(p, "switchToWindow", d.number(value))
	}
	return d.call(p, "switchToNewWindow")
}

func (d webdriverIO) upload(p *page, on string, name string, content []byte) string {
	return d.call(p, "upload", on, language.JavaScript(name), "'"+base64.StdEncoding.EncodeToString(content)+"'")
}

func (webdriverIO) claim(p *page, m *step.Matcher, on string, value script.Text, not bool) string {
	p.call("eventually")
	read := func(name string) string {
		function := func(name string, arguments ...string) string {
			p.call(name)
			return "await " + name + "(" + strings.Join(append([]string{on}, arguments...), ", ") + ")"
		}
		switch name {
		case step.TextIs:
			return function("textOf")
		case step.Count:
			p.call("findAll")
			return "(await findAll(" + on + ")).length"
		case step.URLIs:
			return "await browser.getUrl()"
		case step.TitleIs:
			return "await browser.getTitle()"
		case step.Visible, step.Hidden:
			return function("isVisible")
		case step.Checked:
			return function("isChecked")
		case step.Focused:
			return function("isFocused")
		case step.Enabled:
			return function("isEnabled")
		case step.ValueIs:
			return function("valueOf")
		}
		p.call("first")
		return function("attribute", language.JavaScript(m.Args.Name))
	}
	// What is hidden is not visible; there is one function for both.
	claim := javaScriptClaim(p, m, value, not != (m.Name == step.Hidden), read)
	return "await expectEventually(async () => " + claim + ");"
}

func (webdriverIO) block(p *page, name, argument string) (open, end string) {
	p.call(name)
	if name == "optional" {
		return "await optional(async () => {", "});"
	}
	return "await " + name + "(" + argument + ", async () => {", "});"
}

func (webdriverIO) condition(p *page, limit string) (open, end, last string) {
	p.call("holds")
	return "if (await holds(" + limit + ", async () => {", "})) {", "}"
}
