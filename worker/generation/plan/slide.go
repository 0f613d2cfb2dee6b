package plan

import (
	"context"
	"math"
	"strconv"
	"strings"

	"github.com/slipway-qa/slipway/worker/generation/effect"
	"github.com/slipway-qa/slipway/worker/generation/find"
	"github.com/slipway-qa/slipway/worker/generation/method"
	"github.com/slipway-qa/slipway/worker/generation/page"
)

// slide brings a slider that does not say where it stands to a number, by the number that the page
// shows beside it: two presses of an arrow key tell where it stands and how far one goes. False, with
// the page as it was, where no number goes with it.
func (p *planner) slide(ctx context.Context, c *find.Candidate, want float64) (bool, error) {
	start, err := p.look(ctx)
	if err != nil {
		return false, err
	}
	mark := p.mark()
	var at [2]float64
	known := true
	for i := range at {
		if at[i], known, err = p.nudge(ctx, start, c, 1); err != nil || !known {
			break
		}
	}
	if err == nil && known && at[1] != at[0] {
		left := (want - at[1]) / (at[1] - at[0])
		got := at[1]
		if times := int(math.Round(left)); times != 0 {
			got, known, err = p.nudge(ctx, start, c, times)
		}
		if err != nil || known && math.Abs(got-want) < 1e-9 {
			return err == nil, err
		}
	}
	if err != nil {
		return false, err
	}
	return false, p.back(ctx, mark, start)
}

// nudge presses an arrow key on a knob of an earlier model so often, and returns the number that
// changed beside it.
func (p *planner) nudge(ctx context.Context, start *page.Model, c *find.Candidate, times int) (float64, bool, error) {
	before, err := p.look(ctx)
	if err != nil {
		return 0, false, err
	}
	at, ok := fieldNow(start, before, c)
	if !ok {
		return 0, false, nil
	}
	w, ok := method.Arrows(before, at.Node, times)
	if !ok {
		return 0, false, nil
	}
	if ok, err := p.perform(ctx, &w); err != nil || !ok {
		return 0, false, err
	}
	now, err := p.look(ctx)
	if err != nil {
		return 0, false, err
	}
	x, ok := numberChanged(before, now)
	p.trace("%d presses on the slider: %v, %v", times, x, ok)
	return x, ok, nil
}

// numberChanged is the only number of the page that changed from one model to the next.
func numberChanged(before, now *page.Model) (float64, bool) {
	found, n := 0.0, 0
	for _, i := range effect.Between(before, now).NewLines {
		x, err := strconv.ParseFloat(strings.TrimSpace(now.Lines[i].Text), 64)
		if err != nil {
			continue
		}
		found = x
		n++
	}
	return found, n == 1
}
