package method

import (
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/worker/generation/effect"
	"github.com/slipway-qa/slipway/worker/generation/find"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/page"
)

// filter: an option, chip, tab or box that is called so; a control of filters opened first.
func filter(t *Task) []Way {
	var list []Way
	for i := range t.Goal.Target {
		for _, c := range t.find(&t.Goal.Target[i], find.Option, find.Control, find.Field) {
			list = append(list, t.chosen(&c, costNamed+1-c.Score)...)
		}
		if d, ok := toldBy(&t.Goal.Target[i]); ok {
			for _, c := range t.find(&d, find.Option, find.Control) {
				list = append(list, t.chosen(&c, costState+1-c.Score)...)
			}
			list = append(list, t.halves(&t.Goal.Target[i].State[0])...)
		}
	}
	return append(list, t.openers("filter")...)
}

// toldBy returns the one word that things are told by from others of their kind, as what a filter is
// called: "finished" of "the finished tasks". What the list is of need not stand in its name.
func toldBy(d *intent.Description) (intent.Description, bool) {
	bare := len(d.Words)+len(d.Having)+len(d.Lacking)+len(d.Relation)+len(d.Compare) == 0 && d.In == nil && d.Of == nil &&
		d.Extreme == nil && d.Ordinal == 0
	if !bare || d.Noun == "" && !d.Pronoun || len(d.State) != 1 || d.State[0].Not {
		return intent.Description{}, false
	}
	s := &d.State[0]
	return intent.Description{Span: s.Span, Words: []intent.Word{{Span: s.Span, Text: s.Text}}}, true
}

// halves returns the presses of what shows the things in a state where it is called otherwise: beside the
// one for those that are done, what says "active" is for those that are open.
func (t *Task) halves(s *intent.State) []Way {
	if s.Name != "open" {
		return nil
	}
	parts := func(states ...string) []int {
		var list []int
		for i := range t.Model.Controls {
			if c := &t.Model.Controls[i]; usable(t.Model, c) && !c.Hidden &&
				len(strings.Fields(effect.ControlName(t.Model, i))) == 1 && saysState(effect.ControlName(t.Model, i), states...) {
				list = append(list, i)
			}
		}
		return list
	}
	active, done := parts("active", "enabled"), parts("done")
	if len(active) != 1 || len(done) != 1 {
		return nil
	}
	c := find.Candidate{What: find.Control, Index: active[0], Node: t.Model.Controls[active[0]].Node, Score: 1,
		Used: []find.Use{{Span: s.Span, By: "filter"}}}
	return t.chosen(&c, costState)
}

// chosen returns the ways to choose a candidate: an option, the press of a control, a box.
func (t *Task) chosen(c *find.Candidate, cost float64) []Way {
	var list []Way
	switch c.What {
	case find.Option:
		list = OptionWays(t, c.Index, c.Sub)
	case find.Field:
		if f := &t.Model.Fields[c.Index]; f.Kind == "switch" {
			list = []Way{t.way("the "+DescribeNode(t.Model, f.Node), cost, press(f.Node))}
		}
	case find.Control:
		list = []Way{t.pressOf(c, cost)}
	}
	for i := range list {
		list[i].Cost = cost
		list[i].Used = append(list[i].Used, c.Used...)
		list[i].Used = append(list[i].Used, t.verbUse("chosen"))
	}
	return list
}

// openers returns the presses of controls that open what a concept names.
func (t *Task) openers(concepts ...string) []Way {
	var list []Way
	for i := range t.Model.Controls {
		c := &t.Model.Controls[i]
		if !usable(t.Model, c) || c.Hidden || !hasConcept(c, concepts...) || t.Model.Nodes[c.Node].Expanded == "true" {
			continue
		}
		w := t.way("the "+DescribeNode(t.Model, c.Node), costMenu, press(c.Node))
		w.Reveals = true
		list = append(list, w)
	}
	return list
}

// turn: the number of a page, next and previous, the size of a page.
func turn(t *Task) []Way {
	g := t.Goal
	amount := effect.PageAmount(g)
	switch {
	case g.Place == "next" || g.Place == "previous" || g.Place == "first" || g.Place == "last":
		return t.pagers(g.Place)
	case amount == nil:
		return t.named(-1, costGlobal)
	case effect.PageSize(g):
		return append(append(t.sizes(amount), t.pageNumber(amount)...), t.sizeLists()...)
	}
	list := append(t.pageNumber(amount), t.pageField(amount)...)
	list = append(list, t.pagesOn(amount)...)
	return append(list, t.sizes(amount)...)
}

// pageField returns the ways through the field that holds the number of the page.
func (t *Task) pageField(v *intent.Value) []Way {
	var list []Way
	for i := range t.Model.Fields {
		f := &t.Model.Fields[i]
		n := &t.Model.Nodes[f.Node]
		if f.Record >= 0 || f.Disabled || f.ReadOnly || !n.Editable ||
			!slices.ContainsFunc(f.Names, func(s string) bool { return textHas(s, "", "page") }) {
			continue
		}
		if _, ok := effect.Number(f.Value); !ok {
			continue
		}
		w := t.way("the number of the page", costState, fill(f.Node, numberText(v)), key(f.Node, "Enter"))
		w.Used = []find.Use{t.verbUse("turned"), {Span: v.Span, By: "the number of the page"}}
		list = append(list, w)
		for _, go_ := range t.byConcept(-1, costState+0.1, "go", "open") {
			w := t.way("the number of the page", costState+0.1, append([]Act{fill(f.Node, numberText(v))}, go_.Acts...)...)
			w.Used = list[0].Used
			list = append(list, w)
		}
	}
	return list
}

// pagesOn returns the presses of next (or previous) that lead to a page, from the one that the
// page says is shown.
func (t *Task) pagesOn(v *intent.Value) []Way {
	now := t.pageNow()
	by := int(*v.Number) - now
	if now == 0 || by == 0 || max(by, -by) > maxKeys {
		return nil
	}
	var list []Way
	for _, w := range t.pagers(map[bool]string{true: "next", false: "previous"}[by > 0]) {
		acts := make([]Act, max(by, -by))
		for i := range acts {
			acts[i] = w.Acts[len(w.Acts)-1]
		}
		on := t.way(w.Name+", to page "+numberText(v), w.Cost+0.3, acts...)
		on.Used = []find.Use{t.verbUse("turned"), {Span: v.Span, By: "the number of the page"}}
		list = append(list, on)
	}
	return list
}

// pageNow is the number of the page that is shown; 1 where a list has pages and nothing says
// which it is, 0 where there are none.
func (t *Task) pageNow() int {
	for i := range t.Model.Groups {
		pager := t.Model.Groups[i].Pager
		if pager < 0 {
			continue
		}
		for k := range t.Model.Controls {
			c := &t.Model.Controls[k]
			n := &t.Model.Nodes[c.Node]
			if t.Model.Inside(pager, c.Node) && (n.Selected == "true" || c.State == "selected" || n.Disabled) {
				if x, ok := effect.Number(effect.ControlName(t.Model, k)); ok {
					return int(x)
				}
			}
		}
		return 1
	}
	return 1
}

// pagers returns the presses of what turns a page.
func (t *Task) pagers(place string) []Way {
	var list []Way
	arrows := map[string]string{"next": "›»>→", "previous": "‹«<←", "first": "«", "last": "»"}[place]
	for i := range t.Model.Controls {
		c := &t.Model.Controls[i]
		if !usable(t.Model, c) || c.Hidden {
			continue
		}
		name := strings.TrimSpace(effect.ControlName(t.Model, i))
		arrow := name != "" && len([]rune(name)) == 1 && strings.Contains(arrows, name)
		if !arrow && !hasConcept(c, place) {
			continue
		}
		cost := costNamed
		if c.Record >= 0 {
			cost = costGuess
		}
		w := t.way("the "+DescribeNode(t.Model, c.Node), cost, press(c.Node))
		w.Used = []find.Use{t.verbUse("turned")}
		list = append(list, w)
	}
	return list
}

// pageNumber returns the presses of a page's number.
func (t *Task) pageNumber(v *intent.Value) []Way {
	var list []Way
	for i := range t.Model.Controls {
		c := &t.Model.Controls[i]
		if !usable(t.Model, c) || c.Hidden || !sameNumber(effect.ControlName(t.Model, i), v) {
			continue
		}
		cost := costGlobal
		for _, g := range t.Model.Groups {
			if g.Pager >= 0 && t.Model.Inside(g.Pager, c.Node) {
				cost = costNamed
			}
		}
		w := t.way("the "+DescribeNode(t.Model, c.Node), cost, press(c.Node))
		w.Used = []find.Use{t.verbUse("turned"), {Span: v.Span, By: "the number of the page"}}
		list = append(list, w)
	}
	return list
}

// sameNumber reports whether a text is a number, with at most a word beside it.
func sameNumber(text string, v *intent.Value) bool {
	if v == nil || v.Number == nil {
		return false
	}
	n, ok := effect.Number(text)
	return ok && n == *v.Number
}

// sizes returns the choices of a number of rows.
func (t *Task) sizes(v *intent.Value) []Way {
	var list []Way
	for i := range t.Model.Fields {
		f := &t.Model.Fields[i]
		if f.Record >= 0 {
			continue
		}
		numbers := 0
		for _, o := range f.Options {
			if strings.ContainsAny(o.Label, "0123456789") {
				numbers++
			}
		}
		for k, o := range f.Options {
			if numbers*2 < len(f.Options) || !sameNumber(o.Label, v) {
				continue
			}
			for _, w := range OptionWays(t, i, k) {
				w.Cost = costState
				w.Used = []find.Use{t.verbUse("set"), {Span: v.Span, By: "rows of a page"}}
				list = append(list, w)
			}
		}
	}
	return list
}

// sizeLists returns the presses that open lists of how many rows a page has, whose options are not there
// before.
func (t *Task) sizeLists() []Way {
	var list []Way
	for i := range t.Model.Fields {
		f := &t.Model.Fields[i]
		_, counts := effect.Number(f.Value)
		if f.Record >= 0 || f.Hidden || f.Kind != "choice" || len(f.Options) > 0 || !counts {
			continue
		}
		cost := costMenu
		if slices.ContainsFunc(f.Names, func(s string) bool { return textHas(s, "", "page") }) {
			cost = costState
		}
		w := t.way("the list "+DescribeNode(t.Model, f.Node), cost, press(f.Node))
		w.Reveals = true
		list = append(list, w)
	}
	return list
}

// TurnsPage reports whether a control shows the next page of a list: it is in the pager of a
// group and leads on.
func TurnsPage(m *page.Model, i int) bool {
	for g := range m.Groups {
		if p := m.Groups[g].Pager; p >= 0 && m.Inside(p, m.Controls[i].Node) {
			return usable(m, &m.Controls[i]) && turnOf(m, i) == 1
		}
	}
	return false
}
