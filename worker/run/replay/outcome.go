package replay

import (
	"context"
	"time"

	"github.com/slipway-qa/slipway/worker/browser/webdriver"
)

// beganScript tells when the browser began to load a document, in milliseconds.
const beganScript = "return performance.timeOrigin"

// outcome judges the error of an input on the element of an answer: nil when the
// input was done after all.
//
// An element that is gone says nothing about whether the input reached it.
// chromedriver runs a command again when a page was being loaded as it failed, and
// then does not find the element on the page that its own first run led to; a page
// that asks before it is left is enough for that. Done once more, a click on "Next"
// would skip a page of each form that has the button on all of them.
//
// So a page that began to load after the element was found counts as where the
// input led to. One that had begun before is where the page went by itself, and an
// element that was replaced in its page is gone before the input: both are missed.
// A page that leaves by itself in the moment between is taken for the input's: the
// input would have been lost there a moment later as well.
func (p *player) outcome(ctx context.Context, at *place, got answer, err error) error {
	if !webdriver.Is(err, webdriver.ErrStaleElement, webdriver.ErrNoSuchElement, webdriver.ErrNavigated) || got.Time <= 0 {
		return err
	}
	for {
		led, known, failed := p.loadedSince(ctx, at.frames, got.Time)
		switch {
		case led:
			return nil
		case webdriver.Is(failed, webdriver.ErrUnexpectedAlert) && handlesDialog(p.next):
			return nil // the next page opened it, and the next step looks
		case known || time.Now().After(p.deadline):
			return err
		case failed != nil:
			failed = p.interrupted(ctx, failed)
		default:
			failed = rest(ctx, again)
		}
		if failed != nil {
			return failed
		}
	}
}

// loadedSince reports whether the page, or one of the documents on the way into
// some frames, began to load after a time. That is not known while one of them is
// on its way.
func (p *player) loadedSince(ctx context.Context, frames []hop, since float64) (led, known bool, err error) {
	for depth := range len(frames) + 1 {
		missing, err := p.enter(ctx, frames[:depth])
		if err != nil || missing != nil {
			return false, false, err
		}
		var began float64
		if err := p.execute(ctx, beganScript, &began); err != nil {
			return false, false, err
		}
		if began > since {
			return true, true, nil
		}
	}
	return false, true, nil
}
