package intent

import "strings"

// act is an instruction while it is read: its verb and the words after it.
type act struct {
	*segmentReader
	code, verb string
	times      int
}

// act reads the words after a verb, in each way that the verb allows.
func (r *segmentReader) act(code, verb string, body, whole span) []Reading {
	a := &act{segmentReader: r, code: code, verb: strings.ToLower(verb)}
	body = body.trim()
	body, a.times = r.often(body)
	if manner, n := r.manners.matchEnd(body); n > 0 && n < len(body) && (code == "click" || code == "open" || code == "choose") {
		code, body = manner, body[:len(body)-n].trim()
		a.code = code
	}
	if len(body) > 1 && len(whole) > 0 && len(body) < len(whole) {
		// "klicke dreimal auf X": the preposition of the verb.
		if code != "scroll" && a.takes(body[0]) {
			body = body[1:]
		}
	}
	body = a.relinked(body)
	var out []Reading
	if read := rule(code); read != nil {
		out = read(a, body)
	} else if base, ok := strings.CutPrefix(code, "activate "); ok {
		a.verb = base
		out = readActivity(a, body)
	} else {
		out = a.simple(Kind(code), body)
	}
	for i := range out {
		for j := range out[i].Instructions {
			in := &out[i].Instructions[j]
			if in.Text == "" {
				in.Text = whole.text(r.src)
			}
			if in.Times == 0 {
				in.Times = a.times
			}
		}
	}
	return out
}

// takes reports whether a word is a preposition of the verb: "klicken auf".
func (a *act) takes(t token) bool {
	head, _, _ := strings.Cut(a.verb, " ")
	for _, base := range append([]string{head}, bases(head, a.lang)...) {
		if _, n := a.verbs.match(span{{kind: word, low: base}, t}); n == 2 && t.kind == word {
			return true
		}
	}
	return false
}

// relinked removes the preposition of the verb from further things: "klicke auf A, dann
// auf B".
func (a *act) relinked(s span) span {
	var out span
	for i := range s {
		if i > 0 && i+1 < len(s) && (s[i-1].is(",") || a.and.has(s[i-1:i]) || a.sequels.has(s[i-1:i])) && a.takes(s[i]) {
			continue
		}
		out = append(out, s[i])
	}
	return out
}

// rule returns what reads the words after a verb of a code; nil where the verb only
// takes what it acts on.
func rule(code string) func(*act, span) []Reading {
	switch code {
	case "click":
		return (*act).click
	case "press":
		return (*act).press
	case "open":
		return (*act).open
	case "go":
		return (*act).visit
	case "fill", "append":
		return (*act).fill
	case "set":
		return (*act).set
	case "use", "hint":
		return readUse
	case "replace":
		return (*act).replace
	case "choose":
		return readChoose
	case "check", "turn_on", "uncheck":
		return readCheck
	case "copy", "paste":
		return readCopied
	case "increase", "decrease", "slide":
		return readAdjust
	case "scroll":
		return readScroll
	case "drag", "move":
		return readDrag
	case "sort":
		return readSort
	case "upload":
		return readUpload
	case "wait":
		return readWait
	}
	return ruleOfPage(code)
}

// ruleOfPage is rule for verbs that concern the page or what is open on it.
func ruleOfPage(code string) func(*act, span) []Reading {
	switch code {
	case "accept", "dismiss":
		return readConsent
	case "window":
		return readWindow
	case "back", "forward", "reload":
		return readHistory
	case "resize":
		return readResize
	case "log_in":
		return readLogIn
	case "search":
		return readSearch
	case "submit":
		return readSubmit
	case "focus", "toggle":
		return (*act).click
	case "leave":
		return readLeave
	case "close":
		return readCloses
	}
	return nil
}

func single(in Instruction) []Reading { return []Reading{{[]Instruction{in}, 1}} }

// simple is a verb with what it acts on.
func (a *act) simple(kind Kind, s span) []Reading {
	if len(s) == 0 {
		return nil
	}
	var out []Reading
	for _, t := range a.targets(s) {
		out = append(out, Reading{each(Instruction{Kind: kind, Target: t.Phrase}), t.prior})
	}
	if p := a.loosely(s); p != nil && len(out) == 1 {
		out[0].Prior = 0.5
		out = append([]Reading{{[]Instruction{{Kind: kind, Target: p}}, 0.6}}, out...)
	}
	return out
}

// loosely reads "Delete for Bob", where the preposition can also be within the name.
func (a *act) loosely(s span) *Phrase {
	if s.hasQuoted() || a.articles.has(s) {
		return nil
	}
	for i := 1; i+1 < len(s); i++ {
		if (s[i].is("for") || s[i].is("für") || s[i].is("von")) && s[i+1].capital() && s[0].capital() && a.relationAt(s, false) < 0 {
			p := a.phrase(s[:i])
			p.Text = s.text(a.src)
			p.Relations = append(p.Relations, Relation{Of, a.phraseAt(s[i+1:], 1)})
			return p
		}
	}
	return nil
}

// each makes an instruction for each of the further names of a target, for kinds that
// act on one thing at a time.
func each(in Instruction) []Instruction {
	if in.Target == nil || len(in.Target.Others) == 0 {
		return []Instruction{in}
	}
	others := in.Target.Others
	first := *in.Target
	first.Others = nil
	in.Target = &first
	out := []Instruction{in}
	for i := range others {
		next := in
		next.Target = &others[i]
		out = append(out, next)
	}
	return out
}

// often removes how often something is done: "twice", "3 times".
func (r *statementReader) often(s span) (span, int) {
	for i := range s {
		if s[i].kind != word {
			continue
		}
		if v, n := r.count(s[i:]); n > 0 {
			switch {
			case i+n < len(s) && (s[i+n].is("times") || s[i+n].is("mal") || s[i+n].is("time") || s[i+n].is("x") && i+n+1 == len(s)):
				return s.without(i, i+n+1), v
			case s[i].is("twice") || s[i].is("thrice") || s[i].is("once") && i+n == len(s):
				return s.without(i, i+n), v
			}
		}
		if n, ok := strings.CutSuffix(s[i].low, "mal"); ok && r.lang == "de" && n != "" {
			part := s[i]
			part.low = n
			if v, m := r.count(span{part}); m > 0 {
				return s.without(i, i+1), v
			}
		}
	}
	return s, 0
}

// click reads a click: on one thing, on several, or along a path of menus.
func (a *act) click(s span) []Reading {
	s = a.purposeless(s)
	if len(s) == 0 {
		return nil
	}
	if path := a.path(s); len(path) > 1 {
		return []Reading{{path, 1}}
	}
	for i := range s {
		// "click the numbers in ascending order"
		code, n := a.predicates.match(s[i:])
		if i > 0 && n > 1 && i+n == len(s) && (code == "ascending" || code == "descending") {
			p := a.phrase(s[:i])
			p.All = true
			return single(Instruction{Kind: Click, Target: p, Order: code})
		}
	}
	if target := a.placedFirst(s); target != nil {
		return single(Instruction{Kind: Click, Target: target})
	}
	out := a.simple(Click, s)
	if len(out) == 2 && len(out[0].Instructions) > 1 {
		// One name with "and" in it is likelier than two that are clicked.
		out[0], out[1] = out[1], out[0]
		out[0].Prior, out[1].Prior = 0.6, 0.5
	}
	return out
}

// placedFirst reads a target whose place comes first: "in the row of Ann on Delete".
func (a *act) placedFirst(s span) *Phrase {
	if _, n := a.relations.match(s); n == 0 || n >= len(s) {
		return nil
	}
	for i := len(s) - 2; i > 1; i-- {
		if s[i].is("on") || s[i].is("auf") {
			p := a.phrase(s[i+1:])
			a.relate(s[:i], p, 1)
			return p
		}
	}
	return nil
}

// purposeless removes what something is done for: "click Edit to change the name".
func (r *segmentReader) purposeless(s span) span {
	for i := 1; i < len(s)-1; i++ {
		if (s[i].is("to") || s[i].is("um")) && r.complete(s[:i]) {
			if _, n := r.verbs.match(s[i+1:]); n > 0 {
				return s[:i]
			}
			if s[i].is("um") {
				return s[:i]
			}
		}
		if s[i].is("in") && i+2 < len(s) && s[i+1].is("order") && s[i+2].is("to") {
			return s[:i]
		}
	}
	return s
}

// complete reports whether a target is said in full.
func (r *segmentReader) complete(s span) bool {
	return s[len(s)-1].kind == quoted || s[len(s)-1].is(",") || r.describes(s)
}

// path reads "File > Export > PDF".
func (a *act) path(s span) []Instruction {
	var out []Instruction
	begin := 0
	for i := 0; i <= len(s); i++ {
		if i < len(s) && !(s[i].kind == mark && (s[i].text == ">" || s[i].text == "→" || s[i].text == "->" || s[i].text == ">>" || s[i].text == "»" || s[i].text == "›" || s[i].text == "|")) {
			continue
		}
		if part := s[begin:i].trim(); len(part) > 0 {
			out = append(out, Instruction{Kind: Click, Target: a.phrase(part)})
		}
		begin = i + 1
	}
	return out
}

// press is a key, or a button.
// keyList reads one or several keys: "Enter", "Ctrl+A", "the Tab key", "A, then B".
// key reads a key with its modifiers.
// open opens an address, or something on the page.
// address returns the address that a span consists of.
// domain reports whether a word is a host with or without a path: "example.com/login".
// visit goes to an address or a page.
