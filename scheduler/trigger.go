package scheduler

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hibiken/asynq"

	"github.com/slipway-qa/slipway/tasks"
)

// periodicKinds are the kinds that are asked for, each at the start and once a period:
// all that have one.
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

// triggerOf makes the asynq task by which a maintenance kind is asked for. Its worker may
// do the work of the trigger in the same slot.
func triggerOf(k tasks.Kind) (*asynq.Task, []asynq.Option) {
	return asynq.NewTask(tasks.TriggerPrefix+k.Name, nil),
		[]asynq.Option{asynq.Queue(k.Queue), asynq.MaxRetry(1), asynq.Timeout(k.Timeout + 30*time.Second)}
}

// triggerAll asks for all maintenance once, because the asynq scheduler counts its
// periods from the start of the process. What ran lately is not made again.
func (s *Scheduler) triggerAll(ctx context.Context) {
	for _, k := range periodicKinds() {
		trigger, opts := triggerOf(k)
		if err := s.cfg.Redis.Trigger(ctx, trigger, opts...); err != nil && ctx.Err() == nil {
			s.cfg.Log.WarnContext(ctx, "maintenance not triggered", "kind", k.Name, "error", err)
		}
	}
}

// register lets the asynq scheduler trigger a kind once a period.
func (s *Scheduler) register(k tasks.Kind) error {
	trigger, opts := triggerOf(k)
	entry, err := s.cron.Register("@every "+k.Every.String(), trigger, opts...)
	if err != nil {
		return fmt.Errorf("register maintenance %s: %w", k.Name, err)
	}
	if counted(k) {
		s.entries[k.Name] = entry
	}
	return nil
}

const (
	watchEvery = time.Second
	// While no worker serves the queue of a kind that is triggered every second,
	// its triggers would fill Redis: a hundred megabytes in some days. Above pauseAbove
	// that wait each scheduler stops to trigger, and begins again below resumeBelow.
	// Between the two lies what several schedulers add before each has looked.
	pauseAbove  = 10
	resumeBelow = 5
)

// counted tells the kinds whose triggers would fill Redis from those that are wished
// for so rarely that it does not matter.
func counted(k tasks.Kind) bool { return k.Every < 10*time.Second }

// watchTriggers pauses and resumes the triggers that are counted.
func (s *Scheduler) watchTriggers(ctx context.Context) error {
	var failed []error
	for _, k := range periodicKinds() {
		if !counted(k) {
			continue
		}
		if err := s.watch(ctx, k); err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", k.Name, err))
		}
	}
	return errors.Join(failed...)
}

func (s *Scheduler) watch(ctx context.Context, k tasks.Kind) error {
	var history []string
	entry := s.entries[k.Name]
	if entry != "" {
		history = append(history, entry)
	}
	waiting, err := s.cfg.Redis.Waiting(ctx, k.Queue, history...)
	switch {
	case err != nil:
		return err
	case entry != "" && waiting > pauseAbove:
		s.cfg.Log.WarnContext(ctx, "no worker takes the triggers for this kind: paused", "kind", k.Name, "queue", k.Queue, "waiting", waiting)
		s.entries[k.Name] = ""
		return s.cron.Unregister(entry)
	case entry == "" && waiting < resumeBelow:
		s.cfg.Log.InfoContext(ctx, "triggers resumed", "kind", k.Name)
		return s.register(k)
	}
	return nil
}
