package intent

import "strings"

// readUse reads "use the slider to select 42": what is done, in what is used.
func readUse(a *act, s span) []Reading {
	for i := 1; i < len(s)-1; i++ {
		if !s[i].is("to") && !s[i].is("and") && !s[i].is("um") && !s[i].is(",") {
			continue
		}
		code, n, verb := a.segmentReader.verb(s[i+1:])
		if n == 0 {
			continue
		}
		out := a.act(code, verb, s[i+1+n:], s)
		if a.code == "hint" {
			return out
		}
		tool := a.phrase(s[:i].trim())
		for j := range out {
			in := &out[j].Instructions[0]
			if (in.Kind == Choose || in.Kind == Fill) && (first(tool.Roles) == "slider" || first(tool.Roles) == "spinbutton") {
				in.Kind = Adjust
			}
			if in.Target == nil {
				in.Target = tool
			} else if !in.Target.Pronoun {
				in.Target.Relations = append(in.Target.Relations, Relation{In, *tool})
			}
		}
		return out
	}
	return nil
}

// placeAt reads where something is moved to.
func (r *statementReader) placeAt(s span) (Place, int, int) {
	code, n := r.relations.match(s)
	switch RelationKind(code) {
	case Above, Ahead:
		return Before, n, 0
	case Under, Behind:
		return After, n, 0
	}
	if code, n := r.directions.match(s); n > 1 && (n == len(s) || s[n].is("of") || s[n].is("der") || s[n].is("des") || s[n].is("in") || s[n].is("von")) {
		switch code {
		case "top":
			return First, n, 0
		case "bottom":
			return Last, n, 0
		}
	}
	i := 0
	for i < len(s) && i < 3 && (r.joints.has(s[i:]) || r.articles.has(s[i:])) {
		i++
	}
	if i > 0 && i < len(s) {
		if o, m := r.ordinal(s[i:]); m > 0 && i+m < len(s) && (strings.HasPrefix(s[i+m].low, "pos") || s[i+m].is("place") || s[i+m].is("stelle") || s[i+m].is("spot") || s[i+m].is("slot")) {
			switch o {
			case 1:
				return First, i + m + 1, 0
			case -1:
				return Last, i + m + 1, 0
			}
			return At, i + m + 1, o
		}
		if strings.HasPrefix(s[i].low, "pos") && i+1 < len(s) {
			if v, m := r.count(s[i+1:]); m > 0 {
				return At, i + 1 + m, v
			}
		}
	}
	return "", 0, 0
}

// readSort reads "sort the numbers in increasing order".
func readSort(a *act, s span) []Reading {
	in := Instruction{Kind: Sort}
	if out, done := a.sortedSo(s); done {
		return out
	}
	for i := range s {
		code, n := a.predicates.match(s[i:])
		if n > 0 && (code == "ascending" || code == "descending") {
			in.Order = code
			s = s[:i].trim()
			break
		}
	}
	for i := 1; i+1 < len(s); i++ {
		if s[i].is("by") || s[i].is("nach") {
			in.Details = append(in.Details, Detail{Name: "by", Value: a.value(s[i+1:])})
			s = s[:i]
			break
		}
	}
	if len(s) > 0 {
		in.Target = a.phrase(s)
	}
	if in.Order == "" {
		in.Order = "ascending"
		if a.verb == "order" {
			return []Reading{{[]Instruction{{Kind: Activate, Verb: "order", Target: in.Target}}, 0.7}}
		}
	}
	return single(in)
}

// sortedSo reads "reorder the items so that C is first".
func (a *act) sortedSo(s span) ([]Reading, bool) {
	for i := 1; i < len(s); i++ {
		_, n := a.purposes.match(s[i:])
		if n == 0 {
			continue
		}
		tail := s[i+n:]
		at := a.statement(tail)
		if at <= 0 || at+1 >= len(tail) {
			return nil, true
		}
		in := Instruction{Kind: Drag, Target: a.phrase(tail[:at])}
		place := tail[at+1:]
		if o, m := a.ordinal(place); m == len(place) && (o == 1 || o == -1) {
			in.Place = map[int]Place{1: First, -1: Last}[o]
			return single(in), true
		}
		if p, m, _ := a.placeAt(place); m > 0 && p != At {
			in.Place = p
			if m < len(place) {
				in.To = a.phrase(place[m:])
			}
			return single(in), true
		}
		return nil, true
	}
	return nil, false
}

// readUpload reads "upload a.txt into the field".
func readUpload(a *act, s span) []Reading {
	in := Instruction{Kind: Upload}
	if i, n := a.joint(s, true, "into", "to", "in", "as"); i > 0 {
		in.Target = a.phrase(s[i+n:])
		s = s[:i].trim()
	}
	if len(s) > 0 {
		v, _ := a.valueOf(s)
		for _, t := range s {
			if t.kind == quoted || t.kind == word && strings.Contains(t.text, ".") {
				v = Value{Text: t.text, Quoted: t.kind == quoted}
				break
			}
		}
		if v.From != nil {
			v = Value{}
		}
		in.Values = []Value{v}
	}
	return single(in)
}

// readConsent reads "accept the alert", "dismiss the dialog".
func readConsent(a *act, s span) []Reading {
	in := Instruction{Kind: Kind(a.code)}
	if i, n := a.joint(s, false, "with"); i > 0 && s.hasQuoted() {
		in.Values = []Value{a.value(s[i+n:])}
		s = s[:i].trim()
	}
	if len(s) > 0 {
		in.Target = a.phrase(s)
		if in.Kind == Dismiss && in.Target.Name == "" && strings.HasPrefix(first(in.Target.Roles), "dialog") {
			return []Reading{{[]Instruction{in}, 0.6}, {[]Instruction{{Kind: Close, Target: in.Target}}, 0.6}}
		}
	}
	return single(in)
}

// readWindow reads "switch to the new tab", "switch back".
func readWindow(a *act, s span) []Reading {
	if len(s) == 0 || s[0].is("back") || s[0].is("zurück") {
		return single(Instruction{Kind: Window, Place: First})
	}
	p := a.phrase(s)
	low := strings.ToLower(p.Text)
	isWindow := strings.Contains(low, "window") || strings.Contains(low, "fenster") || first(p.Roles) == "page"
	tab := first(p.Roles) == "tab" || strings.Contains(low, "tab")
	isNew := strings.Contains(low, "new") || strings.Contains(low, "neu") || p.Ordinal == -1
	in := Instruction{Kind: Window, Target: p}
	switch {
	case strings.HasSuffix(a.verb, "back to") || strings.HasPrefix(a.verb, "return") || p.Ordinal == 1 || strings.Contains(low, "original") || strings.Contains(low, "main window"):
		in.Place = First
	case isNew:
		in.Place, p.Name = Last, ""
	}
	if isWindow || tab && isNew {
		return single(in)
	}
	click := Instruction{Kind: Click, Target: p}
	if tab {
		return []Reading{{[]Instruction{click}, 0.8}, {[]Instruction{in}, 0.4}}
	}
	return []Reading{{[]Instruction{click}, 0.7}, {[]Instruction{in}, 0.5}}
}

// readHistory reads "go back", "reload the page".
func readHistory(a *act, s span) []Reading {
	in := Instruction{Kind: Kind(a.code)}
	if a.code == "back" && len(s) > 0 {
		if _, n := a.joints.match(s); n > 0 && n < len(s) {
			p := a.phrase(s[n:])
			if first(p.Roles) == "page" && p.Name == "" || strings.Contains(strings.ToLower(p.Text), "previous") || strings.Contains(strings.ToLower(p.Text), "vorherig") {
				return single(in)
			}
			click := Instruction{Kind: Click, Verb: "open", Target: p}
			return []Reading{{[]Instruction{in}, 0.5}, {[]Instruction{click}, 0.6}}
		}
	}
	return single(in)
}

// readResize reads "resize the window to 800x600".
func readResize(a *act, s span) []Reading {
	var values []Value
	for _, t := range s {
		for _, part := range strings.FieldsFunc(t.low, func(c rune) bool { return c == 'x' || c == '×' || c == '*' }) {
			if f, ok := number(part); ok && f > 0 {
				values = append(values, Value{Text: part, Number: &f})
			}
		}
	}
	if len(values) == 2 {
		return single(Instruction{Kind: Resize, Values: values})
	}
	return nil
}

// readSubmit reads "submit", "submit the form", "submit the answer".
func readSubmit(a *act, s span) []Reading {
	if len(s) == 0 {
		return single(Instruction{Kind: Submit})
	}
	p := a.phrase(s)
	return single(Instruction{Kind: Submit, Target: p})
}

// readCloses reads "close the dialog", "close it".
func readCloses(a *act, s span) []Reading {
	if i, _ := a.joint(s, false, "with"); i > 0 {
		s = s[:i].trim()
	}
	if len(s) == 0 {
		return single(Instruction{Kind: Close})
	}
	return a.simple(Close, s)
}

// readLeave reads "leave the notes empty", which is nothing to do but to clear.
func readLeave(a *act, s span) []Reading {
	code, n := a.states.matchEnd(s)
	if n == 0 || n >= len(s) {
		return nil
	}
	switch code {
	case "empty":
		return single(Instruction{Kind: Clear, Target: a.phrase(s[:len(s)-n])})
	case "checked":
		return single(Instruction{Kind: Check, Target: a.phrase(s[:len(s)-n])})
	case "!checked":
		return single(Instruction{Kind: Uncheck, Target: a.phrase(s[:len(s)-n])})
	}
	return nil
}

// readActivity reads any other verb with what it is done to: "reply to the mail of Ann with
// the text "x"", "add two lamps to the cart", "book a flight from A to B on 12/05/2016".
// details takes what is said of an activity by prepositions: from where, to where, when,
// for how many. A single "to" or "from" is no detail but where something goes or belongs.
// travels are the activities of which is said from where and to where.
// dated reports whether a span begins with a date.
