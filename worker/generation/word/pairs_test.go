package word

import (
	"slices"
	"strings"
	"testing"
)

// TestPairs holds phrases of sentences and texts of pages against each other: languages of
// both, the phrase ("=" before a name), the text.
func TestPairs(t *testing.T) {
	for _, same := range []struct {
		want  bool
		pairs string
	}{{true, matching}, {false, strange}} {
		for line := range strings.SplitSeq(strings.TrimSpace(same.pairs), "\n") {
			f := strings.Split(line, "|")
			c := New(f[0], f[1])
			p := c.Phrase(strings.TrimPrefix(f[2], "="), strings.HasPrefix(f[2], "="))
			s := Match(p, c.Text(f[3]))
			if same.want && (s.Value < 0.55 || !s.Matched(p)) || !same.want && s.Value > 0.35 {
				t.Errorf("%s: %.2f by %v", line, s.Value, s.Kind)
			}
		}
	}
}

const matching = `
de|en|Warenkorb|Cart
de|en|speichern|Save changes
de|en|Löschen|Delete
de|de|abhaken|Erledigt
en|de|name|Name
en|de|save|Speichern
en|de|order|Jetzt bestellen
fr|en|panier|Add to cart
es|en|carrito|Add to cart
fr|en|date de naissance|Birthday
de|en|Lieferadresse|Delivery address
de|fr|Passwort|Mot de passe
en|en|sign in|Log in
en|en|log out|Sign out
de|en|Anmelden|Sign in
es|en|cerrar sesión|Log out
fr|en|se déconnecter|Log out
en|es|price|Precio
de|en|Größe|Size
de|en|Menge|Qty
de|fr|Frühstück|Petit-déjeuner
en|en|notification|Notifications
en|en|late frost|Late frost in May
en|en|12.40|12,40 €
de|en|1.234,50|$1,234.50
en|en|four beds|4 beds
en|en|eights|Eight
en|en|living room|Livingroom
en|en|check-out|Checkout
en|en|e-mail|Email address
de|en|nächste Seite|Next page
de|en|Zeilen pro Seite|Rows per page
fr|en|lignes par page|Rows per page
es|en|filas por página|Rows per page
de|en|Empfänger|To
fr|en|objet|Subject
de|en|Betreff|Subject
en|fr|reason|Motif
en|fr|remove|Retirer
es|en|rojo|Red
de|en|rote|Red
fr|en|bleue|Blue
fr|de|pâte épaisse|dicker Teig
en|en|T5|T5 Multivan
en|en|A. Simon|Anne Simon
en|en|Robert Jones'|Robert Jones
de|de|Annas|Anna
en|en|oat milk|Oat milk 1 l
en|en|VPN|Virtual private network
fr|en|végétarien|Vegetarian
es|en|vegetariana|Vegetarian
de|en|Dienstag|Tue
en|de|Monday|Mo
fr|en|février|Feb
es|en|enero|January
en|en|paid|Paid
de|en|bezahlt|Paid
fr|fr|payée|Payé
en|fr|unpaid|Impayé
en|en|Settings|Preferences
en|en|trash|Trash
de|en|Papierkorb|Bin
de|en|Papierkorb|Trash
de|en|Kontomenü|Account
de|de|Kontomenü|Konto
de|en|Frühstücksbuffet|Breakfast buffet
de|de|Frühstücksbuffet|Frühstück-Buffet
de|de|Bestellnummer|Bestell-Nr.
en|en|phone number|Phone no.
es|en|nombre|Name
es|en|apellidos|Last name
fr|en|nom|Name
fr|fr|chambres|Chambre 12
en|en|ladies|Women
en|en|movie|Film
en|en|go on|Continue
en|en|continue|Next
de|en|weiter|Next
de|de|weiter|Weiter zu den Extras
es|es|siguiente|Página siguiente
de|de|Dübel|Duebel
en|en|Muller|Müller
en|en|cafe linde|Café Linde
de|en|Mannschaften|Teams
en|en|delivery|Shipping
en|en|post code|ZIP
de|en|Postleitzahl|ZIP code
de|en|Straße|Street
fr|en|téléphone|Mobile number
es|es|correo|Correo electrónico
en|es|email|Correo electrónico
en|es|clear the list|Vaciar lista
es|es|vacía|Vaciar
en|en|toolbox|Tool box
en|en|organise|Organize
en|en|colour|Color
en|en|favourites|Favorites
en|en|cancelled|Canceled
en|en|grey|Gray
en|en|theater|Theatre
de|en|Sauberkeit|Cleanliness
fr|en|propreté|Cleanliness
en|en|quietness|Quiet
en|en|recieve|Receive
en|en|Margharita|Margherita
en|en|unread|Unread only
de|en|nur ungelesene|Unread
en|de|half board|Halbpension
de|en|Halbpension|Half board
de|en|Wochenende|Weekend
fr|en|coché|Checked
de|en|ausverkauft|Sold out
fr|en|en rupture de stock|Out of stock
es|en|agotado|Sold out
de|de|Unter Regeln|Regeln
es|es|aviso|Avisos del nivel del agua
es|es|avisos del agua|Avisos del nivel del agua
fr|fr|récupération|Récupération (RTT)
`

const strange = `
de|de|Bad|Baden-Württemberg
de|de|Tomaten|Tomatenmark
es|es|Sal|Salsa
en|en|=Bo|Bob
en|en|=Niger|Nigeria
en|en|2|12
en|fr|bins|Suppression
en|en|T5|T4 Caravelle
en|en|Tom Reyes|Tomas Rey
en|en|paid|Unpaid
de|de|bezahlt|Unbezahlt
en|en|enabled|Disabled
en|en|read|Unread
de|en|gelesen|Unread
en|en|check|Uncheck
en|en|public|Unpublished
en|en|complete|Incomplete
en|en|valid|Invalid
en|en|next|Text
en|en|name|Game
en|en|form|Farm
en|en|Mona|Monaco
de|de|Otto|Ottomane
de|de|Anna|Annabel
en|en|Ann|Annex
en|en|cat|Category
en|en|car|Card
en|en|car|Cart
en|en|art|Cart
fr|fr|sel|Sélection
es|es|pan|Pantalla
de|de|Tor|Torte
de|de|Wein|Schweinefleisch
de|de|Eis|Preis
de|de|Ei|Eimer
de|de|Post|Postleitzahl
en|en|age|Page
en|en|male|Female
en|en|man|Woman
en|en|public|Publish
`

func TestParts(t *testing.T) {
	for _, c := range []struct {
		phrase, text string
		kind         Kind
	}{
		{"Geburtstagstorte", "Torte", Head}, {"Kontomenü", "Konto", Concept}, {"Käsebrötchen", "Brötchen mit Käse", Concept},
		{"Gartenfest", "Garten", Part},
		{"Rückgabefrist", "Frist", Head}, {"Rückgabefrist", "Gabe", None},
	} {
		if s := New("de", "de").Compare(c.phrase, c.text); s.Kind != c.kind {
			t.Errorf("%q and %q: %v, want %v", c.phrase, c.text, s.Kind, c.kind)
		}
	}
}

func TestScore(t *testing.T) {
	c := New("en", "en")
	p := c.Phrase("the late frost note", false)
	s := Match(p, c.Text("Late frost"))
	if got := s.Missing(p); !slices.Equal(got, []int{3}) {
		t.Errorf("missing %v", got)
	}
	if s.Phrase < 0.6 || s.Phrase > 0.7 || s.Text < 0.98 {
		t.Errorf("coverage %v of the phrase, %v of the text", s.Phrase, s.Text)
	}
	whole, part := c.Compare("oat milk", "Oat milk"), c.Compare("oat milk", "Oat milk chocolate")
	if whole.Value != 1 || part.Value >= whole.Value || part.Value < 0.6 {
		t.Errorf("whole %v, part %v", whole.Value, part.Value)
	}
	if s := c.CompareName("Ana", "Ann"); s.Value != 0 {
		t.Errorf("names %v", s)
	}
	if s := c.Compare("on", "On"); s.Value != 1 {
		t.Errorf("a function word alone is %v", s.Value)
	}
	if s := c.Compare("", "x"); s.Value != 0 {
		t.Errorf("nothing is %v", s.Value)
	}
	if Exact.String() != "exact" || None.Quality() != 0 || Exact.Quality() != 1 || len(kindNames) != len(qualities) {
		t.Error("kinds, names and qualities differ")
	}
}

func TestContains(t *testing.T) {
	for _, c := range []struct {
		text, phrase     string
		contains, equals bool
	}{
		{"4 items left", "items left", true, false}, {"Total: 12,40 €", "12.40", true, false}, {"14 items", "4 items", false, false},
		{"Salsa", "Sal", false, false}, {"„Apfel“, fertig!", "Apfel fertig", true, true}, {"Müller", "Mueller", true, true},
		{"x", "", false, false},
		{"1,000 rows", "1000 rows", true, true}, {"Ready.", "ready", true, true},
	} {
		if got := Contains(c.text, c.phrase); got != c.contains {
			t.Errorf("Contains(%q, %q) = %v", c.text, c.phrase, got)
		}
		if got := Equal(c.text, c.phrase); got != c.equals {
			t.Errorf("Equal(%q, %q) = %v", c.text, c.phrase, got)
		}
	}
}

func FuzzMatch(f *testing.F) {
	f.Add("add to cart", "In den Warenkorb (2) A. Bad-Aufgabe")
	f.Fuzz(func(t *testing.T, a, b string) {
		c := New("de", "en", "fr")
		p, x := c.Phrase(a, false), c.Text(b)
		s := Match(p, x)
		if s.Value < 0 || s.Value > 1 || s.Phrase > 1.0001 || s.Text > 1.0001 {
			t.Fatalf("%q and %q: %+v", a, b, s)
		}
		for _, pr := range s.Pairs {
			if pr.Phrase+pr.Phrases > len(p.Words) || pr.Text+pr.Texts > len(x.Words) {
				t.Fatalf("%q and %q: pair %+v", a, b, pr)
			}
		}
		if len(p.Words) > 0 && Match(p, p).Value != 1 {
			t.Fatalf("%q is not itself", a)
		}
	})
}
