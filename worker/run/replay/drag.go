package replay

import (
	"context"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/browser/webdriver"
)

// dragPlan is what drag.js returns: whether both elements are in view, and the way
// between them.
type dragPlan struct {
	Together bool `json:"together"`
	X        int  `json:"x"`
	Y        int  `json:"y"`
	AlongX   int  `json:"alongX"`
	AlongY   int  `json:"alongY"`
}

// drag drags the element to another one, which lies in the same frame and shadow
// root. The page must have seen the press, moves and the release at the target; where
// they became drag and drop, the target must have taken the drop, or the page must
// have moved the element. What a page does with the pointer alone cannot be seen.
func (a elementAction) drag(ctx context.Context, target, stored *step.Selector) error {
	if target == nil {
		return stepf("the step names no target")
	}
	to := elementAction{a.stepExecution, &elementLocation{frames: a.at.frames, hosts: a.at.hosts, selector: pageSelectorOf(target), target: true}}
	if target.Fingerprint != nil {
		to.at.fingerprint, to.at.stored = target.Fingerprint, stored
	}
	watch := watchName()
	for {
		onto, err := to.act(ctx, actQuery{Want: wantHover, Drags: true})
		if err != nil {
			return err
		}
		got, err := a.act(ctx, actQuery{Want: wantHover, Drags: true})
		if err != nil {
			return err
		}
		a.screenshotter.wait(ctx)
		err = a.inputOutcome(ctx, got, a.dragTo(ctx, got.Element, onto.Element, watch))
		what := a.showSelector(a.at.selector) + " was dragged to " + a.showSelector(to.at.selector)
		again, err := a.afterGesture(ctx, got, watch, err, what)
		if !again {
			return err
		}
	}
}

// dragTo makes the gesture.
func (a elementAction) dragTo(ctx context.Context, from, to webdriver.Element, watch string) error {
	var plan dragPlan
	if err := a.execute(ctx, dragScript, &plan, watch, from, to); err != nil {
		return err
	}
	return a.withPageTimeout(ctx, func(ctx context.Context) error {
		if !plan.Together {
			return a.driver.Input.DragTo(ctx, from, to)
		}
		return a.driver.Input.Drag(ctx, from, to, webdriver.Way{X: plan.X, Y: plan.Y, AlongX: plan.AlongX, AlongY: plan.AlongY})
	})
}
