package effect_test

import (
	"testing"

	"github.com/slipway-qa/slipway/worker/generation/effect"
	"github.com/slipway-qa/slipway/worker/generation/intent"
)

// TestPageByTheRangeThatIsShown takes the second page for the one whose records are counted so.
func TestPageByTheRangeThatIsShown(t *testing.T) {
	for _, c := range []struct {
		was, is string
		page    float64
		reached bool
	}{
		{"1-5 of 42", "6-10 of 42", 2, true},
		{"1–5 of 12", "11–12 of 12", 3, true},
		{"1-5 of 42", "6-10 of 42", 3, false},
		{"1-5 of 42", "6-10 of 43", 2, false}, // of another list
		{"from 12/05/2031", "from 13/05/2031", 2, false},
	} {
		before, after := table([]string{c.was}, "Ann", "Bo"), table([]string{c.is}, "Cy", "Di")
		goal := &intent.Goal{Effect: intent.Page, Amount: &intent.Value{Number: &c.page}}
		v := effect.Judge(effect.Between(before, after), goal, nil)
		if (v.State == effect.Reached) != c.reached {
			t.Errorf("page %g from %q to %q: %s, %s", c.page, c.was, c.is, v.State, v.Why)
		}
	}
}
