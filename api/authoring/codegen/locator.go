package codegen

import (
	"strconv"
	"strings"

	"github.com/slipway-qa/slipway/api/authoring/recording"
	"github.com/slipway-qa/slipway/storage/step"
)

// location is what a chain of locators finds.
type location struct {
	selector *step.Selector
	frames   []*step.Selector
}

// finders are the locators that look for a text, and whose exact is told.
var finders = map[string]string{
	"getByText": step.ByText, "getByLabel": step.ByLabel, "getByPlaceholder": step.Placeholder,
	"getByAltText": step.AltText, "getByTitle": step.Title, "getByTestId": step.TestID,
}

// locate reads the locators at the beginning of a chain, and returns what is behind them.
func locate(chain []call) (*location, []call, error) {
	l := &location{}
	for i := range chain {
		known, err := l.narrow(&chain[i])
		if err != nil {
			return nil, nil, err
		}
		if !known {
			return l, chain[i:], nil
		}
	}
	return l, nil, nil
}

// narrow goes one locator on; known is false for what is none.
func (l *location) narrow(c *call) (known bool, err error) {
	switch kind := finders[c.name]; {
	case kind != "":
		return true, l.find(c, kind)
	case c.name == "getByRole":
		return true, l.role(c)
	case c.name == "locator":
		return true, l.css(c)
	case c.name == "frameLocator":
		if err := l.css(c); err != nil {
			return true, err
		}
		return true, l.frame(c)
	case c.name == "contentFrame":
		return true, l.frame(c)
	case c.name == "first", c.name == "last", c.name == "nth":
		return true, l.index(c)
	case c.name == "filter":
		return true, l.filter(c)
	}
	return false, nil
}

// add looks within what was found so far.
func (l *location) add(s *step.Selector) {
	s.Within, l.selector = l.selector, s
}

func (l *location) find(c *call, kind string) error {
	text, err := c.text(0)
	if err != nil {
		return err
	}
	options, err := c.options(1, "exact")
	if err != nil {
		return err
	}
	l.add(&step.Selector{Type: kind, Value: text, Exact: options["exact"].text == "true"})
	return nil
}

func (l *location) role(c *call) error {
	role, err := c.text(0)
	if err != nil {
		return err
	}
	options, err := c.options(1, "name", "exact", "level", "checked", "disabled", "expanded", "pressed", "selected", "includeHidden")
	if err != nil {
		return err
	}
	s := &step.Selector{Type: step.ByRole, Value: role, Exact: options["exact"].text == "true"}
	for name, v := range options {
		switch {
		case name == "exact":
		case name == "name" && v.kind == valueText:
			s.Name = v.text
		case name == "level" && v.kind == valueNumber:
			s.Level, _ = strconv.Atoi(v.text) // one that is none finds any level, which Validate lets pass
		case v.kind == valueWord && (v.text == "true" || v.text == "false") && name != "includeHidden":
			if s.State == nil {
				s.State = map[string]bool{}
			}
			s.State[name] = v.text == "true"
		default:
			return recording.Invalid(at(c.line),
				"the option %s of getByRole must be a text in quotes, a number, true or false; includeHidden has no counterpart", name)
		}
	}
	if s.Name == "" {
		s.Exact = false
	}
	l.add(s)
	return nil
}

// css reads locator('css'), locator('xpath=...') and locator('text=...').
func (l *location) css(c *call) error {
	text, err := c.text(0)
	if err != nil {
		return err
	}
	s := &step.Selector{Type: step.CSS, Value: text}
	switch kind, value, _ := strings.Cut(text, "="); {
	case strings.Contains(text, ">>") || strings.HasPrefix(text, "internal:"):
		return recording.Invalid(at(c.line), "the locator %q is one of Playwright's own: name the element by getBy... or CSS", clip(text))
	case strings.HasPrefix(text, "//") || strings.HasPrefix(text, ".."):
		s.Type = step.XPath
	case kind == "xpath" || kind == "css" || kind == "text" || kind == "id" || kind == "data-testid":
		s.Type = map[string]string{"xpath": step.XPath, "css": step.CSS, "text": step.ByText, "id": step.CSS, "data-testid": step.TestID}[kind]
		s.Value = value
		if kind == "id" {
			s.Value = "[id=" + strconv.Quote(value) + "]"
		}
	}
	options, err := c.options(1, "hasText", "has")
	if err != nil {
		return err
	}
	l.add(s)
	return l.has(c, options)
}

func clip(text string) string {
	if len(text) > 100 {
		return strings.ToValidUTF8(text[:100], "")
	}
	return text
}

// frame goes into the frame that was found.
func (l *location) frame(c *call) error {
	if l.selector == nil {
		return recording.Invalid(at(c.line), "%s has no frame before it", c.name)
	}
	l.frames = append(l.frames, l.selector)
	l.selector = nil
	return nil
}

func (l *location) index(c *call) error {
	n := map[string]int{"first": 0, "last": -1}[c.name]
	if c.name == "nth" {
		var err error
		if len(c.args) != 1 {
			return recording.Invalid(at(c.line), "nth needs a number")
		}
		if n, err = strconv.Atoi(c.args[0].text); err != nil || n < -1 {
			return recording.Invalid(at(c.line), "nth needs a number from 0, or -1 for the last")
		}
	}
	if l.selector == nil || l.selector.Index != nil {
		return recording.Invalid(at(c.line), "%s has no locator before it", c.name)
	}
	l.selector.Index = &n
	return nil
}

func (l *location) filter(c *call) error {
	options, err := c.options(0, "hasText", "has")
	if err != nil {
		return err
	}
	return l.has(c, options)
}

// has narrows what was found by what is inside of it.
func (l *location) has(c *call, options map[string]value) error {
	if len(options) == 0 {
		return nil
	}
	s := l.selector
	if s == nil || s.Index != nil || s.Has != nil || s.HasText != "" {
		return recording.Invalid(at(c.line), "a filter must stand behind its locator, before first, last and nth, and once")
	}
	if text, ok := options["hasText"]; ok {
		if text.kind != valueText {
			return recording.Invalid(at(c.line), "hasText needs a text in quotes")
		}
		s.HasText = text.text
	}
	inner, ok := options["has"]
	if !ok {
		return nil
	}
	if inner.kind != valueChain {
		return recording.Invalid(at(c.line), "has needs a locator")
	}
	chain := inner.chain
	if !chain[0].called { // page.getBy...
		chain = chain[1:]
	}
	found, rest, err := locate(chain)
	if err != nil {
		return err
	}
	if len(rest) > 0 || found.selector == nil || len(found.frames) > 0 {
		return recording.Invalid(at(c.line), "has needs a locator")
	}
	s.Has = found.selector
	return nil
}
