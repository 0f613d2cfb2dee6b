package dispatch

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"

	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/tasks"
)

// Relay sees to it that as many deliveries wait in Redis as tasks are due. Every
// scheduler process runs one; what two of them add at the same moment is too much and
// harmless.
type Relay struct {
	redis  *Redis
	ledger *ledger.Store
	keep   map[string]int
	log    *slog.Logger
	nudge  chan struct{}
	epoch  string
}

const (
	// relayKeep bounds the deliveries of one queue that wait. Deep enough that workers
	// never wait for the relay; a backlog takes no more of Redis.
	relayKeep = 400
	// relayKeepMerged is the bound where one delivery serves up to 64 rows.
	relayKeepMerged = 64
	// relayBatch is enqueued at once.
	relayBatch = 200
	// readMost bounds the deliveries that are read to see which tasks have one: several
	// processes may add some at the same moment.
	readMost = 4 * relayKeep
	// relayTick is the wait between looks when nothing is due, and relayIdle the one
	// after nothing was for idleAfter: an idle process should cost next to nothing,
	// and most first tasks are delivered by the Enqueuer.
	relayTick = 100 * time.Millisecond
	relayIdle = 250 * time.Millisecond
	idleAfter = 5 * time.Second
	// RelayWait is the longest wait between two looks, after several that failed.
	RelayWait = time.Second
	// epochEvery is how often a relay that has nothing to deliver looks at the epoch.
	// One that has something looks first.
	epochEvery = 500 * time.Millisecond
	// epochKey is Redis's copy of the epoch.
	epochKey = "slipway:epoch"
)

// keepOf returns the bound of a queue.
func keepOf(queue string) int {
	for _, k := range tasks.Kinds() {
		if k.Queue == queue && k.Batch > 1 {
			return relayKeepMerged
		}
	}
	return relayKeep
}

// keeps returns the bounds of all queues.
func keeps() map[string]int {
	of := map[string]int{}
	for _, q := range tasks.Queues() {
		of[q] = keepOf(q)
	}
	return of
}

// NewRelay returns a relay.
func NewRelay(redis *Redis, store *ledger.Store, log *slog.Logger) *Relay {
	return &Relay{redis: redis, ledger: store, keep: keeps(), log: log, nudge: make(chan struct{}, 1)}
}

// Nudge lets the relay look at once.
func (r *Relay) Nudge() {
	select {
	case r.nudge <- struct{}{}:
	default:
	}
}

// Run relays until ctx ends, and calls mark after each round that went well.
// Errors are logged and tried again, slower and slower up to RelayWait.
func (r *Relay) Run(ctx context.Context, mark func()) {
	wait := relayTick
	var looked time.Time // at the epoch, in a round that went well
	busy := time.Now()   // when something was due last
	for {
		look := time.Since(looked) >= epochEvery
		found, more, err := r.round(ctx, look)
		if found || err != nil {
			busy = time.Now()
		}
		if look && err == nil {
			looked = time.Now()
		}
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			r.log.WarnContext(ctx, "relay failed", "error", err)
			wait = min(wait*2, RelayWait)
		case more:
			mark()
			wait = 0
		default:
			mark()
			if wait = relayTick; time.Since(busy) >= idleAfter {
				wait = relayIdle
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-r.nudge:
		case <-time.After(wait):
		}
		wait = max(wait, relayTick)
	}
}

// round delivers one batch for each queue that has due rows, and reports whether it
// found any and whether a queue may have more. It looks at the epoch first, or only
// when there is something to deliver.
func (r *Relay) round(ctx context.Context, look bool) (found, more bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	if look {
		if err := r.checkEpoch(ctx); err != nil {
			return found, false, err
		}
	}
	backlogs, err := r.ledger.Backlogs(ctx, r.keep)
	if err != nil {
		return found, false, err
	}
	found = len(backlogs) > 0
	if !look && found {
		if err := r.checkEpoch(ctx); err != nil {
			return found, false, err
		}
	}
	// In a cluster a queue whose server is away must not keep those of others.
	var failed []error
	for _, b := range backlogs {
		full, err := r.deliver(ctx, b)
		if err != nil {
			failed = append(failed, err)
			continue
		}
		more = more || full
	}
	return found, more, errors.Join(failed...)
}

// deliver adds the deliveries that a queue lacks, one batch at most, and reports whether
// that was a full one.
func (r *Relay) deliver(ctx context.Context, b ledger.Backlog) (full bool, err error) {
	count, cancel := context.WithTimeout(ctx, enqueueTimeout)
	defer cancel()
	pending, err := r.redis.client.LLen(count, pendingKey(b.Queue)).Result()
	if err != nil {
		return false, fmt.Errorf("count deliveries in redis: %w", err)
	}
	missing := min(relayBatch, b.Due-int(pending))
	if missing <= 0 {
		return false, nil
	}
	list, err := r.undelivered(ctx, b, missing)
	if err != nil {
		return false, err
	}
	return missing == relayBatch, r.redis.enqueue(ctx, list)
}

// undelivered returns deliveries of due tasks that none of those in Redis was made for, the
// one due longest first, and no more than most.
func (r *Relay) undelivered(ctx context.Context, b ledger.Backlog, most int) ([]Delivery, error) {
	read, cancel := context.WithTimeout(ctx, enqueueTimeout)
	defer cancel()
	ids, err := r.redis.client.LRange(read, pendingKey(b.Queue), 0, readMost).Result()
	if err != nil {
		return nil, fmt.Errorf("read the deliveries in redis: %w", err)
	}
	delivered := make(map[uuid.UUID]bool, len(ids))
	for _, id := range ids {
		if task, ok := taskOf(id); ok {
			delivered[task] = true
		}
	}
	due, err := r.ledger.DueTasks(ctx, b.Queue, b.Due)
	if err != nil {
		return nil, err
	}
	var list []Delivery
	for _, t := range due {
		if len(list) < most && !delivered[t.ID] {
			list = append(list, Delivery{Kind: t.Kind, Queue: b.Queue, Message: Message{TaskID: t.ID, OrganizationID: t.OrganizationID}})
		}
	}
	return list, nil
}

// checkEpoch compares Redis's copy of the epoch with the ledger's. Where they
// differ, Redis lost its memory, and the queues are announced anew. The copy is
// written last, so that a relay that dies on the way is followed by one that
// starts anew.
func (r *Relay) checkEpoch(ctx context.Context) error {
	if r.epoch == "" {
		epoch, err := r.ledger.Epoch(ctx)
		if err != nil {
			return err
		}
		r.epoch = epoch
	}
	ctx, cancel := context.WithTimeout(ctx, enqueueTimeout)
	defer cancel()
	have, err := r.redis.client.Get(ctx, epochKey).Result()
	if err != nil && !errors.Is(err, redis.Nil) {
		return fmt.Errorf("read the epoch from redis: %w", err)
	}
	if have == r.epoch {
		return nil
	}
	if have != "" {
		r.log.ErrorContext(ctx, "redis holds the epoch of another installation: two of them must not share a Redis database")
	}
	// asynq remembers in the process which queues it has announced, and would
	// not announce them again.
	queues := make([]any, 0, len(tasks.Queues()))
	for _, q := range tasks.Queues() {
		queues = append(queues, q)
	}
	if err := r.redis.client.SAdd(ctx, "asynq:queues", queues...).Err(); err != nil {
		return fmt.Errorf("announce queues: %w", err)
	}
	if err := r.redis.client.Set(ctx, epochKey, r.epoch, 0).Err(); err != nil {
		return fmt.Errorf("write the epoch to redis: %w", err)
	}
	r.log.InfoContext(ctx, "redis had no epoch: its memory was lost, or it is new", "routine", true)
	return nil
}
