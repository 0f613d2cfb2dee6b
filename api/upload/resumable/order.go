package resumable

import (
	"context"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage/object"
	"github.com/slipway-qa/slipway/storage/resumable"
)

// A sender that waits for the answer to each part leaves the line idle while the object
// store takes the end of it. One that begins the next part meanwhile sends it before the
// part is recorded: then the sum of the bytes so far goes from one request to the other
// within the process. It is no more than a saving. Each part is recorded with the sum that it
// began with, by which it shows whether that was the sum of the parts that were recorded.

// orderWait is how long a part waits for the bytes of the one before it, which is on its
// way: what the two connections may be apart.
const orderWait = 500 * time.Millisecond

type partKey struct {
	upload uuid.UUID
	number int
}

// order are the parts on their way through this process; at most as many as there are slots
// of uploads.
type order struct {
	mu    sync.Mutex
	parts map[partKey]*coming
}

// coming is a part whose sum is awaited.
type coming struct {
	summed chan struct{} // closed once state is set, or the part has failed
	state  []byte        // of the sum with the part at its end; nil: there is none
}

// begin announces a part; end says how its sum ended, and with nil that the request is over.
// Of two senders of a part the second one announces nothing.
func (h *Handlers) begin(upload uuid.UUID, number int) (end func(state []byte)) {
	key, o := partKey{upload, number}, &h.order
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.parts[key] != nil {
		return func([]byte) {}
	}
	c := &coming{summed: make(chan struct{})}
	o.parts[key] = c
	summed := false
	return func(state []byte) {
		o.mu.Lock()
		defer o.mu.Unlock()
		if !summed {
			summed, c.state = true, state
			close(c.summed)
		}
		if state == nil {
			delete(o.parts, key)
		}
	}
}

// sumBefore returns the sum over all bytes before a part; nil when they are not known.
func (h *Handlers) sumBefore(ctx context.Context, u *resumable.Upload, number int) (*object.Sum, error) {
	h.order.mu.Lock()
	before := h.order.parts[partKey{u.ID, number - 1}]
	h.order.mu.Unlock()
	if before != nil {
		wait, cancel := context.WithTimeout(ctx, orderWait)
		defer cancel()
		select {
		case <-before.summed:
			m := u.Object()
			if sum := object.ResumeSum(before.state, m.Offset(number)); sum.N() == m.Offset(number) {
				return sum, nil
			}
		case <-wait.Done():
		}
	}
	// It may have been recorded meanwhile.
	return resumable.SumBefore(ctx, h.cfg.DB, u, number)
}
