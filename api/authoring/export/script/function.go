package script

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/slipway-qa/slipway/storage/step"
)

// Function is a step group that is written as a function.
type Function struct {
	Name       string // runSignIn
	Label      string // for a comment
	Parameters []string
	Moves      []Move
}

// Call is a call of a function with the values of the group's parameters.
type Call struct {
	Function string
	Given    []Argument // in the order of their names
}

// Argument is a parameter of a group with its value.
type Argument struct {
	Name  string
	Value Text
}

// asFunction writes the group that a step runs as a function and returns its call. ok is false
// where the steps stand as they are: where they end the test, are each optional, or belong
// together with a step outside of the group. first is the first step on a page.
func (s *Script) asFunction(c *Case, i, first int, optional bool) (call *Call, ok bool, err error) {
	end := c.place(i).End
	if s.functions == nil || optional || end <= i+1 || !s.standsAlone(c, i, end, first) {
		return nil, false, nil
	}
	in, values := c.place(i+1).Group, c.place(i+1).Values
	key := in.ID + " " + in.RevisionID
	f := s.functions[key]
	if f == nil {
		name := "run" + newTitle(in.Name, "group").Pascal()
		for n := 2; s.functionNames[name]; n++ {
			name = "run" + newTitle(in.Name, "group").Pascal() + strconv.Itoa(n)
		}
		f = &Function{Name: name, Label: Comment("Step group: " + in.Name + "."), Parameters: slices.Sorted(maps.Keys(values))}
		s.functionNames[name] = true
		if f.Moves, err = s.functionMoves(c, i+1, end); err != nil {
			return nil, false, err
		}
		s.functions[key] = f
		s.Order = append(s.Order, f) // behind those that it calls
	}
	call = &Call{Function: f.Name}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		value, given := c.Steps[i].Tool.Args.With[name]
		if !given {
			value = values[name]
		}
		call.Given = append(call.Given, Argument{name, s.Env.Read(value)})
	}
	return call, true, nil
}

// functionMoves reads the steps of a group, whose parameters stay what they are.
func (s *Script) functionMoves(c *Case, from, to int) (moves []Move, err error) {
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
		m := Move{Tool: &c.Steps[i].Tool, Path: path + ".tool", Note: Comment("Step group: " + c.groupName(i) + ".")}
		if c.place(i).End > i+1 { // standsAlone let no other in
			if m.Call, _, err = s.asFunction(c, i, -1, false); err != nil {
				return nil, err
			}
			if w := c.Steps[i].When; w != nil {
				if m.When, err = s.readCondition(path+".when", w, nil); err != nil {
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
func (s *Script) standsAlone(c *Case, i, end, first int) bool {
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
