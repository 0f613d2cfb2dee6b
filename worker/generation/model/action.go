package model

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

const (
	// maxWait bounds a wait, in milliseconds.
	maxWait = 10_000
	// maxReason bounds the reasons of a model, in bytes.
	maxReason = 500
)

// action is a step to be done on elements of the current page.
type action struct {
	tool     step.Tool
	on, onto string // refs of the element, and of what a drag ends on; "" without
}

// asserts reports whether the step is an assertion.
func (a *action) asserts() bool { return a.tool.Type == step.Assert }

// actionOf returns the action of a call, when the rules allow it.
func (c *check) actionOf(s *snapshot.Snapshot, name string, args *arguments) (action, error) {
	if s.Dialog != nil && name != step.HandleDialog {
		return action{}, errors.New("a dialog of the browser is open: answer it first with handle_dialog")
	}
	a := action{tool: step.Tool{Type: name}, on: args.Ref}
	set := &a.tool.Args
	set.Reasoning = shorten(args.Reason, maxReason)
	at := -1
	if args.Ref != "" {
		if at = find(s, args.Ref); at < 0 {
			return a, fmt.Errorf("there is no element with the ref %q on the page", shorten(args.Ref, maxCalled))
		}
	}
	switch name {
	case step.Click, step.DoubleClick, step.RightClick, step.Hover:
		return a, c.act(s, at)
	case "fill":
		a.tool.Type, set.Text = step.InputText, args.Text
		return a, c.text(s, *args.Text)
	case step.TypeKeys:
		set.Text = args.Text
		return a, c.text(s, *args.Text)
	case step.Select:
		set.OptionValue = args.Option
		return a, c.option(s, *args.Option)
	case step.PressKey:
		set.Key = args.Key
		return a, c.press(args.Key)
	case "scroll":
		a.tool.Type, set.Direction = step.ScrollDocument, args.Direction
		if a.on != "" {
			a.tool.Type = step.ScrollElement
		}
		return a, nil
	case step.Drag:
		a.on, a.onto = args.From, args.To
		return a, c.drag(s, args.From, args.To)
	case step.GoToURL:
		set.URL = args.URL
		return a, c.open(args.URL)
	case "wait":
		a.tool.Type, set.Time = step.Pause, args.Milliseconds
		if *set.Time < 0 || *set.Time > maxWait {
			return a, fmt.Errorf("milliseconds must be 0 to %d", maxWait)
		}
		return a, nil
	case step.HandleDialog:
		set.Action, set.Text = args.Action, args.Text
		if err := c.dialog(s.Dialog, args.Action); err != nil || args.Text == nil {
			return a, err
		}
		return a, c.text(s, *args.Text)
	case step.SwitchWindow:
		set.Matcher = &step.Matcher{Name: step.WindowNew}
		if args.Index != nil {
			set.Matcher = &step.Matcher{Name: step.WindowIndex, Args: step.MatcherArgs{Value: strconv.Itoa(*args.Index)}}
		}
		return a, nil
	}
	a.tool.Type, set.Not = step.Assert, args.Not
	return a, c.assertion(s, name, args, set, at)
}

// assertion sets the matcher of an assertion. What it compares with must be in the
// intent: it is asked for, and not what the page happens to show.
func (c *check) assertion(s *snapshot.Snapshot, name string, args *arguments, set *step.Args, at int) error {
	value := ""
	if args.Text != nil {
		value = *args.Text
	}
	matcher := step.Matcher{Args: step.MatcherArgs{Value: value, Mode: args.Mode}}
	switch name {
	case "assert_visible":
		set.Matcher = &step.Matcher{Name: step.Visible}
		if !c.related(s, at) && !c.picks(&s.Nodes[at]) && !isMessage(&s.Nodes[at]) {
			return refuse("%s has nothing to do with the task", describe(&s.Nodes[at]))
		}
		return nil
	case "assert_absent":
		set.Matcher = &step.Matcher{Name: step.Hidden}
		set.Selector = &step.Selector{Type: step.ByText, Value: value}
		if strings.TrimSpace(value) == "" {
			return errors.New("text is missing")
		}
	case "assert_checked", "assert_enabled":
		set.Matcher = &step.Matcher{Name: strings.TrimPrefix(name, "assert_")}
		if !c.related(s, at) && !c.picks(&s.Nodes[at]) {
			return refuse("%s has nothing to do with the task", describe(&s.Nodes[at]))
		}
		return nil
	case "assert_count":
		matcher.Name, matcher.Args.Value = step.Count, strconv.Itoa(*args.Count)
		set.Selector, set.Matcher = &step.Selector{Type: step.ByRole, Value: args.Role, Name: args.Name}, &matcher
		if err := c.text(s, args.Name); err != nil {
			return err
		}
		return c.text(s, matcher.Args.Value)
	default: // assert_text, assert_value, assert_url, assert_title: as the matchers are called
		matcher.Name = strings.TrimPrefix(name, "assert_")
		set.Matcher = &matcher
	}
	return c.text(s, value)
}

// messageRoles are roles of what pages say of what has happened.
var messageRoles = []string{"alert", "status", "log", "dialog", "alertdialog", "heading"}

func isMessage(n *snapshot.Node) bool {
	for _, role := range messageRoles {
		if n.Role == role {
			return true
		}
	}
	return false
}

// option checks a choice of a list as a click on it.
func (c *check) option(s *snapshot.Snapshot, option string) error {
	if what := c.clause.unasked(option); what != "" {
		return refuse("the task does not ask to %s", what)
	}
	if c.whole.shares(option) || c.clause.describes() {
		return nil
	}
	return c.text(s, option)
}

// drag checks both ends: one of them must have to do with the task.
func (c *check) drag(s *snapshot.Snapshot, from, to string) error {
	first, last := find(s, from), find(s, to)
	if first < 0 || last < 0 {
		return errors.New("there is no element with one of these refs on the page")
	}
	for _, at := range []int{first, last} {
		if what := c.clause.unasked(actionNames(&s.Nodes[at])...); what != "" {
			return refuse("the task does not ask to %s", what)
		}
	}
	if c.related(s, first) || c.related(s, last) || c.clause.describes() {
		return nil
	}
	return refuse("neither element has anything to do with the task")
}

// find returns the index of the element of a ref; -1 when there is none. A run of text
// has the ref of its element, which comes first.
func find(s *snapshot.Snapshot, ref string) int {
	for i := range s.Nodes {
		if s.Nodes[i].Ref == ref {
			return i
		}
	}
	return -1
}

// place sets the selectors of an action by which a replay finds its elements, inside
// of the frames that they are in. found are those of its refs.
func (a *action) place(found []snapshot.Located) (step.Step, error) {
	tool := a.tool
	if len(found) > 0 {
		tool.Args.Selector = &found[0].Selector
	}
	if len(found) > 1 {
		tool.Args.Target = &found[1].Selector
	}
	for _, f := range found {
		if f.Selector.Type == "" {
			return step.Step{}, errors.New("the element is gone")
		}
	}
	if len(found) > 1 && !sameFrames(found[0].Frames, found[1].Frames) {
		return step.Step{}, errors.New("the elements are in different frames")
	}
	if len(found) > 0 {
		frames := found[0].Frames
		for i := len(frames) - 1; i >= 0; i-- {
			inner := tool
			tool = step.Tool{Type: step.InFrame, Args: step.Args{Selector: &frames[i], Tool: &inner, Reasoning: inner.Args.Reasoning}}
		}
	}
	s := step.Step{Tool: tool}
	// The same rules as for steps from outside: a model wrote the arguments.
	if err := step.Validate([]step.Step{s}); err != nil {
		return s, err
	}
	return s, nil
}

func sameFrames(a, b []step.Selector) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].Type != b[i].Type || a[i].Value != b[i].Value {
			return false
		}
	}
	return true
}
