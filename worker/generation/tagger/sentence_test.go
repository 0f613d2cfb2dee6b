package tagger

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-qa/slipway/worker/generation/intent"
)

// shown renders parts as "remove[t=the mug] confirm[]".
func shown(text string, parts []Part) string {
	var out []string
	for i := range parts {
		p := &parts[i]
		name := p.Kind
		if p.Forbidden {
			name = "!" + name
		}
		if p.Late {
			name += "~"
		}
		var slots []string
		for _, s := range p.Slots {
			slots = append(slots, s.Name+"="+text[s.From:s.To])
		}
		out = append(out, name+"["+strings.Join(slots, ", ")+"]")
	}
	return strings.Join(out, " ")
}

// tagOf tags a text. What goes wrong with one text does not hide what comes of the others.
func tagOf(lang, text string) (parts string) {
	defer func() {
		if reason := recover(); reason != nil {
			parts = fmt.Sprint("panic: ", reason)
		}
	}()
	return shown(text, Default().Tag(intent.Tokens(text, lang), lang, Loosely))
}

func TestTagOfPlainSentences(t *testing.T) {
	t.Parallel()
	tests := []struct{ lang, text, want string }{
		{"en", "Delete the second invoice and confirm.", "remove[t=the second invoice] confirm[]"},
		{"en", "Sort by price, cheapest first.", "sort[by=price, p=cheapest first]"},
		{"en", `Search for "desk lamp" and open the first result.`, `search[v="desk lamp"] open[t=the first result]`},
		{"en", "Check that the total is 40 euros.", "is[t=the total, v=40 euros]"},
		{"en", "Put two lemons in the cart.", "add[t=two lemons, to=the cart]"},
		{"en", "Turn on dark mode and turn off the newsletter.", "on[t=dark mode] off[t=the newsletter]"},
		{"en", "Do not delete the blue mug.", "!remove[t=the blue mug]"},
		{"en", `Rename "Work" to "Office" and save.`, `edit[t="Work", v="Office"] save[]`},
		{"en", "There should be 4 members left once you have removed the youngest one.",
			"count~[a=4, t=members] remove[t=the youngest one]"},

		{"de", "Lösche die zweite Rechnung und bestätige.", "remove[t=die zweite Rechnung] confirm[]"},
		{"de", "Sortiere nach Preis, die billigsten zuerst.", "sort[by=Preis, p=die billigsten zuerst]"},
		{"de", "Lege zwei Zitronen in den Warenkorb.", "add[t=zwei Zitronen, to=den Warenkorb]"},
		{"de", "Öffne die Einstellungen.", "open[t=die Einstellungen]"},
		{"de", "Suche nach „Lampe“ und öffne den ersten Treffer.", "search[v=„Lampe“] open[t=den ersten Treffer]"},
		{"de", "Prüfe, dass die Summe 40 Euro beträgt.", "is[t=die Summe, v=40 Euro]"},
		{"de", "Lösche die blaue Tasse nicht.", "!remove[t=die blaue Tasse]"},

		{"es", "Elimina la segunda factura y confirma.", "remove[t=la segunda factura] confirm[]"},
		{"es", "Ordena por precio, los más baratos primero.", "sort[by=precio, p=los más baratos primero]"},
		{"es", "Añade dos limones al carrito.", "add[t=dos limones, to=carrito]"},
		{"es", "Activa el modo oscuro.", "on[t=el modo oscuro]"},
		{"es", `Busca "lámpara" y abre el primer resultado.`, `search[v="lámpara"] open[t=el primer resultado]`},
		{"es", `Comprueba que aparece el mensaje "Guardado".`, `shown[t=el mensaje "Guardado"]`},

		{"fr", "Supprime la deuxième facture et confirme.", "remove[t=la deuxième facture] confirm[]"},
		{"fr", "Ajoute deux citrons au panier.", "add[t=deux citrons, to=panier]"},
		{"fr", "Ouvre les réglages et active le mode sombre.", "open[t=les réglages] on[t=le mode sombre]"},
		{"fr", "Cherche « lampe » et ouvre le premier résultat.", "search[v=« lampe »] open[t=le premier résultat]"},
		{"fr", "Vérifie que le total est de 40 euros.", "is[t=le total, v=40 euros]"},
		{"fr", "Déconnecte-toi.", "logout[]"},
	}
	for _, test := range tests {
		if got := tagOf(test.lang, test.text); got != test.want {
			t.Errorf("%s\n got %s\nwant %s", test.text, got, test.want)
		}
	}
}

// TestNamesAreNotParted holds the words of a name to stand in one slot.
func TestNamesAreNotParted(t *testing.T) {
	t.Parallel()
	tests := []struct{ lang, text, want string }{
		{"en", "Go to page 2 and delete Grace Obi", "page[a=2] remove[t=Grace Obi]"},
		{"en", "Go to page 2 and delete Grace Obi.", "page[a=2] remove[t=Grace Obi]"},
		{"en", "Rename Peter van Dyk to Anna Maria Bell.", "edit[t=Peter van Dyk, v=Anna Maria Bell]"},
		{"fr", "Va à la page 2 et supprime Grace Obi.", "page[a=2] remove[t=Grace Obi]"},
	}
	for _, test := range tests {
		if got := tagOf(test.lang, test.text); got != test.want {
			t.Errorf("%s\n got %s\nwant %s", test.text, got, test.want)
		}
	}
	text := "Geh auf Seite 2 und lösche Grace Obi."
	if got := tagOf("de", text); !strings.HasSuffix(got, " remove[t=Grace Obi]") {
		t.Errorf("%s: %s", text, got)
	}
}

// TestPartsAreThoseOfTokens holds the tokens, labels and bytes of parts to say the same.
func TestPartsAreThoseOfTokens(t *testing.T) {
	t.Parallel()
	const text = `Search for "desk lamp" and open the first result. Check that the total is 40 euros.`
	tokens := intent.Tokens(text, "en")
	parts := Default().Tag(tokens, "en", Loosely)
	if len(parts) != 3 {
		t.Fatal(shown(text, parts))
	}
	for _, p := range parts {
		if p.From != tokens[p.First].From || p.To != tokens[p.Last-1].To || len(p.Labels) != p.Last-p.First {
			t.Errorf("%+v", p)
		}
		for i, name := range p.Labels {
			token, in := tokens[p.First+i], ""
			for _, s := range p.Slots {
				if s.From < token.To && token.From < s.To {
					in = s.Name
				}
			}
			if in != name {
				t.Errorf("%q is in slot %q and has label %q", token.Text, in, name)
			}
		}
		if p.Other == p.Kind || group(p.Other) != group(p.Kind) || p.Margin <= 0 {
			t.Errorf("%s, else %s, by %v", p.Kind, p.Other, p.Margin)
		}
	}
}

// TestAs holds a part as one of another kind to be a new one with slots of its own.
func TestAs(t *testing.T) {
	t.Parallel()
	const text = "Delete the second invoice and confirm."
	tokens := intent.Tokens(text, "en")
	parts := Default().Tag(tokens, "en", Loosely)
	before := parts[0]
	before.Slots, before.Labels = slices.Clone(before.Slots), slices.Clone(before.Labels)
	other := Default().As(tokens, "en", &parts[0], "open", Loosely)
	if got, want := shown(text, []Part{other}), "open[t=the second invoice]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if other.Other != "remove" || other.From != before.From || other.To != before.To {
		t.Errorf("%+v", other)
	}
	if p := parts[0]; p.Kind != before.Kind || !slices.Equal(p.Slots, before.Slots) || !slices.Equal(p.Labels, before.Labels) {
		t.Errorf("the part itself is %+v now", p)
	}
}

func TestTagOfOddTexts(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"one sentence":      strings.Repeat("delete the second invoice and ", 700),
		"sentences":         strings.Repeat("Delete Grace Obi. ", 1_200),
		"lines":             strings.Repeat("- open it\n", 2_000),
		"names":             strings.Repeat("Grace ", 4_000),
		"one word":          strings.Repeat("a", 20_000),
		"parentheses":       strings.Repeat("(", 3_000),
		"open parentheses":  strings.Repeat("a (b ", 4_000),
		"particles":         strings.Repeat("take ", 4_000),
		"numbers":           strings.Repeat("12 ", 7_000),
		"quotations":        strings.Repeat(`"a" `, 5_000),
		"several bytes":     strings.Repeat("ü", 20_000),
		"marks":             strings.Repeat("?! ", 7_000),
		"none of our words": strings.Repeat("ボタンをクリック ", 2_000),
		"no letters":        strings.Repeat("\xff\xfe ", 6_000),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tokens := intent.Tokens(text, "en")
			parts := Default().Tag(tokens, "en", Loosely)
			inPlace(t, text, tokens, parts)
			if name == "one sentence" && len(parts) < 2 {
				t.Errorf("%d parts", len(parts))
			}
		})
	}
}

// inPlace holds parts to lie in order in the text and its tokens.
func inPlace(t *testing.T, text string, tokens []intent.Token, parts []Part) {
	t.Helper()
	var segments []Segment
	end := 0
	for _, p := range parts {
		if p.First < end || p.Last <= p.First || p.Last > len(tokens) || len(p.Labels) != p.Last-p.First {
			t.Fatalf("tokens %d to %d with %d labels behind %d of %d", p.First, p.Last, len(p.Labels), end, len(tokens))
		}
		end = p.Last
		segments = append(segments, p.Segment)
	}
	ordered(t, text, segments)
}

func TestTagOfNothing(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", " ", "\n\n", "."} {
		for _, lang := range []string{"en", "de", "es", "fr"} {
			if parts := Default().Tag(intent.Tokens(text, lang), lang, Strictly); len(parts) != 0 {
				t.Errorf("%q in %s: %s", text, lang, shown(text, parts))
			}
		}
	}
	if parts := Default().Tag(nil, "en", Loosely); parts != nil {
		t.Errorf("no tokens: %v", parts)
	}
}

// TestTagOfAnotherLanguage holds a language that the lexicon has not to be read as English.
func TestTagOfAnotherLanguage(t *testing.T) {
	t.Parallel()
	const text = "Delete the second invoice and confirm."
	if got, want := tagOf("pt", text), tagOf("en", text); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestScoresAreTheSame holds the scores of a word to be the same each time, to the last digit: features that are seen
// in another order are summed up to something else, and what is next to even would be labelled now so and now so.
func TestScoresAreTheSame(t *testing.T) {
	t.Parallel()
	const text = "Delete the second invoice, then, once that is confirmed, open Grace Obi and check that 3 are left."
	x := newExtractor(intent.Tokens(text, "en"), "en")
	for i := range x.list {
		first := Default().parts.scores(x.partFeatures(i))
		for range 20 {
			if again := Default().parts.scores(x.partFeatures(i)); !slices.Equal(again, first) {
				t.Fatalf("%q has %v, and then %v", x.list[i].Text, first, again)
			}
		}
	}
}
