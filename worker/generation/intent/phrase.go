package intent

import (
	"github.com/slipway-qa/slipway/worker/generation/lexicon"
	"slices"
)

// phrase is a noun phrase (or an adjective that stands as one) with the preposition before it
// and what is attached behind it.
type phrase struct {
	inside bool   // of parentheses
	sep    string // how it is joined with the one before: "", ",", "and", "or", "but", ":", "("
	prep   *item
	senses []string
	neg    *item // "not X", "no X"
	core   []item
	rel    []item   // its relative clause
	also   []phrase // other names for it, in parentheses
	raw    bool     // a name that is a sentence itself: all words count
	mods   []phrase
	upto   *phrase // the second end of a range
}

func (p *phrase) proper(lang string) bool {
	return len(p.core) > 0 && p.core[len(p.core)-1].proper(lang)
}

// ofName reports whether a phrase is "of" or "from" a name, or of a part of the page.
func (p *phrase) ofName() bool {
	if !p.leads("of", "from") || len(p.core) == 0 {
		return false
	}
	last := &p.core[len(p.core)-1]
	e := last.as(lexicon.Noun_)
	return last.cap && len(last.entries) == 0 || e != nil && holder(Kind(e.Name))
}

// noun reports whether a phrase is one of a common noun, with an article or a preposition
// before it or known as such: a name alone has no genitive behind it.
func (p *phrase) noun() bool {
	if p.prep != nil || len(p.core) == 0 {
		return p.prep != nil
	}
	last := &p.core[len(p.core)-1]
	return p.core[0].has(lexicon.Article) || p.core[0].has(lexicon.Possessive) || last.has(lexicon.Noun_) || last.has(lexicon.Place)
}

// amount reports whether the phrase ends in a number with a unit.
func (p *phrase) amount() bool {
	if p.upto != nil {
		return p.upto.amount()
	}
	v := p.core[len(p.core)-1].value
	return v != nil && v.Unit != ""
}

// per makes "a day" part of the unit before it.
func (p *phrase) per(q *phrase) {
	if p.upto != nil {
		p.upto.per(q)
		return
	}
	last := p.core[len(p.core)-1]
	v := *last.value
	end := q.span().To
	v.Span.To, last.To = end, end
	last.value = &v
	if last.words == nil {
		last.words = []Word{{Span: Span{last.From, v.Span.To}, Text: last.text}}
	}
	for i := range q.core {
		last.words = append(append([]Word{}, last.words...), Word{Span: q.core[i].Span, Text: q.core[i].text})
	}
	p.core = append(append([]item{}, p.core[:len(p.core)-1]...), last)
}

// apposition reports whether a phrase only says more of the one before: ", the one that is ...".
func (p *phrase) apposition() bool {
	if p.prep != nil || len(p.core) > 2 {
		return false
	}
	for i := range p.core {
		if !p.core[i].has(lexicon.Article) && !p.core[i].has(lexicon.Pronoun) {
			return false
		}
	}
	return true
}

// measurable reports whether the phrase is a number or date and nothing else.
func (p *phrase) measurable() bool {
	n := 0
	for i := range p.core {
		it := &p.core[i]
		switch {
		case it.value != nil && (it.value.Number != nil || it.value.Date != nil):
			n++
		case it.has(lexicon.Article):
		default:
			return false
		}
	}
	return n == 1
}

// sense reports whether the preposition of p has one of the senses.
func (p *phrase) sense(names ...string) bool {
	for _, s := range p.senses {
		if slices.Contains(names, s) {
			return true
		}
	}
	return false
}

// leads reports whether the first sense of the preposition is one of names.
func (p *phrase) leads(names ...string) bool {
	return len(p.senses) > 0 && slices.Contains(names, p.senses[0])
}
