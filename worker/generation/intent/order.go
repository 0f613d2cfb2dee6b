package intent

import "strings"

// fronted puts the verb of a statement behind its subject, for languages that have it
// at the end: "(dass) der Knopf deaktiviert ist" is read as "der Knopf ist deaktiviert".
func (r *statementReader) fronted(s span) span {
	for len(s) > 2 && r.infinitive(s[len(s)-1]) && r.modalIn(s[:len(s)-1]) {
		s = s[:len(s)-1]
	}
	if len(s) < 2 {
		return s
	}
	if s[0].is("es") && s[len(s)-1].is("gibt") && len(s) > 2 {
		return append(span{s[0], s[len(s)-1]}, s[1:len(s)-1]...)
	}
	if r.modals.has(s) && len(s) > 2 {
		// "(dann) sollte der Dialog geschlossen sein"
		return r.fronted(append(append(span{}, s[1:]...), s[0]))
	}
	if s[0].is("es") && r.modals.has(s[1:]) && len(s) > 3 {
		// "es werden 3 Einträge angezeigt"
		if _, n := r.predicates.matchEnd(s); n > 0 {
			return append(span{{kind: word, low: "es", text: "es"}, {kind: word, low: "gibt", text: "gibt"}}, s[2:len(s)-n]...)
		}
		return s
	}
	if s[0].is("es") && r.predicates.has(s[1:]) && len(s) > 2 {
		return append(span{{kind: word, low: "es", text: "es"}, {kind: word, low: "gibt", text: "gibt"}}, s[2:]...)
	}
	last := s[len(s)-1:]
	body := s[:len(s)-1]
	_, modal := r.modals.match(last)
	_, compares := r.comparisons.match(last)
	if _, n := r.comparisons.matchEnd(s); n > 1 {
		last, body, compares = s[len(s)-n:], s[:len(s)-n], n
	}
	if modal == 0 && compares == 0 {
		return r.placeLast(s)
	}
	if at := r.statement(body); at > 0 && r.modals.has(body[at:]) {
		if compares > 0 && at+1 < len(body) {
			// "die Seite sollte X enthalten"
			return append(append(append(span{}, body[:at]...), last...), body[at+1:]...)
		}
		return s
	}
	if _, n := r.predicates.matchEnd(body); n > 0 && n < len(body) && modal > 0 {
		at := len(body) - n
		if at > 0 && r.not.has(body[at-1:at]) {
			at--
		}
		subject, tail := body[:at], body[at:]
		return append(append(append(span{}, subject...), last...), tail...)
	}
	if at := r.boundary(body); at > 0 {
		if at > 1 && r.not.has(body[at-1:at]) && body[at-1].is("nicht") {
			return append(append(append(append(span{}, body[:at-1]...), body[at-1]), last...), body[at:]...)
		}
		return append(append(append(span{}, body[:at]...), last...), body[at:]...)
	}
	return s
}

// infinitive reports whether a word is the infinitive of an auxiliary: "sein".
func (r *statementReader) infinitive(t token) bool {
	return t.is("sein") || t.is("werden") || t.is("worden") || t.is("haben")
}

// placeLast turns "wird im Dialog angezeigt" into "wird angezeigt im Dialog".
func (r *statementReader) placeLast(s span) span {
	code, n := r.predicates.matchEnd(s)
	at := r.statement(s)
	if n == 0 || at <= 0 || at+1 >= len(s)-n || code == "" || !r.modals.has(s[at:]) || !r.relations.has(s[at+1:]) {
		return s
	}
	return append(append(append(span{}, s[:at+1]...), s[len(s)-n:]...), s[at+1:len(s)-n]...)
}

// boundary returns where the second of two noun phrases begins that no word separates:
// "die Liste | 3 Einträge", "das Feld Name | den Wert „Ann“", "der Preis | 12 €".
func (r *statementReader) boundary(s span) int {
	at := 0
	for i := 1; i < len(s); i++ {
		t := s[i]
		if t.kind == mark {
			continue
		}
		literal := t.kind == quoted || t.kind == variable || strings.ContainsAny(t.text[:1], "0123456789$€£+-")
		code, n := r.comparisons.match(s[i:])
		_, c := r.count(s[i:])
		article := r.articles.has(s[i:]) && !r.relations.has(s[i-1:]) && !r.genitive(s[i])
		switch {
		case n > 0 && strings.HasPrefix(code, "count ") && i+n < len(s):
			return i
		case article:
			at = i
		case (literal || c > 0 || at == 0 && t.capital() && i == len(s)-1 && s[i-1].capital()) && (at == 0 || !r.literalWord(s[at:i])):
			if i == len(s)-1 || literal || c > 0 {
				at = i
			}
		}
	}
	if at == 0 && len(s) > 1 && s[len(s)-1].kind == word {
		at = len(s) - 1
	}
	if at > 1 {
		if _, n := r.comparisons.matchEnd(s[:at]); n > 0 && n < at {
			at -= n
		}
	}
	return at
}

// genitive reports whether an article can be that of an owner: "der Preis der Lampe".
func (r *statementReader) genitive(t token) bool { return t.is("des") || t.is("der") }
