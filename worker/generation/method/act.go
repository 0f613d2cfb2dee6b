package method

import (
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/generation/effect"
	"github.com/slipway-qa/slipway/worker/generation/find"
	"github.com/slipway-qa/slipway/worker/generation/page"
)

// move: an option of the record's field of place, a control that names the place, a drag, a
// menu, the keyboard.
func move(t *Task) []Way {
	r := t.record()
	if t.Target == nil {
		return t.named(-1, costGlobal)
	}
	node := t.Target.Node
	if r >= 0 {
		node = t.Model.Records[r].Node
	}
	var list []Way
	if t.Goal.To != nil {
		for _, c := range t.findIn(t.Goal.To, node, find.Option, find.Control) {
			list = append(list, t.chosen(&c, costNamed+1-c.Score)...)
		}
	}
	if r >= 0 {
		list = append(list, t.placed(r)...)
	}
	list = append(list, t.dragged(r, node)...)
	if r >= 0 {
		list = append(list, t.named(node, costState+1)...)
		list = append(list, t.revealing(r)...)
	}
	return list
}

// placed returns the presses of "up" and "down" in a record that bring it to its place.
func (t *Task) placed(r int) []Way {
	m := t.Model
	g := m.Records[r].Group
	if g < 0 || g >= len(m.Groups) {
		return nil
	}
	at := slices.Index(m.Groups[g].Records, r)
	by := 0
	switch t.Goal.Place {
	case "first", "top":
		by = -at
	case "last", "bottom":
		by = len(m.Groups[g].Records) - 1 - at
	case "before", "after":
		other := t.placeRecord()
		if other < 0 || m.Records[other].Group != g {
			return nil
		}
		by = slices.Index(m.Groups[g].Records, other) - at
		if t.Goal.Place == "before" && by > 0 {
			by--
		} else if t.Goal.Place == "after" && by < 0 {
			by++
		}
	}
	if by == 0 {
		return nil
	}
	concept := map[bool]string{true: "down", false: "up"}[by > 0]
	for _, i := range m.Records[r].Controls {
		c := &m.Controls[i]
		if !usable(m, c) || !hasConcept(c, concept) {
			continue
		}
		acts := make([]Act, min(max(by, -by), maxKeys))
		for k := range acts {
			acts[k] = press(c.Node)
		}
		w := t.way("the "+DescribeNode(m, c.Node)+" of it", costState, acts...)
		w.Used = []find.Use{t.verbUse("moved")}
		return []Way{w}
	}
	return nil
}

// placeRecord is the record beside which the target goes; -1.
func (t *Task) placeRecord() int {
	if t.Goal.To == nil {
		return -1
	}
	for _, c := range t.find(t.Goal.To, find.Record) {
		return c.Index
	}
	return -1
}

// dragged returns the drags of the target to its place.
func (t *Task) dragged(r, node int) []Way {
	m := t.Model
	to := -1
	var used []find.Use
	if t.Goal.To != nil {
		for _, c := range t.find(t.Goal.To, find.Container, find.Record, find.Control, find.Line) {
			to, used = c.Node, c.Used
			break
		}
	} else if r >= 0 && m.Records[r].Group >= 0 {
		records := m.Groups[m.Records[r].Group].Records
		switch t.Goal.Place {
		case "first", "top":
			to = m.Records[records[0]].Node
		case "last", "bottom":
			to = m.Records[records[len(records)-1]].Node
		}
	}
	if to < 0 || to == node {
		return nil
	}
	cost := costGlobal + 0.5
	if strings.Contains(m.Nodes[node].Reacts, "draggable") {
		cost = costState
	}
	w := t.way("drag it onto "+DescribeNode(m, to), cost, Act{Tool: step.Drag, Node: node, To: to})
	w.Used = append(slices.Clone(used), t.verbUse("dragged"))
	w.Key += t.keyOf(to)
	list := []Way{w}
	if r >= 0 {
		if title := t.titleNode(r); title != node {
			again := t.way(w.Name, cost+0.4, Act{Tool: step.Drag, Node: title, To: to})
			again.Used, again.Key = w.Used, again.Key+t.keyOf(to)
			list = append(list, again)
		}
	}
	return list
}

// rate: the star of the number in the target.
func rate(t *Task) []Way {
	within := -1
	if t.Target != nil {
		within = t.Target.Node
		if r := t.record(); r >= 0 {
			within = t.Model.Records[r].Node
		}
	}
	var list []Way
	for i := range t.Model.Fields {
		f := &t.Model.Fields[i]
		is := f.Kind == "rating" || t.Target != nil && t.Target.What == find.Field && t.Target.Index == i || ratesBy(f)
		if within >= 0 && !t.Model.Inside(within, f.Node) || f.Disabled || !is {
			continue
		}
		ways := t.stars(f, t.Goal.Amount)
		if len(ways) == 0 && f.Kind != "choice" && f.Kind != "choices" {
			ways = FillWays(t, &find.Candidate{What: find.Field, Index: i, Node: f.Node}, t.Goal.Amount, false)
		}
		for _, w := range ways {
			list = append(list, t.rated(w))
		}
	}
	list = append(list, t.starControls(within)...)
	if within < 0 && slices.ContainsFunc(list, func(w Way) bool { return w.Key != list[0].Key }) {
		return nil // of several ratings the text says none
	}
	if r := t.record(); r >= 0 {
		list = append(list, t.revealing(r)...)
	}
	return list
}

// ratesBy reports whether a field of choices is a rating: its options count.
func ratesBy(f *page.Field) bool {
	return (f.Kind == "choice" || f.Kind == "slider") && textHas(f.Label, "", "rating", "stars")
}

func (t *Task) rated(w Way) Way {
	w.Used = append(w.Used, t.verbUse("rated"))
	if t.Goal.Amount != nil {
		w.Used = append(w.Used, find.Use{Span: t.Goal.Amount.Span, By: "the number of stars"})
	}
	return w
}

// starControls returns the presses of the nth of the controls that stand for stars.
func (t *Task) starControls(within int) []Way {
	if t.Goal.Amount == nil || t.Goal.Amount.Number == nil {
		return nil
	}
	var list []Way
	var stars []int
	for i := range t.Model.Controls {
		c := &t.Model.Controls[i]
		if within >= 0 && !t.Model.Inside(within, c.Node) || !usable(t.Model, c) {
			continue
		}
		name := effect.ControlName(t.Model, i)
		starred := strings.ContainsAny(name, "★☆") || hasConcept(c, "star", "rating", "rate")
		if !starred {
			continue
		}
		if sameNumber(name, t.Goal.Amount) {
			list = append(list, t.rated(t.way("the "+DescribeNode(t.Model, c.Node), costNamed, press(c.Node))))
		}
		stars = append(stars, c.Node)
	}
	if n := int(*t.Goal.Amount.Number); len(list) == 0 && n >= 1 && n <= len(stars) && len(stars) <= 10 {
		list = append(list, t.rated(t.way("the star "+DescribeNode(t.Model, stars[n-1]), costState, press(stars[n-1]))))
	}
	return list
}

// stepBy: the plus or minus of the target, arrow keys, the field.
func stepBy(t *Task) []Way {
	times := max(t.Goal.Times, 1)
	if t.Goal.Amount != nil && t.Goal.Amount.Number != nil {
		times = int(*t.Goal.Amount.Number)
	}
	if t.Goal.Effect == "decrease" {
		times = -times
	}
	node := -1
	if t.Target != nil {
		node = t.Target.Node
		if r := t.record(); r >= 0 && t.Target.What != find.Field {
			node = t.Model.Records[r].Node
		}
	}
	var list []Way
	if node >= 0 {
		list = t.Presses(node, times)
	}
	if t.Target != nil && t.Target.What == find.Field {
		f := &t.Model.Fields[t.Target.Index]
		if now, ok := amount(f.Value); ok {
			sum := now + float64(times)
			list = append(list, FillWays(t, t.Target, numberValue(sum), false)...)
		}
	}
	for i := range list {
		list[i].Used = append(list[i].Used, t.verbUse("counted"))
		if t.Goal.Amount != nil {
			list[i].Used = append(list[i].Used, find.Use{Span: t.Goal.Amount.Span, By: "so often"})
		}
	}
	return append(list, t.inRecord()...)
}

// clear_: the control that empties the target, else its field emptied.
func clear_(t *Task) []Way {
	var list []Way
	if t.Target != nil && t.Target.What == find.Field {
		f := &t.Model.Fields[t.Target.Index]
		w := t.way("the field "+DescribeNode(t.Model, f.Node), costNamed, fill(f.Node, ""))
		w.Used = append(slices.Clone(t.Target.Used), t.verbUse("emptied"))
		list = append(list, w)
	}
	if t.Target != nil && t.Target.Node >= 0 {
		list = append(list, t.named(t.Target.Node, costState)...)
	}
	if t.Target != nil && t.Target.What == find.Control && t.leadsOnly(t.Target) {
		return append(list, t.calledSo(t.named(t.scope(), costGlobal))...)
	}
	far := t.named(t.scope(), costGlobal)
	if t.Target != nil && t.Target.What == find.Container {
		far = slices.DeleteFunc(far, func(w Way) bool { // the cross of something else
			c := t.Model.ControlAt(w.Acts[len(w.Acts)-1].Node)
			return c < 0 || !hasConcept(&t.Model.Controls[c], "clear")
		})
	}
	return append(list, far...)
}
