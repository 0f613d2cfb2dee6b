package find

import (
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/lexicon"
	"github.com/slipway-qa/slipway/worker/generation/word/token"
)

// saying is what the name of a control says that it does.
type saying struct {
	score float64
	rest  int // words of the name that are not the deed
}

// signs are names without letters.
var signs = map[string][]intent.Effect{
	"×": {intent.Remove, intent.Close, intent.Abandon, intent.Clear}, "✕": {intent.Remove, intent.Close, intent.Abandon, intent.Clear},
	"✖": {intent.Remove, intent.Close, intent.Abandon, intent.Clear}, "x": {intent.Remove, intent.Close, intent.Abandon, intent.Clear},
	"✗": {intent.Remove, intent.Close}, "+": {intent.Add, intent.Increase, intent.Expand}, "＋": {intent.Add, intent.Increase},
	"-": {intent.Decrease, intent.Remove, intent.Collapse}, "−": {intent.Decrease, intent.Remove}, "–": {intent.Decrease, intent.Remove},
	"✓": {intent.Complete, intent.Confirm, intent.Submit}, "✔": {intent.Complete, intent.Confirm, intent.Submit},
	"★": {intent.Rate, intent.Complete, intent.Act, intent.Reopen},
	"☆": {intent.Rate, intent.Complete, intent.Act}, "♥": {intent.Add, intent.Act, intent.Reopen}, "♡": {intent.Add, intent.Act},
	"🗑": {intent.Remove}, "✎": {intent.Edit}, "✏": {intent.Edit},
	"<": {intent.Page}, ">": {intent.Page}, "‹": {intent.Page}, "›": {intent.Page}, "«": {intent.Page}, "»": {intent.Page},
	"⋮": {intent.Open}, "⋯": {intent.Open}, "…": {intent.Open}, "☰": {intent.Open}, "⚙": {intent.Open},
}

// conceptEffects are concepts that name an effect without being its verb.
var conceptEffects = map[string][]intent.Effect{
	"delete": {intent.Remove}, "remove": {intent.Remove}, "trash": {intent.Remove}, "clear": {intent.Clear, intent.Remove},
	"new": {intent.Add}, "add": {intent.Add},
	"create": {intent.Add}, "plus": {intent.Add, intent.Increase}, "minus": {intent.Decrease, intent.Remove},
	"edit": {intent.Edit, intent.Set},
	"save": {intent.Submit}, "send": {intent.Submit}, "submit": {intent.Submit}, "ok": {intent.Submit, intent.Confirm},
	"yes": {intent.Confirm}, "no": {intent.Abandon},
	"confirm": {intent.Confirm, intent.Submit}, "apply": {intent.Submit}, "done": {intent.Complete, intent.Submit},
	"finish": {intent.Submit, intent.Complete},
	"cancel": {intent.Abandon, intent.Remove}, "close": {intent.Close, intent.Abandon}, "back": {intent.Abandon},
	"next":     {intent.Page, intent.Submit},
	"continue": {intent.Submit}, "previous": {intent.Page}, "search": {intent.Search}, "filter": {intent.Filter},
	"sort": {intent.Sort}, "download": {intent.Download},
	"export": {intent.Download}, "upload": {intent.Upload}, "copy": {intent.Copy}, "login": {intent.SignIn},
	"sign_in": {intent.SignIn}, "logout": {intent.SignOut},
	"sign_out": {intent.SignOut}, "settings": {intent.Open}, "more": {intent.Open, intent.Expand}, "menu": {intent.Open},
	"cart": {intent.Add}, "expand": {intent.Expand},
	"collapse": {intent.Collapse}, "refresh": {intent.Navigate}, "undo": {intent.Abandon}, "move": {intent.Move},
	"archive":  {intent.Remove, intent.Act},
	"favorite": {intent.Complete, intent.Act, intent.Add}, "star": {intent.Rate, intent.Complete, intent.Act},
	"pin": {intent.Act}, "unfavorite": {intent.Reopen},
}

// deed says how far the name of a control names an effect: by the verb of the text, by a verb
// or concept that means the same, or by another verb of the same effect.
// Likes: the text speaks of a favourite, and only then is a star or heart what reaches it.
func (w *words) deed(name string, effect intent.Effect, lemma, lang string, icon, likes bool) saying {
	trimmed := strings.TrimSpace(token.Lower(name))
	star := strings.ContainsAny(trimmed, "★☆♥♡")
	if slices.Contains(signs[trimmed], effect) && (likes || effect != intent.Act && (effect != intent.Complete &&
		effect != intent.Reopen || !star)) {
		return saying{score: bySign}
	}
	ts := split(name)
	if effect == intent.Open && len(ts) > 1 && w.marks(ts[0]) {
		return saying{}
	}
	best := saying{}
	for from := range min(len(ts), 6) {
		for n := min(len(ts)-from, 3); n > 0; n-- {
			if n == 1 && len(ts) > 1 && w.function(ts[from]) {
				continue
			}
			s := w.verbal(strings.Join(ts[from:from+n], " "), ts[from], effect, lemma, lang, icon, likes)
			if s > 0 && from > 0 {
				s = w.later(s, ts, from, n, effect)
			}
			rest := len(ts) - n - w.small(ts, from, n)
			if n+rest > 1 && effect == intent.Submit && w.turns(strings.Join(ts[from:from+n], " "), name) {
				continue
			}
			if s > best.score+0.001 || s > 0 && s > best.score-0.001 && rest < best.rest {
				best = saying{score: s, rest: rest}
			}
		}
	}
	return best
}

// turns reports whether a word of a name goes on in something else than a form: "Next week".
func (w *words) turns(part, name string) bool {
	return w.anyOf(w.concepts(part), "next") && !w.anyOf(w.concepts(name), "step")
}

// likes reports whether a text is one for which controls show a star or heart.
func (w *words) likes(text, lang string) bool {
	return w.anyOf(w.concepts(text, langsOf(lang)...), "favorite", "star", "like", "rate", "bookmark", "pin", "unfavorite")
}

// later lowers the score of a verb that does not begin the name. The last word may be one, as in
// German; behind another verb it is what that one is done to: "Undo changes", "How do I remove".
func (w *words) later(s float64, ts []string, from, n int, effect intent.Effect) float64 {
	if from+n == len(ts) {
		s -= 0.03
	} else {
		s -= 0.06 * float64(min(from, 5))
	}
	if w.otherVerb(ts[0], effect) {
		s *= 0.75
	}
	return s
}

// marks reports whether a word begins a name that marks something: "Mark as read" opens nothing.
func (w *words) marks(t string) bool {
	return w.anyOf(w.concepts(t), "mark")
}

// otherVerb reports whether a word begins a name as a verb of another effect.
func (w *words) otherVerb(t string, effect intent.Effect) bool {
	other := false
	for _, code := range w.langs[:min(2, len(w.langs))] {
		for _, v := range lexicon.Language(code).Verbs(t) {
			if v.Effect == string(effect) {
				return false
			}
			other = other || (v.Form == "imperative" || v.Form == "infinitive") && v.Particle == ""
		}
	}
	return other
}

// small counts the function words of a name around its verb.
func (w *words) small(ts []string, from, n int) int {
	k := 0
	for i, t := range ts {
		if i >= from && i < from+n {
			continue
		}
		if w.function(t) {
			k++
		}
	}
	return k
}

// function reports whether a word is one of grammar.
func (w *words) function(t string) bool {
	for _, code := range w.langs {
		for _, e := range lexicon.Language(code).Entries(t) {
			switch e.Class {
			case lexicon.Article, lexicon.Preposition, lexicon.Pronoun, lexicon.Possessive, lexicon.Demonstrative,
				lexicon.Polite, lexicon.Stop, lexicon.Conjunction:
				return true
			}
		}
	}
	return false
}

// verbal scores some words of a name as a verb.
func (w *words) verbal(part, first string, effect intent.Effect, lemma, lang string, icon, likes bool) float64 {
	if lemma != "" && token.Fold(part) == token.Fold(lemma) {
		return byVerb
	}
	best := 0.0
	for _, code := range w.langs {
		l := lexicon.Language(code)
		for i, v := range l.Verbs(first) {
			said := v.Lemma
			if v.Particle != "" && !v.Joined && !strings.HasSuffix(part, " "+token.Fold(v.Particle)) {
				continue
			}
			if v.Particle == "" && part != first {
				continue
			}
			switch {
			case lemma != "" && code == lang && token.Fold(said) == token.Fold(lemma):
				return byVerb
			case v.Effect == string(effect) && effect != intent.Act && !otherState(v.Verb, lemma, lang): // other verbs are other deeds
				best = max(best, byEffect-0.05*float64(min(i, 3)))
			}
		}
	}
	cs := w.meant(part)
	if lemma != "" {
		for _, c := range w.verbConcepts(lemma, lang) {
			if slices.Contains(cs, c) {
				best = max(best, byConcept)
			}
		}
	}
	for i, c := range cs {
		if icon && effect == intent.Submit && c.Name() == "next" {
			continue // an arrow turns a page or a calendar
		}
		if effect == intent.Complete && !likes && (c.Name() == "favorite" || c.Name() == "star") {
			continue
		}
		if i < 4 && effect != intent.Act && slices.Contains(conceptEffects[c.Name()], effect) {
			by := byEffect - 0.01
			if icon {
				by = byIcon
			}
			best = max(best, by-0.02*float64(i))
		}
	}
	return best
}

// verbConcepts returns what a verb means; with a particle it is not what its words are alone: who logs
// out logs no hours.
func (w *words) verbConcepts(lemma, lang string) []lexicon.ConceptID {
	if l := lexicon.Language(lang); l != nil {
		if cs := l.Concepts(lemma); len(cs) > 0 {
			return cs
		}
	}
	return w.concepts(lemma, langsOf(lang)...)
}

// meant returns what some words of a name may mean; a word of grammar among them means nothing by
// itself: "add to favourites" has no end, as "to" may be the label of one.
func (w *words) meant(part string) []lexicon.ConceptID {
	ts := split(part)
	content := slices.DeleteFunc(slices.Clone(ts), w.function)
	if len(content) == 0 || len(content) == len(ts) {
		return w.concepts(part)
	}
	var out []lexicon.ConceptID
	for _, code := range w.langs {
		out = append(out, lexicon.Language(code).Concepts(part)...)
	}
	return append(out, w.concepts(strings.Join(content, " "))...)
}

// otherState reports whether a verb brings a thing into another state than the verb of the text: who
// approves does not pay.
func otherState(v *lexicon.Verb, lemma, lang string) bool {
	state, said := v.Attr("state"), false
	if state == "" || lemma == "" || lexicon.Language(lang) == nil {
		return false
	}
	for _, o := range lexicon.Language(lang).Verbs(lemma) {
		if o.Effect != v.Effect || o.Attr("state") == "" {
			continue
		}
		if said = true; o.Attr("state") == state {
			return false
		}
	}
	return said
}

// shared counts the words of one text that another one has as well.
func shared(name, other string) int {
	has := split(other)
	n := 0
	for _, t := range split(name) {
		if slices.Contains(has, t) {
			n++
		}
	}
	return n
}
