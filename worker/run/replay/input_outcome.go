package replay

import (
	"context"
	"time"

	"github.com/slipway-qa/slipway/worker/browser/webdriver"
)

// afterInput judges the error of an input: that it opened a dialog, loaded another
// page or closed its window is no failure.
func (x *stepExecution) afterInput(ctx context.Context, err error) error {
	switch {
	case x.handledByNextStep(err):
		return nil
	case webdriver.Is(err, webdriver.ErrUnexpectedAlert):
		return x.dismiss(ctx, err)
	case webdriver.Is(err, webdriver.ErrNavigated):
		return nil
	case webdriver.Is(err, webdriver.ErrNoSuchWindow):
		x.framed = false
		return nil
	case webdriver.Is(err, webdriver.ErrTimeout):
		return stepf("the page that this opened did not load within %s", x.PageTimeout)
	}
	return err
}

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
func (a elementAction) inputOutcome(ctx context.Context, got actResult, err error) error {
	if !webdriver.Is(err, webdriver.ErrStaleElement, webdriver.ErrNoSuchElement, webdriver.ErrNavigated) || got.Time <= 0 {
		return err
	}
	for {
		loaded, known, failed := a.loadedSince(ctx, got.Time)
		switch {
		case loaded:
			return nil
		case a.handledByNextStep(failed):
			return nil // the next page opened it, and the next step looks
		case known || time.Now().After(a.deadline):
			return err
		case failed != nil:
			failed = a.interrupted(ctx, failed)
		default:
			failed = sleep(ctx, retryPause)
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
func (a elementAction) loadedSince(ctx context.Context, since float64) (loaded, known bool, err error) {
	for depth := range len(a.at.frames) + 1 {
		missing, err := a.enterFrames(ctx, a.at.frames[:depth])
		if err != nil || missing != nil {
			return false, false, err
		}
		var began float64
		if err := a.execute(ctx, loadStartScript, &began); err != nil {
			return false, false, err
		}
		if began > since {
			return true, true, nil
		}
	}
	return false, true, nil
}
