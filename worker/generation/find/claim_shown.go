package find

import (
	"cmp"
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/lexicon"
	"github.com/slipway-qa/slipway/worker/generation/page"
	"github.com/slipway-qa/slipway/worker/generation/word"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// quotedEnough is the least score of a quoted text of several words: they stand side by side.
const quotedEnough = 0.74

// shown evaluates whether the subjects are seen, or are not.
func (k *claimer) shown(want bool) {
	k.e.Known, k.e.Holds = true, true
	if len(k.c.Subject) == 0 {
		k.valuesShown(want)
		return
	}
	for i := range k.c.Subject {
		d := &k.c.Subject[i]
		ok := k.isShown(d, want)
		for j := range d.Or {
			ok = k.isShown(&d.Or[j], want) || ok
		}
		k.e.Holds = k.e.Holds && ok
	}
	if k.c.Only && want && k.e.Holds {
		k.only()
	}
	if want && k.e.Holds && len(k.c.Subject) == 1 && len(k.e.Subject) > 0 && len(k.c.Values) == 1 {
		k.asHeading(&k.c.Values[0])
	}
}

// asHeading evaluates that what is shown is so "as the heading": one of the headings says it.
func (k *claimer) asHeading(v *intent.Value) {
	e := k.ix.words.entry(v.Text, lexicon.Noun_)
	if e == nil || e.Name != string(intent.Heading) {
		return
	}
	c := &k.e.Subject[0]
	title := c.Why
	switch c.What {
	case Record:
		title = k.m.Records[c.Index].Title
	case Control:
		title = k.m.Nodes[c.Node].Name
	}
	at := slices.IndexFunc(k.m.Lines, func(l page.Line) bool {
		return l.Heading > 0 && !k.m.Nodes[l.Node].Hidden && title != "" && word.Contains(l.Text, title)
	})
	if at < 0 {
		k.e.Holds, k.e.Why = false, "no heading is "+title
		return
	}
	k.use(v.Span, "a heading")
	k.e.Checks = append(k.e.Checks, Check{Kind: "visible", Node: k.m.Lines[at].Node, Group: -1, Text: title})
}

// isShown reports whether one subject is seen as the claim wants.
func (k *claimer) isShown(d *intent.Description, want bool) bool {
	f, there := k.look(d)
	// the first of all, and not of those that are seen
	if there && !want && d.Ordinal != 0 && f.Candidates[0].What == Container && k.hiddenOf(d) {
		there = false
	}
	if there && !want && (k.mention(d, &f.Candidates[0]) || k.better(d, &f.Candidates[0])) {
		there = false
	}
	if want && !there && k.titled(d) {
		k.use(d.Span, "the title of the page")
		k.e.Checks = append(k.e.Checks, Check{Kind: "title", Node: -1, Group: -1, Text: k.m.Title})
		k.e.Why += "the page is " + k.m.Title + "; "
		return true
	}
	if want {
		if there {
			k.found(&f, d)
			k.e.Checks = append(k.e.Checks, Check{Kind: "visible", Node: f.Candidates[0].Node, Group: -1, Text: said(d)})
			k.e.Why += said(d) + " is shown; "
		} else {
			k.e.Missing = append(k.e.Missing, missingOf(&f, d)...)
			k.e.Why += said(d) + " is not shown; "
		}
		return there
	}
	k.use(d.Span, "not shown")
	if there {
		k.e.Subject = append(k.e.Subject, f.Candidates...)
		k.e.Why += said(d) + " is shown: " + f.Candidates[0].Why + "; "
		return false
	}
	check := Check{Kind: "hidden", Node: -1, Group: -1, Text: said(d)}
	if at := k.placeOf(d); at >= 0 {
		check = Check{Kind: "contains", Node: at, Group: -1, Text: said(d), Not: true}
	}
	k.e.Checks = append(k.e.Checks, check)
	k.e.Why += said(d) + " is not shown; "
	return true
}

// titled reports whether a claim without a verb ("given the board of sprint 42") says what the page is, by its title.
func (k *claimer) titled(d *intent.Description) bool {
	if len(k.c.Words) > 0 || d.Quoted || k.w.Within >= 0 || !onlyCalled(d) || d.Of != nil && !onlyCalled(d.Of) {
		return false
	}
	atoms := append(wordAtoms(d), nounAtoms(d)...)
	if d.Of != nil {
		atoms = append(atoms, append(wordAtoms(d.Of), nounAtoms(d.Of)...)...)
	}
	return len(atoms) > 1 && k.ix.phrase(atoms, k.w.Lang).match(k.ix.id(k.m.Title)).hits == len(atoms)
}

// onlyCalled reports whether a description says nothing but what a thing is called and what it is of: a title shows
// neither a state nor which one or how many it is.
func onlyCalled(d *intent.Description) bool {
	told := len(d.State) + len(d.Having) + len(d.Lacking) + len(d.Compare) + len(d.Relation) + len(d.Except) + len(d.Or)
	return told == 0 && d.Ordinal == 0 && d.Count == 0 && d.Extreme == nil && d.In == nil && !d.Next && !d.Other && !d.Only && !d.Both
}

// hiddenOf reports whether a description means one part of the page for sure, which is not seen.
func (k *claimer) hiddenOf(d *intent.Description) bool {
	w := k.w
	w.Hidden, w.Kinds = true, []What{Container}
	f := Description(k.m, d, w)
	return f.Clear() && !f.Plural && !k.visible(&f.Candidates[0])
}

// placeOf returns the element in which something is not shown, where the page speaks of it elsewhere:
// what the claim names, or the list that it was in before; -1 where the page has no word of it.
func (k *claimer) placeOf(d *intent.Description) int {
	everywhere := *k
	everywhere.w.Within = -1
	if _, spoken := everywhere.quoted(said(d), d.Span); !spoken {
		return -1
	}
	if k.w.Within >= 0 {
		return k.w.Within
	}
	if k.before == nil {
		return -1
	}
	f := Description(k.before, d, Want{Kinds: []What{Record}, Lang: k.w.Lang, Within: -1})
	if !f.Clear() || f.Plural || k.before.Records[f.Candidates[0].Index].Group < 0 {
		return -1
	}
	r := &k.before.Records[f.Candidates[0].Index]
	list := k.before.Groups[r.Group].Node
	if list < 0 || list == r.Node {
		list = k.before.Nodes[r.Node].Parent
	}
	if list < 0 {
		return -1
	}
	at := slices.IndexFunc(k.m.Nodes, func(n snapshot.Node) bool {
		return n.Ref == k.before.Nodes[list].Ref && n.Role != "text" && !n.Hidden
	})
	if g := k.sameGroup(r.Group); at < 0 && g >= 0 { // it was made anew
		at = k.m.Groups[g].Node
	}
	return at
}

// sameGroup returns the group that is called and stands as one of the page before did; -1.
func (k *claimer) sameGroup(before int) int {
	return slices.IndexFunc(k.m.Groups, func(g page.Group) bool { return g.Key == k.before.Groups[before].Key && g.Key != "" })
}

// better reports whether the page had a thing before that was called so better than what is
// left: of "Paint roller" and "Paint roller XL" the first is gone.
func (k *claimer) better(d *intent.Description, c *Candidate) bool {
	if k.before == nil {
		return false
	}
	w := k.w
	w.Within, w.Among, w.Except = -1, nil, nil
	b := &claimer{ix: indexOf(k.before), m: k.before, c: k.c, w: w}
	f, there := b.look(d)
	return there && f.Candidates[0].Score > c.Score+Margin
}

// mention reports whether a candidate is a message that only speaks of a thing: "Claw hammer
// archived".
func (k *claimer) mention(d *intent.Description, c *Candidate) bool {
	if c.What != Line || c.Index < 0 || !k.m.Lines[c.Index].Live {
		return false
	}
	return !d.Quoted && !k.ix.phrase(wordAtoms(d), k.w.Lang).wholeOf([]ref{{text: k.ix.id(k.m.Lines[c.Index].Text), role: title}})
}

func missingOf(f *Found, d *intent.Description) []intent.Span {
	if len(f.Missing) > 0 {
		return f.Missing
	}
	return []intent.Span{d.Span}
}

// said is what a description says, for people.
func said(d *intent.Description) string {
	return cmp.Or(d.Phrase(), d.Noun)
}

// look finds what is seen now of a description, and reports whether all of it is there.
func (k *claimer) look(d *intent.Description) (Found, bool) {
	w := k.w
	w.Hidden = false
	if k.c.Only && len(w.Kinds) == 0 {
		w.Kinds = []What{Record}
		if f := Description(k.m, d, w); f.Clear() {
			return f, true
		}
		w.Kinds = nil
	}
	f := Description(k.m, d, w)
	seen := f.Candidates[:0:0]
	for _, c := range f.Candidates {
		if len(c.Missing) == 0 && k.visible(&c) && k.sure(d, &c) {
			seen = append(seen, c)
		}
	}
	f.Candidates = seen
	if len(seen) > 0 && seen[0].Node >= 0 && d.Quoted && len(strings.Fields(said(d))) > 1 && !word.Contains(k.shownIn(seen[0].Node), said(d)) {
		if c, ok := k.quoted(said(d), d.Span); ok { // as it is written, and not its words here and there
			return Found{Candidates: []Candidate{c}}, true
		}
	}
	if len(seen) > 0 {
		if f.Plural && f.Wanted > 0 {
			return f, len(seen) == f.Wanted
		}
		return f, true
	}
	if d.Quoted && !f.Plural {
		if c, ok := k.quoted(said(d), d.Span); ok {
			return Found{Candidates: []Candidate{c}}, true
		}
	}
	return f, false
}

// sure reports whether a candidate is good enough to say that something is seen.
func (k *claimer) sure(d *intent.Description, c *Candidate) bool {
	if d.Quoted && len(d.Words) > 1 {
		return c.Score >= quotedEnough
	}
	return c.Score >= Enough
}

// visible reports whether a candidate is seen.
func (k *claimer) visible(c *Candidate) bool {
	if c.What == Option && c.Index >= 0 {
		if o := &k.m.Fields[c.Index].Options[c.Sub]; o.Node < 0 && !o.Selected {
			return false // in a closed list
		}
	}
	return c.Node < 0 || c.Node >= len(k.m.Nodes) || !k.m.Nodes[c.Node].Hidden
}

// quoted finds a text over several elements, or in a field.
func (k *claimer) quoted(text string, span intent.Span) (Candidate, bool) {
	best := -1
	for i := range k.m.Nodes {
		n := &k.m.Nodes[i]
		if n.Hidden || k.w.Within >= 0 && !k.ix.below(i, k.w.Within) {
			continue
		}
		shown := n.Text
		if n.Role == "text" {
			shown = n.Name
		}
		if shown != "" && word.Contains(shown, text) || n.HasValue && word.Contains(n.Value, text) {
			best = i // the last one is the innermost on its branch
		}
	}
	if best < 0 {
		return Candidate{}, false
	}
	return Candidate{What: Line, Index: -1, Sub: -1, Node: best, Score: 0.85, Used: []Use{{span, "text"}}, Why: text}, true
}

// valuesShown evaluates a claim about the page: texts that it shows.
func (k *claimer) valuesShown(want bool) {
	if len(k.c.Values) == 0 {
		k.e.Known, k.e.Holds = false, false
		return
	}
	for i := range k.c.Values {
		v := &k.c.Values[i]
		c, ok := k.quoted(v.Text, v.Span)
		k.use(v.Span, "text")
		kind, node := "hidden", -1
		if want {
			kind = "visible"
		}
		if ok {
			node = c.Node
			k.e.Subject = append(k.e.Subject, c)
		}
		k.e.Checks = append(k.e.Checks, Check{Kind: kind, Node: node, Group: -1, Text: v.Text})
		k.e.Holds = k.e.Holds && ok == want
		k.e.Why += v.Text + pick2(ok, " is shown; ", " is not shown; ")
	}
}

func pick2(b bool, yes, no string) string {
	if b {
		return yes
	}
	return no
}
