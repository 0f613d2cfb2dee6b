package intent

import (
	"strings"
	"unicode/utf8"
)

// Options are hints for reading.
type Options struct {
	// Lang is the language that is expected where the text does not say: "en", "de".
	Lang string
}

// Document is a text that was read.
type Document struct {
	Lang    string // that most of it is in
	Clauses []Clause
	// Forbidden is what the text says not to do ("do not submit the form"). It is never
	// an instruction; nothing that matches it may be done on the way either.
	Forbidden []Instruction
}

// MaxText bounds what is read of a text, in bytes: 20,000 characters and their coding.
const MaxText = 80_000

// maxClauses bounds the clauses of a text: no test has so many steps.
const maxClauses = 2000

// Read reads a text. It always returns; what it could not read is a clause without
// readings.
func Read(text string, o Options) Document {
	if len(text) > MaxText {
		cut := MaxText
		for cut > 0 && !utf8.RuneStart(text[cut]) {
			cut--
		}
		text = text[:cut]
	}
	tokens := tokenize(text)
	main := language(tokens, o.Lang)
	d := Document{Lang: main.lang}
	for _, s := range sentences(main, tokens) {
		if len(d.Clauses) >= maxClauses {
			break
		}
		l := main
		if other := language(s, main.lang); other != main && sure(other, main, s) {
			l = other
		}
		w := sentenceReader{segmentReader: newReader(l, text)}
		w.read(l.compounds(s))
		d.Clauses = append(d.Clauses, w.clauses...)
		d.Forbidden = append(d.Forbidden, w.forbidden...)
	}
	d.Clauses = join(text, d.Clauses)
	contradict(&d)
	return d
}

// language returns the lexicon whose frequent words a span has most of.
func language(s span, hint string) *lexicon {
	best, most := lexicons[0], 0
	for _, l := range lexicons {
		n := l.score(s)*2 + 1
		if strings.HasPrefix(strings.ToLower(hint), l.lang) {
			n++
		}
		if n > most {
			best, most = l, n
		}
	}
	return best
}

// score counts what in a span is of a language: frequent words, letters that others
// lack, and verbs where a sentence can begin.
func (l *lexicon) score(s span) int {
	n, r := 0, newReader(l, "")
	for i, t := range s {
		if t.kind != word {
			continue
		}
		if l.function.codes[t.low] != "" {
			n++
		}
		if l.letters != "" && strings.ContainsAny(t.low, l.letters) {
			n++
		}
		if i == 0 || t.line || s[i-1].kind == mark {
			if _, v, _ := r.verb(span{{kind: word, low: t.low}}); v > 0 || r.partedHead(t.low) {
				n += 2
			}
		}
		if i > 2000 {
			break
		}
	}
	return n
}

// sure reports whether a sentence is clearly of another language than its text.
func sure(other, main *lexicon, s span) bool { return other.score(s) >= main.score(s)+2 }

// join makes one instruction of "copy X" and "paste it into Y".
func join(src string, clauses []Clause) []Clause {
	var out []Clause
	for _, c := range clauses {
		if len(out) > 0 {
			chained(src, &c)
		}
		if n := len(out); n > 0 && asFarAsNeeded(src, &out[n-1], &c) {
			out = out[:n-1]
		}
		if len(out) > 0 && len(c.Readings) > 0 && len(out[len(out)-1].Readings) > 0 {
			last, first := &out[len(out)-1].Readings[0], c.Readings[0].Instructions
			if n := len(last.Instructions); n > 0 && len(first) > 0 {
				a, b := &last.Instructions[n-1], first[0]
				if a.Kind == Copy && a.To == nil && b.Kind == Copy && b.Target != nil && b.Target.Pronoun {
					a.To = b.To
					a.Text += " " + b.Text
					last.Instructions = append(last.Instructions, first[1:]...)
					out[len(out)-1].Text += " " + c.Text
					out[len(out)-1].Readings = out[len(out)-1].Readings[:1]
					continue
				}
			}
		}
		out = append(out, c)
	}
	return out
}

// asFarAsNeeded reports whether a clause says only what may be opened for the next one:
// "expand the sections below, to find and click on X".
func asFarAsNeeded(src string, c, next *Clause) bool {
	if len(c.Readings) == 0 || len(next.Readings) == 0 || len(c.Readings[0].Instructions) != 1 {
		return false
	}
	in := c.Readings[0].Instructions[0]
	if in.Kind != Expand || in.Target == nil || in.Target.Name != "" || !strings.HasSuffix(in.Target.Noun, "s") || in.Target.All || in.Target.Ordinal != 0 || len(in.Target.Relations) > 0 {
		return false
	}
	_, after, _ := strings.Cut(src, c.Text)
	between, _, found := strings.Cut(after, next.Text)
	between = strings.ToLower(between)
	return found && (strings.Contains(between, " find ") || strings.Contains(between, " locate ") || strings.Contains(between, " finden "))
}

// contradict takes the readings of clauses that the text forbids elsewhere.
func contradict(d *Document) {
	for i := range d.Clauses {
		c := &d.Clauses[i]
		for _, reading := range c.Readings {
			for _, in := range reading.Instructions {
				for _, no := range d.Forbidden {
					if in.Kind == no.Kind && in.Verb == no.Verb && same(in.Target, no.Target) {
						c.Readings, c.Reason = nil, "the text asks for this and forbids it: "+no.Text
						break
					}
				}
			}
		}
	}
}

func same(a, b *Phrase) bool {
	if a == nil || b == nil {
		return a == b
	}
	return strings.EqualFold(a.Name, b.Name) && strings.EqualFold(a.Noun, b.Noun) && a.Ordinal == b.Ordinal &&
		len(a.Relations) == len(b.Relations)
}
