// Package dispatch brings ledger rows to asynq: the connection to Redis, the
// Enqueuer for a delivery right after the commit, the relay for everything else, and
// the sweep that finds deliveries which Redis lost.
//
// Redis never holds the truth. A delivery is an asynq task whose id is the ledger
// row's id and the number of the delivery, so that a delivery that is lost, stuck
// or archived never blocks the next one; its payload points at the row. Four
// things can go wrong, and each has its remedy:
//
//   - the process dies between commit and enqueue, or Redis loses some keys: the
//     sweep asks Redis for deliveries that are outstanding for some seconds and makes the
//     missing ones due again;
//   - Redis loses everything (FLUSHALL, an empty failover): its copy of the epoch
//     is gone, and the relay makes all deliveries due again;
//   - Redis cannot be reached: the Enqueuer finds no room and rows wait in
//     PostgreSQL, so that no request waits for Redis;
//   - more work than workers: the relay keeps a bounded number of deliveries in a queue,
//     shared equally by the organizations that wait.
//
// A delivery too many is harmless: the claim of a row succeeds once.
package dispatch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/tasks"
)

// Message is the payload of a delivery.
type Message struct {
	ID             uuid.UUID `json:"id"`
	OrganizationID int64     `json:"organization_id,omitempty"`
	RequestID      string    `json:"request_id,omitempty"`
}

// ParseMessage reads the payload of a delivery.
func ParseMessage(payload []byte) (Message, error) {
	var m Message
	if err := json.Unmarshal(payload, &m); err != nil {
		return m, fmt.Errorf("delivery: %w", err)
	}
	if m.ID == uuid.Nil {
		return m, errors.New("delivery without a task id")
	}
	return m, nil
}

// Redis is the connection to the queues.
type Redis struct {
	opt    asynq.RedisConnOpt
	client redis.UniversalClient
	queue  *asynq.Client
}

// OpenRedis reads a URL: redis://user:password@host:port/db, rediss:// (TLS), or
// redis-sentinel://:password@host1:port,host2:port?master=NAME. It does not
// connect. The error never repeats the URL, which holds a password.
func OpenRedis(url string) (*Redis, error) {
	opt, err := asynq.ParseRedisURI(url)
	if err != nil {
		return nil, errors.New("redis URL: must be redis://, rediss:// or redis-sentinel://host:port?master=NAME")
	}
	client, ok := opt.MakeRedisClient().(redis.UniversalClient)
	if !ok {
		return nil, errors.New("redis URL: no client for this kind of URL")
	}
	return &Redis{opt: opt, client: client, queue: asynq.NewClientFromRedisClient(client)}, nil
}

// LogTo sends what go-redis itself has to say, such as addresses that it could
// not dial, to the log instead of to standard error. It is the module's only
// switch and holds for the process; main calls it once.
func LogTo(log *slog.Logger) { redis.SetLogger(redisLog{log}) }

type redisLog struct{ log *slog.Logger }

// Printf takes a line of go-redis.
func (l redisLog) Printf(ctx context.Context, format string, args ...any) {
	l.log.DebugContext(ctx, "redis client", "message", fmt.Sprintf(format, args...))
}

// Client is the plain connection, for metrics.
func (r *Redis) Client() redis.UniversalClient { return r.client }

// Options are for asynq's own server, scheduler and console.
func (r *Redis) Options() asynq.RedisConnOpt { return r.opt }

// Check returns nil when Redis responds.
func (r *Redis) Check(ctx context.Context) error {
	if err := r.client.Ping(ctx).Err(); err != nil {
		return fmt.Errorf("ping redis: %w", err)
	}
	return nil
}

// Close ends the connections.
func (r *Redis) Close() error { return r.client.Close() }

// Deliveries waiting longer than this to be taken by Redis are given up and become
// due again; asynq alone would try for 1.7 s on a server that is down.
const enqueueTimeout = time.Second

// asynq counts a task's time from its own start and frees the slot at the end
// of it; the handler's own deadline must come first.
const timeoutGrace = 15 * time.Second

// enqueue hands deliveries to asynq, eight at a time, and returns those that failed
// with the first error.
func (r *Redis) enqueue(ctx context.Context, kinds map[string]tasks.Kind, deliveries []ledger.Delivery) ([]ledger.Delivery, error) {
	const abreast = 8
	var (
		mu     sync.Mutex
		failed []ledger.Delivery
		first  error
		wg     sync.WaitGroup
		next   = make(chan ledger.Delivery)
	)
	for range min(abreast, len(deliveries)) {
		wg.Go(func() {
			for o := range next {
				if err := r.enqueueOne(ctx, kinds[o.Kind], o); err != nil {
					mu.Lock()
					failed = append(failed, o)
					if first == nil {
						first = err
					}
					mu.Unlock()
				}
			}
		})
	}
	for _, o := range deliveries {
		next <- o
	}
	close(next)
	wg.Wait()
	return failed, first
}

func (r *Redis) enqueueOne(ctx context.Context, kind tasks.Kind, o ledger.Delivery) error {
	m := Message{ID: o.ID, RequestID: o.RequestID}
	if o.OrganizationID != nil {
		m.OrganizationID = *o.OrganizationID
	}
	payload, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("delivery: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, enqueueTimeout)
	defer cancel()
	_, err = r.queue.EnqueueContext(ctx, asynq.NewTask(o.Kind, payload),
		asynq.TaskID(deliveryID(o)), asynq.Queue(o.Queue),
		// One retry, not none: a lease that expires would archive the delivery.
		asynq.MaxRetry(1), asynq.Timeout(kind.Timeout+timeoutGrace))
	if err != nil && !errors.Is(err, asynq.ErrTaskIDConflict) {
		return fmt.Errorf("enqueue: %w", err)
	}
	return nil // a conflict means that this very delivery is there already
}

func deliveryID(o ledger.Delivery) string { return fmt.Sprintf("%s:%d", o.ID, o.Number) }
