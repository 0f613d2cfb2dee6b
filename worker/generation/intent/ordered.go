package intent

import (
	"slices"

	"github.com/slipway-qa/slipway/worker/generation/lexicon"
)

// sorted takes a participle of sorting with its measure out of what is shown: "show the open ones
// sorted by price", de "nach Preis sortiert". In which order is a goal of its own.
func (d *deed) sorted(items []item) []item {
	if !lists[d.g.Effect] && d.g.Effect != Choose {
		return items
	}
	for i := range items {
		it := &items[i]
		if i == 0 || it.value != nil || it.name() || !slices.ContainsFunc(it.verbs, func(v lexicon.VerbForm) bool {
			return v.Effect == string(Sort) && (v.Form == "participle" || v.Form == "past")
		}) {
			continue
		}
		from, to, measure := i, len(items), items[i+1:]
		if i+1 == len(items) || items[i+1].mark {
			for from = i - 1; from > 0 && !items[from].has(lexicon.Preposition); from-- {
			}
			measure, to = items[from:i], i+1
		}
		if from == 0 || len(measure) < 2 {
			continue
		}
		c := clause{kind: goal, items: append([]item{*it}, measure...)}
		senses := slices.DeleteFunc(d.r.verbSenses(&c), func(s sense) bool {
			return s.Effect != string(Sort) ||
				s.Slot(measure[0].fold) != "measure"
		})
		if len(senses) == 0 {
			continue
		}
		d.extra = append(d.extra, d.r.goal(&c, &senses[0])...)
		return append(slices.Clone(items[:from]), items[to:]...)
	}
	return items
}
