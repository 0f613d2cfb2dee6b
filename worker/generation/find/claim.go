package find

import (
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/page"
)

// Evidence is what a page says about a claim.
type Evidence struct {
	// Holds: the claim is true. Known is false where its subject was not found, or not clearly,
	// so that nothing can be said.
	Holds, Known bool
	// Trivial: it was true before as well.
	Trivial bool
	// Why says what was compared, for people.
	Why     string
	Used    []Use
	Missing []intent.Span
	// Subject are the things that the claim is about, where they were found.
	Subject []Candidate
	// Checks are what an assertion of a test can compare.
	Checks []Check
	// Uncertain as of Found.
	Uncertain string
}

// Check is one thing to compare.
type Check struct {
	// Kind is visible, hidden, text, contains, value, state, count, order, place, address, title, dialog.
	Kind string
	// Node holds what is compared; -1 without one. Group is the group that is counted, -1.
	Node, Group int
	Text        string
	State       string
	Not         bool
	// Nodes are what is counted, or stands in order. Count is how many they are, or at which place of
	// them (from the end below 0) Subject stands.
	Nodes   []int
	Count   int
	Subject int
	// Words tell those that are counted from others; Role, or Style as CSS, is that of what there is
	// none of.
	Words       []string
	Role, Style string
	// Part: it is only a part of what is compared, and may be left where no step can compare it.
	Part bool
}

// Claim says whether a claim holds on after, and whether it held on before, which may be nil.
func Claim(before, after *page.Model, c *intent.Claim, w Want) Evidence {
	if before != nil && c.Property == intent.Unchanged {
		return unchanged(before, after, c, w)
	}
	e := evaluate(before, after, c, w)
	var was Evidence
	if before != nil {
		bw := w
		bw.Among, bw.Except = nil, nil
		was = evaluate(nil, before, c, bw)
	}
	e.Trivial = before != nil && e.Holds && was.Holds && sameEvidence(&was, &e)
	if e.Trivial && (c.Property == intent.Appears || c.Property == intent.Vanishes) {
		e.Holds = false
		e.Why += "; it was so before"
	}
	return e
}

// sameEvidence reports whether a claim held before by the same texts: another text with the
// same words ("Save settings" before "Settings saved.") is something new.
func sameEvidence(was, is *Evidence) bool {
	if len(was.Subject) == 0 || len(is.Subject) == 0 {
		return true
	}
	for i := range is.Subject {
		found := false
		for j := range was.Subject {
			found = found || was.Subject[j].Why == is.Subject[i].Why
		}
		if !found {
			return false
		}
	}
	return true
}

// claimer evaluates one claim on one page.
type claimer struct {
	ix *index
	m  *page.Model
	c  *intent.Claim
	w  Want
	e  Evidence
	// before is the page before, nil where that is not known.
	before *page.Model
}

// evaluate says whether a claim holds on a page.
func evaluate(before, m *page.Model, c *intent.Claim, w Want) Evidence {
	k := &claimer{ix: indexOf(m), m: m, c: c, w: w, before: before}
	if !k.where() {
		k.e.Why = said(c.Where) + " was not found"
		return k.e
	}
	switch c.Property {
	case intent.Shown, intent.Appears:
		k.shown(!c.Not)
	case intent.Gone, intent.Vanishes:
		k.shown(c.Not)
	case intent.Is, intent.Contains:
		k.is()
	case intent.Counts:
		k.counts()
	case intent.Order:
		k.ordered()
	case intent.At:
		k.at()
	case intent.In:
		k.in()
	case intent.Address, intent.Title, intent.Asked:
		k.browser()
	}
	return k.e
}

// where narrows the search to what the claim says: "in the table". False where that was not
// found.
func (k *claimer) where() bool {
	if k.c.Where == nil || k.c.Property == intent.In {
		return true
	}
	if k.row(k.c.Where) {
		k.w.Within = k.w.Among[0].Node
		k.use(k.c.Where.Span, "in "+k.w.Among[0].Why)
		return true
	}
	if wholePage(k.c.Where) || k.c.Where.Pronoun && len(k.c.Where.Words) == 0 {
		k.use(k.c.Where.Span, "the page")
		return true
	}
	cs := k.places(k.c.Where)
	if k.anyList() && len(cs) != 1 {
		k.use(k.c.Where.Span, "the list")
		return true
	}
	if len(cs) == 0 && k.came(k.c.Where) {
		k.use(k.c.Where.Span, "what came")
		return true
	}
	if len(cs) == 0 {
		k.e.Missing = append(k.e.Missing, k.c.Where.Span)
		return false
	}
	if cs[0].What != Control {
		k.w.Within = cs[0].Node
	}
	k.e.Used = append(k.e.Used, cs[0].Used...)
	k.use(k.c.Where.Span, "in "+cs[0].Why)
	return true
}

// came reports whether a place that nothing is called may be what the goal before has opened: each quoted
// text that the claim has of it is a line now that was not seen before, and stands in no list ("in the
// answer it must say "it blinks twice""). Dialogs, menus and lists are seen where they are.
func (k *claimer) came(d *intent.Description) bool {
	if k.before == nil || d.Noun == "" || opened[d.Kind] || d.Kind == intent.List || d.Kind == intent.Table || k.c.Not {
		return false
	}
	if len(d.Words)+len(d.State)+len(d.Having) > 0 || d.Of != nil || d.Ordinal != 0 {
		return false
	}
	was := &claimer{ix: indexOf(k.before), m: k.before, w: Want{Within: -1}}
	isNew := func(text string, quoted bool) bool {
		_, seen := was.quoted(text, intent.Span{})
		return quoted && !seen && slices.ContainsFunc(k.m.Lines, func(l page.Line) bool {
			return l.Record < 0 && !l.Live && strings.EqualFold(strings.Trim(l.Text, " .!?"), strings.Trim(text, " .!?"))
		})
	}
	for i := range k.c.Subject {
		if s := &k.c.Subject[i]; !isNew(said(s), s.Quoted) {
			return false
		}
	}
	for i := range k.c.Values {
		if v := &k.c.Values[i]; !isNew(v.Text, v.Quoted) {
			return false
		}
	}
	return len(k.c.Subject)+len(k.c.Values) > 0
}

// row reports whether a place is the row or entry of the thing that was spoken of: "in her row".
func (k *claimer) row(d *intent.Description) bool {
	if len(k.w.Among) != 1 || k.w.Among[0].Node < 0 || d.Of == nil || !d.Of.Pronoun || len(d.Of.Words)+len(d.Words) > 0 {
		return false
	}
	return d.Kind == intent.Row || d.Kind == intent.Item || d.Kind == intent.Card
}

// anyList reports whether Where is no more than "in the list" or "in the calendar": which one, the subject says.
func (k *claimer) anyList() bool {
	d := k.c.Where
	if len(d.State)+len(d.Having)+d.Ordinal > 0 || d.Of != nil || len(d.Words) > 1 {
		return false
	}
	if len(d.Words) == 1 {
		return d.Noun == "" && k.ix.words.anyOf(k.ix.words.concepts(d.Words[0].Text, langsOf(k.w.Lang)...), "calendar")
	}
	return d.Kind == intent.List || d.Kind == intent.Table
}

// places returns what may hold things and is meant by a description, best first: containers,
// and the tab of that name where it is the open one.
func (k *claimer) places(d *intent.Description) []Candidate {
	var out []Candidate
	if len(d.Words) == 0 && d.Noun == "" && len(d.State) == 1 && d.State[0].Text != "" {
		named := *d // "under Done": the word for a state is what it is called
		named.Words = []intent.Word{{Span: d.State[0].Span, Text: d.State[0].Text}}
		named.State = nil
		d = &named
	}
	s := newSearcher(k.m, d, k.w, 1)
	tab, isTab := s.tab(d)
	for _, c := range Containers(k.m, d, k.w) {
		if len(c.Missing) == 0 && c.Score >= Enough && (len(out) == 0 || c.Score > out[0].Score-0.12) && k.visible(&c) {
			out = append(out, c)
		}
	}
	if isTab && s.current(tab.Node) {
		out = append(out, tab)
		if out[0].Score < tab.Score-Margin {
			out[0], out[len(out)-1] = out[len(out)-1], out[0]
		}
	}
	return out
}

func (k *claimer) use(span intent.Span, by string) { k.e.Used = append(k.e.Used, Use{span, by}) }

// found records what was found of a subject.
func (k *claimer) found(f *Found, d *intent.Description) {
	if len(f.Candidates) > 0 {
		k.e.Subject = append(k.e.Subject, f.Candidates...)
		for _, c := range f.Candidates {
			k.e.Used = append(k.e.Used, c.Used...)
		}
	}
	if f.Uncertain != "" {
		k.e.Uncertain = f.Uncertain
	}
	if len(f.Missing) == 0 {
		k.use(d.Span, "subject")
	}
}

// browser evaluates claims about the window itself.
func (k *claimer) browser() {
	text, kind := k.m.URL, "address"
	switch k.c.Property {
	case intent.Title:
		text, kind = k.m.Title, "title"
	case intent.Asked:
		kind = "dialog"
		if k.m.Dialog == nil {
			k.e.Known, k.e.Holds, k.e.Why = true, k.c.Not, "no question of the browser"
			return
		}
		text = k.m.Dialog.Text
	}
	k.e.Known, k.e.Holds = true, true
	for i := range k.c.Values {
		v := &k.c.Values[i]
		if !windowHas(k.c.Property, text, v.Text) {
			k.e.Holds = false
		}
		k.use(v.Span, kind)
		k.e.Checks = append(k.e.Checks, Check{Kind: kind, Node: -1, Group: -1, Text: v.Text, Not: k.c.Not})
	}
	k.e.Holds = k.e.Holds != k.c.Not
	k.e.Why = kind + " " + text
}
