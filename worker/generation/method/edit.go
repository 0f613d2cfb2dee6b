package method

import (
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/generation/find"
	"github.com/slipway-qa/slipway/worker/generation/page"
)

// Key is the press of a key on a node, -1 where the focus is.
func Key(node int, name string) Act { return key(node, name) }

// InPlace returns the ways to open the text of a target for editing: a double click on it, a
// press, a control that edits.
func InPlace(t *Task) []Way {
	if t.Target == nil || t.Depth > 0 {
		return nil
	}
	node := t.Target.Node
	r := t.record()
	if r >= 0 && t.Target.What == find.Record {
		node = t.titleNode(r)
	}
	reveal := func(name string, cost float64, a Act) Way {
		w := t.way(name, cost, a)
		w.Reveals = true
		return w
	}
	var list []Way
	if r >= 0 {
		for _, i := range t.Model.Records[r].Controls {
			if c := &t.Model.Controls[i]; usable(t.Model, c) && hasConcept(c, "edit", "rename", "change") {
				list = append(list, t.pressReveal(i, costNamed))
			}
		}
	}
	if node >= 0 {
		list = append(list, reveal("double click on "+DescribeNode(t.Model, node), costState, act(step.DoubleClick, node)),
			reveal("the "+DescribeNode(t.Model, node), costState+0.2, press(node)))
	}
	return list
}

func (t *Task) pressReveal(control int, cost float64) Way {
	c := find.Candidate{What: find.Control, Index: control, Node: t.Model.Controls[control].Node, Score: 1}
	w := t.pressOf(&c, cost)
	w.Reveals = true
	return w
}

// Editor returns the field that came for an edit: the one that holds the old text, the one that
// has the focus, the only new one of text; -1.
func Editor(m, start *page.Model, old string) int {
	before := map[string]bool{}
	for i := range start.Fields {
		if !start.Nodes[start.Fields[i].Node].Hidden {
			before[start.Nodes[start.Fields[i].Node].Ref] = true
		}
	}
	only, count := -1, 0
	for i := range m.Fields {
		f := &m.Fields[i]
		n := &m.Nodes[f.Node]
		if n.Hidden || f.Disabled || f.ReadOnly || !n.Editable {
			continue
		}
		if before[n.Ref] && !n.Focused {
			continue
		}
		if textsAgree(f.Value, old) && old != "" || n.Focused && !before[n.Ref] {
			return i
		}
		only = i
		count++
	}
	if count == 1 {
		return only
	}
	return -1
}
