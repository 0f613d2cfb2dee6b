package reading

import (
	"slices"
	"testing"

	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/tagger"
)

// labelled is a text whose parts are labelled by hand, as in the corpus, each with the same margin.
func labelled(t *testing.T, line string, margin float32) *labels {
	t.Helper()
	s, err := tagger.ParseSample(line)
	if err != nil {
		t.Fatal(err)
	}
	l := &labels{t: tagger.Default(), source: s.Text, lang: s.Lang, tokens: intent.Tokens(s.Text, s.Lang), press: tagger.Loosely}
	for _, seg := range s.Segments {
		p := tagger.Part{Segment: seg, First: -1, Other: "act", Margin: margin}
		for i, token := range l.tokens {
			if token.From >= seg.To || token.To <= seg.From {
				continue
			}
			if p.First < 0 {
				p.First = i
			}
			p.Last = i + 1
			name := ""
			for _, slot := range seg.Slots {
				if token.From < slot.To && token.To > slot.From {
					name = slot.Name
				}
			}
			p.Labels = append(p.Labels, name)
		}
		l.parts = append(l.parts, p)
	}
	return l
}

// line is a reading with what it left over.
func line(r *intent.Reading, source string) string {
	out := r.String()
	if left := r.Left(source); left != "" {
		out += " ? " + left
	}
	return out
}

// TestReadingOfLabels makes goals of labels that are right.
func TestReadingOfLabels(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ line, want string }{
		"deeds in order":                       {"en\t[sort Sort by {by:price}], then [open open {t:the cheapest}].", "sort[by=price] | open[min:price]"},
		"a late check":                         {"en\t[count~ There should be {a:4} {t:members}] once you have [close closed {t:the youngest one}].", "close[min:age PRO] | check[counts: members =4]"},
		"a late check, and a further sentence": {"en\t[count~ There should be {a:4} {t:members}] once you have [close closed {t:Bo}]. [open Open {t:Ann}].", "close[Bo] | check[counts: members =4] | open[Ann]"},
		"two late checks":                      {"en\t[shown~ {t:Ann} is there] and [gone~ {t:Bo} is gone] after [close closing {t:Bo}].", "close[Bo] | check[shown: Ann] | check[vanishes: Bo]"},
		"a check in place":                     {"en\t[close Close {t:Bo}]. [count There are {a:4} {t:members}]. [open Open {t:Ann}].", "close[Bo] | check[counts: members =4] | open[Ann]"},
		"a condition":                          {"en\tIf [if {t:a banner} shows], [open open {t:Ann}].", "check[shown: <message/banner>] | open[Ann] ? a banner shows"},
		"a note":                               {"en\t[note Bo is on leave]. [open Open {t:Ann}].", "open[Ann] ? Bo"},
		"a note that says what is said":        {"en\t[note About Ann, please]. [open Open {t:Ann}].", "open[Ann]"},
		"a forbidden deed":                     {"en\t[!save Do not save it], [open open {t:Ann}].", "!submit[] | open[Ann]"},
		"a check that is denied":               {"en\t[is {t:The box} must not be {b:ticked}].", "check[not is: <field/box> is:checked]"},
		"a check of absence":                   {"en\t[gone {t:Bo} must not be there].", "check[not shown: Bo]"},
		"a denied deed":                        {"de\t[save Speichere] nicht.", "submit[] ? nicht"},
		"a denied deed inside":                 {"de\t[save Bitte nicht speichern].", "submit[] ? nicht"},
		"a denied removal":                     {"de\t[remove {t:Den blauen Bus} nicht löschen].", "remove[blauen Bus] ? Den blauen Bus nicht löschen nicht"},
		"a denied deed of another name":        {"es\t[cancel No borres {t:la taza azul}].", "abandon[taza azul] ? No"},
		"a number that is none":                {"en\t[count So {a:no} {t:shifts} should be shown].", "check[not shown: shifts]"},
		"a number that is none, de":            {"de\t[count {a:Keine} {t:Mitglieder} bleiben].", "check[not shown: Mitglieder]"},
		"a thing that is none":                 {"en\t[gone {t:no banner} is shown].", "check[not shown: <message/banner>]"},
		"a thing that is none, and is":         {"en\t[shown {t:no banner} is shown].", "check[not shown: <message/banner>]"},
		"nothing changes":                      {"en\t[same {t:nothing else} changes].", "check[unchanged: other PRO]"},
		"a word left over":                     {"en\t[open Open {t:Ann} gingerly].", "open[Ann] ? gingerly"},
		"a word between":                       {"en\tGingerly [open open {t:Ann}].", "open[Ann] ? Gingerly"},
		"what lacks what it needs":             {"en\t[rate Rate {t:the film}]. [open Open {t:Ann}].", "open[Ann] ? Rate film Rate the film"},
		"no word for what does harm":           {"en\t[remove {t:The blue van} frobnicates].", "remove[blue van] ? The blue van frobnicates"},
		"no word for sending":                  {"en\t[send {t:The letter} is ready].", "submit[<text/letter>] ? The letter is ready"},
		"a word for what does harm":            {"en\t[remove Get {t:the blue van} deleted].", "remove[blue van] ? Get the blue van deleted"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := labelled(t, test.line, 50)
			r := l.reading()
			if got := line(&r, l.source); got != test.want {
				t.Errorf("%s\n got %s\nwant %s", l.source, got, test.want)
			}
		})
	}
}

// TestReadingsNeedMargins holds a kind that is no more than a guess not to be read.
func TestReadingsNeedMargins(t *testing.T) {
	t.Parallel()
	const open, remove = "en\t[open Open {t:Ann}].", "en\t[remove Delete {t:Ann}]."
	tests := map[string]struct {
		line   string
		margin float32
		press  float32
		want   bool
	}{
		"a guess":                          {open, guess - 1, tagger.Loosely, false},
		"more than a guess":                {open, guess, tagger.Loosely, true},
		"a guess of pressed words":         {open, risky - 1, tagger.Strictly, false},
		"more than a guess of them":        {open, risky, tagger.Strictly, true},
		"a guess at what does harm":        {remove, risky - 1, tagger.Loosely, false},
		"certain of what does harm":        {remove, 1000, tagger.Loosely, false},
		"a verb that does harm":            {"en\t[act Get {t:the blue van} erased].", 1000, tagger.Loosely, false},
		"a condition":                      {"en\t[if Where {t:a banner} shows], [open open {t:Ann}].", 1000, tagger.Loosely, false},
		"a deed forbidden by no word":      {"en\t[!open Open {t:Ann}]. [close Close {t:Bo}].", 1000, tagger.Loosely, false},
		"a note that is a guess":           {"en\t[note Well]. [open Open {t:Ann}].", guess, tagger.Loosely, true},
		"nothing but a note":               {"en\t[note Well then].", 100, tagger.Loosely, false},
		"a deed that is denied elsewhere":  {"de\t[save Speichere] nicht.", 100, tagger.Loosely, false},
		"another that must not be, and is": {"de\t[!save Nicht speichern].", 100, tagger.Loosely, true},
	}
	for name, test := range tests {
		l := labelled(t, test.line, test.margin)
		l.press = test.press
		if list := l.readings(); (len(list) > 0) != test.want {
			t.Errorf("%s: %v", name, list)
		}
	}
}

// TestOtherReadings holds the second likeliest kind of a doubtful part to be read too, where it does no harm.
func TestOtherReadings(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		line, other string
		margin      float32
		want        []string
	}{
		"a doubtful part":             {"en\t[open Open {t:Ann}].", "choose", doubtful, []string{"open[Ann]", "choose[Ann]"}},
		"no doubt":                    {"en\t[open Open {t:Ann}].", "choose", doubtful + 1, []string{"open[Ann]"}},
		"another does harm":           {"en\t[open Open {t:Ann}].", "remove", doubtful, []string{"open[Ann]"}},
		"a deed that must not be":     {"en\t[!open Do not open {t:Ann}].", "choose", doubtful, []string{"!open[Ann]"}},
		"another lacks what it needs": {"en\t[open Open {t:Ann}].", "rate", doubtful, []string{"open[Ann]"}},
	}
	for name, test := range tests {
		l := labelled(t, test.line, test.margin)
		for i := range l.parts {
			l.parts[i].Other = test.other
		}
		before := slices.Clone(l.parts)
		var got []string
		for _, r := range l.readings() {
			got = append(got, line(&r, l.source))
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
		for i := range before {
			if l.parts[i].Kind != before[i].Kind {
				t.Errorf("%s: part %d is %s now", name, i, l.parts[i].Kind)
			}
		}
	}
}

// strange are texts that grammar alone does not read whole, or only by some of their words.
var strange = []struct{ lang, text string }{
	{"en", "Grab me whatever is dearest"}, {"en", "Bram Post has paid, tick that for him"}, {"en", "Rename the workspace to Oslo and save"},
	{"en", "Two lemons belong in the cart, and the cart should then show 3 items."}, {"en", "I'd like dark mode on, and no more newsletters."},
	{"de", "Die Satzung soll künftig Satzung 2024 heißen."}, {"de", "Wähle den Kindersitz (Child seat) und speichere."},
	{"de", "Wenn die Gummistiefel draußen sind, bleiben zwei Artikel."}, {"es", "No quedan facturas"},
	{"es", "Quiero ver el pedido más caro y volver atrás."},
	{"es", "Marca como pagada la cuota de Jordi y guarda."}, {"fr", "Le siège enfant (Child seat), coche-le et enregistre."},
	{"fr", "Que le plus ancien soit tout en haut."}, {"en", "So no shifts should be open."}, {"en", "1. Log in\n2. Open Ann\n3. Log out"},
}

// TestReadingsDiffer holds each further reading to be another one than those before.
func TestReadingsDiffer(t *testing.T) {
	t.Parallel()
	for _, c := range strange {
		seen := map[string]bool{}
		for _, r := range Tagged(tagger.Default(), c.text, c.lang) {
			if s := r.String(); seen[s] {
				t.Errorf("%s: twice %s", c.text, s)
			}
			seen[r.String()] = true
		}
	}
}

// TestReadPutsWholeReadingsFirst holds a reading that has all words to come before those that leave some over, and those
// of grammar to be there still.
func TestReadPutsWholeReadingsFirst(t *testing.T) {
	t.Parallel()
	found := 0
	for _, c := range strange {
		text, grammar := Read(c.text), intent.Read(c.text)
		for i := 1; i < len(text.Readings); i++ {
			if whole(&text.Readings[i]) && !whole(&text.Readings[i-1]) {
				t.Errorf("%s: %s behind %s", c.text, line(&text.Readings[i], c.text), line(&text.Readings[i-1], c.text))
			}
		}
		if len(text.Readings) > 0 && whole(&text.Readings[0]) {
			found++
		}
		if behind := text.Readings[len(text.Readings)-len(grammar.Readings):]; !slices.EqualFunc(behind, grammar.Readings, func(a, b intent.Reading) bool { return a.String() == b.String() }) {
			t.Errorf("%s: grammar's readings are not the last", c.text)
		}
		if text.Source != c.text || text.Lang != grammar.Lang {
			t.Errorf("%s: %q in %s", c.text, text.Source, text.Lang)
		}
	}
	if found < len(strange)/2 {
		t.Errorf("%d of %d have a whole reading", found, len(strange))
	}
}

// TestReadKeepsDenials holds what must not be done, and what must not be there, to be so in each whole reading.
func TestReadKeepsDenials(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"Do not save", "Don't save, open Ann instead.", "Speichere nicht.", "Bitte keinesfalls speichern", "No guardes.", "N'enregistre pas.",
		"Never delete the blue van", "So no shifts should be open.", "Keine Mitglieder sollen übrig bleiben.", "No debe quedar ningún error.",
		"Aucune facture ne doit rester.", "The box must not be ticked.", "Bo must not be there any more.", "By no means should it be sent.", "Auf keinen Fall speichern", "Under no circumstances delete Ann",
	} {
		for _, r := range Read(text).Readings {
			if !whole(&r) {
				continue
			}
			if !slices.ContainsFunc(r.Goals, denied) {
				t.Errorf("%s: %s", text, r)
			}
		}
	}
}

// TestTaggedKeepsDenials holds the tagger alone to the same: also a wish that nothing be done without a word for "not".
func TestTaggedKeepsDenials(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ lang, text string }{
		{"en", "So no shifts should be open."}, {"en", `No stars selected, button "Rate" dead`}, {"de", "Am Ende sind keine Schichten mehr offen."},
		{"en", "Hold off on sending the letter"}, {"en", "Avoid deleting Ann"},
		{"de", "Ohne zu speichern den Dialog schließen"}, {"es", "Sin guardar, cierra el diálogo"}, {"fr", "Ferme la fenêtre sans enregistrer"},
	} {
		for _, r := range Tagged(tagger.Default(), c.text, c.lang) {
			if !slices.ContainsFunc(r.Goals, denied) {
				t.Errorf("%s: %s", c.text, r)
			}
		}
	}
}

// denied reports whether a goal says that something is not.
func denied(g intent.Goal) bool {
	c := g.Claim
	if c == nil {
		return g.Forbidden
	}
	zero := len(c.Values) > 0 && c.Values[0].Number != nil && *c.Values[0].Number == 0
	return c.Not || c.Property == intent.Gone || c.Property == intent.Vanishes || zero ||
		slices.ContainsFunc(c.Be, func(s intent.State) bool { return s.Not })
}
