package intent

import (
	"strings"

	"github.com/slipway-qa/slipway/worker/generation/next/lexicon"
)

// usings turns "use the slider to select 42" into "select 42 with the slider".
func (r *reader) usings(pieces []clause) []clause {
	for i := range pieces {
		p := &pieces[i]
		if len(p.items) == 0 || !usingWords[p.items[0].fold] {
			continue
		}
		for j := 2; j+2 < len(p.items); j++ {
			it, verb := p.items[j], &p.items[j+1]
			if !it.has(lexicon.Preposition) || !inOrderTo[it.fold] || len(verb.verbs) == 0 || verb.proper(r.lang) {
				continue
			}
			it.means = true
			p.told = append(p.told, Span{p.items[0].From, p.items[0].To})
			p.items = append(append(append([]item{}, p.items[j+1:]...), it), p.items[1:j]...)
			break
		}
	}
	return pieces
}

// usingWords begin what is done with an instrument.
var usingWords = map[string]bool{"use": true, "using": true, "usa": true, "use el": true, "utiliza": true, "utilise": true, "utilisez": true}

// byField makes a value that is chosen with a field one that is set: "select 17 with the slider".
func (r *reader) byField(g *Goal) {
	if g.Effect != Choose || len(g.Target) != 1 || len(g.Fields) > 0 {
		return
	}
	t := &g.Target[0]
	name := g.With
	if name == nil && len(t.Having) == 1 {
		name = &t.Having[0]
	}
	v := r.written(t)
	if name == nil && g.From != nil && v.Date != nil && (g.From.Kind == "" || g.From.Kind == FieldKind) {
		name = g.From
	}
	if name == nil || len(t.Words) == 0 || len(name.Having) > 0 || name != g.From && name.Kind != Slider && name.Kind != FieldKind {
		return
	}
	field := *name
	g.Fields = []Field{{Name: &field, Prep: "with", Value: v, Span: g.Span}}
	g.Effect, g.Target, g.With, g.From = Set, nil, nil, nil
}

// written returns the words of a description as a value, with its number or date.
func (r *reader) written(d *Description) Value {
	if len(d.Words) == 0 {
		return Value{Span: d.Span}
	}
	v := Value{Span: Span{d.Words[0].Span.From, d.Words[len(d.Words)-1].Span.To}, Quoted: d.Quoted, Text: wordsText(d.Words)}
	text := strings.TrimSpace(r.source[v.Span.From:v.Span.To])
	inner := &reader{source: text, lang: r.lang, lex: r.lex}
	if items := inner.items(tokenize(text)); len(items) == 1 && items[0].value != nil && !d.Quoted {
		v.Number, v.Date, v.Unit, v.UnitClass = items[0].value.Number, items[0].value.Date, items[0].value.Unit, items[0].value.UnitClass
	}
	return v
}

// withSlot takes "with ...": an instrument, or the value of a field.
func (d *deed) withSlot(p *phrase) {
	if p.prep.means || d.r.instrument(p) && !p.holdsValue() {
		m := d.r.description(p)
		d.g.With = &m
		return
	}
	f := d.r.field(p)
	if f.Name == nil {
		f.Prep = p.prep.fold
	}
	d.g.Fields = append(d.g.Fields, f)
}
