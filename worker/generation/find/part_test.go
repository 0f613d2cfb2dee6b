package find

import (
	"testing"

	"github.com/slipway-qa/slipway/worker/generation/intent"
)

// TestPartOfALabel holds values that are one of the parts of an option, or that have the name of a list
// behind them whose options are not seen yet.
func TestPartOfALabel(t *testing.T) {
	for _, tt := range []struct{ said, want string }{
		{"Madrid", "Time zone:Europe/Madrid"}, {"Sao Paulo", "Time zone:America/Sao_Paulo"}, {"second floor", "Floor:"},
		{"the second floor", "Floor:"}, {"on the second floor", "Floor:"}, {"second", ""},
	} {
		s := newSketch("en", "Settings")
		s.field(0, "choice", "Time zone", "Europe/Oslo", "*Europe/Oslo", "Europe/Madrid", "America/Sao_Paulo")
		s.field(0, "choice", "Floor", "All floors")
		a := Assign(s.m, []intent.Field{{Value: intent.Value{Text: tt.said, Span: intent.Span{To: 1}}}}, Want{Lang: "en", Within: -1})
		got := ""
		if len(a.Slots) == 1 {
			got = s.m.Fields[a.Slots[0].To.Index].Label + ":" + a.Slots[0].Label
		}
		if got != tt.want {
			t.Errorf("%s: %q, want %q", tt.said, got, tt.want)
		}
	}
}
