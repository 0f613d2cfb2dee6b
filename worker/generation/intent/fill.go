package intent

import "strings"

// fill reads what is typed, and where: "type X into Y", "enter X as Y", "fill Y with X".
func (a *act) fill(s span) []Reading {
	kind := Fill
	if a.code == "append" {
		kind = Append
	}
	if len(s) == 0 {
		return nil
	}
	if v, ok := a.partial(s); ok {
		return single(Instruction{Kind: kind, Values: []Value{v}})
	}
	if strings.HasPrefix(a.verb, "fill") || strings.HasPrefix(a.verb, "populate") || strings.Contains(a.verb, "füll") {
		if out := a.filled(kind, s); out != nil {
			return out
		}
	}
	if out := a.filledEntries(kind, s); out != nil {
		return out
	}
	if code, n := a.joints.match(s); n > 0 && (code == "in" || code == "into") {
		// "gib im Feld Name Ann ein"
		if i := a.boundary(s[n:]); i > 0 {
			return a.valueInto(kind, s[n+i:], s[n:n+i])
		}
	}
	if last := s[len(s)-1]; len(s) > 1 && strings.HasPrefix(a.verb, "put") && (last.is("first") || last.is("last")) {
		place := map[bool]Place{true: First, false: Last}[last.is("first")]
		return single(Instruction{Kind: Drag, Target: a.phrase(s[:len(s)-1]), Place: place})
	}
	if i, n := a.into(s); i > 0 {
		return a.valueInto(kind, s[:i].trim(), s[i+n:].trim())
	}
	if i, n := a.joint(s, true, "as", "for"); i > 0 {
		if left := s[:i]; a.articles.has(left) && !left.hasQuoted() && !a.articles.has(s[i+n:]) && a.date(left) == nil {
			// "enter your name as Ann"
			return a.valueInto(kind, s[i+n:].trim(), left.trim())
		}
		return a.valueInto(kind, s[:i].trim(), s[i+n:].trim())
	}
	if i, n := a.joint(s, false, "is", "with"); i > 0 && a.field(s[:i]) {
		return a.valueInto(kind, s[i+n:].trim(), s[:i].trim())
	}
	return a.unaimed(kind, s)
}

// replace reads "replace X with Y".
func (a *act) replace(s span) []Reading {
	i, n := a.joint(s, false, "with", "is")
	if i <= 0 {
		return nil
	}
	return a.valueInto(Fill, s[i+n:].trim(), s[:i].trim())
}

// into finds the preposition between a value and its field: the last one that is
// followed by what can be a field.
func (r *valueReader) into(s span) (int, int) {
	at, length := -1, 0
	for i := 1; i < len(s); i++ {
		code, n := r.joints.match(s[i:])
		if n == 0 || i+n >= len(s) || code != "into" && code != "in" && (code != "to" || !s[:i].hasQuoted()) {
			continue
		}
		rest := s[i+n:]
		field := r.field(rest)
		if code == "to" && !field {
			continue
		}
		if !field && !(code == "into" || s[i].is("in")) {
			continue
		}
		if s[:i].hasQuoted() || field || code == "into" || at < 0 {
			if at >= 0 && !field {
				continue
			}
			// A place within what the field is in: "into the field in the dialog".
			if at >= 0 && r.fieldNoun(s[at+length:i]) {
				continue
			}
			at, length = i, n
		}
	}
	return at, length
}

// field reports whether words can describe a field.
func (r *valueReader) field(s span) bool {
	return len(s) > 0 && (s[0].kind == quoted || r.articles.has(s) || r.quantities.has(s) || r.fieldNoun(s) || r.pronouns.has(s) || r.starts(s))
}

// fieldNoun reports whether a word for a field is in a span.
func (r *valueReader) fieldNoun(s span) bool {
	for i := range s {
		if code, n := r.nouns.match(s[i:]); n > 0 && fieldRole(code) {
			return true
		}
	}
	return false
}

func fieldRole(code string) bool {
	for _, role := range []string{"textbox", "searchbox", "combobox", "spinbutton", "slider"} {
		if strings.Contains(code, role) {
			return true
		}
	}
	return false
}

// filled reads "fill Y with X", "fill in Y: X", and "fill out the form with ...".
func (a *act) filled(kind Kind, s span) []Reading {
	if items := a.list(s); len(items) > 1 {
		var all []Instruction
		for _, item := range items {
			i, n := a.joint(item, false, "with", "is")
			if code, _ := a.joints.match(item[max(i, 0):]); i <= 0 || code != "with" && !a.field(item) {
				all = nil
				break
			}
			v, _ := a.valueOf(item[i+n:])
			all = append(all, Instruction{Kind: kind, Text: item.text(a.src), Target: a.labelPhrase(item[:i]), Values: []Value{v}})
		}
		if len(all) > 1 {
			return []Reading{{all, 0.9}}
		}
	}
	if i, n := a.joint(s, false, "with", "is"); i > 0 {
		return a.valueInto(kind, s[i+n:].trim(), s[:i].trim())
	}
	if i, n := a.joint(s, false, "as"); i > 0 && a.field(s[:i]) && !s[:i].hasQuoted() {
		return a.valueInto(kind, s[i+n:].trim(), s[:i].trim())
	}
	return nil
}

// valueInto makes the instruction for a value and its field. "the username "ann" and
// the password "x" into the fields" are two.
func (a *act) valueInto(kind Kind, value, field span) []Reading {
	if len(value) == 0 || len(field) == 0 {
		return nil
	}
	if pairs := a.pairs(kind, value); len(pairs) > 1 || len(pairs) == 1 && a.formOf(field) {
		return []Reading{{pairs, 1}}
	}
	v, label := a.valueOf(value)
	if v.From != nil && (a.verb == "put" || a.verb == "put in" || a.verb == "insert") && !a.fieldNoun(field) {
		put := Instruction{Kind: Activate, Verb: "put", Target: a.phrase(value), To: a.phrase(field)}
		drag := Instruction{Kind: Drag, Target: put.Target, To: put.To}
		return []Reading{{[]Instruction{put}, 0.6}, {[]Instruction{drag}, 0.5}}
	}
	out := single(Instruction{Kind: kind, Values: []Value{v}, Target: a.fieldPhrase(field)})
	if label != "" {
		out[0].Instructions[0].Values[0].Label = label
	}
	if v.From != nil && !v.From.Pronoun && len(value) > 3 && !a.shown(value) && !a.describes(value) && len(v.From.Relations) == 0 {
		// The words can be meant as they are: "type the quick brown fox".
		literal := out[0].Instructions[0]
		literal.Values = []Value{{Text: v.Text}}
		out[0].Prior = 0.7
		out = append(out, Reading{[]Instruction{literal}, 0.3})
	}
	return out
}

// fieldPhrase reads a field; further ones are in Others.
func (r *valueReader) fieldPhrase(s span) *Phrase {
	p := r.targets(s)[0].Phrase
	if first(p.Roles) == "text" && p.Name == "" && len(p.Relations) == 0 && p.Ordinal == 0 && !p.All {
		return nil // "the text" of what has the focus
	}
	if first(p.Roles) == "text" && p.Name == "" && len(p.Relations) > 0 && p.Relations[0].Kind == In {
		// "the text in the Notes field"
		field := p.Relations[0].Phrase
		return &field
	}
	return p
}

// unaimed reads a value without a field, or fields with their values.
func (a *act) unaimed(kind Kind, s span) []Reading {
	if pairs := a.pairs(kind, s); len(pairs) > 0 {
		if len(pairs) == 1 && pairs[0].Values[0].Number != nil && pairs[0].Target.Noun == "" {
			v, _ := a.valueOf(s)
			return []Reading{{pairs, 0.6}, {[]Instruction{{Kind: kind, Values: []Value{v}}}, 0.5}}
		}
		return []Reading{{pairs, 1}}
	}
	if out := a.stated(kind, s); len(out) > 0 {
		return []Reading{{out, 0.9}}
	}
	if s.hasQuoted() && s[len(s)-1].kind == word && !a.shown(s) && !a.nouns.has(s[len(s)-1:]) {
		return nil // what is after the text is not understood
	}
	v, _ := a.valueOf(s)
	if v.From != nil && (a.formOf(s) || a.fieldNoun(s)) && v.From.Name == "" && len(v.From.Relations) == 0 {
		return nil // with what is not said
	}
	out := single(Instruction{Kind: kind, Values: []Value{v}})
	// "enter name Ann", "den Namen Ann eingeben": a label and its value, without any mark.
	_, article := a.articles.match(s)
	if len(s) >= 2+article && !s.hasQuoted() && s[len(s)-1].capital() && (!s[article].capital() || a.capitals && article > 0) && a.relationAt(s[article:], true) < 0 {
		i := len(s) - 1
		for i > 1+article && s[i-1].capital() {
			i--
		}
		pair := Instruction{Kind: kind, Target: a.phrase(s[:i]), Values: []Value{a.value(s[i:])}}
		out[0].Prior = 0.4
		return append([]Reading{{[]Instruction{pair}, 0.6}}, out...)
	}
	return out
}

// set reads "set X to Y", "change X from A to B", "set X = Y", "set X to A and Y to B".
func (a *act) set(s span) []Reading {
	if items := a.list(s); len(items) > 1 {
		var all []Instruction
		for _, item := range items {
			out := a.setOne(item)
			if i, _ := a.joint(item, true, "to", "is"); i <= 0 || len(out) == 0 {
				all = nil
				break
			}
			all = append(all, out[0].Instructions...)
		}
		if len(all) > 1 {
			return []Reading{{all, 0.9}}
		}
	}
	return a.setOne(s)
}

func (a *act) setOne(s span) []Reading {
	i, n := a.joint(s, true, "to", "is")
	if i <= 0 {
		i, n = a.joint(s, false, "as", "with", "in")
	}
	if i <= 0 {
		return nil
	}
	subject, value := s[:i].trim(), s[i+n:].trim()
	if j, _ := a.joint(subject, false, "from"); j > 0 {
		subject = subject[:j].trim()
	}
	p := a.fieldPhrase(subject)
	v, _ := a.valueOf(value)
	switch code, n := a.predicates.match(value); {
	case n == len(value) && code == "checked":
		return single(Instruction{Kind: Check, Target: p})
	case n == len(value) && code == "!checked":
		return single(Instruction{Kind: Uncheck, Target: p})
	}
	values := []Value{v}
	if len(p.Others) > 0 || p.All {
		values = a.values(value)
	}
	as := func(kind Kind, prior float64) Reading {
		return Reading{[]Instruction{{Kind: kind, Target: p, Values: values}}, prior}
	}
	switch first(p.Roles) {
	case "slider", "spinbutton":
		return []Reading{as(Adjust, 1)}
	case "combobox":
		return []Reading{as(Choose, 1), as(Fill, 0.5)}
	}
	if v.Number != nil {
		return []Reading{as(Fill, 0.7), as(Choose, 0.6), as(Adjust, 0.6)}
	}
	return []Reading{as(Fill, 0.7), as(Choose, 0.7)}
}
