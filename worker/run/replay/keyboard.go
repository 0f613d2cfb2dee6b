package replay

import (
	"context"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/browser/webdriver"
)

// pressKey presses a key, in the element when the step names one.
func (a elementAction) pressKey(ctx context.Context, args step.Args) error {
	if args.Selector != nil {
		if _, err := a.act(ctx, actQuery{Want: wantFocus}); err != nil {
			return err
		}
	}
	return a.press(ctx, args.Key)
}

// press presses a chord where the focus is.
func (x *stepExecution) press(ctx context.Context, chord string) error {
	if _, err := webdriver.Keys(chord); err != nil {
		return stepf("the key %q is unknown", x.quote(chord, 40))
	}
	// A dialog that is open now is another step's; one that the key opens is not.
	if err := x.checkLocation(ctx); err != nil {
		return err
	}
	x.screenshotter.wait(ctx)
	return x.afterInput(ctx, x.withPageTimeout(ctx, func(ctx context.Context) error {
		return x.driver.Input.PressKeys(ctx, chord)
	}))
}

// typeText types a text key by key: behind what the element holds when the step names
// one, else where the focus is. Nothing is cleared, and nothing is read back: what the
// page makes of the keys is its own.
func (a elementAction) typeText(ctx context.Context, args step.Args) error {
	value := text(args.Text)
	hidden := len(a.secrets.in(value)) > 0 && len(a.at.frames) > 0
	a.secrets.typedInFrame = a.secrets.typedInFrame || hidden
	a.secrets.noteTyped(a.href, value)
	keys := keysOf(value, true)
	if args.Selector != nil {
		got, err := a.act(ctx, actQuery{Want: wantFocus, Gesture: "append", Hidden: hidden})
		if err != nil {
			return err
		}
		if got.Keys {
			keys = append([]string{webdriver.KeyEnd}, keys...)
		}
	} else if err := a.checkLocation(ctx); err != nil {
		return err
	}
	a.screenshotter.wait(ctx)
	err := a.afterInput(ctx, a.typeKeys(ctx, keys))
	a.secrets.noteTyped(a.href, value) // the page may be another one by now
	return err
}
