package action

import (
	"context"
	"time"

	"github.com/slipway-qa/slipway/worker/browser/webdriver"
	"github.com/slipway-qa/slipway/worker/run/replay/failure"
	"github.com/slipway-qa/slipway/worker/run/replay/page"
	"github.com/slipway-qa/slipway/worker/run/replay/session"
)

// maxWheelTurns bounds the turns of the wheel to an end: a list that grows has none.
const maxWheelTurns = 50

// Scroll scrolls the element, or what is around it, by most of a page or to an end.
// The page script does it where something scrolls by itself; elsewhere the wheel
// is turned, which scripts follow. A scroll that moves nothing fails, unless it is to
// an end, which is reached already then.
func (a Action) Scroll(ctx context.Context, direction string) error {
	query := page.ActQuery{Want: page.WantScroll, Direction: direction, Watch: watchName()}
	toEnd := direction == "top" || direction == "bottom"
	for turns := 0; ; {
		got, err := a.Act(ctx, query)
		if err != nil || len(got.Wheel) != 2 {
			return err
		}
		err = a.WithPageTimeout(ctx, func(ctx context.Context) error {
			return a.Driver.Input.Perform(ctx, webdriver.NewWheel().Turn(got.Element, got.Wheel[0], got.Wheel[1]))
		})
		result, err := a.arrivalOf(ctx, query.Watch, err)
		switch {
		case err == nil && result.State == arrivedThere:
			if turns++; !toEnd || turns == maxWheelTurns {
				return nil
			}
			continue // until nothing moves any more
		case err == nil && toEnd:
			if turns == 0 {
				a.Note("it was at its %s already", direction)
			}
			return nil
		case (err == nil || Missed(err)) && time.Now().Before(a.Deadline):
			if err := session.Sleep(ctx, session.RetryPause); err != nil {
				return err
			}
		case err == nil:
			return failure.Stepf("%s: %s", a.ShowSelector(a.At.Selector), a.Quote(result.Why, 300))
		default:
			a.endWatch(ctx, query.Watch)
			return a.AfterInput(ctx, err)
		}
	}
}
