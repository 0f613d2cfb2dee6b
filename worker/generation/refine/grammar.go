package refine

// place reads a sentence that says where in the test something goes: "before
// submitting, check X", "at the end, verify Y", "check X before you submit".
func (p *parser) place(s span) (command, bool) {
	for _, ends := range []struct {
		name string
		kind verb
	}{{"at_start", atStart}, {"at_end", add}, {"here", add}} {
		words := p.phrases(ends.name)
		if n := s.at(0, words); n > 0 && n < len(s.list) && p.placeWords(s) <= n {
			return command{kind: ends.kind, now: s.cut(n, len(s.list)).trim(nil), also: true, text: s.String()}, true
		}
		if ends.name == "here" {
			continue
		}
		for _, phrase := range words {
			if at := len(s.list) - len(phrase); at > 0 && s.hasAt(at, phrase) {
				return command{kind: ends.kind, now: s.cut(0, at).trim(nil), also: true, text: s.String()}, true
			}
		}
	}
	for _, side := range []string{"before", "after"} {
		words := p.phrases(side)
		c, ok := p.placeAhead(s, words)
		if !ok {
			c, ok = p.placeBehind(s, words)
		}
		if !ok {
			c, ok = p.placeAmid(s, words)
		}
		if ok {
			c.before = side == "before"
			return c, true
		}
	}
	return command{}, false
}

// placeAhead reads "before submitting, check X", and without the comma where the
// instruction begins clearly.
func (p *parser) placeAhead(s span, words [][]string) (command, bool) {
	n := s.at(0, words)
	if n == 0 {
		return command{}, false
	}
	what, now, ok := p.split(s, n)
	return command{kind: insert, text: s.String(), what: what, now: now}, ok
}

// split parts words for a step, from a place on, and the instruction behind them: at the comma,
// where words for a step stand before it, else where the instruction begins clearly.
func (p *parser) split(s span, from int) (what, now span, ok bool) {
	comma := -1
	for i := from + 1; i+1 < len(s.list) && comma < 0; i++ {
		if s.comma(i) {
			comma = i
		}
	}
	if comma > 0 && p.located(s.cut(from, comma)) {
		return s.cut(from, comma), s.cut(comma+1, len(s.list)).trim(nil), true
	}
	i := p.border(s, from)
	if comma > 0 && (i < 0 || i > comma) {
		return s.cut(from, comma), s.cut(comma+1, len(s.list)).trim(nil), true
	}
	if i < 0 {
		return what, now, false
	}
	return s.cut(from, i), s.cut(i, len(s.list)), true
}

// placeWords returns how many words of a place begin a sentence.
func (p *parser) placeWords(s span) int {
	return max(s.at(0, p.phrases("before")), s.at(0, p.phrases("after")))
}

// placeAmid reads "check before submitting, that X".
func (p *parser) placeAmid(s span, words [][]string) (command, bool) {
	i, n := s.find(1, words)
	if i < 0 {
		return command{}, false
	}
	for j := i + n + 1; j+1 < min(len(s.list), i+n+maxAnchor); j++ {
		if what := s.cut(i+n, j); s.comma(j) && p.activity(what) && p.located(what) {
			return command{kind: insert, what: what, now: s.without(i, j), text: s.String()}, true
		}
	}
	return command{}, false
}

// border returns where an instruction begins behind words for a step, without a comma
// between: as many words as are those of a step, else as few as leave an instruction.
// It is -1 where there is none.
func (p *parser) border(s span, from int) int {
	first := -1
	for i := min(len(s.list), from+maxAnchor) - 1; i > from; i-- {
		if !p.orders(s.cut(i, p.nextJoint(s, i))) && !p.orders(s.cut(i, len(s.list))) {
			continue
		}
		if p.located(s.cut(from, i)) {
			return i
		}
		first = i
	}
	return first
}

// placeBehind reads "check X before submitting": only where what follows is an activity
// or a step, since elements also stand before and after others.
func (p *parser) placeBehind(s span, words [][]string) (command, bool) {
	for i := len(s.list) - 2; i > 0; i-- {
		n := s.at(i, words)
		if n == 0 || i+n >= len(s.list) || s.at(i-1, words) > n {
			continue
		}
		what, now := s.cut(i+n, len(s.list)), s.cut(0, i).trim(nil)
		if p.activity(what) && (p.orders(now) || p.read.readable(now.String())) {
			return command{kind: insert, what: what, now: now, text: s.String()}, true
		}
	}
	return command{}, false
}

// activity reports whether a span names something that a test does, and no element:
// "submitting", "you submit", "step 3", "dem Absenden", "enviar".
func (p *parser) activity(s span) bool {
	if s.at(0, p.phrases("subject")) > 0 || p.stepAt(s) >= 0 {
		return true
	}
	all := s.trim(p.phrases("article"))
	if len(all.list) == 0 || all.list[0].quoted || all.at(0, p.phrases("thing")) > 0 {
		return false
	}
	bare := len(all.list) == len(s.list)
	for _, v := range p.lang.Verbs(all.list[0].text) {
		switch {
		case v.Form == "gerund" && bare:
			return true
		case v.Form == "infinitive" && p.lang.Code != "en" && bare != p.lang.Capitals:
			// Where nouns have capitals an infinitive with an article is one: "dem Absenden".
			return true
		}
	}
	return false
}

// stepAt returns the index of a word for a step in a span; -1 for none.
func (p *parser) stepAt(s span) int {
	i, _ := s.find(0, p.phrases("step"))
	return i
}

// shape reads a part that speaks of what is in the test.
func (p *parser) shape(s span) (command, bool) {
	for _, read := range []func(span) (command, bool){p.insteadOf, p.replacing, p.removing, p.changing, p.using, p.insteadAlone} {
		if c, ok := read(s); ok && len(c.what.list)+len(c.now.list) > 0 {
			return c, true
		}
	}
	return command{}, false
}

// insteadOf reads "instead of A, B", "B instead of A" and "B, not A".
func (p *parser) insteadOf(s span) (command, bool) {
	words := p.phrases("instead_of")
	if n := s.at(0, words); n > 0 {
		what, now, ok := p.split(s, n)
		return command{kind: replace, what: what, now: now}, ok
	}
	if i, n := s.find(1, words); i > 0 && i+n < len(s.list) {
		return command{kind: replace, what: s.cut(i+n, len(s.list)), now: s.cut(0, i).trim(nil)}, true
	}
	for i := 1; i+1 < len(s.list); i++ {
		n := s.at(i+1, p.phrases("rather"))
		if !s.comma(i) || n == 0 || i+1+n >= len(s.list) || len(s.list)-i >= maxAnchor {
			continue
		}
		if what := s.cut(i+1+n, len(s.list)); !p.orders(what) {
			return command{kind: replace, what: what, now: s.cut(0, i).trim(nil)}, true
		}
	}
	return command{}, false
}

// replacing reads "replace A with B".
func (p *parser) replacing(s span) (command, bool) {
	n := s.at(0, p.phrases("replace"))
	if n == 0 {
		return command{}, false
	}
	i, m := s.find(n+1, p.phrases("with"))
	if i < 0 || i+m >= len(s.list) {
		return command{}, false
	}
	kind := replace
	if s.at(0, p.phrases("change")) > 0 {
		kind = change // "cambia la cantidad por 3"
	}
	return command{kind: kind, what: s.cut(n, i), now: s.cut(i+m, len(s.list))}, true
}

// removing reads "skip A", "remove the step A", "do not A", "without A".
func (p *parser) removing(s span) (command, bool) {
	for _, name := range []string{"skip", "not", "without"} {
		n := s.at(0, p.phrases(name))
		if n == 0 || n >= len(s.list) {
			continue
		}
		what := s.cut(n, len(s.list))
		if name == "skip" && s.at(0, p.phrases("needs_parted")) > 0 {
			last := len(what.list) - 1
			if what.at(last, p.phrases("parted")) == 0 {
				continue
			}
			what = what.cut(0, last)
		}
		if len(what.list) > 0 {
			return command{kind: remove, what: what}, true
		}
	}
	if n := s.at(0, p.phrases("remove")); n > 0 && n < len(s.list) && p.stepAt(s) >= 0 {
		return command{kind: remove, what: s.cut(n, len(s.list))}, true
	}
	if i := p.around(s); i > 0 {
		first := 1
		what := s.without(i, i+1).cut(first, len(s.list)-1)
		return command{kind: remove, what: what}, len(what.list) > 0
	}
	if i, n := s.find(1, p.phrases("not_in")); i > 0 && !p.claims(s) {
		return command{kind: remove, what: s.without(i, i+n)}, true
	}
	return command{}, false
}

// maxAround bounds the words between the two parts of a negation.
const maxAround = 4

// around returns where the second part of a negation stands that the first word begins: "ne
// clique pas". It is 0 where there is none.
func (p *parser) around(s span) int {
	for _, pair := range p.phrases("around") {
		if len(pair) != 2 || !s.hasAt(0, pair[:1]) {
			continue
		}
		for i := 2; i < min(len(s.list), 2+maxAround); i++ {
			if s.hasAt(i, pair[1:]) {
				return i
			}
		}
	}
	return 0
}

// changing reads "change F to B" and "change F from A to B".
func (p *parser) changing(s span) (command, bool) {
	n := s.at(0, p.phrases("change"))
	if n == 0 {
		return command{}, false
	}
	s = p.withoutInstead(s)
	if n >= len(s.list) {
		return command{}, false
	}
	to, m := s.find(n+1, p.phrases("to"))
	if to < 0 || to+m >= len(s.list) {
		return command{}, false
	}
	what, now := s.cut(n, to), s.cut(to+m, len(s.list))
	// "de" is of as well as from: what it leaves must still be a value of the test.
	if from, k := what.find(1, p.phrases("from")); from > 0 && from+k < len(what.list) && p.located(what.cut(0, from)) {
		what = what.cut(0, from)
	}
	return command{kind: change, what: what, now: now}, true
}

// using reads "use B as the F", with or without instead.
func (p *parser) using(s span) (command, bool) {
	n := s.at(0, p.phrases("use"))
	if n == 0 {
		return command{}, false
	}
	plain := p.withoutInstead(s)
	if len(plain.list) <= n {
		return command{}, false
	}
	as, m := plain.find(n+1, p.phrases("as"))
	switch {
	case as > 0 && as+m < len(plain.list):
		return command{kind: change, what: plain.cut(as+m, len(plain.list)), now: plain.cut(n, as)}, true
	case len(plain.list) < len(s.list):
		return command{kind: instead, now: plain.cut(n, len(plain.list))}, true
	}
	return command{}, false
}

// insteadAlone reads "choose Blue instead".
func (p *parser) insteadAlone(s span) (command, bool) {
	plain := p.withoutInstead(s)
	if len(plain.list) == len(s.list) || len(plain.list) == 0 {
		return command{}, false
	}
	return command{kind: instead, now: plain}, true
}

// withoutInstead returns a part without the word instead at its start or end, or in it: "gib
// stattdessen Bob ein".
func (p *parser) withoutInstead(s span) span {
	words := p.phrases("instead")
	for _, phrase := range words {
		if at := len(s.list) - len(phrase); at > 0 && s.hasAt(at, phrase) {
			return s.cut(0, at).trim(nil)
		}
		if s.hasAt(0, phrase) {
			return s.cut(len(phrase), len(s.list)).trim(nil)
		}
	}
	if i, n := s.find(1, words); i > 0 {
		return s.without(i, i+n)
	}
	return s
}
