// Package step has the steps of tests as the authoring interface sends them, and says in words what
// they do: Type into label "Email", a@b.c.
//
// A tool has three texts, which pages show side by side: Action, what is done, Place, with which
// element, and Value, with what. Tools inside of frames and shadow roots are shown as the innermost
// one, with those around it in the Place. Selectors, conditions and targets have texts of their own.
//
// Nothing here fails: of a tool, a matcher or a selector that a newer version sends, its own name is
// shown.
package step

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Step is a step of a case.
type Step struct {
	ID            string     `json:"id"`
	Tool          Tool       `json:"tool"`
	Result        *Outcome   `json:"result"`
	ScreenshotURL string     `json:"screenshotUrl"`
	Optional      bool       `json:"optional"`
	When          *Condition `json:"when"`
	TimeoutMS     int        `json:"timeoutMs"`
}

// Screenshot is the id of the file with the picture; "" without one.
func (s *Step) Screenshot() string { return FileOf(s.ScreenshotURL) }

// FileOf is the id at the end of a file's address.
func FileOf(address string) string {
	if address == "" {
		return ""
	}
	return path.Base(address)
}

// Outcome is how a step ended.
type Outcome struct {
	Success bool   `json:"success"`
	Message string `json:"message"`
}

// Tool is what a step does.
type Tool struct {
	Type string    `json:"type"`
	Args arguments `json:"args"`
}

// arguments are those of all tools.
type arguments struct {
	URL         string    `json:"url"`
	Selector    *Selector `json:"selector"`
	Target      *Selector `json:"target"`
	Text        *string   `json:"text"`
	OptionValue *string   `json:"optionValue"`
	Matcher     *matcher  `json:"matcher"`
	Not         bool      `json:"not"`
	Time        *int      `json:"time"`
	Width       *int      `json:"width"`
	Height      *int      `json:"height"`
	Direction   string    `json:"direction"`
	Key         string    `json:"key"`
	Action      string    `json:"action"`
	File        *struct {
		Name string `json:"name"`
	} `json:"file"`
	Tool      *Tool             `json:"tool"`
	GroupID   string            `json:"groupId"`
	With      map[string]string `json:"with"`
	Reasoning string            `json:"reasoning"`
	stateArguments
	mobileArguments
	networkArguments
}

// Selector locates an element.
type Selector struct {
	Type    string          `json:"type"`
	Value   string          `json:"value"`
	Name    string          `json:"name"`
	Exact   bool            `json:"exact"`
	Level   int             `json:"level"`
	State   map[string]bool `json:"state"`
	Within  *Selector       `json:"within"`
	Has     *Selector       `json:"has"`
	HasText string          `json:"hasText"`
	Near    *relation       `json:"near"`
	Below   *relation       `json:"below"`
	Above   *relation       `json:"above"`
	LeftOf  *relation       `json:"leftOf"`
	RightOf *relation       `json:"rightOf"`
	Index   *int            `json:"index"`
}

// matcher is what an assertion compares.
type matcher struct {
	Name string `json:"name"`
	Args struct {
		Value string `json:"value"`
		Name  string `json:"name"`
		URL   string `json:"url"`
		Mode  string `json:"mode"`
		Area  string `json:"area"`
		Key   string `json:"key"`
	} `json:"args"`
}

// Condition decides whether a step is executed.
type Condition struct {
	Selector *Selector `json:"selector"`
	Not      bool      `json:"not"`
	Matcher  *matcher  `json:"matcher"`
}

// String is the condition in words.
func (w *Condition) String() string {
	parts := []string{"the page"}
	if w.Selector != nil {
		parts[0] = w.Selector.String()
	}
	if w.Matcher != nil {
		parts = append(parts, w.Matcher.text(w.Not))
	}
	return strings.Join(parts, " ")
}

// actions are the tools in words.
var actions = map[string]string{
	"go_to_url": "Open", "click": "Click", "input_text": "Type into", "select": "Choose in", "enter_key_submit": "Press Enter",
	"switch_window": "Switch to the window", "pause": "Wait", "scroll_document": "Scroll the page", "scroll_element": "Scroll",
	"assert": "Check", "finish": "End the test", "hover": "Point at", "drag": "Drag", "upload_file": "Upload into", "press_key": "Press",
	"handle_dialog": "Answer the dialog", "double_click": "Double-click", "right_click": "Right-click", "type_keys": "Type key by key",
	"back": "Go back", "forward": "Go forward", "reload": "Reload", "set_viewport": "Resize the window",
	"run_group":  "Run the step group",
	"set_cookie": "Set the cookie", "set_storage": "Set in the storage", "clear_state": "Clear", "emulate": "Emulate",
	"set_clock": "Set the clock",
	"save":      "Save", "for_each": "In each",
	"route": "Answer requests of", "unroute": "End the answers to", "wait_for_request": "Wait for the request",
	"wait_for_response": "Wait for the response",
	"wait_for_url":      "Wait for the address", "wait_for_download": "Wait for the download",
	"tap": "Tap", "long_press": "Press long", "swipe": "Swipe", "scroll_to": "Scroll to", "pinch": "Pinch", "zoom": "Zoom",
	"hide_keyboard": "Hide the keyboard", "background": "Leave the app for", "deep_link": "Open the link",
	"set_permissions": "Set permissions",
	"rotate":          "Turn the screen to", "switch_context": "Switch to the context", "press_device_key": "Press the device's key",
	"launch_app": "Launch the app", "terminate_app": "End the app", "reset_app": "Reset the app",
}

// inner is the tool inside of frames and shadow roots, which are returned from the inside
// out.
func (t *Tool) inner() (act *Tool, around []string) {
	act = t
	for act.Args.Tool != nil && act.Args.Selector != nil {
		kind := "the frame"
		if act.Type == "in_shadow_root" {
			kind = "the shadow root of"
		}
		around = append(around, "in "+kind+" "+act.Args.Selector.String())
		act = act.Args.Tool
	}
	slices.Reverse(around)
	return act, around
}

// Action says what is done.
func (t *Tool) Action() string {
	act, _ := t.inner()
	return cmp.Or(actions[act.Type], strings.ReplaceAll(act.Type, "_", " "))
}

// Place says where it is done; "" for the page.
func (t *Tool) Place() string {
	act, around := t.inner()
	var parts []string
	if act.Args.Selector != nil {
		parts = append(parts, act.Args.Selector.String())
	}
	if act.Args.Target != nil {
		parts = append(parts, "to "+act.Args.Target.String())
	}
	if act.Args.Container != nil {
		parts = append(parts, "in "+act.Args.Container.String())
	}
	return strings.Join(append(parts, around...), " ")
}

// Value says what it is done with: a text, an address, what an assertion compares.
func (t *Tool) Value() string {
	act, _ := t.inner()
	a := &act.Args
	if text := a.stateArguments.words(act.Type, a.Key); text != "" {
		return text
	}
	if text := a.mobileArguments.words(act.Type, a); text != "" {
		return text
	}
	if text := a.networkArguments.words(act.Type, a.URL); text != "" {
		return text
	}
	switch {
	case a.Matcher != nil && act.Type == "switch_window":
		return strings.TrimSpace(a.Matcher.Name + " " + a.Matcher.Args.Value)
	case a.Matcher != nil:
		return a.Matcher.text(a.Not)
	case a.URL != "":
		return a.URL
	case a.Name != "":
		return a.Name
	case a.Time != nil:
		return strconv.Itoa(*a.Time) + " ms"
	case a.Width != nil && a.Height != nil:
		return fmt.Sprintf("%d × %d", *a.Width, *a.Height)
	case a.File != nil:
		return a.File.Name
	case a.OptionValue != nil:
		return *a.OptionValue
	case act.Type == "run_group":
		return a.with()
	}
	text := strings.TrimSpace(a.Key + a.Action + a.Direction)
	if a.Text != nil {
		text = strings.TrimSpace(text + " " + *a.Text)
	}
	return text
}

// with are the values of a group's parameters in words.
func (a *arguments) with() string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(a.With)) {
		parts = append(parts, name+" = "+a.With[name])
	}
	return strings.Join(parts, ", ")
}

// text is the comparison in words.
func (m *matcher) text(not bool) string {
	is, value := "is ", strconv.Quote(m.Args.Value)
	if not {
		is = "is not "
	}
	mode := strings.ReplaceAll(cmp.Or(m.Args.Mode, "equals"), "_", " ")
	if not {
		mode = "not " + mode
	}
	switch m.Name {
	case "visible", "hidden", "enabled", "checked", "focused":
		return is + m.Name
	case "attribute":
		return "attribute " + m.Args.Name + " " + mode + " " + value
	case "cookie", "storage":
		return m.kept(not, mode, value)
	case "count":
		return "count " + mode + " " + m.Args.Value
	case "request", "response", "download":
		words := strings.TrimSpace(m.Name + " " + m.Args.URL + m.Args.Name)
		if not {
			return "no " + words
		}
		return words
	case "app_state":
		return strings.TrimSpace("app "+m.Args.Name) + " " + is + strings.ReplaceAll(m.Args.Value, "_", " ")
	case "console":
		if not {
			return "errors in the console"
		}
		return "no errors in the console"
	case "looks_like":
		return strings.TrimSpace("looks as accepted " + m.Args.Name)
	case "accessible":
		return "is accessible"
	}
	return m.Name + " " + mode + " " + value
}

// String is the selector in words: button "Save" in css form.login.
func (s *Selector) String() string {
	var b strings.Builder
	switch s.Type {
	case "css", "xpath":
		b.WriteString(s.Type + " " + s.Value)
	case "role":
		b.WriteString(s.Value)
		if s.Name != "" {
			b.WriteString(" " + strconv.Quote(s.Name))
		}
	default:
		b.WriteString(s.Type + " " + strconv.Quote(s.Value))
	}
	if s.Exact {
		b.WriteString(" exactly")
	}
	if s.Level > 0 {
		fmt.Fprintf(&b, " of level %d", s.Level)
	}
	for _, state := range []string{"checked", "disabled", "expanded", "pressed", "selected"} {
		if on, given := s.State[state]; given && on {
			b.WriteString(", " + state)
		} else if given {
			b.WriteString(", not " + state)
		}
	}
	if s.HasText != "" {
		b.WriteString(" with the text " + strconv.Quote(s.HasText))
	}
	if s.Has != nil {
		b.WriteString(" with " + s.Has.String() + " inside")
	}
	for _, r := range []struct {
		words string
		of    *relation
	}{{" near ", s.Near}, {" below ", s.Below}, {" above ", s.Above}, {" left of ", s.LeftOf}, {" right of ", s.RightOf}} {
		if r.of != nil && r.of.Selector != nil {
			b.WriteString(r.words + r.of.Selector.String())
		}
	}
	if s.Within != nil {
		b.WriteString(" in " + s.Within.String())
	}
	switch {
	case s.Index == nil:
	case *s.Index == -1:
		b.WriteString(", the last")
	case *s.Index >= 0:
		fmt.Fprintf(&b, ", number %d", *s.Index+1)
	default:
		fmt.Fprintf(&b, ", number %d from the end", -*s.Index)
	}
	return b.String()
}

// Target is where a test runs.
type Target struct {
	Capabilities map[string]any `json:"capabilities"`
	IsRDC        bool           `json:"isRdc"`
}

// Name says what a target is: chrome 120 Windows 11.
func (t Target) Name() string {
	var parts []string
	for _, name := range []string{"browserName", "browserVersion", "platformName",
		"appium:deviceName", "appium:platformVersion", "appium:app"} {
		if text, _ := t.Capabilities[name].(string); text != "" {
			parts = append(parts, text)
		}
	}
	if len(parts) == 0 {
		if len(t.Capabilities) == 0 {
			return "no target"
		}
		text, _ := json.Marshal(t.Capabilities) // what was decoded encodes
		return string(text)
	}
	if t.IsRDC {
		parts = append(parts, "(real device)")
	}
	return strings.Join(parts, " ")
}
