package replay

import (
	"context"
	"time"

	"github.com/slipway-qa/slipway/worker/browser/webdriver"
)

// maxWheelTurns bounds the turns of the wheel to an end: a list that grows has none.
const maxWheelTurns = 50

// scroll scrolls the element, or what is around it, by most of a page or to an end.
// The page script does it where something scrolls by itself; elsewhere the wheel
// is turned, which scripts follow. A scroll that moves nothing fails, unless it is to
// an end, which is reached already then.
func (a elementAction) scroll(ctx context.Context, direction string) error {
	query := actQuery{Want: wantScroll, Direction: direction, Watch: watchName()}
	toEnd := direction == "top" || direction == "bottom"
	for turns := 0; ; {
		got, err := a.act(ctx, query)
		if err != nil || len(got.Wheel) != 2 {
			return err
		}
		err = a.withPageTimeout(ctx, func(ctx context.Context) error {
			return a.driver.Input.Perform(ctx, webdriver.NewWheel().Turn(got.Element, got.Wheel[0], got.Wheel[1]))
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
				a.note("it was at its %s already", direction)
			}
			return nil
		case (err == nil || missed(err)) && time.Now().Before(a.deadline):
			if err := sleep(ctx, retryPause); err != nil {
				return err
			}
		case err == nil:
			return stepf("%s: %s", a.showSelector(a.at.selector), a.quote(result.Why, 300))
		default:
			a.endWatch(ctx, query.Watch)
			return a.afterInput(ctx, err)
		}
	}
}
