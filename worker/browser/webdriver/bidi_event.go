package webdriver

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
)

// What is queued of events that handlers have not taken yet. A page can log
// without end, and nobody reads thousands of lines.
const (
	eventCount = 1024
	eventBytes = 16 << 20
)

// Subscribe makes the remote end send events, by names ("log.entryAdded") or
// modules ("network"), of all windows.
func (b *BiDi) Subscribe(ctx context.Context, events ...string) error {
	return b.Command(ctx, "session.subscribe", map[string]any{"events": events}, nil)
}

// On calls handle for each event of a name, in the order they came, until the
// returned function is called; an event that is being handled then goes on. All
// handlers share a goroutine: a slow one makes the queue drop its oldest events.
// They may send commands.
func (b *BiDi) On(event string, handle func(params json.RawMessage)) (unsubscribe func()) {
	return b.events.on(event, handle)
}

// Dropped returns how many events were dropped because they came faster than their
// handlers took them.
func (b *BiDi) Dropped() uint64 {
	b.events.mu.Lock()
	defer b.events.mu.Unlock()
	return b.events.dropped
}

// Settle waits until the handlers have taken the events that the remote end has sent so
// far: the response to a command comes behind them. A handler must not call it.
func (b *BiDi) Settle(ctx context.Context) error {
	if err := b.Command(ctx, "session.status", nil, nil); err != nil {
		return err
	}
	select {
	case <-b.events.taken():
		return nil
	case <-b.done:
		return &TransportError{Err: b.cause()}
	case <-ctx.Done():
		return contextError(ctx)
	}
}

type bidiEvent struct {
	name   string
	params json.RawMessage
	taken  chan struct{} // of no event: closed when those before it have been taken
}

type bidiHandler struct {
	id     int
	event  string
	handle func(json.RawMessage)
}

// eventQueue keeps events between the reader, which must not wait, and the
// handlers, which may.
type eventQueue struct {
	mu       sync.Mutex
	wake     sync.Cond
	handlers []bidiHandler
	lastID   int
	waiting  []bidiEvent
	size     int // bytes of waiting
	dropped  uint64

	closed bool
}

func (q *eventQueue) init() { q.wake.L = &q.mu }

func (q *eventQueue) on(event string, handle func(json.RawMessage)) func() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.lastID++
	id := q.lastID
	q.handlers = append(slices.Clip(q.handlers), bidiHandler{id, event, handle})
	return func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		// A copy: run may be going through the old one.
		q.handlers = slices.DeleteFunc(slices.Clone(q.handlers), func(h bidiHandler) bool { return h.id == id })
	}
}

// push queues an event that somebody handles and drops the oldest to make room.
func (q *eventQueue) push(e bidiEvent) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed || !slices.ContainsFunc(q.handlers, func(h bidiHandler) bool { return h.event == e.name }) {
		return
	}
	q.waiting = append(q.waiting, e)
	q.size += len(e.params)
	for len(q.waiting) > eventCount || (q.size > eventBytes && len(q.waiting) > 1) {
		if oldest := q.take(); oldest.taken != nil {
			close(oldest.taken)
			continue
		}
		q.dropped++
	}
	q.wake.Signal()
}

// taken returns a channel that is closed when what waits now has been handled or dropped.
func (q *eventQueue) taken() <-chan struct{} {
	q.mu.Lock()
	defer q.mu.Unlock()
	done := make(chan struct{})
	q.waiting = append(q.waiting, bidiEvent{taken: done})
	q.wake.Signal()
	return done
}

// take removes the oldest event; there must be one.
func (q *eventQueue) take() bidiEvent {
	e := q.waiting[0]
	q.waiting[0] = bidiEvent{}
	q.waiting = q.waiting[1:]
	q.size -= len(e.params)
	return e
}

// run calls the handlers until the queue is closed and empty: events that came
// before the end of the connection are still handled.
func (q *eventQueue) run() {
	for {
		q.mu.Lock()
		for len(q.waiting) == 0 && !q.closed {
			q.wake.Wait()
		}
		if len(q.waiting) == 0 {
			q.mu.Unlock()
			return
		}
		e, handlers := q.take(), q.handlers
		q.mu.Unlock()
		if e.taken != nil {
			close(e.taken)
			continue
		}
		for _, h := range handlers {
			if h.event == e.name {
				h.handle(e.params)
			}
		}
	}
}

func (q *eventQueue) close() {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	q.wake.Broadcast()
}
