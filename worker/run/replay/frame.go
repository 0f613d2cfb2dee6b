package replay

import "context"

// enterFrames makes the innermost of some frames current. While one of them is not
// there it returns a result that describes what is missing.
func (x *stepExecution) enterFrames(ctx context.Context, frames []frameLocation) (missing *actResult, err error) {
	if err := x.leaveFrames(ctx); err != nil {
		return nil, err
	}
	for _, frame := range frames {
		if missing, err := x.enterFrame(ctx, frame); missing != nil || err != nil {
			return missing, err
		}
	}
	return nil, nil
}

func (x *stepExecution) enterFrame(ctx context.Context, frame frameLocation) (missing *actResult, err error) {
	got, err := x.switchTo(ctx, frame)
	switch {
	case err != nil:
		if err := x.interrupted(ctx, err); err != nil {
			return nil, err
		}
		return &actResult{State: stateNone, Why: stateNone}, nil
	case got != nil && got.State == stateInvalid:
		return nil, stepf("%s: %s", x.showSelector(frame.selector), x.quote(got.Why, 300))
	case got != nil && got.State == stateSeveral:
		return got, nil
	case got == nil || got.State != stateOK:
		return &actResult{State: stateNone, Why: "the frame " + x.showSelector(frame.selector) + " is not there"}, nil
	}
	return nil, nil
}

// switchTo makes a frame current if act.js finds it.
func (x *stepExecution) switchTo(ctx context.Context, frame frameLocation) (*actResult, error) {
	var got *actResult
	q := actQuery{Want: wantFrame, Hosts: orEmpty(frame.hosts), Selector: frame.selector, First: x.FirstMatch}
	err := x.execute(ctx, actScripts[q.Want].of(q.Hosts, q.Selector), &got, q)
	if err != nil || got == nil || got.State != stateOK {
		return got, err
	}
	x.framed = true
	return got, x.withPageTimeout(ctx, func(ctx context.Context) error { return x.driver.SwitchFrame(ctx, got.Element) })
}

// leaveFrames makes the top-level page current.
func (x *stepExecution) leaveFrames(ctx context.Context) error {
	if !x.framed {
		return nil
	}
	x.framed = false
	return x.pastDialogs(ctx, func() error { return x.driver.TopFrame(ctx) })
}
