package export

import (
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/slipway-qa/slipway/storage/step"
)

// webdriverIO writes statements of an async function.
type webdriverIO struct{}

func (webdriverIO) unit() (string, int)        { return "  ", 1 }
func (webdriverIO) comment(text string) string { return "// " + text }
func (webdriverIO) literal(s string) string    { return javaScript(s) }
func (webdriverIO) text(t text) string         { return javaScriptText(t) }
func (webdriverIO) number(t text) string       { return javaScriptNumber(t) }
func (webdriverIO) milliseconds(n int) string  { return thousands(n) }

func (webdriverIO) address(_ *page, t, base text) string {
	if len(base) == 0 {
		return javaScriptText(t)
	}
	return "new URL(" + javaScriptText(t) + ", " + javaScriptText(base) + ").href"
}

func (webdriverIO) locator(_ *page, at place) string {
	name := "css"
	if at.xpath {
		name = "xpath"
	}
	if at.index != nil {
		return fmt.Sprintf("%s(%s, %d)", name, javaScriptText(at.value), *at.index)
	}
	return name + "(" + javaScriptText(at.value) + ")"
}

func (webdriverIO) call(p *page, name string, arguments ...string) string {
	p.call(name)
	return "await " + name + "(" + strings.Join(arguments, ", ") + ");"
}

func (webdriverIO) open(address string) string { return "await browser.url(" + address + ");" }

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

func (webdriverIO) scroll(_ *page, script string) string {
	return "await browser.execute(() => " + script + ");"
}

func (d webdriverIO) upload(p *page, on string, name string, content []byte) string {
	return d.call(p, "upload", on, javaScript(name), "'"+base64.StdEncoding.EncodeToString(content)+"'")
}

func (webdriverIO) claim(p *page, m *step.Matcher, on string, value text, not bool) string {
	p.call("eventually")
	read := func(name string) string {
		function := func(name string) string {
			p.call(name)
			return "await " + name + "(" + on + ")"
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
		case step.Enabled:
			return "await (" + function("first") + ").isEnabled()"
		case step.ValueIs:
			return "await (" + function("first") + ").getValue()"
		}
		return "await (" + function("first") + ").getAttribute(" + javaScript(m.Args.Name) + ")"
	}
	// What is hidden is not visible; there is one function for both.
	claim := javaScriptClaim(p, m, value, not != (m.Name == step.Hidden), read)
	return "await eventually(async () => " + claim + ");"
}

func (webdriverIO) block(p *page, name, argument string) (open, end string) {
	p.call(name)
	if name == "optional" {
		return "await optional(async () => {", "});"
	}
	return "await " + name + "(" + argument + ", async () => {", "});"
}
