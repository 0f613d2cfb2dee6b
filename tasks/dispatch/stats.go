package dispatch

import (
	"context"
	"fmt"

	"github.com/redis/go-redis/v9"

	"github.com/slipway-qa/slipway/tasks"
)

// Depth is how many deliveries of a queue are in Redis in one of asynq's states.
type Depth struct {
	Queue string
	State string // pending, active, scheduled, retry or archived
	Count int64
}

// depthStates are asynq's states of a delivery, each with the command that counts
// its key. Completed is left out, for no delivery asks for retention.
var depthStates = []struct {
	name string
	list bool // else a sorted set
}{
	{"pending", true}, {"active", true}, {"scheduled", false}, {"retry", false}, {"archived", false},
}

// Depths counts the deliveries of every queue in one round trip, zeros included.
// It reads the lengths alone: asynq's own Inspector looks into the tasks, and
// fails as a whole where the hash of a single one is lost.
func (r *Redis) Depths(ctx context.Context) ([]Depth, error) {
	pipe := r.client.Pipeline()
	list := askDepths(ctx, pipe)
	if _, err := pipe.Exec(ctx); err != nil {
		return nil, fmt.Errorf("count the deliveries in redis: %w", err)
	}
	return list.read(), nil
}

// depths are those of all queues, and the commands that read their counts.
type depths struct {
	list   []Depth
	counts []*redis.IntCmd
}

func askDepths(ctx context.Context, pipe redis.Pipeliner) depths {
	queues := tasks.Queues()
	d := depths{make([]Depth, 0, len(queues)*len(depthStates)), make([]*redis.IntCmd, 0, len(queues)*len(depthStates))}
	for _, q := range queues {
		for _, s := range depthStates {
			key := stateKey(q, s.name)
			if s.list {
				d.counts = append(d.counts, pipe.LLen(ctx, key))
			} else {
				d.counts = append(d.counts, pipe.ZCard(ctx, key))
			}
			d.list = append(d.list, Depth{Queue: q, State: s.name})
		}
	}
	return d
}

func (d depths) read() []Depth {
	for i, c := range d.counts {
		d.list[i].Count = c.Val()
	}
	return d.list
}
