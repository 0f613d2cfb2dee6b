package find

import (
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/lexicon"
	"github.com/slipway-qa/slipway/worker/generation/page"
	"github.com/slipway-qa/slipway/worker/generation/word/token"
)

// Split returns the fields of a goal with each value that a page asks for in two fields as two: the first
// and the last name of a person, an amount and what it is of ("4 days special leave", "40 Cocoa").
func Split(m *page.Model, fields []intent.Field, w Want) []intent.Field {
	a := &assigner{ix: indexOf(m), m: m, w: w, fields: fields}
	a.places = a.listPlaces()
	var out []intent.Field
	for i := range fields {
		f := &fields[i]
		v := &f.Value
		if !plain(f) || v.Span.To-v.Span.From != len(v.Text) {
			out = append(out, *f)
			continue
		}
		parts := a.person(f)
		if parts == nil {
			parts = a.amount(f)
		}
		if parts == nil {
			parts = []intent.Field{*f}
		}
		out = append(out, parts...)
	}
	return a.called(out)
}

// called takes values that only say what the field of a value beside them is called for its name: "Lenny as
// a guest", "for pick-up at the port".
func (a *assigner) called(list []intent.Field) []intent.Field {
	for i := len(list) - 1; i >= 0; i-- {
		f := &list[i]
		if f.Prep == "" || !plain(f) || f.Value.Number != nil {
			continue
		}
		name, field := a.onlyNames(f)
		if name == nil {
			continue
		}
		for _, k := range []int{i + 1, i - 1} {
			if k < 0 || k >= len(list) || list[k].Name != nil || list[k].Off || list[k].Keep || list[k].Value.Date != nil {
				continue
			}
			if k < i && a.isPreposition(f.Prep, "as") || a.optionOf(&list[k], field) {
				list[k].Name = name
				list = slices.Delete(list, i, i+1)
				break
			}
		}
	}
	return list
}

// plain reports whether a value stands without a name and is no quotation or date.
func plain(f *intent.Field) bool {
	return f.Name == nil && !f.Off && !f.Keep && !f.Value.Quoted && f.Value.Date == nil && f.Value.From == nil
}

// onlyNames returns a value as the name of the only field that is called so and has no such option; nil.
func (a *assigner) onlyNames(f *intent.Field) (*intent.Description, int) {
	d := &intent.Description{Span: f.Value.Span}
	for _, w := range strings.Fields(f.Value.Text) {
		if !isGrammar(w, a.w.Lang) {
			d.Words = append(d.Words, intent.Word{Span: f.Value.Span, Text: w})
		}
	}
	if len(d.Words) == 0 {
		return nil, -1
	}
	field := -1
	for p := range a.named(&intent.Field{Name: d}) {
		pf := &a.m.Fields[p.field]
		if pf.Hidden {
			continue
		}
		if p.option >= 0 || field >= 0 && field != p.field || pf.Kind == "switch" || a.optionOf(f, p.field) {
			return nil, -1
		}
		field = p.field
	}
	if field < 0 {
		return nil, -1
	}
	return d, field
}

// optionOf reports whether a value is an option of a field.
func (a *assigner) optionOf(f *intent.Field, field int) bool {
	_, label := a.choiceFit(&f.Value, &a.m.Fields[field])
	return label != ""
}

// part is what a value says from some byte to another, as a value of its own.
func part(f *intent.Field, from, to int) intent.Field {
	text := f.Value.Text[from:to]
	lead, trail := len(text)-len(strings.TrimLeft(text, " ")), len(text)-len(strings.TrimRight(text, " "))
	span := intent.Span{From: f.Value.Span.From + from + lead, To: f.Value.Span.From + to - trail}
	return intent.Field{Prep: f.Prep, Span: span, Value: intent.Value{Span: span, Text: strings.TrimSpace(text)}}
}

// companies are the words that the name of a company ends with.
var companies = map[string]bool{
	"ag": true, "bv": true, "co": true, "corp": true, "eg": true, "ev": true, "gbr": true, "gmbh": true, "inc": true,
	"kg": true, "limited": true,
	"llc": true, "ltd": true, "ohg": true, "plc": true, "sa": true, "sarl": true, "sas": true, "se": true, "sl": true, "slu": true, "ug": true,
}

// person returns the first and the last name of somebody, each with the field that asks for it; nil where
// a value is no full name, or the page does not ask for both. Which of three words is of the last name
// nobody knows, nor whether two name a company where the page asks for one as well.
func (a *assigner) person(f *intent.Field) []intent.Field {
	at := strings.IndexByte(f.Value.Text, ' ')
	if at < 0 || strings.Count(f.Value.Text, " ") > 1 || !personal(f.Value.Text) {
		return nil
	}
	if companies[strings.ToLower(strings.ReplaceAll(f.Value.Text[at+1:], ".", ""))] || a.asking("company") != nil {
		return nil
	}
	first, last := part(f, 0, at), part(f, at, len(f.Value.Text))
	for name, to := range map[string]*intent.Field{"first_name": &first, "last_name": &last} {
		pf := a.asking(name)
		if pf == nil {
			return nil
		}
		to.Name = &intent.Description{Words: []intent.Word{{Text: pf.Label}}, Quoted: true}
	}
	if first.Name.Words[0].Text == last.Name.Words[0].Text {
		return nil
	}
	return []intent.Field{first, last}
}

// wholeName reports whether a value of several words that says no field may be a name which the page asks for
// in parts, and cannot be told into them: it goes into neither of them, nor into what stands beside them.
func (a *assigner) wholeName(f *intent.Field, pf *page.Field) bool {
	if f.Name != nil || !strings.Contains(f.Value.Text, " ") || digits(f.Value.Text) > 0 {
		return false
	}
	if !a.namesRead {
		a.first, a.last, a.namesRead = a.asking("first_name"), a.asking("last_name"), true
	}
	if a.first == nil || a.last == nil || a.first == a.last {
		return false
	}
	return (f.Prep == "" || pf == a.first || pf == a.last) && a.person(f) == nil
}

// asking returns the only field of text that is called by a concept; nil.
func (a *assigner) asking(concept string) *page.Field {
	var found *page.Field
	for _, p := range a.places {
		pf := &a.m.Fields[p.field]
		if pf.Kind != "text" || !a.ix.words.anyOf(a.ix.words.concepts(pf.Label), concept) {
			continue
		}
		if found != nil {
			return nil
		}
		found = pf
	}
	return found
}

// amount returns the number, with its unit, that a value begins with, and what it is of; nil where a page
// has no field for the one, or no option that is called as the other.
func (a *assigner) amount(f *intent.Field) []intent.Field {
	words := strings.Fields(f.Value.Text)
	if len(words) < 2 || strings.Join(words, " ") != f.Value.Text || strings.Trim(words[0], "0123456789.,") != "" {
		return nil
	}
	n := token.Values(words[0])
	if len(n) != 1 {
		return nil
	}
	end := len(words[0])
	unit := a.ix.words.entry(words[1], lexicon.Unit)
	if unit != nil {
		end += 1 + len(words[1])
	}
	rest := end
	for _, w := range strings.Fields(f.Value.Text[end:]) {
		if !isGrammar(w, a.w.Lang) {
			break
		}
		rest += 1 + len(w)
	}
	if rest >= len(f.Value.Text) {
		return nil
	}
	number, of := part(f, 0, end), part(f, rest, len(f.Value.Text))
	number.Value.Text, number.Value.Number = words[0], &n[0]
	if unit != nil {
		number.Value.Unit, number.Value.UnitClass = words[1], unit.Name
	}
	if !a.takes(&number, func(pf *page.Field, _ string) bool {
		return pf.Kind == "number" || pf.Kind == "slider" || a.unitFit(&number.Value, pf) > 0 || a.ix.words.measures(pf.Label, "number") > 0
	}) || !a.takes(&of, func(_ *page.Field, label string) bool { return label != "" }) {
		return nil
	}
	return []intent.Field{number, of}
}

// takes reports whether a value fits a place that is of a kind.
func (a *assigner) takes(f *intent.Field, kind func(pf *page.Field, label string) bool) bool {
	return slices.ContainsFunc(a.places, func(p place) bool {
		pf := &a.m.Fields[p.field]
		value, label := a.valueFit(f, pf, p)
		return value >= leastFit && kind(pf, label)
	})
}
