package plan

import (
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/worker/generation/find"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/method"
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

// openPlace has "put it into the cart, then open it" open the cart: where the goal before put something
// into what a control of the page is called after, and what was put there cannot be opened itself, that is
// what can be opened.
func (p *planner) openPlace(g *intent.Goal) *intent.Goal {
	at := len(p.reading.Goals) - len(p.next) - 1
	if g.Effect != intent.Open && g.Effect != intent.Expand || len(g.Target) != 1 || !g.Target[0].Pronoun ||
		!bare(&g.Target[0]) || at < 1 || p.model == nil {
		return g
	}
	to := p.reading.Goals[at-1].To
	if to == nil || to.Pronoun || p.reading.Goals[at-1].Effect != intent.Add || p.madeOpens() {
		return g
	}
	if f := find.Description(p.model, to, p.want(p.model, find.Control)); !f.Clear() || f.Plural {
		return g
	}
	p.useSpan(g.Target[0].Span, "what it was put into")
	one := *g
	one.Target = []intent.Description{*to}
	return &one
}

// madeOpens reports whether what the goal before made is seen and can be opened.
func (p *planner) madeOpens() bool {
	return slices.ContainsFunc(p.them, func(t thing) bool {
		c, ok := p.now(p.model, &t)
		return ok && t.made && c.What == find.Record && method.Opens(p.model, c.Index)
	})
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
