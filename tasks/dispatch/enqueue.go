package dispatch

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/tasks"
)

// Enqueuer inserts tasks and hands them to Redis right after the commit that made
// them, while Redis has room; what finds no room waits for the relay. So a task starts some milliseconds after its request, and no
// request waits for Redis.
//
// A nil *Enqueuer leaves every task to the relay. The handlers of tasks insert with
// package ledger: they make tasks by the hundred, which are the relay's.
type Enqueuer struct {
	redis      *Redis
	log        *slog.Logger
	deliveries chan Delivery
	waiting    atomic.Int64 // deliveries that were accepted and are not handed over

	mu   sync.Mutex
	room map[string]int
	used map[quotaKey]int
}

type quotaKey struct {
	queue        string
	organization int64
}

const (
	// roomPerQueue is how many deliveries may wait in a queue before the rest is left to
	// the relay.
	roomPerQueue = 256
	// organizationQuota is how many of them one organization may add between two looks
	// at Redis.
	organizationQuota = 64
	// lookEvery is the time between two looks.
	lookEvery = 200 * time.Millisecond
)

// NewEnqueuer returns an enqueuer; it finds no room until Run is called.
func NewEnqueuer(redis *Redis, log *slog.Logger) *Enqueuer {
	return &Enqueuer{redis: redis, log: log, deliveries: make(chan Delivery, roomPerQueue),
		room: map[string]int{}, used: map[quotaKey]int{}}
}

// Insert writes tasks in a transaction and delivers them after its commit. Tasks with an
// open twin of the same kind and dedupe key are left out. When the outcome of the commit
// is unknown, nothing is delivered, and the relay finds the rows.
func (e *Enqueuer) Insert(ctx context.Context, tx *storage.Tx, list ...*ledger.NewTask) error {
	e.Reserve(list...)
	tx.AfterCommit(func() { e.Deliver(list...) })
	if len(list) == 1 {
		_, err := ledger.Insert(ctx, tx, list[0])
		return err
	}
	_, err := ledger.InsertAll(ctx, tx, list)
	return err
}

// Reserve marks those tasks as delivered for which Redis has room. It is the first half
// of Insert, for a caller whose statement commits by itself; Deliver is the second.
func (e *Enqueuer) Reserve(list ...*ledger.NewTask) {
	if e == nil {
		return
	}
	for _, t := range list {
		t.Delivered = e.reserve(t.Queue, t.OrganizationID)
	}
}

// reserve takes the room of one task of a queue.
func (e *Enqueuer) reserve(queue string, organization int64) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	key := quotaKey{queue, organization}
	if e.room[queue] <= 0 || e.used[key] >= organizationQuota {
		return false
	}
	e.room[queue]--
	e.used[key]++
	return true
}

// Deliver hands committed tasks to Redis, those that Reserve has marked. It never
// blocks: when too many wait already, the relay will find the rows.
func (e *Enqueuer) Deliver(list ...*ledger.NewTask) {
	if e == nil {
		return
	}
	for _, t := range list {
		if !t.Delivered {
			continue
		}
		d := Delivery{Kind: t.Kind, Queue: t.Queue, Message: Message{TaskID: t.ID, OrganizationID: t.OrganizationID, Known: true}}
		e.waiting.Add(1)
		select {
		case e.deliveries <- d:
		default:
			e.waiting.Add(-1)
		}
	}
}

// Waiting returns how many deliveries are not handed over to Redis yet. Tests wait for 0.
func (e *Enqueuer) Waiting() int { return int(e.waiting.Load()) }

// Run hands deliveries to Redis until ctx ends.
func (e *Enqueuer) Run(ctx context.Context) {
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	e.look(ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	wg.Go(func() {
		for {
			select {
			case <-ctx.Done():
				return
			case <-look.C:
				e.look(ctx)
			}
		}
	})
	for range 4 {
		wg.Go(func() { e.work(ctx) })
	}
}

func (e *Enqueuer) work(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case d := <-e.deliveries:
			if err := e.redis.enqueueOne(ctx, d); err != nil {
				e.close()
				if ctx.Err() == nil {
					e.log.WarnContext(ctx, "delivery failed, the relay takes over", "error", err)
				}
			}
			e.waiting.Add(-1)
		}
	}
}

// close lets nothing through until the next look.
func (e *Enqueuer) close() {
	e.mu.Lock()
	defer e.mu.Unlock()
	clear(e.room)
}

// look reads how many deliveries wait; a Redis that does not respond has no room.
func (e *Enqueuer) look(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, enqueueTimeout)
	defer cancel()
	room := map[string]int{}
	for _, q := range tasks.Queues() {
		n, err := e.redis.client.LLen(ctx, pendingKey(q)).Result()
		if err != nil {
			room = map[string]int{}
			break
		}
		room[q] = min(roomPerQueue, keepOf(q)) - int(n)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.room = room
	clear(e.used)
}
