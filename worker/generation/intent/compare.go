package intent

import "strings"

// situated reads "is in the table", "is not below X": that something is there.
func (r *statementReader) situated(a Assertion, subject, rest span) (Assertion, bool) {
	if _, n := r.comparisons.match(rest); n > 1 {
		return a, false
	}
	if code, n := r.modals.match(rest); n > 0 && n < len(rest) && code == "is" {
		rest = rest[n:]
	}
	code, n := r.relations.match(rest)
	if n == 0 || n >= len(rest) || code == "of" || code == "with" || code == "like" || r.predicates.has(rest) {
		return a, false
	}
	if f := r.value(rest[n:]); f.Number != nil || f.Date != nil {
		return a, false
	}
	b, ok := r.state(a, subject, "visible")
	if ok {
		r.locate(rest, b.Subject)
	}
	return b, ok
}

// locate adds the place that stands after a statement: "is shown in the dialog".
func (r *statementReader) locate(s span, p *Phrase) {
	q := Phrase{}
	r.relate(s, &q, 1)
	for _, relation := range q.Relations {
		if first(relation.Roles) != "page" {
			p.Relations = append(p.Relations, relation)
		}
	}
}

// allQuoted reports whether each item of a list is a quoted text.
func allQuoted(items []span) bool {
	for _, item := range items {
		if len(item) != 1 || item[0].kind != quoted {
			return false
		}
	}
	return true
}

// allWords reports whether each item of a list is one word.
func allWords(items []span) bool {
	for _, item := range items {
		if len(item) != 1 || item[0].kind == mark {
			return false
		}
	}
	return true
}

// amount reads "at least", "more than".
func (r *statementReader) amount(s span) (string, span) {
	code, n := r.comparisons.match(s)
	mode, ok := strings.CutPrefix(code, "count ")
	if !ok || n >= len(s) {
		return "equals", s
	}
	return mode, s[n:]
}

// adjustCount turns "more than 2" into at least 3.
func adjustCount(a Assertion) Assertion {
	switch a.Mode {
	case "more", "less":
		if len(a.Values) == 1 && a.Values[0].Number != nil {
			f := *a.Values[0].Number + 1
			mode := "at_least"
			if a.Mode == "less" {
				f, mode = f-2, "at_most"
			}
			a.Mode, a.Values[0].Number = mode, &f
		}
	}
	return a
}

func (r *statementReader) compared(a Assertion, subject, rest span) (Assertion, bool) {
	code, n := r.comparisons.match(rest)
	if n == 0 || n >= len(rest) {
		_, n = r.modals.match(rest)
		if n == 0 || n >= len(rest) {
			return a, false
		}
		code = "text equals"
	}
	value := rest[n:].trim()
	property, mode, _ := strings.Cut(code, " ")
	if code == "text contains" && !value.hasQuoted() {
		amount, counted := r.amount(value)
		if _, k := r.count(counted); k > 0 && k < len(counted) && r.kindly(counted[k:]) {
			property, mode = "count", "equals"
			if len(counted) < len(value) {
				mode, value = amount, counted
			}
		}
	}
	page, m := r.subjects.match(subject)
	if m == len(subject) {
		a.Property = Property(page)
	} else {
		a.Subject = r.phrase(subject)
		a.Property = HasText
		if property == "value" || property == "count" {
			a.Property = Property(property)
		}
	}
	switch property {
	case "order":
		name := Value{}
		if a.Subject != nil {
			name = Value{Text: a.Subject.Name, Quoted: a.Subject.Exact}
		}
		a.Property, a.Values = HasOrder, []Value{name, r.value(value)}
		if mode == "after" {
			a.Values[0], a.Values[1] = a.Values[1], a.Values[0]
		}
		a.Subject = nil
		return a, true
	case "count":
		if amount, counted := r.amount(value); len(counted) < len(value) {
			mode, value = amount, counted
		}
		if v, k := r.count(value); k == len(value) && k > 0 && a.Subject != nil && mode != "equals" {
			// "the total is at least 10": its text as a number.
			break
		} else if k > 0 {
			f := float64(v)
			a.Mode, a.Values = mode, []Value{{Text: value[:k].text(r.src), Number: &f}}
			if k < len(value) {
				container := a.Subject
				a.Subject = r.phrase(value[k:])
				if container != nil {
					a.Subject.Relations = append(a.Subject.Relations, Relation{In, *container})
				}
			}
			a.Property = HasCount
			return adjustCount(a), true
		}
		a.Property, mode = HasText, "contains"
	}
	if property == "count" && mode != "contains" {
		a.Property = HasText
	}
	a.Mode = mode
	if items := r.list(value); len(items) > 1 && (allQuoted(items) || mode == "contains" && allWords(items)) {
		a.Values = r.values(value)
		return a, true
	}
	v, _ := r.valueOf(value)
	a.Values = []Value{v}
	return a, true
}
