package action

import (
	"context"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/browser/webdriver"
	"github.com/slipway-qa/slipway/worker/run/replay/failure"
	"github.com/slipway-qa/slipway/worker/run/replay/page"
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

// Drag drags the element to another one, which lies in the same frame and shadow
// root. The page must have seen the press, moves and the release at the target; where
// they became drag and drop, the target must have taken the drop, or the page must
// have moved the element. What a page does with the pointer alone cannot be seen.
func (a Action) Drag(ctx context.Context, target, stored *step.Selector) error {
	if target == nil {
		return failure.Stepf("the step names no target")
	}
	to := Action{a.Execution, &page.Location{Frames: a.At.Frames, Hosts: a.At.Hosts, Selector: page.SelectorOf(target), Target: true}}
	if target.Fingerprint != nil {
		to.At.Fingerprint, to.At.Stored = target.Fingerprint, stored
	}
	watch := watchName()
	for {
		onto, err := to.Act(ctx, page.ActQuery{Want: page.WantHover, Drags: true})
		if err != nil {
			return err
		}
		got, err := a.Act(ctx, page.ActQuery{Want: page.WantHover, Drags: true})
		if err != nil {
			return err
		}
		a.Screenshotter.Wait(ctx)
		err = a.inputOutcome(ctx, got, a.dragTo(ctx, got.Element, onto.Element, watch))
		what := a.ShowSelector(a.At.Selector) + " was dragged to " + a.ShowSelector(to.At.Selector)
		again, err := a.afterGesture(ctx, got, watch, err, what)
		if !again {
			return err
		}
	}
}

// dragTo makes the gesture.
func (a Action) dragTo(ctx context.Context, from, to webdriver.Element, watch string) error {
	var plan dragPlan
	if err := a.Execute(ctx, page.DragScript, &plan, watch, from, to); err != nil {
		return err
	}
	return a.WithPageTimeout(ctx, func(ctx context.Context) error {
		if !plan.Together {
			return a.Driver.Input.DragTo(ctx, from, to)
		}
		return a.Driver.Input.Drag(ctx, from, to, webdriver.Way{X: plan.X, Y: plan.Y, AlongX: plan.AlongX, AlongY: plan.AlongY})
	})
}
