package refine

import (
	"github.com/slipway-qa/slipway/worker/generation/lexicon"
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

// parser reads commands in one language. Further sentences are usually one or two.
type parser struct {
	lang *lexicon.Lexicon
	read reader
	// located reports whether words are those of a step.
	located func(span) bool
	list    []command
}

// phrases are those of the language for something.
func (p *parser) phrases(name string) [][]string { return p.lang.Revision(name) }

// parse reads the commands of a text.
func (p *parser) parse(text string) []command {
	for _, s := range sentences(text, p.lang) {
		if len(p.list) >= maxCommands {
			break
		}
		p.sentence(newSpan(s, p.lang))
	}
	return p.list
}

// sentence adds the commands of one sentence.
func (p *parser) sentence(s span) {
	whole, also := p.trimAlso(s)
	if len(whole.list) == 0 {
		return
	}
	if c, ok := p.place(whole); ok {
		p.list = append(p.list, c)
		return
	}
	plain := -1 // the add that the next part may continue
	for _, part := range p.parts(whole) {
		c := p.command(part)
		if c.kind == add && plain >= 0 {
			// It stays one text: "type Ann and press Enter".
			p.list[plain].now = p.between(p.list[plain].now, part)
			p.list[plain].text = p.list[plain].now.String()
			continue
		}
		c.also = c.also || also && plain < 0
		p.list, plain = append(p.list, c), -1
		if c.kind == add {
			plain = len(p.list) - 1
		}
	}
}

// between returns the span from the start of one to the end of another of the same text.
func (p *parser) between(a, b span) span {
	if len(a.list) == 0 || len(b.list) == 0 {
		return b
	}
	first, end := a.list[0].first, b.list[len(b.list)-1].end
	var list []token
	for _, t := range newSpan(a.of, p.lang).list {
		if t.first >= first && t.end <= end {
			list = append(list, t)
		}
	}
	return span{a.of, list}
}

// trimAlso returns a sentence without the words that join it to what is there, and
// whether there were any.
func (p *parser) trimAlso(s span) (span, bool) {
	also := false
	for len(s.list) > 0 {
		n := s.at(0, p.phrases("also"))
		if n > 0 && p.placeWords(s) > n {
			break // "después de", not "después"
		}
		also = also || n > 0
		n = max(n, s.at(0, p.phrases("polite")))
		if n == 0 && !mark(s.list[0]) {
			break
		}
		s.list = s.list[max(n, 1):]
	}
	return s.trim(nil), also
}

// speaking are the phrases of commands that may stand anywhere in a sentence.
var speaking = []string{"instead_of", "instead", "replace", "change", "use", "skip", "remove", "not", "not_in", "without", "around"}

// leading are the phrases that begin a command.
var leading = []string{"replace", "change", "use", "skip", "not", "without", "instead_of", "around"}

// parts splits a sentence where a further command begins: "use Bob instead of Ann, and
// verify that ...".
func (p *parser) parts(s span) []span {
	if !p.maySpeak(s) {
		return []span{s}
	}
	var list []span
	first, joints := 0, 0
	for i := 1; i < len(s.list) && joints < maxJoints; i++ {
		n := p.joint(s, i)
		if n == 0 {
			continue
		}
		joints++
		if i+n < len(s.list) && p.begins(s.cut(i+n, p.nextJoint(s, i+n))) && p.complete(s.cut(first, i)) {
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
		for _, name := range speaking {
			for _, phrase := range p.phrases(name) {
				if s.hasAt(i, phrase[:1]) {
					return true
				}
			}
		}
	}
	return false
}

// joint returns the number of tokens at a place that join two commands; 0 if none do.
func (p *parser) joint(s span, i int) int {
	n := 0
	if s.comma(i) {
		n = 1
	}
	if m := s.at(i+n, p.phrases("and")); m > 0 {
		return n + m
	}
	return n
}

func (p *parser) nextJoint(s span, from int) int {
	for i := from; i < len(s.list); i++ {
		if p.joint(s, i) > 0 {
			return i
		}
	}
	return len(s.list)
}

// begins reports whether a command or an instruction begins a part.
func (p *parser) begins(s span) bool {
	s, _ = p.trimAlso(s)
	for _, name := range leading {
		if s.at(0, p.phrases(name)) > 0 {
			return true
		}
	}
	return p.around(s) > 0 || p.orders(s) || p.claims(s)
}

// complete reports whether a part can stand alone: one that waits for what follows
// ("instead of Ann", "replace A") cannot.
func (p *parser) complete(s span) bool {
	if s.at(0, p.phrases("instead_of")) > 0 {
		i := 0
		for i < len(s.list) && !s.comma(i) {
			i++
		}
		return i > 0 && i < len(s.list)-1
	}
	if s.at(0, p.phrases("replace")) > 0 && s.at(0, p.phrases("change")) == 0 {
		i, _ := s.find(1, p.phrases("with"))
		return i > 0
	}
	return true
}

// orders reports whether a text begins with what is to be done and can be read.
func (p *parser) orders(s span) bool {
	if len(s.list) == 0 || s.list[0].quoted {
		return false
	}
	if s.at(0, p.phrases("use")) > 0 {
		return true
	}
	for _, v := range p.lang.Verbs(s.list[0].text) {
		if v.Form == "imperative" || v.Form == "infinitive" || v.Form == "subjunctive" {
			return p.read.readable(s.String())
		}
	}
	return false
}

// claims reports whether a part says what must hold, in which case "not" belongs to it.
func (p *parser) claims(s span) bool { return p.read.claims(s.String()) }

// command reads one part.
func (p *parser) command(s span) command {
	if c, ok := p.shape(s); ok {
		c.text = s.String()
		return c
	}
	return command{kind: add, now: s, text: s.String()}
}
