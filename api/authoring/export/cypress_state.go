package export

import (
	"slices"
	"strconv"
	"strings"

	"github.com/slipway-qa/slipway/storage/step"
)

func (w *cypress) read(s string) string { return javaScriptText(w.env.read(s)) }

// state writes a tool that sets or saves.
func (w *cypress) state(m *move) {
	a := &m.tool.Args
	switch m.tool.Type {
	case step.SetCookie:
		w.cookie(m)
	case step.SetStorage:
		if a.Origin != "" {
			w.lacks(m, ".args.origin", "the storage of another origin")
		}
		set := a.Area + "Storage.setItem(" + w.read(a.Key) + ", " + w.read(*a.Value) + ");"
		if !w.opened {
			w.stored = append(w.stored, set)
			return
		}
		w.line("cy.window().then(({ " + a.Area + "Storage }) => " + strings.TrimSuffix(set, ";") + ");")
	case step.ClearState:
		if a.All {
			w.lacks(m, ".args.all", "clearing all that a browser keeps")
		}
		for _, one := range []struct {
			is      bool
			command string
		}{{a.Cookies, "clearAllCookies"}, {a.Local, "clearAllLocalStorage"}, {a.Session, "clearAllSessionStorage"}} {
			if one.is {
				w.line("cy." + one.command + "();")
			}
		}
	case step.Save:
		w.save(m)
	}
}

func (w *cypress) cookie(m *move) {
	a := &m.tool.Args
	var o objectMembers
	switch {
	case a.Domain != "":
		o.add("domain", w.read(a.Domain))
	case !w.opened && len(w.base) > 0:
		o.add("domain", "new URL("+javaScriptText(w.base)+").hostname")
	}
	if a.Path != "" {
		o.add("path", w.read(a.Path))
	}
	o.flag("secure", a.Secure)
	o.flag("httpOnly", a.HTTPOnly)
	switch a.SameSite {
	case "":
	case "none":
		o.add("sameSite", "'no_restriction'")
	default:
		o.add("sameSite", javaScript(a.SameSite))
	}
	if a.Expires != "" {
		o.add("expiry", "Date.parse("+w.read(a.Expires)+") / 1000")
	}
	options := ""
	if len(o) > 0 {
		options = ", " + o.String()
	}
	w.line("cy.setCookie(" + w.read(a.Name) + ", " + w.read(*a.Value) + options + ");")
}

func (w *cypress) save(m *move) {
	a := &m.tool.Args
	w.call("save", "look")
	var read string
	switch a.From {
	case step.SavedText:
		w.call("textOf")
		read = "textOf(" + w.at(m, m.element) + ")"
	case step.SavedValue:
		w.call("valueOf")
		read = "valueOf(" + w.at(m, m.element) + ")"
	case step.SavedAttribute:
		w.call("attributeOf")
		read = "attributeOf(" + w.at(m, m.element) + ", " + javaScript(a.Attribute) + ")"
	case step.SavedCount:
		w.call("countOf")
		read = "countOf(" + w.at(m, m.element) + ")"
	case step.SavedURL:
		read = "({ location }) => location.href"
	default:
		read = "({ title }) => title"
	}
	pattern := "null"
	if a.Match != "" {
		pattern = javaScriptPattern(text{{literal: a.Match}})
	}
	w.line("save(" + javaScript(a.Name) + ", " + read + ", " + pattern + ownLimit(m) + ");")
}

// assertion claims what must be.
func (w *cypress) assertion(m *move) {
	if m.tool.Args.Matcher.Name == step.CookieIs {
		w.cookieClaim(m)
		return
	}
	w.call("look")
	read, claim := w.claim(m)
	w.line("cy.look(" + read + ownLimit(m) + ").should((actual) => expect(actual)." + claim + ");")
}

// claim is a function that reads the page, and what chai claims of what it reads.
func (w *cypress) claim(m *move) (read, claim string) {
	a := &m.tool.Args
	matcher := a.Matcher
	element := func(function string) string {
		w.call(function)
		return function + "(" + w.at(m, m.element) + ")"
	}
	not := a.Not != (matcher.Name == step.Hidden)
	to := map[bool]string{false: "to.", true: "to.not."}[not]
	truth := "to.equal(" + strconv.FormatBool(!not) + ")"
	mode := matcher.Args.Mode
	switch matcher.Name {
	case step.Visible, step.Hidden:
		return element("isVisible"), truth
	case step.Enabled:
		return element("isEnabled"), truth
	case step.Checked:
		return element("isChecked"), truth
	case step.Focused:
		// The runner has the page in a frame of its own, so whether a frame of the page has the
		// focus cannot be seen.
		if slices.ContainsFunc(m.within, func(s scope) bool { return s.frame }) {
			w.lacks(m, ".args.matcher.name", "the focus in a frame")
		}
		return element("isFocused"), truth
	case step.Count:
		compare := map[string]string{step.AtLeast: "be.at.least", step.AtMost: "be.at.most"}[mode]
		if compare == "" {
			compare = "equal"
		}
		return element("countOf"), to + compare + "(" + javaScriptNumber(m.value) + ")"
	case step.TextIs:
		read = element("textOf")
	case step.ValueIs:
		read = element("valueOf")
	case step.URLIs:
		read = "({ location }) => location.href"
	case step.TitleIs:
		read = "({ title }) => title"
	case step.AttributeIs:
		w.call("attributeOf")
		read = "attributeOf(" + w.at(m, m.element) + ", " + javaScript(matcher.Args.Name) + ")"
		if mode == step.Contains || mode == step.Matches { // of none, the empty text
			read = "attributeOf(" + w.at(m, m.element) + ", " + javaScript(matcher.Args.Name) + ", '')"
		}
	case step.StorageIs:
		read = "({ defaultView }) => defaultView." + matcher.Args.Area + "Storage.getItem(" + w.read(matcher.Args.Key) + ")"
		if matcher.Args.Value == "" && mode == "" {
			return read, map[bool]string{false: "to.not.equal(null)", true: "to.equal(null)"}[not]
		}
		if not { // it must be there all the same
			to = "to.be.a('string').and.not."
		}
	default:
		w.lacks(m, ".args.matcher.name", matcher.Name)
		return "", ""
	}
	switch mode {
	case step.Contains:
		return read, to + "include(" + javaScriptText(m.value) + ")"
	case step.Matches:
		return read, to + "match(" + javaScriptPattern(m.value) + ")"
	}
	return read, to + "equal(" + javaScriptText(m.value) + ")"
}

// cookieClaim asserts a cookie of the page.
func (w *cypress) cookieClaim(m *move) {
	a, not := &m.tool.Args.Matcher.Args, m.tool.Args.Not
	options := ""
	if m.timeout > 0 {
		options = ", { timeout: " + thousands(m.timeout) + " }"
	}
	var wanted []string
	if c := a.Attributes; c != nil {
		text := func(name, value string) {
			if value != "" {
				wanted = append(wanted, "cookie."+name+" === "+javaScript(value))
			}
		}
		if c.Domain != "" {
			wanted = append(wanted, `cookie.domain.replace(/^\./, '') === `+javaScript(strings.TrimPrefix(c.Domain, ".")))
		}
		text("path", c.Path)
		if strings.EqualFold(c.SameSite, "none") {
			text("sameSite", "no_restriction")
		} else {
			text("sameSite", strings.ToLower(c.SameSite))
		}
		if c.Secure != nil {
			wanted = append(wanted, "cookie.secure === "+strconv.FormatBool(*c.Secure))
		}
		if c.HTTPOnly != nil {
			wanted = append(wanted, "cookie.httpOnly === "+strconv.FormatBool(*c.HTTPOnly))
		}
	}
	found := "cookie ? cookie.value : null"
	if len(wanted) > 0 {
		found = "cookie && " + strings.Join(wanted, " && ") + " ? cookie.value : null"
	}
	to := map[bool]string{false: "to.", true: "to.be.a('string').and.not."}[not]
	var claim string
	switch {
	case a.Value == "" && a.Mode == "":
		claim = map[bool]string{false: "to.not.equal(null)", true: "to.equal(null)"}[not]
	case a.Mode == step.Contains:
		claim = to + "include(" + javaScriptText(m.value) + ")"
	case a.Mode == step.Matches:
		claim = to + "match(" + javaScriptPattern(m.value) + ")"
	default:
		claim = to + "equal(" + javaScriptText(m.value) + ")"
	}
	w.line("cy.getCookie(" + javaScript(a.Name) + options + ").should((cookie) => expect(" + found + ")." + claim + ");")
}
