package plan

import (
	"slices"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/generation/effect"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/method"
	"github.com/slipway-qa/slipway/worker/generation/page"
)

// irrevocable reports whether a goal deletes, pays or sends. What is only saved may be saved again.
func irrevocable(g *intent.Goal) bool {
	if g.Concept == "save" {
		return false
	}
	return destroys(g.Effect) || g.Risk == "destroy" || g.Risk == "pay" || g.Risk == "send"
}

// noteHarm notes the step of a way that changed the page, where it may have deleted, paid or sent.
// A press that only asks is none: its answer is.
func (p *planner) noteHarm(a *attempt, w *method.Way, before, now *page.Model) {
	if len(p.steps) == 0 || !p.harms(a, w, before) || same(before, now) {
		return
	}
	asks := now.Front >= 0 && now.Front != before.Front && isQuestion(now, now.Front)
	if before.Dialog == nil && (now.Dialog != nil || asks) {
		return
	}
	p.harmed[p.steps[len(p.steps)-1].ID] = true
}

// harms reports whether a way may delete, pay or send.
func (p *planner) harms(a *attempt, w *method.Way, before *page.Model) bool {
	if w.Reveals || len(w.Acts) == 0 {
		return false
	}
	last := w.Acts[len(w.Acts)-1]
	if last.Tool == step.HandleDialog && last.Args.Action != "accept" {
		return false
	}
	switch {
	case irrevocable(a.goal), p.pending != nil && irrevocable(p.pending.goal):
		return true
	case a.goal.Effect == intent.Confirm:
		return w.Risks || before.Dialog != nil
	}
	return a.goal.Effect == intent.Press && last.Node >= 0 && method.Destroys(before, before.ControlAt(last.Node))
}

// repeatable reports whether the page may begin afresh with the steps that are kept: none of them
// deletes, pays or sends a second time by that.
func (p *planner) repeatable() bool {
	return p.cfg.Fresh != nil && p.cfg.Explore != ExploreOff && !slices.ContainsFunc(p.steps, func(s step.Step) bool { return p.harmed[s.ID] })
}

// restored reports whether a page that began afresh has the data that it had. Messages and clocks
// need not be the same.
func restored(before, now *page.Model) bool {
	if (before.Dialog == nil) != (now.Dialog == nil) {
		return false
	}
	c := effect.Between(before, now)
	return !c.URL && len(c.Removed)+len(c.Added)+len(c.Fields) == 0 && !contentChanged(c)
}
