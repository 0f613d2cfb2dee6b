package intent

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/slipway-qa/slipway/worker/generation/lexicon"
)

// sentence is what stands between two full stops or line ends.
type sentence struct {
	toks     []token
	question bool
}

// sentences cuts tokens into sentences. Numbers of lists and marks before lines go.
func (r *reader) sentences(toks []token) []sentence {
	var list []sentence
	start := 0
	end := func(i int, question bool) {
		if i > start {
			list = append(list, sentence{toks: toks[start:i], question: question})
		}
	}
	for i := 0; i < len(toks); i++ {
		if toks[i].line {
			end(i, false)
			start = i + r.bullet(toks, i)
			i = max(i, start-1)
			if i < start {
				continue
			}
		}
		if r.quoteEnds(toks, i) {
			end(i+1, false)
			start = i + 1
			continue
		}
		if toks[i].class != markToken {
			continue
		}
		if toks[i].mark("!?…") && !(i+1 < len(toks) && toks[i+1].class == wordToken && !toks[i+1].cap && !toks[i+1].line) ||
			toks[i].mark(".") && r.stops(toks, i) {
			end(i, toks[i].mark("?"))
			start = i + 1
		}
	}
	end(len(toks), false)
	return list
}

// quoteEnds reports whether a quotation that ends in a full stop ends its sentence too, as
// in `It says "Done." Click OK.`.
func (r *reader) quoteEnds(toks []token, i int) bool {
	if toks[i].class != quoteToken || i+1 >= len(toks) || toks[i+1].class != wordToken || !toks[i+1].cap {
		return false
	}
	return strings.ContainsAny(toks[i].text[len(toks[i].text)-1:], ".!?") && (r.lang != "de" || len(r.lex.Verbs(toks[i+1].text)) > 0)
}

// bullet returns how many tokens at i number a line of a list.
func (r *reader) bullet(toks []token, i int) int {
	if toks[i].mark("-*•–·") {
		return 1
	}
	if i+2 < len(toks) && toks[i].class == numberToken && toks[i+1].mark(".)") && !toks[i+1].space && toks[i+2].space && !toks[i+2].line {
		return 2
	}
	return 0
}

// stops reports whether the full stop at i ends a sentence: not after an abbreviation or an
// initial, nor after the number of an ordinal ("am 3. Mai").
func (r *reader) stops(toks []token, i int) bool {
	if i+1 >= len(toks) || toks[i+1].line {
		return true
	}
	next := toks[i+1]
	if !next.space {
		return next.class == quoteToken || next.mark(")") // "d.h.", "e.g."
	}
	if i == 0 {
		return true
	}
	before := toks[i-1]
	if toks[i].space || before.class == quoteToken {
		return true
	}
	capital := next.cap || next.class != wordToken
	if before.class == numberToken {
		return r.lang != "de" || capital && !r.ordinalNoun(toks, i+1)
	}
	if before.class != wordToken {
		return true
	}
	if !capital {
		return false
	}
	if r.lex.Is(before.text+".", lexicon.Stop) || abbreviations[before.fold] {
		return false
	}
	initial := len([]rune(before.text)) == 1 && before.cap
	return !initial || len(r.lex.Entries(next.text)) > 0 || len(r.lex.Verbs(next.text)) > 0
}

// abbreviations are titles that stand before names in all languages.
var abbreviations = map[string]bool{
	"mr": true, "mrs": true, "ms": true, "dr": true, "prof": true, "st": true, "no": true, "nr": true, "sr": true, "sra": true, "srta": true,
	"mme": true, "mlle": true, "hr": true, "fr": true, "vs": true, "etc": true, "bzw": true, "ca": true, "approx": true,
	"ing": true, "dipl": true,
}

// ordinalNoun reports whether after "3." a noun goes on that the number counts.
func (r *reader) ordinalNoun(toks []token, i int) bool {
	t := toks[i]
	if t.class != wordToken {
		return false
	}
	if r.lex.Is(t.text, lexicon.Month) || r.lex.Is(t.text, lexicon.Noun_) {
		return true
	}
	return len(r.lex.Entries(t.text)) == 0 && len(r.lex.Verbs(t.text)) == 0
}

// unclitic cuts off what is written with a word: "'s", "n't", "l'", "-la".
func (r *reader) unclitic(toks []token) []token {
	out := make([]token, 0, len(toks)+8)
	for i, t := range toks {
		if t.class == markToken && isApostrophe([]rune(t.text)[0]) && !t.space && i > 0 && toks[i-1].class == wordToken &&
			strings.HasSuffix(toks[i-1].fold, "s") {
			t.fold, t.text, t.class, t.clitic = "'s", "'s", wordToken, true
			out = append(out, t)
			continue
		}
		if t.class != wordToken {
			out = append(out, t)
			continue
		}
		out = r.cut(out, t)
	}
	return out
}

// cut appends the parts of the word t.
func (r *reader) cut(out []token, t token) []token {
	if i := strings.IndexByte(t.fold, '\''); i > 0 && len(t.fold) == len(t.text) || i > 0 && strings.ContainsRune(t.text, '’') {
		return r.cutApostrophe(out, t)
	}
	i := strings.IndexByte(t.text, '-')
	if i < 1 || len(r.lex.Verbs(t.text[:i])) == 0 || !r.pronouns(t.text[i+1:]) || len(r.lex.Entries(t.text)) > 0 {
		return append(out, t)
	}
	for n, part := range strings.Split(t.text, "-") {
		out = append(out, piece(t, part, n > 0))
		t.From += len(part) + 1
	}
	return out
}

// pronouns reports whether all parts of s are pronouns: "la", "le-lui", "t-il".
func (r *reader) pronouns(s string) bool {
	for _, p := range strings.Split(s, "-") {
		if !r.lex.Is(p, lexicon.Pronoun) && p != "t" {
			return false
		}
	}
	return true
}

func piece(t token, text string, clitic bool) token {
	p := t
	p.To, p.text, p.fold = t.From+len(text), text, fold(text)
	p.cap = t.cap && !clitic
	p.clitic = clitic
	p.space = t.space && !clitic
	p.line = t.line && !clitic
	return p
}

func (r *reader) cutApostrophe(out []token, t token) []token {
	at := strings.IndexFunc(t.text, isApostrophe)
	mark := 1
	if strings.HasPrefix(t.text[at:], "’") {
		mark = len("’")
	}
	head, tail := t.text[:at], t.text[at+mark:]
	if r.lex.Elision(head+"'") || r.lex.Elision(head) {
		first := piece(t, t.text[:at+mark], false)
		first.text, first.fold = head+"'", fold(head)+"'"
		rest := t
		rest.From, rest.text, rest.fold, rest.space, rest.line = t.From+at+mark, tail, fold(tail), false, false
		letter, _ := utf8.DecodeRuneInString(tail)
		rest.cap = unicode.IsUpper(letter)
		return r.cut(append(out, first), rest)
	}
	full, known := contractions[fold(tail)]
	if !known || r.lang != "en" {
		return append(out, t)
	}
	if fold(tail) == "t" && (!strings.HasSuffix(fold(head), "n") || len(head) < 2) {
		return append(out, t) // the title "c't", or "n't" alone
	}
	first := piece(t, head, false)
	if fold(tail) == "t" { // "don't": the n belongs to the second word
		first = piece(t, strings.TrimRight(head, "nN"), false)
		if w, ok := irregularNot[first.fold]; ok {
			first.text, first.fold = w, w
		}
		at--
	}
	if fold(tail) == "s" && r.lex.Is(head, lexicon.Pronoun) || fold(tail) == "s" && clauseHead[first.fold] {
		full = "is"
	}
	rest := t
	rest.From, rest.text, rest.fold, rest.cap, rest.clitic, rest.space, rest.line = t.From+at, full, full, false, true, false, false
	return append(out, first, rest)
}

// contractions of English by what stands after the apostrophe.
var contractions = map[string]string{"s": "'s", "t": "not", "re": "are", "ve": "have", "ll": "will", "d": "would", "m": "am"}

var (
	irregularNot = map[string]string{"ca": "can", "wo": "will", "sha": "shall"}
	clauseHead   = map[string]bool{"there": true, "that": true, "what": true, "here": true, "where": true, "who": true, "it": true}
)
