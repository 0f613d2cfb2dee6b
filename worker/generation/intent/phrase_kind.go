package intent

import (
	"strings"
)

// kindOnly makes a kind of what is only a word for a kind, where capitals do not tell
// the two apart: "im Dialog".
func (r *reader) kindOnly(p *Phrase, s span) {
	if code, n := r.nouns.match(s); r.capitals && p.Noun == "" && n == len(s) && n > 0 {
		p.Roles, p.Noun, p.Name = strings.Fields(code), p.Name, ""
	}
}

// describes reports whether words say a kind of element, or are quoted.
func (r *reader) describes(s span) bool {
	if s.hasQuoted() {
		return true
	}
	for i := range s {
		if r.nouns.has(s[i:]) || r.things.has(s[i:]) || strings.HasPrefix(r.lookCode(s[i:]), "shape") {
			return true
		}
	}
	return false
}

// kindOf reads the word for the kind out of words around a quoted name.
func (r *reader) kindOf(s span, p *Phrase) {
	for i := range s {
		if s[i].kind != word {
			continue
		}
		if code, n := r.nouns.match(s[i:]); n > 0 {
			p.Roles, p.Noun = strings.Fields(code), s[i:i+n].text(r.src)
			return
		}
	}
	for i := range s {
		if _, n := r.things.match(s[i:]); n > 0 && s[i].kind == word {
			p.Roles, p.Noun = append([]string{}, thingRoles...), s[i:i+n].text(r.src)
			return
		}
	}
	rest := s.trim()
	for len(rest) > 0 && r.articles.has(rest) {
		rest = rest[1:]
	}
	if len(rest) > 0 && p.Noun == "" {
		var b []string
		for _, t := range rest {
			b = append(b, t.text)
		}
		p.Noun = strings.Join(b, " ")
	}
}
