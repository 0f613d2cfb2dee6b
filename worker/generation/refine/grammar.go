package refine

import (
	"slices"
	"strings"
	"unicode"
)

// place reads a sentence that says where in the test something goes: "before
// submitting, check X", "at the end, verify Y", "check X before you submit".
func (p *parser) place(of *language, s span) (command, bool) {
	for _, ends := range []struct {
		words string
		kind  verb
	}{{of.atStart, atStart}, {of.atEnd, add}, {of.here, add}} {
		if n := s.at(0, groups(ends.words)); n > 0 && n < len(s.list) {
			return command{kind: ends.kind, now: s.cut(n, len(s.list)).trim(nil), also: true, text: s.String()}, true
		}
		for _, group := range groups(ends.words) {
			n := len(strings.Fields(group))
			if at := len(s.list) - n; at > 0 && s.hasAt(at, group) > 0 && ends.words != of.here {
				return command{kind: ends.kind, now: s.cut(0, at).trim(nil), also: true, text: s.String()}, true
			}
		}
	}
	for _, side := range []struct {
		words  string
		before bool
	}{{of.before, true}, {of.after, false}} {
		if c, ok := p.placeAhead(of, s, groups(side.words)); ok {
			c.before = side.before
			return c, true
		}
		if c, ok := p.placeBehind(of, s, groups(side.words)); ok {
			c.before = side.before
			return c, true
		}
	}
	return command{}, false
}

// placeAhead reads "before submitting, check X", and without the comma where the
// instruction begins clearly.
func (p *parser) placeAhead(of *language, s span, words []string) (command, bool) {
	n := s.at(0, words)
	if n == 0 {
		return command{}, false
	}
	c := command{kind: insert, text: s.String()}
	if i, _ := s.find(n, []string{","}); i > n && i+1 < len(s.list) {
		c.what, c.now = s.cut(n, i), s.cut(i+1, len(s.list)).trim(nil)
		return c, true
	}
	i := p.border(s, n)
	if i < 0 {
		return command{}, false
	}
	c.what, c.now = s.cut(n, i), s.cut(i, len(s.list))
	return c, true
}

// border returns where an instruction begins behind words for a step, without a comma
// between: as many words as are those of a step, else as few as leave an instruction.
// It is -1 where there is none.
func (p *parser) border(s span, from int) int {
	first := -1
	for i := min(len(s.list), from+maxAnchor) - 1; i > from; i-- {
		if !p.opens(s.cut(i, s.nextJoint(i))) {
			continue
		}
		if p.located(s.cut(from, i)) {
			return i
		}
		first = i
	}
	return first
}

// opens reports whether a part begins with what somebody wants done.
func (p *parser) opens(s span) bool {
	for i := range languages {
		if s.at(0, groups(languages[i].use)) > 0 {
			return true
		}
	}
	return p.readable(s.String())
}

// placeBehind reads "check X before submitting": only where what follows is an activity
// or a step, since elements also stand before and after others.
func (p *parser) placeBehind(of *language, s span, words []string) (command, bool) {
	for i := len(s.list) - 2; i > 0; i-- {
		n := s.at(i, words)
		if n == 0 || i+n >= len(s.list) || i > 0 && s.at(i-1, words) > n {
			continue
		}
		what := s.cut(i+n, len(s.list))
		if !of.activity(what) || !p.readable(s.cut(0, i).String()) {
			continue
		}
		return command{kind: insert, what: what, now: s.cut(0, i).trim(nil), text: s.String()}, true
	}
	return command{}, false
}

// activity reports whether a span names something that a test does, and no element:
// "submitting", "you submit", "step 3", "dem Absenden".
func (l *language) activity(s span) bool {
	if s.at(0, groups(l.subjects)) > 0 {
		return true
	}
	if l.stepAt(s) >= 0 {
		return true
	}
	all := s.trim(articles)
	if len(all.list) == 0 || all.list[0].quoted {
		return false
	}
	first := all.list[0]
	if l.gerunds == "en" {
		r := []rune(first.text)
		return len(all.list) < len(s.list) && unicode.IsUpper(r[0]) && strings.HasSuffix(first.low, "en") && len(r) > 5
	}
	return strings.HasSuffix(first.low, "ing") && len(first.low) > 5 && !slices.Contains(elements, first.low)
}

// elements are words with the ending of an activity that name elements of pages.
var elements = []string{"heading", "setting", "listing", "building", "rating", "greeting", "string", "spring", "morning", "evening", "meeting", "following",
	"shipping", "billing", "pricing", "warning", "nothing", "something", "anything", "everything", "clothing", "training", "painting", "king"}

// stepAt returns the index of a word for a step in a span; -1 for none.
func (l *language) stepAt(s span) int {
	i, _ := s.find(0, groups(l.steps))
	return i
}

// shape reads a part that speaks of what is in the test.
func (p *parser) shape(of *language, s span) (command, bool) {
	for _, read := range []func(*language, span) (command, bool){p.insteadOf, p.replacing, p.removing, p.changing, p.using, p.insteadAlone} {
		if c, ok := read(of, s); ok && len(c.what.list)+len(c.now.list) > 0 {
			return c, true
		}
	}
	return command{}, false
}

// insteadOf reads "instead of A, B", "B instead of A" and "B, not A".
func (p *parser) insteadOf(of *language, s span) (command, bool) {
	words := groups(of.insteadOf)
	if n := s.at(0, words); n > 0 {
		if i, _ := s.find(n, []string{","}); i > n && i+1 < len(s.list) {
			return command{kind: replace, what: s.cut(n, i), now: s.cut(i+1, len(s.list)).trim(nil)}, true
		}
		i := p.border(s, n)
		if i < 0 {
			return command{}, false
		}
		return command{kind: replace, what: s.cut(n, i), now: s.cut(i, len(s.list))}, true
	}
	if i, n := s.find(1, words); i > 0 && i+n < len(s.list) {
		return command{kind: replace, what: s.cut(i+n, len(s.list)), now: s.cut(0, i).trim(nil)}, true
	}
	for i := 1; i+1 < len(s.list); i++ {
		n := s.at(i+1, groups(of.rather))
		if s.list[i].text == "," && !s.list[i].quoted && n > 0 && i+1+n < len(s.list) && len(s.list)-i < maxAnchor && !p.readable(s.cut(i+1+n, len(s.list)).String()) {
			return command{kind: replace, what: s.cut(i+1+n, len(s.list)), now: s.cut(0, i).trim(nil)}, true
		}
	}
	return command{}, false
}

// replacing reads "replace A with B".
func (p *parser) replacing(of *language, s span) (command, bool) {
	n := s.at(0, groups(of.replace))
	if n == 0 {
		return command{}, false
	}
	i, m := s.find(n+1, groups(of.with))
	if i < 0 || i+m >= len(s.list) {
		return command{}, false
	}
	return command{kind: replace, what: s.cut(n, i), now: s.cut(i+m, len(s.list))}, true
}

// removing reads "skip A", "remove the step A", "do not A", "without A".
func (p *parser) removing(of *language, s span) (command, bool) {
	step := of.stepAt(s) >= 0
	for _, words := range []string{of.skip, of.not, of.without} {
		n := s.at(0, groups(words))
		if n == 0 || n >= len(s.list) {
			continue
		}
		what := s.cut(n, len(s.list))
		if of.parted != "" && words == of.skip && strings.HasPrefix(s.list[0].low, "lass") {
			last := len(what.list) - 1
			if what.at(last, groups(of.parted)) == 0 {
				continue
			}
			what = what.cut(0, last)
		}
		return command{kind: remove, what: what, step: step}, len(what.list) > 0
	}
	if n := s.at(0, groups(of.remove)); n > 0 && step {
		return command{kind: remove, what: s.cut(n, len(s.list)), step: true}, true
	}
	if i, n := s.find(1, groups(of.notIn)); i > 0 && of.notIn != "" && !p.claims(s) {
		what := span{s.of, slices.Concat(s.list[:i], s.list[i+n:])}
		return command{kind: remove, what: what, step: step}, true
	}
	return command{}, false
}

// claims reports whether a part says what must hold, in which case "not" belongs to it.
func (p *parser) claims(s span) bool {
	for _, c := range p.read(s.String()) {
		for _, r := range c.Readings {
			for _, in := range r.Instructions {
				if in.Assertion != nil || in.If != nil {
					return true
				}
			}
		}
	}
	return false
}

// changing reads "change F to B" and "change F from A to B".
func (p *parser) changing(of *language, s span) (command, bool) {
	n := s.at(0, groups(of.change))
	if n == 0 {
		return command{}, false
	}
	s = p.withoutInstead(of, s)
	to, m := s.find(n+1, groups(of.to))
	if to < 0 || to+m >= len(s.list) {
		return command{}, false
	}
	what, now := s.cut(n, to), s.cut(to+m, len(s.list))
	if from, k := what.find(1, groups(of.from)); from > 0 && from+k < len(what.list) {
		what = what.cut(0, from)
	}
	return command{kind: change, what: what, now: now}, true
}

// using reads "use B as the F", with or without instead.
func (p *parser) using(of *language, s span) (command, bool) {
	n := s.at(0, groups(of.use))
	if n == 0 {
		return command{}, false
	}
	plain := p.withoutInstead(of, s)
	as, m := plain.find(n+1, groups(of.as))
	switch {
	case as > 0 && as+m < len(plain.list):
		return command{kind: change, what: plain.cut(as+m, len(plain.list)), now: plain.cut(n, as)}, true
	case len(plain.list) < len(s.list):
		return command{kind: instead, now: plain.cut(n, len(plain.list))}, true
	}
	return command{}, false
}

// insteadAlone reads "choose Blue instead".
func (p *parser) insteadAlone(of *language, s span) (command, bool) {
	plain := p.withoutInstead(of, s)
	if len(plain.list) == len(s.list) || len(plain.list) == 0 {
		return command{}, false
	}
	return command{kind: instead, now: plain}, true
}

// withoutInstead returns a part without the word instead at its start or end.
func (p *parser) withoutInstead(of *language, s span) span {
	for _, group := range groups(of.instead) {
		n := len(strings.Fields(group))
		if at := len(s.list) - n; at > 0 && s.hasAt(at, group) > 0 {
			return s.cut(0, at).trim(nil)
		}
		if s.hasAt(0, group) > 0 {
			return s.cut(n, len(s.list)).trim(nil)
		}
	}
	// "gib stattdessen Bob ein"
	for _, group := range groups(of.instead) {
		if i, n := s.find(1, []string{group}); i > 0 {
			return span{s.of, slices.Concat(s.list[:i], s.list[i+n:])}
		}
	}
	return s
}
