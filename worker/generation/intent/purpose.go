package intent

import (
	"github.com/slipway-qa/slipway/worker/generation/lexicon"
)

// purposes takes "to find" off the end of what is done to find something: "switch between the
// tabs to find and click X". What was done for it says where X may be.
func (r *reader) purposes(pieces []clause) []clause {
	var out []clause
	for i := range pieces {
		p := pieces[i]
		n := len(p.items)
		if n < 2 || i+1 == len(pieces) || !p.items[n-2].has(lexicon.Preposition) || !inOrderTo[p.items[n-2].fold] ||
			!r.hasEffect(&p.items[n-1], Search) {
			out = append(out, p)
			continue
		}
		told := Span{p.items[n-2].From, p.items[n-1].To}
		p.items = p.items[:n-2]
		if len(p.items) > 0 {
			out = append(out, p)
		}
		if last := len(out) - 1; last >= 0 {
			out[last].told, out[last].seeks = append(out[last].told, told), true
		}
	}
	return out
}

// inOrderTo are the words before an infinitive of purpose.
var inOrderTo = map[string]bool{"to": true, "in order to": true, "para": true, "pour": true}

// seeks reports whether a goal only says where the thing of the next one is looked for: "navigate
// through the tree", "expand the sections to find ...".
func seeks(c *clause, s *sense, goals []Goal) bool {
	if !c.seeks && s.Attr("through") == "" || len(goals) != 1 || len(goals[0].Target) == 0 || len(goals[0].Fields) > 0 || goals[0].Forbidden {
		return false
	}
	for i := range goals[0].Target {
		switch d := &goals[0].Target[i]; {
		case d.Quoted || d.Ordinal != 0 || d.Extreme != nil || d.Kind == "":
			return false
		case len(d.Words) > 0 && (c.seeks || d.Kind != Tree && d.Kind != List && d.Kind != Menu):
			return false
		}
	}
	return true
}

// means makes the control of "by clicking on the cross" the instrument of the deed.
func (d *deed) means(items []item) []item {
	for i := 1; i+1 < len(items); i++ {
		it := &items[i]
		if !items[i-1].has(lexicon.Preposition) || !d.r.deedForm(it, "gerund") || !d.r.hasEffect(it, Press) || it.proper(d.r.lang) {
			continue
		}
		next := i + 1
		if items[next].has(lexicon.Preposition) && next+1 < len(items) {
			next++
		}
		with := items[i-1]
		with.means = true
		d.g.Words = append(d.g.Words, Span{items[i-1].From, items[next-1].To})
		return append(append(append([]item{}, items[:i-1]...), with), items[next:]...)
	}
	return items
}

// manner takes "with a double click" out of the clause: it says how the thing is pressed.
func (d *deed) manner(items []item) []item {
	switch d.g.Effect {
	case Open, Press, Choose, Select, Expand:
	default:
		return items
	}
	for i := 0; i+1 < len(items); i++ {
		if !items[i].has(lexicon.Preposition, "with", "via", "by") || items[i].proper(d.r.lang) {
			continue
		}
		from := i + 1
		if items[from].has(lexicon.Article) && from+1 < len(items) {
			from++
		}
		for _, v := range d.r.lex.Verbs(items[from].text) {
			to := from
			if v.Particle != "" && !v.Joined { // "double click" in two words
				to++
			}
			if v.Attr("how") == "" || items[from].quoted() || to > from && (to >= len(items) || items[to].fold != fold(v.Particle)) {
				continue
			}
			d.g.How, d.g.Effect = v.Attr("how"), Press
			d.g.Words = append(d.g.Words, Span{items[i].From, items[to].To})
			return append(append([]item{}, items[:i]...), items[to+1:]...)
		}
	}
	return items
}
