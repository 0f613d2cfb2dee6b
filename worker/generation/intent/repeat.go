package intent

import (
	"slices"

	"github.com/slipway-qa/slipway/worker/generation/lexicon"
)

// repeated gives a part of a list the verb before it where it ends or begins with a particle of its own:
// "turn the light on and the heating off", "schalte das Licht ein und die Heizung aus".
func (r *reader) repeated(pieces []clause) []clause {
	verb, last, said := -1, -1, ""
	for i := range pieces {
		p := &pieces[i]
		if p.kind == goal && p.head >= 0 {
			verb, last, said = i, i, ""
		} else if p.kind != fragment || p.cond != "" {
			verb = -1
		}
		if verb < 0 {
			continue
		}
		head := pieces[verb].items[pieces[verb].head]
		name, behind := switchedBy(&head, p)
		if name == "" {
			continue
		}
		if said != "" && said != name {
			from := i
			if behind { // what stands between is switched by it as well: "A ein und B und C aus"
				from = last + 1
			}
			first := &pieces[from]
			head.Span = Span{first.items[0].From, first.items[0].From} // it is not said again
			first.items = append([]item{head}, first.items...)
			first.kind, first.head, first.forbidden = goal, 0, pieces[verb].forbidden
			verb = from
		}
		said, last = name, i
	}
	return pieces
}

// switchedBy returns the particle that a part of a list holds of a verb that switches or opens by its
// particle, at its end or behind the verb, and whether it stands at the end.
func switchedBy(head *item, c *clause) (name string, behind bool) {
	for _, v := range head.verbs {
		switch Effect(v.Effect) {
		case Toggle, Open, Close, Expand, Collapse:
		default:
			continue
		}
		for i := range c.items {
			it := &c.items[i]
			if v.Particle != "" && !v.Joined && it.fold == v.Particle && !it.quoted() && (i == 0 || i+1 == len(c.items) ||
				c.items[i-1].Span == head.Span || c.items[i+1].has(lexicon.Conjunction)) {
				return v.Particle, i+1 == len(c.items)
			}
		}
	}
	return "", false
}

// bounds reports whether a clause is a condition that its deed does not have anyhow: to switch on what
// "isn't on already" is to switch it on.
func (c *clause) bounds(r *reader) bool {
	if c.cond != "if" && c.cond != "when" {
		return false
	}
	anyhow := func(it item) bool { return it.has(lexicon.Quantity, "already", "still") }
	return !slices.ContainsFunc(c.items, anyhow)
}
