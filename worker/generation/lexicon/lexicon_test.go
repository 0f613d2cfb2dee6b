package lexicon

import (
	"os"
	"slices"
	"strings"
	"testing"
)

func TestLoads(t *testing.T) {
	if _, err := load(files); err != nil {
		t.Fatal(err)
	}
	for _, c := range Codes() {
		l := Language(c)
		lemmas := map[string]bool{}
		for _, vs := range l.verbs {
			for _, v := range vs {
				lemmas[v.Lemma] = true
			}
		}
		t.Log(c, "verb forms", len(l.verbs), "verbs", len(lemmas), "entries", len(l.entries), "concept words", len(l.concept))
	}
	if q := os.Getenv("Q"); q != "" {
		for _, c := range Codes() {
			for _, v := range Language(c).Verbs(q) {
				t.Log(c, v.Lemma, v.Effect, v.Form, v.Particle, v.Joined, v.Clitics)
			}
			for _, e := range Language(c).Entries(q) {
				t.Log(c, e.Class, e.Name, e.Lemma, e.Form, e.Value)
			}
			for _, x := range Language(c).Concepts(q) {
				t.Log(c, "concept", x.Name())
			}
		}
	}
}

func TestVerbForms(t *testing.T) {
	for _, c := range []struct{ lang, word, lemma, effect, form string }{
		{"en", "took", "take off", "remove", "past"},
		{"en", "ticking", "tick off", "complete", "gerund"},
		{"en", "applies", "apply", "submit", "third"},
		{"de", "Hake", "abhaken", "complete", "imperative"},
		{"de", "Hak", "abhaken", "complete", "imperative"},
		{"de", "abgehakt", "abhaken", "complete", "participle"},
		{"de", "abzuhaken", "abhaken", "complete", "infinitive"},
		{"de", "Nimm", "aufnehmen", "add", "imperative"},
		{"de", "gelöschten", "löschen", "remove", "participle"},
		{"de", "geloescht", "löschen", "remove", "participle"},
		{"de", "verschoben", "verschieben", "move", "participle"},
		{"de", "Benenne", "umbenennen", "edit", "imperative"},
		{"de", "umbenannt", "umbenennen", "edit", "participle"},
		{"de", "storniert", "stornieren", "remove", "participle"},
		{"de", "Klapp", "aufklappen", "expand", "imperative"},
		{"de", "erscheint", "erscheinen", "check", "third"},
		{"de", "sortiere", "sortieren", "sort", "imperative"},
		{"es", "guárdala", "guardar", "submit", "imperative"},
		{"es", "ponle", "poner", "set", "imperative"},
		{"es", "muestra", "mostrar", "open", "imperative"},
		{"es", "compruebe", "comprobar", "check", "imperative"},
		{"es", "añadiendo", "añadir", "add", "gerund"},
		{"es", "añadido", "añadir", "add", "participle"},
		{"es", "pulsa", "pulsar", "press", "imperative"},
		{"es", "Saltate", "saltarse", "abandon", "imperative"},
		{"es", "desaparezca", "desaparecer", "check", "subjunctive"},
		{"es", "elige", "elegir", "choose", "imperative"},
		{"fr", "mets-la", "mettre", "add", "imperative"},
		{"fr", "remets", "remettre à zéro", "clear", "imperative"},
		{"fr", "enregistrez", "enregistrer", "submit", "imperative"},
		{"fr", "Choisis", "choisir", "choose", "imperative"},
		{"fr", "rends", "rendre", "complete", "imperative"},
		{"fr", "inscris", "s'inscrire", "act", "imperative"},
		{"fr", "reste", "rester", "check", "third"},
		{"fr", "affichés", "afficher", "open", "participle"},
		{"fr", "supprimée", "supprimer", "remove", "participle"},
	} {
		vs := Language(c.lang).Verbs(c.word)
		if !slices.ContainsFunc(vs, func(v VerbForm) bool { return v.Lemma == c.lemma && v.Effect == c.effect && v.Form == c.form }) {
			t.Errorf("%s %q is no %s of %q (%s)", c.lang, c.word, c.form, c.lemma, c.effect)
			for _, v := range vs {
				t.Log(v.Lemma, v.Effect, v.Form)
			}
		}
	}
}

func TestNamed(t *testing.T) {
	for _, name := range strings.Fields(`delete remove trash clear new add create plus minus edit save send submit ok yes no confirm apply done finish
		cancel close back next continue previous search filter sort download export upload copy sign_in sign_out settings more menu cart expand collapse
		refresh undo move archive favorite star pin price cost amount fee total revenue value age birthday birth date time due duration length days size
		area rating stars score review popularity used views votes likes sales helpful salary income stock quantity overdue priority weight name title text
		subject label description temperature number count email phone website password full_name`) {
		if Named(name) == 0 {
			t.Errorf("no concept is called %q", name)
		}
	}
}

func TestIcons(t *testing.T) {
	for in, want := range map[string]string{
		"fa-trash": "delete", "fas fa-trash-alt": "delete", "bi-cart-plus": "add_to_cart", "shopping_cart": "cart", "lucide-trash-2": "delete",
		"ShoppingCart": "cart", "#icon-pencil": "edit", "mdi-heart-outline": "favorite", "bi bi-x-lg": "close", "xyzzy": "",
		"": "", "🗑️": "delete", "✕": "close",
		"ellipsis-vertical": "more", "feather feather-search": "search", "fa-star-o": "favorite",
	} {
		if got := Icon(in).Name(); got != want {
			t.Errorf("Icon(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestConcepts(t *testing.T) {
	for _, c := range []struct{ lang, word, concept string }{
		{"de", "Warenkorb", "cart"}, {"es", "cesta", "cart"}, {"fr", "paniers", "cart"}, {"en", "basket", "cart"}, {"de", "speichere", "save"},
		{"es", "guárdalo", "save"}, {"fr", "enregistrez", "save"}, {"de", "gelöscht", "delete"}, {"fr", "Paramètres", "settings"},
		{"de", "lila", "purple"},
		{"es", "martes", "weekday_2"}, {"fr", "août", "month_8"}, {"de", "bezahlt", "is_paid"}, {"es", "pagada", "is_paid"},
		{"en", "nights", "night"},
		{"fr", "mot de passe", "password"}, {"en", "sign in", "sign_in"}, {"es", "regístrate", "sign_up"},
	} {
		cs := Language(c.lang).Concepts(c.word)
		if !slices.ContainsFunc(cs, func(x ConceptID) bool { return x.Name() == c.concept }) {
			t.Errorf("%s %q is not %s", c.lang, c.word, c.concept)
			for _, x := range cs {
				t.Log(x.Name())
			}
		}
	}
}

func TestRisk(t *testing.T) {
	for label, want := range map[string]string{
		"Delete": "destroy", "Konto löschen": "destroy", "Supprimer le compte": "destroy", "Vaciar carrito": "destroy", "Pay now": "pay",
		"Jetzt kostenpflichtig bestellen": "pay", "Commander": "pay", "Enviar": "send", "Absenden": "send", "Publish": "send",
		"Save": "", "Details": "",
		"Weiter": "", "Suivant": "", "Settings": "", "": "", "To": "", "Zurück": "", "Add to cart": "",
	} {
		if got := Risk(label); got != want {
			t.Errorf("Risk(%q) = %q, want %q", label, got, want)
		}
	}
	for c := range all().risks {
		if c.Name() == "" {
			t.Error("a risk names no concept")
		}
	}
}

func TestRemoves(t *testing.T) {
	for label, want := range map[string]bool{"Throw away Late frost": true, "Delete": true, "Wirf die Notiz weg": true,
		"Löschen": true, "Supprimer la ligne": true,
		"Get rid of it": true, "Trash": true, "Publish": false, "Throw a party": false, "Late frost": false, "Cancel": false,
		"Discard changes": false, "New note": false, "": false} {
		if got := Removes(label, false); got != want {
			t.Errorf("%q: %v, want %v", label, got, want)
		}
	}
	if !Removes("Press Throw away Late frost", true) || Removes("Press Throw away Late frost", false) {
		t.Error("in a sentence it may stand anywhere, and a label begins with it")
	}
}
