package plan

import (
	"context"
	"strconv"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// expand opens or closes sections, tree items and menus.
func expand(ctx context.Context, p *planner, in *intent.Instruction) error {
	if in.Target == nil {
		return p.notUnderstood("it does not say what")
	}
	v, err := p.look(ctx)
	if err != nil {
		return err
	}
	if m, ok := headerOf(v, in.Target); ok {
		return setExpanded(ctx, p, m, in.Kind == intent.Expand)
	}
	if list, ok := nameless(v, in.Target); ok {
		for _, m := range list {
			if err := setExpanded(ctx, p, m, in.Kind == intent.Expand); err != nil {
				return err
			}
		}
		return nil
	}
	mark := p.mark()
	targets, err := p.resolveAll(ctx, in.Target, toExpand)
	if err == nil && in.Kind == intent.Expand && len(targets) == 1 && p.mark() > mark && targets[0].node.Expanded != "false" {
		return nil // it was opened when it was looked for
	}
	if isNotUnderstood(err) {
		targets, err = p.resolveAll(ctx, in.Target, toUse)
	}
	if err != nil {
		return err
	}
	for _, m := range targets {
		if err := setExpanded(ctx, p, m, in.Kind == intent.Expand); err != nil {
			return err
		}
	}
	return nil
}

// headerOf returns the one element with the name of a phrase that is open or closed.
func headerOf(v *view, s *intent.Phrase) (match, bool) {
	if s.Name == "" || s.Ordinal != 0 || s.All || len(s.Others) > 0 || len(s.Relations) > 0 {
		return match{}, false
	}
	found := v.within(-1, func(n *snapshot.Node) bool { return !n.Hidden && n.Expanded != "" && likeness(n.Name, s.Name) >= 0.8 })
	if len(found) != 1 {
		return match{}, false
	}
	n := &v.Nodes[found[0]]
	return match{ref: n.Ref, node: n, index: found[0], score: 1, why: "the only " + describeNode(n) + " that is open or closed"}, true
}

// setExpanded brings one element into a state. Where a click on it only selects it, as
// trees do, its arrow is clicked, and then keys are tried.
func setExpanded(ctx context.Context, p *planner, m match, open bool) error {
	v, err := p.look(ctx)
	if err != nil {
		return err
	}
	at := v.find(m.ref)
	if at < 0 {
		return p.notUnderstood(describeNode(m.node) + " has gone")
	}
	at = expandable(v, at)
	n := &v.Nodes[at]
	ref, wanted, former := n.Ref, strconv.FormatBool(open), n.Expanded
	p.focus.target = ref
	if former == wanted {
		p.note(string(p.instruction.Kind), describeNode(n)+" is so already")
		return nil
	}
	if former == "" && !open {
		return p.notUnderstood(describeNode(n) + " does not show whether it is open")
	}
	key := "ArrowRight"
	if !open {
		key = "ArrowLeft"
	}
	tries := []action{{tool: step.Click, on: ref, why: m.why}}
	if arrow := arrowOf(v, at); arrow >= 0 && n.Role == "treeitem" {
		tries = []action{{tool: step.Click, on: v.Nodes[arrow].Ref, why: "the arrow of " + describeNode(n)}, tries[0]}
	}
	if sign := signOf(v, at); sign >= 0 && former == "" {
		tries = []action{{tool: step.Click, on: v.Nodes[sign].Ref, why: "the sign beside " + describeNode(n)}}
	}
	if n.Role == "treeitem" {
		tries = append(tries, action{tool: step.PressKey, on: ref, args: step.Args{Key: key}, why: m.why}, action{tool: step.DoubleClick, on: ref, why: m.why})
	}
	for _, a := range tries {
		mark := p.mark()
		record, err := p.try(ctx, a)
		if err != nil {
			return err
		}
		if record.Result.Success {
			_, ok, err := p.until(ctx, settle/2, func(now *view) bool {
				again := now.node(ref)
				if again == nil || former == "" || again.Expanded == "" {
					return len(now.Nodes) != len(v.Nodes) || differs(v, now)
				}
				return again.Expanded == wanted
			})
			if ok || err != nil {
				return err
			}
		}
		p.drop(mark, nil)
	}
	return &FailedError{Code: codeStepFailed, Detail: p.understood() + ": " + describeNode(n) + " stayed as it was"}
}

// expandable returns the node that has the state: a section's is that of its header.
func expandable(v *view, at int) int {
	if v.Nodes[at].Expanded != "" || v.Nodes[at].Interactive {
		return at
	}
	inner := v.within(at, func(n *snapshot.Node) bool { return !n.Hidden && n.Expanded != "" })
	if len(inner) > 0 {
		return inner[0]
	}
	if up := v.Nodes[at].Parent; up >= 0 && v.Nodes[up].Expanded != "" {
		return up
	}
	return at
}

var arrowHints = []string{"expander", "toggle", "toggler", "switcher", "arrow", "caret", "chevron", "ocl", "hitarea", "expand", "twisty", "icon", "collapse"}

// arrowOf returns the small control in a tree item that opens it; -1 without one.
func arrowOf(v *view, at int) int {
	for _, i := range v.within(at, func(n *snapshot.Node) bool { return !n.Hidden && n.Role != "text" }) {
		n := &v.Nodes[i]
		if n.Role == "treeitem" || n.Role == "group" {
			break // those are its children
		}
		if n.Name == "" && hasAny(n.Hints, arrowHints) || hasAny(arrowWords(n, ""), []string{"expand", "toggle", "+", "▸", "►", "▶", "aufklappen"}) {
			return i
		}
	}
	return -1
}
