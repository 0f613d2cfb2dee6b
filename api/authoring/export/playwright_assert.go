package export

import (
	"strings"

	"github.com/slipway-qa/slipway/storage/step"
)

// assertion waits until what is claimed holds.
func (w *playwright) assertion(m *move) string {
	a := &m.tool.Args
	what, not := a.Matcher.Name, a.Not
	if what == step.Visible || what == step.Hidden {
		var options []string
		if (what == step.Hidden) != not {
			options = append(options, "state: 'hidden'")
		}
		if m.timeout > 0 {
			options = append(options, "timeout: "+thousands(m.timeout))
		}
		if len(options) == 0 {
			return w.first(m, m.element) + ".waitFor()"
		}
		return w.first(m, m.element) + ".waitFor({ " + strings.Join(options, ", ") + " })"
	}
	w.call("eventually")
	claim := javaScriptClaim(w.page, a.Matcher, m.value, not, func(name string) string {
		switch name {
		case step.TextIs:
			w.call("textOf")
			return "await textOf(" + w.first(m, m.element) + ")"
		case step.Count:
			return "await " + w.all(m, m.element) + ".count()"
		case step.URLIs:
			return "page.url()"
		case step.TitleIs:
			return "await page.title()"
		}
		w.call("PROBE")
		switch name {
		case step.ValueIs:
			return "await " + w.first(m, m.element) + ".inputValue(PROBE)"
		case step.Enabled:
			return "await " + w.first(m, m.element) + ".isEnabled(PROBE)"
		case step.Checked:
			return "await " + w.first(m, m.element) + ".isChecked(PROBE)"
		}
		return "await " + w.first(m, m.element) + ".getAttribute(" + javaScript(a.Matcher.Args.Name) + ", PROBE)"
	})
	async := ""
	if strings.Contains(claim, "await ") {
		async = "async "
	}
	limit := ""
	if m.timeout > 0 {
		limit = ", " + thousands(m.timeout)
	}
	return "eventually(" + async + "() => " + claim + limit + ")"
}
