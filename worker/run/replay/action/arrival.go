package action

import (
	"context"
	"crypto/rand"
	"time"

	"github.com/slipway-qa/slipway/worker/browser/webdriver"
	"github.com/slipway-qa/slipway/worker/run/replay/failure"
	"github.com/slipway-qa/slipway/worker/run/replay/page"
	"github.com/slipway-qa/slipway/worker/run/replay/session"
)

// The states of an arrival.
const (
	arrivedThere = "arrived"
	missedThere  = "missed" // nothing was done, and it may be repeated
	lostThere    = "lost"   // a part of it was done, so it may not
)

// arrival is what became of a gesture of the mouse, as the page saw it (arrival.js).
type arrival struct {
	State string `json:"state"`
	Why   string `json:"why"`
}

// arrivalScript reads the arrival of a gesture, by the name of its watch. A page that
// was loaded since knows of no watch.
const arrivalScript = `const detail = {};
dispatchEvent(new CustomEvent(arguments[0], {detail}));
return detail.verdict || null;`

// watchName returns the name of a watch, which no page can guess.
func watchName() string { return "e" + rand.Text() }

// arrivalOf reads what became of a gesture, unless the driver reports an error of it or
// it is not watched (""). Another page in place of the one that was watched is where the
// gesture led: an element that was gone before would have been an error of the driver.
func (a Action) arrivalOf(ctx context.Context, watch string, reported error) (arrival, error) {
	there := arrival{State: arrivedThere}
	if reported != nil || watch == "" {
		return there, reported
	}
	var got *arrival
	err := a.WithPageTimeout(ctx, func(ctx context.Context) error { return a.Driver.Execute(ctx, arrivalScript, &got, watch) })
	switch {
	case err == nil && got != nil:
		return *got, nil
	case err == nil, webdriver.Is(err, webdriver.ErrUnexpectedAlert): // the step that meets the dialog ends it
		return there, nil
	case failure.Lost(err) || !failure.Retriable(err), webdriver.Is(err, webdriver.ErrTimeout, webdriver.ErrNoSuchWindow):
		return there, err
	}
	return there, nil // a page that has no such script any more
}

// afterGesture judges a gesture by the error of its input, and by what the page saw of
// it. It pauses when the gesture is to be made again; what begins the message of one that
// did not arrive.
//
// A gesture that has led to a document which does not end is done: the driver stops it
// after the time of a page, and the next steps see what came of it.
func (a Action) afterGesture(ctx context.Context, got page.ActResult, watch string, reported error, what string) (again bool, err error) {
	result, err := a.arrivalOf(ctx, watch, reported)
	missing := Missed(err) || (err == nil && result.State == missedThere)
	switch {
	case missing && time.Now().Before(a.Deadline):
		err = session.Sleep(ctx, session.RetryPause)
		return err == nil, err
	case err == nil && result.State != arrivedThere:
		return false, failure.Stepf("%s, but %s", what, a.Quote(result.Why, 300))
	case missing && watch != "":
		a.endWatch(ctx, watch)
	case webdriver.Is(err, webdriver.ErrTimeout):
		if loaded, _, _ := a.loadedSince(ctx, got.Time); loaded {
			a.Note("the page that this opened did not end within %s", a.PageTimeout)
			return false, nil
		}
	}
	return false, a.AfterInput(ctx, err)
}

// endWatch ends a watch whose gesture the driver could not perform.
func (a Action) endWatch(ctx context.Context, watch string) {
	_ = a.Execute(ctx, arrivalScript, nil, watch)
}
