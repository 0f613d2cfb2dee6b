package plan

import (
	"context"

	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// eachOf returns an instruction for each of the things that one names: "add A and B to the
// cart".
func eachOf(in *intent.Instruction) []*intent.Instruction {
	if in.Target == nil || len(in.Target.Others) == 0 {
		return []*intent.Instruction{in}
	}
	first := *in.Target
	first.Others = nil
	var list []*intent.Instruction
	for _, target := range append([]intent.Phrase{first}, in.Target.Others...) {
		one := *in
		one.Target = &target
		list = append(list, &one)
	}
	return list
}

// quantity returns how many of the thing are meant.
func (a activator) quantity() int {
	if a.in.Times > 1 {
		return a.in.Times
	}
	if a.in.To == nil || a.in.Target == nil || a.in.Target.All {
		return 1
	}
	return max(a.in.Target.Count, 1)
}

// several does the verb for a number of the same thing: by the field of its quantity, else
// by as many clicks.
func (a activator) several(ctx context.Context, m match, count int) error {
	v, err := a.look(ctx)
	if err != nil {
		return err
	}
	at := v.find(m.ref)
	number := float64(count)
	for up, n := at, 0; up >= 0 && n < maxBeside && at >= 0; up, n = v.Nodes[up].Parent, n+1 {
		fields := v.within(up, func(n *snapshot.Node) bool {
			return !n.Hidden && !n.Disabled && (n.Role == "spinbutton" || n.Type == "number" || len(n.Options) > 1 && optionOf(n, "1") >= 0)
		})
		if len(fields) > 1 {
			break
		}
		if len(fields) == 1 {
			f := &v.Nodes[fields[0]]
			if len(f.Options) > 0 {
				err = chooser{a.planner, a.in, nil}.native(ctx, v, fields[0], trimFloat(number))
			} else {
				err = adjuster{a.planner, &intent.Instruction{Kind: intent.Adjust}}.filled(ctx, f, number)
			}
			if err != nil {
				return err
			}
			return a.press1(ctx, m)
		}
	}
	for range count {
		if err := a.press1(ctx, m); err != nil {
			return err
		}
	}
	return nil
}
