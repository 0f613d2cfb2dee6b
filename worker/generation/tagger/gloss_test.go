package tagger

import (
	"slices"
	"testing"

	"github.com/slipway-qa/slipway/worker/generation/intent"
)

// TestGlossesStayWithTheirSlot holds other words for a thing in parentheses, with both of these, to belong to it.
func TestGlossesStayWithTheirSlot(t *testing.T) {
	t.Parallel()
	tests := []struct{ lang, text, want string }{
		{"en", "Choose the child seat (Kindersitz) and save.", "choose[t=the child seat (Kindersitz)] save[]"},
		{"en", "Delete the blue mug (blaue Tasse).", "remove[t=the blue mug (blaue Tasse)]"},
		{"de", "Wähle den Kindersitz (Child seat) und speichere.", "choose[t=den Kindersitz (Child seat)] save[]"},
		{"de", "Lösche die blaue Tasse (blue mug).", "remove[t=die blaue Tasse (blue mug)]"},
		{"es", "Elige la silla infantil (Child seat) y guarda.", "choose[t=la silla infantil (Child seat)] save[]"},
		{"es", "Elimina la taza azul (blue mug).", "remove[t=la taza azul (blue mug)]"},
		{"fr", "Choisis le siège enfant (Child seat) et enregistre.", "choose[t=le siège enfant (Child seat)] save[]"},
		{"fr", "Supprime la tasse bleue (blue mug).", "remove[t=la tasse bleue (blue mug)]"},
	}
	for _, test := range tests {
		if got := tagOf(test.lang, test.text); got != test.want {
			t.Errorf("%s\n got %s\nwant %s", test.text, got, test.want)
		}
	}
}

// TestGlossesAtTheEndOfAPart holds a gloss whose last sign may stand outside of the part to be read at all.
func TestGlossesAtTheEndOfAPart(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ lang, text string }{
		{"en", "A(0A s)"},
		{"en", `There should be a spinning wheel (3) while it's sending, then "Order received".`},
		{"en", "Mark all bookings after nine and shift them half an hour (red) forward."},
		{"de", "Auf \"Alle als gelesen\" klicken. Alle blauen Punkte (Child seat) sind weg."},
		{"de", "Kommt ein Fenster wegen externer Bilder, „Bilder laden“ (3) drücken."},
		{"de", "Bei Imkerin Solveig (Child seat) ist der Dienstag frei, oder? Dann kriegt sie den Honigstand."},
	} {
		for _, press := range []float32{Loosely, Strictly} {
			func() {
				defer func() {
					if reason := recover(); reason != nil {
						t.Errorf("%s: %v", test.text, reason)
					}
				}()
				tokens := intent.Tokens(test.text, test.lang)
				inPlace(t, test.text, tokens, Default().Tag(tokens, test.lang, press))
			}()
		}
	}
}

// TestGlossed joins parts of slots by hand.
func TestGlossed(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		text string
		list []labelSpan
		want []labelSpan
	}{
		"a gloss is joined with its end": {"choose seat (Sitz) now", []labelSpan{{1, 2, "t"}, {3, 4, "t"}}, []labelSpan{{1, 5, "t"}}},
		"a gloss of another name":        {"choose seat (Sitz) now", []labelSpan{{1, 2, "t"}, {2, 4, "v"}}, []labelSpan{{1, 5, "t"}}},
		"a gloss that has its end":       {"choose seat (Sitz) now", []labelSpan{{1, 2, "t"}, {2, 5, "t"}}, []labelSpan{{1, 5, "t"}}},
		"no end":                         {"choose seat (Sitz now", []labelSpan{{1, 2, "t"}, {3, 4, "t"}}, []labelSpan{{1, 2, "t"}, {3, 4, "t"}}},
		"no parentheses":                 {"choose seat, Sitz now", []labelSpan{{1, 2, "t"}, {3, 4, "t"}}, []labelSpan{{1, 2, "t"}, {3, 4, "t"}}},
		"two things":                     {"choose seat (a) and Sitz", []labelSpan{{1, 2, "t"}, {6, 7, "t"}}, []labelSpan{{1, 2, "t"}, {6, 7, "t"}}},
		"nothing":                        {"choose", nil, nil},
	}
	for name, test := range tests {
		x := newExtractor(intent.Tokens(test.text, "en"), "en")
		if got := x.glossed(0, len(x.list), test.list); !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}

// TestTrimmed takes marks off the ends of a slot, and leaves one that is nothing else.
func TestTrimmed(t *testing.T) {
	t.Parallel()
	x := newExtractor(intent.Tokens(", a seat (Sitz) .", "en"), "en")
	for _, test := range []struct{ from, want labelSpan }{
		{labelSpan{0, 3, "t"}, labelSpan{1, 3, "t"}},
		{labelSpan{1, 7, "t"}, labelSpan{1, 6, "t"}},
		{labelSpan{3, 6, "t"}, labelSpan{3, 6, "t"}},
		{labelSpan{6, 7, "t"}, labelSpan{6, 7, "t"}},
	} {
		if got := x.trimmed(0, test.from); got != test.want {
			t.Errorf("%v is %v, want %v", test.from, got, test.want)
		}
	}
}
