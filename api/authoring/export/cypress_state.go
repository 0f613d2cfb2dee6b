package export

import (
	"slices"
	"strconv"
	"strings"

	"github.com/slipway-qa/slipway/api/authoring/export/language"
	"github.com/slipway-qa/slipway/api/authoring/export/script"
	"github.com/slipway-qa/slipway/storage/step"
)

func (w *cypress) read(s string) string { return language.JavaScriptText(w.Env.Read(s)) }

// state writes a tool that sets or saves.
func (w *cypress) state(m *script.Move) {
	a := &m.Tool.Args
	switch m.Tool.Type {
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

func (w *cypress) cookie(m *script.Move) {
	a := &m.Tool.Args
	var o language.Members
	switch {
	case a.Domain != "":
		o.Add("domain", w.read(a.Domain))
	case !w.opened && len(w.Base) > 0:
		o.Add("domain", "new URL("+language.JavaScriptText(w.Base)+").hostname")
	}
	if a.Path != "" {
		o.Add("path", w.read(a.Path))
	}
	o.Flag("secure", a.Secure)
	o.Flag("httpOnly", a.HTTPOnly)
	switch a.SameSite {
	case "":
	case "none":
		o.Add("sameSite", "'no_restriction'")
	default:
		o.Add("sameSite", language.JavaScript(a.SameSite))
	}
	if a.Expires != "" {
		o.Add("expiry", "Date.parse("+w.read(a.Expires)+") / 1000")
	}
	options := ""
	if len(o) > 0 {
		options = ", " + o.String()
	}
	w.line("cy.setCookie(" + w.read(a.Name) + ", " + w.read(*a.Value) + options + ");")
}

func (w *cypress) save(m *script.Move) {
	a := &m.Tool.Args
	w.call("save", "look")
	var read string
	switch a.From {
	case step.SavedText:
		w.call("textOf")
		read = "textOf(" + w.at(m, m.Element) + ")"
	case step.SavedValue:
		w.call("valueOf")
		read = "valueOf(" + w.at(m, m.Element) + ")"
	case step.SavedAttribute:
		w.call("attributeOf")
		read = "attributeOf(" + w.at(m, m.Element) + ", " + language.JavaScript(a.Attribute) + ")"
	case step.SavedCount:
		w.call("countOf")
		read = "countOf(" + w.at(m, m.Element) + ")"
	case step.SavedURL:
		read = "({ location }) => location.href"
	default:
		read = "({ title }) => title"
	}
	pattern := "null"
	if a.Match != "" {
		pattern = language.JavaScriptPattern(script.Text{{Literal: a.Match}})
	}
	w.line("save(" + language.JavaScript(a.Name) + ", " + read + ", " + pattern + ownLimit(m) + ");")
}

// assertion claims what must be.
func (w *cypress) assertion(m *script.Move) {
	if m.Tool.Args.Matcher.Name == step.CookieIs {
		w.cookieClaim(m)
		return
	}
	w.call("look")
	read, claim := w.claim(m)
	w.line("cy.look(" + read + ownLimit(m) + ").should((actual) => expect(actual)." + claim + ");")
}

// claim is a function that reads the page, and what chai claims of what it reads.
func (w *cypress) claim(m *script.Move) (read, claim string) {
	a := &m.Tool.Args
	matcher := a.Matcher
	element := func(function string) string {
		w.call(function)
		return function + "(" + w.at(m, m.Element) + ")"
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
		if slices.ContainsFunc(m.Within, func(s script.Scope) bool { return s.Frame }) {
			w.lacks(m, ".args.matcher.name", "the focus in a frame")
		}
		return element("isFocused"), truth
	case step.Count:
		compare := map[string]string{step.AtLeast: "be.at.least", step.AtMost: "be.at.most"}[mode]
		if compare == "" {
			compare = "equal"
		}
		return element("countOf"), to + compare + "(" + language.JavaScriptNumber(m.Value) + ")"
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
		read = "attributeOf(" + w.at(m, m.Element) + ", " + language.JavaScript(matcher.Args.Name) + ")"
		if mode == step.Contains || mode == step.Matches { // of none, the empty text
			read = "attributeOf(" + w.at(m, m.Element) + ", " + language.JavaScript(matcher.Args.Name) + ", '')"
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
		return read, to + "include(" + language.JavaScriptText(m.Value) + ")"
	case step.Matches:
		return read, to + "match(" + language.JavaScriptPattern(m.Value) + ")"
	}
	return read, to + "equal(" + language.JavaScriptText(m.Value) + ")"
}

// cookieClaim asserts a cookie of the page.
func (w *cypress) cookieClaim(m *script.Move) {
	a, not := &m.Tool.Args.Matcher.Args, m.Tool.Args.Not
	options := ""
	if m.Timeout > 0 {
		options = ", { timeout: " + language.Thousands(m.Timeout) + " }"
	}
	var wanted []string
	if c := a.Attributes; c != nil {
		text := func(name, value string) {
			if value != "" {
				wanted = append(wanted, "cookie."+name+" === "+language.JavaScript(value))
			}
		}
		if c.Domain != "" {
			wanted = append(wanted, `cookie.domain.replace(/^\./, '') === `+language.JavaScript(strings.TrimPrefix(c.Domain, ".")))
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
		claim = to + "include(" + language.JavaScriptText(m.Value) + ")"
	case a.Mode == step.Matches:
		claim = to + "match(" + language.JavaScriptPattern(m.Value) + ")"
	default:
		claim = to + "equal(" + language.JavaScriptText(m.Value) + ")"
	}
	w.line("cy.getCookie(" + language.JavaScript(a.Name) + options + ").should((cookie) => expect(" + found + ")." + claim + ");")
}
