// Package devtools reads recordings of the Recorder panel of Chrome's DevTools into steps.
//
// A recording is JSON: a title and steps, each with a type and, where it acts on an element,
// several selectors that found it (the schema is that of the package @puppeteer/replay). Read
// takes the one that is likeliest to last: a test id, an id, a role with its name, other CSS,
// XPath, a text. The others become hints in the fingerprint, so that a step can heal from the
// start. Parts of a selector that lie in shadow roots are each searched within the one before.
//
// What has no counterpart is refused by its path: waitForExpression, customStep, emulated
// networks, properties of elements. scroll is left out with a warning, because each step
// scrolls to its element. Each click acts on the middle of its element: the recorder notes a
// position of every one, which says nothing. The navigations that a step is asserted to cause
// are waited for by every step.
package devtools

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/slipway-qa/slipway/api/authoring/recording"
	"github.com/slipway-qa/slipway/api/body"
	"github.com/slipway-qa/slipway/storage/step"
)

const (
	// maxDepth is far above the levels that a recording has.
	maxDepth = 32
	// maxSelectors bounds the alternatives of a step, and the parts of one.
	maxSelectors = 32
	// longPress is from when on a press is more than a click, in milliseconds.
	longPress = 500
)

// recorded is a step as it stands in a recording.
type recorded struct {
	Type           string            `json:"type"`
	Target         string            `json:"target"`
	URL            string            `json:"url"`
	Frame          []int             `json:"frame"`
	Selectors      []json.RawMessage `json:"selectors"`
	Value          *string           `json:"value"`
	Key            string            `json:"key"`
	Button         string            `json:"button"`
	Duration       float64           `json:"duration"`
	DeviceType     string            `json:"deviceType"`
	OffsetX        *float64          `json:"offsetX"`
	OffsetY        *float64          `json:"offsetY"`
	Width          int               `json:"width"`
	Height         int               `json:"height"`
	Timeout        float64           `json:"timeout"`
	Operator       string            `json:"operator"`
	Count          *int              `json:"count"`
	Visible        *bool             `json:"visible"`
	Attributes     map[string]string `json:"attributes"`
	Properties     json.RawMessage   `json:"properties"`
	AssertedEvents json.RawMessage   `json:"assertedEvents"`

	path string
}

// reader turns the steps of a recording into those of a test.
type reader struct {
	recording.Builder
	windows []string // the targets, by the order in which they came
	held    []string // modifier keys
	url     string
}

// Read reads a recording. What has no counterpart is a *step.InvalidError whose path names it
// (steps[3].type).
func Read(text []byte) (*recording.Test, error) {
	if len(text) > recording.MaxBytes {
		return nil, recording.Invalid("", "has at most %d bytes", recording.MaxBytes)
	}
	if body.Depth(text) > maxDepth {
		return nil, recording.Invalid("", "is nested more than %d deep", maxDepth)
	}
	var doc struct {
		Title string            `json:"title"`
		Steps []json.RawMessage `json:"steps"`
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		return nil, recording.Invalid("", "must be a recording of the DevTools: an object with title and steps")
	}
	if len(doc.Steps) > step.MaxSteps {
		return nil, recording.Invalid("steps", "has at most %d elements", step.MaxSteps)
	}
	if !recording.Plain(doc.Title) {
		return nil, recording.Invalid("title", "must be UTF-8 text without the character NUL")
	}
	r := &reader{windows: []string{"main"}}
	for i, raw := range doc.Steps {
		s := recorded{path: fmt.Sprintf("steps[%d]", i)}
		if err := json.Unmarshal(raw, &s); err != nil {
			return nil, recording.Invalid(s.path, "is no step of a recording: %s", kindOf(err))
		}
		if err := r.read(&s, i == len(doc.Steps)-1); err != nil {
			return nil, err
		}
	}
	return r.Test(doc.Title, r.url)
}

func kindOf(err error) string {
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		return fmt.Sprintf("%s must not be a JSON %s", wrong.Field, wrong.Value)
	}
	return "it must be an object"
}

// handlers are the types of steps.
var handlers = map[string]func(*reader, *recorded, bool) error{
	"setViewport":    (*reader).viewport,
	"navigate":       (*reader).navigate,
	"click":          (*reader).click,
	"doubleClick":    (*reader).doubleClick,
	"hover":          (*reader).hover,
	"change":         (*reader).change,
	"keyDown":        (*reader).keyDown,
	"keyUp":          (*reader).keyUp,
	"scroll":         (*reader).scroll,
	"waitForElement": (*reader).wait,
	"close":          (*reader).close,
}

func (r *reader) read(s *recorded, last bool) error {
	read := handlers[s.Type]
	if read == nil {
		return s.refuse("%s has no counterpart among the tools", shown(s.Type))
	}
	if s.Type != "close" && s.Type != "setViewport" && s.Type != "keyUp" {
		if err := r.InWindow(s.path+".target", r.window(s.Target)); err != nil {
			return err
		}
	}
	return read(r, s, last)
}

func (s *recorded) refuse(format string, args ...any) error {
	return recording.Invalid(s.path+".type", format, args...)
}

func shown(name string) string {
	if name == "" || len(name) > 60 || !recording.Plain(name) {
		return "this type"
	}
	return name
}

// window returns the number of the window of a target: "main", or the address that another one had.
func (r *reader) window(target string) int {
	if target == "" {
		target = "main"
	}
	for i, name := range r.windows {
		if name == target {
			return i
		}
	}
	r.windows = append(r.windows, target)
	return len(r.windows) - 1
}

func (r *reader) viewport(s *recorded, _ bool) error {
	return r.Add(s.path, step.Tool{Type: step.SetViewport, Args: step.Args{Width: &s.Width, Height: &s.Height}})
}

func (r *reader) navigate(s *recorded, _ bool) error {
	address := strings.TrimSpace(s.URL)
	if address == "" {
		return recording.Invalid(s.path+".url", "is missing")
	}
	if r.url == "" {
		r.url = address
	}
	return r.Add(s.path, step.Tool{Type: step.GoToURL, Args: step.Args{URL: address}})
}

func (r *reader) click(s *recorded, _ bool) error {
	switch {
	case s.Duration > longPress:
		return recording.Invalid(s.path+".duration", "a press of %g ms has no counterpart among the tools", s.Duration)
	case s.Button == "" || s.Button == "primary":
		return r.act(s, step.Click)
	case s.Button == "secondary":
		return r.act(s, step.RightClick)
	}
	return recording.Invalid(s.path+".button", "has no counterpart among the tools: there are primary and secondary")
}

func (r *reader) doubleClick(s *recorded, _ bool) error { return r.act(s, step.DoubleClick) }
func (r *reader) hover(s *recorded, _ bool) error       { return r.act(s, step.Hover) }

func (r *reader) act(s *recorded, tool string) error {
	element, err := s.element()
	if err != nil {
		return err
	}
	if s.DeviceType != "" && s.DeviceType != "mouse" {
		r.Warn(s.path+".deviceType", "the step acts with the mouse")
	}
	return r.add(s, step.Tool{Type: tool, Args: step.Args{Selector: element}})
}

// add appends a step that acts on an element.
func (r *reader) add(s *recorded, tool step.Tool) error {
	frames, err := s.frames()
	if err != nil {
		return err
	}
	if err := r.Add(s.path, tool, frames...); err != nil {
		return err
	}
	if s.Timeout > 0 {
		r.Last().TimeoutMS = int(min(s.Timeout, 1<<30))
	}
	return nil
}

func (s *recorded) frames() (frames []*step.Selector, err error) {
	for _, n := range s.Frame {
		if n < 0 || n > step.MaxSteps {
			return nil, recording.Invalid(s.path+".frame", "must be numbers of frames from 0")
		}
		frames = append(frames, &step.Selector{Type: step.CSS, Value: "iframe, frame", Index: &n})
	}
	return frames, nil
}

// change types a text, or chooses an option of a list: a recording does not say which it was.
func (r *reader) change(s *recorded, _ bool) error {
	if s.Value == nil {
		return recording.Invalid(s.path+".value", "is missing")
	}
	element, err := s.element()
	if err != nil {
		return err
	}
	switch {
	case s.isList():
		return r.add(s, step.Tool{Type: step.Select, Args: step.Args{Selector: element, OptionValue: s.Value}})
	case s.hasRole("combobox"):
		r.Warn(s.path, "the value is typed; where the element is a list of options, make it a step select")
	}
	return r.add(s, step.Tool{Type: step.InputText, Args: step.Args{Selector: element, Text: s.Value}})
}

// modifiers are the keys that are held while others are pressed.
var modifiers = map[string]string{"Control": "Control", "Shift": "Shift", "Alt": "Alt", "Meta": "Meta"}

func (r *reader) keyDown(s *recorded, _ bool) error {
	if s.Key == "" {
		return recording.Invalid(s.path+".key", "is missing")
	}
	if modifiers[s.Key] != "" {
		r.held = append(without(r.held, s.Key), s.Key)
		return nil
	}
	return r.Add(s.path, step.Tool{Type: step.PressKey, Args: step.Args{Key: strings.Join(append(without(r.held, ""), s.Key), "+")}})
}

func (r *reader) keyUp(s *recorded, _ bool) error {
	r.held = without(r.held, s.Key)
	return nil
}

// without returns a copy of a list without a name.
func without(list []string, name string) (rest []string) {
	for _, one := range list {
		if one != name {
			rest = append(rest, one)
		}
	}
	return rest
}

func (r *reader) scroll(s *recorded, _ bool) error {
	r.Warn(s.path, "scroll is left out: each step scrolls to its element")
	return nil
}

// wait reads waitForElement: how many elements there are, whether they are visible, and what their
// attributes are.
func (r *reader) wait(s *recorded, _ bool) error {
	if len(s.Properties) > 0 && string(s.Properties) != "null" && string(s.Properties) != "{}" {
		return recording.Invalid(s.path+".properties", "have no counterpart among the tools")
	}
	element, err := s.element()
	if err != nil {
		return err
	}
	element.Fingerprint = nil // assertions never use one
	matchers, err := s.matchers()
	if err != nil {
		return err
	}
	for _, m := range matchers {
		if err := r.add(s, step.Tool{Type: step.Assert, Args: step.Args{Selector: element, Matcher: m}}); err != nil {
			return err
		}
	}
	return nil
}

func (s *recorded) matchers() (all []*step.Matcher, err error) {
	hidden := s.Visible != nil && !*s.Visible
	modes := map[string]string{"": step.AtLeast, ">=": step.AtLeast, "==": step.Equals, "<=": step.AtMost}
	mode, ok := modes[s.Operator]
	count := 1
	if s.Count != nil {
		count = *s.Count
	}
	switch {
	case !ok:
		return nil, recording.Invalid(s.path+".operator", "must be >=, == or <=")
	case hidden && (s.Count != nil || s.Operator != "" || len(s.Attributes) > 0):
		return nil, recording.Invalid(s.path+".visible", "cannot be false beside count, operator and attributes")
	case hidden:
		return []*step.Matcher{{Name: step.Hidden}}, nil
	case mode == step.AtLeast && count == 1:
		all = append(all, &step.Matcher{Name: step.Visible})
	default:
		all = append(all, &step.Matcher{Name: step.Count, Args: step.MatcherArgs{Value: fmt.Sprint(count), Mode: mode}})
	}
	for _, name := range sorted(s.Attributes) {
		all = append(all, &step.Matcher{Name: step.AttributeIs, Args: step.MatcherArgs{Name: name, Value: s.Attributes[name]}})
	}
	return all, nil
}

// close is left out at the end: the window stays open, which nothing notices.
func (r *reader) close(s *recorded, last bool) error {
	if last {
		return nil
	}
	return s.refuse("close has no counterpart among the tools but at the end")
}
