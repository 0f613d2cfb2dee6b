// Package reading reads what a test shall do out of prose, by grammar and by the trained tagger.
//
// Grammar (package intent) knows what it reads and refuses the rest; the tagger (package tagger) labels any
// wording, and grammar then reads the parts: things, values, dates. Both account for every word: a reading of
// the tagger that leaves a word that says something out of all slots, or loses a negation, is none. Its readings
// come first where grammar leaves words over, reads no deed where one is likely, or swallows most of a sentence
// as one value. It never asks for what cannot be taken back; the page decides what else is done.
package reading

import (
	"cmp"
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/lexicon"
	"github.com/slipway-qa/slipway/worker/generation/tagger"
)

// Read reads a text by grammar, and by the tagger where grammar leaves words over or is likely to have taken
// a wish for something else.
func Read(source string) intent.Text {
	t := intent.Read(source)
	if strings.TrimSpace(source) == "" || len(t.Readings) > 0 && whole(&t.Readings[0]) && !swallows(t.Readings[0].Goals) &&
		!onlyClaims(t.Readings[0].Goals) {
		return t
	}
	l := &labels{t: tagger.Default(), source: source, lang: t.Lang, tokens: intent.Tokens(source, t.Lang)}
	l.tag()
	if len(t.Readings) > 0 && whole(&t.Readings[0]) && onlyClaims(t.Readings[0].Goals) && !l.asks() {
		return t
	}
	t.Readings = append(l.readings(), t.Readings...)
	return t
}

// swallows reports whether a goal fills in more words than a value has that nobody quoted: most of a sentence.
func swallows(goals []intent.Goal) bool {
	const most = 3
	return slices.ContainsFunc(goals, func(g intent.Goal) bool {
		return g.Effect == intent.Set && slices.ContainsFunc(g.Fields, func(f intent.Field) bool {
			return f.Name == nil && !f.Value.Quoted && f.Value.Date == nil && len(strings.Fields(f.Value.Text)) > most
		})
	})
}

// onlyClaims reports whether goals do nothing.
func onlyClaims(goals []intent.Goal) bool {
	return !slices.ContainsFunc(goals, func(g intent.Goal) bool { return g.Effect != intent.Check })
}

// asks reports whether the tagger is sure that the text asks for a deed.
func (l *labels) asks() bool {
	return slices.ContainsFunc(l.parts, func(p tagger.Part) bool {
		f, ok := phrasings[p.Kind]
		return ok && f.Effect != intent.Check && !p.Forbidden && p.Margin >= certain
	})
}

// certain is how much likelier the kind of a deed is than the next where what grammar takes for a claim is a wish.
const certain = 40

// Tagged returns the readings of a text by a tagger, likeliest first.
func Tagged(t *tagger.Tagger, source, lang string) []intent.Reading {
	l := &labels{t: t, source: source, lang: lang, tokens: intent.Tokens(source, lang)}
	l.tag()
	return l.readings()
}

const (
	// guess and risky are how little likelier a kind may be than the next and be no more than a guess: nothing is
	// tried then. What cannot be taken back, and a text whose words were pressed into slots, need more.
	guess, risky = 3, 15
	// doubtful is how little likelier the kind of a part is than the next where that is tried too.
	doubtful = 40
	// mostDoubts bounds the parts of which another kind is tried.
	mostDoubts = 2
)

// readings are that of the likeliest kinds, and those in which one doubtful part is of another.
func (l *labels) readings() []intent.Reading {
	var out []intent.Reading
	if slices.ContainsFunc(l.parts, l.guessed) {
		return nil
	}
	add := func(r intent.Reading) {
		if whole(&r) && !slices.ContainsFunc(out, func(o intent.Reading) bool { return o.String() == r.String() }) {
			out = append(out, r)
		}
	}
	add(l.reading())
	order := make([]int, len(l.parts))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(l.parts[a].Margin, l.parts[b].Margin) })
	for _, i := range order[:min(len(order), mostDoubts)] {
		p := l.parts[i]
		if p.Kind == "note" || p.Margin > doubtful || harmful[p.Other] || p.Forbidden {
			continue
		}
		l.parts[i] = l.t.As(l.tokens, l.lang, &p, p.Other, l.press)
		add(l.reading())
		l.parts[i] = p
	}
	return out
}

// guessed reports whether the kind of a part is no more than a guess.
func (l *labels) guessed(p tagger.Part) bool {
	least := float32(guess)
	if harmful[p.Kind] || l.press == tagger.Strictly {
		least = risky
	}
	return p.Kind != "note" && p.Margin < least
}

// harmful are the kinds whose deeds cannot be taken back. A guess is no ground for them, and so no reading of the
// tagger has them: what deletes, sends, pays or confirms is done where grammar reads it.
var harmful = map[string]bool{"remove": true, "clear": true, "send": true, "order": true, "confirm": true, "login": true, "logout": true}

// irrevocable reports whether a goal deletes or pays by its verb, whatever its kind is called.
func irrevocable(g intent.Goal) bool { return g.Risk == "destroy" || g.Risk == "pay" }

// forbids reports whether a word of a part says that its deed must not be done.
func (l *labels) forbids(p *tagger.Part) bool {
	for i := max(0, p.First-1); i < p.Last; i++ {
		if l.denies(i) {
			return true
		}
	}
	return false
}

// labels makes goals of a text that is labelled.
type labels struct {
	t            *tagger.Tagger
	source, lang string
	tokens       []intent.Token
	parts        []tagger.Part
	press        float32
}

// tag labels the text: loosely first, and strictly where words would be left over.
func (l *labels) tag() {
	for _, l.press = range []float32{tagger.Loosely, tagger.Strictly} {
		l.parts = l.t.Tag(l.tokens, l.lang, l.press)
		if r := l.reading(); whole(&r) {
			return
		}
	}
}

// phrasings are what the kinds of the tagger mean.
var phrasings = map[string]intent.Phrasing{
	"add": {Effect: intent.Add}, "remove": {Effect: intent.Remove}, "complete": {Effect: intent.Complete}, "reopen": {Effect: intent.Reopen},
	"on": {Effect: intent.Toggle, On: true}, "off": {Effect: intent.Toggle}, "set": {Effect: intent.Set}, "choose": {Effect: intent.Choose},
	"rate": {Effect: intent.Rate}, "edit": {Effect: intent.Edit}, "append": {Effect: intent.Append}, "clear": {Effect: intent.Clear},
	"open": {Effect: intent.Open}, "close": {Effect: intent.Close}, "expand": {Effect: intent.Expand}, "collapse": {Effect: intent.Collapse},
	"sort": {Effect: intent.Sort}, "filter": {Effect: intent.Filter}, "search": {Effect: intent.Search}, "page": {Effect: intent.Page},
	"move": {Effect: intent.Move}, "save": {Effect: intent.Submit, Concept: "save"}, "send": {Effect: intent.Submit, Concept: "send"},
	"order": {Effect: intent.Submit, Concept: "checkout"}, "submit": {Effect: intent.Submit}, "confirm": {Effect: intent.Confirm},
	"cancel": {Effect: intent.Abandon}, "login": {Effect: intent.SignIn}, "logout": {Effect: intent.SignOut},
	"navigate": {Effect: intent.Navigate}, "increase": {Effect: intent.Increase}, "decrease": {Effect: intent.Decrease},
	"press": {Effect: intent.Press}, "type": {Effect: intent.Type}, "hover": {Effect: intent.Point}, "select": {Effect: intent.Select},
	"upload": {Effect: intent.Upload}, "download": {Effect: intent.Download}, "copy": {Effect: intent.Copy}, "scroll": {Effect: intent.Scroll},
	"resize": {Effect: intent.Resize}, "window": {Effect: intent.Window}, "wait": {Effect: intent.Wait}, "act": {Effect: intent.Act},
	"shown": {Effect: intent.Check, Property: intent.Shown}, "gone": {Effect: intent.Check, Property: intent.Shown, Not: true},
	"is": {Effect: intent.Check, Property: intent.Is}, "has": {Effect: intent.Check, Property: intent.Contains},
	"count": {Effect: intent.Check, Property: intent.Counts}, "only": {Effect: intent.Check, Property: intent.Shown, Only: true},
	"at": {Effect: intent.Check, Property: intent.At}, "sorted": {Effect: intent.Check, Property: intent.Order},
	"same": {Effect: intent.Check, Property: intent.Unchanged}, "if": {Effect: intent.Check, Property: intent.Shown},
}

// slots are what the slots of the tagger are called in a phrasing.
var slots = map[string]string{"t": "thing", "to": "to", "from": "from", "n": "name", "v": "value", "b": "become", "by": "by", "a": "amount",
	"in": "in", "with": "with", "p": "place"}

// reading makes the goals of all parts.
func (l *labels) reading() intent.Reading {
	var r intent.Reading
	r.Prior = 1
	var late []intent.Goal
	var lost []intent.Span
	end := 0 // of the sentence in which late checks wait
	flush := func() {
		r.Goals = append(r.Goals, late...)
		late = nil
	}
	for i := range l.parts {
		p := &l.parts[i]
		if p.Kind == "note" {
			continue
		}
		if len(late) > 0 && l.ended(end, p.From) && (len(r.Goals) > 0 && r.Goals[len(r.Goals)-1].Span.From > late[0].Span.From) {
			flush()
		}
		f := l.phrasing(p)
		goals, left := intent.GoalsOf(l.source, l.lang, &f)
		lost = append(lost, left...)
		if len(goals) == 0 {
			lost = append(lost, intent.Span{From: p.From, To: p.To})
			continue
		}
		barred := p.Kind == "if" || !p.Forbidden && (harmful[p.Kind] || slices.ContainsFunc(goals, irrevocable))
		if barred || p.Forbidden && !l.forbids(p) {
			lost = append(lost, intent.Span{From: p.From, To: p.To})
		}
		if p.Late {
			late, end = append(late, goals...), p.To
			continue
		}
		r.Goals = append(r.Goals, goals...)
	}
	flush()
	if len(r.Goals) > 0 {
		r.Goals[0].Words = append(r.Goals[0].Words, l.between()...)
	}
	r.Unread = append(append(intent.Left(l.source, l.lang, r.Goals), lost...), l.undenied()...)
	return r
}

// ended reports whether a sentence ends between two places of the text.
func (l *labels) ended(from, to int) bool {
	return from < to && strings.ContainsAny(l.source[from:to], ".!?\n")
}

// phrasing is a part as grammar is to read it.
func (l *labels) phrasing(p *tagger.Part) intent.Phrasing {
	f := phrasings[p.Kind]
	f.Span = intent.Span{From: p.From, To: p.To}
	f.Forbidden = p.Forbidden
	for _, s := range p.Slots {
		f.Slots = append(f.Slots, intent.ArgumentSpan{Name: slots[s.Name], Span: intent.Span{From: s.From, To: s.To}})
	}
	for i := p.First; i < p.Last; i++ {
		if p.Labels[i-p.First] != "" {
			continue
		}
		if l.plain(i, f.Effect) {
			f.Words = append(f.Words, l.tokens[i].Span)
		}
		if l.denies(i) && turned[p.Kind] {
			f.Not = true
		}
	}
	return f
}

// turned are the kinds of checks that a negation turns round, negative those of what is one already.
var (
	turned   = map[string]bool{"is": true, "has": true, "at": true, "shown": true, "count": true}
	negative = map[string]bool{"gone": true, "same": true, "only": true, "off": true, "note": true}
)

// denies reports whether a token denies something: "not", "without", the first word of "hold off".
func (l *labels) denies(i int) bool {
	t := &l.tokens[i]
	if t.Kind != intent.TokenWord {
		return false
	}
	lex := lexicon.Language(l.lang)
	without := func(e *lexicon.Entry) bool { return e != nil && e.Name == "without" }
	if lex.Is(t.Text, lexicon.Negation) || without(lex.Entry(t.Text, lexicon.Preposition)) || without(lex.Entry(t.Text, lexicon.Conjunction)) {
		return true
	}
	const longest = 4
	var words []string
	for k := i; k < len(l.tokens) && k < i+longest && l.tokens[k].Kind == intent.TokenWord; k++ {
		words = append(words, l.tokens[k].Text)
	}
	entries, _ := lex.At(words)
	return slices.ContainsFunc(entries, func(e lexicon.Entry) bool { return e.Class == lexicon.Denial || e.Class == lexicon.Negation })
}

// undenied are the words that deny something and are in no part that is denied, nor within what a slot calls a
// thing ("the ones without a photo").
func (l *labels) undenied() []intent.Span {
	taken := make([]bool, len(l.tokens))
	for k := range l.parts {
		p := &l.parts[k]
		for i := p.First; i < p.Last; i++ {
			label := p.Labels[i-p.First]
			within := label != "" && i > p.First && p.Labels[i-p.First-1] == label
			kept := p.Kind == "same" || p.Kind == "gone"
			taken[i] = within || turned[p.Kind] || kept && label != "" ||
				label == "" && (p.Forbidden || negative[p.Kind] && !(kept && l.saysItself(p)))
		}
	}
	var out []intent.Span
	for i := range l.tokens {
		if !taken[i] && l.denies(i) {
			out = append(out, l.tokens[i].Span)
		}
	}
	return out
}

// saysItself reports whether a part that is labelled as gone or the same has a word for that: a negation beside it
// says the opposite then, as in "must not be gone".
func (l *labels) saysItself(p *tagger.Part) bool {
	lex := lexicon.Language(l.lang)
	for i := p.First; i < p.Last; i++ {
		t := &l.tokens[i]
		if p.Labels[i-p.First] != "" || t.Kind != intent.TokenWord {
			continue
		}
		if e := lex.Entry(t.Text, lexicon.State); e != nil && (e.Name == "gone" || e.Name == "hidden" || e.Name == "unchanged") {
			return true
		}
		for _, v := range lex.Verbs(t.Text) {
			if v.Particle != "" && !v.Joined {
				continue
			}
			if v.Property == string(intent.Vanishes) || v.Property == string(intent.Unchanged) && p.Kind == "same" {
				return true
			}
		}
		if lex.Is(t.Text, lexicon.Quantity) && (lex.Entry(t.Text, lexicon.Quantity).Name == "same") {
			return true
		}
	}
	return false
}

// plain reports whether a word outside of all slots says nothing of its own there: a verb, or a word that
// people put around what they want.
func (l *labels) plain(i int, effect intent.Effect) bool {
	t := &l.tokens[i]
	if t.Kind != intent.TokenWord {
		return false
	}
	lex := lexicon.Language(l.lang)
	return l.t.Loose(t.Fold) || (!t.Cap || lex.Capitals) && slices.ContainsFunc(lex.Verbs(t.Text), func(v lexicon.VerbForm) bool {
		return v.Effect == string(effect)
	})
}

// between returns the words outside of all parts, and those of notes, that say nothing else than is said.
func (l *labels) between() []intent.Span {
	var out []intent.Span
	said := map[string]bool{}
	inside := make([]bool, len(l.tokens))
	for k := range l.parts {
		p := &l.parts[k]
		if p.Kind == "note" {
			continue
		}
		for i := p.First; i < p.Last; i++ {
			inside[i] = true
			if p.Labels[i-p.First] != "" {
				said[l.stem(i)] = true
			}
		}
	}
	for i := range l.tokens {
		if !inside[i] && (l.plain(i, "") || said[l.stem(i)]) {
			out = append(out, l.tokens[i].Span)
		}
	}
	return out
}

// stem is a word in its base form where it is known.
func (l *labels) stem(i int) string {
	t := &l.tokens[i]
	if lemma := lexicon.Language(l.lang).Lemma(t.Text); lemma != "" {
		return lemma
	}
	return t.Fold
}

// whole reports whether a reading has all words.
func whole(r *intent.Reading) bool { return len(r.Unread) == 0 && len(r.Goals) > 0 }
