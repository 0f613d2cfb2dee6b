package find

import (
	"math"

	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/page"
	amounts "github.com/slipway-qa/slipway/worker/generation/page/value"
)

// stepped reports whether the one number that the subject shows became more or less than it was,
// and by as much as the claim says.
func stepped(before, after *page.Model, c *intent.Claim, w Want) bool {
	if len(c.Subject) != 1 {
		return false
	}
	was, is := Description(before, &c.Subject[0], w), Description(after, &c.Subject[0], w)
	if len(was.Candidates) == 0 || len(is.Candidates) == 0 {
		return false
	}
	old, now := amounts.Numbers(shows(before, &was.Candidates[0])), amounts.Numbers(shows(after, &is.Candidates[0]))
	if len(old) != 1 || len(now) != 1 {
		return false
	}
	step := now[0] - old[0]
	if c.Op == "<" {
		step = -step
	}
	if len(c.Values) == 1 && c.Values[0].Number != nil {
		return math.Abs(step-*c.Values[0].Number) < 1e-9
	}
	return step > 0 && len(c.Values) == 0
}
