package intent

import (
	"slices"

	"github.com/slipway-qa/slipway/worker/generation/lexicon"
)

// merge joins fragments to the clauses that they belong to: subjects before a claim, places
// before a goal, further targets, values and fields behind one.
func (r *reader) merge(pieces []clause) []clause {
	var out []clause
	pieces = r.denials(r.relatives(pieces))
	for i := 0; i < len(pieces); i++ {
		p := pieces[i]
		if p.kind != fragment {
			out = append(out, p)
			continue
		}
		if next := r.forward(pieces, i, out); next > i {
			pieces[next] = lead(pieces[i:next], pieces[next])
			i = next - 1
			continue
		}
		if len(out) > 0 && r.pressedNext(&out[len(out)-1], &p) {
			out = append(out, p)
			continue
		}
		if len(out) > 0 && p.cond == "" {
			behind(&out[len(out)-1], p)
			continue
		}
		out = append(out, p)
	}
	return out
}

// pressedNext has a fragment behind "then" be a deed of its own where the one before presses
// something: "click More and then Copy" are two clicks, and the second control may come with the
// first one.
func (r *reader) pressedNext(before, p *clause) bool {
	if !p.after || p.cond != "" || before.kind != goal || before.head < 0 || before.forbidden {
		return false
	}
	verb := before.items[before.head]
	if !slices.ContainsFunc(verb.verbs, func(v lexicon.VerbForm) bool { return v.Effect == string(Press) }) {
		return false
	}
	verb.Span = Span{p.items[0].From, p.items[0].From} // it is not said again
	p.items = append([]item{verb}, p.items...)
	p.kind, p.head = goal, 0
	return true
}

// glossed puts a parenthesis without a verb back into the clause around it: "the green one
// (success) should be gone".
func (r *reader) glossed(pieces []clause) []clause {
	var out []clause
	for i := 0; i < len(pieces); i++ {
		p := pieces[i]
		n := len(out)
		if p.sep != "(" || n == 0 || i+1 >= len(pieces) || pieces[i+1].sep != ")" && !pieces[i+1].closes {
			out = append(out, p)
			continue
		}
		inner := clause{items: p.items, head: -1}
		if r.classify(&inner); inner.kind != fragment || p.items[0].has(lexicon.Negation) {
			out = append(out, p)
			continue
		}
		behind(&out[n-1], p)
		if pieces[i+1].closes {
			out[n-1].items = append(out[n-1].items, separator(")", pieces[i+1].items[0].From))
			continue
		}
		behind(&out[n-1], pieces[i+1])
		i++
	}
	return out
}

// relatives joins German relative clauses, which stand behind a comma and end in their verb,
// to what they tell of.
func (r *reader) relatives(pieces []clause) []clause {
	if r.lang != "de" {
		return pieces
	}
	var out []clause
	for _, p := range pieces {
		n := len(out)
		if n > 0 && p.sep == "," && p.kind != fragment && p.kind != goal && p.head+1 == len(p.items) && !p.that &&
			p.cond == "" && relativeWord(p.items) {
			behind(&out[n-1], p)
			continue
		}
		out = append(out, p)
	}
	return out
}

func relativeWord(items []item) bool {
	return items[0].has(lexicon.Relative) && (items[0].has(lexicon.Article) || items[0].has(lexicon.Pronoun)) ||
		len(items) > 1 && items[0].has(lexicon.Preposition) && items[1].has(lexicon.Relative)
}

// denials makes claims of fragments behind a claim that only deny: "Bo not any more", "Barra
// no", "Amsel aber nicht".
func (r *reader) denials(pieces []clause) []clause {
	var out []clause
	for _, p := range pieces {
		n := len(out)
		if n > 0 && p.kind == fragment && out[n-1].kind == fragment && r.onlyDenies(p.items) && n > 1 {
			p.items = append(append([]item{}, out[n-1].items...), p.items...)
			p.sep = out[n-1].sep
			out = out[:n-1]
			n--
		}
		if at := r.denial(p.items); n > 0 && p.kind == fragment && at > 0 && lastKind(out) == claim {
			p.kind, p.head = claim, at
		}
		out = append(out, p)
	}
	return out
}

// lastKind is the kind of the last clause that is no fragment.
func lastKind(list []clause) clauseKind {
	for i := len(list) - 1; i >= 0; i-- {
		if list[i].kind != fragment {
			return list[i].kind
		}
	}
	return fragment
}

func (r *reader) onlyDenies(items []item) bool {
	denies := false
	for i := range items {
		if items[i].content() {
			return false
		}
		denies = denies || items[i].has(lexicon.Negation)
	}
	return denies
}

// denial returns where a negation stands behind a name, 0 where none does.
func (r *reader) denial(items []item) int {
	for i := 1; i < len(items); i++ {
		if !items[i].has(lexicon.Negation) || items[i].value != nil || items[i].proper(r.lang) || items[i].has(lexicon.Quantity, "still") {
			continue
		}
		next := i+1 >= len(items) || !items[i+1].content() || len(items[i+1].verbs) > 0 || items[i+1].has(lexicon.State) ||
			items[i+1].has(lexicon.Quantity)
		if next && !items[0].has(lexicon.Negation) {
			return i
		}
	}
	return 0
}

// forward returns the clause that the fragments from i lead in, i where none: the subjects of
// a claim, or the place of a goal.
func (r *reader) forward(pieces []clause, i int, out []clause) int {
	j := i
	for j < len(pieces) && pieces[j].kind == fragment {
		if j > i && (pieces[j].sep == ":" || pieces[j].sep == ";") {
			return i
		}
		j++
	}
	if j == len(pieces) || pieces[j].sep == ";" {
		return i
	}
	next := &pieces[j]
	fresh := len(out) == 0 || pieces[i].sep == ":" || pieces[i].sep == ";" || pieces[i].cond != ""
	switch next.kind {
	case claim, statement:
		if next.sep == ":" || next.sep == "(" || !subjects(next) {
			return i
		}
		if fresh || r.newSubject(out, pieces[i], next) {
			return j
		}
	case goal:
		s := r.skip(pieces[i].items, 0)
		if next.sep == ":" && !(s < len(pieces[i].items) && pieces[i].items[s].has(lexicon.Preposition) && j == i+1) {
			return i
		}
		if fresh && r.leadsIn(pieces[i]) {
			return j
		}
	}
	return i
}

// subjects reports whether fragments may be subjects of the claim: joined by "and", "or" or
// commas, and the last joined to it.
func subjects(next *clause) bool {
	return slices.Contains([]string{"and", "or", "but", ",", ")"}, next.sep)
}

// newSubject reports whether a fragment behind a goal rather begins the claim that follows
// than going on the goal: "Sort by age, Anna and Bo are listed".
func (r *reader) newSubject(out []clause, p clause, next *clause) bool {
	before := &out[len(out)-1]
	if before.kind == goal && r.asksOnly(before) {
		return true
	}
	s := r.skip(p.items, 0)
	if before.kind == claim || before.kind == statement {
		return p.sep == "," && next.sep != ","
	}
	if s < len(p.items) && p.items[s].has(lexicon.Preposition) {
		return false
	}
	return p.sep == "," && next.sep == "and" && before.kind == goal || p.that
}

// asksOnly reports whether a goal is a verb of checking with nothing behind it.
func (r *reader) asksOnly(c *clause) bool {
	return r.asks(&c.items[c.head]) && c.head+1 >= len(c.items)
}

// leadsIn reports whether a fragment is a place, time or order before a goal.
func (r *reader) leadsIn(p clause) bool {
	s := r.skip(p.items, 0)
	return s >= len(p.items) || p.items[s].has(lexicon.Preposition) || p.items[s].has(lexicon.Ordinal)
}

// lead puts fragments before a clause, with what joins them.
func lead(list []clause, c clause) clause {
	var items []item
	for i := range list {
		if i > 0 {
			items = append(items, separator(list[i].sep, list[i].items[0].From))
		}
		items = append(items, list[i].items...)
	}
	if len(c.items) > 0 {
		items = append(items, separator(c.sep, c.items[0].From))
	}
	if c.head >= 0 {
		c.head += len(items)
	}
	c.items = append(items, c.items...)
	c.sep, c.cond, c.that = list[0].sep, list[0].cond, c.that || list[0].that
	return c
}

// behind puts a fragment behind a clause.
func behind(c *clause, p clause) {
	c.items = append(c.items, separator(p.sep, p.items[0].From))
	c.items = append(c.items, p.items...)
}

// separator is an item that stands for what joined two pieces.
func separator(sep string, at int) item {
	it := item{Span: Span{at, at}, text: sep, fold: sep}
	switch sep {
	case "and", "or", "but", "then":
		it.entries = []lexicon.Entry{{Class: lexicon.Conjunction, Name: sep, Names: []string{sep}}}
	default:
		it.mark = true
		if sep == "" {
			it.text = ","
		}
	}
	return it
}
