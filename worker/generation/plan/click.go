package plan

import (
	"context"
	"slices"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// use clicks, double clicks, right clicks or hovers over what an instruction means.
// Each of several is done before the next one is looked for again: a click may change
// the others.
func use(ctx context.Context, p *planner, in *intent.Instruction) error {
	if in.Target == nil && p.focus.target != "" {
		in.Target = &intent.Phrase{Pronoun: true}
	}
	targets, err := p.resolveAll(ctx, in.Target, toUse)
	if err != nil {
		return err
	}
	for _, m := range targets {
		for range max(in.Times, 1) {
			if err := useOnce(ctx, p, in, m); err != nil {
				return err
			}
		}
		p.focus.target = m.ref
	}
	return nil
}

// toolOf has the tools of instructions that act on an element with nothing more.
var toolOf = map[intent.Kind]string{
	intent.Click: step.Click, intent.DoubleClick: step.DoubleClick,
	intent.RightClick: step.RightClick, intent.Hover: step.Hover,
}

// useOnce does one click. Where the element does not say that it reacts and nothing
// happened, the nearest one that does is tried once; a text that does nothing is not
// what was meant.
func useOnce(ctx context.Context, p *planner, in *intent.Instruction, m match) error {
	if m.node.Tag == "select" && in.Kind == intent.Click && !chooses(p) {
		return p.notUnderstood("it does not say what to choose in "+describeNode(m.node), Candidate{What: describeNode(m.node), Score: m.score, Why: m.why})
	}
	mark := p.mark()
	if err := p.do(ctx, action{tool: toolOf[in.Kind], on: m.ref, why: m.why}); err != nil {
		return err
	}
	if in.Kind == intent.Hover || m.node.Interactive && nativeRole(m.node.Role) {
		return nil
	}
	did, err := changedOf(ctx, p)
	if err != nil || did {
		return err
	}
	v, err := p.look(ctx)
	if err != nil {
		return err
	}
	if other := reactingNear(v, m.ref); other >= 0 {
		n := &v.Nodes[other]
		p.drop(mark, nil)
		return p.do(ctx, action{tool: toolOf[in.Kind], on: n.Ref, why: describeNode(n) + ", since what is called so does nothing"})
	}
	if m.node.Interactive || m.node.Reacts != "" {
		return nil
	}
	p.drop(mark, nil)
	return p.notUnderstood("nothing happens on "+describeNode(m.node), Candidate{What: describeNode(m.node), Score: m.score, Why: m.why})
}

// chooses reports whether what follows chooses something in a list that is clicked.
func chooses(p *planner) bool {
	if p.coming == nil {
		return false
	}
	switch p.coming.Kind {
	case intent.Choose, intent.Click, intent.Press, intent.Fill, intent.Adjust, intent.Assert, intent.WaitFor:
		return true
	default:
		return false
	}
}

// reactingNear returns the nearest element around or in one that does nothing, which
// does something; -1 without one, or when there are several.
func reactingNear(v *view, ref string) int {
	at := v.find(ref)
	if at < 0 || v.Nodes[at].Interactive {
		return -1
	}
	around := v.ancestor(at, func(n *snapshot.Node) bool { return n.Interactive && n.Role != "document" })
	if around >= 0 && v.last[around]-around < 40 {
		return around
	}
	inside := v.within(at, func(n *snapshot.Node) bool { return n.Interactive && !n.Hidden })
	inside = slices.DeleteFunc(inside, func(i int) bool { return v.Nodes[i].Disabled })
	if len(inside) == 1 {
		return inside[0]
	}
	return -1
}
