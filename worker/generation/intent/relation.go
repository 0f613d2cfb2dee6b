package intent

import "strings"

// except finds what begins the exceptions of a phrase.
func (r *reader) except(s span) (int, int) {
	for i := 1; i < len(s)-1; i++ {
		if code, n := r.quantities.match(s[i:]); code == "except" && i+n < len(s) {
			return i, n
		}
	}
	return 0, 0
}

// possessive returns the index of the word "Ann's" within a span, or -1.
func (r *reader) possessive(s span) int {
	if r.capitals {
		// "Anns Zeile"
		if len(s) > 1 && s[0].capital() && strings.HasSuffix(s[0].low, "s") && len(s[0].text) > 3 && !r.nouns.has(s) && r.nouns.has(s[1:]) && s[1].capital() && s[0].kind == word {
			return 0
		}
		return -1
	}
	for i := 0; i < len(s)-1 && i < 4; i++ {
		if s[i].kind == word && (strings.HasSuffix(s[i].low, "'s") || strings.HasSuffix(s[i].low, "s'")) {
			return i
		}
	}
	return -1
}

// ownerName removes the ending of an owner.
func ownerName(name string, bare bool) string {
	if bare {
		return strings.TrimSuffix(name, "s")
	}
	return strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(name, "'s"), "’s"), "'")
}

// relationAt returns where the first relation of a phrase begins, or -1. A preposition
// within a name ("Sign in with Google", "Add to cart") begins none.
func (r *reader) relationAt(s span, determined bool) int {
	for i := 0; i < len(s); i++ {
		if s[i].kind != word && !s[i].is("(") {
			continue
		}
		if _, n := r.named.match(s[i:]); n > 0 && i+n < len(s) && r.namesHere(s, i, n) {
			// What it is called runs up to a relation that is certain.
			for j := i + n + 1; j < len(s); j++ {
				if r.relates(s, j, true, false) {
					return j
				}
			}
			return -1
		}
		if r.relates(s, i, determined, true) {
			return i
		}
	}
	return -1
}

// namesHere reports whether a word such as "called" or "reading" introduces a name.
func (r *reader) namesHere(s span, i, n int) bool {
	return i == 0 || s[i+n].kind == quoted || n > 1 || r.describes(s[:i])
}

// relates reports whether a relation begins at i.
func (r *reader) relates(s span, i int, determined, loose bool) bool {
	code, n := r.relations.match(s[i:])
	if n == 0 || i+n >= len(s) {
		return false
	}
	rest := s[i+n:]
	if rest[0].kind == mark && !rest[0].is("(") {
		return false
	}
	clear := rest[0].kind == quoted || r.articles.has(rest) || r.quantities.has(rest) || r.starts(rest)
	before := s[:i]
	if i == 0 {
		return clear || loose
	}
	if s[i].capital() {
		return false
	}
	switch code {
	case "with", "like":
		return r.describes(before) && !clear || clear && (r.describes(before) || determined)
	case "of", "in":
		if !clear && r.particle(before, s[i]) {
			return false
		}
		if code == "of" && len(before) == 1 && r.things.codes[before[0].low] == "number" {
			return clear // not in "date of birth"
		}
		return clear || r.describes(before) && loose || determined && rest[0].capital() && (r.capitals || !before[len(before)-1].capital()) || strings.HasPrefix(rest[0].text, "@")
	}
	return clear || n > 1 || r.describes(before) || rest[0].capital() && determined
}

// starts reports whether a span begins with an ordinal or a kind.
func (r *reader) starts(s span) bool {
	if _, n := r.ordinal(s); n > 0 {
		return true
	}
	return r.nouns.has(s) && !s[0].capital()
}

// particle reports whether a preposition belongs to the verb before it: "sign in".
func (r *reader) particle(before span, prep token) bool {
	last := before[len(before)-1]
	if last.kind != word {
		return false
	}
	_, n := r.verbs.match(span{last, prep})
	return n == 2
}

// relate reads the relations that a span begins with.
func (r *reader) relate(s span, p *Phrase, depth int) {
	code, n := r.relations.match(s)
	if n == 0 {
		return
	}
	rest := s[n:]
	// A second relation with the same standing follows a comma: "in the dialog, next to X".
	for i := 1; i < len(rest); i++ {
		if rest[i].is(",") {
			if r.relations.has(rest[i+1:]) {
				r.relate(rest[i+1:], p, depth+1)
			} else if _, k := r.nouns.match(rest[i+1:]); k > 0 {
				p.Relations = append(p.Relations, Relation{In, r.phraseAt(rest[i+1:], depth+1)})
			}
			rest = rest[:i]
			break
		}
	}
	in := r.phraseAt(rest, depth+1)
	r.kindOnly(&in, rest)
	p.Relations = append([]Relation{{RelationKind(code), in}}, p.Relations...)
}
