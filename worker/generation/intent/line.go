package intent

import (
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/worker/generation/lexicon"
)

// pair makes a field of a label and the value behind its colon.
func (r *reader) pair(label, value *phrase) Field {
	name := r.description(label)
	v := r.value(value)
	return Field{Name: &name, Value: v, Span: Span{name.Span.From, v.Span.To}}
}

// part is some tokens that are read together: sentences, or a line that is a field of a form.
type part struct {
	toks []token
	// colon is the place of the one behind the label of a field; 0: they are sentences.
	colon int
}

// parts takes labels with their values out of the tokens, where several stand below or behind each
// other: a form as people write it down. What stands in them are no sentences, and no word of them is
// a verb.
func (r *reader) parts(toks []token) []part {
	var out []part
	from := 0
	for i := 0; i < len(toks); {
		block, end := r.block(toks, i)
		if len(block) < 2 {
			i = lineEnd(toks, i)
			continue
		}
		if i > from {
			out = append(out, part{toks: toks[from:i]})
		}
		out = append(out, block...)
		from, i = end, max(end, i+1)
	}
	if from < len(toks) {
		out = append(out, part{toks: toks[from:]})
	}
	return out
}

// block returns the labels with their values from i on, and where they end: each on a line of its own,
// or several on one.
func (r *reader) block(toks []token, i int) (list []part, end int) {
	for i < len(toks) {
		next := lineEnd(toks, i)
		line := toks[i+r.bullet(toks, i) : next]
		if row, rest := r.row(line); len(row) > 1 {
			list, i = append(list, row...), next-rest
			if rest > 0 {
				break
			}
			continue
		}
		colon := r.labelEnd(line)
		if colon == 0 {
			break
		}
		list = append(list, part{line, colon})
		i = next
	}
	return list, i
}

// row returns the labels with their values of a line that has several, divided by commas, and how many
// tokens of the line are another sentence.
func (r *reader) row(line []token) (list []part, rest int) {
	for len(line) > 0 {
		end := 0
		for end < len(line) && !line[end].mark(",;") && !(line[end].mark(".") && r.stops(line, end)) {
			end++
		}
		colon := r.labelEnd(line[:end])
		if colon == 0 {
			return nil, 0
		}
		list = append(list, part{line[:end], colon})
		if end < len(line) && line[end].mark(".") {
			return list, len(line) - end - 1
		}
		line = line[min(end+1, len(line)):]
	}
	return list, 0
}

// lineEnd returns where the line of a token ends.
func lineEnd(toks []token, i int) int {
	for i++; i < len(toks) && !toks[i].line; i++ {
	}
	return i
}

// longestLabel is how many words the label of a field has at most.
const longestLabel = 4

// labelEnd returns where the colon behind the label of a line stands; 0 where it is no field. A verb
// is a label only where it is a noun as well ("Book: Emma"), and what begins with a verb is said to
// be done.
func (r *reader) labelEnd(line []token) int {
	k := 0
	for k < len(line) && line[k].class == wordToken {
		k++
	}
	if k == 0 || k > longestLabel || k+1 >= len(line) || !line[0].cap || !line[k].mark(":") || line[k].space || !line[k+1].space {
		return 0
	}
	if k == 1 && len(r.lex.Verbs(line[0].text)) > 0 && !r.lex.Is(line[0].text, lexicon.Noun_) {
		return 0
	}
	if k > 1 && (r.orders(line[0].text) || r.orders(line[0].text+" "+line[1].text)) {
		return 0
	}
	if r.lex.Is(line[0].text, lexicon.Conjunction) || r.lex.Is(line[0].text, lexicon.Preposition) {
		return 0
	}
	for _, v := range r.lex.Verbs(line[k+1].text) {
		if v.Form == "imperative" && line[k+1].class == wordToken && k+2 < len(line) {
			return 0
		}
	}
	return k
}

// orders reports whether a word says what is to be done to a field or control: "fill in", "choose".
func (r *reader) orders(word string) bool {
	return slices.ContainsFunc(r.lex.Verbs(word), func(v lexicon.VerbForm) bool {
		switch Effect(v.Effect) {
		case Set, Type, Choose, Select, Press, Check, Open, Edit, Remove:
			return v.Form == "imperative"
		}
		return false
	})
}

// formLine reads a line that is a field of a form. Its value is written as it is to be typed.
func (r *reader) formLine(p part) Goal {
	label := r.items(p.toks[:p.colon])
	name := r.describe(label)
	value := p.toks[p.colon+1:]
	if n := len(value); n > 1 && value[n-1].mark(".") {
		value = value[:n-1]
	}
	span := Span{value[0].From, value[len(value)-1].To}
	v := Value{Span: span, Text: strings.TrimSpace(r.source[span.From:span.To])}
	if items := r.items(value); len(items) == 1 {
		v = r.value(&phrase{core: items})
	}
	whole := Span{name.Span.From, span.To}
	return Goal{Span: whole, Effect: Set, Fields: []Field{{Name: &name, Value: v, Span: whole}}}
}
