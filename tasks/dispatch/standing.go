package dispatch

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/slipway-qa/slipway/tasks"
)

// Standing is what stands in Redis for a queue: deliveries by asynq's states.
type Standing struct {
	Queue     string
	Pending   int64
	Active    int64
	Scheduled int64
	Retry     int64
	Archived  int64
	// Paused queues are taken from by no worker; asynq's own tools pause them.
	Paused bool
	// Latency is how long the oldest pending delivery has waited for a worker.
	Latency time.Duration
}

// Size is the number of all deliveries of the queue.
func (s *Standing) Size() int64 {
	return s.Pending + s.Active + s.Scheduled + s.Retry + s.Archived
}

// Standings reads what stands in Redis for every queue, in two round trips: the second is
// for the times of the oldest deliveries. Like Depths it reads asynq's keys and does not ask
// its Inspector, which knows no deadline either.
func (r *Redis) Standings(ctx context.Context) ([]Standing, error) {
	queues := tasks.Queues()
	pipe := r.client.Pipeline()
	counts := askDepths(ctx, pipe)
	paused, oldest := make([]*redis.IntCmd, len(queues)), make([]*redis.StringSliceCmd, len(queues))
	for i, q := range queues {
		paused[i] = pipe.Exists(ctx, stateKey(q, "paused"))
		oldest[i] = pipe.LRange(ctx, pendingKey(q), -1, -1)
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return nil, fmt.Errorf("read the queues in redis: %w", err)
	}
	list := make([]Standing, len(queues))
	place := map[string]*Standing{}
	for i, q := range queues {
		list[i] = Standing{Queue: q, Paused: paused[i].Val() > 0}
		place[q] = &list[i]
	}
	for _, d := range counts.read() {
		place[d.Queue].set(d.State, d.Count)
	}
	since := map[string]*redis.SliceCmd{}
	pipe = r.client.Pipeline()
	for i, q := range queues {
		if ids := oldest[i].Val(); len(ids) > 0 {
			since[q] = pipe.HMGet(ctx, taskKey(q, ids[0]), "pending_since")
		}
	}
	if len(since) == 0 {
		return list, nil
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return nil, fmt.Errorf("read the oldest deliveries in redis: %w", err)
	}
	now := time.Now()
	for q, cmd := range since {
		place[q].Latency = waited(cmd.Val(), now)
	}
	return list, nil
}

func (s *Standing) set(state string, n int64) {
	switch state {
	case "pending":
		s.Pending = n
	case "active":
		s.Active = n
	case "scheduled":
		s.Scheduled = n
	case "retry":
		s.Retry = n
	case "archived":
		s.Archived = n
	}
}

// waited is the time since what asynq noted in a delivery, in nanoseconds since 1970; 0 for
// one that a worker has taken meanwhile.
func waited(noted []any, now time.Time) time.Duration {
	if len(noted) == 0 {
		return 0
	}
	text, _ := noted[0].(string)
	ns, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0
	}
	return max(0, now.Sub(time.Unix(0, ns)))
}
