package intent

import "strings"

// statement returns where what a span says of its subject begins ("is shown"), or -1
// when it says nothing.
func (r *statementReader) statement(s span) int {
	for i := 0; i < len(s) && i < 60; i++ {
		if s[i].kind == quoted || s[i].kind == mark && !s[i].is("=") {
			continue
		}
		if i > 0 && (s[i-1].is("that") || s[i-1].is("which")) && r.modals.has(s[i:]) {
			continue
		}
		if i == 1 && s[0].is("es") && r.predicates.has(s[i:]) {
			return i
		}
		if r.modals.has(s[i:]) && !s[i].capital() || r.comparisons.has(s[i:]) && i > 0 && !r.named.has(s[i:]) {
			return i
		}
		if i > 0 && r.predicates.has(s[i:]) && !r.states.has(s[i:]) && i+1 == len(s) {
			return i
		}
	}
	return -1
}

// holds reports whether a span is a statement that can be read as an assertion.
func (r *statementReader) holds(s span) bool {
	_, ok := r.assertion(s)
	return ok
}

// assertions reads one or several assertions that are connected.
func (r *statementReader) assertions(s span) ([]Reading, string) {
	var ins []Instruction
	var subject *Phrase
	for i, part := range r.statements(s) {
		if i > 0 && r.statement(part) == 0 && len(ins) > 0 {
			// "contains A and must not contain B"
			if at := r.statement(s); at > 0 {
				part = append(append(span{}, s[:at]...), part...)
			}
		}
		a, ok := r.assertion(part)
		if !ok {
			return nil, "what must hold is not understood: " + part.text(r.src)
		}
		if a.Subject != nil && a.Subject.Pronoun && subject != nil {
			a.Subject = subject
		}
		if a.Subject != nil {
			subject = a.Subject
		}
		ins = append(ins, Instruction{Kind: Assert, Text: part.text(r.src), Assertion: &a})
	}
	if len(ins) == 0 {
		return nil, "nothing is said that must hold"
	}
	if a := ins[0].Assertion; len(ins) == 1 && a.Subject != nil && a.Subject.Pronoun && a.Property == HasText && len(a.Values) == 1 && a.Values[0].Quoted && !a.Not {
		// "it should say X": what was acted on, or the page.
		shown := *a
		shown.Property, shown.Mode, shown.Values = IsVisible, "", nil
		shown.Subject = &Phrase{Text: a.Values[0].Text, Name: a.Values[0].Text, Exact: true}
		return []Reading{{ins, 0.5}, {[]Instruction{{Kind: Assert, Text: ins[0].Text, Assertion: &shown}}, 0.5}}, ""
	}
	return []Reading{{ins, 1}}, ""
}

// statements splits "X is shown and Y is hidden".
func (r *statementReader) statements(s span) []span {
	var out []span
	begin := 0
	for i := 1; i < len(s); i++ {
		_, n := r.link(s, i)
		if n == 0 || i+n >= len(s) {
			continue
		}
		rest := s[i+n:]
		_, that := r.that.match(rest)
		if that < len(rest) {
			rest = rest[that:]
		} else {
			that = 0
		}
		if at := r.statement(rest); r.statement(s[begin:i]) >= 0 && (at > 0 || at == 0 && (r.modals.has(rest) || r.comparisons.has(rest))) {
			out = append(out, s[begin:i].trim())
			begin = i + n + that
		}
		i += n - 1
	}
	return append(out, s[begin:].trim())
}

// assertion reads what must hold.
func (r *statementReader) assertion(s span) (Assertion, bool) {
	s = s.trim()
	a := Assertion{Text: s.text(r.src)}
	if len(s) == 0 {
		return a, false
	}
	if r.finalVerb {
		s = r.fronted(s)
	}
	if rest, ok := r.existence(s); ok {
		return r.exists(a, rest)
	}
	if r.isVague(s) {
		return a, false
	}
	at := r.statement(s)
	for i := 1; i+1 < len(s) && (at < 0 || i < at); i++ {
		// "(expect) the list to contain X"
		if s[i].is("to") && (r.comparisons.has(s[i+1:]) || r.predicates.has(s[i+1:])) {
			s = append(append(span{}, s[:i]...), s[i+1:]...)
			at = i
			break
		}
	}
	if at < 0 {
		// "verify the success message": it is shown.
		return r.exists(a, s)
	}
	subject, rest := s[:at].trim(), s[at:]
	rest = r.negated(rest, &a)
	if len(subject) == 0 {
		return a, false
	}
	if b, ok := r.situated(a, subject, rest); ok {
		return b, true
	}
	if code, n := r.predicates.match(rest); n > 0 && (r.capitals || !rest[0].capital()) {
		if n == len(rest) {
			return r.state(a, subject, code)
		}
		if tail := rest[n:].trim(); len(tail) > 1 && strings.HasSuffix(code, "scending") && (tail[0].is("by") || tail[0].is("nach")) {
			a.Name = tail[1:].text(r.src)
			return r.state(a, subject, code)
		} else if len(tail) > 1 && r.relations.has(tail) && !r.comparisons.has(rest) {
			b, ok := r.state(a, subject, code)
			if ok {
				r.locate(tail, b.Subject)
			}
			return b, ok
		}
	}
	return r.compared(a, subject, rest)
}

// isVague reports whether a statement is about nothing that can be looked at.
func (r *statementReader) isVague(s span) bool {
	for i := range s {
		if r.vague.has(s[i:]) {
			return true
		}
	}
	return false
}

// negated removes modal words and notes a negation.
func (r *statementReader) negated(s span, a *Assertion) span {
	for len(s) > 1 {
		if _, n := r.not.match(s); n > 0 && n < len(s) {
			a.Not = !a.Not
			s = s[n:]
			continue
		}
		if _, n := r.modals.match(s); n > 0 && n < len(s) && (r.modals.has(s[n:]) || r.not.has(s[n:]) || r.predicates.has(s[n:]) && (r.capitals || !s[n].capital()) || r.comparisons.has(s[n:])) {
			s = s[n:]
			continue
		}
		if len(s) > 2 && r.modals.has(s[:1]) && r.adverbs.has(s[1:2]) {
			s = append(span{s[0]}, s[2:]...)
			continue
		}
		if s[0].is("now") || s[0].is("also") || s[0].is("still") || s[0].is("currently") || s[0].is("jetzt") || s[0].is("nun") || s[0].is("auch") || s[0].is("noch") {
			s = s[1:]
			continue
		}
		break
	}
	return s
}

// existence removes "there is".
func (r *statementReader) existence(s span) (span, bool) {
	if len(s) > 2 && s[0].is("there") && r.modals.has(s[1:]) {
		i := 1
		for i < len(s) && r.modals.has(s[i:]) {
			_, n := r.modals.match(s[i:])
			i += n
		}
		return s[i:], true
	}
	if len(s) > 2 && s[0].is("es") && (s[1].is("gibt") || s[1].is("existiert")) {
		return s[2:], true
	}
	return s, false
}

// exists reads "3 items", "no error", "a message "x"".
func (r *statementReader) exists(a Assertion, s span) (Assertion, bool) {
	if _, n := r.not.match(s); n > 0 && n < len(s) {
		a.Not = true
		s = s[n:]
	}
	mode, rest := r.amount(s)
	if v, n := r.count(rest); n > 0 && n < len(rest) {
		f := float64(v)
		a.Property, a.Mode = HasCount, mode
		a.Values = []Value{{Text: rest[:n].text(r.src), Number: &f}}
		a.Subject = r.phrase(rest[n:])
		r.kindOnly(a.Subject, rest[n:])
		return adjustCount(a), true
	}
	a.Property = IsVisible
	if a.Not {
		a.Property, a.Not = IsHidden, false
	}
	a.Subject = r.phrase(s)
	r.kindOnly(a.Subject, s)
	return a, a.Subject.Name != "" || a.Subject.Noun != ""
}

// state reads "is disabled".
func (r *statementReader) state(a Assertion, subject span, code string) (Assertion, bool) {
	name, not := strings.CutPrefix(code, "!")
	a.Not = a.Not != not
	a.Property = Property(name)
	if name == "ascending" || name == "descending" {
		a.Property, a.Order = HasOrder, name
	}
	if name == "visible" && a.Not {
		a.Property, a.Not = IsHidden, false
	}
	if _, n := r.not.match(subject); n > 0 && n < len(subject) {
		a.Not = !a.Not
		subject = subject[n:]
		if a.Property == IsVisible && a.Not {
			a.Property, a.Not = IsHidden, false
		}
	}
	if a.Property == IsVisible && len(subject) > 1 {
		mode, counted := r.amount(subject)
		if _, n := r.quantities.match(counted); n > 0 && n < len(counted) && len(counted) == len(subject) {
			if code, _ := r.quantities.match(counted); code == "only" {
				counted = counted[n:]
			}
		}
		if v, n := r.count(counted); n > 0 && n < len(counted) {
			// "exactly 2 rows are shown"
			f := float64(v)
			a.Property, a.Mode = HasCount, mode
			a.Values = []Value{{Text: counted[:n].text(r.src), Number: &f}}
			subject = counted[n:]
			a = adjustCount(a)
		}
	}
	a.Subject = r.phrase(subject)
	r.kindOnly(a.Subject, subject)
	return a, true
}

// compared reads "contains X", "is 12", "has 3 rows".
