package plan

import (
	"github.com/slipway-qa/slipway/worker/generation/effect"
	"github.com/slipway-qa/slipway/worker/generation/page"
)

// recall keeps what the page shows before a goal and before each of its ways: it may go, and come back.
func (p *planner) recall(m *page.Model) {
	if p.seen == nil {
		p.seen = map[string]bool{}
	}
	for i := range m.Records {
		if r := &m.Records[i]; r.Title != "" && !m.Nodes[r.Node].Hidden {
			p.seen[effect.Fold(r.Title)] = true
		}
	}
}

// judge says what a change means for the goal of an attempt. What came back was there before: a new entry
// that says that there is nothing to undo was not.
func (p *planner) judge(c *effect.Change, a *attempt) effect.Verdict {
	v := effect.Judge(c, a.goal, a.target)
	if v.State != effect.Reached || !v.Back {
		return v
	}
	for _, r := range c.Added {
		if title := c.After.Records[r].Title; !p.seen[effect.Fold(title)] {
			return effect.Verdict{State: effect.Unseen, Why: "what came was not there before: " + title}
		}
	}
	return v
}
