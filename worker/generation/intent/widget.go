package intent

import (
	"strconv"
	"strings"
	"time"
)

// readChoose reads "select A, B and C from the list", "choose Red as the colour".
func readChoose(a *act, s span) []Reading {
	s = a.purposeless(s)
	if len(s) == 0 {
		return nil
	}
	if path := a.path(s); len(path) > 1 {
		return []Reading{{path, 1}}
	}
	if all := a.roles(s); len(all) > 1 {
		return []Reading{{all, 1}}
	}
	in := Instruction{Kind: Choose}
	rest := s
	if i, n := a.joint(s, true, "from", "as", "for", "in"); i > 0 {
		tail := s[i+n:].trim()
		if code, _ := a.joints.match(s[i:]); code != "in" && code != "for" || a.container(tail) || s[:i].hasQuoted() {
			rest, in.Target = s[:i].trim(), a.phrase(tail)
		}
	} else if i, n := a.joint(s, false, "with"); i > 0 && a.container(s[i+n:]) {
		rest, in.Target = s[:i].trim(), a.phrase(s[i+n:])
	}
	if in.Target != nil && (first(in.Target.Roles) == "slider" || first(in.Target.Roles) == "spinbutton") {
		in.Kind, in.Values = Adjust, []Value{a.value(rest)}
		return single(in)
	}
	if out := readPeriod(a, s); out != nil {
		return out
	}
	if code, n := a.joints.match(s); n > 0 && code == "in" && in.Target == nil {
		// "wähle in der Liste Farbe den Eintrag Rot"
		if i := a.boundary(s[n:]); i > 0 {
			in.Target, rest = a.phrase(s[n:n+i]), s[n+i:]
		}
	}
	if both := a.dateRange(rest); both != nil {
		in.Values = both
		return single(in)
	}
	if d := a.date(rest); d != nil && !rest.hasQuoted() {
		in.Values = []Value{{Text: rest.text(a.src), Date: d}}
		return single(in)
	}
	if label, value, ok := a.kindAndName(rest); ok && in.Target == nil {
		// "choose the role Editor"
		in.Target, in.Values = a.labelPhrase(label), []Value{a.value(value)}
		whole := Instruction{Kind: Choose, Values: []Value{{Text: rest.text(a.src)}}}
		return []Reading{{[]Instruction{in}, 0.7}, {[]Instruction{whole}, 0.4}}
	}
	p := a.phrase(rest)
	switch first(p.Roles) {
	case "checkbox":
		return a.simple(Check, rest)
	case "radio", "button", "link", "tab", "textbox", "searchbox", "menuitem":
		if first(p.Roles) != "radio" && p.Name == "" && p.Ordinal == 0 {
			break
		}
		in.Kind, in.Target = Click, joinPlace(p, in.Target)
		return single(in)
	}
	var out []Reading
	for _, l := range a.lists(rest) {
		reading := in
		described := false
		for _, item := range l.items {
			q := a.phraseAt(item, 0)
			described = described || a.isDescribed(&q)
			v, _ := a.valueOf(item)
			if v.From != nil || q.Name != "" && v.Date == nil && v.Number == nil {
				v = Value{Text: q.Name, Quoted: q.Exact}
				if f, ok := number(q.Name); ok {
					v.Number = &f
				}
			}
			reading.Values = append(reading.Values, v)
		}
		if described {
			item := a.targets(rest)[0].Phrase
			reading.Values, reading.Item = nil, item
			out = append(out, Reading{[]Instruction{reading}, l.prior})
			break
		}
		out = append(out, Reading{[]Instruction{reading}, l.prior})
	}
	return out
}

// roles reads "choose A as X and B as Y", "choose A from X and B from Y".
func (a *act) roles(s span) []Instruction {
	var out []Instruction
	for _, e := range a.entries(s, "from") {
		v, _ := a.valueOf(e.value)
		out = append(out, Instruction{Kind: Choose, Text: e.text.text(a.src), Values: []Value{v}, Target: a.phrase(e.field)})
	}
	if len(out) > 0 {
		return out
	}
	for len(s) > 0 {
		i, n := a.joint(s, false, "as")
		if i <= 0 {
			return nil
		}
		end := i + n + 1
		for end < len(s) && !a.linkAhead(s[end:]) {
			end++
		}
		v, _ := a.valueOf(s[:i])
		out = append(out, Instruction{Kind: Choose, Text: s[:end].text(a.src), Values: []Value{v}, Target: a.phrase(s[i+n : end])})
		if end < len(s) {
			_, m := a.link(s, end)
			end += m
		}
		s = s[end:]
	}
	return out
}

// kindAndName splits "the role Editor" where no word says which of the two is which.
func (a *act) kindAndName(s span) (span, span, bool) {
	_, n := a.articles.match(s)
	i := n
	for i < len(s) && s[i].kind == word && !s[i].capital() {
		i++
	}
	if a.capitals || n == 0 || i == n || i == len(s) || i > n+2 || a.nouns.has(s[n:]) || a.things.has(s[n:]) || a.looks.has(s[n:]) || a.ordinals.has(s[n:]) {
		return nil, nil, false
	}
	for _, t := range s[i:] {
		if !t.capital() {
			return nil, nil, false
		}
	}
	return s[n:i], s[i:], true
}

// readPeriod reads "the range from 1 May to 4 May".
func readPeriod(a *act, s span) []Reading {
	for i := range s {
		if code, _ := a.dates.match(s[i:]); code != "from" && i > 0 {
			continue
		}
		both := a.dateRange(s[i:])
		if both == nil {
			continue
		}
		in := Instruction{Kind: Choose, Values: both}
		if i > 0 {
			in.Target = a.phrase(s[:i])
		}
		return single(in)
	}
	return nil
}

// isDescribed reports whether a phrase says more of what is chosen than its name.
func (r *statementReader) isDescribed(p *Phrase) bool {
	return p.Ordinal != 0 || p.All || p.Count != 0 || len(p.Relations) > 0 || p.Looks != nil || p.Extreme != nil || p.State != nil || p.Name == "" || len(p.Except) > 0
}

func joinPlace(p, place *Phrase) *Phrase {
	if place != nil {
		p.Relations = append(p.Relations, Relation{In, *place})
	}
	return p
}

// container reports whether words describe what has options.
func (r *statementReader) container(s span) bool {
	if len(s) == 0 {
		return false
	}
	if r.articles.has(s) || s[0].kind == quoted || r.quantities.has(s) {
		return true
	}
	for i := range s {
		if r.nouns.has(s[i:]) {
			return true
		}
	}
	return false
}

// readCheck reads "check A, B and C", "turn on the switch", "uncheck all boxes except A".
func readCheck(a *act, s span) []Reading {
	kind := Check
	if a.code == "uncheck" {
		kind = Uncheck
	}
	if len(s) == 0 {
		return nil
	}
	var out []Reading
	for _, t := range a.targets(s) {
		boxes(t.Phrase)
		out = append(out, Reading{[]Instruction{{Kind: kind, Target: t.Phrase}}, t.prior})
	}
	if a.code == "turn_on" && a.verb != "turn on" && a.verb != "switch on" {
		out = append(out, Reading{[]Instruction{{Kind: Activate, Verb: a.verb, Target: a.phrase(s)}}, 0.4})
	}
	return out
}

// boxes are check boxes where something is checked.
func boxes(p *Phrase) {
	if low := strings.ToLower(p.Noun); low == "box" || low == "boxes" {
		p.Roles = []string{"checkbox", "switch", "menuitemcheckbox"}
	}
	for i := range p.Others {
		boxes(&p.Others[i])
	}
}

// readCopied reads "copy X into Y" and "paste it into Y".
func readCopied(a *act, s span) []Reading {
	in := Instruction{Kind: Copy}
	if a.code == "paste" {
		in.Target = &Phrase{Pronoun: true}
		if i, n := a.into(append(span{{kind: word, low: "it", text: "it"}}, s...)); i > 0 {
			whole := append(span{{}}, s...)
			what := whole[1:i].trim()
			if len(what) > 0 && what.hasQuoted() {
				return a.fill(s)
			}
			in.To = a.phrase(whole[i+n:])
			return single(in)
		}
		if len(s) > 0 && s.hasQuoted() {
			return a.fill(s)
		}
		return single(in)
	}
	i, n := a.joint(s, true, "into", "to")
	if into, m := a.into(s); i <= 0 && a.finalVerb && into > 0 && a.field(s[into+m:]) {
		i, n = into, m // "kopiere X in das Feld"
	}
	if i > 0 {
		in.Target, in.To = a.source(s[:i].trim()), a.phrase(s[i+n:])
		return single(in)
	}
	if len(s) == 0 {
		return nil
	}
	in.Target = a.source(s)
	return single(in)
}

// readAdjust reads "increase the quantity to 3", "lower the volume by 10".
func readAdjust(a *act, s span) []Reading {
	in := Instruction{Kind: Adjust}
	i, n := a.joint(s, true, "to", "into")
	by := -1
	for j := range s {
		if s[j].is("by") || s[j].is("um") {
			by = j
		}
	}
	switch {
	case by >= 0 && by+1 < len(s):
		in.Values = []Value{a.value(s[by+1:])}
		s = s[:by]
	case i >= 0 && i+n < len(s):
		in.Values = []Value{a.value(s[i+n:])}
		s = s[:i]
		if s = s.trim(); len(s) > 0 {
			in.Target = a.phrase(s)
		}
		return single(in)
	}
	switch a.code {
	case "increase":
		in.By = 1
	case "decrease":
		in.By = -1
	default:
		return nil
	}
	if s = s.trim(); len(s) > 0 {
		in.Target = a.phrase(s)
	}
	return single(in)
}

// readWait reads "wait 2 seconds", "wait until X is shown", "wait for the list".
func readWait(a *act, s span) []Reading {
	if d, n := a.duration(s); n > 0 && n >= len(s)-1 {
		return single(Instruction{Kind: Wait, Duration: d})
	}
	if len(s) > 0 {
		if code, n := a.joints.match(s); (code == "for" || code == "until" || s[0].is("auf")) && n < len(s) {
			if d, m := a.duration(s[n:]); m == len(s)-n {
				return single(Instruction{Kind: Wait, Duration: d})
			}
			s = s[n:]
		}
	}
	if len(s) == 0 {
		return nil
	}
	for i := 1; i < len(s)-1; i++ {
		// "for the list to load"
		if code, n := a.predicates.match(s[i+1:]); s[i].is("to") && n > 0 && i+1+n == len(s) {
			if asserted, ok := a.state(Assertion{Text: s.text(a.src)}, s[:i], code); ok {
				return single(Instruction{Kind: WaitFor, Assertion: &asserted})
			}
		}
	}
	asserted, ok := a.assertion(s)
	if !ok {
		p := a.phrase(s)
		asserted = Assertion{Text: s.text(a.src), Subject: p, Property: IsVisible}
	}
	return single(Instruction{Kind: WaitFor, Assertion: &asserted})
}

// duration reads "2 seconds", "half a second", "500ms".
func (r *statementReader) duration(s span) (time.Duration, int) {
	n := 0
	for n < len(s) && (s[n].is("about") || s[n].is("for") || s[n].is("etwa") || s[n].is("für") || s[n].is("another")) {
		n++
	}
	if n >= len(s) {
		return 0, 0
	}
	w := s[n].low
	end := 0
	for end < len(w) && (w[end] >= '0' && w[end] <= '9' || w[end] == '.' || w[end] == ',') {
		end++
	}
	f, ok := number(w[:end])
	m := 1
	if ok && end < len(w) {
		if ms, known := r.units.codes[w[end:]]; known {
			return milliseconds(f, ms), n + 1
		}
		return 0, 0
	}
	if !ok {
		var c int
		c, m = r.count(s[n:])
		f = float64(c)
		if m == 0 && (s[n].is("a") || s[n].is("eine")) {
			f, m = 1, 1
		}
	}
	if m == 0 || n+m >= len(s) {
		return 0, 0
	}
	ms, u := r.units.match(s[n+m:])
	if u == 0 {
		return 0, 0
	}
	return milliseconds(f, ms), n + m + u
}

func milliseconds(f float64, unit string) time.Duration {
	u, err := strconv.Atoi(unit)
	if err != nil || f < 0 || f > 1e6 {
		return 0
	}
	return time.Duration(f * float64(u) * float64(time.Millisecond))
}
