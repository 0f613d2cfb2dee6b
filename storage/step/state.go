package step

// The tools that set what a test runs in: cookies and storage, what the browser pretends
// to be, the page's clock; and those that keep a text or go through rows.
const (
	SetCookie  = "set_cookie"  // name, value; domain, path, secure, httpOnly, sameSite, expires
	SetStorage = "set_storage" // area, key, value; origin
	ClearState = "clear_state" // cookies, local, session, all
	Emulate    = "emulate"     // the members of Emulation
	SetClock   = "set_clock"   // fixed, advance or resume
	Save       = "save"        // from, name; selector, attribute, match
	ForEach    = "for_each"    // selector of the rows, tools; max
)

// The matchers of assertions on what the browser keeps. Without a value and a mode they
// hold when there is one.
const (
	StorageIs = "storage" // args.area, args.key; as text
	CookieIs  = "cookie"  // args.name, args.attributes; as text
)

// The areas of a page's storage.
const (
	LocalStorage   = "local"
	SessionStorage = "session"
)

// SavedText and the others are what save takes its text from.
const (
	SavedText      = "text"
	SavedValue     = "value"
	SavedAttribute = "attribute"
	SavedCount     = "count"
	SavedURL       = "url"
	SavedTitle     = "title"
)

const (
	// ScopeSaved is the scope of what a step of the same test has saved: {{saved:name}}.
	ScopeSaved = "saved"
	// MaxSaved is bytes of a text that save keeps: an order number or an address. A whole
	// page is none.
	MaxSaved = 4 << 10
	// MaxIterations is how many rows for_each goes through at most.
	MaxIterations = 100
)

// StateArgs are the arguments of the tools of this file; each has those beside its
// constant.
type StateArgs struct {
	// Name is that of a cookie, of what is saved, or a glob of the name of a file.
	Name     string  `json:"name,omitempty"`
	Value    *string `json:"value,omitempty"`
	Domain   string  `json:"domain,omitempty"` // "": the page's host
	Path     string  `json:"path,omitempty"`   // "": /
	Secure   bool    `json:"secure,omitempty"`
	HTTPOnly bool    `json:"httpOnly,omitempty"`
	SameSite string  `json:"sameSite,omitempty"` // strict, lax, none
	Expires  string  `json:"expires,omitempty"`  // RFC 3339; "": with the session

	Area   string `json:"area,omitempty"`   // local, session
	Origin string `json:"origin,omitempty"` // "": the page's

	Cookies bool `json:"cookies,omitempty"`
	Local   bool `json:"local,omitempty"`
	Session bool `json:"session,omitempty"`
	All     bool `json:"all,omitempty"`

	Fixed   string `json:"fixed,omitempty"`   // RFC 3339
	Advance *int   `json:"advance,omitempty"` // milliseconds
	Resume  bool   `json:"resume,omitempty"`

	From      string `json:"from,omitempty"`
	Attribute string `json:"attribute,omitempty"`
	// Match is a regular expression of RE2 with one group, which is what is saved.
	Match string `json:"match,omitempty"`

	// Tools are what for_each does in each row, and Max is how many rows there may be.
	Tools []Tool `json:"tools,omitempty"`
	Max   *int   `json:"max,omitempty"`

	Emulation
}

// Emulation is what the browser pretends to be. A member that is missing stays as it is.
type Emulation struct {
	// Device is one of Devices: its viewport, scale, user agent and touch.
	Device   string    `json:"device,omitempty"`
	Viewport *Viewport `json:"viewport,omitempty"`
	Locale   string    `json:"locale,omitempty"`   // BCP 47: de-DE
	TimeZone string    `json:"timeZone,omitempty"` // IANA: Asia/Tokyo
	// Geolocation is where the device is; a page gets it with the permission alone.
	Geolocation *Geolocation `json:"geolocation,omitempty"`
	ColorScheme string       `json:"colorScheme,omitempty"` // light, dark, no-preference
	Offline     *bool        `json:"offline,omitempty"`
	// CPU is how many times slower the processor is; 1: as it is.
	CPU     *float64         `json:"cpu,omitempty"`
	Network *NetworkThrottle `json:"network,omitempty"`
	// Permissions are granted to the page's origin: geolocation, notifications, camera,
	// microphone, clipboard-read ...
	Permissions []string `json:"permissions,omitempty"`
}

// Viewport is the size of what a window shows, in CSS pixels.
type Viewport struct {
	Width  int `json:"width"`
	Height int `json:"height"`
}

// Geolocation is a place on the earth, in degrees, and how exactly it is known, in metres.
type Geolocation struct {
	Latitude  float64 `json:"latitude"`
	Longitude float64 `json:"longitude"`
	Accuracy  float64 `json:"accuracy,omitempty"`
}

// NetworkThrottle slows the network: latency in milliseconds, down and up in kilobits a
// second. A rate of 0 has no bound.
type NetworkThrottle struct {
	Latency int `json:"latency,omitempty"`
	Down    int `json:"down,omitempty"`
	Up      int `json:"up,omitempty"`
}

// CookieAttributes are what an assertion requires of a cookie besides its value; nil and
// "" require nothing.
type CookieAttributes struct {
	Domain   string `json:"domain,omitempty"`
	Path     string `json:"path,omitempty"`
	SameSite string `json:"sameSite,omitempty"`
	Secure   *bool  `json:"secure,omitempty"`
	HTTPOnly *bool  `json:"httpOnly,omitempty"`
}

// stateArguments returns which of the arguments are given, as givenArguments does.
func stateArguments(a *StateArgs) []member {
	return []member{
		{"name", a.Name != ""}, {"value", a.Value != nil}, {"domain", a.Domain != ""}, {"path", a.Path != ""},
		{"secure", a.Secure}, {"httpOnly", a.HTTPOnly}, {"sameSite", a.SameSite != ""}, {"expires", a.Expires != ""},
		{"area", a.Area != ""}, {"origin", a.Origin != ""},
		{"cookies", a.Cookies}, {"local", a.Local}, {"session", a.Session}, {"all", a.All},
		{"fixed", a.Fixed != ""}, {"advance", a.Advance != nil}, {"resume", a.Resume},
		{"from", a.From != ""}, {"attribute", a.Attribute != ""}, {"match", a.Match != ""},
		{"tools", a.Tools != nil}, {"max", a.Max != nil},
		{"device", a.Device != ""}, {"viewport", a.Viewport != nil}, {"locale", a.Locale != ""}, {"timeZone", a.TimeZone != ""},
		{"geolocation", a.Geolocation != nil}, {"colorScheme", a.ColorScheme != ""}, {"offline", a.Offline != nil},
		{"cpu", a.CPU != nil}, {"network", a.Network != nil}, {"permissions", a.Permissions != nil},
	}
}

// emulateMembers are the members of emulate.
var emulateMembers = []string{"device", "viewport", "locale", "timeZone", "geolocation", "colorScheme", "offline", "cpu",
	"network", "permissions"}

// Sets reports whether a tool only sets what pages find: at the beginning of a test it is
// done before the test's address is opened.
func Sets(tool string) bool {
	switch tool {
	case SetCookie, SetStorage, ClearState, Emulate, SetClock, Route:
		return true
	}
	return false
}

// Iteration is what became of one row of a for_each.
type Iteration struct {
	Index   int     `json:"index"` // from 0
	Status  string  `json:"status"`
	Result  Outcome `json:"result"`
	StartMS int64   `json:"startMs"` // since the start of the job
	TookMS  int64   `json:"tookMs"`
}

// state maps the texts of the tools of this file; whole: those of the tools of for_each too.
func (m *textMapper) state(tool string, a *Args, whole bool) {
	for _, text := range []*string{&a.Domain, &a.Path, &a.Expires, &a.Origin, &a.Fixed, &a.Device, &a.Locale, &a.TimeZone} {
		*text = m.text(*text)
	}
	if tool == SetCookie {
		a.Name = m.text(a.Name)
	}
	if tool == SetStorage {
		a.Key = m.text(a.Key)
	}
	if a.Value != nil {
		changed := m.text(*a.Value)
		a.Value = &changed
	}
	if tool != ForEach || !whole || m.failed != nil {
		return
	}
	tools := make([]Tool, len(a.Tools))
	for i := range a.Tools {
		if tools[i], m.failed = mapTool(a.Tools[i], m.apply, true); m.failed != nil {
			return
		}
	}
	a.Tools = tools
}

// Empty reports whether nothing of what windows must be told one by one is given.
func (e *Emulation) Empty() bool {
	return e.Device == "" && e.Viewport == nil && e.ColorScheme == "" && e.CPU == nil && e.Network == nil
}
