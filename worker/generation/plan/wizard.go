package plan

import (
	"context"

	"github.com/slipway-qa/slipway/worker/generation/find"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/method"
	"github.com/slipway-qa/slipway/worker/generation/page"
)

// onwardTo goes on in a form of several pages to the one that a disabled tab stands for, which nobody can
// press: by what leads to the next page and nothing that deletes, pays or sends, as often as it takes. It
// returns nil where that is not reached, and the page is as before.
func (p *planner) onwardTo(ctx context.Context, m *page.Model, node int) (*page.Model, error) {
	tab := tabOf(m, node)
	if tab < 0 || p.cfg.Explore == ExploreOff || !m.Nodes[tab].Disabled && !m.Nodes[node].Disabled {
		return nil, nil
	}
	start, mark := m, p.mark()
	for range maxPages {
		w, ok := p.nextPage(m)
		if !ok || p.spent() || p.isForbidden(m, &w) || method.Destroys(m, m.ControlAt(w.Acts[0].Node)) {
			break
		}
		now, err := p.step(ctx, &w)
		if err != nil {
			return nil, err
		}
		if now == nil || same(m, now) {
			break
		}
		at := now.Index().ByRef(start.Nodes[tab].Ref)
		if at >= 0 && now.Nodes[at].Selected == "true" {
			return now, nil
		}
		m = now
	}
	if p.mark() > mark {
		return nil, p.back(ctx, mark, start)
	}
	return nil, nil
}

// stepInto presses what opens a part of the page; where it cannot be, it goes on to that part.
func (p *planner) stepInto(ctx context.Context, m *page.Model, w *method.Way) (*page.Model, error) {
	now, err := p.step(ctx, w)
	if err != nil || now != nil || len(w.Acts) == 0 {
		return now, err
	}
	return p.onwardTo(ctx, m, w.Acts[len(w.Acts)-1].Node)
}

// tabOf returns the tab that a node is, is in, or has in it alone; -1.
func tabOf(m *page.Model, node int) int {
	for i, n := node, 0; i >= 0 && i < len(m.Nodes) && n < 3; i, n = m.Nodes[i].Parent, n+1 {
		if m.Nodes[i].Role == "tab" {
			return i
		}
	}
	return -1
}

// openPage does a goal that opens a page of a form by going on to it, and reports whether it is reached.
func (p *planner) openPage(ctx context.Context, g *intent.Goal, target []find.Candidate) (bool, error) {
	if g.Effect != intent.Open || len(target) != 1 || target[0].Node < 0 {
		return false, nil
	}
	m, err := p.look(ctx)
	if err != nil {
		return false, err
	}
	now, err := p.onwardTo(ctx, m, target[0].Node)
	if err != nil || now == nil {
		return false, err
	}
	p.use(target[0].Used...)
	p.useSpan(g.Verb, "it is open")
	return true, nil
}
