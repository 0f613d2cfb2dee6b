package intent

import (
	"cmp"
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/worker/generation/lexicon"
)

// UnreadBy returns the content words of a text of a language that no slot of some goals took,
// whoever read them: the same accounting as for the readings of Read.
func UnreadBy(source, lang string, goals []Goal) []Span {
	return untaken(source, lang, goals, func(r *reader, toks []token) []item {
		_, items := r.read(toks)
		return items
	})
}

// Left returns the content words of a text of a language that no slot of some goals took, by the words
// alone: what grammar makes of them does not matter.
func Left(source, lang string, goals []Goal) []Span {
	return untaken(source, lang, goals, func(r *reader, toks []token) []item {
		var items []item
		for _, s := range bounded(r.sentences(toks)) {
			items = append(items, r.items(s.toks)...)
		}
		return items
	})
}

// untaken returns which of the items that a text is cut into no goal took, and what is behind Longest.
func untaken(source, lang string, goals []Goal, cut func(*reader, []token) []item) []Span {
	r := &reader{source: source, lang: lang, lex: lexicon.Language(lang)}
	end := longest(source)
	items := cut(r, r.unclitic(tokenize(source[:end])))
	left := r.unread(items, goals)
	if len(source) > end {
		left = append(left, Span{end, len(source)})
	}
	return left
}

// ValueAt returns the value that a part of a text of a language is by itself: a number with its
// unit, a date, a quotation without its marks, else the words as they stand.
func ValueAt(source, lang string, at Span) Value {
	part := source[at.From:at.To]
	r := &reader{source: part, lang: lang, lex: lexicon.Language(lang)}
	v := Value{Text: part}
	if items := r.items(r.unclitic(tokenize(part))); len(items) > 0 {
		v = r.value(&phrase{core: items})
	}
	v.Span = at
	return v
}

// TokenKind is what a token is by its letters alone.
type TokenKind string

// The kinds of tokens: a quotation is one with its marks, a code an address or a file name.
const (
	TokenWord   TokenKind = "word"
	TokenNumber TokenKind = "number"
	TokenQuote  TokenKind = "quote"
	TokenMark   TokenKind = "mark"
	TokenCode   TokenKind = "code"
)

// Token is a part of a text that is read as one: what is written with a word ("isn't", "mets-la")
// is a token of its own.
type Token struct {
	Span
	Kind TokenKind
	Text string // as written; of a quotation what stands in it
	Fold string // in small letters
	Cap  bool   // begins with a capital letter
	Line bool   // the first of its line
}

// Tokens cuts the first Longest characters of a text of a language into tokens. Numbers and marks of lists are none.
func Tokens(source, lang string) []Token {
	r := &reader{source: source, lang: lang, lex: lexicon.Language(lang)}
	toks := r.unclitic(tokenize(source[:longest(source)]))
	kinds := map[class]TokenKind{wordToken: TokenWord, numberToken: TokenNumber, quoteToken: TokenQuote, markToken: TokenMark,
		codeToken: TokenCode}
	out := make([]Token, 0, len(toks))
	for i := 0; i < len(toks); i++ {
		t, line := toks[i], toks[i].line
		if n := 0; line {
			if n = r.bullet(toks, i); n > 0 && i+n < len(toks) {
				i += n
				t = toks[i]
			}
		}
		out = append(out, Token{Span: t.Span, Kind: kinds[t.class], Text: t.text, Fold: t.fold, Cap: t.cap, Line: line})
	}
	return out
}

// Phrasing is one deed or claim whose parts somebody else found in a text: what grammar has behind
// the clause. Grammar reads the parts themselves: things, values, dates.
type Phrasing struct {
	Span Span
	// Effect of a deed; Check of a claim, whose Property is said.
	Effect   Effect
	Property Property
	// Concept tells deeds of one effect apart, as "save" and "send"; "" where the verb says it.
	Concept string
	// On is what Toggle sets, Not and Only what a claim says, Forbidden a deed that must not be done.
	On, Not, Only, Forbidden bool
	Slots                    []ArgumentSpan
	// Words are those in no slot that only say which effect or property it is.
	Words []Span
}

// ArgumentSpan is a part of a phrasing: "thing", "to", "from", "name", "value", "become", "by", "amount", "in",
// "with" or "place".
type ArgumentSpan struct {
	Name string
	Span Span
}

// framer makes goals of a phrasing.
type framer struct {
	r     *reader
	f     *Phrasing
	loose []item // what stands in no slot
	sense sense
	said  bool // the verb of sense stands there
}

// GoalsOf returns the goals of a phrasing in a text of a language, and the spans of what is in a slot and was
// not understood. It returns no goals where the phrasing lacks what its effect needs.
func GoalsOf(source, lang string, f *Phrasing) ([]Goal, []Span) {
	r := &reader{source: source, lang: lang, lex: lexicon.Language(lang)}
	b := &framer{r: r, f: f}
	b.loose = b.outside()
	if f.Effect == Check {
		return b.claims(), r.lost
	}
	goals := b.deed()
	return goals, r.lost
}

// itemsAt reads the items of a part of the text.
func (r *reader) itemsAt(at Span) []item {
	toks := tokenize(r.source[at.From:at.To])
	for i := range toks {
		toks[i].From += at.From
		toks[i].To += at.From
	}
	items := r.items(r.unclitic(toks))
	before := strings.TrimRight(r.source[:at.From], " \t\"'(")
	if before != "" && !strings.HasSuffix(before, "\n") && !strings.ContainsAny(before[len(before)-1:], ".!?\n") && len(items) > 0 {
		items[0].first = false // no sentence begins here: a capital letter is one of a name
	}
	return items
}

// phrasesAt reads the phrases of a part of the text: what stands behind one and is not joined to it by a
// comma or a conjunction belongs to it.
func (r *reader) phrasesAt(at Span) []phrase {
	items := r.itemsAt(at)
	for len(items) > 0 && (items[0].mark || items[0].has(lexicon.Conjunction) && items[0].value == nil && !items[0].cap) {
		items = items[1:]
	}
	list := r.chunks(items, nil)
	var out []phrase
	for i := range list {
		p := list[i]
		if n := len(out); n > 0 && (p.sep == "" || p.neg != nil || p.sep == "(" || p.leads("except")) {
			if p.sep == "(" && p.prep == nil {
				out[n-1].also = append(out[n-1].also, p)
				continue
			}
			attach(&out[n-1], p)
			continue
		}
		out = append(out, p)
	}
	return out
}

// of returns the slots of a name.
func (b *framer) of(name string) []Span {
	var out []Span
	for _, s := range b.f.Slots {
		if s.Name == name {
			out = append(out, s.Span)
		}
	}
	return out
}

// things reads all slots of a name as things.
func (b *framer) things(name string) []Description {
	var out []Description
	for _, s := range b.of(name) {
		list := b.r.phrasesAt(s)
		for i := range list {
			p := list[i]
			if i == 0 {
				p.prep, p.senses = nil, nil
			}
			d := b.r.description(&p)
			d.Span = p.span()
			out = append(out, d)
		}
	}
	return out
}

// thing reads the first slot of a name as a thing; nil without one.
func (b *framer) thing(name string) *Description {
	list := b.things(name)
	if len(list) == 0 {
		return nil
	}
	for i := 1; i < len(list); i++ {
		b.r.lost = append(b.r.lost, list[i].Span)
	}
	return &list[0]
}

// valueAt reads a part as a value.
func (b *framer) valueAt(at Span) Value {
	items := b.r.itemsAt(at)
	if len(items) == 0 {
		return Value{Span: at, Text: b.r.source[at.From:at.To]}
	}
	list := b.r.chunks(items, nil)
	if len(list) == 1 || len(list) == 2 && list[1].sep == "(" {
		p := list[0]
		if len(list) == 2 {
			p.also = append(p.also, list[1])
		}
		if p.prep == nil || p.bounded() {
			p.prep, p.senses = nil, nil
			if v := b.r.value(&p); v.Span.From <= at.From+2 && v.Span.To >= at.To-2 || len(p.also) > 0 {
				return v
			}
		}
	}
	for i := range items {
		if items[i].quoted() {
			return *items[i].value
		}
	}
	return Value{Span: at, Text: b.r.source[at.From:at.To]}
}

// value reads the first slot of a name as a value; nil without one.
func (b *framer) value(name string) *Value {
	list := b.of(name)
	if len(list) == 0 {
		return nil
	}
	b.r.lost = append(b.r.lost, list[1:]...)
	v := b.valueAt(list[0])
	return &v
}

// outside returns the items of the phrasing that stand in no slot.
func (b *framer) outside() []item {
	var out []item
	for _, it := range b.r.itemsAt(b.f.Span) {
		if !slices.ContainsFunc(b.f.Slots, func(s ArgumentSpan) bool { return it.From < s.Span.To && it.To > s.Span.From }) {
			out = append(out, it)
		}
	}
	return out
}

// verb finds the verb of the phrasing's effect among what stands in no slot, else takes the plainest one
// of the language.
func (b *framer) verb() {
	var best *sense
	for i := range b.loose {
		it := &b.loose[i]
		for _, v := range it.verbs {
			if !b.means(v.Verb) || b.f.Concept != "" && v.Attr("concept") != b.f.Concept || it.cap && !it.first && !b.r.lex.Capitals {
				continue
			}
			c := clause{items: b.loose, head: i}
			s, ok := b.r.particle(&c, v)
			if !ok {
				continue
			}
			if s.score -= 0.01 * float64(i); best == nil || s.score > best.score {
				best = &s
			}
		}
	}
	if best != nil {
		b.sense, b.said = *best, true
		return
	}
	at := b.anyVerb()
	v := b.r.lex.Plain(string(b.f.Effect), b.f.Concept)
	if word := b.r.source[at.From:at.To]; v == nil || b.f.Effect == Act { // a deed that controls are called by
		v = &lexicon.Verb{Effect: string(b.f.Effect), Lemma: cmp.Or(b.r.lex.Lemma(word), fold(word)), Risk: lexicon.Risk(word)}
	}
	b.sense = sense{VerbForm: lexicon.VerbForm{Verb: v, Form: "imperative"}, spans: []Span{at}}
}

// means reports whether a verb may be the one of the phrasing. Any deed on a thing that has a name of its own
// ("approve", "archive", "duplicate") is said by its verb alone.
func (b *framer) means(v *lexicon.Verb) bool {
	if b.f.Effect != Act {
		return Effect(v.Effect) == b.f.Effect
	}
	switch Effect(v.Effect) {
	case Act:
		return true
	case Complete, Reopen, Add, Submit, Copy:
		return v.Attr("concept") != "" && v.Risk != "pay"
	}
	return false
}

// anyVerb is where the phrasing says what is to be done, by whatever word.
func (b *framer) anyVerb() Span {
	var content *item
	for i := range b.loose {
		it := &b.loose[i]
		if len(it.verbs) > 0 && !it.mark && !it.has(lexicon.Auxiliary) {
			return it.Span
		}
		if content == nil && it.content() {
			content = it
		}
	}
	if content != nil {
		return content.Span
	}
	if len(b.loose) > 0 {
		return b.loose[0].Span
	}
	return b.f.Span
}

// deed makes the goals of a deed.
func (b *framer) deed() []Goal {
	if b.f.Concept == "checkout" && !b.f.bare() { // what is ordered or booked is a new thing; the cart alone is handed in
		order := *b.f
		order.Effect, order.Concept = Add, ""
		b.f = &order
	}
	b.verb()
	s, f := &b.sense, b.f
	d := &deed{r: b.r, s: s}
	g := &d.g
	effect := f.Effect
	if effect == Act {
		effect = Effect(s.Effect)
	}
	*g = Goal{Span: f.Span, Effect: effect, Verb: s.spans[0], Lemma: s.Lemma, Forbidden: f.Forbidden, State: s.State,
		Concept: cmp.Or(s.Attr("concept"), f.Concept), Risk: s.Risk, How: s.Attr("how"), On: f.On}
	g.Words = append(append(g.Words, s.spans[1:]...), f.Words...)
	if placed(g.Effect) && b.said {
		g.Place = s.Attr("place")
	}
	g.Target = b.things("thing")
	g.To, g.From, g.In, g.With = b.thing("to"), b.thing("from"), b.thing("in"), b.thing("with")
	if g.Effect == Add && g.To == nil {
		g.To, g.In = g.In, nil // a new thing in a list is put into it
	}
	g.Become, g.Amount = b.value("become"), b.value("amount")
	g.Measure = b.thing("by")
	if len(g.Target) == 0 && f.bare() && onThing[f.Effect] {
		g.Target = []Description{{Span: g.Verb, Pronoun: true}}
	}
	b.within(g)
	b.places(d)
	b.fields(g)
	b.text(g)
	b.times(g)
	if g.Effect == Act && g.Amount != nil && g.Amount.UnitClass == "rating" {
		g.Effect, g.Concept = Rate, ""
	}
	b.paged(g)
	goals := d.finish()
	for i := range goals {
		if b.lacks(&goals[i]) {
			return nil
		}
	}
	return goals
}

// within takes a thing that only says where another one is ("her on page 2") for the place of the deed, and the
// second of two things that an edit has no text for as the text.
func (b *framer) within(g *Goal) {
	for i := range g.Target {
		d := &g.Target[i]
		if len(g.Target) > 1 && g.In == nil && d.Pronoun && d.In != nil && len(d.Words)+len(d.State) == 0 && d.Noun == "" && d.Extreme == nil &&
			d.Ordinal == 0 && !d.Other && !d.Both && !d.All {
			g.In = d.In
			g.Target = slices.Delete(slices.Clone(g.Target), i, i+1)
			break
		}
	}
	if g.Effect == Edit && len(g.Target) == 2 && g.Become == nil && len(b.of("value"))+len(b.of("name")) == 0 {
		v := b.valueAt(g.Target[1].Span)
		g.Text, g.Target = &v, g.Target[:1]
	}
}

// onThing are effects that are done to a thing: where none is said it is the one that was spoken of.
var onThing = map[Effect]bool{Remove: true, Complete: true, Reopen: true, Rate: true, Open: true, Close: true, Expand: true,
	Collapse: true, Move: true, Act: true, Edit: true, Increase: true, Decrease: true, Select: true, Point: true, Clear: true}

// bare reports whether a phrasing names neither a thing nor a field.
func (f *Phrasing) bare() bool {
	return !slices.ContainsFunc(f.Slots, func(s ArgumentSpan) bool { return s.Name == "thing" || s.Name == "name" || s.Name == "value" })
}

// places reads where to, and in which order.
func (b *framer) places(d *deed) {
	g := &d.g
	for _, at := range b.of("place") {
		items := b.r.itemsAt(at)
		if b.placeOfOne(g, items) {
			g.Words = append(g.Words, at)
			continue
		}
		rest := d.spatial(items)
		for _, p := range d.adverbs(b.r.chunks(rest, nil)) {
			m := b.r.description(&p)
			switch {
			case g.Effect == Page && m.Next:
				g.Place = "next"
			case g.Effect == Page && m.Ordinal == -1:
				g.Place = "last"
			case g.Effect == Page && slices.ContainsFunc(p.core, func(it item) bool { return it.has(lexicon.Quantity, "previous") || it.has(lexicon.Place, "back") }):
				g.Place = "previous"
			case g.Effect == Move && (m.Ordinal == 1 || m.Ordinal == -1):
				g.Place = map[int]string{1: "first", -1: "last"}[m.Ordinal]
			case g.Effect == Move && len(p.senses) > 0 && g.To != nil:
				g.Place = p.senses[0]
			case g.Effect == Sort && g.Measure == nil:
				g.Measure = &m
				continue
			case len(p.core) == 1 && placeOf(&phrase{core: p.core}) != nil:
				g.Place = placeOf(&phrase{core: p.core}).Name
			default:
				b.r.lost = append(b.r.lost, p.span())
				continue
			}
			g.Words = append(g.Words, p.span())
		}
	}
	for i := range b.loose {
		if e := b.loose[i].as(lexicon.Place); e != nil && g.Place == "" && (g.Effect == Move || g.Effect == Navigate || g.Effect == Scroll) && e.Name != "here" {
			g.Place = e.Name
		}
	}
}

// placeOfOne reads a place that one word says: "back", "above" what it is moved to, "reload".
func (b *framer) placeOfOne(g *Goal, items []item) bool {
	if len(items) != 1 {
		return false
	}
	it := &items[0]
	if g.Effect == Move && g.To != nil && it.has(lexicon.Preposition) {
		g.Place = senses(it)[0]
		return true
	}
	if g.Effect != Navigate {
		return false
	}
	if e := it.as(lexicon.Place); e != nil {
		g.Place = e.Name
		return true
	}
	for _, v := range it.verbs {
		if v.Effect == string(Navigate) && v.Attr("place") != "" {
			g.Place = v.Attr("place")
			return true
		}
	}
	if v := b.r.lex.With(it.text, string(Navigate)); v != nil {
		g.Place = v.Attr("place")
	}
	return g.Place != ""
}

// fields pairs names with values, in the order in which they stand.
func (b *framer) fields(g *Goal) {
	var list []ArgumentSpan
	names, values := 0, 0
	for _, s := range b.f.Slots {
		switch s.Name {
		case "name":
			names++
			list = append(list, s)
		case "value":
			values++
			list = append(list, s)
		}
	}
	if values == 0 && g.Become == nil {
		for _, s := range list {
			g.Target = append(g.Target, *b.asThing(s.Span))
		}
		return
	}
	behind := names == values && names > 0 && list[0].Name == "value" // "7 for the volume"
	var name, value *ArgumentSpan
	flush := func() {
		if name == nil && value == nil {
			return
		}
		fd := Field{}
		if name != nil && value != nil {
			fd.Prep = "as" // the value is the field's, as behind the preposition of a sentence
		}
		if name != nil {
			sub := framer{r: b.r, f: &Phrasing{Slots: []ArgumentSpan{*name}}}
			fd.Name = sub.thing("name")
			fd.Span = name.Span
		}
		switch {
		case value != nil:
			fd.Value = b.valueAt(value.Span)
			if fd.Name == nil {
				fd.Span = value.Span
			} else {
				fd.Span = Span{min(name.Span.From, value.Span.From), max(name.Span.To, value.Span.To)}
			}
		case g.Become != nil && names == 1:
			fd.Value, g.Become = *g.Become, nil
		default:
			b.r.lost = append(b.r.lost, name.Span)
			name = nil
			return
		}
		g.Fields = append(g.Fields, fd)
		name, value = nil, nil
	}
	for i := range list {
		s := &list[i]
		switch {
		case s.Name == "name" && name != nil, s.Name == "value" && value != nil,
			s.Name == "name" && value != nil && !behind, s.Name == "value" && name != nil && behind:
			flush()
		}
		if s.Name == "name" {
			name = s
		} else {
			value = s
		}
		if name != nil && value != nil {
			flush()
		}
	}
	flush()
	changes := g.Effect == Set || g.Effect == Edit
	if changes && len(g.Fields) == 1 && g.Fields[0].Name != nil && len(g.Target) == 1 && g.Fields[0].Name.Of == nil {
		of := g.Target[0]
		g.Fields[0].Name.Of, g.Target = &of, nil
		if g.Effect == Edit {
			v := g.Fields[0].Value
			g.Target, g.Text, g.Fields = []Description{*g.Fields[0].Name}, &v, nil
		}
	}
}

// text puts values that stand alone where the effect has them.
func (b *framer) text(g *Goal) {
	take := func() *Value {
		if len(g.Fields) != 1 || g.Fields[0].Name != nil {
			return nil
		}
		v := g.Fields[0].Value
		g.Fields = nil
		return &v
	}
	switch g.Effect {
	case Search, Edit, Append, Upload, Type:
		if g.Text == nil {
			g.Text = take()
		}
		if g.Effect == Search && g.Text == nil && len(g.Target) == 1 {
			s := g.Target[0].Span
			g.Text, g.Target = &Value{Span: s, Text: strings.Trim(b.r.source[s.From:s.To], `"“”„«»`), Quoted: g.Target[0].Quoted}, nil
		}
	case Navigate:
		if g.Text = take(); g.Text == nil && len(g.Target) == 1 && strings.ContainsAny(b.r.source[g.Target[0].Span.From:g.Target[0].Span.To], "/.") {
			v := b.valueAt(g.Target[0].Span)
			g.Text, g.Target = &v, nil
		}
	case Rate, Increase, Decrease, Wait, Page:
		if g.Amount == nil {
			g.Amount = take()
		}
	case Set:
		if len(g.Fields) == 1 && g.Fields[0].Name == nil && len(g.Target) == 1 {
			name := g.Target[0]
			g.Fields[0].Name, g.Target = &name, nil
		}
		if v := g.Amount; v != nil && len(g.Fields) == 0 && len(g.Target) == 1 {
			name := g.Target[0]
			g.Fields, g.Target, g.Amount = []Field{{Name: &name, Value: *v, Span: name.Span}}, nil, nil
		}
	case Choose, Press, Toggle, Filter:
		if len(g.Target) == 0 {
			for _, f := range g.Fields {
				if f.Name == nil {
					g.Target = append(g.Target, *b.asThing(f.Value.Span))
				}
			}
			g.Fields = slices.DeleteFunc(g.Fields, func(f Field) bool { return f.Name == nil })
		}
	}
	if g.Effect == Type && g.Text != nil && len(g.Target) == 0 { // a key
		g.Target = []Description{*b.asThing(g.Text.Span)}
		if b.r.keys(g); g.Keys != "" {
			g.Text = nil
		} else {
			g.Target = nil
		}
	}
}

// asThing reads a part as a thing.
func (b *framer) asThing(at Span) *Description {
	sub := framer{r: b.r, f: &Phrasing{Slots: []ArgumentSpan{{"thing", at}}}}
	if d := sub.thing("thing"); d != nil {
		return d
	}
	return &Description{Span: at, Words: []Word{{Span: at, Text: b.r.source[at.From:at.To]}}}
}

// perWords are the words that a number of rows for each page has in the four languages.
var perWords = []string{"per", "pro", "por", "par", "je", "each"}

// times takes how often something is done out of an amount: "twice".
func (b *framer) times(g *Goal) {
	list := b.of("amount")
	if len(list) != 1 || g.Amount == nil {
		return
	}
	items := b.r.itemsAt(list[0])
	if len(items) == 0 || items[0].value == nil || items[0].value.Number == nil {
		return
	}
	e := items[0].as(lexicon.Number)
	if e != nil && e.Attr("times") != "" || len(items) == 2 && b.r.timesWord(&items[1]) {
		g.Times, g.Amount = max(1, min(int(*items[0].value.Number), mostTimes)), nil
		g.Words = append(g.Words, list[0])
	}
}

// paged tells a number of rows from that of a page.
func (b *framer) paged(g *Goal) {
	if g.Effect != Page || g.Amount == nil || g.Amount.Number == nil {
		return
	}
	rows := false
	for i := range b.loose {
		it := &b.loose[i]
		rows = rows || it.has(lexicon.Noun_, string(Row), string(Item)) || it.has(lexicon.Preposition, "per") ||
			slices.ContainsFunc(strings.Fields(it.fold), func(w string) bool { return slices.Contains(perWords, w) })
	}
	if rows {
		n := *g.Amount.Number
		g.Amount = &Value{Span: g.Amount.Span, Text: plainNumber(n), Number: &n, UnitClass: "count"}
		g.Target = []Description{{Span: g.Amount.Span, Kind: Item, Count: int(n), Flags: []Span{g.Amount.Span}}}
	}
}

// fielded are the effects that have fields.
var fielded = map[Effect]bool{Add: true, Set: true, Choose: true, Edit: true, Append: true, Filter: true, Submit: true, Complete: true,
	Reopen: true, Act: true, SignIn: true, Rate: true, Toggle: true, Upload: true, Search: true, Copy: true, Move: true}

// lacks reports whether a goal has not what its effect cannot do without.
func (b *framer) lacks(g *Goal) bool {
	if len(g.Fields) > 0 && !fielded[g.Effect] || g.Measure != nil && g.Effect != Sort {
		return true // a part that the effect has no use for
	}
	switch g.Effect {
	case Search:
		return g.Text == nil
	case Rate:
		return g.Amount == nil && len(g.Fields) == 0
	case Move:
		return len(g.Target) == 0 || g.To == nil && g.Place == ""
	case Sort:
		return g.Measure == nil
	case Navigate:
		return g.Text == nil && g.Place == ""
	case Type:
		return g.Keys == "" && (g.Text == nil || !g.Text.Quoted && strings.Contains(g.Text.Text, "+")) // "Ctrl+A" is no text
	case Set, Edit, Choose, Append:
		return len(g.Fields)+len(g.Target) == 0
	}
	return false
}

// phrases reads all slots of some names as phrases.
func (b *framer) phrases(names ...string) []phrase {
	var out []phrase
	for _, s := range b.f.Slots {
		if slices.Contains(names, s.Name) {
			list := b.r.phrasesAt(s.Span)
			for i := range list {
				if len(out) > 0 && list[i].sep == "" {
					list[i].sep = "and"
				}
			}
			out = append(out, list...)
		}
	}
	return out
}

// claims makes the goals of what must hold.
func (b *framer) claims() []Goal {
	f := b.f
	a := &asserter{r: b.r, c: &clause{kind: claim, items: b.r.itemsAt(f.Span)}, property: f.Property, not: f.Not, only: f.Only, found: true}
	if len(a.c.items) == 0 {
		return nil
	}
	a.words = append(a.words, f.Words...)
	for i := range b.loose {
		if e := b.loose[i].as(lexicon.State); e != nil && f.Property == Shown && (e.Name == "gone" || e.Name == "hidden") {
			a.not = true
		}
		for _, v := range b.loose[i].verbs {
			if v.Effect != string(Check) || v.Particle != "" {
				continue
			}
			switch {
			case f.Property == Shown && !f.Not && v.Property == string(Appears):
				a.property = Appears
			case f.Property == Shown && f.Not && v.Property == string(Vanishes):
				a.property, a.not = Vanishes, false
			}
		}
	}
	a.subject = b.phrases("thing")
	if len(a.subject) == 0 {
		a.subject = b.phrases("name")
	}
	for i := range a.subject {
		if i == 0 || a.subject[i].sep != "" {
			a.subject[i].prep, a.subject[i].senses = nil, nil
		}
	}
	a.values = b.undenied(a, b.phrases("value", "become", "amount"))
	switch f.Property {
	case Shown:
		a.there = !f.Only
		a.subject, a.values = append(a.subject, a.values...), nil
		b.shownIn(a)
	case Contains:
		if len(a.values) == 0 && len(a.subject) > 1 {
			a.values, a.subject = a.subject[1:], a.subject[:1]
		}
		if in := b.phrases("in"); len(a.subject) == 0 && len(in) > 0 {
			in[0].prep, in[0].senses = nil, nil
			a.subject = in[:1]
		}
	case At:
		b.at(a)
	case Order:
		return b.order()
	case Unchanged:
		a.subject, a.values = append(a.subject, a.values...), nil
		for i := range a.subject {
			if n := a.subject[i].neg; n != nil { // "nothing else changes": the others stay
				a.words, a.subject[i].neg = append(a.words, n.Span), nil
			}
		}
	}
	if f.Property != Contains {
		for _, s := range b.of("in") {
			if list := b.r.phrasesAt(s); len(list) > 0 {
				p := list[0]
				if p.prep == nil {
					p.prep = &item{Span: Span{s.From, s.From}, fold: "in", text: "in", entries: []lexicon.Entry{{Class: lexicon.Preposition, Name: "in"}}}
					p.senses = []string{"in"}
				}
				a.places = append(a.places, p)
			}
		}
	}
	var goals []Goal
	for _, c := range a.decide() {
		if len(c.Subject)+len(c.Values)+len(c.Be) == 0 && c.Where == nil {
			return nil
		}
		goals = append(goals, Goal{Span: f.Span, Effect: Check, Claim: &c})
	}
	return goals
}

// undenied takes a number or state that is a negation and nothing else ("no members are left") for what turns
// the claim round.
func (b *framer) undenied(a *asserter, values []phrase) []phrase {
	for _, s := range b.f.Slots {
		if s.Name != "value" && s.Name != "become" && s.Name != "amount" {
			continue
		}
		items := b.r.itemsAt(s.Span)
		if len(items) != 1 || !items[0].has(lexicon.Negation) || items[0].value != nil {
			continue
		}
		a.not, a.words = !a.not, append(a.words, s.Span)
		if a.property == Counts {
			a.property = Shown
		}
		values = slices.DeleteFunc(values, func(p phrase) bool { return p.span() == s.Span })
	}
	return values
}

// shownIn takes a part of the page out of what is shown there: "the page shows "Done"".
func (b *framer) shownIn(a *asserter) {
	quoted := slices.ContainsFunc(a.subject, func(p phrase) bool { return p.quoted() })
	for i := range a.subject {
		if !quoted || len(a.subject) < 2 || a.subject[i].quoted() {
			continue
		}
		d := b.r.description(&a.subject[i])
		named := len(d.Words)+len(d.State)+len(d.Having) > 0 || d.Of != nil || d.In != nil
		if named || !holder(d.Kind) && d.Kind != Message { // a page is a holder too
			continue
		}
		if d.Kind == PageKind || d.Kind == Message {
			a.words = append(a.words, a.subject[i].span())
		} else {
			a.places = append(a.places, a.subject[i])
		}
		a.subject = slices.Delete(a.subject, i, i+1)
		return
	}
}

// at reads the place in a list that is said.
func (b *framer) at(a *asserter) {
	if len(a.subject) == 0 {
		a.subject, a.values = a.values, nil
	}
	to := b.phrases("to")
	for _, at := range b.of("place") {
		items := b.r.itemsAt(at)
		if len(to) > 0 && len(items) > 0 {
			p := to[0]
			p.prep, p.senses = &items[0], senses(&items[0])
			a.property, a.places = Shown, append(a.places, p)
			continue
		}
		list := b.r.chunks(items, nil)
		for i := range list {
			list[i].prep, list[i].senses = nil, nil
		}
		a.values = append(a.values, list...)
	}
}

// order reads in which order a list stands.
func (b *framer) order() []Goal {
	d := &deed{r: b.r, s: &sense{VerbForm: lexicon.VerbForm{Verb: &lexicon.Verb{Effect: string(Sort)}}}}
	d.g = Goal{Span: b.f.Span, Effect: Sort, Measure: b.thing("by")}
	b.places(d)
	if d.g.Measure == nil {
		d.g.Measure = d.by
	}
	if d.g.Measure == nil {
		d.g.Measure = b.thing("thing")
	}
	if d.g.Measure == nil {
		return nil
	}
	c := Claim{Span: b.f.Span, Property: Order, By: d.g.Measure, Descending: d.g.Descending, Words: append(d.g.Words, b.f.Words...), Op: "="}
	return []Goal{{Span: b.f.Span, Effect: Check, Claim: &c}}
}
