// Package appium is an Appium server with an app, for tests that need a native app and
// no phone: it speaks the W3C protocol as Appium 2 does. Serve starts it; Start starts
// Appium itself with its fake driver.
//
// The app is a tree of elements with the attributes of UiAutomator2 or of XCUITest.
// Taps call functions of the test, which change the tree; what is typed goes into the
// text or value of a field. The page source and the elements are those of the tree at
// that time: an element that was taken out of it is stale.
//
// The server refuses what Appium refuses: sessions without platformName or with a
// capability that has no vendor prefix, commands of pages, CSS selectors, elements that
// are not displayed, fields that take no text. Elements are found by XPath (see
// xpath.go for how much of it), accessibility id and id.
package appium

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
)

// Element is an element of the app. Class is that of Android, or the type of XCUITest;
// Attributes are those of the page source.
type Element struct {
	Class      string
	Attributes map[string]string
	Children   []*Element
	// Tapped is called when the element is tapped, Pressed when a finger rests on it, and
	// Entered when a line is typed in it that ends.
	Tapped, Pressed, Entered func()
	// Swiped is called when a finger moves from the element, by so many pixels.
	Swiped func(x, y int)
}

// App is the app of a server. Its functions are called one at a time.
type App struct {
	// Platform is "Android" or "iOS".
	Platform string
	Root     *Element
	// Back is called for the device's back key.
	Back func()
	// Pinched is called for two fingers that move apart, or together.
	Pinched func(apart bool)
	// Before is called before a command, as "POST /actions", while none is executed. Where it
	// returns true the server closes the connection in place of an answer.
	Before func(command string) (dies bool)

	// States are those of the apps of the device, by their ids.
	States map[string]int
	// Granted are the permissions of the app.
	Granted map[string]bool
	// WebViews are addresses of sessions of WebDriver, by the names of contexts: commands in
	// a web view go there, as Appium sends them to chromedriver.
	WebViews map[string]string
	// Keyboard is shown, StuckKeyboard does not hide, Landscape is how the screen is turned,
	// and a Fixed one does not turn.
	Keyboard, StuckKeyboard, Landscape, Fixed bool
	// Alert is the text of a dialog that is in the way of all commands but its own; "" for none.
	Alert string
	// Unknown are commands that the driver does not have, as "mobile: pressKey".
	Unknown []string
	// What was done.
	Links, Keys      []any
	Backgrounds      []float64
	Methods, Touches []string
	Cleared          int

	context  string
	mu       sync.Mutex
	ids      map[*Element]string
	focused  *Element
	sessions int
	opened   map[string]bool
	commands []string
}

// Serve starts a server with the app; its address is that of a hub.
func Serve(app *App) *httptest.Server {
	app.ids, app.opened = map[*Element]string{}, map[string]bool{}
	app.context = nativeContext
	if app.Granted == nil {
		app.Granted = map[string]bool{}
	}
	return httptest.NewServer(app)
}

// Commands returns what the server was asked, as "POST /elements".
func (a *App) Commands() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.commands)
}

// Look calls a function while no command is executed.
func (a *App) Look(f func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	f()
}

// protocolError is an error of the protocol.
type protocolError struct {
	status        int
	code, message string
}

func fail(status int, code, format string, args ...any) *protocolError {
	return &protocolError{status, code, fmt.Sprintf(format, args...)}
}

// ServeHTTP executes a command.
func (a *App) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if session, command, ok := strings.Cut(strings.TrimPrefix(r.URL.Path, "/session/"), "/"); ok && session != "" {
		command = r.Method + " /" + command
		if a.Before != nil && a.Before(command) {
			panic(http.ErrAbortHandler)
		}
		if a.proxied(w, r) {
			return
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	var body map[string]any
	if r.Method == http.MethodPost {
		if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<20)).Decode(&body); err != nil {
			respond(w, nil, fail(http.StatusBadRequest, "invalid argument", "the body is no JSON: %v", err))
			return
		}
	}
	value, failed := a.route(r.Method, strings.Split(strings.Trim(r.URL.Path, "/"), "/"), body)
	respond(w, value, failed)
}

func respond(w http.ResponseWriter, value any, failed *protocolError) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	if failed != nil {
		w.WriteHeader(failed.status)
		value = map[string]string{"error": failed.code, "message": failed.message, "stacktrace": ""}
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"value": value})
}

func (a *App) route(method string, path []string, body map[string]any) (any, *protocolError) {
	if path[0] != "session" {
		return nil, fail(http.StatusNotFound, "unknown command", "%s /%s", method, strings.Join(path, "/"))
	}
	if len(path) == 1 && method == http.MethodPost {
		return a.open(body)
	}
	if len(path) < 2 || !a.opened[path[1]] {
		return nil, fail(http.StatusNotFound, "invalid session id", "no such session")
	}
	command := strings.Join(path[2:], "/")
	a.commands = append(a.commands, method+" /"+command)
	if method == http.MethodDelete && command == "" {
		delete(a.opened, path[1])
		return nil, nil
	}
	if value, failed, done := a.onAlert(method+" "+command, body); done {
		return value, failed
	}
	if len(path) > 4 && path[2] == "element" {
		return a.onElement(method, path[3], path[4:], body)
	}
	switch method + " " + command {
	case "GET source":
		return a.source(), nil
	case "POST elements":
		return a.find(body)
	case "POST element":
		found, failed := a.find(body)
		if failed == nil && len(found) == 0 {
			failed = fail(http.StatusNotFound, "no such element", "nothing matches")
		}
		if failed != nil {
			return nil, failed
		}
		return found[0], nil
	case "GET element/active":
		if a.focused == nil || !a.has(a.focused) {
			return nil, fail(http.StatusNotFound, "no such element", "no element has the focus")
		}
		return a.reference(a.focused), nil
	case "GET window/rect":
		width, height := a.size()
		return map[string]int{"x": 0, "y": 0, "width": width, "height": height}, nil
	case "POST actions":
		return nil, a.perform(body)
	case "GET orientation":
		return a.orientation(), nil
	case "POST orientation":
		return nil, a.turn(body)
	case "GET contexts":
		return a.contexts(), nil
	case "GET context":
		return a.context, nil
	case "POST context":
		return nil, a.enterContext(body)
	case "POST execute/sync":
		return a.execute(body)
	case "GET timeouts":
		return map[string]int{"implicit": 0, "command": 60000}, nil
	case "POST timeouts":
		return nil, nil
	case "POST back":
		if a.Back != nil {
			a.Back()
		}
		return nil, nil
	}
	return nil, fail(http.StatusNotFound, "unknown command", "%s is not there in apps", command)
}

// open begins a session as Appium 2 does: every capability beside the standard's has a
// prefix.
func (a *App) open(body map[string]any) (any, *protocolError) {
	capabilities, _ := body["capabilities"].(map[string]any)
	asked, _ := capabilities["alwaysMatch"].(map[string]any)
	platform, _ := asked["platformName"].(string)
	if !strings.EqualFold(platform, a.Platform) {
		return nil, fail(http.StatusInternalServerError, "session not created", "platformName is %q; the server has %s", platform, a.Platform)
	}
	standard := []string{"platformName", "browserName", "acceptInsecureCerts", "proxy", "timeouts", "unhandledPromptBehavior",
		"webSocketUrl", "pageLoadStrategy"}
	for name := range asked {
		if !strings.Contains(name, ":") && !slices.Contains(standard, name) {
			return nil, fail(http.StatusBadRequest, "invalid argument", "%s is not a standard capability, so it needs a vendor prefix", name)
		}
	}
	a.sessions++
	id := fmt.Sprintf("app-%d", a.sessions)
	a.opened[id] = true
	return map[string]any{"sessionId": id, "capabilities": map[string]any{"platformName": platform,
		"automationName": map[bool]string{true: "XCUITest", false: "UiAutomator2"}[a.ios()], "appPackage": asked["appium:appPackage"],
		"bundleId": asked["appium:bundleId"]}}, nil
}

// elementKey names elements in JSON.
const elementKey = "element-6066-11e4-a52e-4f735466cecf"

func (a *App) reference(e *Element) map[string]string {
	if a.ids[e] == "" {
		a.ids[e] = fmt.Sprintf("00000000-0000-%04d", len(a.ids)+1)
	}
	return map[string]string{elementKey: a.ids[e]}
}

func (a *App) find(body map[string]any) ([]map[string]string, *protocolError) {
	using, _ := body["using"].(string)
	value, _ := body["value"].(string)
	list := []map[string]string{}
	var found []*Element
	var err error
	switch using {
	case "xpath":
		found, err = a.evaluate(value)
	case "accessibility id":
		found = a.with("content-desc", "name", value)
	case "id":
		found = a.with("resource-id", "name", value)
	default:
		return nil, fail(http.StatusBadRequest, "invalid selector", "the strategy %s is not there in apps", using)
	}
	if err != nil {
		return nil, fail(http.StatusBadRequest, "invalid selector", "%v", err)
	}
	for _, e := range found {
		list = append(list, a.reference(e))
	}
	return list, nil
}

func (a *App) with(android, ios, value string) (found []*Element) {
	name := android
	if a.ios() {
		name = ios
	}
	walk(a.Root, nil, func(e *Element, _ []*Element) {
		if e.Attributes[name] == value {
			found = append(found, e)
		}
	})
	return found
}

func (a *App) ios() bool { return strings.EqualFold(a.Platform, "iOS") }

// walk calls a function for an element and all in it, with those around it.
func walk(e *Element, around []*Element, f func(*Element, []*Element)) {
	f(e, around)
	inner := append(slices.Clone(around), e)
	for _, child := range e.Children {
		walk(child, inner, f)
	}
}

func (a *App) has(wanted *Element) (found bool) {
	walk(a.Root, nil, func(e *Element, _ []*Element) { found = found || e == wanted })
	return found
}

// source returns the elements as XML.
func (a *App) source() string {
	var b strings.Builder
	b.WriteString(`<?xml version="1.0" encoding="UTF-8"?>`)
	root := "hierarchy"
	if a.ios() {
		root = "AppiumAUT"
	}
	b.WriteString("<" + root + ">")
	write(&b, a.Root, a.ios())
	b.WriteString("</" + root + ">")
	return b.String()
}

func write(b *strings.Builder, e *Element, ios bool) {
	b.WriteString("<" + e.Class)
	kind := "class"
	if ios {
		kind = "type"
	}
	attribute(b, kind, e.Class)
	for _, name := range sortedNames(e.Attributes) {
		attribute(b, name, e.Attributes[name])
	}
	b.WriteString(">")
	for _, child := range e.Children {
		write(b, child, ios)
	}
	b.WriteString("</" + e.Class + ">")
}

func attribute(b *strings.Builder, name, value string) {
	b.WriteString(" " + name + `="`)
	_ = xml.EscapeText(b, []byte(value)) // a Builder has no errors
	b.WriteString(`"`)
}

func sortedNames(attributes map[string]string) []string {
	var names []string
	for name := range attributes {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
