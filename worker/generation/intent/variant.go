package intent

import (
	"math"
	"sort"
)

// alternative is another sense of the verb of a goal, with all of its slots.
type alternative struct {
	goal, count int // where the goals stand that it would replace
	goals       []Goal
	score       float64 // less than the best, so below zero
}

// far is how much less likely a sense may be to be worth a try on a page.
const far = -4

// remember keeps the further senses of the verb of a clause whose goals are added next.
func (b *builder) remember(c *clause, senses []sense, count int) {
	seen := map[string]bool{senses[0].Effect: true}
	for k := 1; k < len(senses) && len(seen) < 3; k++ {
		s := &senses[k]
		score := s.score - senses[0].score
		if seen[s.Effect] || score < far || s.Effect == string(Check) && s.Property != "" {
			continue
		}
		if s.Effect == string(Check) {
			continue
		}
		seen[s.Effect] = true
		b.r.other = append(b.r.other, alternative{len(b.goals), count, b.r.goal(c, s), score})
	}
}

// variants returns the best reading and those in which one verb has another sense, likeliest
// first. Their priors sum up to one.
func (r *reader) variants(best Reading, others []alternative) []Reading {
	sort.SliceStable(others, func(i, j int) bool { return others[i].score > others[j].score })
	others = others[:min(len(others), most)]
	list := []Reading{best}
	first := 1
	if told, ok := stated(best); ok {
		list = []Reading{told, best}
		list[1].Prior, first = 0.8, 2
	}
	for _, o := range others {
		if o.goal+o.count > len(best.Goals) {
			continue
		}
		goals := append([]Goal{}, best.Goals[:o.goal]...)
		o.goals[0].Words = append(o.goals[0].Words, best.Goals[o.goal].Words...)
		o.goals[0].If, o.goals[0].Otherwise = best.Goals[o.goal].If, best.Goals[o.goal].Otherwise
		goals = append(append(goals, o.goals...), best.Goals[o.goal+o.count:]...)
		list = append(list, Reading{Goals: goals, Unread: best.Unread, Prior: math.Exp(o.score)})
	}
	for i := first; i < len(list); i++ {
		for j := i; j > first && list[j].Prior > list[j-1].Prior; j-- {
			list[j], list[j-1] = list[j-1], list[j]
		}
	}
	list = list[:min(len(list), most)]
	var sum float64
	for i := range list {
		sum += list[i].Prior
	}
	for i := range list {
		list[i].Prior /= sum
	}
	return list
}

// stated reads claims at the beginning of a text that something is submitted in as what is to
// be filled in, as in "The last location was Portugal. Submit the answer.".
func stated(best Reading) (Reading, bool) {
	n := 0
	for n < len(best.Goals) && best.Goals[n].Effect == Check && best.Goals[n].Claim.Plain {
		n++
	}
	if n == 0 || n == len(best.Goals) || best.Goals[n].Effect != Submit {
		return best, false
	}
	goals := make([]Goal, 0, len(best.Goals))
	for _, g := range best.Goals[:n] {
		c := g.Claim
		f := Field{Name: &c.Subject[0], Span: c.Span}
		switch {
		case len(c.Values) > 0:
			f.Value = c.Values[0]
		case c.Where != nil:
			f.Value = Value{Span: c.Where.Span, Text: c.Where.Phrase()}
		default:
			return best, false
		}
		goals = append(goals, Goal{Span: g.Span, Effect: Set, Fields: []Field{f}, Words: append(g.Words, c.Words...)})
	}
	return Reading{Goals: append(goals, best.Goals[n:]...), Unread: best.Unread, Prior: 1}, true
}
