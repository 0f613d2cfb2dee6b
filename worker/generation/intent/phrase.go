package intent

import (
	"strconv"
	"strings"
)

// maxDepth bounds how far phrases are read within phrases: "the A in the B of the C".
const maxDepth = 6

// reader reads phrases of a text in a language.
type reader struct {
	*lexicon
	src string
}

// valueReader reads values, dates and lists; statementReader what must hold; and
// segmentReader finds where instructions begin. Each knows what those before it do.
type (
	valueReader     struct{ reader }
	statementReader struct{ valueReader }
	segmentReader   struct{ statementReader }
)

func newReader(l *lexicon, src string) segmentReader {
	return segmentReader{statementReader{valueReader{reader{lexicon: l, src: src}}}}
}

// phrase reads the description of an element.
func (r *reader) phrase(s span) *Phrase {
	p := r.phraseAt(s, 0)
	return &p
}

// ofIt reports whether a span says what something is called or how it is reached, and so
// means the thing itself: "her name", "its link".
func ofIt(s span) bool {
	return len(s) == 2 && (s[0].is("her") || s[0].is("his") || s[0].is("its") || s[0].is("their")) && (s[1].is("name") || s[1].is("title") || s[1].is("link") || s[1].is("entry"))
}

func (r *reader) phraseAt(s span, depth int) Phrase {
	s = s.trim()
	p := Phrase{Text: s.text(r.src)}
	if len(s) == 0 {
		return p
	}
	if code, n := r.pronouns.match(s); n == len(s) && code != "" && !s[0].shouted() || ofIt(s) {
		p.Pronoun = true
		return p
	}
	if i, n := r.except(s); n > 0 && depth < maxDepth {
		for _, name := range r.list(s[i+n:]) {
			p.Except = append(p.Except, r.phraseAt(name, depth+1))
		}
		s = s[:i].trim()
	}
	if _, n := r.hereabouts.matchEnd(s); n > 0 && n < len(s) && r.describes(s[:len(s)-n]) && !r.relations.has(s[len(s)-n-1:len(s)-n]) {
		s = s[:len(s)-n].trim()
	}
	s, determined := r.determine(s, &p)
	if i := r.relationAt(s, determined); i >= 0 && depth < maxDepth {
		r.relate(s[i:], &p, depth)
		s = s[:i].trim()
	}
	if i := r.possessive(s); i >= 0 && depth < maxDepth && (r.kindly(s[i+1:]) || !s[i+1].capital()) {
		owner := s[:i+1]
		of := r.phraseAt(owner, depth+1)
		of.Name = ownerName(of.Name, r.capitals)
		p.Relations = append(p.Relations, Relation{Of, of})
		s = s[i+1:]
		s, determined = r.determine(s, &p)
	}
	r.core(s, &p, determined)
	return p
}

// determine reads what stands before a name: articles, quantities, ordinals, looks and
// states.
func (r *reader) determine(s span, p *Phrase) (span, bool) {
	determined := false
	for len(s) > 0 {
		if code, n := r.quantities.match(s); n > 0 && n < len(s) && code != "except" {
			switch code {
			case "all":
				p.All = true
			case "both":
				p.All, p.Count = true, 2
			case "any":
				p.Count = max(p.Count, 1)
			case "only":
				p.Only = true
			}
			s, determined = s[n:], true
			continue
		}
		if _, n := r.articles.match(s); n > 0 && n < len(s) && s[0].kind == word {
			s, determined = s[n:], true
			continue
		}
		if o, n := r.ordinal(s); n > 0 && (n < len(s) || determined || s[0].line) && !r.ordinalIsName(s, n, determined) {
			p.Ordinal = o
			s, determined = s[n:], true
			continue
		}
		if v, n := r.count(s); n > 0 && n < len(s) && r.kindly(s[n:]) && (p.Count == 0 || p.Count == 1) {
			if p.Count == 0 && determined && p.Ordinal == 0 {
				p.All = true
			}
			p.Count = v
			s, determined = s[n:], true
			continue
		}
		if n := r.look(s, p, determined); n > 0 {
			s, determined = s[n:], true
			continue
		}
		if code, n := r.states.match(s); n > 0 && n < len(s) && r.kindly(s[n:]) {
			p.setState(code)
			s = s[n:]
			continue
		}
		break
	}
	return s, determined
}

func (p *Phrase) setState(code string) {
	if p.State == nil {
		p.State = map[string]bool{}
	}
	name, not := strings.CutPrefix(code, "!")
	p.State[name] = !not
}

// ordinalIsName reports whether an ordinal belongs to a name: "First Name".
func (r *reader) ordinalIsName(s span, n int, determined bool) bool {
	if n >= len(s) {
		return false
	}
	next := s[n]
	if next.kind != word || r.nouns.has(s[n:]) {
		return false
	}
	return s[0].capital() && next.capital() || next.low == "name" || next.low == "names" || (next.low == "page" && !determined)
}

// look reads a word for what is seen: a colour, a size, a shape, an extreme.
func (r *reader) look(s span, p *Phrase, determined bool) int {
	code, n := r.looks.match(s)
	if r.capitals && n > 0 && n < len(s) && !s[0].capital() && s[n].capital() {
		determined = true // an adjective before its noun
	}
	if n == 0 || s[0].capital() && !s[0].line {
		return 0
	}
	fields := strings.Fields(code)
	if fields[0] == "shape" || n == len(s) || !determined && !r.kindly(s[n:]) && !r.looks.has(s[n:]) {
		return 0
	}
	p.setLook(fields)
	return n
}

func (p *Phrase) setLook(fields []string) {
	if fields[0] == "extreme" {
		p.Extreme = &Extreme{Of: fields[1], Max: fields[2] == "max"}
		return
	}
	if p.Looks == nil {
		p.Looks = map[string]string{}
	}
	p.Looks[fields[0]] = fields[1]
}

// kindly reports whether a span ends or begins with a word for a kind of element, so
// that what is before it describes one. What follows a relation does not count.
func (r *reader) kindly(s span) bool {
	for i := 0; i < len(s) && i < 8; i++ {
		if s[i].kind != word {
			return i > 0 && s[i].kind == quoted
		}
		if r.nouns.has(s[i:]) || r.things.has(s[i:]) || strings.HasPrefix(r.lookCode(s[i:]), "shape") {
			return true
		}
		if i > 0 && (r.relations.has(s[i:]) || r.named.has(s[i:])) {
			return false
		}
	}
	return false
}

func (r *reader) lookCode(s span) string {
	code, _ := r.looks.match(s)
	return code
}

// ordinal reads "second", "3rd", "last", "second to last", "#2", "5." before a kind.
func (r *reader) ordinal(s span) (int, int) {
	if code, n := r.ordinals.match(s); n > 0 {
		v, err := strconv.Atoi(code)
		if err == nil {
			return v, n
		}
	}
	w := s[0].low
	digits := strings.TrimRight(w, "stndrhe")
	if v, err := strconv.Atoi(digits); err == nil && v > 0 && len(digits) < len(w) && len(w)-len(digits) == 2 {
		switch w[len(digits):] {
		case "st", "nd", "rd", "th", "te":
			if len(s) > 1 && s[0].kind == word {
				return v, 1
			}
			return v, 1
		}
	}
	if v, err := strconv.Atoi(w); err == nil && v > 0 && v < 10000 && len(s) > 2 && s[1].is(".") && s[1].glued && !s[2].glued && r.kindly(s[2:]) {
		return v, 2
	}
	return 0, 0
}

// count reads a whole number in digits or words.
func (r *reader) count(s span) (int, int) {
	if len(s) == 0 || s[0].kind != word {
		return 0, 0
	}
	if v, err := strconv.Atoi(s[0].low); err == nil && v >= 0 && v < 1_000_000 {
		return v, 1
	}
	if code, n := r.numbers.match(s); n > 0 {
		v, err := strconv.Atoi(code)
		if err == nil && (v > 0 || s[0].low == "zero" || s[0].low == "null") {
			return v, n
		}
	}
	return 0, 0
}

// core reads a name and the word for its kind.
func (r *reader) core(s span, p *Phrase, determined bool) {
	s = s.trim()
	if len(s) > 1 && p.Looks["color"] != "" && (s[0].is("colored") || s[0].is("coloured")) {
		s = s[1:] // "the red colored box"
	}
	for i := range s {
		_, n := r.named.match(s[i:])
		if n > 0 && i+n < len(s) && r.namesHere(s, i, n) {
			r.kindOf(s[:i], p)
			name := s[i+n:]
			if _, m := r.articles.match(name); m > 0 && m < len(name) && name[m].kind == quoted {
				name = name[m:]
			}
			r.setName(name, p)
			if name.hasQuoted() && len(name) > 1 {
				r.kindOf(name[1:], p)
			}
			return
		}
	}
	if s.hasQuoted() {
		for i, t := range s {
			if t.kind == quoted && !p.Exact {
				p.Name, p.Exact = t.text, true
				rest := append(append(span{}, s[:i]...), s[i+1:]...)
				r.kindOf(rest, p)
			}
		}
		return
	}
	if len(s) == 0 {
		return
	}
	if code, n := r.nouns.match(s); n > 0 && n < len(s) && !s[0].capital() && s[n].capital() && !r.capitals {
		// "the button Previous page"
		p.Roles, p.Noun = strings.Fields(code), s[:n].text(r.src)
		r.setName(s[n:], p)
		return
	}
	if code, n := r.nouns.matchEnd(s); n > 0 && !(n == 1 && len(s) > 1 && !r.capitals && s[len(s)-1].capital() && !s[len(s)-2].capital()) && (determined || n < len(s) || !s[len(s)-1].capital()) {
		p.Roles, p.Noun = strings.Fields(code), s[len(s)-n:].text(r.src)
		r.setName(s[:len(s)-n], p)
		return
	}
	if code, n := r.nouns.match(s); n > 0 && n < len(s) && (determined || r.capitals || !s[0].capital()) {
		p.Roles, p.Noun = strings.Fields(code), s[:n].text(r.src)
		if v, k := r.count(s[n:]); k == len(s)-n && v > 0 && (p.Roles[0] == "row" || p.Roles[0] == "column") {
			p.Ordinal = v
			return
		}
		r.setName(s[n:], p)
		return
	}
	if code, n := r.looks.matchEnd(s); strings.HasPrefix(code, "shape") && n == len(s) && (determined || p.Looks != nil) {
		p.Noun = s.text(r.src)
		p.setLook(strings.Fields(code))
		return
	}
	if code, n := r.things.matchEnd(s); n > 0 && (n < len(s) || determined) {
		if code == "number" && n < len(s) {
			// "Card number", "last name": names of fields.
			r.setName(s, p)
			return
		}
		r.thing(s, n, p)
		return
	}
	if _, n := r.things.match(s); n > 0 && n < len(s) && !(s[0].capital() && s[1].capital() && !r.capitals) {
		p.Noun = s[:n].text(r.src)
		p.Roles = append([]string{}, thingRoles...)
		r.setName(s[n:], p)
		return
	}
	r.setName(s, p)
}

// thingRoles are what the things that pages are about are shown as.
var thingRoles = []string{"listitem", "row", "article", "option", "link", "treeitem", "gridcell"}

// thing reads a name that ends with a word for what the page is about: "Ann's mail",
// "the red lamp product". Alone it is a name too, for it may be the label of something.
func (r *reader) thing(s span, n int, p *Phrase) {
	p.Noun = s[len(s)-n:].text(r.src)
	p.Roles = append([]string{}, thingRoles...)
	if n < len(s) {
		r.setName(s[:len(s)-n], p)
		return
	}
	if p.Ordinal == 0 && !p.All && p.Count == 0 && len(p.Relations) == 0 && p.Extreme == nil && p.State == nil {
		p.Name, p.Roles = p.Noun, nil
	}
}

func (r *reader) setName(s span, p *Phrase) {
	s = s.trim()
	if len(s) == 0 {
		return
	}
	for _, t := range s {
		if t.kind == quoted {
			p.Name, p.Exact = t.text, true
			return
		}
	}
	p.Name = s.text(r.src)
}
