package step

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
)

const (
	// maxCookie is what browsers keep of a cookie's name and value together, in bytes.
	maxCookie = 4 << 10
	// maxStored is bytes of a stored value: a tenth of what a browser keeps for an origin.
	maxStored = 512 << 10
	// maxTools is how many tools for_each has: longer ones are a test of their own.
	maxTools = 20
	// maxAdvance is a hundred years in milliseconds, as far as a clock is moved at once.
	maxAdvance = 100 * 366 * 24 * 3600 * 1000
	// maxSlower, maxLatency and maxRate bound what a browser is slowed by.
	maxSlower, maxLatency, maxRate = 100, 60_000, 10_000_000
	maxPermissions                 = 20
)

var (
	sameSites    = []string{"strict", "lax", "none"}
	areas        = []string{LocalStorage, SessionStorage}
	savedFrom    = []string{SavedText, SavedValue, SavedAttribute, SavedCount, SavedURL, SavedTitle}
	colorSchemes = []string{"light", "dark", "no-preference"}

	savedName  = regexp.MustCompile(`^[a-z0-9_]{1,64}$`)
	localeForm = regexp.MustCompile(`^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8}){0,5}$`)
	// permissionForm is the form of the names of permissions; which there are is the
	// browser's to say.
	permissionForm = regexp.MustCompile(`^[a-z][a-z-]{1,39}$`)
	cookieName     = regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,255}$")
)

// checkState checks the arguments of the tools that set, save and repeat; path is the one
// of the arguments.
func checkState(path string, t *Tool, at position) error {
	a := &t.Args
	switch t.Type {
	case SetCookie:
		return checkCookie(path, a)
	case SetStorage:
		return checkStored(path, a)
	case ClearState:
		if !a.Cookies && !a.Local && !a.Session && !a.All {
			return Invalid(path, "must have one of cookies, local, session and all")
		}
	case Emulate:
		return checkEmulated(path, &a.Emulation)
	case SetClock:
		return checkClock(path, a)
	case Save:
		return checkSave(path, a, at)
	case ForEach:
		return checkForEach(path, a, at)
	}
	return nil
}

func checkCookie(path string, a *Args) error {
	if len(findReferences(a.Name)) == 0 && !cookieName.MatchString(a.Name) {
		return Invalid(path+".name", "must be a name of a cookie: letters, digits and - _ . without spaces")
	}
	if len(a.Name)+len(*a.Value) > maxCookie {
		return Invalid(path+".value", "has with the name at most %d bytes", maxCookie)
	}
	if hasControl(*a.Value) || strings.ContainsAny(*a.Value, ";") {
		return Invalid(path+".value", "must not hold control characters and semicolons")
	}
	for _, m := range []struct{ name, text string }{{"name", a.Name}, {"value", *a.Value}, {"domain", a.Domain}, {"path", a.Path}} {
		if err := CheckText(path+"."+m.name, m.text, maxCookie); err != nil {
			return err
		}
	}
	if strings.ContainsAny(a.Domain, "/ :;") || hasControl(a.Domain) {
		return Invalid(path+".domain", "must be a host without scheme and port")
	}
	if a.Path != "" && (!strings.HasPrefix(a.Path, "/") || strings.Contains(a.Path, ";") || hasControl(a.Path)) {
		return Invalid(path+".path", "must begin with /")
	}
	if err := checkSameSite(path+".sameSite", a.SameSite); err != nil {
		return err
	}
	if strings.EqualFold(a.SameSite, "none") && !a.Secure {
		return Invalid(path+".secure", "must be true where sameSite is none: browsers drop the cookie otherwise")
	}
	return checkInstant(path+".expires", a.Expires)
}

func checkSameSite(path, text string) error {
	if text != "" && !slices.Contains(sameSites, strings.ToLower(text)) {
		return Invalid(path, "must be one of %s", strings.Join(sameSites, ", "))
	}
	return nil
}

func checkInstant(path, text string) error {
	if text == "" || len(findReferences(text)) > 0 {
		return nil
	}
	if _, err := time.Parse(time.RFC3339, text); err != nil {
		return Invalid(path, "must be a time as RFC 3339 has it: 2026-03-01T09:00:00Z")
	}
	return nil
}

func checkStored(path string, a *Args) error {
	if !slices.Contains(areas, a.Area) {
		return Invalid(path+".area", "must be one of %s", strings.Join(areas, ", "))
	}
	if err := CheckText(path+".key", a.Key, maxCookie); err != nil {
		return err
	}
	if err := CheckText(path+".value", *a.Value, maxStored); err != nil {
		return err
	}
	if a.Origin == "" || len(findReferences(a.Origin)) > 0 {
		return CheckText(path+".origin", a.Origin, MaxURL)
	}
	if u, err := url.Parse(a.Origin); err != nil || originOf(a.Origin) == "" || strings.Trim(u.Path, "/") != "" ||
		u.RawQuery != "" || u.Fragment != "" {
		return Invalid(path+".origin", "must be scheme, host and port: https://shop.example.com")
	}
	return CheckText(path+".origin", a.Origin, MaxURL)
}

func checkEmulated(path string, e *Emulation) error {
	given := false
	for _, m := range stateArguments(&StateArgs{Emulation: *e}) {
		given = given || m.given
	}
	if !given {
		return Invalid(path, "must have one of %s", strings.Join(emulateMembers, ", "))
	}
	if e.Device != "" && len(findReferences(e.Device)) == 0 {
		if _, ok := DeviceNamed(e.Device); !ok {
			return Invalid(path+".device", "must be one of %s", strings.Join(deviceNames(), ", "))
		}
	}
	if v := e.Viewport; v != nil && (v.Width < minViewport || v.Width > maxViewport || v.Height < minViewport || v.Height > maxViewport) {
		return Invalid(path+".viewport", "must have a width and a height of %d to %d pixels", minViewport, maxViewport)
	}
	if e.Locale != "" && len(findReferences(e.Locale)) == 0 && !localeForm.MatchString(e.Locale) {
		return Invalid(path+".locale", "must be a language tag such as de-DE")
	}
	if e.TimeZone != "" && len(findReferences(e.TimeZone)) == 0 {
		if _, err := time.LoadLocation(e.TimeZone); err != nil || e.TimeZone == "Local" {
			return Invalid(path+".timeZone", "must be a name of the IANA time zones such as Asia/Tokyo")
		}
	}
	for _, m := range []struct{ name, text string }{{"device", e.Device}, {"locale", e.Locale}, {"timeZone", e.TimeZone}} {
		if err := CheckText(path+"."+m.name, m.text, MaxName); err != nil {
			return err
		}
	}
	if g := e.Geolocation; g != nil && !(-90 <= g.Latitude && g.Latitude <= 90 && -180 <= g.Longitude && g.Longitude <= 180 &&
		g.Accuracy >= 0) {
		return Invalid(path+".geolocation", "must have a latitude of -90 to 90, a longitude of -180 to 180 and no accuracy below 0")
	}
	if e.ColorScheme != "" && !slices.Contains(colorSchemes, e.ColorScheme) {
		return Invalid(path+".colorScheme", "must be one of %s", strings.Join(colorSchemes, ", "))
	}
	if e.CPU != nil && !(1 <= *e.CPU && *e.CPU <= maxSlower) {
		return Invalid(path+".cpu", "must be 1 to %d: how many times slower the processor is", maxSlower)
	}
	if n := e.Network; n != nil && !(0 <= n.Latency && n.Latency <= maxLatency && 0 <= n.Down && n.Down <= maxRate &&
		0 <= n.Up && n.Up <= maxRate) {
		return Invalid(path+".network", "must have a latency of 0 to %d ms and rates of 0 to %d kilobits a second", maxLatency, maxRate)
	}
	return checkPermissions(path+".permissions", e.Permissions)
}

func checkPermissions(path string, names []string) error {
	if len(names) > maxPermissions {
		return Invalid(path, "has at most %d elements", maxPermissions)
	}
	for i, name := range names {
		if !permissionForm.MatchString(name) {
			return Invalid(fmt.Sprintf("%s[%d]", path, i), "must be the name of a permission such as geolocation")
		}
	}
	return nil
}

func checkClock(path string, a *Args) error {
	count := 0
	for _, given := range []bool{a.Fixed != "", a.Advance != nil, a.Resume} {
		if given {
			count++
		}
	}
	switch {
	case count != 1:
		return Invalid(path, "must have one of fixed, advance and resume")
	case a.Advance != nil && (*a.Advance < 0 || *a.Advance > maxAdvance):
		return Invalid(path+".advance", "must be 0 to %d milliseconds", maxAdvance)
	}
	if err := CheckText(path+".fixed", a.Fixed, MaxName); err != nil {
		return err
	}
	return checkInstant(path+".fixed", a.Fixed)
}

func checkSave(path string, a *Args, at position) error {
	page := a.From == SavedURL || a.From == SavedTitle
	switch {
	case !slices.Contains(savedFrom, a.From):
		return Invalid(path+".from", "must be one of %s", strings.Join(savedFrom, ", "))
	case !savedName.MatchString(a.Name):
		return Invalid(path+".name", "must be 1 to 64 characters of a-z, 0-9 and _")
	case page && a.Selector != nil:
		return Invalid(path+".selector", "is no argument of save from %s, which looks at the page", a.From)
	case page && at.depth > 0:
		return Invalid(path+".from", "%s looks at the page, so it cannot stand in another tool", a.From)
	case !page && a.Selector == nil:
		return Invalid(path+".selector", "is missing")
	case a.From == SavedAttribute && a.Attribute == "":
		return Invalid(path+".attribute", "is missing")
	case a.From != SavedAttribute && a.Attribute != "":
		return Invalid(path+".attribute", "is no argument of save from %s", a.From)
	}
	if a.Attribute != "" {
		if err := CheckName(path+".attribute", a.Attribute, MaxName); err != nil {
			return err
		}
	}
	if a.Match == "" {
		return nil
	}
	pattern, err := Pattern(a.Match)
	switch {
	case err != nil:
		return Invalid(path+".match", "%v", err)
	case pattern.NumSubexp() != 1:
		return Invalid(path+".match", "must have one group, which is what is saved")
	}
	return nil
}

// checkForEach checks the rows and what is done in each. What acts on the page and not on
// an element cannot act within a row, and rows hold no rows.
func checkForEach(path string, a *Args, at position) error {
	switch {
	case len(a.Tools) == 0:
		return Invalid(path+".tools", "must have at least one tool")
	case len(a.Tools) > maxTools:
		return Invalid(path+".tools", "has at most %d elements", maxTools)
	case a.Max != nil && (*a.Max < 1 || *a.Max > MaxIterations):
		return Invalid(path+".max", "must be 1 to %d", MaxIterations)
	case a.Selector.Index != nil:
		return Invalid(path+".selector.index", "says which one of the rows is meant: for_each goes through all")
	case a.Selector.Type == XPath:
		return Invalid(path+".selector.type", "must not be xpath: what is within a row is found by the others")
	}
	for i := range a.Tools {
		t := &a.Tools[i]
		here := fmt.Sprintf("%s.tools[%d]", path, i)
		switch {
		case t.Type == ForEach || t.Type == InFrame || t.Type == InShadowRoot || IsMobile(t):
			return Invalid(here+".type", "%s cannot stand in for_each", t.Type)
		case t.Args.Selector == nil && !(t.Type == Assert && t.Args.Matcher != nil && matcherRules[t.Args.Matcher.Name].page) &&
			!actsAnywhere(t.Type):
			return Invalid(here+".args.selector", "is missing: a tool of for_each acts within the row")
		}
		if t.Args.timeout != nil {
			return Invalid(here+".args.matcher", "must not say how long it waits: that is the timeoutMs of the step")
		}
		if err := checkTool(here, t, position{}); err != nil {
			return err
		}
		if t.Args.Selector != nil {
			if err := checkSelector(here+".args.selector", Within(t.Args.Selector, a.Selector), at); err != nil {
				return err
			}
		}
	}
	return nil
}

// actsAnywhere reports whether a tool of for_each may stand there without acting within
// the row: what the row's action led to is handled and left.
func actsAnywhere(tool string) bool {
	return slices.Contains([]string{HandleDialog, PressKey, TypeKeys, EnterKeySubmit, Pause, Back, GoToURL, Reload, Save, SetClock,
		WaitForRequest, WaitForResponse, WaitForURL, WaitForDownload}, tool)
}

// Within returns a copy of a selector that finds only what is within another: at the
// outermost of those that it is within already.
func Within(s, around *Selector) *Selector {
	changed := *s
	if s.Within == nil {
		changed.Within = around
	} else {
		changed.Within = Within(s.Within, around)
	}
	return &changed
}

// checkKept checks the arguments of the matchers on what the browser keeps.
func checkKept(path string, m *Matcher) error {
	a := &m.Args
	for _, member := range []struct {
		name  string
		given bool
		of    string
	}{{"area", a.Area != "", StorageIs}, {"key", a.Key != "", StorageIs}, {"attributes", a.Attributes != nil, CookieIs}} {
		if member.given && m.Name != member.of {
			return Invalid(path+"."+member.name, "is no argument of the matcher %s", m.Name)
		}
	}
	if m.Name == StorageIs {
		if !slices.Contains(areas, a.Area) {
			return Invalid(path+".area", "must be one of %s", strings.Join(areas, ", "))
		}
		if a.Key == "" {
			return Invalid(path+".key", "is missing")
		}
		return CheckText(path+".key", a.Key, maxCookie)
	}
	if a.Attributes == nil {
		return nil
	}
	for _, text := range []struct{ name, text string }{{"domain", a.Attributes.Domain}, {"path", a.Attributes.Path}} {
		if err := CheckText(path+".attributes."+text.name, text.text, maxCookie); err != nil {
			return err
		}
	}
	return checkSameSite(path+".attributes.sameSite", a.Attributes.SameSite)
}
