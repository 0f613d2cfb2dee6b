package intent

import "strings"

// formOf reports whether words are for a form.
func (r *valueReader) formOf(s span) bool {
	code, n := r.nouns.matchEnd(s)
	return n > 0 && code == "form"
}

// pairs reads "the username "ann" and the password "x"".
func (r *valueReader) pairs(kind Kind, s span) []Instruction {
	var out []Instruction
	for _, item := range r.list(s) {
		label, value, ok := r.pair(item)
		if !ok {
			return nil
		}
		out = append(out, Instruction{Kind: kind, Text: item.text(r.src), Target: r.labelPhrase(label), Values: []Value{value}})
	}
	return out
}

// labelPhrase reads the label of a field: "the email address", "the Name field".
func (r *valueReader) labelPhrase(s span) *Phrase {
	p := r.phrase(s)
	if s.hasQuoted() || r.fieldNoun(s) || len(p.Relations) > 0 {
		return p
	}
	label := Phrase{Text: p.Text}
	s, _ = r.determine(s, &label)
	label.Name = s.trim().text(r.src)
	if label.Name == "" {
		return p
	}
	return &label
}

// stated reads "user name Ann and password secret": labels that are always such, each
// with the word after it.
func (r *valueReader) stated(kind Kind, s span) []Instruction {
	var out []Instruction
	for _, item := range r.list(s) {
		if _, n := r.articles.match(item); n > 0 && n < len(item) {
			item = item[n:]
		}
		i := 0
		for i < len(item) && credentialWords[item[i].low] {
			i++
		}
		if i == 0 || i != len(item)-1 {
			return nil
		}
		label := Phrase{Text: item[:i].text(r.src), Name: item[:i].text(r.src)}
		out = append(out, Instruction{Kind: kind, Text: item.text(r.src), Target: &label, Values: []Value{r.value(item[i:])}})
	}
	return out
}

// pair reads a label and its value: `the password "x"`, `Name: Ann`, `Name = Ann`.
func (r *valueReader) pair(s span) (span, Value, bool) {
	if len(s) < 2 {
		return nil, Value{}, false
	}
	for i := 1; i+1 < len(s); i++ {
		if s[i].is(":") || s[i].is("=") {
			return s[:i], r.value(s[i+1:]), true
		}
	}
	last := s[len(s)-1]
	label := s[:len(s)-1]
	literal := last.kind == quoted || last.kind == variable || strings.ContainsAny(last.text, "@0123456789")
	if !literal {
		return nil, Value{}, false
	}
	if n := len(label); label[n-1].kind == mark {
		label = label[:n-1]
	}
	if len(label) == 0 || label.hasQuoted() && last.kind == quoted && len(label) == 1 || r.literalWord(label) {
		return nil, Value{}, false
	}
	if i, n := r.joint(label, true, "as", "of", "with"); i > 0 && i+n == len(label) {
		label = label[:i]
	}
	return label, r.value(s[len(s)-1:]), true
}

// literalWord reports whether words before a quoted text only say that it is a text.
func (r *valueReader) literalWord(s span) bool {
	if _, n := r.articles.match(s); n > 0 && n < len(s) {
		s = s[n:]
	}
	if len(s) > 2 {
		return false
	}
	code, n := r.nouns.match(s)
	return n > 0 && strings.HasPrefix(code, "text") && !fieldRole(code) || len(s) == 1 && (s[0].is("value") || s[0].is("number") || s[0].is("string") || s[0].is("characters") || s[0].is("wert") || s[0].is("zahl") || s[0].is("following"))
}

// labelled reads "Name: Ann".
func (r *valueReader) labelled(s span) []Reading {
	for i := 1; i+1 < len(s) && i < 7; i++ {
		if s[i].is(":") || s[i].is("=") {
			in := Instruction{Kind: Fill, Target: r.phrase(s[:i]), Values: []Value{r.value(s[i+1:])}}
			choose := in
			choose.Kind = Choose
			return []Reading{{[]Instruction{in}, 0.8}, {[]Instruction{choose}, 0.6}}
		}
	}
	return nil
}
