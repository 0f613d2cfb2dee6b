package child

import (
	"context"
	"os"
	"sync"
	"time"
)

const (
	// watchEach is how often the processor time of a request is looked at.
	watchEach = 20 * time.Millisecond
	// interactiveCPU is what a request may take before it loses its priority: several times
	// what a real package takes.
	interactiveCPU = 200 * time.Millisecond
)

// watcher looks at the processor time of one request. The limits of the system count whole
// seconds.
type watcher struct {
	done chan struct{}
	end  sync.WaitGroup
	slow bool
}

// watch ends the context at three quarters of the processor time, and the process at all of
// it.
func watch(limit time.Duration, interactive bool, cancel context.CancelFunc) *watcher {
	w := &watcher{done: make(chan struct{})}
	start := usedCPU()
	w.end.Go(func() {
		ticker := time.NewTicker(watchEach)
		defer ticker.Stop()
		for {
			select {
			case <-w.done:
				return
			case <-ticker.C:
			}
			used := usedCPU() - start
			if interactive && !w.slow && used > interactiveCPU {
				w.slow = true
				lowerPriority()
			}
			if used >= limit/4*3 {
				cancel()
			}
			if used >= limit {
				os.Exit(exitCPU)
			}
		}
	})
	return w
}

// stop ends the watch, and reports whether the process has lost its priority.
func (w *watcher) stop() (slow bool) {
	close(w.done)
	w.end.Wait()
	return w.slow
}
