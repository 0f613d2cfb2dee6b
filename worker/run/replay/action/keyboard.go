package action

import (
	"context"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/browser/webdriver"
	"github.com/slipway-qa/slipway/worker/run/replay/failure"
	"github.com/slipway-qa/slipway/worker/run/replay/page"
	"github.com/slipway-qa/slipway/worker/run/replay/session"
)

// PressKey presses a key, in the element when the step names one.
func (a Action) PressKey(ctx context.Context, args step.Args) error {
	if args.Selector != nil {
		if _, err := a.Act(ctx, page.ActQuery{Want: page.WantFocus}); err != nil {
			return err
		}
	}
	return a.Press(ctx, args.Key)
}

// Press presses a chord where the focus is.
func (a Action) Press(ctx context.Context, chord string) error {
	if _, err := webdriver.Keys(chord); err != nil {
		return failure.Stepf("the key %q is unknown", a.Quote(chord, 40))
	}
	// A dialog that is open now is another step's; one that the key opens is not.
	if err := a.CheckLocation(ctx); err != nil {
		return err
	}
	a.Screenshotter.Wait(ctx)
	return a.AfterInput(ctx, a.WithPageTimeout(ctx, func(ctx context.Context) error {
		return a.Driver.Input.PressKeys(ctx, chord)
	}))
}

// TypeText types a text key by key: behind what the element holds when the step names
// one, else where the focus is. Nothing is cleared, and nothing is read back: what the
// page makes of the keys is its own.
func (a Action) TypeText(ctx context.Context, args step.Args) error {
	value := session.Text(args.Text)
	hidden := len(a.Secrets.In(value)) > 0 && len(a.At.Frames) > 0
	a.Secrets.TypedInFrame = a.Secrets.TypedInFrame || hidden
	a.Secrets.NoteTyped(a.Href, value)
	keys := keysOf(value, true)
	if args.Selector != nil {
		got, err := a.Act(ctx, page.ActQuery{Want: page.WantFocus, Gesture: "append", Hidden: hidden})
		if err != nil {
			return err
		}
		if got.Keys {
			keys = append([]string{webdriver.KeyEnd}, keys...)
		}
	} else if err := a.CheckLocation(ctx); err != nil {
		return err
	}
	a.Screenshotter.Wait(ctx)
	err := a.AfterInput(ctx, a.typeKeys(ctx, keys))
	a.Secrets.NoteTyped(a.Href, value) // the page may be another one by now
	return err
}
