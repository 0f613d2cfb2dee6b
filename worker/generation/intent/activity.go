package intent

import "strings"

// readLogIn reads "log in as ann with password x".
func readLogIn(a *act, s span) []Reading {
	in := Instruction{Kind: LogIn}
	if len(s) == 0 || a.nouns.has(s) {
		return single(Instruction{Kind: Activate, Verb: "log in"})
	}
	var values []Value
	for _, t := range s {
		if t.kind == quoted || t.kind == variable {
			values = append(values, Value{Text: t.text, Quoted: t.kind == quoted})
		}
	}
	if len(values) == 2 {
		in.Values = values
		return single(in)
	}
	values = nil
	for _, part := range a.credentials(s) {
		values = append(values, a.value(part))
	}
	switch len(values) {
	case 1, 2:
		in.Values = values
		return single(in)
	}
	return single(Instruction{Kind: Activate, Verb: "log in"})
}

// credentials returns the words for the user and the password.
func (r *statementReader) credentials(s span) []span {
	var out []span
	var part span
	flush := func() {
		if part = part.trim(); len(part) > 0 {
			out = append(out, part)
		}
		part = nil
	}
	for i := 0; i < len(s); i++ {
		t := s[i]
		switch {
		case t.kind == quoted || t.kind == variable:
			flush()
			part = span{t}
			flush()
		case t.kind == mark && !t.is("."), r.joints.has(s[i:]) || r.and.has(s[i:]) || r.articles.has(s[i:]), credentialWords[t.low]:
			flush()
		default:
			part = append(part, t)
		}
	}
	flush()
	return out
}

// credentialWords stand before what one logs in with.
var credentialWords = map[string]bool{
	"user": true, "username": true, "name": true, "login": true, "email": true, "mail": true, "password": true, "pass": true, "credentials": true,
	"benutzer": true, "benutzername": true, "benutzernamen": true, "nutzer": true, "passwort": true, "kennwort": true, "e-mail": true, "address": true, "account": true, "id": true,
}

// readSearch reads "search for lamps in the shop".
func readSearch(a *act, s span) []Reading {
	in := Instruction{Kind: Activate, Verb: "search"}
	if len(s) > 0 && s[0].is("for") {
		s = s[1:]
	}
	if len(s) > 0 && s[0].is("nach") {
		s = s[1:]
	}
	if _, n := a.relations.match(s); n > 0 {
		// "suche im Suchfeld nach X"
		for i := 2; i+1 < len(s); i++ {
			if s[i].is("nach") || s[i].is("for") {
				in.Target, s = a.phrase(s[n:i]), s[i+1:]
				break
			}
		}
	}
	if i, n := a.into(s); i > 0 {
		in.Target = a.phrase(s[i+n:])
		s = s[:i].trim()
	}
	if len(s) == 0 {
		return single(in)
	}
	v, _ := a.valueOf(s)
	if v.From != nil {
		v = Value{Text: v.From.Name}
		if v.Text == "" {
			v.Text = s.text(a.src)
		}
	}
	in.Values = []Value{v}
	if strings.HasPrefix(a.verb, "look") {
		return []Reading{{[]Instruction{{Kind: Find, Target: a.phrase(s)}}, 0.6}, {[]Instruction{in}, 0.5}}
	}
	return single(in)
}

func readActivity(a *act, s span) []Reading {
	in := Instruction{Kind: Activate, Verb: a.verb}
	if out := a.confirmed(s); out != nil {
		return out
	}
	if i, n := a.joint(s, false, "with"); i >= 0 && (s[i+n:].hasQuoted() || n > 1) && !a.nouns.has(s[i+n:]) {
		v, _ := a.valueOf(s[i+n:])
		in.Values = []Value{v}
		s = s[:i].trim()
	}
	s = a.details(s, &in)
	if _, n := a.relations.match(s); n > 0 && n < len(s) && !a.directions.has(s) {
		s = s[n:]
	}
	to := []string{"to", "into", "as"}
	if a.verb == "add" || a.verb == "hinzufügen" || a.verb == "save" || a.verb == "put" {
		to = append(to, "in")
	}
	var more []span
	if i, n := a.joint(s, true, to...); i > 0 {
		place := s[i+n:]
		if items := a.list(place); len(items) > 1 && !place.hasQuoted() && a.nouned(items[0]) {
			place, more = items[0], items[1:] // "A to the cart, then B"
		}
		in.To = a.phrase(place)
		s = s[:i].trim()
	} else if n > 0 && len(s) > n {
		s = s[n:]
	}
	prior := 0.0
	var whole *Phrase
	if len(s) > 0 {
		amount, n := a.count(s)
		if n >= len(s) {
			n = 0
		}
		targets := a.targets(s[n:])
		in.Target = targets[0].Phrase
		if len(targets) > 1 {
			prior, whole = targets[1].prior, targets[1].Phrase
		}
		if n > 0 {
			in.Target.Count, in.Target.All = amount, false
		}
		for _, item := range more {
			in.Target.Others = append(in.Target.Others, a.phraseAt(item, 1))
		}
	}
	if in.To != nil && in.Target != nil && in.To.Name != "" && a.finished.codes[strings.ToLower(in.To.Name)] != "" {
		// "mark X as done"
		return []Reading{{[]Instruction{{Kind: Check, Target: in.Target}}, 0.7}, {[]Instruction{in}, 0.6}}
	}
	if whole != nil && len(more) == 0 { // "Salt and pepper mill" is one thing or two
		one := in
		one.Target = whole
		return []Reading{{[]Instruction{in}, 0.7}, {[]Instruction{one}, prior}}
	}
	return single(in)
}

// nouned reports whether a span is no more than the word for a place: "the cart".
func (a *act) nouned(s span) bool { return len(s) <= 3 && a.articles.has(s) }

// confirmed reads "confirm with Delete" and "confirm the deletion".
func (a *act) confirmed(s span) []Reading {
	if a.verb != "confirm" && a.verb != "bestätigen" || len(s) == 0 {
		return nil
	}
	bare := Reading{[]Instruction{{Kind: Activate, Verb: a.verb}}, 0.5}
	if i, n := a.joint(s, false, "with"); i >= 0 && n < len(s) {
		click := Instruction{Kind: Click, Target: a.phrase(s[i+n:])}
		return []Reading{{[]Instruction{click}, 0.8}}
	}
	p := a.phrase(s)
	target := Reading{[]Instruction{{Kind: Activate, Verb: a.verb, Target: p}}, 0.5}
	if low := strings.ToLower(p.Name); p.Pronoun || first(p.Roles) == "dialog" || !p.Exact && (strings.HasSuffix(low, "ion") || strings.HasSuffix(low, "ung") || strings.HasSuffix(low, "al")) {
		return []Reading{bare, target}
	}
	return []Reading{target, bare}
}

func (a *act) details(s span, in *Instruction) span {
	var at, length []int
	var names []string
	places := 0
	for i := 1; i < len(s)-1; i++ {
		code, n := a.joints.match(s[i:])
		switch {
		case n == 0 || s[i].kind != word || i+n >= len(s):
			continue
		case code == "from" || code == "to":
			if !travels[in.Verb] {
				continue
			}
			places++
		case (code == "in" || code == "for") && a.dated(s[i+n:]) && (s[i].is("on") || s[i].is("am") || s[i].is("at") || s[i].is("for")):
			code = "date"
		case code == "on" && a.dated(s[i+n:]):
			code = "date"
		default:
			continue
		}
		at, length, names = append(at, i), append(length, n), append(names, code)
		i += n - 1
	}
	if len(at) == 0 || places == 1 && len(at) == 1 && names[0] != "date" || places < 2 && names[0] != "date" {
		return s
	}
	for k := range at {
		end := len(s)
		if k+1 < len(at) {
			end = at[k+1]
		}
		if words := s[at[k]+length[k] : end].trim(); len(words) > 0 {
			for len(words) > 1 && words[0].is(":") {
				words = words[1:]
			}
			in.Details = append(in.Details, Detail{Name: names[k], Value: a.value(words)})
		}
	}
	return s[:at[0]].trim()
}

var travels = map[string]bool{"book": true, "buchen": true, "schedule": true, "search": true, "transfer": true, "order": true}

func (a *act) dated(s span) bool {
	for n := min(len(s), 6); n > 0; n-- {
		if a.date(s[:n]) != nil {
			return true
		}
	}
	return false
}
