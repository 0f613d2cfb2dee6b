package plan

import (
	"context"
	"slices"

	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// described chooses what a phrase describes, which is one of the things to choose itself.
func (c chooser) described(ctx context.Context, phrase *intent.Phrase) error {
	if done, err := c.rows(ctx, phrase); done || err != nil {
		return err
	}
	w := toCheck
	if v, err := c.look(ctx); err != nil {
		return err
	} else if boxes := rowBoxes(c.planner, v, phrase); len(boxes) > 0 {
		for _, m := range boxes {
			if err := c.setChecked(ctx, m, true); err != nil {
				return err
			}
		}
		return nil
	} else if _, err := c.pick(v, phrase, w); err != nil {
		w = toUse
	}
	targets, err := c.resolveAll(ctx, phrase, w)
	if err != nil {
		return err
	}
	for _, m := range targets {
		v, err := c.look(ctx)
		if err != nil {
			return err
		}
		i := v.find(m.ref)
		if i < 0 {
			return c.notUnderstood(describeNode(m.node) + " has gone")
		}
		if err := c.take(ctx, v, i, phrase.Text, ""); err != nil {
			return err
		}
		c.planner.focus.target = m.ref
	}
	return nil
}

// rows chooses whole rows and items: by the box in each of them, else by a click on it. It
// reports whether the phrase means rows.
func (c chooser) rows(ctx context.Context, phrase *intent.Phrase) (bool, error) {
	if len(phrase.Roles) == 0 || phrase.Roles[0] != "row" {
		return false, nil
	}
	targets, err := c.resolveAll(ctx, phrase, toHold)
	if err != nil {
		return true, err
	}
	for _, m := range targets {
		v, err := c.look(ctx)
		if err != nil {
			return true, err
		}
		at := v.find(m.ref)
		if at < 0 || !isItem(&v.Nodes[at]) {
			return true, c.notUnderstood("nothing is clearly such a row", v.candidate(max(at, 0)))
		}
		if boxes := v.within(at, func(n *snapshot.Node) bool { return !n.Hidden && n.Role == "checkbox" || n.Role == "radio" }); len(boxes) == 1 {
			at = boxes[0]
		}
		if err := c.take(ctx, v, at, phrase.Text, ""); err != nil {
			return true, err
		}
	}
	return true, nil
}

// item chooses what is described and not named: "the second option", "all colours".
func (c chooser) item(ctx context.Context) error {
	item := *c.in.Item
	if c.in.Target != nil {
		m, err := c.holder(ctx)
		if err != nil && len(item.Relations) == 0 && item.Name == "" {
			return err
		}
		found := err == nil
		if found && len(m.node.Options) > 0 {
			return c.nativeItems(ctx, m.node, &item)
		}
		if found {
			item.Relations = append(slices.Clone(item.Relations), intent.Relation{Kind: intent.In, Phrase: *c.in.Target})
		}
	}
	if item.Name != "" && item.Ordinal == 0 && !item.All && len(item.Others) == 0 && c.in.Target == nil {
		v, err := c.look(ctx)
		if err != nil {
			return err
		}
		if len(item.Relations) == 0 {
			return c.anywhere(ctx, v, item.Name, "")
		}
	}
	return c.described(ctx, &item)
}

// nativeItems chooses options of a native list by position, or all of them.
func (c chooser) nativeItems(ctx context.Context, n *snapshot.Node, item *intent.Phrase) error {
	var usable []int
	for i, o := range n.Options {
		placeholder := o.Value == "" && i == 0
		if !o.Disabled && !placeholder && (item.Name == "" || likeness(o.Label, item.Name) >= 0.5) {
			usable = append(usable, i)
		}
	}
	chosen := usable
	switch count := item.Count; {
	case len(usable) == 0:
		return c.notUnderstood(describeNode(n)+" has no such option", optionsOf(n)...)
	case item.Ordinal > 0 && item.Ordinal <= len(usable):
		chosen = usable[item.Ordinal-1 : item.Ordinal]
	case item.Ordinal < 0 && -item.Ordinal <= len(usable):
		chosen = usable[len(usable)+item.Ordinal:][:1]
	case item.Ordinal != 0:
		return c.notUnderstood(describeNode(n) + " has not so many options")
	case item.Extreme != nil:
		labels := make([]string, len(usable))
		for i, at := range usable {
			labels[i] = n.Options[at].Label
		}
		at, ok := extremeOf(labels, item.Extreme)
		if !ok {
			return c.notUnderstood("the options of " + describeNode(n) + " cannot be compared")
		}
		chosen = usable[at : at+1]
	case item.All:
		chosen = slices.DeleteFunc(slices.Clone(usable), func(i int) bool {
			return slices.ContainsFunc(item.Except, func(e intent.Phrase) bool { return likeness(n.Options[i].Label, e.Name) >= 0.5 })
		})
	case count > 0 && count <= len(usable):
		chosen = usable[:count]
	case len(usable) > 1:
		return c.notUnderstood("it does not say which option", optionsOf(n)...)
	}
	if len(chosen) > 1 && !n.Multiple {
		return c.notUnderstood(describeNode(n) + " lets only one option be selected")
	}
	for _, i := range chosen {
		if err := c.nativeOption(ctx, n, i); err != nil {
			return err
		}
	}
	return nil
}
