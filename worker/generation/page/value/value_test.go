package value

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func date(y, m, d int) float64 {
	return float64(time.Date(y, time.Month(m), d, 0, 0, 0, 0, time.UTC).Unix())
}

func TestRead(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		lang, text string
		want       Type
		number     float64
		unit       string
	}{
		{"en", "$1,299.00", Money, 1299, "$"},
		{"de", "12,40 €", Money, 12.4, "€"},
		{"de", "1.500 Fr.", Money, 1500, "Fr"},
		{"fr", "1 500,00 €", Money, 1500, "€"},
		{"de", "CHF 1'250.50", Money, 1250.5, "CHF"},
		{"en", "from 89 € a night", Money, 89, "€"},
		{"en", "€ 62.00", Money, 62, "€"},
		{"en", "-$5.00", Money, -5, "$"},
		{"en", "84.00", Number, 84, ""},
		{"de", "3,5", Number, 3.5, ""},
		{"en", "310 g", Number, 310, "g"},
		{"en", "12 reviews", Number, 12, "reviews"},
		{"en", "85 %", Number, 85, "%"},
		{"en", "120,500", Number, 120500, ""},
		{"en", "Lab 2", Text, 2, ""},
		{"en", "Ladder 3 m", Text, 3, "m"},
		{"en", "2 × Apple cake", Text, 2, "×"},
		{"en", "T5 Multivan", Text, 0, ""},
		{"en", "P-301", Text, 0, ""},
		{"en", "1 h 20 min", Duration, 4800, "min"},
		{"en", "45 minutes", Duration, 2700, "minutes"},
		{"fr", "1h20", Duration, 4800, "h"},
		{"en", "★★★☆☆", Rating, 3, "★"},
		{"en", "4.5 ★", Rating, 4.5, "★"},
		{"en", "4 of 5", Rating, 4, "/5"},
		{"en", "2 of 5 stars ·", Rating, 2, "/5"},
		{"en", "3/5", Rating, 3, "/5"},
		{"en", "17:00", Time, 61200, ""},
		{"en", "7:15 pm", Time, 69300, ""},
		{"en", "2:00 – 3:00 PM", Time, 50400, ""},
		{"de", "9 Uhr", Time, 32400, ""},
		{"en", "2031-05-15", Date, date(2031, 5, 15), ""},
		{"de", "15.05.2031", Date, date(2031, 5, 15), ""},
		{"en", "15 May 2031", Date, date(2031, 5, 15), ""},
		{"en", "May 15, 2031", Date, date(2031, 5, 15), ""},
		{"de", "15. Mai", Date, date(2000, 5, 15), ""},
		{"es", "12 de mayo de 2031", Date, date(2031, 5, 12), ""},
		{"fr", "15 mai 2031", Date, date(2031, 5, 15), ""},
		{"en", "Mon 12 May", Date, date(2000, 5, 12), ""},
		{"en", "5/15/2031", Date, date(2031, 5, 15), ""},
		{"de", "Drucker im 2. Stock streikt", Text, 0, ""},
		{"en", "Where is my bike?", Text, 0, ""},
		{"en", "14 m² · own bath", Text, 0, ""},
		{"en", "", Text, 0, ""},
	} {
		got := (&Reader{Lang: c.lang, DayFirst: c.lang != "en"}).Read(c.text)
		require.Equal(t, c.want, got.Type, c.text)
		if c.number != 0 {
			require.NotNil(t, got.Number, c.text)
			require.InDelta(t, c.number, *got.Number, 1e-6, c.text)
		}
		if got.Type != Text {
			require.Equal(t, c.unit, got.Unit, c.text)
		}
	}
}

// A date in figures is read as the page writes its dates.
func TestDayFirst(t *testing.T) {
	t.Parallel()
	got := (&Reader{Lang: "en", DayFirst: true}).Read("3/4/2031")
	require.InDelta(t, date(2031, 4, 3), *got.Number, 1)
	got = (&Reader{Lang: "en"}).Read("3/4/2031")
	require.InDelta(t, date(2031, 3, 4), *got.Number, 1)
	got = (&Reader{Lang: "en"}).Read("13/4/2031")
	require.InDelta(t, date(2031, 4, 13), *got.Number, 1)
}

func FuzzRead(f *testing.F) {
	for _, text := range []string{"$1,299.00", "1 h 20 min", "15.05.2031", "2:00 – 3:00 PM", "★★★☆☆", "4 of 5", "12,–",
		"31.12.", "\u00a0", "1'250.50 Fr."} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, lang := range []string{"en", "de", ""} {
			if got := (&Reader{Lang: lang}).Read(text); got.Number != nil && math.IsNaN(*got.Number) {
				t.Errorf("%q is no number", text)
			}
		}
	})
}
