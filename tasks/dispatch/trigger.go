package dispatch

import (
	"context"
	"fmt"
	"time"

	"github.com/hibiken/asynq"
)

// Trigger enqueues an asynq task that has no ledger row: the scheduler's triggers.
func (r *Redis) Trigger(ctx context.Context, trigger *asynq.Task, opts ...asynq.Option) error {
	ctx, cancel := context.WithTimeout(ctx, enqueueTimeout)
	defer cancel()
	if _, err := r.queue.EnqueueContext(ctx, trigger, opts...); err != nil {
		return fmt.Errorf("enqueue: %w", err)
	}
	return nil
}

// keepHistory is how long what an asynq scheduler notes of an entry outlives it.
const keepHistory = time.Hour

// Waiting counts the tasks of asynq that wait in a queue, and lets the history of
// the entries of an asynq scheduler end some time after them: asynq itself keeps
// that of a scheduler which was killed for ever.
func (r *Redis) Waiting(ctx context.Context, queue string, entries ...string) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, enqueueTimeout)
	defer cancel()
	pipe := r.client.Pipeline()
	n := pipe.LLen(ctx, pendingKey(queue))
	for _, entry := range entries {
		pipe.Expire(ctx, historyKey(entry), keepHistory)
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return 0, fmt.Errorf("count the tasks that wait in redis: %w", err)
	}
	return n.Val(), nil
}

func historyKey(entry string) string { return "asynq:scheduler_history:" + entry }
