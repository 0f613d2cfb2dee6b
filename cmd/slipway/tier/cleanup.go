package tier

import (
	"context"

	"github.com/slipway-qa/slipway/cmd/slipway/setting"

	"os"
	"sync"
	"time"
)

// cleanups are functions that stop what was started, in reverse order.
type cleanups struct{ functions []func() }

func (c *cleanups) add(f func()) { c.functions = append(c.functions, f) }

// addLast adds a function that is called after all others.
func (c *cleanups) addLast(f func()) { c.functions = append([]func(){f}, c.functions...) }

// run calls the functions, the last added first, and forgets them.
func (c *cleanups) run() {
	for i := len(c.functions) - 1; i >= 0; i-- {
		c.functions[i]()
	}
	c.functions = nil
}

// StartLoop runs a loop in the background. stop ends it and waits for its end.
func StartLoop(work func(context.Context)) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var done sync.WaitGroup
	done.Go(func() { work(ctx) })
	return func() {
		cancel()
		done.Wait()
	}
}

const (
	// releaseGrace is the time that a worker needs to return unfinished tasks.
	releaseGrace = 5 * time.Second
	// stopReserve is for all that a stop waits for beside requests and tasks.
	stopReserve = 10 * time.Second
	// exitOverdue is the code of a process whose stop did not end.
	exitOverdue = 3
)

// StopLimit is how long a stop may take: the sum of what it grants, one after the other,
// to balancers, requests and tasks.
func StopLimit(s *setting.Settings) time.Duration {
	return s.StopDelayOr(0) + RequestGrace + s.WorkerDrain + releaseGrace + stopReserve
}

// StopInTime calls a function that stops something, and ends the process when that takes
// longer than its limit: something hangs that nobody thought of, and whoever waits for the
// end must not wait for ever. The ledger restores what was being done.
func (s *Services) StopInTime(stop func()) {
	limit := StopLimit(s.Settings)
	overdue := time.AfterFunc(limit, func() {
		s.Log.Error("the stop did not end, the process does", "after", limit.String())
		os.Exit(exitOverdue)
	})
	defer overdue.Stop()
	stop()
}
