package dispatch

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hibiken/asynq"

	"github.com/slipway-qa/slipway/tasks"
)

// triggerLock is the shortest time for which asynq refuses a second trigger of a
// kind while the first one waits.
//
// The lock ends with its time even when the trigger still waits, and it stays for
// its time when a worker is killed in the moment between taking the trigger and
// ReleaseTrigger. So it is a choice between two things:
//
//   - After such a kill no tick of the schedules is triggered until the lock ends:
//     five seconds, and up to one more until the scheduler's next second.
//   - While no worker serves the queue, one trigger is added each time that the lock
//     ends, however many schedulers run: for the tick every 5 to 6 seconds, at most
//     17,280 a day of about 650 bytes, 11 MB. A Redis of 384 MB, as in compose.yaml,
//     takes a month of them.
//
// The other kinds have a lock as long as their period, which is a minute or more:
// together less than 2,000 triggers a day.
const triggerLock = 5 * time.Second

// TriggerLock returns for how long a second trigger of a kind is refused at the most, also
// after the one who has the first was killed.
func TriggerLock(k tasks.Kind) time.Duration { return max(triggerLock, k.Every) }

// newTrigger returns the asynq task that triggers a kind, and how it is enqueued. Its
// worker may do the work of the kind in the same slot, hence the timeout.
func newTrigger(k tasks.Kind) (*asynq.Task, []asynq.Option) {
	return asynq.NewTask(tasks.TriggerPrefix+k.Name, nil), []asynq.Option{
		asynq.Queue(k.Queue), asynq.MaxRetry(1), asynq.Timeout(k.Timeout + 30*time.Second),
		asynq.Unique(TriggerLock(k)),
	}
}

// TriggeredKind returns the kind that an asynq task of this type triggers; false when
// it is no trigger or this program does not have the kind.
func TriggeredKind(typename string) (tasks.Kind, bool) {
	name, ok := strings.CutPrefix(typename, tasks.TriggerPrefix)
	if !ok {
		return tasks.Kind{}, false
	}
	k, ok := tasks.Kinds()[name]
	return k, ok
}

// RegisterTrigger lets an asynq scheduler trigger a kind once a period. It returns the
// id of the entry.
func RegisterTrigger(s *asynq.Scheduler, k tasks.Kind) (string, error) {
	task, opts := newTrigger(k)
	entry, err := s.Register("@every "+k.Every.String(), task, opts...)
	if err != nil {
		return "", fmt.Errorf("register the trigger of %s: %w", k.Name, err)
	}
	return entry, nil
}

// Trigger triggers a kind now. A trigger that waits already is as good.
func (r *Redis) Trigger(ctx context.Context, k tasks.Kind) error {
	ctx, cancel := context.WithTimeout(ctx, enqueueTimeout)
	defer cancel()
	task, opts := newTrigger(k)
	if _, err := r.queue.EnqueueContext(ctx, task, opts...); err != nil && !errors.Is(err, asynq.ErrDuplicateTask) {
		return fmt.Errorf("enqueue: %w", FromAsynq(err))
	}
	return nil
}

// ReleaseTrigger lets a kind be triggered again. The worker that took a trigger calls
// it before the work, so that other workers can share long work, and that a worker
// which is killed at work does not keep the others from it.
func (r *Redis) ReleaseTrigger(ctx context.Context, k tasks.Kind) error {
	ctx, cancel := context.WithTimeout(ctx, enqueueTimeout)
	defer cancel()
	if err := r.client.Del(ctx, uniqueKey(k.Queue, tasks.TriggerPrefix+k.Name)).Err(); err != nil {
		return fmt.Errorf("release the trigger of %s: %w", k.Name, err)
	}
	return nil
}

// keepHistory is how long what an asynq scheduler notes of an entry outlives it.
const keepHistory = time.Hour

// ExpireHistory lets what asynq has noted of a scheduler's entries end some time after
// the scheduler: asynq itself keeps that of one that was killed for ever.
func (r *Redis) ExpireHistory(ctx context.Context, entries []string) error {
	ctx, cancel := context.WithTimeout(ctx, enqueueTimeout)
	defer cancel()
	pipe := r.client.Pipeline()
	for _, entry := range entries {
		pipe.Expire(ctx, historyKey(entry), keepHistory)
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return fmt.Errorf("expire the history of a scheduler: %w", err)
	}
	return nil
}
