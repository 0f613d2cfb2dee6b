package method

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/generation/effect"
	"github.com/slipway-qa/slipway/worker/generation/find"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/page"
)

// builders makes the ways of each effect class. A class that is missing is a deed on its
// target, as any verb.
var builders = map[intent.Effect]func(*Task) []Way{
	intent.Remove: remove, intent.Complete: complete, intent.Reopen: complete, intent.Toggle: complete,
	intent.Add: add, intent.Act: deed, intent.Move: move, intent.Rate: rate, intent.Sort: sortBy, intent.Filter: filter,
	intent.Page: turn, intent.Open: open, intent.Close: closing, intent.Abandon: abandon, intent.Expand: expand,
	intent.Collapse: expand, intent.Choose: chooseIt, intent.Submit: submit, intent.Confirm: confirm, intent.SignIn: submit,
	intent.SignOut: leave,
	intent.Select:  selectIt, intent.Press: pressIt, intent.Increase: stepBy, intent.Decrease: stepBy,
	intent.Point: point, intent.Clear: clear_, intent.Download: pressIt, intent.Copy: deed,
}

// Ways returns the ways to reach a goal on a page, the cheapest first.
func Ways(t *Task) []Way {
	build := builders[t.Goal.Effect]
	if build == nil {
		build = deed
	}
	var list []Way
	if t.Depth > 0 {
		list = append(list, t.inside()...)
		if !t.Pointed {
			list = append(list, t.elsewhere()...)
		}
	}
	list = append(list, build(t)...)
	list = t.serving(list)
	if t.Goal.Risk != "" {
		list = once(list)
	}
	seen := map[string]bool{}
	list = slices.DeleteFunc(list, func(w Way) bool {
		again := seen[w.Key]
		seen[w.Key] = true
		return again
	})
	slices.SortStableFunc(list, func(a, b Way) int { return cmp.Compare(a.Cost, b.Cost) })
	return list
}

// once marks the ways of which one only is done, all but those that only reveal.
func once(list []Way) []Way {
	for i := range list {
		list[i].Once = !list[i].Reveals
	}
	return list
}

// remove: a control of the record, what reveals one, the key Delete.
func remove(t *Task) []Way { return t.inRecord() }

// complete: a control whose name says it, the box or switch of the target, the target itself,
// what reveals more.
func complete(t *Task) []Way {
	list := t.states()
	if t.Goal.State == "checked" && t.Goal.Become == nil && len(list) > 0 {
		return list // it has a box, and nothing else of it is ticked
	}
	if t.Goal.Become != nil && t.record() >= 0 { // "mark it as paid" by the link "paid" of its row
		list = append(list, Called(t, t.Goal.Become)...)
	}
	return append(list, t.inRecord()...)
}

// states returns the presses of the box or switch of the target.
func (t *Task) states() []Way {
	if t.Target == nil {
		return nil
	}
	m := t.Model
	on := t.Goal.Effect == intent.Complete || t.Goal.Effect == intent.Choose || t.Goal.Effect == intent.Toggle && t.Goal.On
	var list []Way
	add := func(node int, cost float64, used []find.Use) {
		n := &m.Nodes[node]
		if n.Disabled || n.Checked == map[bool]string{true: "true", false: "false"}[on] {
			return
		}
		label := n.Name
		if f := m.FieldAt(node); f >= 0 {
			label = m.Fields[f].Label
		}
		if t.Goal.Become != nil && textHas(label, "", "select") {
			return // it only selects: that says nothing of "as read"
		}
		w := t.way("the "+DescribeNode(m, node), cost, press(seenFor(m, node, label)))
		w.Used = append(slices.Clone(used), t.verbUse("its box"))
		list = append(list, w)
	}
	switch t.Target.What {
	case find.Field, find.Option, find.Control:
		node := t.Target.Node
		if t.Target.What == find.Field && t.Target.Index < len(m.Fields) {
			node = m.Fields[t.Target.Index].Node
		}
		add(node, costNamed, t.Target.Used)
	}
	r := t.record()
	if r < 0 || t.boxesAlike(r) {
		return list
	}
	for _, i := range m.Records[r].Controls {
		c := &m.Controls[i]
		selects := t.Goal.Become != nil && hasConcept(c, "select")
		if usable(m, c) && !selects && boxRoles[c.Role] {
			add(c.Node, costState, nil)
		}
	}
	return list
}

// boxRoles are the roles of what is ticked or turned on.
var boxRoles = map[string]bool{"checkbox": true, "switch": true, "menuitemcheckbox": true}

// boxesAlike reports whether two boxes or switches of a record have one name: which of them is meant
// nobody said.
func (t *Task) boxesAlike(r int) bool {
	seen := map[string]bool{}
	for _, i := range t.Model.Records[r].Controls {
		if c := &t.Model.Controls[i]; boxRoles[c.Role] && usable(t.Model, c) {
			name := effect.Fold(effect.ControlName(t.Model, i))
			if seen[name] {
				return true
			}
			seen[name] = true
		}
	}
	return false
}

// deed: any verb on a target.
func deed(t *Task) []Way {
	list := t.inRecord()
	if t.record() >= 0 {
		list = append(list, t.named(-1, costGlobal+2)...)
	}
	return list
}

// add: a control of the thing that is taken, else one that makes something new.
func add(t *Task) []Way {
	if t.record() >= 0 {
		list := t.named(t.Model.Records[t.record()].Node, costNamed)
		if both := t.selected(t.record()); len(both) > 0 && !slices.ContainsFunc(list, func(w Way) bool { return !w.Guess && !w.Reveals }) {
			return both
		}
		list = append(list, t.states()...)
		list = append(list, t.revealing(t.record())...)
		return append(list, t.named(-1, costGlobal+1)...)
	}
	list := append(t.onTarget(), t.named(t.scope(), costGlobal)...)
	if t.Target != nil {
		return list
	}
	return slices.DeleteFunc(list, func(w Way) bool { // a box that adds something is called by it, and makes nothing else
		node := w.Acts[len(w.Acts)-1].Node
		c := t.Model.ControlAt(node)
		return node >= 0 && t.Model.Nodes[node].Type == "file" || c >= 0 && (t.Model.Controls[c].Role == "checkbox" ||
			t.Model.Controls[c].Role == "switch" || t.Model.Controls[c].Role == "radio")
	})
}

// point: the pointer over the target.
func point(t *Task) []Way {
	if t.Target == nil || t.Target.Node < 0 {
		return nil
	}
	w := t.way("hover over "+DescribeNode(t.Model, t.Target.Node), costNamed, act(step.Hover, t.Target.Node))
	w.Used = append(slices.Clone(t.Target.Used), t.verbUse("hover"))
	return []Way{w}
}

// pressIt: the press of the target, of the kind that the verb says.
func pressIt(t *Task) []Way {
	list := t.presses()
	tool, ok := map[string]string{"double": step.DoubleClick, "right": step.RightClick}[t.Goal.How]
	for i := range list {
		w := &list[i]
		if last := len(w.Acts) - 1; ok && last >= 0 && w.Acts[last].Tool == step.Click {
			w.Acts = slices.Clone(w.Acts)
			w.Acts[last].Tool = tool
			w.Key += tool
		}
	}
	if t.Goal.How != "" && !ok {
		return nil // no step presses so
	}
	return list
}

// presses: the control, by its name.
func (t *Task) presses() []Way {
	if t.Target == nil || t.Target.Node < 0 {
		return t.named(t.scope(), costGlobal)
	}
	m := t.Model
	if t.Target.What == find.Record && t.Goal.How != "" {
		return []Way{t.targetWay(t.titleNode(t.Target.Index))}
	}
	if t.Target.What == find.Record {
		if node := t.opener(t.Target.Index); node >= 0 {
			return []Way{t.targetWay(node)}
		}
	}
	if t.Target.What == find.Control && t.Target.Index < len(m.Controls) {
		w := t.pressOf(t.Target, costNamed)
		w.Used = append(w.Used, t.Target.Used...)
		return []Way{w}
	}
	return []Way{t.targetWay(t.Target.Node)}
}

// targetWay is the press of a node of the target.
func (t *Task) targetWay(node int) Way {
	w := t.way("the "+DescribeNode(t.Model, node), costNamed, press(node))
	w.Used = append(slices.Clone(t.Target.Used), t.verbUse("pressed"))
	return w
}

// selectIt: the box of the record, the record itself.
func selectIt(t *Task) []Way {
	if t.Target == nil {
		return nil
	}
	var list []Way
	r := t.record()
	if r >= 0 && (t.Target.What == find.Record || t.Target.What == find.Attribute) {
		for _, w := range t.selecting(r) {
			w.Reveals = false
			w.Used = append(slices.Clone(t.Target.Used), t.verbUse("selected"))
			list = append(list, w)
		}
		w := t.targetWay(t.titleNode(r))
		w.Cost = costItself + costSelect
		return append(list, w)
	}
	return append(t.states(), t.targetWay(t.Target.Node))
}

// chooseIt: the box by which the record is marked, else any deed on it, but no box that says more.
func chooseIt(t *Task) []Way {
	r := t.record()
	if r < 0 || t.Target.What != find.Record {
		return deed(t)
	}
	m := t.Model
	list := slices.DeleteFunc(deed(t), func(w Way) bool {
		if len(w.Acts) == 0 {
			return false
		}
		c := m.ControlAt(w.Acts[len(w.Acts)-1].Node)
		return c >= 0 && boxRoles[m.Controls[c].Role] && m.Controls[c].Record == r && !Marks(m, r, effect.ControlName(m, c))
	})
	if t.marksBy(r) {
		list = append(t.states(), list...)
	}
	return list
}

// marksBy reports whether the box of a record marks it, and says nothing else of it: it has no name of
// its own, or that of the record.
func (t *Task) marksBy(r int) bool {
	m := t.Model
	for _, i := range m.Records[r].Controls {
		if m.Controls[i].Role != "checkbox" {
			continue
		}
		return Marks(m, r, effect.ControlName(m, i))
	}
	return false
}

// Marks reports whether a box or radio of a record with a name marks it, and says nothing else of it: it
// has no name, is called as the record and what that shows, or after selecting.
func Marks(m *page.Model, record int, name string) bool {
	rest, title := effect.Fold(name), effect.Fold(m.Records[record].Title)
	if title != "" && strings.Contains(rest, title) {
		rest = strings.Replace(rest, title, " ", 1)
		for _, a := range m.Records[record].Attributes {
			rest = strings.Replace(rest, effect.Fold(a.Text), " ", 1)
		}
	}
	words := strings.FieldsFunc(rest, func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) })
	return len(words) == 0 || saysMarked(rest) && !slices.ContainsFunc(words, saysMore)
}

// Destroys reports whether a name of a control says that it deletes, pays or sends.
func Destroys(m *page.Model, control int) bool {
	if control < 0 || control >= len(m.Controls) {
		return false
	}
	return hasConcept(&m.Controls[control], "delete", "remove", "pay", "send", "order", "buy", "checkout", "submit",
		"clear", "reset", "discard")
}

// leastBulk is the score of a name that says the effect and little more.
const leastBulk = 0.7

// Bulk returns the presses of controls that do the effect of the goal to all of a list: they are
// in no record, and say all, or stand for it by their name alone.
func Bulk(t *Task) []Way {
	var list []Way
	for _, c := range t.allControls(t.Goal.Effect, t.scope()) {
		k := &t.Model.Controls[c.Index]
		n := &t.Model.Nodes[k.Node]
		said := t.Marked && saysSelected(k)
		if t.Some && saysAll(k) || k.Record >= 0 || k.Hidden || c.Score < leastBulk && !said || n.Role == "link" &&
			n.Href != "" || n.Role == "tab" {
			continue
		}
		if t.Depth == 0 && t.Goal.Effect != intent.Remove && t.Goal.Effect != intent.Clear && !t.Marked && !saysAll(k) {
			continue
		}
		w := t.pressOf(&c, costNamed-0.5+1-c.Score)
		w.Risks = risky[t.Goal.Effect]
		if said {
			w.Cost -= 1 // "Archive selected" and not the place called Archive
		}
		list = append(list, w)
	}
	slices.SortStableFunc(list, func(a, b Way) int { return cmp.Compare(a.Cost, b.Cost) })
	return list
}

// saysSelected reports whether the name of a control says that it is for what is selected.
func saysSelected(c *page.Control) bool {
	return slices.ContainsFunc(c.Names, func(n page.Name) bool { return saysState(n.Text, "selected", "checked") })
}

// elsewhere returns the presses of controls in no record, where the target was opened or
// selected before: they act on it.
func (t *Task) elsewhere() []Way {
	if t.Goal.Effect == intent.Add || t.Model.Dialog != nil {
		return nil
	}
	return Bulk(t)
}

// ForAll reports whether a node is a control for all things of a list: it stands in none of them.
func ForAll(m *page.Model, node int) bool {
	c := m.ControlAt(node)
	return c >= 0 && m.Controls[c].Record < 0 && saysAll(&m.Controls[c])
}

// saysAll reports whether the name of a control says that it is for all.
func saysAll(c *page.Control) bool {
	for i := range c.Names {
		if textHas(c.Names[i].Text, "", "all", "everything", "select all") || strings.Contains(" "+effect.Fold(c.Names[i].Text)+" ", " all ") {
			return true
		}
	}
	return false
}
