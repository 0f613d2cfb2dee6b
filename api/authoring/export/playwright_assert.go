package export

import "github.com/slipway-qa/slipway/storage/step"

// assertion waits until what is claimed holds.
func (w *playwright) assertion(m *move) string {
	a := &m.tool.Args
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
	claim := javaScriptClaim(w.page, a.Matcher, m.value, not, func(name string) string {
		switch name {
		case step.TextIs:
			w.call("textOf")
			return "await textOf(" + w.element(m, m.element) + ")"
		case step.Count:
			return "await " + w.all(m, m.element) + ".count()"
		case step.URLIs:
			return "page.url()"
		case step.TitleIs:
			return "await page.title()"
		case step.Visible, step.Hidden:
			return "await " + w.element(m, m.element) + ".isVisible()"
		}
		w.call("PROBE")
		switch name {
		case step.ValueIs:
			return "await " + w.element(m, m.element) + ".inputValue(PROBE)"
		case step.Enabled:
			return "await " + w.element(m, m.element) + ".isEnabled(PROBE)"
		case step.Checked:
			return "await " + w.element(m, m.element) + ".isChecked(PROBE)"
		case step.Focused:
			w.call("isFocused")
			return "await isFocused(" + w.element(m, m.element) + ")"
		}
		return "await " + w.element(m, m.element) + ".getAttribute(" + javaScript(a.Matcher.Args.Name) + ", PROBE)"
	})
	return "eventually(" + arrow(claim) + ownLimit(m) + ")"
}
