package plan

import (
	"context"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/generation/effect"
	"github.com/slipway-qa/slipway/worker/generation/page"
)

// undo brings the page back to how it was at a mark, when it showed a model, and drops the steps
// since then. It reports whether the page is as before. Nothing is done again for it that may have
// deleted, paid or sent, and nothing at all where the data are real.
func (p *planner) undo(ctx context.Context, mark int, before *page.Model) (bool, error) {
	steps := p.mark()
	p.drop(mark)
	now, err := p.look(ctx)
	if err != nil {
		return false, err
	}
	if now.Dialog != nil && before.Dialog == nil {
		if now, err = p.inverse(ctx, step.Tool{Type: step.HandleDialog, Args: step.Args{Action: "dismiss"}}); err != nil {
			return false, err
		}
	}
	if same(before, now) {
		return true, nil
	}
	if steps == mark && !p.repeatable() {
		return true, nil // nothing was done: the page changes by itself
	}
	if onlyOpened(before, now) {
		if now, err = p.inverse(ctx, step.Tool{Type: step.PressKey, Args: step.Args{Key: "Escape"}}); err != nil {
			return false, err
		}
		if same(before, now) {
			return true, nil
		}
	}
	if !p.repeatable() {
		return p.cfg.Explore != ExploreOff && onlyOpened(before, now), nil
	}
	p.trace("a fresh page, and %d steps again", len(p.steps))
	if err := p.cfg.Fresh(ctx, p.steps); err != nil {
		return false, err
	}
	if now, err = p.lookAnew(ctx); err != nil {
		return false, err
	}
	return restored(before, now), nil
}

// back undoes what led nowhere, for what goes on from there: where that cannot be, it is an error.
func (p *planner) back(ctx context.Context, mark int, before *page.Model) error {
	ok, err := p.undo(ctx, mark, before)
	if err != nil {
		return err
	}
	if !ok {
		return p.say("what was tried did not do it, and it cannot be undone")
	}
	return nil
}

// inverse executes a step that is no part of the test, and looks.
func (p *planner) inverse(ctx context.Context, t step.Tool) (*page.Model, error) {
	if _, err := p.execute(ctx, step.Step{ID: p.newID(), Tool: t, TimeoutMS: tryTimeMS}); err != nil {
		return nil, err
	}
	return p.look(ctx)
}

// same reports whether two models show the same things, whatever they look like.
func same(before, now *page.Model) bool {
	c := effect.Between(before, now)
	return c.Nothing || noData(c) && len(c.Opened) == 0 && len(c.Closed) == 0 && len(c.NewLines) == 0 && len(c.GoneLines) == 0
}

// onlyOpened reports whether all that is different is that something opened or closed.
func onlyOpened(before, now *page.Model) bool {
	c := effect.Between(before, now)
	return c.Nothing || noData(c)
}

// noData reports whether no record, field, address or text of the page differs.
func noData(c *effect.Change) bool {
	return !c.URL && !c.Windows && !c.Dialog && len(c.Removed) == 0 && len(c.Fields) == 0 && len(c.Reordered) == 0 &&
		len(c.GoneLines) == 0 && !contentChanged(c)
}

// contentChanged reports whether a record shows something else.
func contentChanged(c *effect.Change) bool {
	for _, p := range c.Changed {
		a, b := c.Before.Records[p.Before].Attributes, c.After.Records[p.After].Attributes
		if len(a) != len(b) {
			return true
		}
		for i := range a {
			if a[i].Text != b[i].Text {
				return true
			}
		}
	}
	return false
}
