package refine

import (
	"strings"

	"github.com/slipway-qa/slipway/worker/generation/intent"
)

// command is one thing that a sentence asks of a test.
type command struct {
	kind verb
	text string // as it was written
	// what is the step, field or value that it speaks of; now is what shall be instead,
	// or what is written.
	what, now span
	before    bool // of insert: else after
	// also is set where the words say that something is added.
	also bool
	// step is set where what is said to be a step.
	step bool
}

// verb is the kind of a command.
type verb int

const (
	add     verb = iota // now is written at the end
	insert              // now is written before or after what
	atStart             // now is written at the start
	replace             // now in place of what
	change              // the field what gets the value now
	instead             // now in place of what it can replace
	remove              // what
)

const (
	// maxCommands bounds the parts of a sentence: a refinement has a handful.
	maxCommands = 200
	// maxJoints bounds the places where one sentence is looked at for a further command.
	maxJoints = 24
	// maxAnchor bounds the words that name a place without a comma behind.
	maxAnchor = 9
)

// parser reads commands. Further sentences are usually one or two.
type parser struct {
	read func(string) []intent.Clause
	// located reports whether words are those of a step.
	located func(span) bool
	list    []command
}

func parse(text string, read func(string) []intent.Clause, located func(span) bool) []command {
	p := &parser{read: read, located: located}
	for _, s := range sentences(text) {
		if len(p.list) >= maxCommands {
			break
		}
		p.sentence(newSpan(s))
	}
	return p.list
}

// sentence adds the commands of one sentence.
func (p *parser) sentence(s span) {
	whole, also := s.trimAlso()
	if len(whole.list) == 0 {
		return
	}
	for i := range languages {
		if c, ok := p.place(&languages[i], whole); ok {
			p.list = append(p.list, c)
			return
		}
	}
	var plain *command // the add that the next part may continue
	for _, part := range p.parts(whole) {
		c := p.command(part)
		if c.kind == add && plain != nil && plain.kind == add {
			// It stays one text: "type Ann and press Enter".
			plain.now = between(plain.now, part)
			plain.text = plain.now.String()
			continue
		}
		if plain == nil {
			c.also = c.also || also
		}
		p.list = append(p.list, c)
		plain = &p.list[len(p.list)-1]
	}
}

// between returns the span from the start of one to the end of another of the same
// text.
func between(a, b span) span {
	first, end := a.list[0].first, b.list[len(b.list)-1].end
	all := newSpan(a.of)
	var list []token
	for _, t := range all.list {
		if t.first >= first && t.end <= end {
			list = append(list, t)
		}
	}
	return span{a.of, list}
}

// trimAlso returns a sentence without the words that join it to what is there, and
// whether there were any.
func (s span) trimAlso() (span, bool) {
	also := false
	for len(s.list) > 0 {
		if mark(s.list[0]) {
			s.list = s.list[1:]
			continue
		}
		n := 0
		for i := range languages {
			n = max(n, s.at(0, groups(languages[i].also)))
		}
		if n == 0 {
			break
		}
		also = also || s.list[0].low != "please" && s.list[0].low != "bitte"
		s.list = s.list[n:]
	}
	return s.trim(nil), also
}

// parts splits a sentence where a further command begins: "use Bob instead of Ann, and
// verify that ...".
func (p *parser) parts(s span) []span {
	if !p.maySpeak(s) {
		return []span{s}
	}
	var list []span
	first, joints := 0, 0
	for i := 1; i < len(s.list) && joints < maxJoints; i++ {
		n := s.joint(i)
		if n == 0 {
			continue
		}
		joints++
		if i+n < len(s.list) && p.begins(s.cut(i+n, s.nextJoint(i+n))) && p.complete(s.cut(first, i)) {
			list = append(list, s.cut(first, i).trim(nil))
			first = i + n
		}
		i += n - 1
	}
	return append(list, s.cut(first, len(s.list)).trim(nil))
}

// maySpeak reports whether any word of a sentence may be of a command.
func (p *parser) maySpeak(s span) bool {
	for i := range s.list {
		for l := range languages {
			of := &languages[l]
			for _, words := range []string{of.insteadOf, of.instead, of.replace, of.change, of.use, of.skip, of.remove, of.not, of.notIn, of.without} {
				if s.at(i, groups(words)) > 0 {
					return true
				}
			}
		}
	}
	return false
}

// joint returns the number of tokens at a place that join two commands; 0 if none do.
func (s span) joint(i int) int {
	n := 0
	if s.list[i].text == "," && !s.list[i].quoted {
		n = 1
	}
	for l := range languages {
		if m := s.at(i+n, groups(languages[l].and)); m > 0 {
			return n + m
		}
	}
	return n
}

func (s span) nextJoint(from int) int {
	for i := from; i < len(s.list); i++ {
		if s.joint(i) > 0 {
			return i
		}
	}
	return len(s.list)
}

// begins reports whether a command or an instruction begins a part.
func (p *parser) begins(s span) bool {
	s, _ = s.trimAlso()
	for l := range languages {
		of := &languages[l]
		for _, words := range []string{of.replace, of.change, of.use, of.skip, of.not, of.without, of.insteadOf} {
			if s.at(0, groups(words)) > 0 {
				return true
			}
		}
	}
	return p.readable(s.String())
}

// complete reports whether a part can stand alone: one that waits for what follows
// ("instead of Ann", "replace A") cannot.
func (p *parser) complete(s span) bool {
	for l := range languages {
		of := &languages[l]
		if s.at(0, groups(of.insteadOf)) > 0 {
			i, _ := s.find(1, []string{","})
			return i > 0 && i < len(s.list)-1
		}
		if s.at(0, groups(of.replace)) > 0 {
			i, _ := s.find(1, groups(of.with))
			return i > 0
		}
	}
	return true
}

// readable reports whether a text is instructions.
func (p *parser) readable(text string) bool {
	if strings.TrimSpace(text) == "" {
		return false
	}
	clauses := p.read(text)
	for _, c := range clauses {
		if len(c.Readings) == 0 {
			return false
		}
	}
	return len(clauses) > 0
}

// command reads one part.
func (p *parser) command(s span) command {
	for i := range languages {
		if c, ok := p.shape(&languages[i], s); ok {
			c.text = s.String()
			return c
		}
	}
	return command{kind: add, now: s, text: s.String()}
}
