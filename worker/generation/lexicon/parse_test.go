package lexicon

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

func TestParse(t *testing.T) {
	lines, err := parse("# none\n\nadd to=on,in x=a_la: put, jot  down\nverb third: *e>*es\nlemma past=was\n")
	if err != nil || len(lines) != 3 {
		t.Fatal(lines, err)
	}
	l := lines[0]
	if l.name != "add" || !slices.Equal(l.words, []string{"put", "jot down"}) ||
		!slices.Equal(l.attrs["to"], []string{"on", "in"}) || l.attrs["x"][0] != "a la" {
		t.Errorf("%+v", l)
	}
	if lines[1].name != "verb third" || lines[2].attrs["past"][0] != "was" || lines[2].words != nil {
		t.Errorf("%+v", lines[1:])
	}
	if _, err := parse(": nameless"); err == nil {
		t.Error("a line without a name is read")
	}
}

// A language is a folder: nothing in the code knows which there are.
func TestFurtherLanguage(t *testing.T) {
	file := func(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }
	w, err := load(fstest.MapFS{
		"it/language.txt": file("name: Italiano"),
		"it/forms.txt":    file("verb imperative: *are>*a/*i\nverb participle: *are>*ato/*ata\nnoun plural: *o>*i\nphrase first=yes\nandare imperative=vai"),
		"it/verbs.txt":    file("add to=a: aggiungere, mandare\nopen: andare a"),
		"it/nouns.txt":    file("button: bottone\nthing concept=cart: carrello"),
		"it/states.txt":   file("paid: pagato"),
		"it/concepts.txt": file("send: mandare\ncart: carrello"),
		"it/grammar.txt":  file("preposition name=to: a"),
	})
	if err != nil {
		t.Fatal(err)
	}
	l := w.languages["it"]()
	if v := l.Verbs("manda"); len(v) != 1 || v[0].Effect != "add" || v[0].Slot("a") != "to" || v[0].Object() != "target" {
		t.Errorf("verbs %+v", v)
	}
	if v := l.Verbs("vai"); len(v) != 1 || v[0].Particle != "a" {
		t.Errorf("verbs %+v", v)
	}
	if c := l.Concepts("mandato"); len(c) != 1 || w.names[c[0]] != "send" {
		t.Errorf("concepts %v", c)
	}
	if c := l.Concepts("carrelli"); len(c) != 1 || w.names[c[0]] != "cart" {
		t.Errorf("concepts %v", c)
	}
	if e, n := l.At([]string{"pagato", "x"}); n != 1 || e[0].Class != State || e[0].Name != "paid" {
		t.Errorf("entries %+v %d", e, n)
	}
	if _, err := load(fstest.MapFS{"it/verbs.txt": file(": x")}); err == nil {
		t.Error("a wrong file is read")
	}
}

func TestEntries(t *testing.T) {
	for _, c := range []struct {
		lang, words string
		class       Class
		name        string
		n           int
	}{
		{"en", "cheapest room", Measure, "price", 1}, {"de", "ältester Mann", Measure, "age", 1}, {"de", "älteste Mann", Measure, "age", 1},
		{"es", "más caro", Measure, "price", 2}, {"es", "más cara", Measure, "price", 2}, {"fr", "moins chère", Measure, "price", 2},
		{"en", "last but one", Ordinal, "", 3}, {"de", "vorletzten Zeile", Ordinal, "", 1}, {"fr", "il y a", There, "", 3},
		{"es", "hay", There, "", 1}, {"de", "Stunden", Unit, "duration", 1}, {"fr", "euros", Unit, "money", 1},
		{"en", "drop-down list", Noun_, "list", 2},
		{"es", "casillas de verificación", Noun_, "checkbox", 3}, {"fr", "cases à cocher", Noun_, "checkbox", 3},
		{"de", "Zeilen", Noun_, "row", 1},
		{"fr", "lundi", Weekday, "", 1}, {"de", "übermorgen", Day, "", 1}, {"en", "in stock", State, "available", 2},
		{"es", "a la izquierda", Place, "left", 3},
	} {
		e, n := Language(c.lang).At(strings.Fields(c.words))
		if n != c.n || !slices.ContainsFunc(e, func(e Entry) bool { return e.Class == c.class && e.Name == c.name }) {
			t.Errorf("%s %q: %d words %+v", c.lang, c.words, n, e)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("add to=on,in: put, jot down # x\nverb a: *e>*es")
	f.Fuzz(func(t *testing.T, s string) {
		lines, err := parse(s)
		if err == nil {
			newInflector(lines).forms("abcdef", "verb")
		}
	})
}
