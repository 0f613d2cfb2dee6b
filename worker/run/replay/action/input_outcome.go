package action

import (
	"context"
	"time"

	"github.com/slipway-qa/slipway/worker/browser/webdriver"
	"github.com/slipway-qa/slipway/worker/run/replay/page"
	"github.com/slipway-qa/slipway/worker/run/replay/session"
)

// inputOutcome judges the error of an input on the element of a result: nil when the
// input was done after all.
//
// That an element is gone does not show whether the input reached it. chromedriver
// runs a command once more when a page was being loaded as it failed, and then does
// not find the element on the page that its first run led to; a page that asks before
// it is left is enough for that. Done once more, a click on "Next" would skip a page
// of each form that has the button on all of them.
//
// So a page that began to load after the element was found counts as where the
// input led to. One that had begun before is where the page went by itself, and an
// element that was replaced in its page was gone before the input: both are missed.
// A page that leaves by itself in the moment between is taken for the input's: the
// input would have been lost there a moment later as well.
func (a Action) inputOutcome(ctx context.Context, got page.ActResult, err error) error {
	if !webdriver.Is(err, webdriver.ErrStaleElement, webdriver.ErrNoSuchElement, webdriver.ErrNavigated) || got.Time <= 0 {
		return err
	}
	for {
		loaded, known, failed := a.loadedSince(ctx, got.Time)
		switch {
		case loaded:
			return nil
		case a.HandledByNextStep(failed):
			return nil // the next page opened it, and the next step looks
		case known || time.Now().After(a.Deadline):
			return err
		case failed != nil:
			failed = a.Interrupted(ctx, failed)
		default:
			failed = session.Sleep(ctx, session.RetryPause)
		}
		if failed != nil {
			return failed
		}
	}
}

// loadStartScript returns when the browser began to load a document, in
// milliseconds on its clock.
const loadStartScript = "return performance.timeOrigin"

// loadedSince reports whether the page, or one of the documents on the way into
// the frames of the element, began to load after a time. That is not known while one
// of them is being loaded.
func (a Action) loadedSince(ctx context.Context, since float64) (loaded, known bool, err error) {
	for depth := range len(a.At.Frames) + 1 {
		missing, err := a.EnterFrames(ctx, a.At.Frames[:depth])
		if err != nil || missing != nil {
			return false, false, err
		}
		var began float64
		if err := a.Execute(ctx, loadStartScript, &began); err != nil {
			return false, false, err
		}
		if began > since {
			return true, true, nil
		}
	}
	return false, true, nil
}
