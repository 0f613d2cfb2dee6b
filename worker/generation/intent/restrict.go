package intent

import (
	"slices"

	"github.com/slipway-qa/slipway/worker/generation/lexicon"
)

// restrict has what is said of all keep its bounds in each reading: "delete all but keep X" is all except X,
// in a reading that lost the exception all of it is unread, and so is a denial before a bound ("that do not
// cost more than 20"), which would be turned round.
func (t *Text) restrict() {
	lex, spared := lexicon.Language(t.Lang), false
	for i := range t.Readings {
		r := &t.Readings[i]
		spares := spare(r.Goals)
		spared = spared || spares
		for k := range r.Goals {
			g := &r.Goals[k]
			if spared && !spares && takesAll(g) && len(g.Target[0].Except) == 0 {
				r.Unread = append(r.Unread, g.Span)
			}
			for _, d := range g.Target {
				r.Unread = append(r.Unread, deniedBound(lex, &d)...)
			}
			for _, f := range g.Fields {
				if leadsBefore(lex, f.Prep) && !g.Forbidden && f.Value.Date == nil {
					r.Unread = append(r.Unread, f.Span)
				}
			}
		}
	}
}

// takesAll reports whether a goal removes all of something.
func takesAll(g *Goal) bool {
	return (g.Effect == Remove || g.Effect == Clear) && !g.Forbidden && len(g.Target) == 1 && g.Target[0].All
}

// spare makes what stays an exception of the removal before it, and reports whether it did.
func spare(goals []Goal) bool {
	did := false
	for i := 1; i < len(goals); i++ {
		before, c := &goals[i-1], goals[i].Claim
		if !takesAll(before) || goals[i].Effect != Check || c == nil || c.Property != Unchanged || c.Not || c.Only {
			continue
		}
		all := before.Target[0]
		all.Except = slices.Clone(all.Except)
		for k := range c.Subject {
			if d := &c.Subject[k]; !d.Pronoun && len(d.Words) > 0 {
				all.Except, did = append(all.Except, *d), true
			}
		}
		before.Target = []Description{all}
	}
	return did
}

// deniedBound returns the verbs of a description that are denied before a bound.
func deniedBound(lex *lexicon.Lexicon, d *Description) []Span {
	var list []Span
	for _, lacking := range d.Lacking {
		verb := len(lacking.Words) == 1 && len(lex.Verbs(lacking.Words[0].Text)) > 0
		follows := func(c Comparison) bool { return c.Span.From > lacking.Span.From }
		if verb && slices.ContainsFunc(d.Compare, follows) {
			list = append(list, lacking.Span)
		}
	}
	return list
}

// leadsBefore reports whether a preposition says first of all that something comes before.
func leadsBefore(lex *lexicon.Lexicon, prep string) bool {
	e := lex.Entry(prep, lexicon.Preposition)
	return e != nil && e.Name == "before"
}
