package intent

import (
	"reflect"
	"testing"

	"github.com/slipway-qa/slipway/worker/generation/lexicon"
)

func TestTokenize(t *testing.T) {
	tests := map[string][]string{
		`Click "Save it".`:                        {"Click", "Save it", "."},
		"Click “Save” and ‘Go on’":                {"Click", "Save", "and", "Go on"},
		"„Weiter“ drücken":                        {"Weiter", "drücken"},
		"Anna's and Jones' notes":                 {"Anna's", "and", "Jones", "'", "notes"},
		"pay $1,299.00 or 12,40 €":                {"pay", "$", "1,299.00", "or", "12,40", "€"},
		"mail ann@lee.io, see https://a.b/c?d=e.": {"mail", "ann@lee.io", ",", "see", "https://a.b/c?d=e", "."},
		"open beach.png. Then":                    {"open", "beach.png", ".", "Then"},
		"to 2. Then":                              {"to", "2", ".", "Then"},
		"from 10:30 to 3:45pm":                    {"from", "10:30", "to", "3:45", "pm"},
		"Wood screws 5x60, T5, 2nd, 25m":          {"Wood", "screws", "5x60", ",", "T5", ",", "2nd", ",", "25", "m"},
		"phone 0151 2233, (44) 123 1234":          {"phone", "0151 2233", ",", "(44) 123 1234"},
		"the × button":                            {"the", "×", "button"},
		"d.h. morgen":                             {"d", ".", "h", ".", "morgen"},
		"File>Export":                             {"File", ">", "Export"},
		"country:IS":                              {"country:IS"},
	}
	for text, want := range tests {
		var got []string
		for _, tok := range tokenize(text) {
			got = append(got, tok.text)
			if tok.From < 0 || tok.To > len(text) || tok.From >= tok.To {
				t.Errorf("%q: span %v", text, tok.Span)
			}
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%q:\n got %q\nwant %q", text, got, want)
		}
	}
}

func TestAmount(t *testing.T) {
	tests := map[string]float64{
		"12": 12, "12.40": 12.4, "12,40": 12.4, "1.500,00": 1500, "1,299.00": 1299, "13,000": 13000, "6.000": 6000, "1.234.567": 1234567,
		"0.5": 0.5, "0": 0, "231.6": 231.6,
	}
	for text, want := range tests {
		if got, ok := amount(text); !ok || got != want {
			t.Errorf("%s is %v, %v, want %v", text, got, ok, want)
		}
	}
	for _, text := range []string{"10:30", "05/12/2016", "14.04.2031", "0151", "1-2", ""} {
		if got, ok := amount(text); ok {
			t.Errorf("%s is %v and should be none", text, got)
		}
	}
}

func TestSentences(t *testing.T) {
	tests := []struct {
		lang, text string
		want       int
	}{
		{"en", "Set eights to 1. Open it.", 2},
		{"en", "Open the interview with Ms. Tran. Save it.", 2},
		{"en", "Ask Dr. Whitfield, e.g. by mail.", 1},
		{"fr", "Rends le livre d'A. Simon. Merci.", 2},
		{"de", "Am 3. Mai kommt Helga B. die erste.", 1},
		{"de", "Setze den Wert auf 5. Speichere ihn.", 2},
		{"de", "Nimm den Zug, d.h. die Bahn.", 1},
		{"en", `It says "Done." Click OK.`, 2},
		{"en", "1. Click ONE\n2. Click TWO\n- Click THREE", 3},
		{"en", "A Thank you! at the end", 1},
		{"es", "¿Quedan tres? Bórralos.", 2},
	}
	for _, test := range tests {
		r := &reader{source: test.text, lang: test.lang, lex: lexicon.Language(test.lang)}
		if got := len(r.sentences(r.unclitic(tokenize(test.text)))); got != test.want {
			t.Errorf("%q has %d sentences, want %d", test.text, got, test.want)
		}
	}
}

func TestDates(t *testing.T) {
	tests := []struct{ lang, text, want string }{
		{"en", "March 9, 2027", "2027-3-9"}, {"en", "9 March 2027", "2027-3-9"}, {"en", "June 5th", "0-6-5"}, {"en", "05/12/2016", "2016-5-12"},
		{"en", "Tuesday 6 May 2031 at 16:30", "2031-5-6w2T16:30"}, {"en", "3:45 PM", "T15:45"}, {"en", "tomorrow", "day+1"},
		{"de", "28. Juli", "0-7-28"}, {"de", "14.04.2031", "2031-4-14"}, {"de", "9 Uhr", "T9:00"}, {"de", "morgen", "day+1"},
		{"es", "15 de mayo de 2031 a las 12:00", "2031-5-15T12:00"}, {"fr", "5 mai 2031", "2031-5-5"}, {"fr", "14/04/2031", "2031-4-14"},
		{"en", "2031-05-12", "2031-5-12"},
	}
	for _, test := range tests {
		r := &reader{source: test.text, lang: test.lang, lex: lexicon.Language(test.lang)}
		toks := tokenize(test.text)
		d, n := r.date(toks, 0)
		if d == nil {
			t.Errorf("%s is no date", test.text)
			continue
		}
		if got := d.String(); got != test.want || n != len(toks) {
			t.Errorf("%s is %s (%d of %d), want %s", test.text, got, n, len(toks), test.want)
		}
	}
}
