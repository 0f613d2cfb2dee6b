package plan

import (
	"strings"

	"github.com/slipway-qa/slipway/worker/generation/find"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/page"
)

// enterScope keeps the place that a goal says for those that follow in its sentence: "under Work,
// enter the name and click Keep".
func (p *planner) enterScope(g *intent.Goal) {
	if g.In != nil {
		p.scope, p.scopeEnd = g.In, g.Span.To
		return
	}
	if from, to := p.scopeEnd, g.Span.From; p.scope != nil && (from > to || strings.ContainsAny(p.text.Source[from:to], ".!?\n")) {
		p.scope = nil
	}
}

// inScope looks for a thing where the sentence is, when there are several of its kind.
func (p *planner) inScope(m *page.Model, d *intent.Description, f find.Found, kinds []find.What) find.Found {
	if !f.Ambiguous || p.scope == nil || d.In != nil || p.goal == nil || p.goal.In == p.scope {
		return f
	}
	one := *d
	one.In = p.scope
	if there := find.Description(m, &one, p.want(m, kinds...)); there.Clear() && !there.Plural {
		return there
	}
	return f
}
