package schedule

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/quota"
	"github.com/slipway-qa/slipway/storage/webhook"
)

// FireDue fires schedules that are due. It claims them with SKIP LOCKED, so any number
// of callers may work beside each other, and writes next_run_at, the firings and the
// suite runs.
//
// The latest time that is due fires when it is younger than a minute, or than both the
// interval to the next one and an hour; what was missed is recorded as skipped. A
// schedule of which a suite run is still open is skipped. One that started nothing
// MaxFailures times in a row becomes ERRORED; one that has no further time
// (maxRuns, endDate) or no suite DISABLED.
//
// When the step fails after the claim the error is a *FiringError. So that one schedule
// does not keep the others from firing, the caller then tries fewer at a time, or with
// SkipLocked, and stops one that fails alone by Stop.
func FireDue(ctx context.Context, tx *storage.Tx, step DueStep) (*DueResult, error) {
	var list []*claimedSchedule
	if err := tx.SelectContext(ctx, &list, claimDue, step.At, step.Limit, storage.UUIDs(step.Except)); err != nil {
		return nil, storage.Wrap(err, "claim schedules that are due")
	}
	result := &DueResult{Claimed: len(list)}
	if len(list) == 0 {
		return result, nil
	}
	failed := &FiringError{}
	if failed.Err = fireClaimed(ctx, tx, step, list, result, &failed.panicked); failed.Err == nil {
		return result, nil
	}
	for _, s := range list {
		failed.Schedules = append(failed.Schedules, s.ID)
	}
	return nil, failed
}

// The wait for a lock is bounded: while a step waits for one suite, hundreds of
// schedules of others wait with it.
const (
	setLockTimeout   = `set local lock_timeout = '500ms'`
	resetLockTimeout = `set local lock_timeout to default`
)

// fireClaimed fires schedules whose rows are locked. A panic is an error of theirs.
func fireClaimed(ctx context.Context, tx *storage.Tx, step DueStep, list []*claimedSchedule, result *DueResult,
	panicked *bool) (err error) {
	defer func() {
		if v := recover(); v != nil {
			*panicked, err = true, fmt.Errorf("panic: %v\n%s", v, debug.Stack())
		}
	}()
	if _, err := tx.ExecContext(ctx, setLockTimeout); err != nil {
		return storage.Wrap(err, "bound the wait for locks")
	}
	day, err := step.Quotas.Begin(ctx, tx, quota.RunsPerDay, organizationsOf(list)...)
	if err != nil {
		return err
	}
	if err := readClaimed(ctx, tx, list, step.SkipLocked); err != nil {
		return err
	}
	list = withinBounds(list, result)
	if err := recordFirings(ctx, tx, list, step, day, result); err != nil {
		return err
	}
	if err := day.Store(ctx, tx); err != nil {
		return err
	}
	runs := newSuiteRuns{}
	for _, s := range list {
		if s.firing != nil {
			result.Started = append(result.Started, runs.add(s)...)
		}
	}
	if err := runs.insert(ctx, tx, ""); err != nil {
		return err
	}
	if err := updateFired(ctx, tx, list); err != nil {
		return err
	}
	if err := auditEnds(ctx, tx, list, result); err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, resetLockTimeout)
	return storage.Wrap(err, "bound the wait for locks")
}

// maxStepSuites bounds the suite runs of a step: a schedule may have many.
const maxStepSuites = 2000

// withinBounds returns the schedules that the step fires. It leaves out those of which
// another transaction has locked a suite, and those that would make the step too large:
// they stay due.
func withinBounds(list []*claimedSchedule, result *DueResult) []*claimedSchedule {
	var taken []*claimedSchedule
	suites := 0
	for _, s := range list {
		switch suites += len(s.suites); {
		case s.suiteLocked:
			suites -= len(s.suites)
			result.Postponed = append(result.Postponed, s.ID)
		case suites > maxStepSuites && len(taken) > 0:
			return taken
		default:
			taken = append(taken, s)
		}
	}
	return taken
}

// recordFirings decides what becomes of each schedule and writes that as firings. What
// had been fired before is taken back: its schedule only moves to its next time.
func recordFirings(ctx context.Context, tx *storage.Tx, list []*claimedSchedule, step DueStep, day *quota.Allowance,
	result *DueResult) error {
	firings, loaded := newFirings{}, zones{}
	for _, s := range list {
		s.decide(step, loaded)
		s.take(day)
		firings.add(s, s.missed)
		firings.add(s, s.firing)
	}
	if err := firings.insert(ctx, tx); err != nil {
		return err
	}
	for _, s := range list {
		s.missed, s.firing = firings.inserted(s.missed), firings.inserted(s.firing)
		s.settle(step.At)
		for _, f := range []*Firing{s.missed, s.firing} {
			if f != nil {
				result.Firings = append(result.Firings, FiringSummary{At: f.At, Trigger: f.Trigger, Outcome: f.Outcome})
			}
		}
		if s.coalesced != nil {
			result.Firings = append(result.Firings, FiringSummary{At: *s.coalesced, Trigger: TriggerCron, Outcome: FiringSkipped})
		}
	}
	return coalesceSkipped(ctx, tx, list)
}

// settle sets what the schedule is after this time.
func (s *claimedSchedule) settle(at time.Time) {
	if s.firing != nil {
		switch s.firing.Outcome {
		case FiringStarted:
			s.RunCount, s.Failures = s.RunCount+1, 0
			s.LastRunAt, s.LastFiring, s.LastError = &at, &s.firing.ID, s.firing.Reason
		case FiringFailed:
			s.Failures, s.LastError = s.Failures+1, s.firing.Reason
		}
	}
	if s.State == Enabled {
		switch {
		case s.Failures >= MaxFailures:
			s.State, s.endReason = Errored, s.LastError
		case s.MaxRuns != nil && s.RunCount >= *s.MaxRuns:
			s.State, s.endReason = Disabled, "it has run maxRuns times"
		case s.NextRunAt == nil:
			s.State, s.endReason = Disabled, "it has no further time"
		}
	}
	if s.State != Enabled {
		s.NextRunAt = nil
	}
}

// updateFiredRows has a condition on the ids, which leads to the rows by the index, however
// many schedules there are.
const updateFiredRows = `
update test_schedules s set state = n.state, next_run_at = n.next_run_at, run_count = n.run_count,
	failures = n.failures, last_run_at = n.last_run_at, last_error = n.last_error, last_firing_id = n.last_firing_id
from unnest($1::uuid[], $2::text[], $3::timestamptz[], $4::bigint[], $5::int[], $6::timestamptz[], $7::text[], $8::uuid[])
	as n(id, state, next_run_at, run_count, failures, last_run_at, last_error, last_firing_id)
where s.id = any($1::uuid[]) and s.id = n.id`

func updateFired(ctx context.Context, tx *storage.Tx, list []*claimedSchedule) error {
	if len(list) == 0 {
		return nil
	}
	var ids, states, errors []string
	var nextRuns, lastRuns, lastFirings []*string
	var counts, failures []int64
	for _, s := range list {
		ids, states, errors = append(ids, s.ID.String()), append(states, string(s.State)), append(errors, s.LastError)
		counts, failures = append(counts, int64(s.RunCount)), append(failures, int64(s.Failures))
		nextRuns, lastRuns = append(nextRuns, instant(s.NextRunAt)), append(lastRuns, instant(s.LastRunAt))
		var last *string
		if s.LastFiring != nil {
			id := s.LastFiring.String()
			last = &id
		}
		lastFirings = append(lastFirings, last)
	}
	_, err := tx.ExecContext(ctx, updateFiredRows, pq.Array(ids), pq.Array(states), pq.Array(nextRuns), pq.Array(counts),
		pq.Array(failures), pq.Array(lastRuns), pq.Array(errors), pq.Array(lastFirings))
	return storage.Wrap(err, "update schedules that were fired")
}

// scheduler is who ends schedules, in the audit log.
const scheduler = "scheduler"

// auditEnds counts the schedules that ended, and writes that they did. That is once
// in the life of most.
func auditEnds(ctx context.Context, tx *storage.Tx, list []*claimedSchedule, result *DueResult) error {
	var ends []account.Event
	var errored []webhook.Event
	for _, s := range list {
		what := account.ScheduleEnded
		switch s.State {
		case Enabled:
			continue
		case Errored:
			what = account.ScheduleErrored
			result.Errored++
			errored = append(errored, erroredEvent(s.OrganizationID, s.ID, s.Name, s.endReason))
		default:
			result.Disabled++
		}
		ends = append(ends, account.Event{OrganizationID: s.OrganizationID, Type: what, Actor: account.Actor{Name: scheduler},
			Subject: "test schedule " + s.ID.String(), Detail: map[string]any{"name": s.Name, "reason": s.endReason, "runs": s.RunCount}})
	}
	if err := account.Audit(ctx, tx, ends...); err != nil {
		return err
	}
	return webhook.Emit(ctx, tx, errored...)
}
