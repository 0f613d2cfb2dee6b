package plan

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

const (
	// listTime is how long a list may take to open, and a field to suggest something.
	listTime = 2 * time.Second
	// maxLists are opened when a value is looked for and it is not said where.
	maxLists = 4
	// maxListTurns bounds how far an open list is scrolled.
	maxListTurns = 12
)

// anywhere chooses a value where it is not said out of what.
func (c chooser) anywhere(ctx context.Context, v *view, text, next string) error {
	lists := v.within(-1, func(n *snapshot.Node) bool { return !n.Hidden && !n.Disabled && optionOf(n, text) >= 0 })
	for k, i := range lists { // those that something else shows are opened there
		if at := standIn(v, i); at != i && len(lists) == 1 {
			return c.opened(ctx, v, at, text, next)
		} else if at != i {
			lists[k] = at
		}
	}
	fresh := map[string]bool(nil)
	if i, err := c.optionIn(v, -1, text, c.seen); err == nil && i >= 0 {
		return c.take(ctx, v, i, text, next)
	}
	i, err := c.optionIn(v, -1, text, fresh)
	switch {
	case err != nil:
		return err
	case len(lists) > 1:
		return c.notUnderstood("several lists have the option "+strconv.Quote(text), v.candidate(lists[0]), v.candidate(lists[1]))
	case len(lists) == 1 && (i < 0 || !slices.Contains(choosable, v.Nodes[i].Role)):
		return c.native(ctx, v, lists[0], text)
	case len(lists) == 1:
		return c.notUnderstood("several are called "+strconv.Quote(text), v.candidate(lists[0]), v.candidate(i))
	case i >= 0:
		return c.take(ctx, v, i, text, next)
	}
	closed := v.within(-1, func(n *snapshot.Node) bool {
		return !n.Hidden && !n.Disabled && len(n.Options) == 0 && (n.Role == "combobox" || n.Popup == "listbox" || n.Popup == "menu" || n.Popup == "true" || n.Editable && n.ReadOnly)
	})
	var last error
	for _, at := range closed[:min(len(closed), maxLists)] {
		mark, ref := c.mark(), v.Nodes[at].Ref
		if last = c.opened(ctx, v, at, text, next); last == nil || !isNotUnderstood(last) {
			return last
		}
		c.drop(mark, nil)
		if v, err = c.look(ctx); err != nil {
			return err
		}
		if at = v.find(ref); at < 0 {
			return last
		}
	}
	return c.described(ctx, &intent.Phrase{Text: text, Name: text, Exact: true})
}

// opened opens a list, or makes a field suggest, and chooses a value there.
func (c chooser) opened(ctx context.Context, v *view, at int, text, next string) error {
	n := &v.Nodes[at]
	if !n.Interactive && n.Reacts == "" && !n.Editable && n.Role != "combobox" {
		inner := v.within(at, func(n *snapshot.Node) bool {
			return !n.Hidden && (n.Role == "combobox" || n.Editable || n.Popup != "" || n.Role == "button" && n.Expanded != "")
		})
		if len(inner) != 1 {
			return c.notUnderstood(strconv.Quote(text)+" is nothing to choose in "+describeNode(n), c.nearest(v, at)...)
		}
		at = inner[0]
		n = &v.Nodes[at]
	}
	ref, field := n.Ref, *n
	mark := c.mark()
	if n.Expanded != "true" {
		if err := c.openList(ctx, v, at); err != nil {
			return err
		}
	}
	before := v.visibleRefs()
	most := listTime
	if n.Editable {
		most = listTime / 2
	}
	now, found, err := c.awaitOption(ctx, before, text, most)
	if err != nil {
		return err
	}
	if found >= 0 {
		return c.takeFrom(ctx, now, found, text, ref, next)
	}
	if !differs(v, now) && field.Editable {
		c.drop(mark, nil) // the click only put the cursor there
	}
	typed, err := c.suggested(ctx, now, ref, before, text, next)
	if typed || err != nil {
		return err
	}
	if now, found, err = c.scrolled(ctx, before, text); err != nil || found >= 0 {
		if err != nil {
			return err
		}
		return c.takeFrom(ctx, now, found, text, ref, next)
	}
	if now.node(ref) != nil && differs(v, now) {
		_, err = c.try(ctx, action{tool: step.PressKey, args: step.Args{Key: "Escape"}, why: "closes the list"})
		if err != nil {
			return err
		}
	}
	return c.notUnderstood(describeNode(&field) + " does not offer " + strconv.Quote(text))
}

// openList clicks on what opens a list. Where a text lies over it, that is clicked on.
func (c chooser) openList(ctx context.Context, v *view, at int) error {
	n := &v.Nodes[at]
	tries := []string{n.Ref}
	if cover := v.find(n.Cover); n.Covered && cover >= 0 && n.Parent >= 0 && !v.Nodes[cover].Modal {
		tries = []string{v.Nodes[cover].Ref, v.Nodes[n.Parent].Ref, n.Ref}
	} else if n.Box[2] < 6 && n.Parent >= 0 {
		tries = []string{v.Nodes[n.Parent].Ref, n.Ref}
	}
	var record step.Record
	var err error
	for _, ref := range tries {
		record, err = c.try(ctx, action{tool: step.Click, on: ref, why: "opens the list of " + describeNode(n)})
		if err != nil || record.Result.Success {
			return err
		}
	}
	return &FailedError{Code: codeStepFailed, Detail: c.understood() + ": " + record.Result.Message}
}

// awaitOption waits for an option that was not seen before.
func (c chooser) awaitOption(ctx context.Context, before map[string]bool, text string, most time.Duration) (*view, int, error) {
	found := -1
	var several error
	now, _, err := c.until(ctx, most, func(v *view) bool {
		found, several = c.optionIn(v, -1, text, before)
		return found >= 0
	})
	if err != nil || found >= 0 {
		return now, found, err
	}
	return now, found, several
}

// takeFrom chooses an option of an open list.
func (c chooser) takeFrom(ctx context.Context, v *view, i int, text, ref, next string) error {
	c.planner.focus.target = ref
	return c.take(ctx, v, i, text, next)
}

// suggested types a value into a field, or into the field of the list that it opened, and
// chooses what is suggested. It reports whether it came to an end.
func (c chooser) suggested(ctx context.Context, v *view, ref string, before map[string]bool, text, next string) (bool, error) {
	field := v.node(ref)
	if field == nil || !field.Editable || field.ReadOnly {
		field = nil
		for i := range v.Nodes {
			n := &v.Nodes[i]
			if n.Editable && !n.ReadOnly && !n.Hidden && (n.Focused || !before[n.Ref]) {
				field = n
				break
			}
		}
	}
	if field == nil {
		return false, nil
	}
	on, plain := field.Ref, field.Role == "textbox" || field.Role == "spinbutton"
	seen := v.visibleRefs()
	if !before[on] { // the list is open, and what it shows is filtered
		seen = before
	}
	mark := c.mark()
	for _, keys := range []bool{false, true} {
		c.drop(mark, nil)
		if err := c.typeValue(ctx, on, text, keys); err != nil {
			return true, err
		}
		now, found, err := c.awaitOption(ctx, seen, text, listTime)
		if err != nil {
			return true, err
		}
		if found >= 0 {
			return true, c.takeFrom(ctx, now, found, text, ref, next)
		}
		if !differs(v, now) {
			continue
		}
	}
	now, err := c.look(ctx)
	if err != nil {
		return true, err
	}
	if n := now.node(on); plain && on == ref && n != nil && likeness(n.Value, text) >= 0.8 && !hasAny(n.Hints, []string{"autocomplete", "combobox", "select", "typeahead"}) {
		return true, nil // a field that suggests nothing, and holds the value
	}
	return false, nil
}

// typeValue puts a text into a field, or types it key by key where a page listens to keys.
func (c chooser) typeValue(ctx context.Context, on, text string, keys bool) error {
	value := text
	if keys {
		value = ""
	}
	if err := c.do(ctx, action{tool: step.InputText, on: on, args: step.Args{Text: &value}, why: "what is looked for"}); err != nil || !keys {
		return err
	}
	return c.do(ctx, action{tool: step.TypeKeys, on: on, args: step.Args{Text: &text}, why: "the page listens to keys"})
}

// scrolled scrolls an open list until it shows an option.
func (c chooser) scrolled(ctx context.Context, before map[string]bool, text string) (*view, int, error) {
	mark := c.mark()
	for range maxListTurns {
		v, err := c.look(ctx)
		if err != nil {
			return nil, -1, err
		}
		list := v.within(-1, func(n *snapshot.Node) bool {
			return !n.Hidden && !before[n.Ref] && (n.Scrolls == "y" || n.Scrolls == "xy")
		})
		if len(list) == 0 {
			return v, -1, nil
		}
		record, err := c.try(ctx, action{tool: step.ScrollElement, on: v.Nodes[list[len(list)-1]].Ref, args: step.Args{Direction: "down"}, why: "the list has more"})
		if err != nil {
			return nil, -1, err
		}
		now, found, err := c.awaitOption(ctx, before, text, 0)
		if err != nil || found >= 0 {
			return now, found, err
		}
		if !record.Result.Success {
			break
		}
	}
	c.drop(mark, nil)
	v, err := c.look(ctx)
	return v, -1, err
}

// nearest returns what could be chosen inside of a node, for people.
func (c chooser) nearest(v *view, at int) []Candidate {
	var list []Candidate
	for _, i := range v.within(at, func(n *snapshot.Node) bool { return !n.Hidden && slices.Contains(choosable, n.Role) }) {
		if list = append(list, v.candidate(i)); len(list) == 5 {
			break
		}
	}
	return list
}
