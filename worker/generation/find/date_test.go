package find

import (
	"testing"

	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/page"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

func TestDateOf(t *testing.T) {
	w := wordsOf(&page.Model{Snapshot: &snapshot.Snapshot{Lang: "en"}})
	for s, want := range map[string]intent.Date{
		"May":        {Month: 5},
		"2 May":      {Month: 5, Day: 2},
		"2 May 2031": {Year: 2031, Month: 5, Day: 2},
		"14/04/2031": {Year: 2031, Month: 4, Day: 14},
		"2031-05-06": {Year: 2031, Month: 5, Day: 6},
		"mayo":       {Month: 5},
		"Dune":       {},
		"5 m":        {},
		"2031-00-06": {},
	} {
		got, ok := w.dateOf(s)
		if ok != (want.Month > 0) || ok && (got.Year != want.Year || got.Month != want.Month || got.Day != want.Day) {
			t.Errorf("%q is %+v (%v), want %+v", s, got, ok, want)
		}
	}
}

func FuzzDateOf(f *testing.F) {
	for _, s := range []string{"2 May 2031", "14/04/2031", "", "99999999999999 May", "٣ May"} {
		f.Add(s)
	}
	w := wordsOf(&page.Model{Snapshot: &snapshot.Snapshot{Lang: "de"}})
	f.Fuzz(func(t *testing.T, s string) {
		if d, ok := w.dateOf(s); ok && (d.Month < 1 || d.Month > 12 || d.Day < 0 || d.Day > 31) {
			t.Errorf("%q is %+v", s, d)
		}
	})
}
