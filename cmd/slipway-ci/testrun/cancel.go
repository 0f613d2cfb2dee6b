package testrun

import (
	"context"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/slipway-qa/slipway/cmd/slipway-ci/client"
)

// cancelling is how many runs are cancelled at a time.
const cancelling = 4

// addCutOff keeps a unit whose start failed in a way that may have started it all the same, so
// that it can be ended.
func (w *watch) addCutOff(ctx context.Context, u *unit, err error) {
	if ctx.Err() != nil || client.Is(err, client.Unreachable) {
		w.units = append(w.units, u)
	}
}

// giveUp ends what still runs, a few runs at a time, and then reads how they ended: no run waits
// for that of another to be read.
func (c *Config) giveUp(ctx context.Context, w *watch) {
	var open []*unit
	for _, u := range w.units {
		switch {
		case u.ended():
		case c.Detach && u.id == "":
			c.Out.Warn("%s: whether it was started is not known", u.name())
		case c.Detach:
			c.Out.Line("%s goes on: %s", u.name(), c.page(u))
		default:
			open = append(open, u)
		}
	}
	cancelled := c.each(ctx, open, "could not be cancelled", c.end)
	for _, u := range cancelled {
		c.Out.Line("%s was cancelled", u.name())
	}
	for _, u := range c.each(ctx, cancelled, "could not be read", func(ctx context.Context, u *unit) error { return c.read(ctx, u, 0) }) {
		w.show(u)
	}
}

// end cancels a run; one whose start was cut off is asked for again by its key, which starts
// nothing that was started, and cancelled then.
func (c *Config) end(ctx context.Context, u *unit) error {
	if u.id == "" {
		if _, err := c.startOnce(ctx, u); err != nil {
			return err
		}
	}
	if u.ended() {
		return nil
	}
	return c.cancel(ctx, u)
}

// each does something with each unit, a few at a time, and returns those with which it went well,
// in their order.
func (c *Config) each(ctx context.Context, units []*unit, wrong string, do func(context.Context, *unit) error) []*unit {
	last, cancel := c.Last(ctx, len(units))
	defer cancel()
	var mu sync.Mutex
	failed := map[*unit]error{}
	var work errgroup.Group
	work.SetLimit(cancelling)
	for _, u := range units {
		work.Go(func() error {
			if err := do(last, u); err != nil {
				mu.Lock()
				defer mu.Unlock()
				failed[u] = err
			}
			return nil
		})
	}
	_ = work.Wait() // each error is kept above
	var well []*unit
	for _, u := range units {
		if err := failed[u]; err != nil {
			c.Out.Warn("%s %s: %v", u.name(), wrong, err)
			continue
		}
		well = append(well, u)
	}
	return well
}
