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
		if got := Refuses(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
