package token

import (
	"slices"
	"strings"
	"testing"
)

func TestFold(t *testing.T) {
	for in, want := range map[string]string{
		"Größe": "grosse", "  Añadir\u00a0al  carrito ": "anadir al carrito", "“Don’t”": `"don't"`, "e‑mail — ﬁne…": "e-mail - fine...",
		"ŒUVRE": "oeuvre", "plain text": "plain text", "soft\u00adhyphen": "softhyphen", "": "", " ": "", "a\t\nb": "a b",
		"Ålesund Łódź": "alesund lodz",
	} {
		if got := Fold(in); got != want {
			t.Errorf("Fold(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestSpelled(t *testing.T) {
	for in, want := range map[string]string{"Müller": "mueller", "Straße": "", "Muller": "", "Øst": "oest"} {
		if got := Spelled(in); got != want {
			t.Errorf("Spelled(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestSplit(t *testing.T) {
	french := func(s string) bool { return s == "l'" || s == "d'" || s == "qu'" }
	for in, want := range map[string]string{
		"Set to 2.":                         "Set|to|2|.",
		"the 12.40, 1.000,50 and -3 °":      "the|12.40|,|1.000,50|and|-3|°",
		"l’avis d'A. Simon":                 "l’|avis|d'|A|.|Simon",
		"don't e-mail bo@example.com.":      "don't|e-mail|bo@example.com|.",
		"from 10:30 to 11:30":               "from|10:30|to|11:30",
		"14/04/2031 2031-05-06 28.7.":       "14/04/2031|2031-05-06|28.7|.",
		"40W 5x60 T5 2nd":                   "40|W|5x60|T5|2|nd",
		"$148.00 (10 %)":                    "$|148.00|(|10|%|)",
		"„Bad-Aufgabe“":                     "„|Bad-Aufgabe|“",
		"see https://a.b/c?d=1, www.x.org!": "see|https://a.b/c?d=1|,|www.x.org|!",
		"report.pdf is done.Next":           "report.pdf|is|done|.|Next",
		"1\u00a0000 €":                      "1\u00a0000|€",
		"aujourd'hui":                       "aujourd'hui",
		"":                                  "",
	} {
		var got []string
		for _, tok := range Split(in, french) {
			got = append(got, tok.Text)
		}
		if g := strings.Join(got, "|"); g != want {
			t.Errorf("Split(%q) = %q, want %q", in, g, want)
		}
	}
}

func TestValues(t *testing.T) {
	for in, want := range map[string][]float64{
		"12.40": {12.4}, "12,40": {12.4}, "1.234": {1234, 1.234}, "1,234.5": {1234.5}, "1.234.567": {1234567}, "-3": {-3},
		"2": {2}, "0.125": {0.125},
		"1'000": {1000}, "x": nil, "": nil,
	} {
		if got := Values(in); !slices.Equal(got, want) {
			t.Errorf("Values(%q) = %v, want %v", in, got, want)
		}
	}
}

func TestStem(t *testing.T) {
	for _, c := range [][3]string{
		{"removes", "english", "remov"}, {"Aufgaben", "german", "aufgab"}, {"añadiendo", "spanish", "anad"},
		{"chambres", "french", "chambr"}, {"Ärger", "", "arger"},
	} {
		if got := Stem(c[0], c[1]); got != c[2] {
			t.Errorf("Stem(%q, %q) = %q, want %q", c[0], c[1], got, c[2])
		}
	}
}

func FuzzSplit(f *testing.F) {
	f.Add("l'avis 12.40 bo@x.y 10:30 «a»")
	f.Fuzz(func(t *testing.T, s string) {
		at := 0
		for _, tok := range Split(s, func(w string) bool { return len(w) == 2 }) {
			if tok.From < at || tok.To <= tok.From || tok.Text != s[tok.From:tok.To] {
				t.Fatalf("token %+v after %d", tok, at)
			}
			at = tok.To
		}
		if f := Fold(s); Fold(f) != f {
			t.Fatalf("Fold(%q) = %q is not folded", s, f)
		}
	})
}
