// Package script reads a test case as the moves that each target of an export writes in its own
// words.
//
// New flattens the case: tools inside frames and shadow roots become the place of one move, what is
// behind the end is dropped, and the path of each move's tool is kept for errors. Texts are taken
// apart (Text), so that a target sees what stands there and where a variable, a saved value, a
// column of the data row or a parameter is; Environment names the environment variable of each
// variable. Step groups that can stand alone become functions (Function), the others stand where
// they are run. Names for files, classes and functions are made of ASCII letters and digits, and a
// Comment is one line that ends no comment of any language.
//
// It knows nothing of the targets. What no code can be written for is a *step.InvalidError.
package script

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/capability"
	"github.com/slipway-qa/slipway/storage/step/keyboard"
	"github.com/slipway-qa/slipway/storage/step/testfile"
)

// Script is a case as every target writes it.
type Script struct {
	Name    title
	Label   string // the case's name on one line
	ID      string
	Base    Text // the test's address, against which others are read
	Moves   []Move
	Env     *Environment
	Data    *testfile.Data // nil for none
	Browser Browser
	Version string // of the browser, "" for any
	System  string // platformName
	// functions are the step groups that are written as functions, by group and revision; nil
	// where none is. Order is theirs: each stands behind those that it calls.
	functions     map[string]*Function
	functionNames map[string]bool
	Order         []*Function
	// FirstMatch takes the first of several matches; else there may be only one.
	FirstMatch bool
}

// Move is one thing that a test does.
type Move struct {
	Tool     *step.Tool // the innermost one
	Path     string     // of that tool: steps[3].tool
	Within   []Scope    // frames and shadow hosts around the element, from outside in
	Note     string     // why, for a comment
	Optional bool
	Timeout  int // in milliseconds; 0: that of its kind
	// When is the assertion without which the move is skipped; nil: none.
	When *Move
	// Dialogs are the moves that handle the dialogs which this one opens.
	Dialogs []*Move
	// Closes is set at the end of a step group with a condition. Its beginning is a move of
	// the tool run_group.
	Closes bool
	// Call is what a run_group does that is written as a function.
	Call *Call
	// URL, Value and the like are the tool's texts in parts.
	URL, Text, Option, Value Text
	// Each are the moves that a for_each does in each row.
	Each            []Move
	Element, Target Place
}

// Scope is a frame or a shadow host.
type Scope struct {
	Frame bool
	Place
}

// The limits of waiting, in milliseconds, as in a run.
const (
	StepTimeout      = 10_000
	assertTimeout    = 5_000
	optionalTimeout  = 3_000
	conditionTimeout = 3_000
	pageTimeout      = 30_000
)

// New reads a case. Step groups that can stand alone become functions where these are wanted.
func New(c Case, functions bool) (*Script, error) {
	s := &Script{Name: newTitle(c.Name, c.ID), Label: Comment(c.Name), ID: Comment(c.ID), Env: &Environment{rows: c.Data != nil},
		Data: c.Data, FirstMatch: c.FirstMatch}
	if s.Label == "" {
		s.Label = s.Name.Kebab()
	}
	s.Browser = BrowserOf(c.Capabilities)
	s.Version, _ = c.Capabilities["browserVersion"].(string)
	s.System, _ = c.Capabilities["platformName"].(string)
	s.Base = s.Env.Read(c.TestURL)
	if functions {
		s.functions, s.functionNames = map[string]*Function{}, map[string]bool{}
	}
	return s, s.readAll(&c)
}

func (s *Script) read(at string, from *step.Step) (Move, error) {
	path := at
	m := Move{Optional: from.Optional, Timeout: from.TimeoutMS}
	if m.Optional && m.Timeout == 0 {
		m.Timeout = optionalTimeout
	}
	t := &from.Tool
	for t.Type == step.InFrame || t.Type == step.InShadowRoot {
		m.Note = Join(m.Note, t.Args.Reasoning)
		if t.Args.Tool == nil || t.Args.Selector == nil || len(m.Within) == step.MaxNesting {
			return m, &step.InvalidError{Path: path, Msg: "needs a selector and a tool, and not too many around each other"}
		}
		if err := checkSelector(path+".args.selector", t.Args.Selector); err != nil {
			return m, err
		}
		m.Within = append(m.Within, Scope{t.Type == step.InFrame, s.Place(t.Args.Selector)})
		t = t.Args.Tool
		path += ".args.tool"
	}
	m.Note = Comment(Join(m.Note, t.Args.Reasoning))
	if c := from.When; c != nil { // it looks where the step acts
		when, err := s.readCondition(strings.TrimSuffix(at, ".tool")+".when", c, m.Within)
		if err != nil {
			return m, err
		}
		m.When = when
	}
	return m, s.fill(path, &m, t)
}

// fill reads the arguments of a tool into its move.
func (s *Script) fill(path string, m *Move, t *step.Tool) error {
	m.Tool, m.Path = t, path
	a := &t.Args
	if err := check(path, t); err != nil {
		return err
	}
	m.URL = s.Env.Read(a.URL)
	m.Element, m.Target = s.Place(a.Selector), s.Place(a.Target)
	if a.Text != nil {
		m.Text = s.Env.Read(*a.Text)
	}
	for i := range a.Tools {
		inner := Move{}
		if err := s.fill(fmt.Sprintf("%s.args.tools[%d]", path, i), &inner, &a.Tools[i]); err != nil {
			return err
		}
		m.Each = append(m.Each, inner)
	}
	if a.OptionValue != nil {
		m.Option = s.Env.Read(*a.OptionValue)
	}
	if a.Matcher != nil {
		m.Value = s.Env.Read(a.Matcher.Args.Value)
		if (a.Matcher.Name == step.TextIs || a.Matcher.Name == step.TitleIs) && a.Matcher.Args.Mode != step.Matches {
			m.Value = m.Value.squeezed()
		}
	}
	return nil
}

// Join joins two sentences of a comment, of which either may be empty.
func Join(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + " " + b
}

var directions = []string{"up", "down", "left", "right", "top", "bottom"}

// check finds what code cannot be written for. Validate found it before, for
// every case that is stored.
func check(path string, t *step.Tool) error {
	a := &t.Args
	invalid := func(member, msg string) error { return &step.InvalidError{Path: path + member, Msg: msg} }
	if !slices.Contains(step.Tools(), t.Type) || t.Type == step.Finish {
		return invalid(".type", "is a tool without code")
	}
	if err := checkSelector(path+".args.selector", a.Selector); err != nil {
		return err
	}
	if err := checkSelector(path+".args.target", a.Target); err != nil {
		return err
	}
	selector := []string{step.Click, step.DoubleClick, step.RightClick, step.InputText, step.Select, step.ScrollElement,
		step.Hover, step.Drag, step.ForEach}
	switch m := a.Matcher; {
	case slices.Contains(selector, t.Type) && a.Selector == nil:
		return invalid(".args.selector", "is missing")
	case t.Type == step.Drag && a.Target == nil:
		return invalid(".args.target", "is missing")
	case t.Type == step.TypeKeys && a.Text == nil:
		return invalid(".args.text", "is missing")
	case t.Type == step.SetViewport && (a.Width == nil || a.Height == nil):
		return invalid(".args.width", "is missing, or the height is")
	case (t.Type == step.SetCookie || t.Type == step.SetStorage) && a.Value == nil:
		return invalid(".args.value", "is missing")
	case t.Type == step.Save && a.Selector == nil && a.From != step.SavedURL && a.From != step.SavedTitle:
		return invalid(".args.selector", "is missing")
	case t.Type == step.UploadFile && a.File == nil && len(a.Files) == 0:
		return invalid(".args.file", "is missing")
	case (t.Type == step.ScrollElement || t.Type == step.ScrollDocument) && !slices.Contains(directions, a.Direction):
		return invalid(".args.direction", "is not known")
	case t.Type == step.HandleDialog && a.Action != "accept" && a.Action != "dismiss":
		return invalid(".args.action", "is not known")
	case (t.Type == step.Assert || t.Type == step.SwitchWindow) && m == nil:
		return invalid(".args.matcher", "is missing")
	case t.Type == step.SwitchWindow && !slices.Contains([]string{step.WindowTitle, step.WindowURL, step.WindowIndex, step.WindowNew}, m.Name):
		return invalid(".args.matcher.name", "is not known")
	case t.Type == step.Assert:
		if m.Name == step.LooksLike {
			return invalid(".args.matcher.name", "is "+m.Name+", which needs what people accepted here: no code is written for it")
		}
		page := m.Name == step.Accessible || step.IsNetworkMatcher(m.Name) ||
			slices.Contains([]string{step.URLIs, step.TitleIs, step.StorageIs, step.CookieIs}, m.Name)
		if !page && a.Selector == nil {
			return invalid(".args.selector", "is missing")
		}
		if !page && !slices.Contains([]string{step.Visible, step.Hidden, step.TextIs, step.ValueIs, step.Count, step.Enabled,
			step.Checked, step.Focused, step.AttributeIs}, m.Name) {
			return invalid(".args.matcher.name", "is not known")
		}
	case t.Type == step.PressKey:
		if _, _, ok := keyboard.Parse(a.Key); !ok {
			return invalid(".args.key", "is not known")
		}
	}
	return nil
}

// Limit is how long a move waits, in milliseconds.
func (m *Move) Limit() int {
	switch {
	case m.Timeout > 0:
		return m.Timeout
	case m.Tool.Type == step.Assert:
		return assertTimeout
	case loads(m.Tool.Type):
		return pageTimeout
	}
	return StepTimeout
}

// loads reports whether a tool waits for a page and for no element.
func loads(tool string) bool {
	return slices.Contains([]string{step.GoToURL, step.Back, step.Forward, step.Reload}, tool)
}

// TieDialogs moves each handle_dialog into the move that opens its dialog, for a
// tool that must know about a dialog before it opens. A pause or a change of the
// window in between opens none. Dialogs without such a move stay where they are.
func TieDialogs(moves []Move) []Move {
	var out []Move
	opener := -1
	for i := range moves {
		switch moves[i].Tool.Type {
		case step.HandleDialog:
			if opener >= 0 {
				out[opener].Dialogs = append(out[opener].Dialogs, &moves[i])
				continue
			}
		case step.Pause, step.SwitchWindow, step.RunGroup:
		default:
			opener = len(out)
		}
		out = append(out, moves[i])
	}
	return out
}

// absolute is an address that needs no base: it begins with a scheme.
var absolute = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*:`)

// Address gives the parts of an address, and whether it must still be read
// against the test's own when the test runs.
func (s *Script) Address(t Text) (Text, bool) {
	if len(s.Base) == 0 || len(t) > 0 && t[0].Env == "" && absolute.MatchString(t[0].Literal) {
		return t, false
	}
	literal, fixed := t.Fixed()
	base, fixedBase := s.Base.Fixed()
	if !fixed || !fixedBase {
		return t, true
	}
	against, err := url.Parse(base)
	if err != nil {
		return t, true
	}
	joined, err := against.Parse(literal)
	if err != nil {
		return t, true
	}
	return Text{{Literal: joined.String()}}, false
}

// OptionIndex is the place of an option in its list, which index=N says.
func OptionIndex(t Text) (int, bool) {
	literal, fixed := t.Fixed()
	digits, ok := strings.CutPrefix(literal, "index=")
	n, err := strconv.Atoi(digits)
	return n, fixed && ok && err == nil && n >= 0
}

// Browser is a browser by the names that the targets have for it.
type Browser struct {
	ID         string // browserName of W3C
	Playwright string // chromium, firefox, webkit
	Channel    string // of Playwright
	Class      string // of Selenium: Chrome for ChromeOptions
	Module     string // the same in Python and Java
	Options    string // capability with the browser's options, "" for none
	Prefix     string // of environment variables
	Driver     string // environment variable with the path of the driver
	WDIO       string // capability of WebdriverIO with the options of the driver
}

// BrowserOf is the browser that capabilities name; Chrome where they name none that is known.
func BrowserOf(c capability.Capabilities) Browser {
	name, _ := c["browserName"].(string)
	switch name {
	case "firefox", "Firefox":
		return Browser{"firefox", "firefox", "", "Firefox", "firefox", "moz:firefoxOptions", "FIREFOX", "GECKODRIVER",
			"wdio:geckodriverOptions"}
	case "safari", "Safari":
		return Browser{"safari", "webkit", "", "Safari", "safari", "", "", "", ""}
	case "MicrosoftEdge", "msedge", "edge", "microsoftedge":
		return Browser{"MicrosoftEdge", "chromium", "msedge", "Edge", "edge", "ms:edgeOptions", "EDGE", "EDGEDRIVER",
			"wdio:edgedriverOptions"}
	}
	return Browser{"chrome", "chromium", "", "Chrome", "chrome", "goog:chromeOptions", "CHROME", "CHROMEDRIVER", "wdio:chromedriverOptions"}
}
