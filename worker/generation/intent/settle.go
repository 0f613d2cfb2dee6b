package intent

import (
	"strconv"
	"strings"

	"github.com/slipway-qa/slipway/worker/generation/lexicon"
)

// settle makes of a goal as the verb has it the one that its objects show: "go to page 4",
// "show 50 rows", "press Enter".
func (r *reader) settle(g *Goal, s *sense) {
	if in := g.In; in != nil && in.Kind == Option && len(in.Words) == 0 && in.Noun != "" && in.Ordinal == 0 {
		in.Words = []Word{{Span: in.NounSpan, Text: in.Noun, Lemma: r.lex.Lemma(in.Noun)}}
		in.Kind, in.Noun, in.NounSpan = "", "", Span{} // "in the options": a part of the page that is called so
	}
	if g.Effect == Rate && g.State != "" && g.Amount == nil {
		g.Effect = Complete
	}
	if g.Effect == Open && len(g.Target) == 1 && (len(g.Target[0].Compare) > 0 || g.Target[0].Only) {
		g.Effect = Filter
	}
	if g.Effect == Add && g.Concept == "reply" && len(g.Target) == 0 && g.To != nil {
		r.answered(g)
	}
	elided(g)
	r.unmarked(g)
	if g.Effect == Add {
		for i := range g.Target {
			r.kindOfNew(&g.Target[i])
		}
	}
	if g.Effect == Add && len(g.Target) == 1 && (Shows(g.Target[0].Kind) || g.Target[0].Pronoun && len(g.Target[0].Words) == 0) &&
		g.To != nil && g.To.Kind == FieldKind {
		r.enters(g)
	}
	if g.Effect == Add && g.Concept == "duplicate" {
		g.Effect = Act
	}
	if g.Effect == Add && g.Risk == "order" && len(g.Target) == 1 && g.From == nil && r.inCart(&g.Target[0]) {
		g.Effect, g.Concept, g.Risk = Submit, "checkout", "pay" // "order what is in the cart"
		g.From, g.Target = g.Target[0].In, nil
	}
	if g.Effect == Add && g.Concept == "order" && r.wholeCart(g) {
		g.Effect, g.Concept, g.Risk = Submit, "checkout", "pay"
	}
	if (g.Effect == Add || g.Effect == Remove) && len(g.Target) == 1 && g.Amount == nil {
		r.portion(g)
	}
	if (g.Effect == Open || g.Effect == Choose) && len(g.Target) == 1 && g.Target[0].Next && len(g.Target[0].Words) == 0 &&
		r.lex.Is(g.Target[0].Noun, lexicon.Unit) {
		g.Effect, g.Place = Page, "next" // "go to the next week"
	}
	if (g.Effect == Choose || g.Effect == Open) && len(g.Target) == 1 && windows(g) {
		g.Effect = Window
		g.Words = append(g.Words, g.Target[0].Span)
	}
	if g.Effect == Complete && len(g.Target) == 1 && (g.State == "approved" || g.State == "confirmed") && asks(&g.Target[0]) {
		g.Effect = Confirm
	}
	if g.Effect == Choose && g.From == nil && len(g.Target) == 1 && len(g.Fields) == 0 {
		r.named(g)
	}
	if g.Effect == Choose && len(g.Target)+len(g.Fields) == 0 && g.From != nil {
		r.quotedOf(g)
	}
	if g.Effect == Press && len(g.Target) == 1 && len(g.Fields) == 1 {
		r.calledSo(g)
	}
	r.onward(g)
	r.paging(g)
	r.keys(g)
	switch g.Effect {
	case Check:
		if s.Property != "" && len(g.Target) > 0 {
			g.Claim = &Claim{Span: g.Span, Property: Property(s.Property), Subject: g.Target}
			r.left(g)
			r.sum(g.Claim)
			g.Target = nil
		}
	case Set:
		r.setting(g, s)
	case Rate:
		if v := g.Amount; v != nil && v.Number == nil && len(g.Target) == 1 && !r.lex.Is(v.Text, lexicon.Unit) { // "rate the service as good"
			g.Effect, g.Fields = Set, append(g.Fields, Field{Name: &g.Target[0], Prep: "as", Value: *v,
				Span: Span{g.Target[0].Span.From, v.Span.To}})
			g.Target, g.Amount = nil, nil
		}
	case Increase, Decrease:
		r.stepping(g)
	}
}

// onward reads "go on by two weeks" as turning that many pages of a calendar.
func (r *reader) onward(g *Goal) {
	if g.Effect != Submit && g.Effect != Abandon || g.Place != "next" && g.Place != "previous" || len(g.Fields) != 1 || len(g.Target) > 0 {
		return
	}
	if v := g.Fields[0].Value; g.Fields[0].Name == nil && v.Number != nil && v.UnitClass == "duration" {
		g.Effect, g.Concept, g.Risk, g.Amount, g.Fields = Page, g.Place, "", &v, nil
	}
}

// enters makes what a field is to hold of what is added into it: "put the value of Language into the
// field", or "it".
func (r *reader) enters(g *Goal) {
	from := g.Target[0]
	for _, f := range g.Fields { // de "den Wert von Sprache"
		if f.Name != nil || f.Prep == "" || f.Value.Quoted || from.Of != nil {
			return
		}
		from.Of = &Description{Span: f.Value.Span, Words: []Word{{Span: f.Value.Span, Text: f.Value.Text, Lemma: r.lex.Lemma(f.Value.Text)}}}
		from.Span.To = max(from.Span.To, f.Value.Span.To)
	}
	v := Value{Span: from.Span, Text: r.source[from.Span.From:from.Span.To], From: &from}
	g.Effect, g.Target, g.Fields, g.To = Set, nil, []Field{{Name: g.To, Prep: "in", Value: v, Span: g.To.Span}}, nil
}

// windows reports whether a goal goes to another window of the browser: "switch to the new tab".
// A tab of the page is called something.
func windows(g *Goal) bool {
	t := &g.Target[0]
	if len(t.Words) > 0 || t.Quoted || t.Of != nil || t.In != nil || t.Kind != WindowKind && (t.Kind != Tab || g.Concept != "switch") {
		return false
	}
	return t.Kind == WindowKind || t.Next || t.Other || t.Ordinal != 0 || len(t.State) > 0
}

// named reads "the accent color Purple" as the option Purple of what is called accent color.
func (r *reader) named(g *Goal) {
	t := &g.Target[0]
	n := len(t.Words)
	if t.Noun == "" || t.Kind != "" || n < 2 || t.Of != nil || t.In != nil || t.NounSpan.To > t.Words[n-1].Span.From ||
		t.NounSpan.From < t.Words[0].Span.From {
		return
	}
	k := 0
	for k < n && t.Words[k].Span.To <= t.NounSpan.From {
		k++
	}
	from := Description{Span: Span{t.Words[0].Span.From, t.NounSpan.To}, Words: append(append([]Word{}, t.Words[:k]...),
		Word{Span: t.NounSpan, Text: t.Noun, Lemma: r.lex.Lemma(t.Noun)})}
	to := *t
	to.Words, to.Noun, to.NounSpan = t.Words[k:], "", Span{}
	to.Span = Span{to.Words[0].Span.From, to.Words[len(to.Words)-1].Span.To}
	g.Target, g.From = []Description{to}, &from
}

// quotedOf reads "bei Speed „Faster“" as the option that is quoted, of what stands before it.
func (r *reader) quotedOf(g *Goal) {
	f := g.From
	if !f.Quoted || f.Noun == "" || len(f.Words) != 1 || f.NounSpan == (Span{}) || f.NounSpan.To > f.Words[0].Span.From ||
		f.Of != nil || f.In != nil {
		return
	}
	to := Description{Span: f.Words[0].Span, Words: f.Words, Quoted: true}
	from := *f
	from.Quoted, from.Words, from.Span.To = false, nil, f.NounSpan.To
	if from.Kind == "" {
		from.Words, from.Noun, from.NounSpan = []Word{{Span: f.NounSpan, Text: f.Noun, Lemma: r.lex.Lemma(f.Noun)}}, "", Span{}
	}
	g.Target, g.From = []Description{to}, &from
}

// calledSo reads "the icon with the tooltip "Print"" as the icon that is called so.
func (r *reader) calledSo(g *Goal) {
	t, f := &g.Target[0], &g.Fields[0]
	if !f.Value.Quoted || f.Off || f.Name == nil || len(f.Name.Words) != 1 || len(t.Words) > 0 || t.Kind == "" {
		return
	}
	for _, id := range lexicon.Concept(f.Name.Words[0].Text, r.lang) {
		switch id.Name() {
		case "label", "title", "name", "tooltip", "text", "caption":
			g.Words = append(g.Words, f.Name.Span)
			t.Words, t.Quoted = []Word{{Span: f.Value.Span, Text: f.Value.Text}}, true
			g.Fields = nil
			return
		}
	}
}

// answered makes what is replied to the target: "reply to the email from Ivonne".
func (r *reader) answered(g *Goal) {
	to, fields := *g.To, g.Fields
	for len(fields) > 0 && fields[0].Name == nil && fields[0].Prep != "" && !fields[0].Value.Quoted && fields[0].Span.From >= to.Span.To {
		v := &fields[0].Value
		to.Having = append(to.Having, Description{Span: v.Span, Words: []Word{{Span: v.Span, Text: v.Text}}})
		to.Span.To = v.Span.To
		fields = fields[1:]
	}
	g.Effect, g.Target, g.To, g.Fields = Act, []Description{to}, nil, fields
}

// portion takes the number out of "30 of the tea".
func (r *reader) portion(g *Goal) {
	t := g.Target[0]
	if t.Of == nil || len(t.Words) != 1 || t.Noun != "" || t.Quoted {
		return
	}
	n := numberOf(t.Words[0].Text)
	if n <= 0 {
		return
	}
	g.Amount = &Value{Span: t.Words[0].Span, Text: t.Words[0].Text, Number: &n}
	of := *t.Of
	of.Having, of.State = append(of.Having, t.Having...), append(of.State, t.State...)
	g.Target = []Description{of}
}

// asks reports whether a thing is a question that is to be answered: "accept the prompt".
func asks(d *Description) bool {
	return (d.Kind == Dialog || d.Kind == Message) && len(d.Words) == 0 && len(d.Having) == 0
}

// left reads "leave Ben unchecked": what stays in a state.
func (r *reader) left(g *Goal) {
	subject := g.Claim.Subject
	last := len(subject) - 1
	if g.Become != nil {
		if e := r.lex.Entry(g.Become.Text, lexicon.State); e != nil {
			g.Claim.Property, g.Claim.Be = Is, []State{{Span: g.Become.Span, Text: g.Become.Text, Name: e.Name}}
			g.Become = nil
		}
		return
	}
	if n := len(subject[last].State); n > 0 && len(subject[last].Words) > 0 &&
		subject[last].State[n-1].Span.From > subject[last].Words[0].Span.From {
		g.Claim.Property, g.Claim.Be = Is, subject[last].State
		subject[last].State = nil
	}
}

// keyNames are the names on keyboards, which languages share or translate word for word.
var keyNames = map[string]string{
	"enter": "Enter", "return": "Enter", "intro": "Enter", "entrée": "Enter", "eingabe": "Enter", "eingabetaste": "Enter",
	"entertaste": "Enter",
	"tab":        "Tab", "tabulator": "Tab", "tabulatortaste": "Tab", "tabulación": "Tab", "escape": "Escape",
	"esc": "Escape", "échap": "Escape",
	"space": "Space", "spacebar": "Space", "leertaste": "Space", "espacio": "Space", "espace": "Space",
	"backspace": "Backspace", "rücktaste": "Backspace", "retroceso": "Backspace", "f2": "F2", "f5": "F5", "pagedown": "PageDown",
}

// keys turns "press Enter" into Type.
func (r *reader) keys(g *Goal) {
	if g.Effect != Press && g.Effect != Type || len(g.Target) != 1 {
		return
	}
	t := &g.Target[0]
	if t.Quoted || t.In != nil || t.Of != nil || t.Kind != "" && t.Kind != Button && len(t.Words) == 0 {
		return
	}
	var keys []string
	for _, w := range t.Words {
		f := strings.TrimSuffix(fold(w.Text), "-key")
		if k, ok := keyNames[f]; ok {
			keys = append(keys, k)
		} else if f != "key" && f != "taste" && f != "tecla" && f != "touche" {
			return
		}
	}
	if len(keys) == 1 && !(keys[0] == "Tab" && t.Kind != "") {
		g.Words = append(g.Words, t.Span)
		g.Effect, g.Keys, g.Target = Type, keys[0], nil
	}
}

// setting settles a goal that sets: what is made something without a preposition becomes it.
func (r *reader) setting(g *Goal, s *sense) {
	if g.To != nil && len(g.Fields) > 0 && g.Fields[0].Name != nil && g.Fields[0].Prep == "" && s.Object() == "value" &&
		(g.To.Both || g.To.All) {
		label := *g.Fields[0].Name
		g.To.Having = append(g.To.Having, label)
		g.Fields[0].Name = nil
	}
	if g.To != nil && len(g.Fields) > 0 && s.Object() == "value" {
		if to := g.To; g.Fields[0].Name != nil || holder(to.Kind) && g.In == nil {
			g.In = to
		} else {
			g.Fields[0].Name = to
		}
		g.To = nil
	}
	if len(g.Fields) != 1 || len(g.Target) > 0 {
		return
	}
	f := g.Fields[0]
	if f.Name != nil && f.Prep == "" && s.Object() == "target" && !f.Value.Quoted && f.Value.Number == nil {
		g.Target = []Description{*f.Name}
		v := f.Value
		g.Become, g.Fields = &v, nil
	}
}

// stepping takes the amount out of "by two nights", or of what is more.
func (r *reader) stepping(g *Goal) {
	if g.Text != nil && g.Amount == nil {
		g.Amount, g.Text = g.Text, nil
	}
	if g.To == nil || len(g.To.Words) != 1 || g.To.Noun != "" || len(g.Target) != 1 || g.Amount != nil || len(g.Fields) > 0 {
		return
	}
	w := g.To.Words[0]
	if n, err := strconv.ParseFloat(w.Text, 64); err == nil { // "turn the volume up to 7": what it is then
		name := g.Target[0]
		g.Effect, g.Target, g.To = Set, nil, nil
		g.Fields = []Field{{Name: &name, Prep: "to", Value: Value{Span: w.Span, Text: w.Text, Number: &n}, Span: Span{name.Span.From, w.Span.To}}}
	}
}

// ordinalPlace returns the ordinal that a word of place means: first, last.
func ordinalPlace(it *item) int {
	e := it.as(lexicon.Place)
	if e == nil {
		return 0
	}
	switch e.Name {
	case "top", "first":
		return 1
	case "bottom", "last":
		return -1
	}
	return 0
}

// kindOfNew takes what stands before "called" for the kind of a thing that is made: nothing of the page
// has it yet, and the name is what stands behind.
func (r *reader) kindOfNew(d *Description) {
	if d.before == 0 || d.before >= len(d.Words) {
		return
	}
	at := Span{d.Words[0].Span.From, d.Words[d.before-1].Span.To}
	d.Called, d.Noun, d.NounSpan, d.Words = true, r.source[at.From:at.To], at, d.Words[d.before:]
	name := d.Words[0]
	d.Quoted = len(d.Words) == 1 && r.source[name.Span.From:name.Span.To] != name.Text
}
