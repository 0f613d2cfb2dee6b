package lexicon

import "testing"

func TestDetect(t *testing.T) {
	for text, want := range map[string]string{
		"Delete the dinner.":                             "en",
		"Lösch mal den Beamer auf der zweiten Seite.":    "de",
		"expel anna klein":                               "en",
		"Merk dir den roten Bus":                         "de",
		"Ponle cuatro estrellas a las tortitas":          "es",
		"Retire la demande du mois de juin":              "fr",
		"Rends le livre d'A. Simon":                      "fr",
		"Borra la carta de Rosa Vidal":                   "es",
		"Remove Bo":                                      "en",
		"Mueve la tarjeta Address check a la columna":    "es",
		"Filtre sur la catégorie Knives":                 "fr",
		"Bestell drei Funghi":                            "de",
		"":                                               "en",
		"xyzzy":                                          "en",
		"Klick auf \"Save the changes to the document\"": "de",
	} {
		if got := Detect(text); got != want {
			t.Errorf("Detect(%q) = %q, want %q", text, got, want)
		}
	}
}
