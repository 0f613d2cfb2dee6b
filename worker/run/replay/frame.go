package replay

import "context"

// enterFrames makes the innermost of some frames current. While one of them is not
// there it returns a result that describes what is missing.
func (x *stepExecution) enterFrames(ctx context.Context, frames []framePlace) (missing *actResult, err error) {
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

func (x *stepExecution) enterFrame(ctx context.Context, frame framePlace) (missing *actResult, err error) {
	var got *actResult
	err = x.execute(ctx, actScript, &got, actQuery{Want: wantFrame, Hosts: orEmpty(frame.hosts), Selector: frame.selector})
	if err == nil && got != nil && got.State == stateOK {
		err = x.withPageTimeout(ctx, func(ctx context.Context) error { return x.driver.SwitchFrame(ctx, got.Element) })
		x.framed = true
	}
	switch {
	case err != nil:
		if err := x.interrupted(ctx, err); err != nil {
			return nil, err
		}
		return &actResult{State: stateNone, Why: stateNone}, nil
	case got != nil && got.State == stateInvalid:
		return nil, stepf("%s: %s", x.showSelector(frame.selector), x.quote(got.Why, 300))
	case got == nil || got.State != stateOK:
		return &actResult{State: stateNone, Why: "the frame " + x.showSelector(frame.selector) + " is not there"}, nil
	}
	return nil, nil
}

// leaveFrames makes the top-level page current.
func (x *stepExecution) leaveFrames(ctx context.Context) error {
	if !x.framed {
		return nil
	}
	x.framed = false
	return x.pastDialogs(ctx, func() error { return x.driver.TopFrame(ctx) })
}
