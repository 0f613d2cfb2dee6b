package tagger

import (
	"strings"
	"testing"

	"github.com/slipway-qa/slipway/worker/generation/intent"
)

// labelsOf is what the tagger makes of a text, as people read it.
func labelsOf(text, lang string, press float32) string {
	var out []string
	for _, p := range Default().Tag(intent.Tokens(text, lang), lang, press) {
		line := p.Kind
		if p.Forbidden {
			line = "!" + line
		}
		if p.Late {
			line += "~"
		}
		for _, s := range p.Slots {
			line += " " + s.Name + "=" + text[s.From:s.To]
		}
		out = append(out, line)
	}
	return strings.Join(out, " | ")
}

// Plain texts have the labels that anybody would give them.
func TestTag(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ lang, text, want string }{
		{"en", "Go to page 2 and delete Grace Obi", "page a=2 | remove t=Grace Obi"},
		{"en", "Rename the workspace to Oslo and save", "edit t=the workspace v=Oslo | save"},
		{"es", "Borra la carta de Rosa Vidal y confirma", "remove t=la carta de Rosa Vidal | confirm"},
		{"en", "There should be 4 members left once you have removed the youngest one", "count~ a=4 t=members | remove t=the youngest one"},
		{"de", "Benenne „Water the ferns“ in „Water the cactus“ um.", "edit t=„Water the ferns“ v=„Water the cactus“"},
		{"de", "Wähle den günstigsten Tarif", "choose t=den günstigsten Tarif"},
		{"fr", "Supprime la facture de mars", "remove t=la facture de mars"},
	} {
		if got := labelsOf(c.text, c.lang, Loosely); got != c.want {
			t.Errorf("%q:\n got %s\nwant %s", c.text, got, c.want)
		}
	}
}

// inOrder checks that parts and slots stand in a text one behind the other, whatever it is.
func inOrder(t *testing.T, text, lang string) {
	t.Helper()
	tokens := intent.Tokens(text, lang)
	at := 0
	for _, p := range Default().Tag(tokens, lang, Strictly) {
		if p.From < at || p.To > len(text) || p.First >= p.Last || p.Last > len(tokens) || len(p.Labels) != p.Last-p.First {
			t.Fatalf("part %+v of %q behind %d", p, text, at)
		}
		in := p.From
		for _, s := range p.Slots {
			if s.From < in || s.To <= s.From || s.To > p.To {
				t.Fatalf("slot %+v of %+v", s, p)
			}
			in = s.To
		}
		at = p.To
	}
}

func TestTagIsBounded(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", " ", "\n\n", ".", "((((", strings.Repeat("Delete the blue van, ", 500), strings.Repeat("a", 20_000),
		strings.Repeat("(", 5_000), strings.Repeat("Ann Lee ", 2_000)} {
		inOrder(t, text, "en")
	}
}

func FuzzTag(f *testing.F) {
	f.Add("Delete the second invoice (Rechnung) and confirm.", "en")
	f.Add("1. Anmelden\n2. „Konto“ öffnen", "de")
	f.Fuzz(func(t *testing.T, text, lang string) { inOrder(t, text, lang) })
}
