package export

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/testfile"
)

// webdriverIO writes statements of an async function.
type webdriverIO struct{}

func (webdriverIO) unit() (string, int)        { return "  ", 1 }
func (webdriverIO) comment(text string) string { return "// " + text }
func (webdriverIO) literal(s string) string    { return javaScript(s) }
func (webdriverIO) text(t text) string         { return javaScriptText(t) }
func (webdriverIO) number(t text) string       { return javaScriptNumber(t) }
func (webdriverIO) milliseconds(n int) string  { return thousands(n) }

func (webdriverIO) function(f *groupFunction) (open, end string, method bool) {
	return "const " + f.name + " = async (given) => {", "};", false
}

func (webdriverIO) run(c *groupCall) string { return "await " + c.statement() }

func (webdriverIO) rows(d *testfile.Data) (rows []string, name string) { return javaScriptRows(d) }

func (webdriverIO) address(_ *page, t, base text) string {
	if len(base) == 0 {
		return javaScriptText(t)
	}
	return "new URL(" + javaScriptText(t) + ", " + javaScriptText(base) + ").href"
}

func (d webdriverIO) locator(at place) string {
	var members []string
	add := func(name, value string) { members = append(members, name+": "+value) }
	if len(at.name) > 0 {
		add("name", javaScriptText(at.name))
	}
	if at.exact {
		add("exact", "true")
	}
	if at.level > 0 {
		add("level", strconv.Itoa(at.level))
	}
	if len(at.state) > 0 {
		var states []string
		for _, s := range at.state {
			states = append(states, fmt.Sprintf("%s: %t", s.name, s.is))
		}
		add("state", "{ "+strings.Join(states, ", ")+" }")
	}
	if at.within != nil {
		add("within", d.locator(*at.within))
	}
	if at.has != nil {
		add("has", d.locator(*at.has))
	}
	if len(at.hasText) > 0 {
		add("hasText", javaScriptText(at.hasText))
	}
	if at.index != nil {
		add("nth", strconv.Itoa(*at.index))
	}
	return at.kind + "(" + javaScriptText(at.value) + javaScriptOptions(members) + ")"
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
	return "await browser.pause(" + thousands(ms) + ");"
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
			keys = append(keys, javaScript(k))
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

func (d webdriverIO) window(p *page, matcher string, value text) string {
	switch matcher {
	case step.WindowTitle:
		return d.call(p, "switchWindow", "async () => (await browser.getTitle()).includes("+javaScriptText(value)+")")
	case step.WindowURL:
		return d.call(p, "switchWindow", "async () => (await browser.getUrl()).includes("+javaScriptText(value)+")")
	case step.WindowIndex:
		return d.call(p, "switchToWindow", d.number(value))
	}
	return d.call(p, "switchToNewWindow")
}

func (d webdriverIO) upload(p *page, on string, name string, content []byte) string {
	return d.call(p, "upload", on, javaScript(name), "'"+base64.StdEncoding.EncodeToString(content)+"'")
}

func (webdriverIO) claim(p *page, m *step.Matcher, on string, value text, not bool) string {
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
		return function("attribute", javaScript(m.Args.Name))
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
