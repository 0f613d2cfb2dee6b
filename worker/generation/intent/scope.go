package intent

import (
	"strings"
	"time"
)

// place adds the sentence's place to what an instruction is about.
func (w *sentenceReader) place(in *Instruction) {
	if len(w.scope) == 0 {
		return
	}
	switch {
	case in.Target != nil && !in.Target.Pronoun:
		in.Target.Relations = append(in.Target.Relations, w.scope...)
	case in.Assertion != nil && in.Assertion.Subject != nil:
		in.Assertion.Subject.Relations = append(in.Assertion.Subject.Relations, w.scope...)
	case in.Item != nil:
		in.Item.Relations = append(in.Item.Relations, w.scope...)
	case in.Target == nil && (in.Kind == Fill || in.Kind == Append) && w.scope[0].Noun != "" && !fieldRole(strings.Join(w.scope[0].Roles, " ")):
		in.Target = &Phrase{Text: w.scope[0].Text, Roles: []string{"textbox", "searchbox", "combobox", "spinbutton"}, Relations: w.scope}
	case in.Target == nil && (in.Kind == Choose || in.Kind == Fill || in.Kind == Append || in.Kind == Adjust || in.Kind == Upload):
		p := w.scope[0].Phrase
		in.Target = &p
	}
}

// placeEnd returns where a place at the start of a segment ends, without a comma: "In
// the row of Ann click Delete".
func (w *sentenceReader) placeEnd(s span) int {
	if !w.relations.has(s) || w.articles.has(s) || w.endsInVerb(s) {
		return 0
	}
	for i := 2; i < len(s)-1; i++ {
		code, n, _ := w.verb(s[i:])
		if n > 0 && !s[i].capital() && !strings.HasPrefix(code, "activate") && !w.nounAfter(s[i:], n) && (w.describes(s[:i]) || s[i-1].is(",")) {
			return i
		}
	}
	return 0
}

// placed reads a segment that only says where: "In the row of Ann, ...".
func (w *sentenceReader) placed(s span) bool {
	code, n := w.relations.match(s)
	if n == 0 || n >= len(s) || w.articles.has(s) || w.isVerb(s) || w.endsInVerb(s) || w.statement(s) >= 0 {
		return false
	}
	w.scope = append(w.scope, Relation{RelationKind(code), w.phraseAt(s[n:], 1)})
	return true
}

// standing reads where one is: "(given) I am on the login page" opens it, "I should be on
// the login page" asserts it.
func (w *sentenceReader) standing(s, body span) []Reading {
	for len(body) > 2 && w.modals.has(body) && w.relations.has(body[1:]) {
		body = body[1:]
	}
	_, n := w.relations.match(body)
	if n == 0 || n >= len(body) || len(body) == len(s) || w.statement(body) >= 0 {
		return nil
	}
	p := w.phrase(body[n:])
	if first(p.Roles) != "page" && w.address(body[n:]) == "" {
		return nil
	}
	asserts := w.outcome
	for i := 0; i < len(s)-len(body); i++ {
		code, m := w.modals.match(s[i:])
		asserts = asserts || m > 0 && code == "should"
	}
	if asserts {
		return single(Instruction{Kind: Assert, Assertion: &Assertion{Text: s.text(w.src), Subject: p, Property: IsVisible}})
	}
	if u := w.address(body[n:]); u != "" {
		return single(Instruction{Kind: Open, URL: u})
	}
	return single(Instruction{Kind: Open, Target: p})
}

// denied reads what must not be done, where the negation is after the verb: "klicke
// nicht auf X".
func (w *sentenceReader) denied(body span) (string, string, span, bool) {
	for i := 1; i < len(body); i++ {
		if !body[i].is("nicht") && !body[i].is("niemals") && !body[i].is("nie") {
			continue
		}
		rest := body.without(i, i+1)
		code, verb, object, ok := w.verbPhrase(rest)
		return code, verb, object, ok && !w.modalIn(body)
	}
	return "", "", nil, false
}

func deny(readings []Reading) {
	for i := range readings {
		for j := range readings[i].Instructions {
			a := readings[i].Instructions[j].Assertion
			switch a.Property {
			case IsVisible:
				a.Property = IsHidden
			default:
				a.Not = !a.Not
			}
		}
	}
}

func (w *sentenceReader) within(s span) (span, time.Duration) {
	for i := 1; i+1 < len(s); i++ {
		if !s[i].is("within") && !s[i].is("innerhalb") && !s[i].is("in") && !s[i].is("after") && !s[i].is("nach") {
			continue
		}
		tail := s[i+1:]
		if tail[0].is("von") || tail[0].is("at") {
			tail = tail[1:]
		}
		if d, n := w.duration(tail); n > 0 && n == len(tail) {
			return s[:i].trim(), d
		}
	}
	return s, 0
}

// trailing reads a condition at the end: "close the popup if there is one".

// pressedThere prefers the button to the key where a sentence says in what it is: "In the
// dialog press Delete".
func pressedThere(readings []Reading) {
	if len(readings) != 2 || len(readings[0].Instructions) != 1 || len(readings[1].Instructions) != 1 {
		return
	}
	if readings[0].Instructions[0].Kind == Press && readings[1].Instructions[0].Kind == Click {
		readings[0].Prior, readings[1].Prior = readings[1].Prior, readings[0].Prior
		readings[0], readings[1] = readings[1], readings[0]
	}
}
