package codegen

import (
	"strconv"
	"strings"

	"github.com/slipway-qa/slipway/api/authoring/recording"
	"github.com/slipway-qa/slipway/storage/step"
)

// plainMatchers are the assertions that compare nothing.
var plainMatchers = map[string]step.Matcher{
	"toBeVisible": {Name: step.Visible}, "toBeHidden": {Name: step.Hidden}, "toBeChecked": {Name: step.Checked},
	"toBeEnabled": {Name: step.Enabled}, "toBeFocused": {Name: step.Focused}, "toBeEmpty": {Name: step.ValueIs,
		Args: step.MatcherArgs{Mode: step.Equals}},
}

// texts are the assertions that compare a text, with the mode of one in quotes.
var texts = map[string]step.Matcher{
	"toHaveText": {Name: step.TextIs, Args: step.MatcherArgs{Mode: step.Equals}}, "toContainText": {Name: step.TextIs,
		Args: step.MatcherArgs{Mode: step.Contains}},
	"toHaveValue": {Name: step.ValueIs, Args: step.MatcherArgs{Mode: step.Equals}},
	"toHaveURL":   {Name: step.URLIs, Args: step.MatcherArgs{Mode: step.Equals}}, "toHaveTitle": {Name: step.TitleIs,
		Args: step.MatcherArgs{Mode: step.Equals}},
}

// expect reads expect(locator).toBeVisible() and its like.
func (r *reader) expect(chain []call) error {
	of, rest := &chain[0], chain[1:]
	not := len(rest) > 0 && rest[0].name == "not" && !rest[0].called
	if not {
		rest = rest[1:]
	}
	if len(of.args) != 1 || len(rest) != 1 || !rest[0].called {
		return refuse(&chain[len(chain)-1])
	}
	l, number, err := r.subject(of)
	if err != nil {
		return err
	}
	m, off, err := rest[0].matcher(l.selector != nil)
	if err != nil {
		return err
	}
	if err := r.InWindow(at(of.line), number); err != nil {
		return err
	}
	return r.add(of.line, step.Tool{Type: step.Assert, Args: step.Args{Selector: l.selector, Not: not != off, Matcher: m}}, l.frames)
}

// subject is what an assertion is about: a page, or an element of one.
func (r *reader) subject(of *call) (*location, int, error) {
	v := of.args[0]
	name := v.text
	if v.kind == valueChain {
		name = v.chain[0].name
	}
	number, ok := r.pages[name]
	switch {
	case !ok || v.kind != valueChain && v.kind != valueWord:
		return nil, 0, recording.Invalid(at(of.line), "expect needs a page or a locator of one")
	case v.kind == valueWord:
		return &location{}, number, nil
	}
	l, rest, err := locate(v.chain[1:])
	if err != nil {
		return nil, 0, err
	}
	if len(rest) > 0 || l.selector == nil {
		return nil, 0, recording.Invalid(at(of.line), "expect needs a page or a locator of one")
	}
	return l, number, nil
}

// matcher returns what an assertion compares; off is true for one that is the opposite.
func (c *call) matcher(ofElement bool) (m *step.Matcher, off bool, err error) {
	page := c.name == "toHaveURL" || c.name == "toHaveTitle"
	if page == ofElement {
		return nil, false, refuse(c)
	}
	if text, ok := texts[c.name]; ok {
		m, err = c.compared(text.Name, text.Args.Mode)
		return m, false, err
	}
	if plain, ok := plainMatchers[c.name]; ok {
		options, err := c.options(0, "checked", "visible", "enabled")
		for _, v := range options {
			off = v.text == "false"
		}
		return &plain, off, err
	}
	switch c.name {
	case "toBeDisabled":
		_, err = c.options(0)
		return &step.Matcher{Name: step.Enabled}, true, err
	case "toHaveCount":
		n, err := c.number(0)
		return &step.Matcher{Name: step.Count, Args: step.MatcherArgs{Value: strconv.Itoa(n)}}, false, err
	case "toHaveAttribute":
		name, err := c.text(0)
		if err != nil {
			return nil, false, err
		}
		m, err = (&call{name: c.name, args: c.args[1:], line: c.line}).compared(step.AttributeIs, step.Equals)
		if m != nil {
			m.Args.Name = name
		}
		return m, false, err
	}
	return nil, false, refuse(c)
}

// compared returns a matcher of a text in quotes, or of a pattern.
func (c *call) compared(name, mode string) (*step.Matcher, error) {
	if len(c.args) == 0 {
		return nil, recording.Invalid(at(c.line), "%s needs a text or a pattern", shown(c.name))
	}
	v := c.args[0]
	m := &step.Matcher{Name: name, Args: step.MatcherArgs{Value: v.text, Mode: mode}}
	switch {
	case v.kind == valueRegexp:
		if strings.Trim(v.flags, "imsu") != "" {
			return nil, recording.Invalid(at(c.line), "the flags %s of a pattern have no counterpart", v.flags)
		}
		m.Args.Mode = step.Matches
		if flags := strings.ReplaceAll(v.flags, "u", ""); flags != "" {
			m.Args.Value = "(?" + flags + ")" + v.text
		}
	case v.kind != valueText:
		return nil, recording.Invalid(at(c.line), "%s needs a text in quotes, or a pattern", shown(c.name))
	}
	options, err := c.options(1, "ignoreCase")
	if err != nil {
		return nil, err
	}
	if options["ignoreCase"].text == "true" {
		return nil, recording.Invalid(at(c.line), "ignoreCase has no counterpart: use a pattern with the flag i")
	}
	return m, nil
}
