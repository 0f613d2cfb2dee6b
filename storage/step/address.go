package step

import (
	"net/url"
	"strings"
)

// CheckTestURL refuses what is no address to begin a test at: an absolute one of http or
// https, of at most 2,048 characters, which may hold variables. It is stricter than the
// check of what a step may open: there is nothing that a path could be relative to. The
// error is an *InvalidError of the path.
func CheckTestURL(path, address string) error {
	if err := checkURL(path, address); err != nil {
		return err
	}
	if len(findReferences(address)) > 0 {
		return nil
	}
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return Invalid(path, "must be an absolute http or https address")
	}
	return nil
}

// StartURL returns where a test begins that was recorded at an address and is given
// another: there, or, where that names a host and no path at all, at the recorded path,
// query and fragment on that host. A recorded address that begins with a variable has no
// path that could be told from it.
func StartURL(given, recorded string) string {
	host, rest := splitHost(given)
	if host == "" || rest != "" {
		return given
	}
	if _, rest = splitHost(recorded); rest == "/" {
		return given
	}
	return given + rest
}

// splitHost cuts an address behind its host and port; host is "" where it has none.
func splitHost(address string) (host, rest string) {
	_, behind, ok := strings.Cut(address, "://")
	if !ok {
		return "", ""
	}
	end := strings.IndexAny(behind, "/?#")
	if end < 0 {
		return address, ""
	}
	return address[:len(address)-len(behind)+end], behind[end:]
}

// ShownURL returns an address for people: with *** in place of a password.
func ShownURL(address string) string {
	host, rest := splitHost(address)
	at := strings.LastIndexByte(host, '@')
	scheme := strings.Index(host, "://") + len("://")
	if host == "" || at < scheme {
		return address
	}
	user, _, has := strings.Cut(host[scheme:at], ":")
	if !has {
		return address
	}
	return host[:scheme] + user + ":***" + host[at:] + rest
}

// Move is from where to where a test is moved that runs on another host than the one it
// was recorded on. The zero Move moves nothing.
type Move struct {
	from string // origin
	// to is the other host with scheme, port and credentials; shown is as browsers show it.
	to, shown string
}

// NewMove returns the move from the origin of one address to that of another, both with
// their variables replaced. It moves nothing where one of them is no address of http or
// https, or both have the same origin.
func NewMove(recorded, given string) Move {
	from, to := originOf(recorded), originOf(given)
	if from == "" || to == "" || from == to {
		return Move{}
	}
	host, _ := splitHost(given)
	shown := host
	if u, err := url.Parse(host); err == nil {
		u.User = nil
		shown = u.String()
	}
	return Move{from: from, to: host, shown: shown}
}

// originOf returns scheme, host and port of an address in one spelling; "" where it is
// none of http or https.
func originOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	scheme, host, port := strings.ToLower(u.Scheme), strings.ToLower(u.Hostname()), u.Port()
	if host == "" || scheme != "http" && scheme != "https" {
		return ""
	}
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[scheme]
	}
	return scheme + "://" + host + ":" + port
}

// onto returns an address of the recorded origin on another host, with its path, query
// and fragment; any other text as it is.
func (m Move) onto(host, text string) string {
	if originOf(text) != m.from {
		return text
	}
	_, rest := splitHost(text)
	return host + rest
}

// Tool returns a tool whose addresses are moved: what go_to_url opens, what an assertion
// expects the page's address to be, and the address of a window to switch to. Patterns
// stay as they are.
func (m Move) Tool(t Tool) Tool {
	if m.from == "" {
		return t
	}
	switch t.Type {
	case GoToURL:
		t.Args.URL = m.onto(m.to, t.Args.URL)
	case Route, Unroute, WaitForRequest, WaitForResponse, WaitForURL:
		t.Args.URL = m.onto(m.shown, t.Args.URL)
	}
	if c := t.Args.Change; c != nil && c.URLTo != "" {
		moved := *c
		moved.URLTo = m.onto(m.shown, c.URLTo)
		t.Args.Change = &moved
	}
	t.Args.Matcher = m.Matcher(t.Args.Matcher)
	if t.Args.Tool != nil {
		inner := m.Tool(*t.Args.Tool)
		t.Args.Tool = &inner
	}
	return t
}

// Matcher returns a matcher whose address is moved, as Tool does.
func (m Move) Matcher(of *Matcher) *Matcher {
	if m.from == "" || of == nil {
		return of
	}
	if of.Args.URL != "" {
		moved := *of
		moved.Args.URL = m.onto(m.shown, of.Args.URL)
		return &moved
	}
	if of.Name != URLIs && of.Name != WindowURL || of.Args.Mode == Matches {
		return of
	}
	moved := *of
	moved.Args.Value = m.onto(m.shown, of.Args.Value)
	return &moved
}
