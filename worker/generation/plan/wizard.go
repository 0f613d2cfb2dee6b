package plan

import (
	"context"
	"slices"

	"github.com/slipway-qa/slipway/worker/generation/effect"
	"github.com/slipway-qa/slipway/worker/generation/find"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/method"
	"github.com/slipway-qa/slipway/worker/generation/page"
)

const (
	// maxPages bounds the pages of a form, and maxOthers those in a row that ask for nothing that the text
	// says.
	maxPages  = 8
	maxOthers = 2
)

// nextPage is the press of what leads to the next page of a form and does no harm that the goal does
// not speak of ("Pay and continue").
func (p *planner) nextPage(m *page.Model) (method.Way, bool) {
	g := p.goalFor(&intent.Value{})
	for _, w := range method.Onward(&method.Task{Model: m, Goal: g, Lang: p.text.Lang, Inside: -1, Near: -1}) {
		if method.Unsaid(m, &w, g, p.words(g.Span)) == "" {
			return w, true
		}
	}
	return method.Way{}, false
}

// onPages goes on in a form of several pages with the values that found no field on the first.
func (p *planner) onPages(ctx context.Context, f *form) error {
	others := 0
	for range maxPages {
		m, err := p.look(ctx)
		if err != nil {
			return err
		}
		w, ok := p.nextPage(m)
		if !ok || p.spent() {
			return nil
		}
		now, err := p.step(ctx, &w)
		if err != nil {
			return err
		}
		if now == nil || same(m, now) && !fieldsCame(m, now) {
			return nil
		}
		before := f.filled
		if err := p.fill(ctx, f, p.anywhere); err != nil || f.complete() {
			return err
		}
		if others++; f.filled > before {
			others = 0
		}
		if others == maxOthers {
			return nil
		}
	}
	return nil
}

// paged reports whether a page is one of a form of several: it has what leads on beside the fields that take
// values, and leaves the others to the pages that follow; or these, which are not seen yet, take all.
func (p *planner) paged(m *page.Model, f *form) bool {
	next, ok := p.nextPage(m)
	if !ok || p.cfg.Explore == ExploreOff {
		return false
	}
	w := p.wantIn(m, p.anywhere(m))
	as := find.Assign(m, f.fields, w)
	if len(as.Slots) == 0 {
		w.Hidden = true
		if as = find.Assign(m, f.fields, w); len(as.Slots) < len(f.fields) {
			return false
		}
	}
	return !slices.ContainsFunc(as.Slots, func(s find.Slot) bool {
		return p.narrows(m, &s.To, &f.fields[s.Value]) || len(s.Missing) > 0 || m.Fields[s.To.Index].Record >= 0 ||
			!method.Beside(m, s.To.Node, next.Acts[0].Node)
	})
}

// leadsOn reports whether a way that would hand in only leads to a later page of a form: what says so is
// there already, and not seen yet. Where the text asks for no more than to go on, that is all.
func (p *planner) leadsOn(m *page.Model, a *attempt, w *method.Way) bool {
	if a.goal.Effect != intent.Submit || a.goal.Place == "next" || len(w.Acts) == 0 {
		return false
	}
	at := w.Acts[len(w.Acts)-1].Node
	onward := method.Onward(&method.Task{Model: m, Goal: a.goal, Lang: p.text.Lang, Inside: -1, Near: -1})
	if !slices.ContainsFunc(onward, func(o method.Way) bool { return o.Acts[0].Node == at }) {
		return false
	}
	aim := find.Aim{Effect: intent.Submit, Lemma: a.goal.Lemma, Lang: p.text.Lang, Record: -1, Within: -1, Hidden: true}
	return slices.ContainsFunc(find.Controls(m, aim), func(c find.Candidate) bool {
		k := &m.Controls[c.Index]
		return c.Score > leastSaid && m.Nodes[k.Node].Hidden && effect.ControlName(m, c.Index) != effect.ControlName(m,
			m.ControlAt(at)) && method.Beside(m, at, k.Node)
	})
}

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
