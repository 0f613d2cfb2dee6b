package intent

import (
	"strconv"
	"strings"
)

// value reads what is typed, chosen or compared with.
func (r *valueReader) value(s span) Value {
	s = s.trim()
	v := Value{Text: s.value(r.src)}
	if len(s) == 1 && s[0].kind == quoted {
		v.Quoted = true
		if d := r.date(tokenize(v.Text)); d != nil && len(v.Text) < 60 {
			v.Date = d
		}
		if f, ok := number(v.Text); ok {
			v.Number = &f
		}
		return v
	}
	if len(s) == 0 || s.hasQuoted() {
		return v
	}
	if f, ok := r.numeral(s); ok {
		v.Number = &f
	}
	v.Date = r.date(s)
	return v
}

// number reads a number in digits: "12", "-3.5", "1,200", "12 %", "$9.99".
func number(text string) (float64, bool) {
	text = strings.TrimSpace(strings.Trim(strings.TrimSpace(text), "$€£%#"))
	if text == "" || len(text) > 20 {
		return 0, false
	}
	if i := strings.LastIndexByte(text, ','); i >= 0 {
		if len(text)-i == 4 || strings.Contains(text[i:], ".") {
			text = strings.ReplaceAll(text, ",", "")
		} else {
			text = strings.ReplaceAll(strings.ReplaceAll(text, ".", ""), ",", ".")
		}
	}
	for i, c := range text {
		if (c < '0' || c > '9') && c != '.' && !(i == 0 && (c == '-' || c == '+')) {
			return 0, false
		}
	}
	f, err := strconv.ParseFloat(text, 64)
	return f, err == nil
}

// numeral reads a number in digits or words.
func (r *valueReader) numeral(s span) (float64, bool) {
	if len(s) == 1 {
		if f, ok := number(s[0].text); ok {
			return f, true
		}
	}
	if len(s) == 2 {
		if f, ok := number(s[0].text); ok && len(strings.Trim(s[1].text, "%€$£")) == 0 {
			return f, true
		}
	}
	code, n := r.numbers.match(s)
	if n == 0 || n != len(s) {
		return 0, false
	}
	f, err := strconv.ParseFloat(code, 64)
	return f, err == nil
}

// values reads a list of values.
func (r *valueReader) values(s span) []Value {
	for i := range s {
		if (s[i].is("[") || s[i].is("(")) && i > 0 {
			s = s[i:]
			break
		}
	}
	for len(s) > 0 && (s[0].is("[") || s[0].is("(")) && (s[len(s)-1].is("]") || s[len(s)-1].is(")")) {
		s = s[1 : len(s)-1]
	}
	var out []Value
	for _, item := range r.list(s) {
		v, _ := r.valueOf(item)
		out = append(out, v)
	}
	return out
}

// valueOf reads a value with the words around it: `the text "x"`, "the number 5". What
// stands on the page instead is in From: "the code that is shown below". The words that
// name the value are returned too: `the password "x"`.
func (r *valueReader) valueOf(s span) (Value, string) {
	s = s.trim()
	if len(s) == 0 {
		return Value{}, ""
	}
	if _, n := r.pronouns.match(s); n == len(s) && !s.hasQuoted() {
		return Value{From: &Phrase{Text: s.text(r.src), Pronoun: true}}, ""
	}
	if v, ok := r.partial(s); ok {
		return v, ""
	}
	for i, t := range s {
		if t.kind != quoted && t.kind != variable {
			continue
		}
		if i > 1 && i == len(s)-1 && r.articles.has(s) {
			if code, n := r.relations.match(s[i-1:]); n == 1 && code == "of" {
				// "the value of "Religion""
				return Value{Text: s.text(r.src), From: r.phrase(s)}, ""
			}
		}
		around := append(append(span{}, s[:i]...), s[i+1:]...)
		if t.kind == variable && len(s) > 1 && (i > 0 && s[i].glued || i+1 < len(s) && s[i+1].glued) {
			break
		}
		if len(around) == 0 {
			return r.value(s[i : i+1]), ""
		}
		if around.hasQuoted() {
			break
		}
		if r.shown(around) {
			return Value{Text: "", From: r.phrase(s)}, ""
		}
		v := r.value(s[i : i+1])
		if r.literalWord(around) {
			return v, ""
		}
		p := Phrase{}
		rest, _ := r.determine(around, &p)
		return v, rest.text(r.src)
	}
	rest := s
	if _, n := r.articles.match(rest); n > 0 && n < len(rest) {
		rest = rest[n:]
		// "the number 5", "the word hello", "the date 12/05/2016"
		if r.literalWord(rest[:1]) && len(rest) > 1 && !r.shown(rest) || r.dateWord(rest[0]) && len(rest) > 1 {
			if v := r.value(rest[1:]); v.Number != nil || v.Date != nil || !r.relations.has(rest[1:]) && !r.that.has(rest[1:]) {
				return v, ""
			}
		}
		if r.shown(rest) || r.relationAt(rest, true) > 0 {
			v := r.value(s)
			if v.Date != nil {
				return v, ""
			}
			return Value{Text: s.text(r.src), From: r.source(s)}, ""
		}
		if v := r.value(rest); v.Number != nil || v.Date != nil {
			return v, ""
		}
		if v := r.value(s); v.Date != nil {
			return v, ""
		}
		// "enter the code": what is called so on the page, or the words.
		return Value{Text: s.text(r.src), From: r.source(s)}, ""
	}
	if len(rest) > 1 && r.literalWord(rest[:1]) {
		if v := r.value(rest[1:]); v.Number != nil || v.Date != nil {
			return v, ""
		}
	}
	if r.shown(rest) && r.describes(rest) {
		return Value{Text: s.text(r.src), From: r.source(s)}, ""
	}
	return r.value(s), ""
}

// partial reads a value of which only the start, the end or a part is said: "an item
// that starts with "Co" and ends with "ge"".
func (r *valueReader) partial(s span) (Value, bool) {
	v := Value{Text: s.text(r.src)}
	found := false
	for i := 1; i < len(s)-1; i++ {
		code, n := r.comparisons.match(s[i:])
		if n == 0 || i+n >= len(s) {
			continue
		}
		end := i + n + 1
		if s[i+n].kind != quoted && end < len(s) && !r.linkAhead(s[end:]) {
			continue
		}
		part := s[i+n].text
		switch code {
		case "text starts":
			v.Prefix, found = part, true
		case "text ends":
			v.Suffix, found = part, true
		case "text contains":
			if s[i-1].kind == word && (r.that.has(s[i-1:]) || s[i-1].is("which")) || n > 1 || s[i].is("containing") {
				v.Part, found = part, true
			}
		}
	}
	return v, found
}

// dateRange reads "from 1 May to 4 May", "4/1/2025 - 4/5/2025".
func (r *valueReader) dateRange(s span) []Value {
	if len(s) > maxDateWords*2 {
		return nil
	}
	if code, n := r.dates.match(s); code == "from" {
		s = s[n:]
	}
	for i := 1; i < len(s)-1; i++ {
		code, n := r.dates.match(s[i:])
		if code != "to" || i+n >= len(s) {
			continue
		}
		a, b := r.date(s[:i]), r.date(s[i+n:])
		if b == nil || a == nil {
			continue
		}
		return []Value{{Text: s[:i].text(r.src), Date: a}, {Text: s[i+n:].text(r.src), Date: b}}
	}
	return nil
}

func (r *valueReader) dateWord(t token) bool {
	return t.is("date") || t.is("time") || t.is("day") || t.is("datum") || t.is("uhrzeit")
}

// shown reports whether words say that a text stands on the page: "that is shown".
func (r *valueReader) shown(s span) bool {
	for i := range s {
		if s[i].kind != word {
			continue
		}
		if code, n := r.predicates.match(s[i:]); n > 0 && code == "visible" && i > 0 && !s[i].is("open") {
			return true
		}
		if i > 0 && i == len(s)-1 && (s[i].is("below") || s[i].is("above") || s[i].is("unten") || s[i].is("oben")) {
			return true
		}
	}
	return false
}

// source reads what on the page a value is taken from, without the words that say that
// it is shown there.
func (r *valueReader) source(s span) *Phrase {
	for i := range s {
		if i == 0 || s[i].kind != word {
			continue
		}
		if code, n := r.predicates.match(s[i:]); n > 0 && code == "visible" {
			end := i
			for end > 0 && (r.modals.has(s[end-1:end]) || r.that.has(s[end-1:end]) || s[end-1].is("which") || s[end-1].is("die") || s[end-1].is("der") || s[end-1].is("das")) {
				end--
			}
			if end == 0 {
				break
			}
			p := r.phrase(s[:end])
			if rest := s[i+n:].trim(); len(rest) > 1 && r.relations.has(rest) {
				r.relate(rest, p, 1)
			}
			p.Text = s.text(r.src)
			return p
		}
	}
	return r.phrase(s)
}
