package model

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/lexicon"
)

const (
	// maxReadings and maxGoals bound an answer: no text asks for more.
	maxReadings = 3
	maxGoals    = 100
	// maxDepth bounds how deep things are described by others.
	maxDepth = 4
	// maxLocated bounds the parts of one answer: each is looked for in the text.
	maxLocated = 3_000
)

// finder finds the parts of an answer in the text. Its first error stays.
type finder struct {
	source, low string
	lang        string
	lex         *lexicon.Lexicon
	goal        intent.Span   // what is searched first
	taken       []intent.Span // by slots of the present goal
	found       int
	err         error
}

// readingOf returns the reading that an answer has of a text. Its error is for the model.
func readingOf(source, lang string, r *jsonReading) (intent.Reading, error) {
	f := &finder{source: source, low: strings.ToLower(source), lang: lang, lex: lexicon.Language(lang)}
	if len(f.low) != len(source) {
		f.low = source // letters that change their length: only as it is written
	}
	out := intent.Reading{Prior: 1}
	if len(r.Goals) == 0 || len(r.Goals) > maxGoals {
		return out, fmt.Errorf("goals must be 1 to %d", maxGoals)
	}
	end := 0
	for i := range r.Goals {
		g := f.readGoal(&r.Goals[i], end)
		if f.err != nil {
			return out, fmt.Errorf("goal %d: %w", i+1, f.err)
		}
		end = g.Span.To
		out.Goals = append(out.Goals, g)
	}
	return out, repeated(out.Goals)
}

// repeated returns an error where the same words ask for the same deed twice.
func repeated(goals []intent.Goal) error {
	seen := map[string]bool{}
	for i := range goals {
		g := &goals[i]
		if g.Effect == intent.Check || g.Verb.To == 0 {
			continue
		}
		key := fmt.Sprint(g.Effect, g.Verb)
		for k := range g.Target {
			key += fmt.Sprint(g.Target[k].Span)
		}
		for k := range g.Fields {
			key += fmt.Sprint(g.Fields[k].Value.Span)
		}
		if g.Text != nil {
			key += fmt.Sprint(g.Text.Span)
		}
		if seen[key] {
			return fmt.Errorf("goal %d: the same words ask for it twice; use times", i+1)
		}
		seen[key] = true
	}
	return nil
}

// fail keeps the first error.
func (f *finder) fail(format string, args ...any) {
	if f.err == nil {
		f.err = fmt.Errorf(format, args...)
	}
}

// among checks a name of a list; "" may be left out.
func (f *finder) among(slot, name string, names []string) string {
	if name != "" && !slices.Contains(names, name) {
		f.fail("%s %q is none of %s", slot, shorten(name, maxCalled), strings.Join(names, ", "))
		return ""
	}
	return name
}

// locate returns where a part of the answer stands in the text: in the goal first, and where
// nothing else of the goal stands.
func (f *finder) locate(part string) intent.Span {
	part = strings.TrimSpace(part)
	if f.found++; f.found > maxLocated {
		f.fail("the answer has too many parts")
	}
	if f.err != nil || part == "" {
		return intent.Span{}
	}
	low := strings.ToLower(part)
	if f.low == f.source || len(low) != len(part) {
		low = part
	}
	var again *intent.Span
	for _, in := range []intent.Span{f.goal, {From: 0, To: len(f.source)}} {
		for at := in.From; at < in.To; {
			i := strings.Index(f.low[at:in.To], low)
			if i < 0 {
				break
			}
			s := intent.Span{From: at + i, To: at + i + len(low)}
			if !f.whole(s) {
				at = s.From + 1
				continue
			}
			if !f.isTaken(s) {
				f.taken = append(f.taken, s)
				return s
			}
			if again == nil {
				again = &s
			}
			at = s.To
		}
	}
	if again != nil {
		return *again
	}
	f.fail("%q is not in the text", shorten(part, maxCalled))
	return intent.Span{}
}

// whole reports whether a part stands between other characters than those of words.
func (f *finder) whole(s intent.Span) bool {
	first, _ := utf8.DecodeRuneInString(f.source[s.From:])
	last, _ := utf8.DecodeLastRuneInString(f.source[:s.To])
	before, _ := utf8.DecodeLastRuneInString(f.source[:s.From])
	after, _ := utf8.DecodeRuneInString(f.source[s.To:])
	return !(inWord(before) && inWord(first)) && !(inWord(last) && inWord(after))
}

// inWord reports whether a rune belongs to a word. Languages without spaces have none.
func inWord(r rune) bool { return (unicode.IsLetter(r) || unicode.IsDigit(r)) && r < 0x2e80 }

func (f *finder) isTaken(s intent.Span) bool {
	return slices.ContainsFunc(f.taken, func(t intent.Span) bool { return t.From < s.To && s.From < t.To })
}

// words returns the words of a part one by one: they need not stand together.
func (f *finder) words(part string) []intent.Word {
	var list []intent.Word
	for _, w := range strings.FieldsFunc(part, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(`"“”„«»`, r) }) {
		s := f.locate(w)
		if s.To == 0 {
			continue
		}
		text := f.source[s.From:s.To]
		list = append(list, intent.Word{Span: s, Text: text, Lemma: f.lex.Lemma(text)})
	}
	return list
}

// spans are those of several parts.
func (f *finder) spans(parts []string) []intent.Span {
	var list []intent.Span
	for _, p := range parts {
		for _, w := range f.words(p) {
			list = append(list, w.Span)
		}
	}
	return list
}

// value returns a value that stands in the text; nil for "".
func (f *finder) value(part string) *intent.Value {
	if strings.TrimSpace(part) == "" {
		return nil
	}
	s := f.locate(strings.Trim(strings.TrimSpace(part), `"“”„«»`))
	if s.To == 0 {
		return nil
	}
	v := intent.ValueAt(f.source, f.lang, s)
	if s.From > 0 && s.To < len(f.source) && strings.ContainsAny(f.source[s.From-1:s.From], `"'`) {
		v = intent.Value{Span: s, Text: f.source[s.From:s.To], Quoted: true}
	}
	return &v
}

// readGoal returns a goal. It is searched for behind the goal before it first: they stand in their order.
func (f *finder) readGoal(j *jsonGoal, from int) intent.Goal {
	f.goal, f.taken = intent.Span{From: from, To: len(f.source)}, nil
	g := intent.Goal{Effect: intent.Effect(f.among("effect", j.Effect, effects)), Place: f.among("place", j.Place, places),
		Descending: j.Descending, On: j.On, Keys: j.Keys, Times: max(0, min(j.Times, 50)), Forbidden: j.Forbidden,
		Expected: j.Expected, Optional: j.Optional, Otherwise: j.Otherwise}
	if j.Effect == "" || strings.TrimSpace(j.Text) == "" {
		f.fail("text or effect is missing")
	}
	g.Span = f.locate(j.Text)
	f.goal, f.taken = g.Span, nil
	f.verb(&g, j.Verb)
	g.Target = f.things(j.Target, 0)
	g.To, g.From, g.In = f.thing(j.To, 0), f.thing(j.From, 0), f.thing(j.In, 0)
	g.With, g.Measure = f.thing(j.With, 0), f.thing(j.Measure, 0)
	g.Become, g.Text, g.Amount = f.value(j.Become), f.value(j.Value), f.value(j.Amount)
	for i := range j.Fields {
		g.Fields = append(g.Fields, f.field(&j.Fields[i]))
	}
	g.Claim, g.If = f.claim(j.Claim), f.claim(j.If)
	if g.Claim == nil && g.Effect == intent.Check {
		f.fail("claim is missing")
	}
	if g.Keys != "" && !namesKey(f.low, g.Keys) {
		f.fail("the text names no key %q", shorten(g.Keys, maxCalled))
	}
	g.Words = append(g.Words, f.spans(j.Words)...)
	return g
}

// verb sets the verb of a goal, and what the lexicon says of it where it knows it so.
func (f *finder) verb(g *intent.Goal, part string) {
	words := f.words(part)
	if len(words) == 0 {
		return
	}
	g.Verb, g.Lemma = words[0].Span, strings.ToLower(words[0].Text)
	for _, w := range words[1:] {
		g.Words = append(g.Words, w.Span)
	}
	for _, v := range f.lex.Verbs(words[0].Text) {
		if v.Effect == string(g.Effect) {
			g.Lemma, g.State, g.Concept, g.Risk = v.Lemma, v.State, v.Attr("concept"), v.Risk
			break
		}
	}
	if g.Risk == "" {
		g.Risk = lexicon.Risk(part)
	}
}

func (f *finder) field(j *jsonField) intent.Field {
	out := intent.Field{Off: j.Off, Keep: j.Keep}
	if v := f.value(j.Value); v != nil {
		out.Value, out.Span = *v, v.Span
	} else if !j.Off && !j.Keep {
		f.fail("a field has no value")
	}
	out.Name = f.thing(j.Name, 0)
	if out.Name != nil && out.Span.To == 0 {
		out.Span = out.Name.Span
	}
	return out
}

func (f *finder) things(list []jsonThing, depth int) []intent.Description {
	var out []intent.Description
	for i := range list {
		if d := f.thing(&list[i], depth); d != nil {
			out = append(out, *d)
		}
	}
	return out
}

// thing returns a description; nil for none.
func (f *finder) thing(j *jsonThing, depth int) *intent.Description {
	if j == nil {
		return nil
	}
	if depth > maxDepth {
		f.fail("things are described too deep")
		return nil
	}
	d := &intent.Description{Kind: intent.Kind(f.among("kind", j.Kind, kinds)), Quoted: j.Quoted, Ordinal: j.Ordinal,
		Next: j.Next, Other: j.Other, All: j.All, Both: j.Both, Only: j.Only, Pronoun: j.Pronoun, Count: max(0, j.Count)}
	d.Words = f.words(j.Words)
	if j.Noun != "" {
		d.NounSpan = f.locate(j.Noun)
		d.Noun = f.source[d.NounSpan.From:d.NounSpan.To]
	}
	d.Flags = f.spans(j.Flags)
	d.Extreme = f.extreme(j.Extreme)
	d.State = f.states(j.States)
	d.Of, d.In = f.thing(j.Of, depth+1), f.thing(j.In, depth+1)
	d.Having, d.Lacking, d.Except = f.things(j.Having, depth+1), f.things(j.Lacking, depth+1), f.things(j.Except, depth+1)
	d.Span = around(d)
	said := len(d.Flags) > 0 || d.Extreme != nil
	if (j.Ordinal != 0 || j.All || j.Both || j.Only || j.Next || j.Other || j.Count > 0) && !said {
		f.fail("flags is missing: the words for ordinal, all, both, only, next, other or count")
	}
	if d.Span.To == 0 && !d.Pronoun {
		return nil // nothing is said of it
	}
	return d
}

// around is the part of the text from the first to the last word of a description.
func around(d *intent.Description) intent.Span {
	all := slices.Clone(d.Flags)
	for _, w := range d.Words {
		all = append(all, w.Span)
	}
	for _, s := range d.State {
		all = append(all, s.Span)
	}
	all = append(all, d.NounSpan)
	if d.Extreme != nil {
		all = append(all, d.Extreme.Span)
	}
	out := intent.Span{}
	for _, s := range all {
		switch {
		case s.To == 0:
		case out.To == 0:
			out = s
		default:
			out.From, out.To = min(out.From, s.From), max(out.To, s.To)
		}
	}
	return out
}

func (f *finder) extreme(j *jsonExtreme) *intent.Extreme {
	if j == nil {
		return nil
	}
	words := f.words(j.Words)
	if len(words) == 0 {
		return nil
	}
	span := intent.Span{From: words[0].Span.From, To: words[len(words)-1].Span.To}
	e := &intent.Extreme{Span: span, Measure: identifier(j.Measure), Max: j.Max}
	if noun := f.words(j.Noun); len(noun) > 0 {
		e.Noun = &noun[0]
	}
	if e.Measure == "" && e.Noun == nil {
		f.fail("measure or noun of an extreme is missing")
	}
	return e
}

func (f *finder) states(list []jsonState) []intent.State {
	var out []intent.State
	for i := range list {
		j := &list[i]
		s := f.locate(j.Words)
		if s.To == 0 {
			continue
		}
		st := intent.State{Span: s, Text: f.source[s.From:s.To], Name: identifier(j.Name), Not: j.Not}
		if e := f.lex.Entry(st.Text, lexicon.State); e != nil {
			st.Name = e.Name // the words of the text themselves
		}
		out = append(out, st)
	}
	return out
}

// identifier returns a name of a class; "" for other texts.
func identifier(name string) string {
	const longest = 30
	if len(name) > longest || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz_") != "" {
		return ""
	}
	return name
}

// claim returns what must hold; nil for none.
func (f *finder) claim(j *jsonClaim) *intent.Claim {
	if j == nil {
		return nil
	}
	c := &intent.Claim{Span: f.goal, Property: intent.Property(f.among("property", j.Property, properties)), Not: j.Not, Only: j.Only,
		Op: f.among("op", j.Op, operators), Descending: j.Descending}
	if c.Property == "" && f.err == nil {
		f.err = errors.New("property is missing")
	}
	c.Subject = f.things(j.Subject, 0)
	for _, text := range j.Values {
		if v := f.value(text); v != nil {
			c.Values = append(c.Values, *v)
		}
	}
	c.Be = f.states(j.States)
	c.Where, c.By = f.thing(j.Where, 0), f.thing(j.By, 0)
	c.Words = f.spans(j.Words)
	if len(c.Subject)+len(c.Values)+len(c.Be) == 0 && c.Property != intent.Asked {
		f.fail("the claim says nothing of the text")
	}
	return c
}
