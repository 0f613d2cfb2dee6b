package intent

import (
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/slipway-qa/slipway/worker/generation/lexicon"
)

// item is what the grammar reads as one: a word with its senses, several words that the
// lexicon has as one, a value (a quotation, number, date, address) or a mark.
type item struct {
	Span
	text, fold string
	cap, first bool // capital letter; the first word of its sentence
	mark       bool
	value      *Value
	number     bool // a bare number, in digits or words
	entries    []lexicon.Entry
	verbs      []lexicon.VerbForm
	clitic     bool
	means      bool         // a preposition that leads in the instrument of the deed
	words      []Word       // of what was merged; else the item itself
	pair       *Field       // a label with its value
	measure    *Description // what a comparative with "than" compares
}

// reader holds what all parts of the grammar need.
type reader struct {
	source string
	lang   string
	lex    *lexicon.Lexicon
	other  []alternative
	// lost are spans of what was read and says nothing that a goal could hold.
	lost []Span
}

// as returns the sense of a class, nil without one.
func (it *item) as(c lexicon.Class) *lexicon.Entry {
	for i := range it.entries {
		if it.entries[i].Class == c {
			return &it.entries[i]
		}
	}
	return nil
}

// has reports whether it has a sense of a class with one of the names; any name where none is given.
func (it *item) has(c lexicon.Class, names ...string) bool {
	for i := range it.entries {
		e := &it.entries[i]
		if e.Class != c {
			continue
		}
		if len(names) == 0 {
			return true
		}
		for _, n := range names {
			if e.Name == n || slices.Contains(e.Names, n) {
				return true
			}
		}
	}
	return false
}

// mainly reports whether the first sense of an item is of a class: function words that are
// nothing else before.
func (it *item) mainly(c lexicon.Class) bool { return len(it.entries) > 0 && it.entries[0].Class == c }

// is reports whether the item is one of the words.
func (it *item) is(words ...string) bool { return it.value == nil && slices.Contains(words, it.fold) }

// sign reports whether the item is a mark among signs.
func (it *item) sign(signs string) bool { return it.mark && strings.Contains(signs, it.text) }

func (it *item) quoted() bool { return it.value != nil && it.value.Quoted }

// proper reports whether a capital letter says that it is part of a name: in German all nouns
// have one, elsewhere it does unless the sentence begins with it.
func (it *item) proper(lang string) bool {
	if !it.cap || it.first || it.mark || it.value != nil && !it.number {
		return false
	}
	if lang != "de" {
		return true
	}
	// A small word with a capital letter is the name of a control: "klick auf Weiter".
	return len(it.entries) > 0 && it.as(lexicon.Noun_) == nil && smallWord[it.entries[0].Class] && !it.has(lexicon.Pronoun) &&
		!it.has(lexicon.Possessive)
}

// name reports whether a capital letter in the middle of a sentence keeps it from being a
// verb, in German too.
func (it *item) name() bool { return it.cap && !it.first && !it.mark }

// functional are the classes of words that carry no content of their own.
var functional = map[lexicon.Class]bool{
	lexicon.Article: true, lexicon.Pronoun: true, lexicon.Possessive: true, lexicon.Demonstrative: true, lexicon.Auxiliary: true,
	lexicon.Negation: true, lexicon.Conjunction: true, lexicon.Preposition: true, lexicon.Quantity: true, lexicon.Relative: true,
	lexicon.There: true, lexicon.Polite: true, lexicon.Stop: true, lexicon.Question: true,
}

// content reports whether dropping the item would lose something that was said.
func (it *item) content() bool {
	if it.mark {
		return false
	}
	if it.value != nil || len(it.entries) == 0 {
		return true
	}
	for i := range it.entries {
		if functional[it.entries[i].Class] || it.entries[i].Class == lexicon.Day && it.entries[i].Name == "now" {
			return false
		}
	}
	return true
}

// items reads the senses of a sentence's tokens.
func (r *reader) items(toks []token) []item {
	list := make([]item, 0, len(toks))
	toks = abbreviated(toks)
	words := make([]string, 0, len(toks))
	for _, t := range toks {
		if t.class == wordToken {
			words = append(words, t.text)
		} else {
			words = append(words, "")
		}
	}
	for i := 0; i < len(toks); {
		it, n := r.item(toks, words, i)
		it.first = !seenWord(list)
		list = append(list, it)
		i += n
	}
	for i := range list {
		countOrThing(list, i)
	}
	return r.pairs(r.regions(r.thresholds(list)))
}

// countOrThing settles whether "one" counts or stands for a thing: "the one that ...", "the blue one".
func countOrThing(list []item, i int) {
	it := &list[i]
	if !it.number || !it.has(lexicon.Pronoun) || i == 0 {
		return
	}
	b := &list[i-1]
	stands := b.has(lexicon.Article, "definite") || b.has(lexicon.Demonstrative) || b.has(lexicon.Ordinal) ||
		b.has(lexicon.Quantity, "other", "only", "next") || b.has(lexicon.State) || b.cap && !b.first
	if !stands && (i < 2 || !list[i-2].has(lexicon.Article)) {
		return
	}
	if i+1 < len(list) && !list[i+1].mark {
		n := &list[i+1]
		ends := n.has(lexicon.Relative) || n.has(lexicon.Preposition) || n.has(lexicon.Conjunction) || n.has(lexicon.Auxiliary) ||
			n.has(lexicon.State) || n.cap && b.has(lexicon.Ordinal) || n.quoted()
		if !ends {
			return
		}
	}
	it.number, it.value = false, nil
}

// abbreviated joins the full stop of an abbreviation to its word.
func abbreviated(toks []token) []token {
	out := make([]token, 0, len(toks))
	for _, t := range toks {
		n := len(out)
		if n > 0 && t.mark(".") && !t.space && out[n-1].class == wordToken {
			out[n-1].To, out[n-1].text, out[n-1].fold = t.To, out[n-1].text+".", out[n-1].fold+"."
			continue
		}
		out = append(out, t)
	}
	return out
}

func seenWord(list []item) bool {
	for i := range list {
		if !list[i].mark {
			return true
		}
	}
	return false
}

// item reads the item that begins at toks[i], and of how many tokens it is.
func (r *reader) item(toks []token, words []string, i int) (item, int) {
	t := toks[i]
	if d, n := r.date(toks, i); n > 0 {
		span := Span{t.From, toks[i+n-1].To}
		return item{Span: span, text: r.source[span.From:span.To], fold: fold(r.source[span.From:span.To]), cap: t.cap,
			value: &Value{Span: span, Text: r.source[span.From:span.To], Date: d}, words: wordsOf(toks[i : i+n])}, n
	}
	switch t.class {
	case quoteToken:
		v := &Value{Span: t.Span, Text: strings.TrimFunc(t.text, unicode.IsSpace), Quoted: true}
		if !strings.HasPrefix(r.source[t.From:], "«") {
			v.Text = t.text
		}
		return item{Span: t.Span, text: t.text, fold: t.fold, cap: true, value: v}, 1
	case numberToken:
		return r.amountItem(toks, words, i)
	case codeToken:
		return item{Span: t.Span, text: t.text, fold: t.fold, cap: t.cap, value: &Value{Span: t.Span, Text: t.text}}, 1
	case markToken:
		if unit := r.lex.Entry(t.text, lexicon.Unit); unit != nil && i+1 < len(toks) && toks[i+1].class == numberToken {
			it, n := r.amountItem(toks, words, i+1)
			it.From, it.value.Span.From = t.From, t.From
			it.text = r.source[it.From:it.To]
			it.value.Text, it.value.Unit, it.value.UnitClass, it.number = it.text, t.text, unit.Name, false
			it.words = wordsOf(toks[i : i+1+n])
			return it, n + 1
		}
		return item{Span: t.Span, text: t.text, fold: t.fold, mark: true}, 1
	}
	return r.wordItem(toks, words, i)
}

// amountItem reads a number in digits with the unit behind it.
func (r *reader) amountItem(toks []token, words []string, i int) (item, int) {
	t := toks[i]
	num := t.num
	it := item{Span: t.Span, text: t.text, fold: t.fold, number: true, value: &Value{Span: t.Span, Text: t.text, Number: &num}}
	if i+1 < len(toks) && toks[i+1].mark("%€$£¥°") {
		r.unit(&it, toks[i+1].Span, lexicon.Entry{Name: unitOfSign(r.lex, toks[i+1].text)}, toks[i:i+2])
		return it, 2
	}
	if i+1 >= len(toks) || toks[i+1].class != wordToken {
		return it, 1
	}
	end := i + 1
	for end < len(toks) && end < i+4 && toks[end].class == wordToken {
		end++
	}
	entries, n := r.lex.At(words[i+1 : end])
	for _, e := range entries {
		if e.Name == "count" || n == 1 && r.lex.Is(toks[i+1].text, lexicon.Preposition) && i+2 < len(toks) && toks[i+2].class == wordToken {
			continue // "288 in the list" is no length
		}
		if e.Class == lexicon.Unit && !toks[i+1].cap || e.Class == lexicon.Unit && (r.lang == "de" || len(toks[i+1].text) == 1) {
			r.unit(&it, Span{toks[i+1].From, toks[i+n].To}, e, toks[i:i+1+n])
			return it, n + 1
		}
	}
	return it, 1
}

func unitOfSign(l *lexicon.Lexicon, sign string) string {
	if e := l.Entry(sign, lexicon.Unit); e != nil {
		return e.Name
	}
	return map[string]string{"%": "percent", "°": "temperature"}[sign]
}

// unit takes the unit at span into the number it.
func (r *reader) unit(it *item, span Span, e lexicon.Entry, toks []token) {
	it.To, it.number = span.To, false
	it.text = r.source[it.From:it.To]
	it.fold = fold(it.text)
	it.value.Span = it.Span
	it.value.Unit, it.value.UnitClass = r.source[span.From:span.To], e.Name
	it.words = wordsOf(toks)
}

// wordItem reads a word, or the longest entry of the lexicon that begins with it.
func (r *reader) wordItem(toks []token, words []string, i int) (item, int) {
	end := i + 1
	for end < len(toks) && end < i+6 && toks[end].class == wordToken && !toks[end].line {
		end++
	}
	entries, n := r.lex.At(words[i:end])
	n = max(n, 1)
	if n == 1 && i+1 < end && strings.HasSuffix(words[i], "'") { // fr "d'abord"
		if e := r.lex.Entries(words[i] + words[i+1]); len(e) > 0 {
			entries, n = e, 2
		}
	}
	if n > 1 && (r.lang != "de" && apart(toks[i:i+n]) || r.measureFollows(words[i:end], n)) {
		entries, n = r.lex.Entries(words[i]), 1
	}
	if n > 1 && (r.lang == "es" || r.lang == "fr") && i+n < end && r.lex.Is(words[i+n-1], lexicon.Article) {
		entries, n = r.lex.Entries(words[i]), 1 // es "en el bote" is not "en él"
	}
	span := Span{toks[i].From, toks[i+n-1].To}
	it := item{Span: span, text: r.source[span.From:span.To], cap: toks[i].cap, clitic: toks[i].clitic, entries: entries}
	it.fold = fold(it.text)
	if n > 1 {
		it.words = wordsOf(toks[i : i+n])
		return it, n
	}
	it.verbs = r.lex.Verbs(toks[i].text)
	if len(entries) > 0 && structural[entries[0].Class] {
		it.verbs = nil // a form that only differs in its accents: fr "à", es "de"
	}
	if it.clitic && it.has(lexicon.Pronoun) { // "garde-le": no article
		for _, e := range entries {
			if e.Class == lexicon.Pronoun {
				it.entries, it.verbs = []lexicon.Entry{e}, nil
				return it, 1
			}
		}
	}
	if e := it.as(lexicon.Number); e != nil {
		v := e.Value
		it.number, it.value = true, &Value{Span: span, Text: plainNumber(v), Number: &v}
		return r.numberWord(it, toks, words, i)
	}
	return it, 1
}

// smallWord are classes of words that German writes small.
var smallWord = map[lexicon.Class]bool{
	lexicon.Quantity: true, lexicon.Place: true, lexicon.Stop: true, lexicon.Polite: true, lexicon.Negation: true, lexicon.Conjunction: true,
	lexicon.Preposition: true,
}

// structural are the classes of words that only join others.
var structural = map[lexicon.Class]bool{lexicon.Preposition: true, lexicon.Article: true, lexicon.Conjunction: true, lexicon.Negation: true}

// measureFollows reports whether behind an article something longer begins than the n words
// from the article on: "le plus âgé" is "le" and "plus âgé", and not "le plus".
func (r *reader) measureFollows(words []string, n int) bool {
	if !r.lex.Is(words[0], lexicon.Article) {
		return false
	}
	e, m := r.lex.At(words[1:])
	return m >= n && len(e) > 0 && e[0].Class == lexicon.Measure
}

// apart reports whether words that the lexicon has as one are names here: some of them has a
// capital letter and others not ("Next page" begins a sentence or is a name, "next Page" is two).
func apart(toks []token) bool {
	for _, t := range toks[1:] {
		if t.cap != toks[1].cap {
			return true
		}
	}
	return toks[1].cap && !toks[0].cap
}

// numberWord takes the unit behind a number in words: "five minutes".
func (r *reader) numberWord(it item, toks []token, words []string, i int) (item, int) {
	if i+1 >= len(toks) || toks[i+1].class != wordToken {
		return it, 1
	}
	for _, e := range r.lex.Entries(words[i+1]) {
		if e.Class == lexicon.Unit && e.Name != "count" && len(words[i+1]) > 2 && (r.lang == "de" || !toks[i+1].cap) {
			r.unit(&it, toks[i+1].Span, e, toks[i:i+2])
			return it, 2
		}
	}
	return it, 1
}

func plainNumber(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

func wordsOf(toks []token) []Word {
	list := make([]Word, 0, len(toks))
	for _, t := range toks {
		if t.class != markToken {
			list = append(list, Word{Span: t.Span, Text: t.text})
		}
	}
	return list
}
