package method

import (
	"testing"
	"time"

	"github.com/slipway-qa/slipway/worker/generation/intent"
)

func TestDateForm(t *testing.T) {
	for text, want := range map[string]string{
		"dd.mm.yyyy": "02.01.2006", "TT.MM.JJJJ": "02.01.2006", "mm/dd/yyyy": "01/02/2006", "dd/mm/aaaa": "02/01/2006",
		"2031-05-06": "2006-01-02", "31/12/2030": "02/01/2006", "12/31/2030": "01/02/2006", "": "", "a-b": "", "hello": "",
	} {
		if got := dateForm(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func FuzzDateForm(f *testing.F) {
	f.Add("dd.mm.yyyy")
	f.Add("1-2-3")
	f.Fuzz(func(t *testing.T, text string) {
		if form := dateForm(text); form != "" {
			if _, err := time.Parse(form, time.Date(2031, 5, 6, 0, 0, 0, 0, time.UTC).Format(form)); err != nil {
				t.Errorf("%q is no layout: %v", form, err)
			}
		}
	})
}

func FuzzAmount(f *testing.F) {
	f.Add("1.299,00 €")
	f.Add("$1,299.00")
	f.Fuzz(func(_ *testing.T, text string) { amount(text) })
}

func TestAmount(t *testing.T) {
	for text, want := range map[string]float64{"1.299,00 €": 1299, "$1,299.00": 1299, "12,40": 12.4, "12.40": 12.4,
		"-3": -3, "1,000": 1000, "7 pcs": 7} {
		if got, ok := amount(text); !ok || got != want {
			t.Errorf("%q: %v %v, want %v", text, got, ok, want)
		}
	}
	if _, ok := amount("none"); ok {
		t.Error("a text without a digit has an amount")
	}
}

func TestAgreesWithTime(t *testing.T) {
	for _, c := range []struct {
		text         string
		hour, minute int
		want         bool
	}{
		{"21:00", 21, -1, true}, {"9:00 pm", 21, 0, true}, {"ab 21 Uhr", 21, -1, true}, {"09:21", 21, -1, false}, {"21:30", 21, -1, false},
		{"21:30", 21, 30, true}, {"9:00 am", 21, 0, false}, {"12:15 AM", 0, 15, true}, {"ab 22 Uhr", 21, -1, false},
	} {
		if got := agreesWithDate(c.text, &intent.Date{Hour: c.hour, Minute: c.minute, Weekday: -1}); got != c.want {
			t.Errorf("%q at %d:%d: %v", c.text, c.hour, c.minute, got)
		}
	}
}
