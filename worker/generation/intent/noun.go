package intent

import (
	"strings"

	"github.com/slipway-qa/slipway/worker/generation/lexicon"
	spelling "github.com/slipway-qa/slipway/worker/generation/word/token"
)

// describer builds the description of one noun phrase.
type describer struct {
	r    *reader
	core []item
	d    Description
	det  bool // an article or the like was seen
	// apposed: what follows is the name of the thing whose kind was said: "the button Next page".
	apposed bool
	// quote is where a quoted name stands, -1.
	quote int
}

// item reads core[i], and returns how many items it took.
func (b *describer) item(i int) int {
	it := &b.core[i]
	d := &b.d
	named := it.proper(b.r.lang)
	switch {
	case it.quoted():
		b.quoteAt(i)
	case it.value != nil:
		return b.valueAt(i)
	case it.has(lexicon.Article) && !named:
		b.det = true
	case it.has(lexicon.Preposition) && !named && i > 0 && i+1 == len(b.core) && len(it.verbs) == 0: // "the field below"
		d.Flags = append(d.Flags, it.Span)
	case it.has(lexicon.Question) && !named:
		if i+1 == len(b.core) {
			d.All, d.Pronoun = true, true
			d.Flags = append(d.Flags, it.Span)
		}
	case it.has(lexicon.Possessive) && !named:
		b.det = true
		b.possessive(it)
	case it.has(lexicon.Demonstrative) && !named:
		b.det = true
		if len(b.core) == 1 {
			d.Pronoun = true
		}
	case it.has(lexicon.Quantity) && !named && b.quantity(i):
	case it.has(lexicon.Ordinal) && !named:
		d.Ordinal = int(it.as(lexicon.Ordinal).Value)
		d.Flags = append(d.Flags, it.Span)
		b.det = true
	case it.has(lexicon.Measure) && !named && b.measure(i):
		return b.measured(i)
	case it.has(lexicon.Pronoun) && !named && (b.det || len(b.core) == 1 || b.hasAdjective(i) || it.has(lexicon.Pronoun, "one")):
		d.Pronoun = true
	case it.has(lexicon.Pronoun) && !named, it.has(lexicon.Polite) && !named && len(it.verbs) == 0, it.mainly(lexicon.Stop) &&
		!it.has(lexicon.Stop, "belong") && !named:
	case it.has(lexicon.State) && !named && !b.kindHere(i) && b.state(i):
	case it.has(lexicon.Noun_) && !(b.r.lang == "de" && !it.cap && it.has(lexicon.Place)) && b.noun(i):
	case b.r.lang == "de" && d.Noun == "" && b.compound(it):
	default:
		b.word(it)
	}
	return 1
}

// kindHere reports whether a word that is a state elsewhere names a kind of thing, with the name of
// the thing behind it: es "la lista Recados".
func (b *describer) kindHere(i int) bool {
	it := &b.core[i]
	if s := it.as(lexicon.State); spelling.Fold(s.Lemma) == spelling.Fold(it.text) &&
		spelling.Lower(s.Lemma) != spelling.Lower(it.text) && i > 0 && b.core[i-1].has(lexicon.Article) && i+1 == len(b.core) {
		return true // fr "le livre" is no "livré"
	}
	e := it.as(lexicon.Noun_)
	return e != nil && e.Name == string(List) && i > 0 && b.core[i-1].has(lexicon.Article) && b.r.lang != "en" && b.d.Noun == ""
}

// hasAdjective reports whether a word before core[i] tells more of it: "the blue one".
func (b *describer) hasAdjective(i int) bool {
	return len(b.d.Words) > 0 || len(b.d.State) > 0 || b.d.Extreme != nil || b.d.Other || b.d.Ordinal != 0
}

func (b *describer) word(it *item) {
	if it.mark {
		return
	}
	if it.words != nil && it.value != nil && (it.value.UnitClass == "money" || it.value.UnitClass == "percent") {
		b.d.Words = append(b.d.Words, Word{Span: it.Span, Text: it.text})
		return
	}
	if it.words != nil {
		for _, w := range it.words {
			if it.cap || !b.r.lex.Is(w.Text, lexicon.Article) {
				b.d.Words = append(b.d.Words, b.lemma(w))
			}
		}
		return
	}
	b.d.Words = append(b.d.Words, b.lemma(Word{Span: it.Span, Text: it.text}))
}

func (b *describer) lemma(w Word) Word {
	w.Lemma = b.r.lex.Lemma(w.Text)
	return w
}

// quoteAt takes a quotation as the name, and the words before it as the noun.
func (b *describer) quoteAt(i int) {
	d, it := &b.d, &b.core[i]
	if n := len(d.Words); n > 0 && !d.Quoted {
		from, to := d.Words[0].Span.From, d.Words[n-1].Span.To
		if d.Noun != "" {
			from, to = min(from, d.NounSpan.From), max(to, d.NounSpan.To)
		}
		d.Noun, d.NounSpan = b.r.source[from:to], Span{from, to}
		d.Words = nil
	}
	d.Words = append(d.Words, Word{Span: it.Span, Text: it.value.Text})
	d.Quoted = true
}

// valueAt takes a number, date or address: a number before a noun counts, one behind it or
// with a unit is part of what the thing is called.
func (b *describer) valueAt(i int) int {
	d, it := &b.d, &b.core[i]
	v := it.value
	counts := it.number && v.Number != nil && *v.Number < 1e6 && *v.Number == float64(int(*v.Number)) && *v.Number > 0 &&
		*v.Number < 1000 && v.Date == nil
	if it.has(lexicon.Pronoun) && (b.det || b.hasAdjective(i)) && *v.Number == 1 {
		d.Pronoun = true
		d.Flags = append(d.Flags, it.Span)
		return 1
	}
	following := i+1 < len(b.core) && !b.core[i+1].number
	if counts && len(d.Words) == 0 && d.Noun == "" && (following || b.det && len(b.core) > 1 || d.Other || d.Ordinal != 0) &&
		!it.proper(b.r.lang) {
		d.Count = int(*v.Number)
		d.Flags = append(d.Flags, it.Span)
		return 1
	}
	if counts && len(b.core) == 1 && it.has(lexicon.Number) && !it.proper(b.r.lang) {
		d.Count, d.Pronoun = int(*v.Number), true
		d.Flags = append(d.Flags, it.Span)
		return 1
	}
	b.word(it)
	return 1
}

// possessive keeps whose a thing is, where it is somebody that the text speaks of.
func (b *describer) possessive(it *item) {
	if e := it.as(lexicon.Possessive); e.Name == "my" || e.Name == "our" || e.Name == "your" || ownWords[it.fold] {
		return
	}
	b.d.Of = &Description{Span: it.Span, Pronoun: true, Words: nil}
}

// ownWords are possessives of who speaks or is spoken to: they say nothing about the page.
var ownWords = map[string]bool{
	"my": true, "our": true, "your": true, "mein": true, "meine": true, "meinen": true, "meiner": true, "unser": true, "unsere": true,
	"dein": true, "deine": true, "mi": true, "mis": true, "tu": true, "tus": true, "nuestro": true, "nuestra": true,
	"mon": true, "ma": true, "mes": true, "ton": true, "ta": true, "tes": true, "notre": true, "nos": true, "votre": true, "vos": true,
}

// quantity reads "all", "both", "only", "the other".
func (b *describer) quantity(i int) bool {
	d, it := &b.d, &b.core[i]
	last := i+1 == len(b.core)
	if it.proper(b.r.lang) && len(b.core) > 1 && b.r.lang != "de" {
		return false // "click Next chapter"
	}
	switch e := it.as(lexicon.Quantity); e.Name {
	case "all", "any", "each":
		d.All = true
	case "both":
		d.Both = true
	case "only":
		d.Only = true
	case "other":
		d.Other = true
		d.Pronoun = d.Pronoun || last && len(d.Words) == 0
	case "next":
		d.Next = true
	case "previous":
		if e := it.as(lexicon.Ordinal); e != nil && last && len(d.Words) == 0 && d.Noun == "" {
			d.Ordinal = int(e.Value) // de "die letzte"
			break
		}
		b.word(it)
	case "last":
		d.Ordinal = -1
	case "more":
		if it.as(lexicon.Noun_) != nil && !last {
			b.word(it) // "the extra bed"
		}
	case "none", "some", "exactly", "again", "still", "too", "already", "about", "same", "less", "min", "max":
		if e.Name == "same" || e.Name == "different" || len(b.core) == 1 && (e.Name == "min" || e.Name == "max") {
			return false
		}
	default:
		return false
	}
	b.det = true
	d.Flags = append(d.Flags, it.Span)
	return true
}

// state takes an adjective for a state, unless it is part of a name.
func (b *describer) state(i int) bool {
	it := &b.core[i]
	if b.r.lang != "en" && it.as(lexicon.Noun_) != nil && i+1 == len(b.core) && len(b.d.Words) == 0 && b.d.Noun == "" &&
		it.as(lexicon.Noun_).Name != "thing" {
		return false // es "la lista": the noun, not "ready"
	}
	if i > 0 && i+1 == len(b.core) && !b.det && b.quote < 0 && len(b.d.Words) > 0 && it.cap {
		return false
	}
	if it.as(lexicon.Noun_) != nil && (it.mainly(lexicon.Noun_) && i+1 == len(b.core) || b.det && b.r.lang == "en" && b.nameFollows(i)) {
		return false // "the todo Water plants"
	}
	if it.cap && b.r.lang == "de" && !it.first && len(b.core) > 1 {
		return false
	}
	e := it.as(lexicon.State)
	b.d.State = append(b.d.State, State{Span: it.Span, Text: it.text, Name: e.Name})
	return true
}

// noun takes the noun of a kind: the last one of the phrase is the kind, others are words of
// its name. A noun of no kind is what the thing is called unless a name follows.
func (b *describer) noun(i int) bool {
	d, it := &b.d, &b.core[i]
	e := it.as(lexicon.Noun_)
	if it.proper(b.r.lang) || i > 0 && d.Kind != "" && b.core[i-1].proper(b.r.lang) && b.r.lang != "de" {
		return false
	}
	if b.apposed || !b.apposition(i) && b.laterNoun(i) || b.r.lang == "de" && !it.cap && e.Name == "thing" {
		return false
	}
	named := b.quote > i || b.nameFollows(i) || len(d.Words) > 0 || len(d.State) > 0 || d.Ordinal != 0 || d.Extreme != nil ||
		d.All || d.Both || d.Other || d.Next
	if e.Name == "thing" && !named {
		return false
	}
	if e.Name == "thing" && !(b.quote > i || b.nameFollows(i)) && len(d.Words) > 0 {
		return false // "garden hose": the noun is the name's own
	}
	b.apposed = b.apposition(i)
	d.Noun, d.NounSpan = it.text, it.Span
	if e.Name != "thing" {
		d.Kind = Kind(e.Name)
	}
	return true
}

// compound reads a German noun of a kind behind a hyphen: "Newsletter-Nachricht" is a message
// called Newsletter.
func (b *describer) compound(it *item) bool {
	k := strings.LastIndexByte(it.text, '-')
	if it.words != nil || k < 2 || !it.cap || it.To-it.From != len(it.text) {
		return false
	}
	e := b.r.lex.Entry(it.text[k+1:], lexicon.Noun_)
	if e == nil || e.Name == "thing" || it.text[k+1] >= 'a' && it.text[k+1] <= 'z' {
		return false
	}
	d := &b.d
	d.Words = append(d.Words, b.lemma(Word{Span: Span{it.From, it.From + k}, Text: it.text[:k]}))
	d.Noun, d.NounSpan, d.Kind = it.text[k+1:], Span{it.From + k + 1, it.To}, Kind(e.Name)
	return true
}

// apposition reports whether a name with a capital letter follows the noun of a kind that nothing
// but an article leads in: "the button Previous page".
func (b *describer) apposition(i int) bool {
	e := b.core[i].as(lexicon.Noun_)
	if e == nil || e.Name == "thing" || i+1 >= len(b.core) || b.r.lang == "de" || b.quote >= 0 || len(b.d.Words) > 0 || !b.det {
		return false
	}
	return b.core[i+1].cap && b.core[i+1].value == nil
}

// laterNoun reports whether a noun of a kind follows that is rather the kind: "search button".
func (b *describer) laterNoun(i int) bool {
	for j := i + 1; j < len(b.core); j++ {
		it := &b.core[j]
		if it.quoted() || j == i+1 && it.proper(b.r.lang) && b.r.lang != "de" {
			return false // "the card Draw logo"
		}
		if e := it.as(lexicon.Noun_); e != nil && !it.proper(b.r.lang) && e.Name != "thing" {
			return true
		}
	}
	return false
}

// nameFollows reports whether what follows core[i] is a name in apposition: "the page
// Onboarding", "room 302", "the tab New loan".
func (b *describer) nameFollows(i int) bool {
	if i+1 >= len(b.core) {
		return false
	}
	next := &b.core[i+1]
	return next.value != nil || next.cap && b.r.lang != "de" || b.r.lang == "de" && next.cap
}

// finish settles what was read.
func (b *describer) finish() Description {
	d := b.d
	if len(b.core) > 0 {
		d.Span = Span{b.core[0].From, b.core[len(b.core)-1].To}
	}
	if len(d.Words) == 0 && d.Noun == "" && b.det && d.Extreme == nil && len(d.State) == 0 {
		d.Pronoun = true
	}
	empty := len(d.Words) == 0 && d.Noun == "" && d.Extreme == nil && len(d.State) == 0
	if empty && (d.Ordinal != 0 || d.Count != 0 || d.Next || d.Both || d.Other) {
		d.Pronoun = true
	}
	return d
}
