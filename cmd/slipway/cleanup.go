package main

import (
	"context"
	"sync"
)

// cleanups are functions that stop what was started, in reverse order.
type cleanups struct{ functions []func() }

func (c *cleanups) add(f func()) { c.functions = append(c.functions, f) }

// run calls the functions, the last added first, and forgets them.
func (c *cleanups) run() {
	for i := len(c.functions) - 1; i >= 0; i-- {
		c.functions[i]()
	}
	c.functions = nil
}

// startLoop runs a loop in the background. stop ends it and waits for its end.
func startLoop(work func(context.Context)) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var done sync.WaitGroup
	done.Go(func() { work(ctx) })
	return func() {
		cancel()
		done.Wait()
	}
}
