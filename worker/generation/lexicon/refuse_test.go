package lexicon

import "testing"

func TestRefuses(t *testing.T) {
	for text, want := range map[string]bool{
		"Please enter a valid date":               true,
		"The name is required.":                   true,
		"Can't be blank, it must have 3 letters":  true,
		"Das Passwort ist falsch.":                true,
		"Bitte wählen Sie ein Datum":              true,
		"L'adresse n'a pas pu être vérifiée":      true,
		"Veuillez remplir ce champ":               true,
		"Bitte erst eine Zeile auswählen":         true,
		"Please first select a row":               true,
		"Este campo es obligatorio":               true,
		"La contraseña no coincide":               true,
		"Thank you, we have received your order.": false,
		"Saved.":                                     false,
		"Die Buchung wurde gespeichert.":             false,
		"Merci, votre message est parti":             false,
		"Tu pedido está en camino":                   false,
		"The mustard was added, wrongs are forgiven": false,
		"": false,
	} {
		if got := Refuses(text, ""); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// TestRefusesInTheLanguageOfThePage holds words that are no refusal in another language, or alone.
func TestRefusesInTheLanguageOfThePage(t *testing.T) {
	for _, c := range []struct {
		lang, text string
		want       bool
	}{
		{"en", "Thank you! Delivery takes at least 2 days.", false},
		{"es", "Gracias. Leer más", false},
		{"de", "Danke! Die Lieferung dauert mindestens 2 Tage.", false},
		{"fr", "Merci ! Comptez au moins 2 jours.", false},
		{"fr", "Merci ! Le code est Fehler", false},
		{"de-AT", "Bitte geben Sie einen Namen ein", true},
		{"de", "Please enter a name", true},
		{"en", "The password must be at least 8 characters", true},
		{"es", "El nombre es obligatorio", true},
		{"", "Le nom est obligatoire", true},
		{"en", "Le nom est obligatoire", true},
		{"de", "Le nom est obligatoire", false},
	} {
		if got := Refuses(c.text, c.lang); got != c.want {
			t.Errorf("%q in %q: %v", c.text, c.lang, got)
		}
	}
}
