package lexicon

import "testing"

func TestLoads(t *testing.T) {
	if _, err := load(files); err != nil {
		t.Fatal(err)
	}
	t.Log(len(all().languages["en"].verbs), len(all().languages["en"].entries))
	for _, w := range []string{"took", "puts", "cheapest", "degrees", "people", "shown", "is"} {
		for _, v := range Language("en").Verbs(w) {
			t.Log(w, v.Lemma, v.Effect, v.Form, v.Particle)
		}
		for _, e := range Language("en").Entries(w) {
			t.Log(w, e.Class, e.Name, e.Lemma, e.Form, e.Value)
		}
	}
}
