package method

import (
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/worker/generation/effect"
	"github.com/slipway-qa/slipway/worker/generation/find"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/page"
)

// inside returns the ways to go on in what was opened for the goal: what is named for it there,
// what it goes to or becomes, and what confirms.
func (t *Task) inside() []Way {
	if t.Model.Dialog != nil {
		return []Way{t.answer("accept")}
	}
	scope := t.scope()
	list := t.news()
	if scope >= 0 {
		list = append(list, t.named(scope, costNamed-0.5)...)
	}
	for _, d := range []*intent.Description{t.Goal.To, t.Goal.With} {
		if d != nil {
			list = append(list, t.namedBy(d, costNamed-0.4)...)
		}
	}
	if t.Goal.Become != nil {
		list = append(list, t.namedText(t.Goal.Become, costNamed-0.4)...)
	}
	for i := range list {
		list[i].Risks = list[i].Risks || risky[t.Goal.Effect]
	}
	switch t.Goal.Effect {
	case intent.Add, intent.Set, intent.Edit, intent.Append, intent.Rate, intent.Choose, intent.Act:
		list = append(list, t.hands(scope)...)
	}
	if scope >= 0 && asks(t.Model, t.Inside) {
		for _, w := range t.Yes(scope) {
			w.Cost += 0.3
			w.Risks = true
			list = append(list, w)
		}
	}
	return list
}

// news returns the presses of controls that came with the way before and say the effect.
func (t *Task) news() []Way {
	var list []Way
	said := t.sayings(-1)
	for _, c := range t.controlsFor(t.Goal.Effect, -1, func(c *find.Candidate) bool {
		came := slices.Contains(t.News, t.Model.Controls[c.Index].Node)
		return came && !t.isTitle(c.Node) && !t.countsMore(c.Index) && (t.Target != nil || !t.several(c.Index))
	}) {
		w := t.pressOf(&c, costNamed-0.5+1-c.Score)
		w.Guess = !said[c.Index]
		list = append(list, w)
	}
	return list
}

// asks reports whether a container is a question and no form: it has buttons and no field that
// must be filled in.
func asks(m *page.Model, container int) bool {
	if container < 0 || container >= len(m.Containers) {
		return false
	}
	c := &m.Containers[container]
	if c.Kind == "menu" || c.Kind == "list" {
		return false
	}
	for i := range m.Fields {
		f := &m.Fields[i]
		if m.Inside(c.Node, f.Node) && f.Required && f.Value == "" {
			return false
		}
	}
	return true
}

// namedBy returns the presses of controls and options that a description means, inside of what
// was opened.
func (t *Task) namedBy(d *intent.Description, cost float64) []Way {
	var list []Way
	for _, c := range t.findIn(d, t.scope(), find.Control, find.Option) {
		list = append(list, t.chosen(&c, cost+1-c.Score)...)
	}
	return list
}

// namedText returns the presses of controls and options that are called as a value.
func (t *Task) namedText(v *intent.Value, cost float64) []Way {
	d := valueDescription(v)
	return t.namedBy(&d, cost)
}

// valueDescription is a value as the description of what is called so.
func valueDescription(v *intent.Value) intent.Description {
	return intent.Description{Span: v.Span, Words: []intent.Word{{Span: v.Span, Text: v.Text}}, Quoted: v.Quoted}
}

// byConcept returns the presses of controls whose name is one of some concepts.
func (t *Task) byConcept(within int, cost float64, concepts ...string) []Way {
	var list []Way
	for i := range t.Model.Controls {
		c := &t.Model.Controls[i]
		if within >= 0 && !t.Model.Inside(within, c.Node) || !usable(t.Model, c) || c.Hidden || !hasConcept(c, concepts...) {
			continue
		}
		w := t.way("the "+DescribeNode(t.Model, c.Node), cost, press(c.Node))
		w.Used = []find.Use{t.verbUse(effect.ControlName(t.Model, i))}
		list = append(list, w)
	}
	return list
}

// Called returns the presses of controls and options of the target that are called as a value.
func Called(t *Task, v *intent.Value) []Way {
	d := valueDescription(v)
	var list []Way
	for _, c := range t.findIn(&d, t.own(), find.Control, find.Option) {
		list = append(list, t.chosen(&c, costNamed-0.6+1-c.Score)...)
	}
	return list
}

// own is the node in which the controls of the target are; without one that in which the goal goes on.
func (t *Task) own() int {
	if t.Target == nil || t.Depth > 0 {
		return t.scope()
	}
	if r := t.record(); r >= 0 {
		return t.Model.Records[r].Node
	}
	return t.Target.Node
}

// CalledAs returns the presses of controls of the target, or of the page, that say the deed of the goal and what
// it becomes by that: "Copy as new", "Save draft".
func CalledAs(t *Task) []Way {
	var list []Way
	for _, c := range t.controls(t.Goal.Effect, t.own()) {
		says := slices.ContainsFunc(c.Used, func(u find.Use) bool { return u.Span == t.Goal.Become.Span })
		if says && c.Score >= leastBulk && (t.Target != nil || t.Model.Controls[c.Index].Record < 0) {
			list = append(list, t.pressOf(&c, costNamed))
		}
	}
	return list
}

// Onward returns the presses of what leads to the next page of a form: beside its fields.
func Onward(t *Task) []Way {
	var list []Way
	for i := range t.Model.Controls {
		c := &t.Model.Controls[i]
		pager := false
		for g := range t.Model.Groups {
			p := t.Model.Groups[g].Pager
			pager = pager || p >= 0 && t.Model.Inside(p, c.Node)
		}
		if pager || c.Record >= 0 || c.Hidden || !usable(t.Model, c) || !hasConcept(c, "next", "continue") {
			continue
		}
		list = append(list, t.way("the "+DescribeNode(t.Model, c.Node), costNamed, press(c.Node)))
	}
	return list
}

// hands returns the presses of what hands in a form in what was opened, or leads to its next page.
func (t *Task) hands(scope int) []Way {
	var list []Way
	for _, c := range t.controls(intent.Submit, scope) {
		if t.declines(c.Node, c.Index) || t.isTitle(c.Node) || t.Model.Controls[c.Index].Record >= 0 && scope < 0 {
			continue
		}
		w := t.pressOf(&c, costNamed+1-c.Score)
		w.Risks = true
		list = append(list, w)
	}
	if scope >= 0 {
		list = append(list, t.submits(scope)...)
	}
	for _, w := range Onward(t) {
		w.Reveals = true
		w.Cost = costState
		list = append(list, w)
	}
	return list
}

// another reports whether a control that names the effect of the goal does something else: it is a
// title, stands in one of several things of which none was said, deletes what is to be kept, counts, or
// leads to another page ("Fixed sidebar" sets nothing of this one, nor goes on in what was opened).
func (t *Task) another(c *find.Candidate, within int) bool {
	control := &t.Model.Controls[c.Index]
	switch {
	case t.isTitle(control.Node), (within < 0 || t.record() < 0) && t.several(c.Index), t.countsMore(c.Index):
		return true
	case keeps[t.Goal.Effect] && c.Score < saysSo && hasConcept(control, "delete", "trash"):
		return true
	}
	return len(c.Used) == 0 && (t.Goal.Effect == intent.Set || t.Depth > 0) && t.leadsAway(c.Index)
}

// leadsAway reports whether a control outside of the target is a link to another page.
func (t *Task) leadsAway(control int) bool {
	n := &t.Model.Nodes[t.Model.Controls[control].Node]
	return n.Role == "link" && n.Href != "" && !strings.HasPrefix(n.Href, "#") &&
		(t.record() < 0 || t.Model.Controls[control].Record != t.record())
}
