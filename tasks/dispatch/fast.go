package dispatch

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/tasks"
)

// Fast is the fast path: it hands a task to Redis right after the commit that
// made it, while Redis has room. The inserter asks Reserve first and marks the row
// as delivered when the answer is yes; after the commit it calls Deliver.
type Fast struct {
	redis      *Redis
	ledger     *ledger.Store
	kinds      map[string]tasks.Kind
	log        *slog.Logger
	deliveries chan ledger.Delivery

	mu   sync.Mutex
	room map[string]int
	used map[quotaKey]int
}

type quotaKey struct {
	queue        string
	organization int64
}

const (
	// fastRoom is how many deliveries may wait in a queue before the fast path
	// leaves the rest to the relay, which shares the places fairly.
	fastRoom = 256
	// fastQuota is how many of them one organization may add between two
	// looks at Redis.
	fastQuota = 64
	// fastLook is the time between two looks.
	fastLook = 200 * time.Millisecond
)

// NewFast makes the fast path; Run must be running for it to find room.
func NewFast(redis *Redis, store *ledger.Store, log *slog.Logger) *Fast {
	return &Fast{redis: redis, ledger: store, kinds: tasks.Kinds(), log: log,
		deliveries: make(chan ledger.Delivery, fastRoom), room: map[string]int{}, used: map[quotaKey]int{}}
}

// Reserve reports whether a task of the queue may be inserted as delivered.
func (f *Fast) Reserve(queue string, organization int64) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	key := quotaKey{queue, organization}
	if f.room[queue] <= 0 || f.used[key] >= fastQuota {
		return false
	}
	f.room[queue]--
	f.used[key]++
	return true
}

// Deliver gives a committed task that was inserted as delivered to Redis. It never
// blocks: when too many wait already, the sweep will find the row.
func (f *Fast) Deliver(t *ledger.NewTask) {
	if !t.Delivered {
		return
	}
	o := ledger.Delivery{ID: t.ID, Kind: t.Kind, Queue: t.Queue, Number: 1, RequestID: t.RequestID}
	if t.OrganizationID != 0 {
		o.OrganizationID = &t.OrganizationID
	}
	select {
	case f.deliveries <- o:
	default:
	}
}

// Run hands deliveries over until ctx ends.
func (f *Fast) Run(ctx context.Context) {
	look := time.NewTicker(fastLook)
	defer look.Stop()
	f.look(ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	wg.Go(func() {
		for {
			select {
			case <-ctx.Done():
				return
			case <-look.C:
				f.look(ctx)
			}
		}
	})
	for range 4 {
		wg.Go(func() { f.work(ctx) })
	}
}

func (f *Fast) work(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case o := <-f.deliveries:
			if err := f.redis.enqueueOne(ctx, f.kinds[o.Kind], o); err != nil {
				f.close()
				f.log.WarnContext(ctx, "fast path failed, the relay takes over", "error", err)
				if err := f.ledger.Withdraw(ctx, []ledger.Delivery{o}); err != nil {
					f.log.WarnContext(ctx, "withdraw delivery failed, the sweep takes over", "error", err)
				}
			}
		}
	}
}

// close lets nothing through until the next look.
func (f *Fast) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	clear(f.room)
}

// look reads how many deliveries wait; a Redis that does not answer has no room.
func (f *Fast) look(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, enqueueTimeout)
	defer cancel()
	room := map[string]int{}
	for _, q := range tasks.Queues() {
		n, err := f.redis.client.LLen(ctx, pendingKey(q)).Result()
		if err != nil {
			room = map[string]int{}
			break
		}
		room[q] = min(fastRoom, keepOf(q)) - int(n)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.room = room
	clear(f.used)
}
