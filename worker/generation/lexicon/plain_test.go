package lexicon

import "testing"

func TestPlain(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ lang, effect, concept, want string }{
		{"en", "remove", "", "delete"},
		{"en", "submit", "save", "save"},
		{"de", "sort", "", "sortieren"},
		{"fr", "search", "", "chercher"},
		{"en", "submit", "no such concept", ""},
		{"en", "no such effect", "", ""},
	} {
		got := ""
		if v := Language(c.lang).Plain(c.effect, c.concept); v != nil {
			got = v.Lemma
		}
		if got != c.want {
			t.Errorf("%s %s %s: %q, want %q", c.lang, c.effect, c.concept, got, c.want)
		}
	}
}
