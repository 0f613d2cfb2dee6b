package plan

import (
	"github.com/slipway-qa/slipway/worker/generation/find"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/page"
)

// beside keeps of several controls of one name the one that stands in the thing that was spoken of
// last, or in the form that was just filled in: "enter Zed as the nickname and click Keep", where
// each section has such a button.
func (p *planner) beside(m *page.Model, f find.Found) find.Found {
	if p.goal == nil || f.Plural || p.goal.Effect != intent.Press && p.goal.Effect != intent.Submit && p.goal.Effect != intent.Act {
		return f
	}
	at := -1
	if len(p.them) == 1 && p.them[0].what == find.Record {
		if c, ok := p.now(m, &p.them[0]); ok {
			at = c.Node
		}
	}
	if at < 0 {
		at = p.nearOn(m)
	}
	if at < 0 {
		return f
	}
	best, depth, tie := -1, -1, false
	for i := range f.Candidates {
		c := &f.Candidates[i]
		if f.Candidates[0].Score-c.Score > find.Margin {
			break
		}
		if c.What != find.Control {
			return f
		}
		d := sharedDepth(m, at, c.Node)
		tie = tie && d <= depth || d == depth
		if d > depth {
			best, depth, tie = i, d, false
		}
	}
	if best < 0 || tie {
		return f
	}
	f.Candidates = []find.Candidate{f.Candidates[best]}
	f.Ambiguous, f.Missing = false, f.Candidates[0].Missing
	return f
}

// sharedDepth is how deep the innermost element is that holds two nodes.
func sharedDepth(m *page.Model, a, b int) int {
	around := map[int]bool{}
	for ; a >= 0; a = m.Nodes[a].Parent {
		around[a] = true
	}
	for b >= 0 && !around[b] {
		b = m.Nodes[b].Parent
	}
	depth := 0
	for ; b >= 0; b = m.Nodes[b].Parent {
		depth++
	}
	return depth
}
