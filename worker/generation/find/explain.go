package find

import (
	"github.com/slipway-qa/slipway/worker/generation/intent"
)

// proof is how far a thing explains words.
type proof struct {
	score   float64
	used    []Use
	missing []intent.Span
	// own is set where at least one word is explained by the thing itself and not by what
	// stands around it.
	own bool
	// assumed are nouns that nothing explains.
	assumed []intent.Span
}

// The shapes in which words meet a thing, from its whole name to words here and there.
const (
	shapeWhole     = 1.0  // all words, and nothing else is in the name
	shapeBadge     = 0.97 // but for a number at its end
	shapeRun       = 0.9  // side by side in a longer name
	shapeTitle     = 0.87 // all in the name, not side by side
	shapeValue     = 0.95 // all words are a whole attribute
	shapeInValue   = 0.88 // side by side in an attribute
	shapeScattered = 0.86 // some here, some there
	shapeBroken    = 0.62 // a name whose words stand apart
)

// explain returns how far refs explain the words of a phrase.
func (p *phrase) explain(refs []ref) proof {
	best, from, shape := p.weigh(refs)
	return p.prove(best, from, shape)
}

// weigh returns for each word how well the best text explains it and what that text is to the
// thing, and the best shape of a text that has all words.
func (p *phrase) weigh(refs []ref) (best []float64, from []role, shape float64) {
	best = make([]float64, len(p.atoms))
	from = make([]role, len(p.atoms))
	for _, r := range refs {
		m := p.match(r.text)
		if m.hits == 0 {
			continue
		}
		for i, s := range m.per {
			if v := s * weight[r.role] * (1 - 0.15*float64(min(r.far, 2))); v > best[i] {
				best[i], from[i] = v, r.role
			}
		}
		if m.hits == len(p.atoms) {
			shape = max(shape, shapeOf(r.role, m))
		}
	}
	return best, from, shape
}

// shapeOf returns the shape of a text that has all words.
func shapeOf(r role, m match) float64 {
	switch {
	case r > value:
		return shapeScattered
	case r == title && m.whole:
		return shapeWhole
	case r == title && m.badge:
		return shapeBadge
	case m.whole:
		return shapeValue
	case r == title && m.run:
		return shapeRun
	case m.run:
		return shapeInValue
	case r == title:
		return shapeTitle
	}
	return shapeScattered
}

// prove sums up what was found for each word.
func (p *phrase) prove(best []float64, from []role, shape float64) proof {
	var pr proof
	sum, light := 0.0, 0
	for i, a := range p.atoms {
		if best[i] == 0 && p.light(i) {
			pr.used = append(pr.used, Use{Span: a.span, By: "small word"})
			light++
			continue
		}
		if best[i] == 0 {
			pr.missing = append(pr.missing, a.span)
			continue
		}
		sum += best[i]
		pr.used = append(pr.used, Use{Span: a.span, By: roleNames[from[i]]})
		pr.own = pr.own || from[i] <= inner && from[i] != label
	}
	if len(p.atoms) == light {
		return pr
	}
	if shape == 0 {
		shape = shapeScattered
		if p.named() {
			shape = shapeBroken
		}
	}
	pr.score = sum / float64(len(p.atoms)-light) * shape
	if len(pr.missing) > 0 {
		pr.score *= 0.5
	}
	return pr
}

// named reports whether the phrase is one name of several words.
func (p *phrase) named() bool {
	n := 0
	for _, a := range p.atoms {
		if a.name || a.capital && p.lang != "de" {
			n++
		}
	}
	return n > 1 && n == len(p.atoms)
}

// join returns the proof of two sets of words of one description, the first of n words and
// the second of k.
func join(a proof, n int, b proof, k int) proof {
	out := proof{
		used: append(a.used, b.used...), missing: append(a.missing, b.missing...),
		own: a.own || b.own, assumed: append(a.assumed, b.assumed...),
	}
	if n+k > 0 {
		out.score = (a.score*float64(n) + b.score*float64(k)) / float64(n+k)
	}
	return out
}
