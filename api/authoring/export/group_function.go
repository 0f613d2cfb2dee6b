package export

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/slipway-qa/slipway/storage/step"
)

// groupFunction is a step group that is written as a function.
type groupFunction struct {
	name       string // runSignIn
	label      string // for a comment
	parameters []string
	moves      []move
}

// groupCall is a call of a function with the values of the group's parameters.
type groupCall struct {
	function string
	given    []argument // in the order of their names
}

type argument struct {
	name  string
	value text
}

// asFunction writes the group that a step runs as a function and returns its call. ok is false
// where the steps stand as they are: where they end the test, are each optional, or belong
// together with a step outside of the group. first is the first step on a page.
func (s *script) asFunction(c *Case, i, first int, optional bool) (call *groupCall, ok bool, err error) {
	end := c.place(i).End
	if s.functions == nil || optional || end <= i+1 || !s.standsAlone(c, i, end, first) {
		return nil, false, nil
	}
	in, values := c.place(i+1).Group, c.place(i+1).Values
	key := in.ID + " " + in.RevisionID
	f := s.functions[key]
	if f == nil {
		name := "run" + newTitle(in.Name, "group").pascal()
		for n := 2; s.functionNames[name]; n++ {
			name = "run" + newTitle(in.Name, "group").pascal() + strconv.Itoa(n)
		}
		f = &groupFunction{name: name, label: comment("Step group: " + in.Name + "."), parameters: slices.Sorted(maps.Keys(values))}
		s.functionNames[name] = true
		if f.moves, err = s.functionMoves(c, i+1, end); err != nil {
			return nil, false, err
		}
		s.functions[key] = f
		s.order = append(s.order, f) // behind those that it calls
	}
	call = &groupCall{function: f.name}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		value, given := c.Steps[i].Tool.Args.With[name]
		if !given {
			value = values[name]
		}
		call.given = append(call.given, argument{name, s.env.read(value)})
	}
	return call, true, nil
}

// functionMoves reads the steps of a group, whose parameters stay what they are.
func (s *script) functionMoves(c *Case, from, to int) (moves []move, err error) {
	for i := from; i < to; i++ {
		path := fmt.Sprintf("steps[%d]", i)
		if c.Steps[i].Tool.Type != step.RunGroup {
			m, err := s.read(path+".tool", &c.Steps[i])
			if err != nil {
				return nil, err
			}
			moves = append(moves, m)
			continue
		}
		m := move{tool: &c.Steps[i].Tool, path: path + ".tool", note: comment("Step group: " + c.groupName(i) + ".")}
		if c.place(i).End > i+1 { // standsAlone let no other in
			if m.call, _, err = s.asFunction(c, i, -1, false); err != nil {
				return nil, err
			}
			if w := c.Steps[i].When; w != nil {
				if m.when, err = s.readCondition(path+".when", w, nil); err != nil {
					return nil, err
				}
			}
			i = c.place(i).End - 1
		}
		moves = append(moves, m)
	}
	return moves, nil
}

// standsAlone reports whether the steps of a group can stand in a function.
func (s *script) standsAlone(c *Case, i, end, first int) bool {
	if first > i {
		// The page is opened among its steps, or behind them.
		if first >= end || slices.ContainsFunc(c.Steps[i+1:first], func(s step.Step) bool { return s.Tool.Type != step.RunGroup }) {
			return false
		}
	}
	for k := i + 1; k < end; k++ {
		at := &c.Steps[k]
		switch {
		case at.Tool.Type == step.Finish, at.Tool.Type == step.RunGroup && at.Optional, !parametersAreTexts(at):
			return false
		case at.Tool.Type == step.RunGroup && (leans(c, k+1, c.place(k).End) || leans(c, c.place(k).End, end)):
			return false
		}
	}
	return !leans(c, i+1, end) && !leans(c, end, len(c.Steps))
}

// leans reports whether the first of some steps that does anything belongs to the one before
// it: it handles its dialog, or waits for what it caused.
func leans(c *Case, from, to int) bool {
	for ; from < to; from++ {
		switch c.Steps[from].Tool.Type {
		case step.Pause, step.SwitchWindow, step.RunGroup:
			continue
		case step.HandleDialog, step.WaitForRequest, step.WaitForResponse, step.WaitForDownload:
			return true
		}
		return false
	}
	return false
}

// parametersAreTexts reports whether a step has parameters only where their values are taken as
// texts when the code runs: none is a pattern, a key or a number of an option.
func parametersAreTexts(s *step.Step) bool {
	bare := *s
	a := &bare.Tool.Args
	for in := &bare.Tool; in.Args.Tool != nil; { // frames and shadow roots have selectors alone
		inner := *in.Args.Tool
		in.Args.Tool, in.Args.Selector = &inner, withoutTexts(in.Args.Selector)
		in = &inner
		a = &inner.Args
	}
	a.URL, a.Text, a.OptionValue, a.Value = withoutGlob(s, a.URL), nil, withoutIndex(a.OptionValue), nil
	a.Selector, a.Target = withoutTexts(a.Selector), withoutTexts(a.Target)
	if m := a.Matcher; m != nil && m.Args.Mode != step.Matches {
		without := *m
		without.Args.Value = ""
		a.Matcher = &without
	}
	if a.With != nil { // read as texts
		a.With = nil
	}
	if w := bare.When; w != nil {
		without := *w
		without.Selector = withoutTexts(w.Selector)
		if w.Matcher != nil && w.Matcher.Args.Mode != step.Matches {
			m := *w.Matcher
			m.Args.Value = ""
			without.Matcher = &m
		}
		bare.When = &without
	}
	return len(step.Parameters(&bare)) == 0
}

func withoutGlob(s *step.Step, url string) string {
	if s.Tool.Type == step.GoToURL {
		return ""
	}
	return url
}

// withoutIndex drops an option that cannot be one by its place.
func withoutIndex(option *string) *string {
	if option != nil && len(*option) > 0 && (*option)[0] == '{' {
		return option
	}
	return nil
}

// withoutTexts drops what selectors read as texts.
func withoutTexts(s *step.Selector) *step.Selector {
	if s == nil || s.Type == step.XPath || s.Type == step.CSS {
		return s
	}
	bare := *s
	bare.Value, bare.Name, bare.HasText = "x", "", ""
	bare.Within, bare.Has = withoutTexts(s.Within), withoutTexts(s.Has)
	return &bare
}

// statement is the call.
func (c *groupCall) statement() string { return c.function + "(" + c.object() + ");" }

// object are the values of a call as members of an object of JavaScript.
func (c *groupCall) object() string {
	if len(c.given) == 0 {
		return ""
	}
	var o objectMembers
	for _, a := range c.given {
		key := a.name
		if !identifier.MatchString(key) || key == "__proto__" {
			key = javaScriptKey(key)
		}
		o.add(key, javaScriptText(a.value))
	}
	return o.String()
}
