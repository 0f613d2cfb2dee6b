// Package schedule fires the schedules that are due.
//
// A tick is triggered every second by every scheduler process, but it becomes a task
// only when a schedule is due that nobody fires yet (Pending). It then works in steps
// of some hundred schedules, each one transaction: the schedules are claimed with
// SKIP LOCKED, moved to their next time, and their firings, suite runs and the
// tasks of these are written. So several ticks share what is due, none waits for
// another, and a worker that dies in the middle of a step leaves the step undone for
// the next tick.
//
// Nothing fires twice: a step moves the schedule's next time in the transaction that
// fires it, and a firing of the clock is unique for a schedule and a time. What the process
// was too late for is fired or skipped as package schedule of the store says.
//
// Time is the database's, so that workers whose clocks differ agree on what is due.
package schedule

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/storage/quota"
	"github.com/slipway-qa/slipway/storage/schedule"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/worker"
)

const (
	// stepLimit schedules are fired by one transaction: enough that a statement's
	// own cost does not count, and few enough that the step is over in some tenths
	// of a second, for which heartbeats and changes of these schedules wait.
	stepLimit = 500
	// burstDelay puts the work of a full step's suite runs off until the rest of what
	// is due has fired: thousands of them would take the machine from it, and each of
	// them waits for its browsers for longer than that.
	burstDelay = 2 * time.Second
	// maxFailures is how many schedules a tick skips because of errors: with more
	// it is not the schedules.
	maxFailures = 10
	// pendingGrace is how long Pending waits for a schedule that is about to be due. The
	// triggers come at full seconds by the clocks of the schedulers, schedules are due
	// at those of the database: without it, a scheduler whose clock is a little
	// ahead would fire everything a second late.
	pendingGrace = 250 * time.Millisecond
	// workTime ends a tick between two steps, long before its timeout: under a load
	// that never ends the next tick goes on.
	workTime = 20 * time.Second
)

// Observer counts firings, for metrics.
type Observer interface {
	// ScheduleFired counts a firing; late is how long after the time that was
	// due it was written, zero for those skipped.
	ScheduleFired(trigger schedule.FiringTrigger, outcome schedule.FiringOutcome, late time.Duration)
}

// Tick is the handler of schedule:tick. The task's result is a TickResult.
type Tick struct {
	DB       *storage.DB
	Quotas   *quota.Quotas // nil: nothing bounds the runs of a day
	Observer Observer      // may be nil
	Log      *slog.Logger
	// Started is when the process started: a time that was due before and fires late is
	// a catch-up. Zero: unknown.
	Started time.Time
}

// TickResult is what a tick did.
type TickResult struct {
	Started int `json:"started"` // suite runs
	Firings int `json:"firings"` // of every outcome
	Skipped int `json:"skipped"`
	Failed  int `json:"failed"`
	// Postponed schedules stay due: another transaction has locked a suite of theirs.
	Postponed int `json:"postponed"`
}

// Pending reports whether a schedule is due that nobody fires yet; it waits for one
// that is due within a moment. See worker.Prober.
func (h *Tick) Pending(ctx context.Context) (bool, error) {
	_, in, some, err := schedule.NextDue(ctx, h.DB)
	if err != nil || !some || in > pendingGrace {
		return false, err
	}
	if in <= 0 {
		return true, nil
	}
	moment := time.NewTimer(in)
	defer moment.Stop()
	select {
	case <-ctx.Done():
		return false, ctx.Err()
	case <-moment.C:
		return true, nil
	}
}

// Handle fires until nothing is due.
func (h *Tick) Handle(ctx context.Context, claim *worker.Claim) error {
	var result TickResult
	r := round{DueStep: schedule.DueStep{Limit: stepLimit, Quotas: h.Quotas}}
	for end := time.Now().Add(workTime); time.Now().Before(end); {
		asked := time.Now()
		now, in, some, err := schedule.NextDue(ctx, h.DB)
		if err != nil {
			return err
		}
		if !some || in > 0 {
			break
		}
		r.At, r.Started = now, h.started(now)
		fired, err := fire(ctx, claim, r.DueStep)
		if err != nil {
			if err := h.narrow(ctx, claim, &r, err); err != nil {
				return err
			}
			continue
		}
		result.add(fired)
		h.report(ctx, fired, now.Add(time.Since(asked)))
		if fired.Claimed == 0 {
			break // somebody else has taken what was due
		}
		r.Limit, r.Except = min(2*r.Limit, stepLimit), append(r.Except, fired.Postponed...)
		result.Postponed += len(fired.Postponed)
	}
	if result.Postponed > 0 {
		h.Log.WarnContext(ctx, "schedules postponed: another transaction has locked their suites", "schedules", result.Postponed)
	}
	return claim.Finish(ctx, result, nil)
}

// started is when the process started by a clock that is at now, the database's.
func (h *Tick) started(now time.Time) time.Time {
	if h.Started.IsZero() {
		return time.Time{}
	}
	return now.Add(-time.Since(h.Started))
}

// fire makes one step in one transaction.
func fire(ctx context.Context, claim *worker.Claim, step schedule.DueStep) (*schedule.DueResult, error) {
	var fired *schedule.DueResult
	err := claim.Checkpoint(ctx, func(tx *storage.Tx) error {
		var err error
		if fired, err = schedule.FireDue(ctx, tx, step); err != nil {
			return err
		}
		list := make([]*ledger.NewTask, len(fired.Started))
		for i, run := range fired.Started {
			list[i] = tasks.NewSuiteRun(run.OrganizationID, "", run.ID)
			list[i].Priority = ledger.Scheduled
			if fired.Claimed == stepLimit {
				list[i].Delay = burstDelay
			}
		}
		_, err = ledger.InsertAll(ctx, tx, list)
		return err
	})
	return fired, err
}

// round is what a tick does next.
type round struct {
	schedule.DueStep
	failures int // schedules that failed alone
}

// narrow deals with a step that failed on its schedules: the next one takes half as many,
// or does not wait for suites where that was it. A schedule that fails alone is stopped
// for good when it is certain to fail again, or skipped in this tick. Other
// failures stay what they are.
func (h *Tick) narrow(ctx context.Context, claim *worker.Claim, r *round, err error) error {
	var failed *schedule.FiringError
	if !errors.As(err, &failed) || ctx.Err() != nil {
		return err
	}
	switch n := len(failed.Schedules); {
	case storage.IsLocked(err) && !r.SkipLocked:
		r.SkipLocked = true
		return nil
	case n > 1:
		r.Limit = n / 2
		return nil
	}
	if r.failures++; r.failures > maxFailures {
		return err
	}
	id := failed.Schedules[0]
	if failed.Certain() {
		h.Log.ErrorContext(ctx, "schedule stopped: it cannot be fired", "schedule", id, "error", failed.Err)
		err = claim.Checkpoint(ctx, func(tx *storage.Tx) error { return schedule.Stop(ctx, tx, id, r.At) })
		if err == nil || errors.Is(err, storage.ErrStale) {
			return err
		}
	}
	h.Log.WarnContext(ctx, "schedule skipped", "schedule", id, "error", err)
	r.Except = append(r.Except, id)
	return nil
}

func (r *TickResult) add(fired *schedule.DueResult) {
	r.Started += len(fired.Started)
	r.Firings += len(fired.Firings)
	for _, f := range fired.Firings {
		switch f.Outcome {
		case schedule.FiringSkipped:
			r.Skipped++
		case schedule.FiringFailed:
			r.Failed++
		}
	}
}

// report tells metrics and the log what a step did that was committed at a time.
func (h *Tick) report(ctx context.Context, fired *schedule.DueResult, at time.Time) {
	if h.Observer != nil {
		for _, f := range fired.Firings {
			var late time.Duration
			if f.Outcome != schedule.FiringSkipped {
				late = max(at.Sub(f.At), 0)
			}
			h.Observer.ScheduleFired(f.Trigger, f.Outcome, late)
		}
	}
	if fired.Errored > 0 {
		h.Log.WarnContext(ctx, "schedules stopped: they started nothing again and again", "schedules", fired.Errored)
	}
	if fired.Disabled > 0 {
		h.Log.InfoContext(ctx, "schedules ended", "schedules", fired.Disabled)
	}
}

// Overdue returns how long the most overdue schedule has been due, zero when none is: for
// metrics.
func Overdue(db *storage.DB) func(context.Context) (time.Duration, error) {
	return func(ctx context.Context) (time.Duration, error) { return schedule.Overdue(ctx, db) }
}
