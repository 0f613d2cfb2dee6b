package export

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/testfile"
)

// script is a case as every target writes it.
type script struct {
	name    title
	label   string // the case's name on one line
	id      string
	base    text // the test's address, against which others are read
	moves   []move
	env     *environment
	data    *testfile.Data // nil for none
	browser browser
	version string // of the browser, "" for any
	system  string // platformName
	// functions are the step groups that are written as functions, by group and revision; nil
	// where none is. order is theirs: each stands behind those that it calls.
	functions     map[string]*groupFunction
	functionNames map[string]bool
	order         []*groupFunction
	// firstMatch takes the first of several matches; else there may be only one.
	firstMatch bool
}

// move is one thing that a test does.
type move struct {
	tool     *step.Tool // the innermost one
	path     string     // of that tool: steps[3].tool
	within   []scope    // frames and shadow hosts around the element, from outside in
	note     string     // why, for a comment
	optional bool
	timeout  int // in milliseconds; 0: that of its kind
	// when is the assertion without which the move is skipped; nil: none.
	when *move
	// dialogs are the moves that handle the dialogs which this one opens.
	dialogs []*move
	// closes is set at the end of a step group with a condition. Its beginning is a move of
	// the tool run_group.
	closes bool
	// call is what a run_group does that is written as a function.
	call *groupCall
	// url, value and the like are the tool's texts in parts.
	url, text, option, value text
	// each are the moves that a for_each does in each row.
	each            []move
	element, target place
}

// scope is a frame or a shadow host.
type scope struct {
	frame bool
	place
}

// The limits of waiting, in milliseconds, as in a run.
const (
	stepTimeout      = 10_000
	assertTimeout    = 5_000
	optionalTimeout  = 3_000
	conditionTimeout = 3_000
	pageTimeout      = 30_000
)

func newScript(c Case) (*script, error) {
	s := &script{name: newTitle(c.Name, c.ID), label: comment(c.Name), id: comment(c.ID), env: &environment{rows: c.Data != nil},
		data: c.Data, firstMatch: c.FirstMatch}
	if s.label == "" {
		s.label = s.name.kebab()
	}
	s.browser = browserOf(c.Capabilities)
	s.version, _ = c.Capabilities["browserVersion"].(string)
	s.system, _ = c.Capabilities["platformName"].(string)
	s.base = s.env.read(c.TestURL)
	if c.functions {
		s.functions, s.functionNames = map[string]*groupFunction{}, map[string]bool{}
	}
	return s, s.readAll(&c)
}

func (s *script) read(at string, from *step.Step) (move, error) {
	path := at
	m := move{optional: from.Optional, timeout: from.TimeoutMS}
	if m.optional && m.timeout == 0 {
		m.timeout = optionalTimeout
	}
	t := &from.Tool
	for t.Type == step.InFrame || t.Type == step.InShadowRoot {
		m.note = join(m.note, t.Args.Reasoning)
		if t.Args.Tool == nil || t.Args.Selector == nil || len(m.within) == step.MaxNesting {
			return m, &step.InvalidError{Path: path, Msg: "needs a selector and a tool, and not too many around each other"}
		}
		if err := checkSelector(path+".args.selector", t.Args.Selector); err != nil {
			return m, err
		}
		m.within = append(m.within, scope{t.Type == step.InFrame, s.place(t.Args.Selector)})
		t = t.Args.Tool
		path += ".args.tool"
	}
	m.note = comment(join(m.note, t.Args.Reasoning))
	if c := from.When; c != nil { // it looks where the step acts
		when, err := s.readCondition(strings.TrimSuffix(at, ".tool")+".when", c, m.within)
		if err != nil {
			return m, err
		}
		m.when = when
	}
	return m, s.fill(path, &m, t)
}

// fill reads the arguments of a tool into its move.
func (s *script) fill(path string, m *move, t *step.Tool) error {
	m.tool, m.path = t, path
	a := &t.Args
	if err := check(path, t); err != nil {
		return err
	}
	m.url = s.env.read(a.URL)
	m.element, m.target = s.place(a.Selector), s.place(a.Target)
	if a.Text != nil {
		m.text = s.env.read(*a.Text)
	}
	for i := range a.Tools {
		inner := move{}
		if err := s.fill(fmt.Sprintf("%s.args.tools[%d]", path, i), &inner, &a.Tools[i]); err != nil {
			return err
		}
		m.each = append(m.each, inner)
	}
	if a.OptionValue != nil {
		m.option = s.env.read(*a.OptionValue)
	}
	if a.Matcher != nil {
		m.value = s.env.read(a.Matcher.Args.Value)
		if (a.Matcher.Name == step.TextIs || a.Matcher.Name == step.TitleIs) && a.Matcher.Args.Mode != step.Matches {
			m.value = m.value.squeezed()
		}
	}
	return nil
}

func join(a, b string) string {
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
		if _, _, ok := step.ParseKey(a.Key); !ok {
			return invalid(".args.key", "is not known")
		}
	}
	return nil
}

// limit is how long a move waits, in milliseconds.
func (m *move) limit() int {
	switch {
	case m.timeout > 0:
		return m.timeout
	case m.tool.Type == step.Assert:
		return assertTimeout
	case loads(m.tool.Type):
		return pageTimeout
	}
	return stepTimeout
}

// loads reports whether a tool waits for a page and for no element.
func loads(tool string) bool {
	return slices.Contains([]string{step.GoToURL, step.Back, step.Forward, step.Reload}, tool)
}

// tieDialogs moves each handle_dialog into the move that opens its dialog, for a
// tool that must know about a dialog before it opens. A pause or a change of the
// window in between opens none. Dialogs without such a move stay where they are.
func tieDialogs(moves []move) []move {
	var out []move
	opener := -1
	for i := range moves {
		switch moves[i].tool.Type {
		case step.HandleDialog:
			if opener >= 0 {
				out[opener].dialogs = append(out[opener].dialogs, &moves[i])
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

// address gives the parts of an address, and whether it must still be read
// against the test's own when the test runs.
func (s *script) address(t text) (text, bool) {
	if len(s.base) == 0 || len(t) > 0 && t[0].env == "" && absolute.MatchString(t[0].literal) {
		return t, false
	}
	literal, fixed := t.fixed()
	base, fixedBase := s.base.fixed()
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
	return text{{literal: joined.String()}}, false
}

// optionIndex is the place of an option in its list, which index=N says.
func optionIndex(t text) (int, bool) {
	literal, fixed := t.fixed()
	digits, ok := strings.CutPrefix(literal, "index=")
	n, err := strconv.Atoi(digits)
	return n, fixed && ok && err == nil && n >= 0
}

// browser is a browser by the names that the targets have for it.
type browser struct {
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

func browserOf(c step.Capabilities) browser {
	name, _ := c["browserName"].(string)
	switch name {
	case "firefox", "Firefox":
		return browser{"firefox", "firefox", "", "Firefox", "firefox", "moz:firefoxOptions", "FIREFOX", "GECKODRIVER", "wdio:geckodriverOptions"}
	case "safari", "Safari":
		return browser{"safari", "webkit", "", "Safari", "safari", "", "", "", ""}
	case "MicrosoftEdge", "msedge", "edge", "microsoftedge":
		return browser{"MicrosoftEdge", "chromium", "msedge", "Edge", "edge", "ms:edgeOptions", "EDGE", "EDGEDRIVER", "wdio:edgedriverOptions"}
	}
	return browser{"chrome", "chromium", "", "Chrome", "chrome", "goog:chromeOptions", "CHROME", "CHROMEDRIVER", "wdio:chromedriverOptions"}
}
