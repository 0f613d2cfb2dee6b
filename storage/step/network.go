package step

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/storage/step/jsonpath"
)

// Answer is what a route answers a request with, in place of the server.
type Answer struct {
	Status  int               `json:"status,omitempty"` // default 200
	Headers map[string]string `json:"headers,omitempty"`
	Body    *string           `json:"body,omitempty"`
	JSON    json.RawMessage   `json:"json,omitempty"` // any value, in place of Body
}

// Change is what a route changes: the address that a request goes to, and of the
// response its status, headers ("" removes one) and body.
type Change struct {
	URLTo   string            `json:"urlTo,omitempty"`
	Status  int               `json:"status,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
	Body    *string           `json:"body,omitempty"`
	JSON    json.RawMessage   `json:"json,omitempty"`
}

// BodyCheck compares a body, or with Path what a JSONPath selects of it.
type BodyCheck struct {
	Path  string `json:"path,omitempty"`
	Value string `json:"value"` // numbers and booleans are accepted and stored as text
	Mode  string `json:"mode,omitempty"`
}

// HeaderCheck compares a header of a response.
type HeaderCheck struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	Mode  string `json:"mode,omitempty"`
}

// UnmarshalJSON reads the value as text, number or boolean.
func (b *BodyCheck) UnmarshalJSON(text []byte) error {
	plain := struct {
		Path  *string `json:"path"`
		Value *scalar `json:"value"`
		Mode  *string `json:"mode"`
	}{&b.Path, (*scalar)(&b.Value), &b.Mode}
	return json.Unmarshal(text, &plain)
}

// AbortReasons are why a route ends a request, as Playwright calls them.
var AbortReasons = []string{"failed", "aborted", "timedout", "accessdenied", "connectionclosed", "connectionreset", "connectionrefused",
	"connectionaborted", "connectionfailed", "namenotresolved", "internetdisconnected", "addressunreachable",
	"blockedbyclient", "blockedbyresponse"}

const (
	// MaxRouteDelay is the longest delay of a route in ms: a request that is never
	// answered holds its page no longer.
	MaxRouteDelay = 60_000
	// MaxRouteBody bounds the body of a route's answer.
	MaxRouteBody = 256 << 10
	maxTimes     = 100_000
	maxHeaders   = 50
	maxHeader    = 8 << 10
	maxIgnored   = 20
	maxSize      = 1 << 40 // of a file, far above what is downloaded
)

// IsNetwork reports whether a tool needs the traffic of the browser: the steps that
// route or wait for requests or downloads, and the assertions on them.
func IsNetwork(t *Tool) bool {
	switch t.Type {
	case Route, Unroute, WaitForRequest, WaitForResponse, WaitForDownload:
		return true
	case Assert:
		return t.Args.Matcher != nil && IsNetworkMatcher(t.Args.Matcher.Name)
	}
	return false
}

// IsNetworkMatcher reports whether a matcher looks at what the browser did, not at what
// it shows.
func IsNetworkMatcher(name string) bool {
	return name == RequestIs || name == ResponseIs || name == DownloadIs || name == ConsoleIs
}

// checkNetwork checks the arguments of the steps on requests, responses and downloads.
func checkNetwork(path string, t *Tool) error {
	a := &t.Args
	if err := checkExchange(path, a.URL, a.Method, a.Status, t.Type == Route || t.Type == Unroute ||
		strings.HasPrefix(t.Type, "wait_for_")); err != nil {
		return err
	}
	if t.Type == WaitForDownload && a.Name != "" {
		if err := checkGlobName(path+".name", a.Name); err != nil {
			return err
		}
	}
	if t.Type == WaitForURL {
		switch {
		case (a.URL == "") == (a.Matcher == nil):
			return Invalid(path+".url", "or a matcher must be given, and not both")
		case a.Matcher != nil && a.Matcher.Name != URLIs:
			return Invalid(path+".matcher.name", "must be %s", URLIs)
		}
	}
	if t.Type != Route {
		return nil
	}
	return checkRoute(path, a)
}

func checkRoute(path string, a *Args) error {
	given := 0
	for _, is := range []bool{a.Answer != nil, a.Abort != "", a.Change != nil} {
		if is {
			given++
		}
	}
	switch {
	case given > 1:
		return Invalid(path, "has at most one of answer, abort and change")
	case given == 0 && a.Delay == nil:
		return Invalid(path, "needs one of answer, abort, change and delay")
	case a.Abort != "" && !slices.Contains(AbortReasons, a.Abort):
		return Invalid(path+".abort", "must be one of %s", strings.Join(AbortReasons, ", "))
	case a.Delay != nil && (*a.Delay < 0 || *a.Delay > MaxRouteDelay):
		return Invalid(path+".delay", "must be 0 to %d milliseconds", MaxRouteDelay)
	case a.Times != nil && (*a.Times < 1 || *a.Times > maxTimes):
		return Invalid(path+".times", "must be 1 to %d", maxTimes)
	}
	if n := a.Answer; n != nil {
		return checkAnswer(path+".answer", n.Status, n.Headers, n.Body, n.JSON)
	}
	c := a.Change
	if c == nil {
		return nil
	}
	if c.URLTo == "" && c.Status == 0 && len(c.Headers) == 0 && c.Body == nil && len(c.JSON) == 0 {
		return Invalid(path+".change", "changes nothing")
	}
	if c.URLTo != "" {
		if err := checkURL(path+".change.urlTo", c.URLTo); err != nil {
			return err
		}
	}
	return checkAnswer(path+".change", c.Status, c.Headers, c.Body, c.JSON)
}

func checkAnswer(path string, status int, headers map[string]string, body *string, doc json.RawMessage) error {
	switch {
	case status != 0 && (status < 200 || status > 599):
		return Invalid(path+".status", "must be 200 to 599")
	case body != nil && len(doc) > 0:
		return Invalid(path+".json", "must not stand beside body")
	case len(doc) > MaxRouteBody:
		return Invalid(path+".json", "has at most %d bytes", MaxRouteBody)
	case len(headers) > maxHeaders:
		return Invalid(path+".headers", "has at most %d members", maxHeaders)
	}
	if body != nil {
		if err := CheckText(path+".body", *body, MaxRouteBody); err != nil {
			return err
		}
	}
	if err := CheckText(path+".json", string(doc), MaxRouteBody); err != nil {
		return err
	}
	for name, value := range headers {
		if !isToken(name) {
			return Invalid(path+".headers", "has a name that no header can have")
		}
		if err := CheckText(path+".headers."+name, value, maxHeader); err != nil {
			return err
		}
		if hasControl(value) {
			return Invalid(path+".headers."+name, "must not hold control characters")
		}
	}
	return nil
}

// checkExchange checks what finds requests and responses.
func checkExchange(path, address, method string, status *int, glob bool) error {
	if address != "" && glob {
		if err := checkGlob(address); err != nil {
			return Invalid(path+".url", "%v", err)
		}
	}
	if method != "" && (!isToken(method) || len(method) > 20 || method != strings.ToUpper(method)) {
		return Invalid(path+".method", "must be a method of HTTP in capitals, such as POST")
	}
	if status != nil && (*status < 100 || *status > 599) {
		return Invalid(path+".status", "must be 100 to 599")
	}
	return nil
}

func checkGlobName(path, name string) error {
	if err := CheckName(path, name, MaxName); err != nil {
		return err
	}
	if err := checkGlob(name); err != nil {
		return Invalid(path, "%v", err)
	}
	return nil
}

// isToken reports whether a text is a token of HTTP: a method or the name of a header.
func isToken(text string) bool {
	return text != "" && len(text) <= 200 && strings.IndexFunc(text, func(r rune) bool {
		return r <= ' ' || r >= 0x7f || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r)
	}) < 0
}

// checkNetworkMatcher checks the arguments of a matcher that looks at what the browser
// did; path is that of the arguments.
func checkNetworkMatcher(path string, m *Matcher) error {
	a := &m.Args
	for _, given := range a.networkArguments() {
		if given.given && !slices.Contains(networkTakes[m.Name], given.name) {
			return Invalid(path+"."+given.name, "is no argument of the matcher %s", m.Name)
		}
	}
	if a.URL == "" && (m.Name == RequestIs || m.Name == ResponseIs) {
		return Invalid(path+".url", "is missing")
	}
	if a.URL != "" {
		if err := checkURL(path+".url", a.URL); err != nil {
			return err
		}
	}
	if err := checkExchange(path, a.URL, a.Method, a.Status, true); err != nil {
		return err
	}
	if a.Count != nil && (*a.Count < 0 || *a.Count > maxIndex) {
		return Invalid(path+".count", "must be a number from 0 to %d", maxIndex)
	}
	if a.Size != nil && (*a.Size < 0 || *a.Size > maxSize) {
		return Invalid(path+".size", "must be a number of bytes from 0")
	}
	if b := a.Body; b != nil {
		if b.Path != "" {
			if _, err := jsonpath.Parse(b.Path); err != nil {
				return Invalid(path+".body.path", "%v", err)
			}
		}
		if err := checkComparedText(path+".body", b.Value, b.Mode); err != nil {
			return err
		}
	}
	if h := a.Header; h != nil {
		if !isToken(h.Name) {
			return Invalid(path+".header.name", "must be the name of a header")
		}
		if err := checkComparedText(path+".header", h.Value, h.Mode); err != nil {
			return err
		}
	}
	if len(a.Ignore) > maxIgnored {
		return Invalid(path+".ignore", "has at most %d elements", maxIgnored)
	}
	for _, pattern := range a.Ignore {
		if err := checkPattern(pattern); err != nil {
			return Invalid(path+".ignore", "has an element that %v", err)
		}
	}
	return checkNetworkModes(path, m)
}

// checkNetworkModes checks the matcher's own mode, with the value of a download.
func checkNetworkModes(path string, m *Matcher) error {
	a := &m.Args
	switch m.Name {
	case RequestIs:
		if a.Mode != "" && a.Count == nil {
			return Invalid(path+".count", "is missing")
		}
		if a.Mode != "" && !slices.Contains(countModes, a.Mode) {
			return Invalid(path+".mode", "must be one of %s", strings.Join(countModes, ", "))
		}
	case DownloadIs:
		if a.Name != "" {
			if err := checkGlobName(path+".name", a.Name); err != nil {
				return err
			}
		}
		return checkComparedText(path, a.Value, a.Mode)
	}
	return nil
}

// checkComparedText checks a text with its mode.
func checkComparedText(path, value, mode string) error {
	if mode != "" && !slices.Contains(textModes, mode) {
		return Invalid(path+".mode", "must be one of %s", strings.Join(textModes, ", "))
	}
	if err := CheckText(path+".value", value, MaxText); err != nil {
		return err
	}
	if mode == Matches {
		if err := checkPattern(value); err != nil {
			return Invalid(path+".value", "%v", err)
		}
	}
	return nil
}

// networkTakes are the arguments of the matchers that look at what the browser did.
var networkTakes = map[string][]string{
	RequestIs:  {"url", "method", "count", "mode", "body"},
	ResponseIs: {"url", "method", "status", "body", "header"},
	DownloadIs: {"name", "size", "value", "mode"},
	ConsoleIs:  {"ignore"},
}

// networkArguments returns which arguments are given.
func (a *MatcherArgs) networkArguments() []member {
	return []member{{"value", a.Value != ""}, {"name", a.Name != ""}, {"mode", a.Mode != ""}, {"url", a.URL != ""}, {"method", a.Method != ""},
		{"count", a.Count != nil}, {"status", a.Status != nil}, {"body", a.Body != nil}, {"header", a.Header != nil},
		{"size", a.Size != nil}, {"ignore", a.Ignore != nil}}
}

// checkNoNetwork refuses the arguments of those matchers in another one.
func checkNoNetwork(path string, m *Matcher) error {
	for _, given := range m.Args.networkArguments()[3:] {
		if given.given {
			return Invalid(path+"."+given.name, "is no argument of the matcher %s", m.Name)
		}
	}
	return nil
}
