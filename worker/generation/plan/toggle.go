package plan

import (
	"context"
	"strconv"

	"github.com/slipway-qa/slipway/worker/generation/intent"
)

// toggle checks or unchecks what an instruction names: boxes, switches, buttons that stay
// pressed. One that is in the state already stays as it is.
func toggle(ctx context.Context, p *planner, in *intent.Instruction) error {
	on := in.Kind == intent.Check
	var phrases []intent.Phrase
	if in.Target != nil {
		phrases = append(phrases, *in.Target)
	}
	for _, value := range in.Values {
		one := intent.Phrase{Text: value.Text, Name: value.Text, Exact: value.Quoted}
		if in.Target != nil && in.Target.Name != "" { // "Red in the list of colours"
			one.Relations = []intent.Relation{{Kind: intent.In, Phrase: *in.Target}}
		}
		phrases = append(phrases, one)
	}
	if len(in.Values) > 0 && in.Target != nil {
		phrases = phrases[1:]
	}
	if len(phrases) == 0 {
		return p.notUnderstood("it does not say which box")
	}
	for i := range phrases {
		targets, err := p.resolveAll(ctx, &phrases[i], toCheck)
		if err != nil {
			return err
		}
		for _, m := range targets {
			if err := p.setChecked(ctx, m, on); err != nil {
				return err
			}
		}
	}
	return nil
}

// setChecked brings one element into a state by a click on it, and looks that it is in it
// then.
func (p *planner) setChecked(ctx context.Context, m match, on bool) error {
	v, err := p.look(ctx)
	if err != nil {
		return err
	}
	n := v.node(m.ref)
	if n == nil {
		return p.notUnderstood(describeNode(m.node) + " has gone")
	}
	p.focus.target = m.ref
	wanted := strconv.FormatBool(on)
	state := n.Checked
	if state == "" {
		state = n.Selected
	}
	if state == wanted {
		p.note(string(p.instruction.Kind), describeNode(n)+" is so already")
		return nil
	}
	if state == "" && !on {
		return p.notUnderstood(describeNode(n) + " does not show whether it is checked")
	}
	if err := p.clickOn(ctx, v, v.find(m.ref), m.why); err != nil || state == "" {
		return err
	}
	_, ok, err := p.until(ctx, settle, func(now *view) bool {
		again := now.node(m.ref)
		return again == nil || again.Checked == wanted || n.Checked == "" && again.Selected == wanted
	})
	if err != nil || ok {
		return err
	}
	return &FailedError{Code: codeStepFailed, Detail: p.understood() + ": " + describeNode(n) + " stayed as it was"}
}
