package find

import (
	"testing"

	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// TestTypedColumns holds words for what a column shows to its type: a year over years is no word that
// is missing in its head, and over other numbers it is.
func TestTypedColumns(t *testing.T) {
	for _, tt := range []struct {
		name, lang, page, head, said string
		cells                        []string
		want                         bool
	}{
		{"year of birth over years", "fr", "fr", "Naissance", "année naissance", []string{"1948", "1990"}, true},
		{"year over other numbers", "fr", "fr", "Naissance", "année naissance", []string{"12", "44"}, false},
		{"in another language", "de", "en", "Foundation", "Jahr Foundation", []string{"1848", "1990"}, true},
		{"another word", "en", "en", "Birth", "place Birth", []string{"1948", "1990"}, false},
		{"price over prices", "fr", "en", "Price", "prix", []string{"12.50 €", "9.00 €"}, true},
		{"price over prices, the other way", "en", "de", "Preis", "price", []string{"12,50 €", "9,00 €"}, true},
		{"date over dates", "de", "es", "Fecha", "Datum", []string{"2031-05-04", "2031-05-06"}, true},
		{"only the type", "en", "de", "Summe", "price", []string{"12,50 €", "9,00 €"}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newSketch(tt.page, "Members")
			s.table(-1, "Members", "Name|"+tt.head, "Ann|"+tt.cells[0], "Bo|"+tt.cells[1])
			var p spans
			d := p.say(tt.said)
			f := Description(s.m, &d, Want{Kinds: []What{Column}, Lang: tt.lang, Within: -1})
			got := len(f.Candidates) > 0 && len(f.Candidates[0].Missing) == 0 && f.Candidates[0].Score >= Enough
			if got != tt.want {
				t.Errorf("found %v, want %v: %+v", got, tt.want, f.Candidates)
			}
		})
	}
}

// TestNamedByOf holds a value that is joined to the name of its field by "of", in another language
// than the page's.
func TestNamedByOf(t *testing.T) {
	for _, tt := range []struct{ lang, said, field, text string }{
		{"es", "la zona horaria de Madrid", "Time zone", "Madrid"},
		{"es", "zona horaria de Madrid", "Time zone", "Madrid"},
		{"en", "time zone Madrid", "Time zone", "Madrid"},
	} {
		s := newSketch("en", "Settings")
		s.field(0, "text", "Workspace name", "Halden")
		s.field(0, "choice", "Time zone", "")
		a := Assign(s.m, []intent.Field{{Value: intent.Value{Text: tt.said, Span: intent.Span{To: 1}}}}, Want{Lang: tt.lang, Within: -1})
		if len(a.Slots) != 1 || s.m.Fields[a.Slots[0].To.Index].Label != tt.field || a.Slots[0].Text != tt.text {
			t.Errorf("%s: %+v", tt.said, a)
		}
	}
}

// TestDrawnOver holds a list of the browser that is hidden below what is drawn over it: it is used
// where nothing else is called so.
func TestDrawnOver(t *testing.T) {
	for _, both := range []bool{false, true} {
		s := newSketch("en", "Stay")
		s.field(0, "choice", "Quietness", "", "Silent", "Loud")
		n := &s.m.Nodes[s.m.Fields[0].Node]
		n.Box = [4]int{10, 10, 1, 1}
		n.Options = []snapshot.Option{{Label: "Silent"}, {Label: "Loud"}}
		if both {
			s.field(0, "choice", "Quietness", "", "Silent", "Loud")
		}
		var p spans
		a := Assign(s.m, []intent.Field{p.value("Quietness=Silent")}, Want{Lang: "en", Within: -1})
		if len(a.Slots) != 1 || (a.Slots[0].To.Index == 1) != both {
			t.Errorf("both %v: %+v", both, a)
		}
	}
}
