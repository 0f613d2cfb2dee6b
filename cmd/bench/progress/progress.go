// Package progress bounds the parts of a measurement and says what they wait for.
//
// A part runs under Run with a name and a limit. While it works, a line every ten seconds
// says what it waits for and how much of the limit has passed:
//
//	cases: waits for 12 of 40 runs, 31 s of 2m0s
//
// What it waits for is stated where the waiting is, by Waits or WaitsFor, on the context of
// the part: of several that wait at the same time, the one that began last is printed.
//
// A part that exceeds its limit ends with an ExceededError, which says what it waited for.
// Its context ends at the limit. Work that does not end with its context is left behind after
// a grace period: Run returns all the same, since a measurement that hangs without a word is
// worse than a goroutine that is left to a program about to end.
package progress

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"
)

const (
	// defaultEvery is the time between two lines.
	defaultEvery = 10 * time.Second
	// defaultGrace is how long work may take to end after its limit: what it started is
	// stopped meanwhile, servers too.
	defaultGrace = time.Minute
)

// Part is a part of a measurement.
type Part struct {
	Name  string
	Limit time.Duration // from the beginning to the end; 0: none
	Out   io.Writer     // for the lines; nil: none
	Every time.Duration // between two lines; default: 10 s
	Grace time.Duration // after the limit; default: a minute
}

// ExceededError is the end of a part that took longer than its limit.
type ExceededError struct {
	Limit time.Duration
	Wait  string // what it waited for, "" when it did not say
	Left  bool   // it did not end with its context either
}

// Error implements error.
func (e *ExceededError) Error() string {
	text := fmt.Sprintf("not done within %s", e.Limit)
	if e.Wait != "" {
		text += ", waited for " + e.Wait
	}
	if e.Left {
		text += "; it does not end"
	}
	return text
}

// Run does the work of the part and returns its error, or an ExceededError, after the name
// of the part. The work gets a context that ends at the limit.
func (p Part) Run(ctx context.Context, work func(context.Context) error) error {
	if err := p.watch(ctx, work); err != nil {
		return fmt.Errorf("%s: %w", p.Name, err)
	}
	return nil
}

func (p Part) watch(ctx context.Context, work func(context.Context) error) error {
	every, grace := p.Every, p.Grace
	if every <= 0 {
		every = defaultEvery
	}
	if grace <= 0 {
		grace = defaultGrace
	}
	w := &waits{}
	working, cancel := context.WithCancel(context.WithValue(ctx, waitsKey{}, w))
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- work(working) }()
	var limit <-chan time.Time
	if p.Limit > 0 {
		timer := time.NewTimer(p.Limit)
		defer timer.Stop()
		limit = timer.C
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	began := time.Now()
	for {
		select {
		case err := <-ended:
			return err
		case <-tick.C:
			p.print(w.text(), time.Since(began))
		case <-limit:
			exceeded := &ExceededError{Limit: p.Limit, Wait: w.text()}
			cancel()
			exceeded.Left, _ = endOf(ended, grace)
			return exceeded
		case <-ctx.Done():
			if left, err := endOf(ended, grace); !left {
				return err
			}
			return ctx.Err()
		}
	}
}

// endOf waits for the end of work whose context has ended.
func endOf(ended <-chan error, grace time.Duration) (left bool, err error) {
	select {
	case err := <-ended:
		return false, err
	case <-time.After(grace):
		return true, nil
	}
}

// print writes a line.
func (p Part) print(waiting string, took time.Duration) {
	if p.Out == nil {
		return
	}
	line := p.Name + ": works, "
	if waiting != "" {
		line = p.Name + ": waits for " + waiting + ", "
	}
	line += took.Round(time.Second).String()
	if p.Limit > 0 {
		line += " of " + p.Limit.String()
	}
	_, _ = fmt.Fprintln(p.Out, line)
}

type waitsKey struct{}

// waits are what a part waits for, in the order in which the waiting began.
type waits struct {
	mu   sync.Mutex
	list []*func() string
}

// text returns what is waited for since the latest time; "" for nothing.
func (w *waits) text() string {
	w.mu.Lock()
	var describe func() string
	if len(w.list) > 0 {
		describe = *w.list[len(w.list)-1]
	}
	w.mu.Unlock()
	if describe == nil {
		return ""
	}
	return describe()
}

// Waits states what the part of ctx waits for until done is called. Outside of a part it
// does nothing.
func Waits(ctx context.Context, what string) (done func()) {
	return WaitsFor(ctx, func() string { return what })
}

// WaitsFor is Waits for what changes: describe is called for each line, from another
// goroutine than the one that waits.
func WaitsFor(ctx context.Context, describe func() string) (done func()) {
	w, ok := ctx.Value(waitsKey{}).(*waits)
	if !ok {
		return func() {}
	}
	entry := &describe
	w.mu.Lock()
	defer w.mu.Unlock()
	w.list = append(w.list, entry)
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		for i, e := range w.list {
			if e == entry {
				w.list = append(w.list[:i], w.list[i+1:]...)
				return
			}
		}
	}
}
