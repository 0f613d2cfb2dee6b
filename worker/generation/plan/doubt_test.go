package plan

import (
	"testing"

	"github.com/slipway-qa/slipway/worker/generation/find"
	"github.com/slipway-qa/slipway/worker/generation/intent"
)

// TestDoubtful holds what destroys, pays or sends to picks that are sure.
func TestDoubtful(t *testing.T) {
	for _, c := range []struct {
		goal      *intent.Goal
		uncertain string
		want      bool
	}{
		{&intent.Goal{Effect: intent.Remove}, "the list has further pages", true},
		{&intent.Goal{Effect: intent.Press, Risk: "pay"}, "the page has more than was read", true},
		{&intent.Goal{Effect: intent.Press, Risk: "pay"}, "", false},
		{&intent.Goal{Effect: intent.Open}, "the list has further pages", false},
		{nil, "the list has further pages", false},
	} {
		p := &planner{goal: c.goal}
		if got := p.doubtful(&find.Found{Uncertain: c.uncertain, Candidates: []find.Candidate{{}}}); got != c.want {
			t.Errorf("%+v, %q: %v", c.goal, c.uncertain, got)
		}
	}
}
