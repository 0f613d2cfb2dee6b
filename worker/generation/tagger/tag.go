// Package tagger labels what people write about a test: which part asks for a deed or says what must hold, of
// what kind it is, and which words are the thing, the value, the place of it.
//
// It has learned that from labelled texts of many people (the folder corpus; ParseSample describes their form),
// and knows no page and no test. Three linear classifiers work one after the other: the first cuts a text into
// segments, the second says of each its kind, the third labels its words. They see words with their neighbours
// and endings, and what the lexicon knows of them. They are averaged perceptrons (Collins 2002, Discriminative
// training methods for hidden Markov models); where labels form a sequence the best one is found by Viterbi's
// algorithm.
//
// cmd/train writes weights.gz. Whoever uses the labels (package reading) accounts for every word: a label is
// a likely guess and no more.
package tagger

import (
	"slices"
	"strconv"
	"strings"

	"github.com/slipway-qa/slipway/worker/generation/intent"
)

// Tagger labels texts. It is never changed, and may be used by many.
type Tagger struct {
	parts, kinds, slots, forbidden, late *linear
	loose                                map[string]bool // words that stood outside of all slots several times
	digest                               string          // of the texts that it has learned from
}

// partLabels are the labels of parts: outside of all segments, the first and a further word of a deed, a check or a note.
var partLabels = []string{"o", "d+", "d", "c+", "c", "n+", "n"}

// slotLabels are those of a word in a segment: none, the first and a further word of a slot.
var slotLabels = func() []string {
	list := []string{"-"}
	for _, s := range Slots {
		list = append(list, s+"+", s)
	}
	return list
}()

// The labels of kinds, and of whether something is so.
var (
	kindLabels = slices.Concat(Deeds, Checks)
	truth      = []string{"no", "yes"}
)

// follows reports whether a label may stand behind another: a further word only behind one of its own. What
// is no sequence has no further words.
func follows(labels []string) func(before, label int) bool {
	sequence := slices.ContainsFunc(labels, func(l string) bool { return strings.HasSuffix(l, "+") })
	ok := make([][]bool, len(labels)+1)
	for b := range ok {
		ok[b] = make([]bool, len(labels))
		for l, name := range labels {
			inner := sequence && name != "o" && name != "-" && !strings.HasSuffix(name, "+")
			ok[b][l] = !inner || b > 0 && strings.TrimSuffix(labels[b-1], "+") == name
		}
	}
	return func(before, label int) bool { return ok[before+1][label] }
}

// goesOn reports whether a label says that its word belongs to what the label before is of.
func goesOn(labels []string) func(before, label int) bool {
	return func(before, label int) bool {
		name := labels[label]
		return !strings.HasSuffix(name, "+") && strings.TrimSuffix(labels[before], "+") == name
	}
}

// names tells which of some words go on with the name of the word before: both have a capital letter, as in
// "Grace Obi". Where all nouns have one (apart is set) two of them may be two things.
func (x *extractor) names(first, last int, apart bool) []bool {
	out := make([]bool, last-first)
	for i := first + 1; i < last; i++ {
		w, b := x.at(i), x.at(i-1)
		out[i-first] = w.capital() && b.capital() && !w.Line && !(apart && x.nouns) && (i-1 > 0 && !ends(x.at(i-2)) || len(b.effects) == 0)
	}
	return out
}

// capital reports whether a word has a capital letter.
func (w *word) capital() bool { return w.shape == "Cap" || w.shape == "UP" }

// ends reports whether a token ends a sentence, so that the next word has a capital letter in any case.
func ends(w *word) bool { return w.Kind == intent.TokenMark && strings.ContainsAny(w.Text, ".!?:") }

// Part is a segment that was found in a text.
type Part struct {
	Segment
	// First and Last are its tokens: [First, Last).
	First, Last int
	// Labels are those of its tokens: the name of a slot, "" for none.
	Labels []string
	// Other is the second likeliest kind, and Margin how much less likely it is.
	Other  string
	Margin float32
}

// How strongly words that say something of their own are kept in slots.
const (
	// Loosely lets a word stand outside of all slots where it is likelier to.
	Loosely = 50
	// Strictly leaves hardly a word outside.
	Strictly = 200
)

// Tag returns the segments of a text that was cut into tokens. Press is what a word loses that says something
// of its own and stands outside of all slots.
func (t *Tagger) Tag(tokens []intent.Token, lang string, press float32) []Part {
	return t.tag(newExtractor(tokens, lang), press)
}

func (t *Tagger) tag(x *extractor, press float32) []Part {
	list := x.list
	scores := make([][]float32, len(list))
	for i := range list {
		scores[i] = t.parts.scores(x.partFeatures(i))
		if t.says(&list[i]) {
			scores[i][0] -= press // "o"
		}
	}
	labels := viterbi(scores, t.parts.next, follows(partLabels), goesOn(partLabels), x.names(0, len(list), false))
	var out []Part
	before := ""
	for _, s := range spansOf(partLabels, labels) {
		p := Part{First: s.first, Last: s.last}
		p.From, p.To = list[s.first].From, list[s.last-1].To
		t.kind(x, &p, s.name, before)
		t.fill(x, &p, press)
		before = p.Kind
		out = append(out, p)
	}
	return out
}

// says reports whether a word says something of its own: no reading is whole that has it in no slot.
func (t *Tagger) says(w *word) bool {
	switch w.Kind {
	case intent.TokenMark:
		return false
	case intent.TokenWord:
		name := w.shape != "low" && !w.Line
		return !w.functional() && !t.loose[w.Fold] && (len(w.effects) == 0 || name)
	}
	return true
}

// kind sets the kind of a part of one of the groups: deed, check, note.
func (t *Tagger) kind(x *extractor, p *Part, group, before string) {
	if group == "n" {
		p.Kind = "note"
		return
	}
	f := x.kindFeatures(p.First, p.Last, group, before)
	scores := t.kinds.scores(f)
	for i, name := range t.kinds.labels {
		if (group == "d") != slices.Contains(Deeds, name) {
			scores[i] = -1e30
		}
	}
	k, margin := best(scores)
	p.Kind, p.Margin = t.kinds.labels[k], margin
	scores[k] = -1e30
	o, _ := best(scores)
	p.Other = t.kinds.labels[o]
	if group == "d" {
		l, _ := best(t.forbidden.scores(append(f, hashed("kind", p.Kind))))
		p.Forbidden = l == 1
	} else {
		l, _ := best(t.late.scores(append(f, hashed("kind", p.Kind))))
		p.Late = l == 1
	}
}

// As returns the part as one of another kind.
func (t *Tagger) As(tokens []intent.Token, lang string, p *Part, kind string, press float32) Part {
	q := *p
	q.Kind, q.Other, q.Slots = kind, p.Kind, nil
	t.fill(newExtractor(tokens, lang), &q, press)
	return q
}

// fill sets the slots of a part.
func (t *Tagger) fill(x *extractor, p *Part, press float32) {
	scores := make([][]float32, p.Last-p.First)
	for i := range scores {
		scores[i] = t.slots.scores(x.slotFeatures(p.First+i, p.First, p.Last, p.Kind))
		if t.says(&x.list[p.First+i]) {
			scores[i][0] -= press // "-"
		}
	}
	labels := viterbi(scores, t.slots.next, joined, goesOn(slotLabels), x.names(p.First, p.Last, true))
	p.Labels = make([]string, len(labels))
	p.Slots = nil
	for _, s := range x.glossed(p.First, p.Last, spansOf(slotLabels, labels)) {
		s = x.trimmed(p.First, s)
		p.Slots = append(p.Slots, Slot{From: x.list[p.First+s.first].From, To: x.list[p.First+s.last-1].To, Name: s.name})
		for i := s.first; i < s.last; i++ {
			p.Labels[i] = s.name
		}
	}
}

// joined is which slot label may stand behind another: no slot stands right behind one of its name.
var joined = func() func(before, label int) bool {
	ok := follows(slotLabels)
	return func(before, label int) bool {
		again := before > 0 && strings.HasSuffix(slotLabels[label], "+") &&
			strings.TrimSuffix(slotLabels[before], "+") == strings.TrimSuffix(slotLabels[label], "+")
		return ok(before, label) && !again
	}
}()

// glossed joins a slot with other words for it that stand behind it in parentheses, also where these have
// labels of their own: "le siège enfant (Child seat)". The part ends before the word last.
func (x *extractor) glossed(first, last int, list []labelSpan) []labelSpan {
	var out []labelSpan
	for k, s := range list {
		end := first + s.last
		closes := end < last && x.at(end).Text == ")" && (k+1 == len(list) || first+list[k+1].first > end)
		if n := len(out); n > 0 && x.at(first+out[n-1].last).Text == "(" && s.first <= out[n-1].last+1 &&
			(closes || x.at(end-1).Text == ")") {
			out[n-1].last = s.last
			if closes {
				out[n-1].last++
			}
			continue
		}
		if closes && x.opens(first, s) >= 0 {
			s.last++
		}
		out = append(out, s)
	}
	return out
}

// opens returns where a parenthesis begins in a slot that does not end in it, -1 where none does.
func (x *extractor) opens(first int, s labelSpan) int {
	open := -1
	for i := s.first; i < s.last; i++ {
		switch x.list[first+i].Text {
		case "(":
			open = i
		case ")":
			open = -1
		}
	}
	return open
}

// trimmed takes marks off the ends of a slot, and a parenthesis that does not end in it.
func (x *extractor) trimmed(first int, s labelSpan) labelSpan {
	if open := x.opens(first, s); open > s.first {
		s.last = open
	}
	for s.last > s.first+1 && x.list[first+s.last-1].Kind == intent.TokenMark && x.list[first+s.last-1].Text != ")" {
		s.last--
	}
	for s.last > s.first+1 && x.list[first+s.first].Kind == intent.TokenMark && x.list[first+s.first].Text != "(" {
		s.first++
	}
	return s
}

// labelSpan is a run of labels.
type labelSpan struct {
	first, last int
	name        string
}

// spansOf returns the runs of labels other than the outer one.
func spansOf(names []string, labels []int) []labelSpan {
	var out []labelSpan
	for i, l := range labels {
		name := names[l]
		switch {
		case l == 0:
		case strings.HasSuffix(name, "+"):
			out = append(out, labelSpan{i, i + 1, strings.TrimSuffix(name, "+")})
		default:
			out[len(out)-1].last = i + 1
		}
	}
	return out
}

func (x *extractor) partFeatures(i int) []feature {
	x.out = nil
	x.around(i)
	x.scene(i)
	return x.out
}

// kindFeatures are what is seen of the words of a segment.
func (x *extractor) kindFeatures(first, last int, group, before string) []feature {
	x.out = nil
	x.add("bias", group)
	x.add("before", before)
	x.add("from", x.at(first-1).key())
	x.add("from2", x.at(first-2).key(), x.at(first-1).key())
	x.add("to", x.at(last).key())
	x.add("w0", x.at(first).key())
	x.add("w0s", x.at(first).shape, x.at(first+1).shape)
	x.add("w01", x.at(first).key(), x.at(first+1).key())
	x.add("w-1", x.at(last-1).key())
	x.add("w-21", x.at(last-2).key(), x.at(last-1).key())
	verbs := 0
	for i := first; i < last; i++ {
		w := x.at(i)
		x.add("w", w.key())
		if i > first {
			x.add("ww", x.at(i-1).key(), w.key())
		}
		if i > first+1 {
			x.add("w_w", x.at(i-2).key(), w.key())
		}
		if w.Kind != intent.TokenWord {
			x.add("shape", w.shape)
			continue
		}
		for k, c := range w.concepts {
			x.add("con", c)
			if k == 0 {
				x.add("con1", c, w.form)
			}
		}
		if w.lemma != "" {
			x.add("l", w.lemma)
		}
		for _, c := range w.classes {
			x.add("c", c)
		}
		for k, e := range w.effects {
			x.add("e", e)
			if k == 0 && w.shape == "low" || i == first {
				if verbs++; verbs == 1 {
					x.add("e1", e, w.form)
				}
				x.add("ef", e, w.form)
			}
			if i == last-1 {
				x.add("e-1", e, w.form)
			}
		}
		letters := []rune(w.Fold)
		for n := 3; n <= 5; n++ {
			if len(letters) > n && w.shape != "Cap" {
				x.add("pre", string(letters[:n]))
				x.add("suf", string(letters[len(letters)-n:]))
			}
		}
	}
	x.add("length", strconv.Itoa(min(last-first, 8)))
	return x.out
}

// slotFeatures are what is seen of a word of a segment.
func (x *extractor) slotFeatures(i, first, last int, kind string) []feature {
	x.out = nil
	x.around(i)
	w, b, a := x.at(i), x.at(i-1), x.at(i+1)
	for d := -2; d <= 2; d++ { // what stands in another segment says little
		if i+d < first || i+d >= last {
			x.add("edge", strconv.Itoa(d))
		}
	}
	x.add("k", kind)
	x.add("kw", kind, w.key())
	x.add("kw-", kind, b.key())
	x.add("kw-w", kind, b.key(), w.key())
	x.add("kw+", kind, a.key())
	x.add("ks", kind, w.shape, b.shape, a.shape)
	x.add("k0", kind, strconv.Itoa(min(i-first, 3)), w.shape)
	x.add("k1", kind, strconv.Itoa(min(last-1-i, 2)), w.shape)
	for _, c := range w.classes {
		x.add("kc", kind, c)
	}
	for _, c := range b.classes {
		x.add("kc-", kind, c)
	}
	for _, c := range a.classes {
		x.add("kc+", kind, c)
	}
	for _, e := range w.effects {
		x.add("ke", kind, e, w.form)
	}
	prep, verb := "", false
	for j := i - 1; j >= first && i-j < 8; j-- {
		o := x.at(j)
		if o.Kind == intent.TokenMark && prep == "" {
			prep = "mark" + o.Text
		}
		for _, c := range o.classes {
			if prep == "" && strings.HasPrefix(c, "preposition:") {
				prep = c
			}
		}
		if len(o.effects) > 0 && o.shape == "low" {
			verb = true
		}
	}
	x.add("kprep", kind, prep)
	x.add("kprep", kind, prep, w.shape)
	x.add("kverb", kind, strconv.FormatBool(verb))
	return x.out
}

func hashed(parts ...string) feature {
	x := extractor{}
	x.add(parts...)
	return x.out[0]
}

// Loose reports whether people have put a word around what they want, outside of all slots: "please", "gets",
// "rid".
func (t *Tagger) Loose(fold string) bool { return t.loose[fold] }
