package intent

import "strings"

// verb returns the code of the verb that a span begins with, its length in words, and
// its base form.
func (r *reader) verb(s span) (string, int, string) {
	if len(s) == 0 || s[0].kind != word || r.capitals && s[0].capital() && s[0].n > 0 && !s[0].begins {
		return "", 0, ""
	}
	best, length := r.verbs.match(s)
	verb := s[:length].text(r.src)
	first := s[0]
	for _, base := range bases(first.low, r.lang) {
		if r.verbs.longest[base] == 0 {
			continue
		}
		first.low = base
		near := append(span{first}, s[1:min(len(s), 8)]...)
		if code, n := r.verbs.match(near); n > length {
			best, length, verb = code, n, base
		}
	}
	return best, length, verb
}

// verbPhrase finds the verb of a segment wherever its language puts it, and returns the
// words that it acts on: "gib X ein", "turn X off", "auf X klicken".
func (r *segmentReader) verbPhrase(s span) (code, verb string, body span, ok bool) {
	if code, verb, body, ok = r.apart(s); ok {
		return code, verb, r.unfilled(body), true
	}
	if code, n, verb := r.verb(s); n > 0 {
		if n < len(s) {
			if rest := r.unfilled(s[n:]); len(rest) < len(s)-n {
				// "klicken Sie auf X": the verb goes on after the word that means nothing.
				again := append(append(span{}, s[:n]...), rest...)
				if c, m, v := r.verb(again); m > n {
					return c, v, again[m:], true
				}
				return code, verb, rest, true
			}
		}
		return code, verb, s[n:], true
	}
	if !r.finalVerb || len(s) < 2 {
		return "", "", nil, false
	}
	last := s[len(s)-1]
	last.begins = true
	if last.capital() {
		return "", "", nil, false
	}
	turned := append(span{last}, s[:len(s)-1]...)
	if code, n, verb := r.verb(turned); n > 0 {
		return code, verb, turned[n:], true
	}
	return "", "", nil, false
}

// apart finds a verb whose second part stands at the end, or before a preposition.
func (r *segmentReader) apart(s span) (string, string, span, bool) {
	if len(s) < 2 || s[0].kind != word {
		return "", "", nil, false
	}
	parts := r.parted[s[0].low]
	for _, base := range bases(s[0].low, r.lang) {
		if len(parts) > 0 {
			break
		}
		parts = r.parted[base]
	}
	for _, p := range parts {
		n := len(p.words)
		for end := len(s); end > n; end-- {
			at := end - n
			if !equalWords(s[at:end], p.words) {
				continue
			}
			if end < len(s) && !(r.finalVerb && r.joints.has(s[end:]) && !r.articles.has(s[at:])) && !s[end].is(",") && !s[end].is(":") {
				continue
			}
			if at == 1 && end == len(s) {
				return p.code, strings.ToLower(s.text(r.src)), nil, true
			}
			verb := s[0].low + " " + strings.Join(p.words, " ")
			if r.finalVerb {
				verb = strings.Join(p.words, "") + s[0].low
			}
			return p.code, verb, append(append(span{}, s[1:at]...), s[end:]...), true
		}
	}
	return "", "", nil, false
}

func equalWords(s span, words []string) bool {
	for i, w := range words {
		if !s[i].is(w) {
			return false
		}
	}
	return true
}

// unfilled removes what means nothing after a verb: "Sie", "bitte", "dich".
func (r *segmentReader) unfilled(s span) span {
	for len(s) > 0 {
		code, n := r.fillers.match(s)
		if n == 0 || n >= len(s) && code != "reflexive" {
			break
		}
		s = s[n:]
	}
	return s
}

// partedHead reports whether a word is the first part of a verb of two.
func (r *segmentReader) partedHead(low string) bool {
	if len(r.parted[low]) > 0 {
		return true
	}
	for _, base := range bases(low, r.lang) {
		if len(r.parted[base]) > 0 {
			return true
		}
	}
	return false
}
