package plan

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// optionOf returns the index of the option of a native list that has a text; -1 without.
func optionOf(n *snapshot.Node, text string) int {
	best, score := -1, 0.7
	for i, o := range n.Options {
		s := likeness(o.Label, text)
		if o.Value == text {
			s = max(s, 0.85)
		}
		if s > score {
			best, score = i, s
		}
	}
	if best >= 0 {
		return best
	}
	for i, o := range n.Options { // the only one that has the words
		if likeness(o.Label, text) >= 0.5 {
			if best >= 0 {
				return -1
			}
			best = i
		}
	}
	return best
}

// nativeIn returns the native list that a node is or has inside, with a text as one of its
// options.
func (c chooser) nativeIn(v *view, at int, text string) (list int, ok bool, err error) {
	if v.replaced(at) {
		return -1, false, nil
	}
	if len(v.Nodes[at].Options) > 0 {
		if optionOf(&v.Nodes[at], text) < 0 {
			return at, false, c.notUnderstood(describeNode(&v.Nodes[at])+" has no option "+strconv.Quote(text), optionsOf(&v.Nodes[at])...)
		}
		return at, true, nil
	}
	found := slices.DeleteFunc(v.within(at, func(n *snapshot.Node) bool { return !n.Hidden && optionOf(n, text) >= 0 }), v.replaced)
	if len(found) == 1 {
		return found[0], true, nil
	}
	return -1, false, nil
}

// optionsOf returns the options of a native list as candidates, for people.
func optionsOf(n *snapshot.Node) []Candidate {
	var list []Candidate
	for _, o := range n.Options[:min(len(n.Options), 5)] {
		list = append(list, Candidate{What: "option " + strconv.Quote(shorten(o.Label, 60)), Why: "an option of the list"})
	}
	return list
}

// native chooses an option of a native list, and looks whether it is selected then.
func (c chooser) native(ctx context.Context, v *view, list int, text string) error {
	n := &v.Nodes[list]
	return c.nativeOption(ctx, n, optionOf(n, text))
}

func (c chooser) nativeOption(ctx context.Context, n *snapshot.Node, index int) error {
	o := n.Options[index]
	if o.Disabled {
		return c.notUnderstood("the option " + strconv.Quote(o.Label) + " is disabled")
	}
	wanted := o.Label
	if optionsAlike(n, o.Label) > 1 || o.Label == "" {
		wanted = o.Value
	}
	c.focus.target = n.Ref
	if err := c.do(ctx, action{tool: step.Select, on: n.Ref, args: step.Args{OptionValue: &wanted}, why: "the option " + strconv.Quote(o.Label) + " of " + describeNode(n)}); err != nil {
		return err
	}
	_, ok, err := c.until(ctx, time.Second, func(v *view) bool {
		now := v.node(n.Ref)
		return now == nil || slices.ContainsFunc(now.Options, func(other snapshot.Option) bool { return other.Selected && other.Value == o.Value })
	})
	if err != nil || ok {
		return err
	}
	return &FailedError{Code: codeStepFailed, Detail: fmt.Sprintf("%s did not keep the option %q", describeNode(n), o.Label)}
}

func optionsAlike(n *snapshot.Node, label string) (count int) {
	for _, o := range n.Options {
		if o.Label == label || o.Value == label {
			count++
		}
	}
	return count
}

// replaced reports whether a native list is only there for another element that shows it,
// as libraries have it: too small to be seen, or behind what stands beside it.
func (v *view) replaced(i int) bool {
	n := &v.Nodes[i]
	if len(n.Options) == 0 {
		return false
	}
	if n.Hidden || n.Box[2] < 4 || n.Box[3] < 4 {
		return true
	}
	cover := v.find(n.Cover)
	if !n.Covered || cover < 0 {
		return false
	}
	around := n.Parent
	for range 2 {
		if around >= 0 && v.Nodes[around].Parent >= 0 {
			around = v.Nodes[around].Parent
		}
	}
	return around >= 0 && v.inside(cover, around) && v.last[around]-around < 200
}

// standIn returns what shows a native list that is replaced: the nearest element beside it
// that opens a list; the list itself where there is none.
func standIn(v *view, i int) int {
	if !v.replaced(i) {
		return i
	}
	for up, n := v.Nodes[i].Parent, 0; n <= maxBeside && up >= 0; up, n = v.Nodes[up].Parent, n+1 {
		found := v.within(up, func(n *snapshot.Node) bool {
			return !n.Hidden && len(n.Options) == 0 && (n.Role == "combobox" || n.Popup != "" || n.Role == "listbox" || n.Expanded != "")
		})
		if len(found) > 0 {
			return found[0]
		}
		if cover := v.find(v.Nodes[i].Cover); cover >= 0 && v.inside(cover, up) {
			return cover
		}
	}
	return i
}
