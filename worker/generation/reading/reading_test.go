package reading

import (
	"strings"
	"testing"

	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/tagger"
)

// tagged is what the tagger alone makes of a text, "" where it has no whole reading.
func tagged(text, lang string) string {
	list := Tagged(tagger.Default(), text, lang)
	if len(list) == 0 {
		return ""
	}
	return list[0].String()
}

// The parts that the tagger finds become the goals that grammar makes of a plain sentence.
func TestTagged(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ lang, text, want string }{
		{"en", "Rename the workspace to Oslo and save", `edit[workspace, text=Oslo] | submit[]`},
		{"en", "Go to page 2 and delete Grace Obi", ``},
		{"de", "Benenne „Water the ferns“ in „Water the cactus“ um.", `edit["Water the ferns", text="Water the cactus"]`},
		{"de", "Wähle den günstigsten Tarif", `choose[min:price <Tarif>]`},
	} {
		if got := tagged(c.text, c.lang); got != c.want {
			t.Errorf("%q:\n got %s\nwant %s", c.text, got, c.want)
		}
	}
}

// A reading accounts for each word, and all readings of a text are whole.
func TestTaggedIsWhole(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"Delete the blue van", "Frobnicate the zeppelin under the quux, please", "Set rooms to 2, beds to 3 and cots to 1",
		"Grab me whatever is dearest", "Never delete the blue van", "Bram Post has paid, tick that for him"} {
		for _, r := range Tagged(tagger.Default(), text, "en") {
			if left := intent.Left(text, "en", r.Goals); len(left) > 0 || len(r.Unread) > 0 {
				t.Errorf("%q: %s leaves %v and %v", text, r.String(), left, r.Unread)
			}
		}
	}
}

// What is denied is not done, and what cannot be taken back needs a word that says so.
func TestTaggedDoesNoHarm(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ lang, text string }{
		{"en", "Never delete the blue van"},
		{"en", "Do not delete the blue van"},
		{"de", "Den blauen Bus nicht löschen"},
		{"es", "No borres la furgoneta azul"},
		{"fr", "Ne supprime pas le van bleu"},
		{"en", "The blue van frobnicates"},
		{"en", "The blue van is deleted."},
		{"en", "All members are removed."},
		{"en", "Ann has removed the blue van."},
		{"en", "Admins may delete the blue van."},
		{"en", "It would be wrong to delete the blue van"},
		{"fr", "Le van bleu est supprimé."},
		{"en", "The blue van is lovely"},
	} {
		for _, r := range append(Tagged(tagger.Default(), c.text, c.lang), first(Read(c.text))...) {
			for i := range r.Goals {
				switch g := &r.Goals[i]; g.Effect {
				case intent.Remove, intent.Clear, intent.Submit, intent.Confirm, intent.SignOut:
					if !g.Forbidden {
						t.Errorf("%q: %s", c.text, r.String())
					}
				}
			}
		}
	}
}

// first is the first reading where it is whole: what would be done.
func first(t intent.Text) []intent.Reading {
	if len(t.Readings) == 0 || !whole(&t.Readings[0]) {
		return nil
	}
	return t.Readings[:1]
}

// Grammar reads what it reads wholly; the tagger what grammar leaves words of, or takes for a claim or one value.
func TestRead(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"Delete the blue van and confirm.", "Set rooms to 2, beds to 3 and cots to 1", "The total should be 12.50",
		"Trie par prix et vérifie que le total est 12"} {
		got, grammar := Read(text), intent.Read(text)
		if len(got.Readings) == 0 || got.Readings[0].String() != grammar.Readings[0].String() || len(got.Readings) != len(grammar.Readings) {
			t.Errorf("%q: not as grammar reads it", text)
		}
	}
	const sentence = "Die Satzung soll künftig Satzung 2024 heißen."
	if r := Read(sentence).Readings[0]; onlyClaims(r.Goals) || !strings.HasPrefix(r.String(), "edit[") {
		t.Errorf("%q was read as %s", sentence, r.String())
	}
	if got := Read(" \n"); len(got.Readings) > 0 {
		t.Errorf("nothing was read as %v", got.Readings)
	}
}

func TestSwallows(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"Two stars for the van that is green":         true,
		"Enter \"a note of more than four words\"":    false,
		"Set the volume to 7":                         false,
		"Enter Buy oat milk and bread as the title":   false,
		"Choose Tuesday 6 May 2031 at half past four": false,
	} {
		if r := intent.Read(text).Readings; len(r) == 0 || swallows(r[0].Goals) != want {
			t.Errorf("%q: swallows %v, want %v (%v)", text, !want, want, r)
		}
	}
}
