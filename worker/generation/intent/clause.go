package intent

import (
	"strings"
)

// sentenceReader reads one sentence. A condition and a place at its start hold for
// what follows in it.
type sentenceReader struct {
	segmentReader
	clauses   []Clause
	forbidden []Instruction
	condition *Assertion
	former    *Assertion // the condition before, for "otherwise"
	optional  bool       // "when asked, ..."
	outcome   bool       // the sentence begins with "then"
	scope     []Relation
}

// maxWords bounds what is read as one instruction.
const maxWords = 120

// maxReadings bounds the readings of a clause.
const maxReadings = 4

func (w *sentenceReader) read(s span) {
	s = w.aimless(w.story(s))
	if len(s) == 0 || w.ignorable(s) {
		return
	}
	parts := w.segments(s)
	for i := 0; i < len(parts); i++ {
		part := parts[i]
		if part.link == "then" || part.link == "," && i > 1 {
			w.condition = nil
		}
		w.outcome = i == 0 && part.link == "then" && s[0].line
		if i+1 < len(parts) && parts[i+1].weak {
			both := span(s[index(s, part.span):indexEnd(s, parts[i+1].span)])
			w.uncertain(both, part.span, parts[i+1].span)
			i++
			continue
		}
		w.segment(part.span, i+1 < len(parts))
	}
}

// index returns where a part of s begins in it.
func index(s, part span) int {
	for i := range s {
		if s[i].start == part[0].start {
			return i
		}
	}
	return 0
}

func indexEnd(s, part span) int { return index(s, part) + len(part) }

// ignorable reports whether a sentence asks for nothing: the name of a scenario, a
// goal, a heading.
func (w *sentenceReader) ignorable(s span) bool {
	if _, n := w.questions.match(s); n > 0 && n < len(s) {
		w.add(Clause{Text: s.text(w.src), Reason: "it is a question"})
		return true
	}
	if _, n := w.ignored.match(s); n > 0 && (n > 1 || s[0].line) {
		if n == len(s) || s[n].is(":") || n > 1 {
			return true
		}
	}
	last := s[len(s)-1]
	return last.is(":") && !s.hasQuoted()
}

// segment reads one segment and adds its clause.
func (w *sentenceReader) segment(s span, more bool) {
	s = s.trim()
	if len(s) == 0 {
		return
	}
	if rest, done := w.conditional(s, more); done {
		return
	} else {
		s = rest
	}
	if i := w.placeEnd(s); i > 0 && w.placed(s[:i]) {
		s = s[i:]
	} else if more && w.placed(s) {
		return
	}
	c := w.clause(s)
	w.add(c)
}

// add adds a clause with the sentence's condition and place.
func (w *sentenceReader) add(c Clause) {
	if c.Text == "" {
		return
	}
	c.Lang = w.lang
	if len(c.Readings) > maxReadings {
		c.Readings = c.Readings[:maxReadings]
	}
	if len(c.Readings) == 0 && c.Reason == "" {
		return
	}
	for i := range c.Readings {
		for j := range c.Readings[i].Instructions {
			in := &c.Readings[i].Instructions[j]
			in.Lang = w.lang
			if in.Text == "" {
				in.Text = c.Text
			}
			in.Optional = in.Optional || w.optional && in.Kind != Assert
			if w.condition != nil && in.If == nil {
				in.If = w.condition
			}
			w.place(in)
		}
	}
	if len(w.scope) > 0 {
		pressedThere(c.Readings)
	}
	w.clauses = append(w.clauses, c)
}

// uncertain reads two segments that may be one.
func (w *sentenceReader) uncertain(both, first, second span) {
	one, a, b := w.clause(both), w.clause(first), w.clause(second)
	c := Clause{Text: both.text(w.src)}
	for _, reading := range one.Readings {
		if len(reading.Instructions) == 1 {
			reading.Prior = 0.6
			c.Readings = append(c.Readings, reading)
		}
	}
	if len(a.Readings) > 0 && len(b.Readings) > 0 {
		all := append(append([]Instruction{}, a.Readings[0].Instructions...), b.Readings[0].Instructions...)
		c.Readings = append(c.Readings, Reading{all, 0.4})
	}
	c.Reason = one.Reason
	w.add(c)
}

// clause reads a segment that asks for something.
func (w *sentenceReader) clause(s span) Clause {
	s = s.trim()
	c := Clause{Text: s.text(w.src)}
	if len(s) == 0 {
		return Clause{}
	}
	if len(s) > maxWords {
		c.Reason = "it is too long"
		return c
	}
	s, condition, isOptional := w.trailing(w.tailless(s))
	if out := w.label(s); out != nil {
		c.Readings = out
		return c
	}
	if out := w.means(s); out != nil {
		c.Readings = out
		w.conditionOf(&c, condition, isOptional)
		return c
	}
	s, within := w.within(s)
	if a, rest := w.checked(s); a != "" {
		c.Readings, c.Reason = w.assertions(rest)
		if a == "!check" {
			deny(c.Readings)
		}
		for i := range c.Readings {
			for j := range c.Readings[i].Instructions {
				c.Readings[i].Instructions[j].Duration = within
			}
		}
		w.conditionOf(&c, condition, isOptional)
		return c
	}
	body := s[w.skip(s):]
	if _, n := w.not.match(body); n > 0 && n < len(body) {
		if code, verb, rest, ok := w.verbPhrase(body[n:]); ok {
			readings := w.act(code, verb, rest, body[n:])
			if len(readings) > 0 && len(w.forbidden) < 50 {
				no := readings[0].Instructions
				no[0].Text = c.Text
				w.forbidden = append(w.forbidden, no...)
			}
			return Clause{}
		}
	}
	if w.finalVerb {
		if code, verb, rest, ok := w.denied(body); ok {
			if readings := w.act(code, verb, rest, body); len(readings) > 0 && len(w.forbidden) < 50 {
				w.forbidden = append(w.forbidden, readings[0].Instructions...)
			}
			return Clause{}
		}
	}
	code, verb, rest, ok := w.verbPhrase(body)
	if ok && len(rest) > 1 && strings.HasPrefix(code, "activate") && (rest[0].is(":") || rest[0].is("=")) {
		ok = false // "Email: a@b.c"
	}
	if ok && !(w.statement(body) > 0 && w.nominal(body, rest)) {
		c.Readings = w.act(code, verb, rest, body)
		if len(c.Readings) == 0 {
			if len(rest) == 0 && code == "find" || code == "hint" {
				return Clause{}
			}
			c.Reason = "what to do is understood (" + verb + "), but not with what"
		}
		w.conditionOf(&c, condition, isOptional)
		return c
	}
	if readings := w.standing(s, body); readings != nil {
		c.Readings = readings
		return c
	}
	if code, n := w.sequels.match(s); n > 0 && n < len(s) && (code == "then" || s[n].is(",")) {
		s = s[n:].trim()
	}
	if w.statement(s) >= 0 {
		c.Readings, c.Reason = w.assertions(s)
		w.conditionOf(&c, condition, isOptional)
		return c
	}
	if readings := w.labelled(body); len(readings) > 0 {
		c.Readings = readings
		return c
	}
	c.Reason = "no instruction was found in it"
	return c
}

// tailless removes from the end what an instruction is for, and notes what is not to be
// done: "fill in the form without submitting it".
func (w *sentenceReader) tailless(s span) span {
	for i := 2; i+1 < len(s); i++ {
		if w.purposes.has(s[i:]) && !w.moves(s) {
			return s[:i].trim()
		}
		_, n := w.without.match(s[i:])
		if n == 0 || i+n >= len(s) {
			continue
		}
		tail := s[i+n:]
		if tail[0].is("zu") && len(tail) > 1 {
			tail = tail[1:]
		}
		if code, verb, rest, ok := w.verbPhrase(tail); ok {
			for _, reading := range w.act(code, verb, rest, tail) {
				w.forbidden = append(w.forbidden, reading.Instructions...)
				break
			}
			return s[:i].trim()
		}
	}
	return s
}

// moves reports whether an instruction moves something, for which "so that" says where.
func (w *sentenceReader) moves(s span) bool {
	code, _, _ := w.verb(s[w.skip(s):])
	return code == "drag" || code == "move" || code == "sort"
}

// nominal reports whether a word that can be a verb is a noun here: "search is empty",
// and whether the verb at the end belongs to a statement.
func (w *sentenceReader) nominal(body, rest span) bool {
	if len(rest) == 0 {
		return false
	}
	if rest[0].n < body[len(body)-1].n && rest[0].n == body[0].n {
		return w.modalIn(body)
	}
	return w.modals.has(rest) || w.nouns.has(rest) && w.statement(rest) >= 0 && w.statement(rest) <= 3
}

// modalIn reports whether a word such as "is" or "should" is in a span.
func (r *statementReader) modalIn(s span) bool {
	for i := range s {
		if s[i].kind == word && r.modals.has(s[i:]) {
			return true
		}
	}
	return false
}

// checked reports whether a segment begins as an assertion, and returns what it asserts.
func (w *sentenceReader) checked(s span) (string, span) {
	for i := 0; i < len(s); {
		_, lead := w.leads.match(s[i:])
		if kind, n := w.checks.match(s[i:]); n > 0 && n < len(s)-i && n >= lead {
			rest := s[i+n:]
			for len(rest) > 1 && (rest[0].is(",") || rest[0].is(":") || w.fillers.has(rest)) {
				rest = rest[1:]
			}
			_, t := w.that.match(rest)
			if t > 0 && t < len(rest) {
				return kind, rest[t:]
			}
			if code, v, _ := w.verb(s[i:]); v > 0 && n == 1 && w.statement(rest) < 0 && (strings.HasPrefix(code, "activate") || code == "check" || code == "accept") {
				return "", nil
			}
			return kind, rest
		}
		_, n := w.leads.match(s[i:])
		if n == 0 {
			_, n = w.sequels.match(s[i:])
		}
		if n == 0 {
			return "", nil
		}
		i += n
	}
	return "", nil
}

// deny turns assertions into their opposites.
// within removes from an assertion how long it may take: "within 5 seconds".
