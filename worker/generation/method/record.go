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

// The costs of ways, from what says what it does to what has to be tried.
const (
	costNamed   = 1.0 // a control whose name says the effect
	costState   = 1.5 // the checkbox or switch of the target
	costItself  = 2.0 // the target itself
	costGlobal  = 2.5 // a control elsewhere on the page
	costHover   = 3.0
	costMenu    = 3.2
	costContext = 3.6
	costSelect  = 4.0
	costKey     = 4.4
	costOpen    = 5.0
	costGuess   = 6.0
)

// risky are the effects that delete, pay or send.
var risky = map[intent.Effect]bool{intent.Remove: true, intent.Submit: true, intent.Confirm: true, intent.SignIn: false}

// keeps are the effects after which the thing is still there: a control that is called after
// something else and shows the sign of deleting does not reach them.
var keeps = map[intent.Effect]bool{intent.Complete: true, intent.Reopen: true, intent.Toggle: true, intent.Open: true, intent.Choose: true,
	intent.Edit: true, intent.Set: true, intent.Expand: true, intent.Collapse: true, intent.Move: true, intent.Rate: true, intent.Select: true}

// saysSo is the least score of a control whose name is the verb of the text or one like it.
const saysSo = 0.9

// named returns the presses of controls whose names say the effect of the goal, in a record
// or container (a node), -1 for the page.
func (t *Task) named(within int, cost float64) []Way {
	var list []Way
	said := t.sayings(within)
	for _, c := range t.controlsFor(t.Goal.Effect, within, func(c *find.Candidate) bool { return !t.another(c, within) }) {
		w := t.pressOf(&c, cost+1-c.Score)
		w.Risks = risky[t.Goal.Effect] || Destroys(t.Model, c.Index)
		w.Guess = !said[c.Index]
		list = append(list, w)
	}
	return list
}

// countsMore reports whether a control is the plus of a plus and a minus, and the goal adds something
// else than one more of the thing that it counts, named by its words.
func (t *Task) countsMore(control int) bool {
	m, k := t.Model, &t.Model.Controls[control]
	if t.Goal.Effect != intent.Add || !countsBy(m, control, true) {
		return false
	}
	if r := t.record(); r >= 0 && r == k.Record &&
		slices.ContainsFunc(t.Goal.Target, func(d intent.Description) bool { return len(d.Words) > 0 }) {
		return false
	}
	for i := range m.Controls {
		o := &m.Controls[i]
		beside := o.Record >= 0 && o.Record == k.Record || near(m, o.Node, k.Node)
		if i != control && (!o.Hidden || k.Hidden) && beside && countsBy(m, i, false) {
			return true
		}
	}
	return false
}

// near reports whether two nodes stand in one small element.
func near(m *page.Model, a, b int) bool {
	up := m.Nodes[a].Parent
	for n := 0; up >= 0 && n < maxNear && !m.Inside(up, b); n++ {
		up = m.Nodes[up].Parent
	}
	return up >= 0 && m.Inside(up, b) && m.Index().End(up)-up <= maxBeside
}

const (
	maxNear   = 3  // elements up from a control to the one that has its counterpart too
	maxBeside = 24 // elements in that one
)

// sayings are the controls below a node whose names say the deed of the goal, whatever else they
// have.
func (t *Task) sayings(within int) map[int]bool {
	out := map[int]bool{}
	aim := find.Aim{Effect: t.Goal.Effect, Lemma: t.Goal.Lemma, Lang: t.Lang, Record: -1, Within: within, Hidden: true,
		Likes: t.Goal.Concept == "unfavorite"}
	for _, c := range find.Controls(t.Model, aim) {
		out[c.Index] = true
	}
	return out
}

// several reports whether a control stands in one of several records that each have one of its
// name, and not in the target's: which of them is meant nobody said.
func (t *Task) several(control int) bool {
	m := t.Model
	r := m.Controls[control].Record
	if r < 0 || r == t.record() {
		return false
	}
	name := effect.Fold(effect.ControlName(m, control))
	for i := range m.Controls {
		o := &m.Controls[i]
		if i != control && o.Record >= 0 && o.Record != r && m.Records[o.Record].Group == m.Records[r].Group &&
			effect.Fold(effect.ControlName(m, i)) == name {
			return true
		}
	}
	return false
}

// pressOf is the press of a control that was found.
func (t *Task) pressOf(c *find.Candidate, cost float64) Way {
	control := &t.Model.Controls[c.Index]
	w := t.way("the "+DescribeNode(t.Model, control.Node), cost, press(control.Node))
	if first, ok := t.shows(control); ok {
		w = t.way(w.Name, cost+0.2, first, press(control.Node))
	}
	w.Used = append(slices.Clone(c.Used), t.verbUse("the control "+effect.ControlName(t.Model, c.Index)))
	return w
}

// shows returns what has to be done first for a control that is not seen: the press of what opens
// it, the pointer over what reveals it.
func (t *Task) shows(c *page.Control) (Act, bool) {
	n := &t.Model.Nodes[c.Node]
	if !c.Hidden && !n.Hidden {
		return Act{}, false
	}
	if a, ok := Unhide(t.Model, c.Node); ok {
		return a, true
	}
	if c.Reveal >= 0 {
		return act(step.Hover, c.Reveal), true
	}
	return Act{}, false
}

// inRecord returns the ways to do a deed to a record: a control in it, what shows more of its
// controls, and what acts on it when it is selected.
func (t *Task) inRecord() []Way {
	r := t.record()
	if r < 0 {
		return t.onTarget()
	}
	node := t.Model.Records[r].Node
	list := t.named(node, costNamed)
	list = append(list, t.revealing(r)...)
	return append(list, t.selecting(r)...)
}

// onTarget returns the ways to do a deed to what is no record: its own press, what stands in it
// or in front of it.
func (t *Task) onTarget() []Way {
	if t.Target == nil {
		return t.named(-1, costGlobal)
	}
	var list []Way
	leads := t.Target.What == find.Control && t.leadsOnly(t.Target)
	if t.Target.What == find.Control && (!leads || t.Goal.Effect != intent.Act) {
		w := t.way("the "+DescribeNode(t.Model, t.Target.Node), costItself, press(t.Target.Node))
		w.Used, w.Risks, w.Reveals = t.Target.Used, risky[t.Goal.Effect] && !leads, leads
		list = append(list, w)
	}
	if t.Target.Node >= 0 {
		list = append(list, t.named(t.Target.Node, costNamed)...)
		list = append(list, act1(t, t.Target.Node)...)
	}
	if leads && t.Goal.Effect != intent.Act {
		return append(list, t.calledSo(t.named(-1, costGlobal))...)
	}
	return append(list, t.named(-1, costGlobal)...)
}

// calledSo keeps the ways whose controls have a word of the target in their names: what deletes
// something else is open now than what a link leads to.
func (t *Task) calledSo(list []Way) []Way {
	said := map[intent.Span]bool{}
	for i := range t.Goal.Target {
		d := &t.Goal.Target[i]
		for _, part := range append([]intent.Description{*d}, d.Having...) {
			for _, w := range part.Words {
				said[w.Span] = true
			}
		}
	}
	return slices.DeleteFunc(list, func(w Way) bool {
		return !slices.ContainsFunc(w.Used, func(u find.Use) bool { return said[u.Span] })
	})
}

// leadsOnly reports whether a control leads somewhere else, and its name does not say the deed:
// to go to the books is not to borrow one, and to open a page is not to delete it.
func (t *Task) leadsOnly(c *find.Candidate) bool {
	n := &t.Model.Nodes[c.Node]
	if t.Goal.Effect != intent.Act && t.Goal.Effect != intent.Remove && t.Goal.Effect != intent.Clear || n.Role != "link" &&
		n.Role != "tab" && n.Role != "treeitem" {
		return false
	}
	said := t.controls(t.Goal.Effect, -1)
	return !slices.ContainsFunc(said, func(k find.Candidate) bool { return k.Index == c.Index && k.Score > leastSaid })
}

// leastSaid is the score from which the name of a control says a deed, and not only its object.
const leastSaid = 0.72

// act1 is a hover over the target, where the page reacts to it.
func act1(t *Task, node int) []Way {
	if !strings.Contains(t.Model.Nodes[node].Reacts, "hover") {
		return nil
	}
	w := t.way("hover over "+DescribeNode(t.Model, node), costHover, act(step.Hover, node))
	w.Reveals = true
	return []Way{w}
}

// revealing returns the ways that show more of a record's controls: hover, a menu in it, its
// context menu, and the record itself, opened.
func (t *Task) revealing(r int) []Way {
	m := t.Model
	record := &m.Records[r]
	reveal := func(name string, cost float64, acts ...Act) Way {
		w := t.way(name, cost, acts...)
		w.Reveals = true
		return w
	}
	var list []Way
	for _, i := range record.Controls {
		c := &m.Controls[i]
		if !usable(m, c) || c.Hidden && c.Reveal < 0 {
			continue
		}
		name := effect.ControlName(m, i)
		n := &m.Nodes[c.Node]
		switch {
		case n.Expanded == "true":
		case c.Opens || n.Popup != "" && n.Popup != "false" || t.isMenu(c):
			acts := []Act{press(c.Node)}
			if first, ok := t.shows(c); ok {
				acts = append([]Act{first}, acts...)
			}
			list = append(list, reveal("the menu "+name+" of it", costMenu, acts...))
		case t.isEdit(c) && t.Goal.Effect != intent.Remove:
			list = append(list, reveal("the button "+name+" of it", costMenu+0.1, press(c.Node)))
		}
	}
	n := &m.Nodes[record.Node]
	if strings.Contains(n.Reacts, "hover") || t.hidesControls(r) || len(record.Controls) == 0 {
		list = append(list, reveal("hover over it", costHover, act(step.Hover, record.Node)))
	}
	if node := t.reacting(r, "contextmenu"); node >= 0 {
		list = append(list, reveal("its context menu", costContext, act(step.RightClick, node)))
	}
	if node := t.opener(r); node >= 0 && !t.leaves(node) {
		list = append(list, reveal("open it", costOpen, press(node)))
	}
	return list
}

// hidesControls reports whether a record has controls that are only seen on hover.
func (t *Task) hidesControls(r int) bool {
	return slices.ContainsFunc(t.Model.Records[r].Controls, func(i int) bool {
		c := &t.Model.Controls[i]
		return c.Hidden || c.Reveal >= 0
	})
}

// reacting returns the node of a record, or in it, that reacts in some way; -1.
func (t *Task) reacting(r int, how string) int {
	node := t.Model.Records[r].Node
	for i := node; i < len(t.Model.Nodes) && t.Model.Inside(node, i); i++ {
		if strings.Contains(t.Model.Nodes[i].Reacts, how) {
			return i
		}
	}
	for i := t.Model.Nodes[node].Parent; i >= 0; i = t.Model.Nodes[i].Parent {
		if strings.Contains(t.Model.Nodes[i].Reacts, how) {
			return t.titleNode(r)
		}
		if t.Model.Nodes[i].Parent >= i {
			break
		}
	}
	return -1
}

// titleNode is the node of what a record is called.
func (t *Task) titleNode(r int) int {
	record := &t.Model.Records[r]
	for i := range record.Attributes {
		if a := &record.Attributes[i]; a.Text == record.Title && a.Node >= 0 {
			return a.Node
		}
	}
	return record.Node
}

// opener returns what opens a record: a link or button with its title, else the record itself
// where it reacts to clicks; -1.
func (t *Task) opener(r int) int {
	m := t.Model
	record := &m.Records[r]
	title := effect.Fold(record.Title)
	for _, i := range record.Controls {
		c := &m.Controls[i]
		if c.Role == "checkbox" || c.Role == "radio" || c.Role == "switch" || m.Nodes[c.Node].Checked != "" {
			continue // it marks the thing, and does not open it
		}
		if lexicon.Removes(effect.ControlName(m, i), false) && !strings.Contains(title, effect.Fold(effect.ControlName(m, i))) {
			continue // "Delete Walk the dog"
		}
		if name := effect.Fold(effect.ControlName(m, i)); title != "" && usable(m, c) && (strings.Contains(name, title) ||
			name != "" && strings.Contains(title, name)) {
			return c.Node
		}
	}
	n := &m.Nodes[record.Node]
	if n.Interactive || strings.Contains(n.Reacts, "listener") || strings.Contains(n.Reacts, "cursor") {
		return record.Node
	}
	node := t.titleNode(r)
	for i := node; i > record.Node; i = m.Nodes[i].Parent {
		if m.Nodes[i].Interactive {
			return i
		}
	}
	return -1
}

// Opens reports whether a record has something that opens it.
func Opens(m *page.Model, record int) bool {
	t := Task{Model: m}
	return t.opener(record) >= 0
}

// leaves reports whether a node is a link to another site.
func (t *Task) leaves(node int) bool {
	href := t.Model.Nodes[node].Href
	return strings.HasPrefix(href, "mailto:") || strings.HasPrefix(href, "tel:")
}

// isMenu reports whether a control is one of those that open a menu of deeds: "more", "…".
func (t *Task) isMenu(c *page.Control) bool {
	return hasConcept(c, "more", "menu", "actions", "options", "settings")
}

// isEdit reports whether a control opens a form of its record.
func (t *Task) isEdit(c *page.Control) bool {
	return hasConcept(c, "edit", "change", "rename", "details")
}
