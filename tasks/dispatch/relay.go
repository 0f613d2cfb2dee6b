package dispatch

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/tasks"
)

// Relay delivers due rows to Redis. Every scheduler process runs one; rows are
// taken with SKIP LOCKED, so they share the work.
type Relay struct {
	redis  *Redis
	ledger *ledger.Store
	kinds  map[string]tasks.Kind
	log    *slog.Logger
	nudge  chan struct{}
	epoch  string
}

const (
	// relayKeep bounds the outstanding deliveries of one queue. Deep enough that
	// workers never wait for the relay, shallow enough that a new
	// organization's first task is not behind thousands.
	relayKeep = 1000
	// relayKeepMerged is the bound where one delivery serves up to 64 rows.
	relayKeepMerged = 64
	// relayBatch is taken and enqueued at once.
	relayBatch = 200
	// relayTick is the wait between looks when nothing is due, and relayIdle the one
	// after nothing was for idleAfter: an idle process should cost next to nothing,
	// and most first tasks are delivered by the Enqueuer.
	relayTick = 100 * time.Millisecond
	relayIdle = 250 * time.Millisecond
	idleAfter = 5 * time.Second
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

// NewRelay returns a relay.
func NewRelay(redis *Redis, store *ledger.Store, log *slog.Logger) *Relay {
	return &Relay{redis: redis, ledger: store, kinds: tasks.Kinds(), log: log, nudge: make(chan struct{}, 1)}
}

// Nudge lets the relay look at once.
func (r *Relay) Nudge() {
	select {
	case r.nudge <- struct{}{}:
	default:
	}
}

// Run relays until ctx ends, and calls mark after each round that went well.
// Errors are logged and tried again, slower and slower up to two seconds.
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
			wait = min(wait*2, 2*time.Second)
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
	queues, err := r.ledger.DueQueues(ctx, tasks.Queues())
	if err != nil {
		return found, false, err
	}
	found = len(queues) > 0
	if !look && found {
		if err := r.checkEpoch(ctx); err != nil {
			return found, false, err
		}
	}
	for _, q := range queues {
		// A claim that merges rows leaves the deliveries of these rows behind, so
		// the outstanding rows do not tell how many deliveries wait.
		pending, err := r.redis.client.LLen(ctx, pendingKey(q)).Result()
		if err != nil {
			return found, false, fmt.Errorf("count deliveries in redis: %w", err)
		}
		batch := min(relayBatch, keepOf(q)-int(pending))
		if batch <= 0 {
			continue
		}
		deliveries, err := r.ledger.TakeDue(ctx, q, keepOf(q), batch)
		if err != nil {
			return found, false, err
		}
		failed, err := r.redis.enqueue(ctx, r.kinds, deliveries)
		if err != nil {
			// The withdrawal must happen although the context may have ended.
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
			defer cancel()
			return found, false, errors.Join(err, r.ledger.Withdraw(ctx, failed))
		}
		more = more || len(deliveries) == relayBatch
	}
	return found, more, nil
}

// checkEpoch compares Redis's copy of the epoch with the ledger's. Where they
// differ, Redis lost its memory: every outstanding delivery is due again. The copy is
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
	n, err := r.ledger.WithdrawAll(ctx)
	if err != nil {
		return err
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
	r.log.InfoContext(ctx, "redis had no epoch: outstanding deliveries are made again", "deliveries", n)
	return nil
}

const (
	// sweepAge is how long a delivery may be outstanding before Redis is asked for it.
	sweepAge   = 3 * time.Second
	sweepBatch = 2 * relayKeep
)

// Sweep makes deliveries due again that Redis does not hold as pending: lost keys,
// a delivery that a killed worker had taken, an archived one. It returns their
// number. The relay delivers them under a new delivery number.
func (r *Relay) Sweep(ctx context.Context) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	queues, err := r.ledger.OutstandingQueues(ctx, tasks.Queues(), sweepAge)
	if err != nil {
		return 0, err
	}
	swept := 0
	for _, q := range queues {
		deliveries, err := r.ledger.Outstanding(ctx, q, sweepAge, sweepBatch)
		if err != nil {
			return swept, err
		}
		lost, err := r.redis.missing(ctx, q, deliveries)
		if err != nil {
			return swept, err
		}
		if len(lost) == 0 {
			continue
		}
		if err := r.ledger.Withdraw(ctx, lost); err != nil {
			return swept, err
		}
		swept += len(lost)
	}
	if swept > 0 {
		r.log.InfoContext(ctx, "deliveries lost by redis are made again", "deliveries", swept)
		r.Nudge()
	}
	return swept, nil
}

// missing returns the deliveries that are not pending in Redis.
func (r *Redis) missing(ctx context.Context, queue string, deliveries []ledger.Delivery) ([]ledger.Delivery, error) {
	if len(deliveries) == 0 {
		return nil, nil
	}
	pipe := r.client.Pipeline()
	states := make([]*redis.StringCmd, len(deliveries))
	for i, o := range deliveries {
		states[i] = pipe.HGet(ctx, taskKey(queue, deliveryID(o)), "state")
	}
	if _, err := pipe.Exec(ctx); err != nil && !errors.Is(err, redis.Nil) {
		return nil, fmt.Errorf("ask redis for deliveries: %w", err)
	}
	var lost []ledger.Delivery
	for i, cmd := range states {
		if cmd.Val() != "pending" {
			lost = append(lost, deliveries[i])
		}
	}
	return lost, nil
}
