package export

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"

	"github.com/slipway-qa/slipway/storage/step"
)

// objectMembers are the members of an object of JavaScript.
type objectMembers []string

func (o *objectMembers) add(name, value string) { *o = append(*o, name+": "+value) }

func (o *objectMembers) flag(name string, on bool) {
	if on {
		o.add(name, "true")
	}
}

func (o objectMembers) String() string { return "{ " + strings.Join(o, ", ") + " }" }

// read reads a text of the case.
func (w *playwright) read(s string) string { return javaScriptText(w.env.read(s)) }

// here is the address of the page: the test's until one is open.
func (w *playwright) here() string {
	if !w.opened && len(w.base) > 0 {
		return javaScriptText(w.base)
	}
	return "page.url()"
}

// state is the expression of a tool that sets or saves.
func (w *playwright) state(m *move) string {
	a := &m.tool.Args
	switch m.tool.Type {
	case step.SetCookie:
		return w.cookie(a)
	case step.SetStorage:
		if a.Area == step.LocalStorage && (a.Origin != "" || !w.opened) {
			w.call("storeAt")
			origin := "new URL(" + w.here() + ").origin"
			if a.Origin != "" {
				origin = w.read(a.Origin)
			}
			return "storeAt(context, " + origin + ", " + w.read(a.Key) + ", " + w.read(*a.Value) + ")"
		}
		return "page.evaluate(([area, key, value]) => window[area].setItem(key, value), ['" + a.Area + "Storage', " +
			w.read(a.Key) + ", " + w.read(*a.Value) + "])"
	case step.ClearState:
		w.call("clearState")
		var o objectMembers
		o.flag("all", a.All)
		o.flag("cookies", a.Cookies || a.All)
		o.flag("local", a.Local || a.All)
		o.flag("session", a.Session || a.All)
		return "clearState(context, page, " + o.String() + ")"
	case step.Emulate:
		return w.emulate(a)
	case step.Save:
		return w.save(m)
	}
	switch {
	case a.Advance != nil:
		return "page.clock.runFor(" + thousands(*a.Advance) + ")"
	case a.Resume:
		return "page.clock.resume()"
	}
	w.call("stopClock")
	return "stopClock(page, " + w.read(a.Fixed) + ")"
}

func (w *playwright) cookie(a *step.Args) string {
	var o objectMembers
	o.add("name", w.read(a.Name))
	o.add("value", w.read(*a.Value))
	if a.Domain != "" {
		o.add("domain", w.read(a.Domain))
	} else {
		o.add("domain", "new URL("+w.here()+").hostname")
	}
	path := "'/'"
	if a.Path != "" {
		path = w.read(a.Path)
	}
	o.add("path", path)
	o.flag("secure", a.Secure)
	o.flag("httpOnly", a.HTTPOnly)
	if a.SameSite != "" {
		o.add("sameSite", javaScript(strings.ToUpper(a.SameSite[:1])+strings.ToLower(a.SameSite[1:])))
	}
	if a.Expires != "" {
		o.add("expires", "Date.parse("+w.read(a.Expires)+") / 1000")
	}
	return "context.addCookies([" + o.String() + "])"
}

func (w *playwright) emulate(a *step.Args) string {
	w.call("emulate")
	var o objectMembers
	if d, ok := step.DeviceNamed(a.Device); ok {
		o.add("userAgent", javaScript(d.UserAgent))
		o.add("viewport", fmt.Sprintf("{ width: %d, height: %d }", d.Viewport.Width, d.Viewport.Height))
		o.add("scale", strconv.FormatFloat(d.Scale, 'f', -1, 64))
		o.add("mobile", strconv.FormatBool(d.Mobile))
		o.add("touch", strconv.FormatBool(d.Touch))
	}
	if a.Viewport != nil {
		o.add("viewport", fmt.Sprintf("{ width: %d, height: %d }", a.Viewport.Width, a.Viewport.Height))
	}
	if a.Locale != "" {
		o.add("locale", w.read(a.Locale))
	}
	if a.TimeZone != "" {
		o.add("timeZone", w.read(a.TimeZone))
	}
	if g := a.Geolocation; g != nil {
		number := func(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }
		o.add("geolocation", "{ latitude: "+number(g.Latitude)+", longitude: "+number(g.Longitude)+", accuracy: "+number(g.Accuracy)+" }")
	}
	if a.ColorScheme != "" {
		o.add("colorScheme", javaScript(a.ColorScheme))
	}
	if a.Offline != nil {
		o.add("offline", strconv.FormatBool(*a.Offline))
	}
	if a.CPU != nil {
		o.add("cpu", strconv.FormatFloat(*a.CPU, 'f', -1, 64))
	}
	if n := a.Network; n != nil {
		o.add("network", fmt.Sprintf("{ latency: %d, down: %d, up: %d }", n.Latency, n.Down, n.Up))
	}
	if len(a.Permissions) > 0 {
		var names []string
		for _, name := range a.Permissions {
			names = append(names, javaScript(name))
		}
		o.add("permissions", "["+strings.Join(names, ", ")+"]")
		o.add("origin", "new URL("+w.here()+").origin")
	}
	return "emulate(context, page, " + o.String() + ")"
}

func (w *playwright) save(m *move) string {
	a := &m.tool.Args
	w.call("save")
	w.asserting = true
	defer func() { w.asserting = false }()
	var read string
	switch a.From {
	case step.SavedText:
		w.call("textOf")
		read = "textOf(" + w.element(m, m.element) + ")"
	case step.SavedValue:
		w.call("PROBE")
		read = w.element(m, m.element) + ".inputValue(PROBE)"
	case step.SavedAttribute:
		w.call("PROBE")
		read = w.element(m, m.element) + ".getAttribute(" + javaScript(a.Attribute) + ", PROBE)"
	case step.SavedCount:
		read = w.all(m, m.element) + ".count()"
	case step.SavedURL:
		read = "page.url()"
	default:
		read = "page.title()"
	}
	pattern := "null"
	if a.Match != "" {
		pattern = javaScriptPattern(text{{literal: a.Match}})
	}
	limit := ""
	if m.timeout > 0 {
		limit = ", " + thousands(m.timeout)
	}
	return "save(saved, " + javaScript(a.Name) + ", async () => " + read + ", " + pattern + limit + ")"
}

// each writes a for_each: a loop over the rows.
func (w *playwright) each(m *move) {
	w.call("rowsOf")
	most := step.MaxIterations
	if m.tool.Args.Max != nil {
		most = *m.tool.Args.Max
	}
	w.line("for (const row of await rowsOf(" + w.all(m, m.element) + ", " + strconv.Itoa(most) + ownLimit(m) + ")) {")
	w.depth++
	w.row = "row"
	for i := range m.each {
		w.move(&m.each[i])
	}
	w.row = ""
	w.depth--
	w.line("}")
}

// keptClaim asserts a cookie or an item of a storage.
func (w *playwright) keptClaim(m *move, not bool) string {
	a := &m.tool.Args.Matcher.Args
	w.call("eventually")
	read := "await page.evaluate(([area, key]) => window[area].getItem(key), ['" + a.Area + "Storage', " + w.read(a.Key) + "])"
	if m.tool.Args.Matcher.Name == step.CookieIs {
		w.call("cookieOf")
		var o objectMembers
		if c := a.Attributes; c != nil {
			if c.Domain != "" {
				o.add("domain", javaScript(c.Domain))
			}
			if c.Path != "" {
				o.add("path", javaScript(c.Path))
			}
			if c.SameSite != "" {
				o.add("sameSite", javaScript(strings.ToLower(c.SameSite)))
			}
			if c.Secure != nil {
				o.add("secure", strconv.FormatBool(*c.Secure))
			}
			if c.HTTPOnly != nil {
				o.add("httpOnly", strconv.FormatBool(*c.HTTPOnly))
			}
		}
		read = "await cookieOf(context, page, " + javaScript(a.Name) + ", " + o.String() + ")"
	}
	var claim string
	switch {
	case a.Value == "" && a.Mode == "" && not:
		claim = "assert.equal(" + read + ", null)"
	case a.Value == "" && a.Mode == "":
		claim = "assert.notEqual(" + read + ", null)"
	default:
		w.call("present")
		claim = javaScriptClaim(w.page, m.tool.Args.Matcher, m.value, not, func(string) string { return "present(" + read + ")" })
	}
	return "eventually(" + arrow(claim) + ownLimit(m) + ")"
}

// pointing are the options of a click or a hover.
func (w *playwright) pointing(m *move, button string) string {
	p := &m.tool.Args.Pointing
	var o objectMembers
	if p.Button != "" {
		button = p.Button
	}
	if button != "" && button != "left" {
		o.add("button", javaScript(button))
	}
	if p.Position != nil {
		o.add("position", fmt.Sprintf("{ x: %d, y: %d }", p.Position.X, p.Position.Y))
	}
	if len(p.Modifiers) > 0 {
		var keys []string
		for _, key := range p.Modifiers {
			keys = append(keys, javaScript(key))
		}
		o.add("modifiers", "["+strings.Join(keys, ", ")+"]")
	}
	if p.ClickCount != nil && *p.ClickCount > 1 {
		o.add("clickCount", strconv.Itoa(*p.ClickCount))
	}
	if m.timeout > 0 {
		o.add("timeout", thousands(m.timeout))
	}
	if len(o) == 0 {
		return ""
	}
	return o.String()
}

// upload puts files into an input, or answers the chooser that was opened.
func (w *playwright) upload(m *move) string {
	var list []string
	files := m.tool.Args.Files
	if m.tool.Args.File != nil {
		files = []step.File{*m.tool.Args.File}
	}
	for _, f := range files {
		list = append(list, fmt.Sprintf("{ name: %s, mimeType: 'application/octet-stream', buffer: Buffer.from('%s', 'base64') }",
			javaScript(fileName(f.Name)), base64.StdEncoding.EncodeToString(f.Content)))
	}
	written := strings.Join(list, ", ")
	if len(list) > 1 {
		written = "[" + written + "]"
	}
	if !m.element.given() {
		w.call("choose")
		return "choose(choosers, " + written + ownLimit(m) + ")"
	}
	return w.element(m, m.element) + ".setInputFiles(" + written + w.options(m, true) + ")"
}
