package find

import (
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/lexicon"
	"github.com/slipway-qa/slipway/worker/generation/page"
	"github.com/slipway-qa/slipway/worker/generation/word"
	"github.com/slipway-qa/slipway/worker/generation/word/token"
)

// valueFit says how well the value itself goes into a place, whatever it is called, and the
// label of the option that it is; 0 where the field cannot hold it.
func (a *assigner) valueFit(f *intent.Field, pf *page.Field, p place) (float64, string) {
	v := &f.Value
	if p.option >= 0 {
		return a.optionFit(v, pf, p.option), pf.Options[p.option].Label
	}
	if pf.ReadOnly && pf.Kind == "text" && v.Date == nil && digits(pf.Value) == 0 {
		return 0, ""
	}
	switch pf.Kind {
	case "choice", "choices":
		return a.choiceFit(v, pf)
	case "switch":
		return a.switchFit(f, pf), ""
	case "number", "slider":
		return a.numberFit(v, pf), ""
	case "rating":
		other := v.Unit != "" && v.UnitClass != "rating"
		if v.Number == nil || other || len(pf.Options) > 0 && *v.Number > float64(len(pf.Options)) {
			return 0, ""
		}
		if v.UnitClass == "rating" {
			return 0.95, ""
		}
		return 0.5, ""
	case "date", "time":
		return a.dateFit(v, pf), ""
	case "file":
		return 0, ""
	}
	if a.wholeName(f, pf) {
		return 0, ""
	}
	return a.textFit(v, pf), ""
}

// optionFit says how well a value is the label of an option.
func (a *assigner) optionFit(v *intent.Value, pf *page.Field, i int) float64 {
	o := &pf.Options[i]
	if o.Disabled {
		return 0
	}
	best := 0.0
	for _, label := range []string{o.Label, o.Value} {
		if label != "" {
			best = max(best, a.meets(v, label))
		}
	}
	if best == 0 && o.Label != "" {
		best = a.withLabel(v, pf, o.Label)
	}
	if best == 0 && IsPart(o.Label, v.Text) {
		best = 0.8
	}
	if d := v.Date; best == 0 && d != nil && d.Hour >= 0 && a.ix.hasNumber(a.ix.id(o.Label), float64(d.Hour), match{}) && d.Minute <= 0 {
		best = 0.85
	}
	return best
}

// IsPart reports whether a text is one of the parts of a label of several: "Madrid" of "Europe/Madrid".
func IsPart(label, text string) bool {
	parts := strings.FieldsFunc(label, func(r rune) bool { return r == '/' || r == '|' })
	return len(parts) > 1 && slices.ContainsFunc(parts, func(part string) bool { return word.Equal(strings.ReplaceAll(part, "_", " "), text) })
}

// withLabel says how well a value is an option with the label of the field: "high priority".
func (a *assigner) withLabel(v *intent.Value, pf *page.Field, option string) float64 {
	p := a.ix.phrase(valueAtoms(v), a.w.Lang)
	if len(p.atoms) < 2 || p.match(a.ix.id(option)).hits == 0 {
		return 0
	}
	refs := a.ix.add(nil, option, title, pf.Node)
	for _, n := range pf.Names {
		refs = a.ix.add(refs, n, title, pf.Node)
	}
	refs = append(refs, a.ix.page()...) // "the Port library" of a page about a library
	if pr := p.explain(refs); len(pr.missing) == 0 {
		return 0.92 * pr.score
	}
	return 0
}

// cut takes the label of a field off the front of a value: "phone 390".
func (a *assigner) cut(f *intent.Field, pf *page.Field, p place) (*intent.Field, string, bool) {
	if f.Name != nil || f.Value.Quoted || f.Off || f.Keep || p.option >= 0 || pf.Kind == "switch" {
		return nil, "", false
	}
	words := strings.Fields(f.Value.Text)
	if len(words) < 2 {
		return nil, "", false
	}
	phrase := a.ix.phrase(valueAtoms(&f.Value), a.w.Lang)
	if len(phrase.atoms) != len(words) {
		return nil, "", false
	}
	for _, name := range pf.Names {
		m := phrase.match(a.ix.id(name))
		if m.hits == 0 || m.hits >= len(words) || !m.run || !a.ix.whole(name, a.w.Lang, m.at) {
			continue
		}
		k := a.leading(words, m.per)
		if k == 0 || k == len(words) {
			continue
		}
		rest := *f
		rest.Value.Text = strings.Join(words[k:], " ")
		if v := token.Values(rest.Value.Text); len(v) > 0 {
			rest.Value.Number = &v[0]
		}
		return &rest, name, true
	}
	return nil, "", false
}

// leading is how many of some words are the name with which they begin, as what met it says, with the
// words of grammar before and behind it: "la zona horaria de Madrid"; 0 where others stand between.
func (a *assigner) leading(words []string, met []float64) int {
	k := 0
	for i := range words {
		switch {
		case met[i] > 0 && k == i:
			k++
		case met[i] > 0:
			return 0
		case k == i && isGrammar(words[i], a.w.Lang):
			k++
		}
	}
	return k
}

// whole reports whether the words at some places are all that a text says.
func (ix *index) whole(s, lang string, at []int) bool { return covers(ix.comparer(lang).Text(s), at) }

// meets says how well a value is a label: the whole of it, a part, its number or date.
func (a *assigner) meets(v *intent.Value, label string) float64 {
	best := a.meetsOne(v, label)
	for i := range v.Also {
		best = max(best, a.meetsOne(&v.Also[i], label))
	}
	return best
}

func (a *assigner) meetsOne(v *intent.Value, label string) float64 {
	atoms := valueAtoms(v)
	if v.Unit != "" && !strings.Contains(strings.ToLower(v.Text), strings.ToLower(v.Unit)) {
		atoms = append(atoms, atom{span: v.Span, text: v.Unit})
	}
	p := a.ix.phrase(atoms, a.w.Lang)
	m := p.match(a.ix.id(label))
	pr := p.explain([]ref{{text: a.ix.id(label), role: title}})
	switch {
	case m.hits == 0 || v.Number == nil && a.denies(label, m.at, v.Text):
		return 0
	case m.whole:
		return pr.score
	case len(pr.missing) == 0:
		return pr.score * 0.93
	}
	return 0
}

// denies reports whether a label says no of what a value is at some of its words, as "No cheese" of cheese. A number may
// stand behind "No.".
func (a *assigner) denies(label string, at []int, said string) bool {
	if len(at) == 0 {
		return false
	}
	var before []string
	for _, w := range a.ix.comparer("").Text(label).Words[:slices.Min(at)] {
		before = append(before, w.Text)
	}
	return lexicon.Negates(strings.Join(before, " ")) && !lexicon.Negates(said)
}

// choiceFit finds the option of a choice that a value is.
func (a *assigner) choiceFit(v *intent.Value, pf *page.Field) (float64, string) {
	best, second, label := 0.0, 0.0, ""
	for i := range pf.Options {
		s := a.optionFit(v, pf, i)
		if s > best {
			best, second, label = s, best, pf.Options[i].Label
		} else {
			second = max(second, s)
		}
	}
	if best == 0 {
		if v.Date != nil && pf.ReadOnly && len(pf.Options) == 0 {
			return 0.6, "" // it opens a calendar, or it is for nothing
		}
		if _, err := strconv.ParseFloat(pf.Value, 64); len(pf.Options) > 0 && !pf.Entries || err == nil && v.Number == nil {
			return 0, ""
		}
		if a.endsIn(v, pf) {
			return 0.6, "" // "second floor": one of the floors
		}
		return 0.35, "" // options are made when it is opened
	}
	if best-second < Margin {
		return best * 0.5, ""
	}
	return best, label
}

// endsIn reports whether a value has the label of a field in it, behind what tells which one.
func (a *assigner) endsIn(v *intent.Value, pf *page.Field) bool {
	words := slices.DeleteFunc(strings.Fields(v.Text), func(w string) bool { return isGrammar(w, a.w.Lang) })
	p := a.ix.phrase(textAtoms(strings.Join(words, " "), v.Span, false), a.w.Lang)
	if v.Quoted || len(words) < 2 || len(p.atoms) != len(words) || pf.Label == "" {
		return false
	}
	m := p.match(a.ix.id(pf.Label))
	return m.hits == 1 && m.per[len(words)-1] > 0 && a.ix.whole(pf.Label, a.w.Lang, m.at)
}

// switchFit says how well a value is one box or switch: its label is the value, or the value
// is on or off.
func (a *assigner) switchFit(f *intent.Field, pf *page.Field) float64 {
	if a.ix.words.truth(f.Value.Text, a.w.Lang) != 0 {
		return 0.7 * boolFloat(f.Name != nil)
	}
	best := 0.0
	for _, n := range pf.Names {
		s := a.meets(&f.Value, n)
		if s < 0.9 {
			s *= 0.75 // only a part of its label
		}
		best = max(best, s)
	}
	return best
}

func boolFloat(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// numberFit says how well a number goes into a field for numbers.
func (a *assigner) numberFit(v *intent.Value, pf *page.Field) float64 {
	if v.Number == nil || v.Date != nil && v.Date.Hour >= 0 {
		return 0
	}
	return 0.66 + a.unitFit(v, pf)
}

// unitFit adds what the unit of a value says for a field: "50 minutes" goes where minutes are
// asked for, 12.40 where money is.
func (a *assigner) unitFit(v *intent.Value, pf *page.Field) float64 {
	if v.Unit == "" {
		if strings.ContainsAny(v.Text, ".,") {
			if price := a.ix.words.measures(pf.Label, "price"); price > 0.88 {
				return 0.15 * (price - 0.88) / 0.12
			}
			if strings.Trim(pf.Value, "0123456789") == "" && pf.Value != "" {
				return -0.1 // whole things are counted there
			}
		}
		return 0
	}
	p := a.ix.phrase([]atom{{text: v.Unit}}, a.w.Lang)
	for _, n := range append([]string{pf.Unit}, pf.Names...) {
		if id := a.ix.id(n); id >= 0 && p.match(id).hits > 0 {
			return 0.28
		}
	}
	class := v.UnitClass
	if class != "" && (a.ix.words.unitIn(pf.Unit) == class || a.ix.words.unitIn(pf.Label) == class) {
		return 0.24
	}
	for m, ts := range types {
		if class == "money" && ts[0] == page.Money && a.ix.words.measures(pf.Label, m) > 0 {
			return 0.22
		}
	}
	return -0.12
}

// dateFit says how well a value goes into a field for dates or times.
func (a *assigner) dateFit(v *intent.Value, pf *page.Field) float64 {
	switch {
	case v.Date == nil:
		return 0
	case pf.Kind == "time" && v.Date.Hour >= 0:
		return 0.9
	case pf.Kind == "date" && (v.Date.Month > 0 || v.Date.Day > 0 || v.Date.Relative != ""):
		return 0.9
	}
	return 0
}

// plainFit is how well a text goes into a field of which only is known that it takes texts.
const plainFit = 0.42

// textFit says how well a value goes into a field for text.
func (a *assigner) textFit(v *intent.Value, pf *page.Field) float64 {
	kind := a.textKind(pf)
	t := strings.TrimSpace(v.Text)
	mail := strings.Contains(t, "@") && !strings.Contains(t, " ")
	score := plainFit
	switch {
	case kind == "search":
		return 0.05
	case kind == "email" || mail:
		if kind == "email" && mail {
			return 0.93
		}
		return 0.12
	case kind == "phone" || kind == "url":
		if digits(t) > 5 && kind == "phone" {
			return 0.8
		}
		return 0.15
	case kind == "password":
		return 0.2
	case v.Date != nil && pf.Kind == "shown":
		return 0 // nobody can set it
	case v.Date != nil && a.ix.words.measures(pf.Label, "date") > 0:
		return 0.85
	case v.Date != nil && pf.ReadOnly:
		return 0.6 // it opens a calendar, or it is for nothing
	case v.Date != nil && !v.Quoted:
		return 0.25
	case v.Number != nil && !v.Quoted:
		score = 0.36 + a.unitFit(v, pf)
		if a.asksNumber(pf) {
			score += 0.1
		}
	case kind == "name" && personal(t):
		score = 0.6
	case pf.Kind == "editor" || longField(a.m, pf):
		score = 0.4
		if v.Quoted && len(t) > 24 {
			score = 0.52
		}
	case v.Quoted || personal(t):
		score = 0.46
	}
	if v.Number == nil && a.asksNumber(pf) {
		score -= 0.1
	}
	if pf.Value != "" {
		score -= 0.06
	}
	return score
}

// asksNumber reports whether a field for text is called as a number is: "Amount".
func (a *assigner) asksNumber(pf *page.Field) bool {
	return a.ix.words.anyOf(a.ix.words.concepts(pf.Label), "quantity", "number", "price", "amount")
}

// textKind says what a text field is for: email, phone, url, password, search, name or "".
func (a *assigner) textKind(pf *page.Field) string {
	n := &a.m.Nodes[pf.Node]
	switch {
	case n.Password || n.Type == "password":
		return "password"
	case n.Type == "email":
		return "email"
	case n.Type == "tel":
		return "phone"
	case n.Type == "url":
		return "url"
	case n.Type == "search" || n.Role == "searchbox":
		return "search"
	}
	for _, name := range pf.Names {
		if k := a.ix.words.fieldKind(name); k != "" {
			return k
		}
	}
	return ""
}

// longField reports whether a field has more than one line.
func longField(m *page.Model, pf *page.Field) bool { return m.Nodes[pf.Node].Tag == "textarea" }

func digits(s string) int {
	n := 0
	for _, r := range s {
		if unicode.IsDigit(r) {
			n++
		}
	}
	return n
}

// personal reports whether a text may be the name of somebody: capitalized words without
// digits.
func personal(s string) bool {
	words := strings.Fields(s)
	if len(words) == 0 || len(words) > 4 {
		return false
	}
	for _, w := range words {
		if !proper(w) || digits(w) > 0 {
			return false
		}
	}
	return true
}
