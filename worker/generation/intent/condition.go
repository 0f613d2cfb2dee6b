package intent

// story removes what a sentence of a scenario begins with: "When I click ..." asks for
// what is done, where other sentences with "when" have a condition.
func (w *sentenceReader) story(s span) span {
	if len(s) < 3 || !s[0].line || !w.conditions.has(s) || !w.leads.has(s) {
		return s
	}
	_, n := w.leads.match(s[1:])
	if n > 0 && !s[1].is("you") && (w.isVerb(s[1+n:]) || w.endsInVerb(w.part(s[1+n:]))) {
		return s[1:]
	}
	return s
}

// aimless removes the purpose that a sentence begins with: "In order to pay, ...".
func (w *sentenceReader) aimless(s span) span {
	if !w.ignored.has(s) && !w.purposes.has(s) && !(len(s) > 2 && (s[0].is("to") || s[0].is("um"))) {
		return s
	}
	for i := 1; i+1 < len(s); i++ {
		if s[i].is(",") && w.isVerb(s[i+1:]) {
			s[i+1].begins = true
			return s[i+1:]
		}
	}
	return s
}

// conditional reads the condition of a segment. It reports whether that was all.
func (w *sentenceReader) conditional(s span, more bool) (span, bool) {
	code, n := w.conditions.match(s)
	if n == len(s) && code == "optional" && more {
		w.optional = true
		return nil, true
	}
	if n == 0 || n >= len(s) {
		return s, false
	}
	switch code {
	case "else":
		if last := w.former; last != nil {
			s = s[n:].trim()
			c := w.clause(s)
			for i := range c.Readings {
				for j := range c.Readings[i].Instructions {
					c.Readings[i].Instructions[j].If, c.Readings[i].Instructions[j].Else = last, true
				}
			}
			w.condition = nil
			w.add(c)
			return nil, true
		}
		return s[n:].trim(), false
	case "optional":
		rest := s[n:].trim()
		if len(rest) == 0 {
			return s, false
		}
		c := w.clause(rest)
		optional(&c)
		w.add(c)
		return nil, true
	}
	body, after := s[n:], span(nil)
	if !more {
		// "if a banner appears close it"
		for i := 2; i < len(body); i++ {
			_, v, _ := w.verb(body[i:])
			if v > 0 && w.statement(body[:i]) >= 0 && w.holds(body[:i]) && i+v < len(body) {
				body, after = body[:i], body[i:]
				break
			}
		}
	}
	a, ok := w.assertion(body)
	if !ok {
		w.add(Clause{Text: s.text(w.src), Reason: "the condition is not understood"})
		return nil, true
	}
	a.Not = a.Not != (code == "unless")
	if len(after) == 0 && !more && len(w.clauses) > 0 {
		// "click OK, if a dialog is shown"
		w.conditionOf(&w.clauses[len(w.clauses)-1], &a, false)
		return nil, true
	}
	w.condition, w.former = &a, &a
	if len(after) == 0 {
		return nil, true
	}
	return after.trim(), false
}

func optional(c *Clause) {
	for i := range c.Readings {
		for j := range c.Readings[i].Instructions {
			c.Readings[i].Instructions[j].Optional = true
		}
	}
}

func (w *sentenceReader) conditionOf(c *Clause, condition *Assertion, isOptional bool) {
	for i := range c.Readings {
		for j := range c.Readings[i].Instructions {
			in := &c.Readings[i].Instructions[j]
			if condition != nil {
				in.If = condition
			}
			in.Optional = in.Optional || isOptional && in.Kind != Assert
		}
	}
}

func (w *sentenceReader) trailing(s span) (span, *Assertion, bool) {
	for i := 1; i < len(s); i++ {
		code, n := w.conditions.match(s[i:])
		if n == 0 || w.that.has(s[i-1:]) && s[i-1].kind == word {
			continue
		}
		if code == "optional" && i+n == len(s) {
			return s[:i].trim(), nil, true
		}
		if code == "else" || i+n >= len(s) || s[i].capital() || w.modals.has(s[i:]) || w.checks.has(s[i-1:]) || w.statement(s[i+n:]) < 0 {
			continue
		}
		if a, ok := w.assertion(s[i+n:]); ok {
			a.Not = a.Not != (code == "unless")
			return s[:i].trim(), &a, false
		}
	}
	return s, nil, false
}
