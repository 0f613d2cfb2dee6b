package export

import (
	"github.com/slipway-qa/slipway/api/authoring/export/language"
	"github.com/slipway-qa/slipway/api/authoring/export/script"
	"github.com/slipway-qa/slipway/storage/step"
)

// assertion waits until what is claimed holds.
func (w *playwright) assertion(m *script.Move) string {
	a := &m.Tool.Args
	// What is hidden is not visible; there is one function for both.
	not := a.Not != (a.Matcher.Name == step.Hidden)
	if a.Matcher.Name == step.StorageIs || a.Matcher.Name == step.CookieIs {
		return w.keptClaim(m, a.Not)
	}
	switch {
	case step.IsNetworkMatcher(a.Matcher.Name):
		return w.networkClaim(m)
	case a.Matcher.Name == step.Accessible:
		return w.accessibleClaim(m)
	}
	w.call("eventually")
	w.asserting = true
	defer func() { w.asserting = false }()
	claim := javaScriptClaim(w.page, a.Matcher, m.Value, not, func(name string) string {
		switch name {
		case step.TextIs:
			w.call("textOf")
			return "await textOf(" + w.element(m, m.Element) + ")"
		case step.Count:
			return "await " + w.all(m, m.Element) + ".count()"
		case step.URLIs:
			return "page.url()"
		case step.TitleIs:
			return "await page.title()"
		case step.Visible, step.Hidden:
			return "await " + w.element(m, m.Element) + ".isVisible()"
		}
		w.call("PROBE")
		switch name {
		case step.ValueIs:
			return "await " + w.element(m, m.Element) + ".inputValue(PROBE)"
		case step.Enabled:
			return "await " + w.element(m, m.Element) + ".isEnabled(PROBE)"
		case step.Checked:
			return "await " + w.element(m, m.Element) + ".isChecked(PROBE)"
		case step.Focused:
			w.call("isFocused")
			return "await isFocused(" + w.element(m, m.Element) + ")"
		}
		return "await " + w.element(m, m.Element) + ".getAttribute(" + language.JavaScript(a.Matcher.Args.Name) + ", PROBE)"
	})
	return "eventually(" + arrow(claim) + ownLimit(m) + ")"
}
