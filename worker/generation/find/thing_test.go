package find

import (
	"testing"

	"github.com/slipway-qa/slipway/worker/generation/intent"
)

// target returns what the first goal of a sentence is done to.
func target(t *testing.T, sentence, lang string) *intent.Description {
	t.Helper()
	text := intent.ReadIn(sentence, lang)
	if len(text.Readings) == 0 || len(text.Readings[0].Goals[0].Target) == 0 {
		t.Fatalf("%s: nothing is read of it", sentence)
	}
	return &text.Readings[0].Goals[0].Target[0]
}

// TestNamesOfThings finds what is called after what it is of, after what it opens, and not after
// the label of its neighbour.
func TestNamesOfThings(t *testing.T) {
	club := newSketch("en", "Rowing")
	club.field(0, "switch", "Newsletter", "true")
	club.field(0, "switch", "Water level warnings", "false")
	members := newSketch("en", "Club")
	members.control(0, "New member", "button", -1)
	members.control(0, "Members", "link", -1)
	signIn := newSketch("en", "Members who may sign in")
	signIn.field(0, "switch", "Ann", "true")
	signIn.field(0, "switch", "Bo", "true")
	signIn.table(-1, "", "Name|Age", "Ann|30", "Bo|40")
	rules := newSketch("de", "Regeln")
	rules.control(0, "Neue Regel", "button", -1)
	settings := newSketch("en", "Settings")
	for _, title := range []string{"E-mail", "Phone"} {
		c := settings.container("section", title, -1)
		for _, label := range []string{"Comments", "Mentions"} {
			settings.field(settings.m.Containers[c].Node, "switch", label, "false")
			f := &settings.m.Fields[len(settings.m.Fields)-1]
			f.Container = c
			if label == "Comments" {
				f.Names = append(f.Names, "Mentions") // the text behind it
			}
		}
	}
	faq := newSketch("fr", "Aide")
	faq.container("section", "Questions", -1)
	for _, q := range []string{"Où est mon colis ?", "Puis-je payer en deux fois ?"} {
		faq.control(0, q, "button", -1)
		faq.container("region", q, -1)
	}
	for _, c := range []struct {
		s              *sketch
		lang, sentence string
		kinds          []What
		want           int
	}{
		{faq, "en", "Open the first question", []What{Control, Container, Record}, 0},
		{faq, "de", "Öffne die zweite Frage", []What{Control, Container, Record}, 1},
		{faq, "es", "Cierra la segunda respuesta", []What{Container}, 2},
		{club, "es", "Activa los avisos del nivel del agua", []What{Field, Option}, 1},
		{club, "de", "Schalte die Warnungen zum Wasserstand ein", []What{Field, Option}, 1},
		{members, "en", "Open the new member dialog", []What{Control, Container, Record}, 0},
		{members, "en", "Open the new member form", []What{Control, Container, Record}, 0},
		{members, "en", "Open the new boat dialog", []What{Control, Container, Record}, -1},
		{rules, "de", "Öffne das Fenster Neue Regel", []What{Control, Container, Record}, 0},
		{signIn, "en", "Disable the alerts of Ann", []What{Field, Option}, -1},
		{signIn, "en", "Disable the alerts of Ann", nil, -1},
		{signIn, "en", "Turn on the notifications of Ann", nil, -1},
		{signIn, "en", "Click the link of Ann", nil, -1},
		{signIn, "en", "Press the button of Ann", nil, -1},
		{signIn, "en", "Disable Ann", []What{Field, Option}, 0},
		{settings, "en", "Turn on the mentions by e-mail", []What{Field, Option}, 1},
		{settings, "en", "Turn on the mentions on the phone", []What{Field, Option}, 3},
	} {
		f := Description(c.s.m, target(t, c.sentence, c.lang), Want{Lang: c.lang, Within: -1, Kinds: c.kinds})
		got := -1
		if f.Clear() {
			got = f.Candidates[0].Index
		}
		if got != c.want {
			t.Errorf("%s: %d, want %d: %+v", c.sentence, got, c.want, f.Candidates)
		}
	}
}
