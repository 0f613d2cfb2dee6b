package session

import (
	"context"

	"github.com/slipway-qa/slipway/worker/run/replay/failure"
	"github.com/slipway-qa/slipway/worker/run/replay/page"
)

// EnterFrames makes the innermost of some frames current. While one of them is not
// there it returns a result that describes what is missing.
func (x *Execution) EnterFrames(ctx context.Context, frames []page.Frame) (missing *page.ActResult, err error) {
	if err := x.LeaveFrames(ctx); err != nil {
		return nil, err
	}
	for _, frame := range frames {
		if missing, err := x.enterFrame(ctx, frame); missing != nil || err != nil {
			return missing, err
		}
	}
	return nil, nil
}

func (x *Execution) enterFrame(ctx context.Context, frame page.Frame) (missing *page.ActResult, err error) {
	got, err := x.switchTo(ctx, frame)
	switch {
	case err != nil:
		if err := x.Interrupted(ctx, err); err != nil {
			return nil, err
		}
		return &page.ActResult{State: page.StateNone, Why: page.StateNone}, nil
	case got != nil && got.State == page.StateInvalid:
		return nil, failure.Stepf("%s: %s", x.ShowSelector(frame.Selector), x.Quote(got.Why, 300))
	case got != nil && got.State == page.StateSeveral:
		return got, nil
	case got == nil || got.State != page.StateOK:
		return &page.ActResult{State: page.StateNone, Why: "the frame " + x.ShowSelector(frame.Selector) + " is not there"}, nil
	}
	return nil, nil
}

// switchTo makes a frame current if act.js finds it.
func (x *Execution) switchTo(ctx context.Context, frame page.Frame) (*page.ActResult, error) {
	var got *page.ActResult
	q := page.ActQuery{Want: page.WantFrame, Hosts: page.OrEmpty(frame.Hosts), Selector: frame.Selector, First: x.FirstMatch}
	err := x.Execute(ctx, page.ActScripts[q.Want].Of(q.Hosts, q.Selector), &got, q)
	if err != nil || got == nil || got.State != page.StateOK {
		return got, err
	}
	x.Framed = true
	return got, x.WithPageTimeout(ctx, func(ctx context.Context) error { return x.Driver.SwitchFrame(ctx, got.Element) })
}

// LeaveFrames makes the top-level page current.
func (x *Execution) LeaveFrames(ctx context.Context) error {
	if !x.Framed {
		return nil
	}
	x.Framed = false
	return x.PastDialogs(ctx, func() error { return x.Driver.TopFrame(ctx) })
}
