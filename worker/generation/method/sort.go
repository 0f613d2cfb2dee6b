package method

import (
	"slices"
	"strings"
	"unicode"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/generation/find"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/lexicon"
	"github.com/slipway-qa/slipway/worker/generation/page"
)

// sortBy: the header of the column, pressed; an option of a list of orders; a button of it.
func sortBy(t *Task) []Way {
	var list []Way
	if t.Goal.Measure == nil {
		return t.named(-1, costGlobal)
	}
	for _, c := range t.find(t.Goal.Measure, find.Column) {
		if c.Index >= len(t.Model.Groups) || c.Sub >= len(t.Model.Groups[c.Index].Columns) {
			continue
		}
		node := t.Model.Groups[c.Index].Columns[c.Sub].Node
		if node < 0 {
			continue
		}
		if inner := t.pressable(node); inner >= 0 {
			node = inner
		}
		once := t.way("the header "+DescribeNode(t.Model, node), costNamed, press(node))
		once.Used = append(slices.Clone(c.Used), t.verbUse("sorted"))
		twice := t.way(once.Name+", twice", costNamed+0.3, press(node), press(node))
		twice.Used = once.Used
		list = append(list, once, twice)
		list = append(list, t.arrows(node, once.Used)...)
	}
	list = append(list, t.orders()...)
	return append(list, t.namedBy(t.Goal.Measure, costGlobal)...)
}

// arrows returns the presses of signs of order inside of a header, first that of the direction
// that is asked for.
func (t *Task) arrows(header int, used []find.Use) []Way {
	var list []Way
	for i := header + 1; i < len(t.Model.Nodes) && t.Model.Inside(header, i); i++ {
		n := &t.Model.Nodes[i]
		if n.Hidden || !n.Interactive && n.Reacts == "" {
			continue
		}
		cost := costState
		hints := strings.ToLower(strings.Join(n.Hints, " "))
		if down := strings.Contains(hints, "desc") || strings.Contains(hints, "down"); down == t.Goal.Descending {
			cost = costNamed + 0.2
		}
		w := t.way("the sign "+DescribeNode(t.Model, i)+" of the header", cost, press(i))
		w.Used = used
		list = append(list, w)
	}
	return list
}

// pressable returns the only thing in a node that can be pressed; -1.
func (t *Task) pressable(node int) int {
	found := -1
	for i := node + 1; i < len(t.Model.Nodes) && t.Model.Inside(node, i); i++ {
		n := &t.Model.Nodes[i]
		if !n.Interactive || n.Hidden || n.Editable || n.Role == "slider" || n.Role == "separator" {
			continue
		}
		if found >= 0 && t.Model.Inside(found, i) {
			continue
		}
		if found >= 0 {
			return -1
		}
		found = i
	}
	return found
}

// orders returns the choices of options of lists by which the page is sorted.
func (t *Task) orders() []Way {
	var list []Way
	for _, c := range append(t.find(t.Goal.Measure, find.Option), t.directed()...) {
		f := &t.Model.Fields[c.Index]
		if !sortsBy(t, f) || c.Sub >= len(f.Options) {
			continue
		}
		score := 0.0
		if d := direction(f.Options[c.Sub].Label); d != 0 && (d < 0) != t.Goal.Descending {
			score = 0.5
		}
		for _, w := range OptionWays(t, c.Index, c.Sub) {
			w.Cost = costState + 1 - c.Score + score
			w.Used = append(slices.Clone(c.Used), t.verbUse("sorted"))
			list = append(list, w)
		}
	}
	return list
}

// directed returns the options that are called by what comes first in an order by the measure of the
// goal, in any language: "best first" for "die besten zuerst".
func (t *Task) directed() []find.Candidate {
	e := t.Goal.Measure.Extreme
	if e == nil || e.Span != t.Goal.Measure.Span {
		return nil // "the best breakfast first": no option that says less
	}
	var list []find.Candidate
	for i := range t.Model.Fields {
		f := &t.Model.Fields[i]
		for k := range f.Options {
			if d := orderBy(f.Options[k].Label); d != nil && !f.Hidden && d.Attr("by") == e.Measure &&
				(d.Attr("order") == "max") == t.Goal.Descending {
				used := []find.Use{{Span: e.Span, By: "order " + f.Options[k].Label}}
				list = append(list, find.Candidate{What: find.Option, Index: i, Sub: k, Node: f.Node, Score: 1, Used: used})
			}
		}
	}
	return list
}

// orderBy is the entry of a text for what comes first in an order; nil.
func orderBy(label string) *lexicon.Entry {
	for _, code := range lexicon.Codes() {
		for _, e := range lexicon.Language(code).Entries(label) {
			if e.Class == lexicon.Measure && e.Attr("form") == "direction" && e.Attr("by") != "" {
				return &e
			}
		}
	}
	return nil
}

// sortsBy reports whether a field is a list of orders, by its name or its options.
func sortsBy(t *Task, f *page.Field) bool {
	for _, name := range f.Names {
		if textHas(name, t.Lang, "sort", "order by") {
			return true
		}
	}
	return len(f.Options) > 0 && slices.ContainsFunc(f.Options, func(o page.Option) bool {
		return direction(o.Label) != 0 ||
			orderBy(o.Label) != nil
	})
}

// direction is 1 where a text says that an order rises, -1 that it falls, 0 neither.
func direction(label string) int {
	switch {
	case textHas(label, "", "descending"), strings.ContainsAny(label, "↓▼"):
		return -1
	case textHas(label, "", "ascending"), strings.ContainsAny(label, "↑▲"):
		return 1
	}
	return 0
}

// SaysOrder reports whether what a way presses or chooses last says by its own name the direction that a
// goal asks for. A button that says the other one once it is pressed may mean either by it.
func SaysOrder(before, now *page.Model, w *Way, g *intent.Goal) bool {
	if len(w.Acts) == 0 {
		return false
	}
	a := &w.Acts[len(w.Acts)-1]
	if a.Node < 0 || a.Node >= len(before.Nodes) {
		return false
	}
	n := &before.Nodes[a.Node]
	var names []string
	switch {
	case a.Tool == step.Select && a.Args.OptionValue != nil:
		names = append(names, *a.Args.OptionValue)
		for _, o := range n.Options {
			if o.Value == *a.Args.OptionValue {
				names = append(names, o.Label)
			}
		}
	case a.Tool == step.Click:
		names = append(names, n.Name, n.Text)
		if at := now.Index().ByRef(n.Ref); at >= 0 {
			names = append(names, now.Nodes[at].Name, now.Nodes[at].Text)
		}
	}
	want, measure, said := 1, "", false
	if g.Descending {
		want = -1
	}
	if g.Measure != nil && g.Measure.Extreme != nil {
		measure = g.Measure.Extreme.Measure
	}
	for _, name := range names {
		switch orderIn(name, measure) {
		case want:
			said = true
		case -want:
			return false
		}
	}
	return said
}

// orderIn is direction of a text that says more than that ("Price: low to high"), or which of a measure
// come first ("Cheapest").
func orderIn(text, measure string) int {
	words := strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(".,:;!?()[]|/", r) })
	for n := min(len(words), maxOrder); n > 0; n-- {
		for from := range len(words) - n + 1 {
			phrase := strings.Join(words[from:from+n], " ")
			for _, code := range lexicon.Codes() {
				for _, e := range lexicon.Language(code).Entries(phrase) {
					says := e.Attr("form") == "direction" || measure != "" && e.Name == measure
					if e.Class != lexicon.Measure || !says || e.Attr("order") == "" {
						continue
					}
					if e.Attr("order") == "max" {
						return -1
					}
					return 1
				}
			}
		}
	}
	return direction(text)
}

// maxOrder is how many words say a direction at most.
const maxOrder = 6
