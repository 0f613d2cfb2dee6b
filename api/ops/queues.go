package ops

import (
	"context"
	"time"

	"github.com/slipway-qa/slipway/tasks/dispatch"
)

// redisLimit bounds what an operator waits for Redis: the ledger's side is there without it.
const redisLimit = time.Second

// Queues are Redis's side of the queues. They are read at most once a second, and a Redis
// that hangs holds one call.
type Queues struct {
	call  call
	cache cached[redisView]
}

// NewQueues returns the queues that read reads, in time or not at all.
func NewQueues(read func(context.Context) ([]dispatch.Standing, error)) *Queues {
	q := &Queues{call: call{limit: redisLimit}}
	q.cache = cached[redisView]{now: time.Now, load: func() redisView {
		standings, err := do(&q.call, read)
		return viewRedis(standings, err)
	}}
	return q
}

// redisView is what stands in Redis; Error says why it is not known.
type redisView struct {
	Error  *string        `json:"error"`
	Queues []standingView `json:"queues"`
}

// standingView counts deliveries of a queue by asynq's states.
type standingView struct {
	Queue          string  `json:"queue"`
	Size           int64   `json:"size"`
	Pending        int64   `json:"pending"`
	Active         int64   `json:"active"`
	Scheduled      int64   `json:"scheduled"`
	Retry          int64   `json:"retry"`
	Archived       int64   `json:"archived"`
	Paused         bool    `json:"paused"`
	LatencySeconds float64 `json:"latency_seconds"`
}

func viewRedis(standings []dispatch.Standing, err error) redisView {
	view := redisView{Queues: make([]standingView, 0, len(standings))}
	if err != nil {
		text := reason(err)
		view.Error = &text
		return view
	}
	for i := range standings {
		s := &standings[i]
		view.Queues = append(view.Queues, standingView{Queue: s.Queue, Size: s.Size(), Pending: s.Pending, Active: s.Active,
			Scheduled: s.Scheduled, Retry: s.Retry, Archived: s.Archived, Paused: s.Paused, LatencySeconds: s.Latency.Seconds()})
	}
	return view
}
