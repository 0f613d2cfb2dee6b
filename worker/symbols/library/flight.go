package library

import (
	"context"
	"fmt"
	"sync"
)

// flights does what several want at the same time once for all of them.
type flights[T any] struct {
	mu    sync.Mutex
	going map[string]*flight[T]
}

type flight[T any] struct {
	done    chan struct{}
	value   T
	err     error
	waiting int
	cancel  context.CancelFunc
}

func newFlights[T any]() *flights[T] { return &flights[T]{going: map[string]*flight[T]{}} }

// do returns the result of the work for a key: of the one under way, or of one that it
// starts. The work goes on while anybody waits for it.
func (g *flights[T]) do(ctx context.Context, key string, work func(context.Context) (T, error)) (T, error) {
	g.mu.Lock()
	f, ok := g.going[key]
	if !ok {
		working, cancel := context.WithCancel(context.WithoutCancel(ctx))
		f = &flight[T]{done: make(chan struct{}), cancel: cancel}
		g.going[key] = f
		go g.run(working, key, f, work)
	}
	f.waiting++
	g.mu.Unlock()
	defer g.leave(key, f)
	select {
	case <-f.done:
		return f.value, f.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}

func (g *flights[T]) run(ctx context.Context, key string, f *flight[T], work func(context.Context) (T, error)) {
	defer f.cancel()
	defer close(f.done)
	defer func() {
		if v := recover(); v != nil {
			f.err = fmt.Errorf("panic: %v", v)
		}
		g.forget(key, f)
	}()
	f.value, f.err = work(ctx)
}

func (g *flights[T]) forget(key string, f *flight[T]) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.going[key] == f {
		delete(g.going, key)
	}
}

// leave ends the work that nobody waits for any more; who comes later starts another.
func (g *flights[T]) leave(key string, f *flight[T]) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if f.waiting--; f.waiting > 0 {
		return
	}
	f.cancel()
	if g.going[key] == f {
		delete(g.going, key)
	}
}
