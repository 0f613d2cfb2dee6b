// Package dispatch brings the work of the ledger to asynq: the connection to Redis, the
// Enqueuer for a delivery right after the commit, and the relay for everything else.
//
// Redis never holds the truth. A delivery has the kind of its task as asynq's type, and the
// task's id in its own id and payload, so that asynq's tools show what waits. It is still
// the permission to work on one task of the queue: the worker that takes it chooses the
// organization whose turn it is, and says so where that is another task (package worker).
// The relay compares the number of due tasks with that of the deliveries that wait, and
// adds what is missing. So nothing has to be kept in step:
//
//   - the process dies between commit and enqueue, a killed worker takes a delivery with
//     it, or Redis loses some keys or everything: the next look of the relay finds fewer
//     deliveries than due tasks;
//   - Redis cannot be reached: the Enqueuer finds no room and rows wait in
//     PostgreSQL, so that no request waits for Redis;
//   - more work than workers: the relay keeps a bounded number of deliveries in a queue,
//     however long the backlog is.
//
// A delivery too many is harmless: its worker finds nothing to claim. An epoch in Redis
// shows that its memory is gone, for asynq has to be told of the queues then.
package dispatch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"github.com/slipway-qa/slipway/tasks"
)

// Message is the payload of a delivery: what it was made for. The worker that takes it may
// work on another task of the queue.
type Message struct {
	TaskID uuid.UUID `json:"task_id"`
	// OrganizationID is the task's, 0 for the installation.
	OrganizationID int64 `json:"organization_id,omitempty"`
	// Known is set where the task has just been inserted: the worker need not look who
	// waits.
	Known bool `json:"known,omitempty"`
}

// ParseMessage reads the payload of a delivery.
func ParseMessage(payload []byte) (Message, error) {
	var m Message
	if err := json.Unmarshal(payload, &m); err != nil {
		return m, fmt.Errorf("delivery: %w", err)
	}
	return m, nil
}

// Redis is the connection to the queues.
type Redis struct {
	opt      *address
	client   redis.UniversalClient
	probe    redis.UniversalClient // for checks
	queue    *asynq.Client
	timeouts map[string]time.Duration // by queue
}

// OpenRedis reads the configuration; it does not connect. The error never repeats the URL,
// which may hold a password.
func OpenRedis(c RedisConfig) (*Redis, error) {
	a, err := parseAddress(c)
	if err != nil {
		return nil, err
	}
	client := a.client()
	return &Redis{opt: a, client: client, probe: a.probe(client), queue: asynq.NewClientFromRedisClient(client), timeouts: timeouts()}, nil
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

// Options are for asynq's own server and scheduler.
func (r *Redis) Options() asynq.RedisConnOpt { return r.opt }

// ServerVersion returns the version of the server, such as 7.2.4.
func (r *Redis) ServerVersion(ctx context.Context) (string, error) {
	info, err := r.client.Info(ctx, "server").Result()
	if err != nil {
		return "", fmt.Errorf("version of redis: %w", err)
	}
	_, version, _ := strings.Cut(info, "redis_version:")
	version, _, _ = strings.Cut(version, "\r\n")
	return version, nil
}

// Close ends the connections.
func (r *Redis) Close() error {
	if r.probe != r.client {
		_ = r.probe.Close()
	}
	return r.client.Close()
}

// enqueueTimeout bounds how long a delivery waits to be taken by Redis: then it is given up,
// and the relay makes others; asynq alone would try for 1.7 s on a server that is down.
const enqueueTimeout = time.Second

// timeoutGrace is added to a task's time: asynq counts it from its own start and frees the
// slot at the end of it; the handler's own deadline must come first.
const timeoutGrace = 15 * time.Second

// Delivery is one delivery that is to be handed to Redis.
type Delivery struct {
	Kind  string // asynq's type
	Queue string
	Message
}

// idSeparator stands between the task's id and the delivery's number in asynq's id.
const idSeparator = ":"

// asynqID is the id of a delivery as asynq has it. A delivery that is lost or stuck never
// blocks the next one of its task: the number is the time, in microseconds since 1970.
func (d *Delivery) asynqID(now time.Time) string {
	return d.TaskID.String() + idSeparator + strconv.FormatInt(now.UnixMicro(), 36)
}

// taskOf returns the task in the id of a delivery; false for one of a program that named
// none, and for triggers.
func taskOf(asynqID string) (uuid.UUID, bool) {
	text, _, ok := strings.Cut(asynqID, idSeparator)
	if !ok {
		return uuid.Nil, false
	}
	id, err := uuid.Parse(text)
	return id, err == nil
}

// enqueue hands deliveries to asynq, eight at a time, and returns the first error. After
// it nothing more is begun: each of two hundred would wait for its own deadline.
func (r *Redis) enqueue(ctx context.Context, list []Delivery) error {
	const abreast = 8
	var (
		mu     sync.Mutex
		first  error
		failed atomic.Bool
		wg     sync.WaitGroup
		next   = make(chan Delivery)
	)
	for range min(abreast, len(list)) {
		wg.Go(func() {
			for d := range next {
				if failed.Load() {
					continue
				}
				if err := r.enqueueOne(ctx, d); err != nil {
					failed.Store(true)
					mu.Lock()
					if first == nil {
						first = err
					}
					mu.Unlock()
				}
			}
		})
	}
	for _, d := range list {
		next <- d
	}
	close(next)
	wg.Wait()
	return first
}

func (r *Redis) enqueueOne(ctx context.Context, d Delivery) error {
	payload, err := json.Marshal(d.Message)
	if err != nil {
		return fmt.Errorf("delivery: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, enqueueTimeout)
	defer cancel()
	_, err = r.queue.EnqueueContext(ctx, asynq.NewTask(d.Kind, payload), asynq.Queue(d.Queue),
		// One retry, not none: a lease that expires would archive the delivery.
		asynq.TaskID(d.asynqID(time.Now())), asynq.MaxRetry(1), asynq.Timeout(r.timeouts[d.Queue]))
	if err != nil && !errors.Is(err, asynq.ErrTaskIDConflict) { // another process has just delivered it
		return fmt.Errorf("enqueue: %w", FromAsynq(err))
	}
	return nil
}

// timeouts are the times that deliveries of each queue may take: those of its slowest kind.
func timeouts() map[string]time.Duration {
	of := map[string]time.Duration{}
	for _, k := range tasks.Kinds() {
		of[k.Queue] = max(of[k.Queue], k.Timeout+timeoutGrace)
	}
	return of
}
