package export

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"

	"github.com/slipway-qa/slipway/api/authoring/export/language"
	"github.com/slipway-qa/slipway/api/authoring/export/script"
	"github.com/slipway-qa/slipway/storage/step"
)

// read reads a text of the case.
func (w *playwright) read(s string) string { return language.JavaScriptText(w.Env.Read(s)) }

// here is the address of the page: the test's until one is open.
func (w *playwright) here() string {
	if !w.opened && len(w.Base) > 0 {
		return language.JavaScriptText(w.Base)
	}
	return "page.url()"
}

// state is the expression of a tool that sets or saves.
func (w *playwright) state(m *script.Move) string {
	a := &m.Tool.Args
	switch m.Tool.Type {
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
		var o language.Members
		o.Flag("all", a.All)
		o.Flag("cookies", a.Cookies || a.All)
		o.Flag("local", a.Local || a.All)
		o.Flag("session", a.Session || a.All)
		return "clearState(context, page, " + o.String() + ")"
	case step.Emulate:
		return w.emulate(a)
	case step.Save:
		return w.save(m)
	}
	switch {
	case a.Advance != nil:
		return "page.clock.runFor(" + language.Thousands(*a.Advance) + ")"
	case a.Resume:
		return "page.clock.resume()"
	}
	w.call("stopClock")
	return "stopClock(page, " + w.read(a.Fixed) + ")"
}

func (w *playwright) cookie(a *step.Args) string {
	var o language.Members
	o.Add("name", w.read(a.Name))
	o.Add("value", w.read(*a.Value))
	if a.Domain != "" {
		o.Add("domain", w.read(a.Domain))
	} else {
		o.Add("domain", "new URL("+w.here()+").hostname")
	}
	path := "'/'"
	if a.Path != "" {
		path = w.read(a.Path)
	}
	o.Add("path", path)
	o.Flag("secure", a.Secure)
	o.Flag("httpOnly", a.HTTPOnly)
	if a.SameSite != "" {
		o.Add("sameSite", language.JavaScript(strings.ToUpper(a.SameSite[:1])+strings.ToLower(a.SameSite[1:])))
	}
	if a.Expires != "" {
		o.Add("expires", "Date.parse("+w.read(a.Expires)+") / 1000")
	}
	return "context.addCookies([" + o.String() + "])"
}

func (w *playwright) emulate(a *step.Args) string {
	w.call("emulate")
	var o language.Members
	if d, ok := step.DeviceNamed(a.Device); ok {
		o.Add("userAgent", language.JavaScript(d.UserAgent))
		o.Add("viewport", fmt.Sprintf("{ width: %d, height: %d }", d.Viewport.Width, d.Viewport.Height))
		o.Add("scale", strconv.FormatFloat(d.Scale, 'f', -1, 64))
		o.Add("mobile", strconv.FormatBool(d.Mobile))
		o.Add("touch", strconv.FormatBool(d.Touch))
	}
	if a.Viewport != nil {
		o.Add("viewport", fmt.Sprintf("{ width: %d, height: %d }", a.Viewport.Width, a.Viewport.Height))
	}
	if a.Locale != "" {
		o.Add("locale", w.read(a.Locale))
	}
	if a.TimeZone != "" {
		o.Add("timeZone", w.read(a.TimeZone))
	}
	if g := a.Geolocation; g != nil {
		number := func(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }
		o.Add("geolocation", "{ latitude: "+number(g.Latitude)+", longitude: "+number(g.Longitude)+", accuracy: "+number(g.Accuracy)+" }")
	}
	if a.ColorScheme != "" {
		o.Add("colorScheme", language.JavaScript(a.ColorScheme))
	}
	if a.Offline != nil {
		o.Add("offline", strconv.FormatBool(*a.Offline))
	}
	if a.CPU != nil {
		o.Add("cpu", strconv.FormatFloat(*a.CPU, 'f', -1, 64))
	}
	if n := a.Network; n != nil {
		o.Add("network", fmt.Sprintf("{ latency: %d, down: %d, up: %d }", n.Latency, n.Down, n.Up))
	}
	if len(a.Permissions) > 0 {
		var names []string
		for _, name := range a.Permissions {
			names = append(names, language.JavaScript(name))
		}
		o.Add("permissions", "["+strings.Join(names, ", ")+"]")
		o.Add("origin", "new URL("+w.here()+").origin")
	}
	return "emulate(context, page, " + o.String() + ")"
}

func (w *playwright) save(m *script.Move) string {
	a := &m.Tool.Args
	w.call("save")
	w.asserting = true
	defer func() { w.asserting = false }()
	var read string
	switch a.From {
	case step.SavedText:
		w.call("textOf")
		read = "textOf(" + w.element(m, m.Element) + ")"
	case step.SavedValue:
		w.call("PROBE")
		read = w.element(m, m.Element) + ".inputValue(PROBE)"
	case step.SavedAttribute:
		w.call("PROBE")
		read = w.element(m, m.Element) + ".getAttribute(" + language.JavaScript(a.Attribute) + ", PROBE)"
	case step.SavedCount:
		read = w.all(m, m.Element) + ".count()"
	case step.SavedURL:
		read = "page.url()"
	default:
		read = "page.title()"
	}
	pattern := "null"
	if a.Match != "" {
		pattern = language.JavaScriptPattern(script.Text{{Literal: a.Match}})
	}
	limit := ""
	if m.Timeout > 0 {
		limit = ", " + language.Thousands(m.Timeout)
	}
	return "save(saved, " + language.JavaScript(a.Name) + ", async () => " + read + ", " + pattern + limit + ")"
}

// each writes a for_each: a loop over the rows.
func (w *playwright) each(m *script.Move) {
	w.call("rowsOf")
	most := step.MaxIterations
	if m.Tool.Args.Max != nil {
		most = *m.Tool.Args.Max
	}
	w.line("for (const row of await rowsOf(" + w.all(m, m.Element) + ", " + strconv.Itoa(most) + ownLimit(m) + ")) {")
	w.depth++
	w.row = "row"
	for i := range m.Each {
		w.move(&m.Each[i])
	}
	w.row = ""
	w.depth--
	w.line("}")
}

// keptClaim asserts a cookie or an item of a storage.
func (w *playwright) keptClaim(m *script.Move, not bool) string {
	a := &m.Tool.Args.Matcher.Args
	w.call("eventually")
	read := "await page.evaluate(([area, key]) => window[area].getItem(key), ['" + a.Area + "Storage', " + w.read(a.Key) + "])"
	if m.Tool.Args.Matcher.Name == step.CookieIs {
		w.call("cookieOf")
		var o language.Members
		if c := a.Attributes; c != nil {
			if c.Domain != "" {
				o.Add("domain", language.JavaScript(c.Domain))
			}
			if c.Path != "" {
				o.Add("path", language.JavaScript(c.Path))
			}
			if c.SameSite != "" {
				o.Add("sameSite", language.JavaScript(strings.ToLower(c.SameSite)))
			}
			if c.Secure != nil {
				o.Add("secure", strconv.FormatBool(*c.Secure))
			}
			if c.HTTPOnly != nil {
				o.Add("httpOnly", strconv.FormatBool(*c.HTTPOnly))
			}
		}
		read = "await cookieOf(context, page, " + language.JavaScript(a.Name) + ", " + o.String() + ")"
	}
	var claim string
	switch {
	case a.Value == "" && a.Mode == "" && not:
		claim = "assert.equal(" + read + ", null)"
	case a.Value == "" && a.Mode == "":
		claim = "assert.notEqual(" + read + ", null)"
	default:
		w.call("present")
		claim = javaScriptClaim(w.page, m.Tool.Args.Matcher, m.Value, not, func(string) string { return "present(" + read + ")" })
	}
	return "eventually(" + arrow(claim) + ownLimit(m) + ")"
}

// pointing are the options of a click or a hover.
func (w *playwright) pointing(m *script.Move, button string) string {
	p := &m.Tool.Args.Pointing
	var o language.Members
	if p.Button != "" {
		button = p.Button
	}
	if button != "" && button != "left" {
		o.Add("button", language.JavaScript(button))
	}
	if p.Position != nil {
		o.Add("position", fmt.Sprintf("{ x: %d, y: %d }", p.Position.X, p.Position.Y))
	}
	if len(p.Modifiers) > 0 {
		var keys []string
		for _, key := range p.Modifiers {
			keys = append(keys, language.JavaScript(key))
		}
		o.Add("modifiers", "["+strings.Join(keys, ", ")+"]")
	}
	if p.ClickCount != nil && *p.ClickCount > 1 {
		o.Add("clickCount", strconv.Itoa(*p.ClickCount))
	}
	if m.Timeout > 0 {
		o.Add("timeout", language.Thousands(m.Timeout))
	}
	if len(o) == 0 {
		return ""
	}
	return o.String()
}

// upload puts files into an input, or answers the chooser that was opened.
func (w *playwright) upload(m *script.Move) string {
	var list []string
	files := m.Tool.Args.Files
	if m.Tool.Args.File != nil {
		files = []step.File{*m.Tool.Args.File}
	}
	for _, f := range files {
		list = append(list, fmt.Sprintf("{ name: %s, mimeType: 'application/octet-stream', buffer: Buffer.from('%s', 'base64') }",
			language.JavaScript(fileName(f.Name)), base64.StdEncoding.EncodeToString(f.Content)))
	}
	written := strings.Join(list, ", ")
	if len(list) > 1 {
		written = "[" + written + "]"
	}
	if !m.Element.Given() {
		w.call("choose")
		return "choose(choosers, " + written + ownLimit(m) + ")"
	}
	return w.element(m, m.Element) + ".setInputFiles(" + written + w.options(m, true) + ")"
}
