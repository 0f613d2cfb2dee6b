package method

import (
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/generation/effect"
	"github.com/slipway-qa/slipway/worker/generation/find"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/lexicon"
	"github.com/slipway-qa/slipway/worker/generation/page"
)

// open: the target's own press; of a record what its title or a control of it opens; a tab,
// menu entry or link of the name.
func open(t *Task) []Way {
	if t.Target == nil {
		return t.named(-1, costGlobal)
	}
	m := t.Model
	var list []Way
	switch t.Target.What {
	case find.Record, find.Attribute:
		r := t.record()
		list = append(list, t.named(m.Records[r].Node, costNamed)...)
		if node := t.opener(r); node >= 0 {
			w := t.targetWay(node)
			w.Cost = costState
			list = append(list, w)
		}
		list = append(list, t.revealing(r)...)
		w := t.way("double click", costKey, act(step.DoubleClick, t.titleNode(r)))
		return append(list, w)
	case find.Container:
		c := &m.Containers[t.Target.Index]
		if c.Opener >= 0 && c.Opener < len(m.Controls) {
			list = append(list, t.targetWay(m.Controls[c.Opener].Node))
		}
	case find.Control:
		list = append(list, pressIt(t)...)
	case find.Field, find.Option:
		return append(list, t.chosen(t.Target, costNamed)...)
	}
	if t.Target.Node >= 0 && len(list) == 0 {
		list = append(list, t.targetWay(t.nearestPress(t.Target.Node)))
	}
	return list
}

// nearestPress returns what can be pressed at a node: itself, around it, or the only one in it.
func (t *Task) nearestPress(node int) int {
	for i := node; i >= 0; i = t.Model.Nodes[i].Parent {
		if t.Model.Nodes[i].Interactive {
			return i
		}
		if t.Model.Nodes[i].Parent >= i {
			break
		}
	}
	if inner := t.pressable(node); inner >= 0 {
		return inner
	}
	return node
}

// expand: the control of the section or tree item, its title.
func expand(t *Task) []Way {
	if t.Target == nil {
		return t.named(-1, costGlobal)
	}
	m := t.Model
	want := map[bool]string{true: "false", false: "true"}[t.Goal.Effect == "expand"] // what it is before
	var list []Way
	first, last := t.Target.Node, t.Target.Node
	if r := t.record(); r >= 0 {
		first, last = m.Records[r].Node, m.Records[r].Node
	}
	for i := first; first >= 0 && i < len(m.Nodes) && m.Inside(last, i); i++ {
		if n := &m.Nodes[i]; n.Expanded == want && !n.Disabled {
			w := t.targetWay(i)
			list = append(list, w)
			break
		}
	}
	return append(list, open(t)...)
}

// closing: a control that closes, in what is in front or in the target; the key Escape.
func closing(t *Task) []Way {
	var list []Way
	within := t.frontNode()
	if t.Target != nil && t.Target.Node >= 0 {
		within = t.Target.Node
		if r := t.record(); r >= 0 {
			within = t.Model.Records[r].Node
		}
		list = append(list, t.inRecordOf(within)...)
		if t.Target.What == find.Control {
			list = append(list, t.targetWay(t.Target.Node))
		}
	} else {
		list = append(list, t.named(within, costNamed)...)
	}
	list = append(list, t.closers(within)...)
	if t.Target == nil || t.Target.What == find.Container {
		w := t.way("the key Escape", costKey, key(-1, "Escape"))
		w.Used = []find.Use{t.verbUse("closed")}
		list = append(list, w)
	}
	return list
}

// inRecordOf returns the named controls in a node, or what a record reveals.
func (t *Task) inRecordOf(node int) []Way {
	list := t.named(node, costNamed)
	if r := t.record(); r >= 0 {
		list = append(list, t.revealing(r)...)
	}
	return list
}

// closers returns the presses of what closes or cancels, below a node.
func (t *Task) closers(within int) []Way {
	var list []Way
	for i := range t.Model.Controls {
		c := &t.Model.Controls[i]
		if within >= 0 && !t.Model.Inside(within, c.Node) || !usable(t.Model, c) || !hasConcept(c, "close", "cancel") {
			continue
		}
		w := t.way("the "+DescribeNode(t.Model, c.Node), costState, press(c.Node))
		w.Used = []find.Use{t.verbUse("closed by " + effect.ControlName(t.Model, i))}
		list = append(list, w)
	}
	return list
}

// frontNode is the node of what is in front; -1.
func (t *Task) frontNode() int {
	if s := t.scope(); s >= 0 {
		return s
	}
	if f := t.Model.Front; f >= 0 && f < len(t.Model.Containers) {
		return t.Model.Containers[f].Node
	}
	return -1
}

// abandon: cancel, no, keep; back; Escape.
func abandon(t *Task) []Way {
	if t.Model.Dialog != nil {
		return []Way{t.answer("dismiss")}
	}
	list := t.named(t.frontNode(), costNamed)
	for i := range t.Goal.Target {
		list = append(list, t.namedBy(&t.Goal.Target[i], costState)...)
	}
	list = append(list, t.closers(t.frontNode())...)
	list = append(list, t.byConcept(t.frontNode(), costGlobal, "cancel", "no", "keep", "back", "previous", "undo")...)
	w := t.way("the key Escape", costKey, key(-1, "Escape"))
	w.Used = []find.Use{t.verbUse("left")}
	return append(list, w)
}

// answer is the answer to the browser's own question.
func (t *Task) answer(action string) Way {
	a := act(step.HandleDialog, -1)
	a.Args.Action = action
	if action == "accept" && t.Goal.Text != nil {
		a.Args.Text = &t.Goal.Text.Text
	}
	w := t.way("the browser's question: "+action, 0, a)
	w.Key = "dialog " + action
	w.Used = []find.Use{t.verbUse("the browser's question")}
	return w
}

// Prompt is the answer to a question of the browser with a value.
func Prompt(t *Task, v *intent.Value) Way {
	goal := *t.Goal
	goal.Text = v
	one := *t
	one.Goal = &goal
	w := one.answer("accept")
	w.Key += " " + v.Text
	return w
}

// confirm: the button in front that says yes.
func confirm(t *Task) []Way {
	if t.Model.Dialog != nil {
		return []Way{t.answer("accept")}
	}
	list := t.named(t.frontNode(), costNamed)
	for i := range t.Goal.Target {
		list = append(list, t.namedBy(&t.Goal.Target[i], costState)...)
	}
	return append(list, t.Yes(t.frontNode())...)
}

// Confirms returns the presses of controls of the page that are called by a word for confirming,
// where no question is in front.
func Confirms(t *Task) []Way {
	if t.Depth > 0 {
		return nil
	}
	var list []Way
	for _, c := range t.controls(intent.Confirm, -1) {
		k := &t.Model.Controls[c.Index]
		if c.Score <= leastSaid || k.Record >= 0 || k.Hidden || t.declines(k.Node, c.Index) || k.Role == "link" ||
			lexicon.Removes(effect.ControlName(t.Model, c.Index), false) {
			continue
		}
		w := t.pressOf(&c, costNamed+1-c.Score)
		w.Risks = true
		list = append(list, w)
	}
	return t.ofForm(list)
}

// SaysConfirm reports whether a way ends with the press of a control that is called by a word for
// confirming.
func SaysConfirm(m *page.Model, w *Way) bool {
	if len(w.Acts) == 0 {
		return false
	}
	a := w.Acts[len(w.Acts)-1]
	c := m.ControlAt(a.Node)
	return a.Tool == step.Click && c >= 0 && hasConcept(&m.Controls[c], "confirm", "yes", "ok")
}

// Yes returns the presses of what answers a question of the page in front with yes: what says
// so, what says the effect of the goal, else the only control that does not close.
func (t *Task) Yes(within int) []Way {
	list := t.named(within, costNamed)
	list = append(list, t.byConcept(within, costState, "confirm", "yes", "ok", "continue", "delete", "remove", "apply", "save", "done")...)
	if within < 0 {
		return list
	}
	list = slices.DeleteFunc(list, func(w Way) bool { return t.isTitle(w.Acts[len(w.Acts)-1].Node) })
	return append(list, t.only(within)...)
}

// only returns the press of the only control in a node that neither closes nor declines.
func (t *Task) only(within int) []Way {
	var list []Way
	var others []int
	for i := range t.Model.Controls {
		c := &t.Model.Controls[i]
		if t.Model.Inside(within, c.Node) && usable(t.Model, c) && !c.Hidden && !c.Icon && c.Role != "link" && !t.declines(c.Node, i) {
			others = append(others, i)
		}
	}
	if len(others) == 1 {
		c := &t.Model.Controls[others[0]]
		w := t.way("the "+DescribeNode(t.Model, c.Node), costGlobal, press(c.Node))
		w.Used = []find.Use{t.verbUse("confirmed")}
		w.Risks = true
		list = append(list, w)
	}
	return list
}

// isTitle reports whether a node is the title of the container that it stands in, by which a window
// of the page is dragged.
func (t *Task) isTitle(node int) bool {
	c := t.Model.ControlAt(node)
	if c < 0 || t.Model.Nodes[node].Role == "button" {
		return false
	}
	name := strings.TrimRight(effect.Fold(effect.ControlName(t.Model, c)), "?!.: ")
	return slices.ContainsFunc(t.Model.Containers, func(k page.Container) bool {
		return k.Node != node && t.Model.Inside(k.Node, node) && name != "" && effect.Fold(k.Title) == name
	})
}

// declines reports whether a control says no, or is a field.
func (t *Task) declines(node, i int) bool {
	n := &t.Model.Nodes[node]
	if n.Editable || len(n.Options) > 0 || slices.Contains([]string{"checkbox", "radio", "switch", "option", "tab", "combobox"}, n.Role) {
		return true
	}
	return hasConcept(&t.Model.Controls[i], "close", "cancel", "no", "keep", "back", "skip") ||
		strings.TrimSpace(effect.ControlName(t.Model, i)) == "×"
}

// submit: the button that hands in what was filled in.
func submit(t *Task) []Way {
	if t.Model.Dialog != nil {
		return []Way{t.answer("accept")}
	}
	var list []Way
	for i := range t.Goal.Target {
		list = append(list, t.namedBy(&t.Goal.Target[i], costNamed)...)
	}
	list = append(list, t.named(t.frontNode(), costState)...)
	list = append(list, t.submits(t.frontNode())...)
	list = slices.DeleteFunc(list, func(w Way) bool { return t.Model.FieldAt(w.Acts[len(w.Acts)-1].Node) >= 0 })
	if front := t.frontNode(); len(list) == 0 && front >= 0 && t.Goal.Place == "next" {
		list = t.only(front)
	}
	if t.Goal.Place == "next" && t.frontNode() >= 0 {
		list = slices.DeleteFunc(list, t.doesMore)
	}
	for i := range list {
		list[i].Risks = true
	}
	return t.ofForm(t.redeeming(list))
}

// doesMore reports whether a way presses what pays, sends or deletes, and does not say that it goes on: to go on is
// none of these.
func (t *Task) doesMore(w Way) bool {
	at := t.Model.ControlAt(w.Acts[len(w.Acts)-1].Node)
	return Destroys(t.Model, at) && !hasConcept(&t.Model.Controls[at], "next", "continue")
}

// ofForm prefers of controls of one name that which is nearest around the field that was filled
// last. Where none was, which of them is meant nobody said.
func (t *Task) ofForm(list []Way) []Way {
	m := t.Model
	return slices.DeleteFunc(slices.Clone(list), func(w Way) bool {
		for _, o := range list {
			a, b := w.Acts[len(w.Acts)-1].Node, o.Acts[len(o.Acts)-1].Node
			if a < 0 || b < 0 || a == b || effect.Fold(m.Nodes[a].Name) != effect.Fold(m.Nodes[b].Name) {
				continue
			}
			if t.Near < 0 || t.depthWith(b) > t.depthWith(a) {
				return true
			}
		}
		return false
	})
}

// depthWith is how deep the innermost element is that has a node and the field that was filled
// last in it.
func (t *Task) depthWith(node int) int {
	for i := node; i >= 0; i = t.Model.Nodes[i].Parent {
		if t.Model.Inside(i, t.Near) {
			depth := 0
			for up := i; up >= 0; up = t.Model.Nodes[up].Parent {
				depth++
			}
			return depth
		}
	}
	return 0
}

// submits returns the presses of submit buttons of forms below a node.
func (t *Task) submits(within int) []Way {
	var list []Way
	for i := range t.Model.Controls {
		c := &t.Model.Controls[i]
		n := &t.Model.Nodes[c.Node]
		if within >= 0 && !t.Model.Inside(within, c.Node) || !usable(t.Model, c) || c.Hidden || n.Type != "submit" {
			continue
		}
		w := t.way("the "+DescribeNode(t.Model, c.Node), costGlobal, press(c.Node))
		w.Used = []find.Use{t.verbUse("handed in by " + effect.ControlName(t.Model, i))}
		list = append(list, w)
	}
	return list
}

// leave: what signs out, or the menu of the account.
func leave(t *Task) []Way {
	list := t.inRecord()
	said := t.sayings(-1)
	called := func(w *Way) bool { c := t.Model.ControlAt(w.Acts[len(w.Acts)-1].Node); return c >= 0 && said[c] }
	if slices.ContainsFunc(list, func(w Way) bool { return called(&w) }) {
		return slices.DeleteFunc(list, func(w Way) bool { return !called(&w) })
	}
	for i := range list { // only what is called so signs out: anything else may show it
		list[i].Reveals = true
	}
	if t.record() < 0 {
		list = append(list, t.openers("account", "user", "profile", "menu")...)
		for i := range t.Model.Controls {
			c := &t.Model.Controls[i]
			if n := &t.Model.Nodes[c.Node]; strings.Contains(n.Reacts, "hover") && c.Record < 0 && !c.Hidden {
				w := t.way("hover over "+DescribeNode(t.Model, c.Node), costOpen, act(step.Hover, c.Node))
				w.Reveals = true
				list = append(list, w)
			}
		}
	}
	return list
}
