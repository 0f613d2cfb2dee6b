package word

import "testing"

func TestNever(t *testing.T) {
	for _, c := range [][4]string{
		{"es", "es", "sal", "salsa"}, {"en", "en", "Anna", "Annabel"}, {"de", "en", "Anna", "Annabel"}, {"en", "en", "2", "20"},
		{"en", "en", "12.4", "124"},
		{"en", "en", "Niger", "Nigeria"}, {"de", "de", "Ott", "Otte"}, {"en", "en", "Tom", "Tomas"}, {"en", "en", "Pryce", "Price"},
		{"de", "de", "Lindgren", "Lindqvist"}, {"es", "es", "Rosa", "Rosario"}, {"en", "en", "oat", "boat"},
	} {
		if s := New(c[0], c[1]).Compare(c[2], c[3]); s.Value != 0 {
			t.Errorf("%q matches %q: %+v", c[2], c[3], s)
		}
	}
}

func TestKinds(t *testing.T) {
	for _, c := range []struct {
		lang, page, phrase, text string
		kind                     Kind
	}{
		{"en", "en", "Save", "Save", Exact},
		{"en", "en", "save", "SAVE", Folded},
		{"de", "de", "Größe", "Grösse", Folded},
		{"de", "de", "Mueller", "Müller", Folded},
		{"en", "en", "12.40", "12,40", Folded},
		{"en", "en", "notes", "note", Plural},
		{"en", "en", "check box", "Checkbox", Folded},
		{"en", "en", "e-mail", "Email", Folded},
		{"en", "en", "delete", "Remove", Concept},
		{"en", "en", "A. Simon", "Anne Simon", Initial},
		{"en", "en", "vegetarain", "Vegetarian", Typo},
		{"en", "en", "gizmos", "Gizmo holder", Plural},
		{"en", "en", "Anna's task", "Anna task", Folded},
	} {
		if s := New(c.lang, c.page).Compare(c.phrase, c.text); s.Kind != c.kind {
			t.Errorf("%q and %q: %v, want %v (%+v)", c.phrase, c.text, s.Kind, c.kind, s)
		}
	}
}

func BenchmarkMiss(b *testing.B) {
	c := New("de", "en")
	p, t := c.Phrase("den späten Frost", false), c.Text("Add a new contact to the list")
	b.ReportAllocs()
	for b.Loop() {
		Match(p, t)
	}
}

func BenchmarkMissKept(b *testing.B) {
	c := New("de", "en")
	b.ReportAllocs()
	for b.Loop() {
		c.Compare("den späten Frost", "Add a new contact to the list")
	}
}

func BenchmarkPrepare(b *testing.B) {
	b.ReportAllocs()
	s := newSide([]string{"de", "en"}, []string{"en"})
	for b.Loop() {
		s.prepare("Add a new contact to the list", false)
	}
}
