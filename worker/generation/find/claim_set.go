package find

import (
	"fmt"
	"slices"

	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/page"
)

// counts evaluates how many of something there are.
func (k *claimer) counts() {
	if len(k.c.Values) == 0 || k.c.Values[0].Number == nil || len(k.c.Subject) == 0 {
		return
	}
	v := &k.c.Values[0]
	want := *v.Number
	d := k.c.Subject[0]
	d.All, d.Both, d.Count = true, false, 0
	plain := d.Of == nil && d.In == nil && len(d.Having)+len(d.Lacking) == 0 && d.Extreme == nil
	bare := d.Pronoun || d.Noun == "" && d.Kind == "" && plain
	more := (!d.Pronoun || k.c.Subject[0].All) && want > float64(len(k.w.Among)) // more than what was spoken of
	if bare && len(d.Words) == 0 && len(d.State) == 0 && k.left(&d, want) {
		return
	}
	if bare && len(d.Words) == 0 && (len(k.w.Among) == 0 || more) && len(d.State) == 0 {
		k.countMain(want)
		return
	}
	w := k.w
	w.Kinds = []What{Record}
	f := Description(k.m, &d, w)
	if len(f.Missing) > 0 || len(f.Candidates) == 0 {
		f = Description(k.m, &d, k.w)
	}
	if plain && d.Kind == "" && len(d.Words) > 0 && len(f.Missing) == 0 && noThings(f.Candidates) { // "3 tasks": a field "New task" is none
		if k.listOf(&d) {
			if k.countMain(want); k.e.Known {
				return
			}
		}
		f.Candidates = nil
	}
	members := 0
	var nodes []int
	for _, c := range f.Candidates {
		if len(c.Missing) == 0 && c.Score >= Enough && k.visible(&c) && (c.What == Record || c.What == Field ||
			c.What == Option || c.What == Control) {
			members++
			nodes = append(nodes, c.Node)
		}
	}
	if k.e.Uncertain = f.Uncertain; !k.m.Truncated &&
		slices.ContainsFunc(d.State, func(s intent.State) bool { return s.Name == "selected" || s.Name == "checked" }) {
		k.e.Uncertain = "" // what is selected was selected by the test, where it is seen
	}
	k.e.Known = true
	k.use(v.Span, "counted")
	if within(float64(members), opOf(k.c.Op), want, want) && (members > 0 || want == 0) && k.e.Uncertain == "" {
		k.found(&f, &k.c.Subject[0])
		k.e.Holds = !k.c.Not
		k.e.Why = fmt.Sprintf("%d of %s", members, said(&d))
		k.countOf(&d, f.Candidates, nodes)
		if want == 0 {
			k.use(k.c.Subject[0].Span, "none of it")
		}
		return
	}
	if k.counted(want) {
		return
	}
	k.e.Holds = k.c.Not
	k.e.Why = fmt.Sprintf("%d of %s, not %g", members, said(&d), want)
	if k.e.Uncertain != "" && float64(members) == want {
		k.e.Why = fmt.Sprintf("%d of %s are seen, and %s", members, said(&d), k.e.Uncertain)
	}
	if members == 0 {
		k.e.Known = len(f.Missing) == 0 && len(f.Candidates) > 0
		k.e.Missing = f.Missing
	}
}

// noThings reports whether all candidates are fields, controls and texts.
func noThings(list []Candidate) bool {
	return len(list) > 0 && !slices.ContainsFunc(list, func(c Candidate) bool {
		return c.What != Field && c.What != Control &&
			c.What != Line
	})
}

// listOf reports whether the page shows one list, and says that what is in it is called as a description
// does: in the titles of the page or around the list, or where one more is added to it.
func (k *claimer) listOf(d *intent.Description) bool {
	lists := k.lists()
	if len(d.State) > 0 || len(lists) != 1 {
		return false
	}
	p := k.ix.phrase(wordAtoms(d), k.w.Lang)
	says := func(text string) bool { return p.match(k.ix.id(text)).hits == len(p.atoms) }
	list := &k.m.Groups[lists[0]]
	if says(k.m.Title) || says(list.Title) {
		return true
	}
	around := -1
	for i := range k.m.Containers {
		c := &k.m.Containers[i]
		if c.Node == list.Node || !k.ix.below(list.Node, c.Node) && !(c.Node < list.Node && list.Node < c.End) {
			continue
		}
		if says(c.Title) {
			return true
		}
		around = max(around, c.Node)
	}
	adds := func(node int, name string) bool {
		return !k.m.Nodes[node].Hidden && (around < 0 || k.ix.holds(around, node)) && says(name) &&
			k.ix.words.anyOf(k.ix.words.concepts(name), "add", "create", "new")
	}
	return slices.ContainsFunc(k.m.Fields, func(f page.Field) bool { return f.Record < 0 && adds(f.Node, f.Label) }) ||
		slices.ContainsFunc(k.m.Controls, func(c page.Control) bool {
			return c.Record < 0 && slices.ContainsFunc(c.Names, func(n page.Name) bool { return adds(c.Node, n.Text) })
		})
}

// lists are the groups that are seen where the claim looks, and do not lead elsewhere.
func (k *claimer) lists() []int {
	var list []int
	s := newSearcher(k.m, &k.c.Subject[0], k.w, 0)
	for g := range k.m.Groups {
		node := k.m.Groups[g].Node
		if !s.navigation(node) && (k.w.Within < 0 || k.ix.below(node, k.w.Within)) && len(k.seen(g)) > 0 {
			list = append(list, g)
		}
	}
	return list
}

// countMain counts the records of the largest list, where the text says no more than "there are
// two": another number says nothing.
func (k *claimer) countMain(want float64) {
	if k.m.Truncated {
		k.e.Why = truncated
		return
	}
	best, n := -1, 0
	for _, g := range k.lists() {
		if seen := len(k.seen(g)); seen > n {
			best, n = g, seen
		}
	}
	k.e.Why = fmt.Sprintf("%d in the list, not %g", n, want)
	if best < 0 && want != 0 || float64(n) != want {
		return
	}
	k.e.Known, k.e.Holds = true, !k.c.Not
	k.use(k.c.Values[0].Span, "counted")
	k.use(k.c.Subject[0].Span, "the list")
	k.e.Why = fmt.Sprintf("%d in the list", n)
	if best >= 0 {
		k.countAll(best)
	}
}

func opOf(op string) string {
	if op == "" || op == "contains" {
		return "="
	}
	return op
}

// counted evaluates the claim by a text that says the number with the words of the subject, and reports
// whether there is one.
func (k *claimer) counted(want float64) bool {
	d := &k.c.Subject[0]
	n, text, ok := k.counter(d, want)
	if !ok {
		return false
	}
	k.e.Known, k.e.Holds, k.e.Why = true, !k.c.Not, text
	k.use(k.c.Values[0].Span, "counted")
	k.use(d.Span, "counter")
	for i := range d.State {
		k.use(d.State[i].Span, "counter")
	}
	k.e.Checks = append(k.e.Checks, Check{Kind: "contains", Node: n, Group: -1, Text: text})
	return true
}

// counter finds a text that says the number with the words of the subject: "4 items left".
func (k *claimer) counter(d *intent.Description, want float64) (node int, text string, ok bool) {
	atoms := append(wordAtoms(d), nounAtoms(d)...)
	for _, st := range d.State {
		atoms = append(atoms, atom{span: st.Span, text: st.Text})
	}
	p := k.ix.phrase(atoms, k.w.Lang)
	first := len(d.State) > 0
	if node, text, ok = k.counterIn(p, want, k.w.Within, first); ok || k.w.Within < 0 {
		return node, text, ok
	}
	return k.counterIn(p, want, -1, first) // "2 films" stands below the list that it counts
}

// counterIn looks for a counter in a node, whose first number counts where it says how things are: 3 are selected,
// and not 5, by "3 of 5 selected".
func (k *claimer) counterIn(p *phrase, want float64, within int, first bool) (node int, text string, ok bool) {
	for i := range k.m.Lines {
		l := &k.m.Lines[i]
		if within >= 0 && !k.ix.below(l.Node, within) || k.m.Nodes[l.Node].Hidden || len(l.Text) > 80 {
			continue
		}
		id := k.ix.id(l.Text)
		if id < 0 || !k.ix.hasNumber(id, want, match{}) || first && k.ix.numbersOf(id)[0].value != want {
			continue
		}
		if m := p.match(id); m.hits > 0 && m.hits == len(p.atoms) {
			return l.Node, l.Text, true
		}
	}
	return -1, "", false
}

// ordered evaluates the order of things, or that a list is sorted.
func (k *claimer) ordered() {
	if k.c.By != nil {
		k.sorted()
		return
	}
	ds := slices.Clone(k.c.Subject)
	for i := range k.c.Values {
		v := &k.c.Values[i]
		d := intent.Description{Span: v.Span, Quoted: true}
		for _, a := range valueAtoms(v) {
			d.Words = append(d.Words, intent.Word{Span: v.Span, Text: a.text})
		}
		ds = append(ds, d)
	}
	last := -1
	var nodes []int
	k.e.Known, k.e.Holds = len(ds) > 1, len(ds) > 1
	for i := range ds {
		f, ok := k.look(&ds[i])
		if !ok {
			k.e.Holds = false
			k.e.Missing = append(k.e.Missing, missingOf(&f, &ds[i])...)
			continue
		}
		k.found(&f, &ds[i])
		if f.Candidates[0].Node <= last {
			k.e.Holds = false
			k.e.Why += said(&ds[i]) + " stands before; "
		}
		last = f.Candidates[0].Node
		nodes = append(nodes, last)
	}
	k.e.Checks = append(k.e.Checks, Check{Kind: "order", Node: -1, Group: -1, Nodes: nodes, Not: k.c.Not})
	k.e.Holds = k.e.Holds != k.c.Not
}

// sorted evaluates whether a group is in the order of one of its columns.
func (k *claimer) sorted() {
	if k.m.Truncated {
		k.e.Why = truncated
		return
	}
	s := newSearcher(k.m, k.c.By, k.w, 0)
	by := &measured{words: k.ix.phrase(append(wordAtoms(k.c.By), nounAtoms(k.c.By)...), k.w.Lang)}
	for g := range k.m.Groups {
		rs := k.m.Groups[g].Records
		col, _ := s.column(rs, by)
		if col == nil || len(rs) < 2 {
			continue
		}
		k.e.Known, k.e.Holds = true, inOrder(s, col, rs, k.c.Descending) != k.c.Not
		k.use(k.c.By.Span, "column "+colName(col))
		k.e.Why = "by " + colName(col)
		if !k.c.Not { // in which order it would be sorted, nobody knows
			k.e.Checks = append(k.e.Checks, Check{Kind: "order", Node: -1, Group: g, Nodes: k.nodesOf(g)})
		}
		return
	}
}

// inOrder reports whether records stand in the order of a column.
func inOrder(s *searcher, col *column, rs []int, descending bool) bool {
	last, any := 0.0, false
	for _, r := range rs {
		n, ok := s.number(col, r)
		if !ok {
			continue
		}
		if any && (n < last && !descending || n > last && descending) {
			return false
		}
		last, any = n, true
	}
	return any
}

// at evaluates at which place of its list something stands.
func (k *claimer) at() {
	if len(k.c.Values) == 0 || k.c.Values[0].Number == nil {
		return
	}
	want := int(*k.c.Values[0].Number)
	if want < 0 && k.m.Truncated {
		k.e.Why = truncated
		return
	}
	k.use(k.c.Values[0].Span, "place")
	subject := k.c.Subject
	if len(subject) == 0 { // "check that it comes last", in Spanish without the pronoun
		subject = []intent.Description{{Pronoun: true}}
	}
	k.e.Known, k.e.Holds = true, true
	for i := range subject {
		d := &subject[i]
		w := k.w
		w.Kinds = []What{Record}
		f := Description(k.m, d, w)
		if len(f.Candidates) == 0 || len(f.Missing) > 0 || f.Candidates[0].Score < Enough {
			k.e.Known, k.e.Holds = false, false
			k.e.Missing = append(k.e.Missing, missingOf(&f, d)...)
			continue
		}
		k.found(&f, d)
		r := f.Candidates[0].Index
		place, n := k.place(r)
		if want > 0 && place != want || want < 0 && place != n+1+want {
			k.e.Holds = false
		}
		k.e.Why += fmt.Sprintf("%s is number %d of %d; ", k.m.Records[r].Title, place, n)
		g := k.m.Records[r].Group
		k.e.Checks = append(k.e.Checks, Check{Kind: "place", Node: k.m.Groups[g].Node, Group: g, Nodes: k.nodesOf(g), Count: want,
			Subject: k.m.Records[r].Node, Not: k.c.Not})
	}
	k.e.Holds = k.e.Holds != k.c.Not
}

// place returns the place of a record among those of its group that are seen, from 1, and how
// many there are.
func (k *claimer) place(r int) (place, n int) {
	list := k.seen(k.m.Records[r].Group)
	return slices.Index(list, r) + 1, len(list)
}

// in evaluates whether things are in something else.
func (k *claimer) in() {
	if k.c.Where == nil {
		return
	}
	cs := k.places(k.c.Where)
	if len(cs) == 0 {
		k.inRecord()
		return
	}
	start := k.e
	for i := range cs {
		k.e = start
		k.inside(&cs[i])
		if k.e.Holds {
			return
		}
	}
}

// inside evaluates whether things are in one container.
func (k *claimer) inside(c *Candidate) {
	k.e.Known, k.e.Holds = true, true
	k.e.Used = append(slices.Clone(k.e.Used), c.Used...)
	k.use(k.c.Where.Span, "in "+c.Why)
	k.w.Within = -1
	if c.What != Control {
		k.w.Within = c.Node
	}
	for i := range k.c.Subject {
		if !k.isShown(&k.c.Subject[i], !k.c.Not) {
			k.e.Holds = false
		}
	}
	if k.c.Only && k.e.Holds && !k.c.Not {
		k.only()
	}
}

// inRecord takes Where for something that the record of the subject shows: "is in room 203".
func (k *claimer) inRecord() {
	k.e.Known, k.e.Holds = true, true
	for i := range k.c.Subject {
		d := k.c.Subject[i]
		d.Having = append(slices.Clone(d.Having), *k.c.Where)
		if !k.c.Not && !k.recorded(&d) || !k.isShown(&d, !k.c.Not) {
			k.e.Holds = false
		}
	}
	if !k.e.Holds && !k.c.Not {
		k.e.Known = false
		k.e.Missing = append(k.e.Missing, k.c.Where.Span)
	}
	k.use(k.c.Where.Span, "shown by it")
}

// recorded reports whether a record shows all that a description says: a text in quotes is found
// anywhere, with or without the place that it should be in.
func (k *claimer) recorded(d *intent.Description) bool {
	w := k.w
	w.Kinds = []What{Record}
	f := Description(k.m, d, w)
	return slices.ContainsFunc(f.Candidates, func(c Candidate) bool { return len(c.Missing) == 0 && c.Score >= Enough && k.visible(&c) })
}
