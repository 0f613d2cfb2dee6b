package method

import (
	"slices"
	"strconv"

	"github.com/slipway-qa/slipway/worker/generation/find"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/page"
)

// NumberText is a number as a field of numbers takes it.
func NumberText(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }

// More returns the ways to take one more of a thing that was taken once: its plus.
func More(t *Task) []Way {
	r := t.record()
	if r < 0 {
		return nil
	}
	return t.Presses(t.Model.Records[r].Node, 1)
}

// HandIn returns the ways to hand in what was just filled in on a page: the control that says it
// in the smallest element around the fields that changed, and Enter in the last of them.
func HandIn(t *Task, start *page.Model) []Way {
	if t.Depth > 0 {
		return nil
	}
	around, last := t.filled(start)
	if around < 0 {
		return nil
	}
	own := -1 // a form in a thing of a list is handed in there
	if last >= 0 {
		own = t.Model.RecordAt(last)
	}
	var list []Way
	for up, n := around, 0; up >= 0 && n < maxUp && len(list) == 0; up, n = t.Model.Nodes[up].Parent, n+1 {
		for _, e := range []intent.Effect{t.Goal.Effect, intent.Add, intent.Submit} {
			for _, c := range t.controls(e, up) {
				if !t.handsIn(&c, own) {
					continue
				}
				w := t.pressOf(&c, costNamed-0.9+1-c.Score)
				w.Risks = true
				list = append(list, w)
			}
		}
		list = append(list, t.submits(up)...)
		if t.Model.Nodes[up].Parent >= up {
			break
		}
	}
	for _, w := range Onward(t) { // what hands in may be on a later page
		at := slices.IndexFunc(list, func(o Way) bool { return o.Acts[len(o.Acts)-1].Node == w.Acts[0].Node })
		switch {
		case at >= 0:
			list[at].Reveals = true
		case len(list) == 0 && Beside(t.Model, around, w.Acts[0].Node):
			w.Reveals = true
			list = append(list, w)
		}
	}
	if last >= 0 {
		w := t.way("Enter in "+DescribeNode(t.Model, last), costState, key(last, "Enter"))
		w.Used = []find.Use{t.verbUse("Enter")}
		list = append(list, w)
	}
	return t.redeeming(once(list))
}

// handsIn reports whether a control that says so hands in fields of a record (-1: of the page): what
// leads to another view of a list, by a word for its state, hands in nothing.
func (t *Task) handsIn(c *find.Candidate, record int) bool {
	if c.Index >= len(t.Model.Controls) {
		return false
	}
	k := &t.Model.Controls[c.Index]
	leads := t.Model.Nodes[k.Node].Href != "" && t.Model.FieldAt(k.Node) >= 0
	return !leads && !t.declines(k.Node, c.Index) && (k.Record < 0 || k.Record == record)
}

// redeeming drops, where a code is to be applied, what adds or orders something.
func (t *Task) redeeming(list []Way) []Way {
	if t.Goal.Concept != "redeem" {
		return list
	}
	return slices.DeleteFunc(list, func(w Way) bool {
		c := t.Model.ControlAt(w.Acts[len(w.Acts)-1].Node)
		return c >= 0 && hasConcept(&t.Model.Controls[c], "add_to_cart", "cart", "order", "buy", "pay", "checkout", "book")
	})
}

// Query returns the ways to search by what was just filled in on a page: only the control that says so
// beside the fields, since another one might order what is only looked for.
func Query(t *Task, start *page.Model) []Way {
	around, _ := t.filled(start)
	search := *t
	search.Goal = &intent.Goal{Effect: intent.Search, Span: t.Goal.Span}
	var list []Way
	for n := 0; around >= 0 && n < maxUp && len(list) == 0; n++ {
		for _, c := range search.controls(intent.Search, around) {
			if t.Model.Controls[c.Index].Record < 0 {
				list = append(list, t.pressOf(&c, costNamed))
			}
		}
		around = t.Model.Nodes[around].Parent
	}
	return list
}

// maxUp is how many elements around a form its button may stand outside of.
const maxUp = 6

// Beside reports whether a control stands near enough to a node to be of its form.
func Beside(m *page.Model, node, control int) bool {
	for up, n := node, 0; up >= 0 && n < maxUp && m.Nodes[up].Parent < up; up, n = m.Nodes[up].Parent, n+1 {
		if m.Inside(up, control) {
			return true
		}
	}
	return false
}

// filled returns the smallest node around the fields that differ from a model, and the last
// field of text among them; -1.
func (t *Task) filled(start *page.Model) (around, last int) {
	around, last = -1, -1
	held := map[string]string{}
	if start != nil {
		for i := range start.Fields {
			held[start.Nodes[start.Fields[i].Node].Ref] = start.Fields[i].Value
		}
	}
	for i := range t.Model.Fields {
		f := &t.Model.Fields[i]
		n := &t.Model.Nodes[f.Node]
		if n.Hidden || f.Value == "" || start != nil && held[n.Ref] == f.Value || start == nil && !n.Password && !n.Editable {
			continue
		}
		if n.Editable {
			last = f.Node
		}
		if around < 0 {
			around = f.Node
			continue
		}
		for !t.Model.Inside(around, f.Node) && around >= 0 {
			around = t.Model.Nodes[around].Parent
		}
	}
	return around, last
}

// SaysHowMany reports whether a field is called a quantity.
func SaysHowMany(f *page.Field) bool {
	for _, name := range f.Names {
		if textHas(name, "", "quantity", "amount", "count", "number") {
			return true
		}
	}
	return len(f.Names) == 0
}

// Page returns the presses of the controls of the page itself, in no record, that say the effect
// of the goal.
func Page(t *Task) []Way {
	var list []Way
	for _, c := range t.controlsFor(t.Goal.Effect, t.scope(), func(c *find.Candidate) bool { return t.Model.Controls[c.Index].Record < 0 }) {
		list = append(list, t.pressOf(&c, costNamed+1-c.Score))
	}
	if t.Goal.Risk != "" {
		list = once(list)
	}
	return list
}
