package scheduler

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/hibiken/asynq"

	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/tasks/dispatch"
)

// periodicKinds returns the kinds that are triggered, each at the start and once a
// period: all that have one.
func periodicKinds() []tasks.Kind {
	var periodic []tasks.Kind
	for _, k := range tasks.Kinds() {
		if k.Every > 0 {
			periodic = append(periodic, k)
		}
	}
	slices.SortFunc(periodic, func(a, b tasks.Kind) int { return strings.Compare(a.Name, b.Name) })
	return periodic
}

// startTriggers starts the asynq scheduler with an entry for each periodic kind.
func (s *Scheduler) startTriggers() error {
	s.cron = asynq.NewScheduler(s.cfg.Redis.Options(), &asynq.SchedulerOpts{
		Location: time.UTC, LogLevel: asynq.ErrorLevel, Logger: dispatch.AsynqLog{Log: s.cfg.Log},
		PostEnqueueFunc: func(_ *asynq.TaskInfo, err error) {
			// A duplicate means that a trigger of the kind waits already.
			if err != nil && !errors.Is(err, asynq.ErrDuplicateTask) {
				s.cfg.Log.Warn("task not triggered", "error", dispatch.FromAsynq(err))
			}
		},
	})
	for _, k := range periodicKinds() {
		entry, err := dispatch.RegisterTrigger(s.cron, k)
		if err != nil {
			return err
		}
		s.entries = append(s.entries, entry)
	}
	return s.cron.Start()
}

// triggerAll triggers every periodic kind once, because the asynq scheduler counts its
// periods from the start of the process. What ran lately is not done again: the worker
// looks.
func (s *Scheduler) triggerAll(ctx context.Context) {
	for _, k := range periodicKinds() {
		if err := s.cfg.Redis.Trigger(ctx, k); err != nil && ctx.Err() == nil {
			s.cfg.Log.WarnContext(ctx, "task not triggered", "kind", k.Name, "error", err)
		}
	}
}

// expireHistory lets the history of this scheduler's entries end after it.
func (s *Scheduler) expireHistory(ctx context.Context) error {
	return s.cfg.Redis.ExpireHistory(ctx, s.entries)
}
