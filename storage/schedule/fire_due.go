package schedule

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
)

// firingColumns are the members of a firing. A schedule without settings has no
// cron and nobody to run for.
const firingColumns = `s.id, s.organization_id, s.team_id, s.name, coalesce(s.cron, '') as cron,
	coalesce(s.timezone, '') as timezone,
	coalesce(s.running_user_uuid, '00000000-0000-0000-0000-000000000000') as running_user_uuid,
	s.start_at, s.end_at, s.max_runs, s.tunnel, s.build_name, s.state, s.run_count, s.failures,
	s.last_run_at, s.last_error, s.last_fire_id, s.next_run_at`

// firing is a schedule whose row is locked in order to fire it.
type firing struct {
	ID             uuid.UUID     `db:"id"`
	OrganizationID int64         `db:"organization_id"`
	TeamID         int64         `db:"team_id"`
	Name           string        `db:"name"`
	Cron           string        `db:"cron"`
	Timezone       string        `db:"timezone"`
	RunningUser    uuid.UUID     `db:"running_user_uuid"`
	StartAt        *time.Time    `db:"start_at"`
	EndAt          *time.Time    `db:"end_at"`
	MaxRuns        *int          `db:"max_runs"`
	Tunnel         string        `db:"tunnel"`
	BuildName      string        `db:"build_name"`
	State          ScheduleState `db:"state"`
	RunCount       int           `db:"run_count"`
	Failures       int           `db:"failures"`
	LastRunAt      *time.Time    `db:"last_run_at"`
	LastError      string        `db:"last_error"`
	LastFire       *uuid.UUID    `db:"last_fire_id"`
	NextRunAt      *time.Time    `db:"next_run_at"`

	// What decides besides, as it is while the row is locked.
	suites           []firingSuite // in the order of the schedule; they are locked
	noUser, noTunnel bool          // that the settings name
	open             *uuid.UUID    // a suite run of the newest fire that has not ended
	skipped          *skipped      // the newest record, where it is of a skipped time
	joins            *time.Time    // a time that this record stands for as well
	fired            *Fire         // what is recorded of this time, nil: nothing fires
	missed           *Fire         // the times before it, nil: none
	starts           []firingSuite // of fired
	held             bool          // By somebody else: one of the suites
	endReason        string        // of a schedule that ends now, for the audit log
}

// Whoever deletes a team or an organization holds its row and then waits for the
// schedules. With those rows held first a deletion waits before it has anything;
// where it was the first, its schedules are left to it.
const claimDue = `
select ` + firingColumns + `
from test_schedules s join teams t on t.id = s.team_id join organizations o on o.id = s.organization_id
where s.next_run_at <= $1 and s.id <> all($3::uuid[])
order by s.next_run_at limit $2
for key share of t, o skip locked
for no key update of s skip locked`

// FireDue fires schedules that are due. It claims them with SKIP LOCKED, so any number
// of callers may work beside each other, and writes next_run_at, the fire records and
// the suite runs.
//
// The latest time that is due fires when it is younger than a minute, or than the
// interval to the next one and an hour; what was missed is recorded as skipped. A
// schedule of which a suite run is still open is skipped. One that started nothing
// MaxFailures times in a row becomes ERRORED; one that has no further time
// (maxRuns, endDate) or no suite DISABLED.
//
// When the step fails after the claim the error is a *FireError. So that one schedule
// does not keep the others from firing, the caller then tries fewer at a time, or
// without patience, and stops one that fails alone by StopSchedule.
func FireDue(ctx context.Context, tx *storage.Tx, step DueStep) (*Fired, error) {
	var list []*firing
	if err := tx.SelectContext(ctx, &list, claimDue, step.At, step.Limit, storage.UUIDs(step.Except)); err != nil {
		return nil, storage.Wrap(err, "claim schedules that are due")
	}
	done := &Fired{Claimed: len(list)}
	if len(list) == 0 {
		return done, nil
	}
	failed := &FireError{}
	if failed.Err = fireClaimed(ctx, tx, step, list, done, &failed.panicked); failed.Err == nil {
		return done, nil
	}
	for _, f := range list {
		failed.Schedules = append(failed.Schedules, f.ID)
	}
	return nil, failed
}

// patience bounds the wait for a lock: while a step waits for one suite, hundreds of
// schedules of others wait with it.
const (
	patience = `set local lock_timeout = '500ms'`
	noHurry  = `set local lock_timeout to default`
)

// fireClaimed fires schedules whose rows are locked. A panic is an error of theirs.
func fireClaimed(ctx context.Context, tx *storage.Tx, step DueStep, list []*firing, done *Fired, panicked *bool) (err error) {
	defer func() {
		if v := recover(); v != nil {
			*panicked, err = true, fmt.Errorf("panic: %v\n%s", v, debug.Stack())
		}
	}()
	if _, err := tx.ExecContext(ctx, patience); err != nil {
		return storage.Wrap(err, "set the patience with locks")
	}
	if err := readFirings(ctx, tx, list, step.Impatient); err != nil {
		return err
	}
	at := step.At
	list = bounded(list, done)
	fires, loaded := newFires{}, zones{}
	for _, f := range list {
		f.decide(at, loaded)
		fires.add(f, f.missed)
		fires.add(f, f.fired)
	}
	if err := fires.insert(ctx, tx); err != nil {
		return err
	}
	runs := newSuiteRuns{}
	for _, f := range list {
		f.missed, f.fired = fires.written(f.missed), fires.written(f.fired)
		f.settle(at)
		for _, fire := range []*Fire{f.missed, f.fired} {
			if fire != nil {
				done.Fires = append(done.Fires, FiredTime{At: fire.At, Trigger: fire.Trigger, Outcome: fire.Outcome})
			}
		}
		if f.fired != nil {
			done.Started = append(done.Started, runs.add(f)...)
		}
		if f.joins != nil {
			done.Fires = append(done.Fires, FiredTime{At: *f.joins, Trigger: TriggerCron, Outcome: FireSkipped})
		}
	}
	if err := joinSkipped(ctx, tx, list); err != nil {
		return err
	}
	if err := runs.insert(ctx, tx, ""); err != nil {
		return err
	}
	if err := updateFired(ctx, tx, list); err != nil {
		return err
	}
	if err := auditEnds(ctx, tx, list, done); err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, noHurry)
	return storage.Wrap(err, "set the patience with locks")
}

// maxStepSuites bounds the suite runs of a step: a schedule may have many.
const maxStepSuites = 2000

// bounded leaves schedules out that are held, and those that would make the step too
// large: they stay due.
func bounded(list []*firing, done *Fired) []*firing {
	var taken []*firing
	suites := 0
	for _, f := range list {
		switch suites += len(f.suites); {
		case f.held:
			suites -= len(f.suites)
			done.Passed = append(done.Passed, f.ID)
		case suites > maxStepSuites && len(taken) > 0:
			return taken
		default:
			taken = append(taken, f)
		}
	}
	return taken
}

// settle makes the schedule what it is after this time. What had been fired before
// counts for nothing.
func (f *firing) settle(at time.Time) {
	if f.fired != nil {
		switch f.fired.Outcome {
		case FireStarted:
			f.RunCount, f.Failures = f.RunCount+1, 0
			f.LastRunAt, f.LastFire, f.LastError = &at, &f.fired.ID, f.fired.Reason
		case FireFailed:
			f.Failures, f.LastError = f.Failures+1, f.fired.Reason
		}
	}
	if f.State == ScheduleEnabled {
		switch {
		case f.Failures >= MaxFailures:
			f.State, f.endReason = ScheduleErrored, f.LastError
		case f.MaxRuns != nil && f.RunCount >= *f.MaxRuns:
			f.State, f.endReason = ScheduleDisabled, "it has run maxRuns times"
		case f.NextRunAt == nil:
			f.State, f.endReason = ScheduleDisabled, "it has no further time"
		}
	}
	if f.State != ScheduleEnabled {
		f.NextRunAt = nil
	}
}

// The condition on the ids leads to the rows by the index, however many schedules
// there are.
const updateFiredRows = `
update test_schedules s set state = n.state, next_run_at = n.next_run_at, run_count = n.run_count,
	failures = n.failures, last_run_at = n.last_run_at, last_error = n.last_error, last_fire_id = n.last_fire_id
from unnest($1::uuid[], $2::text[], $3::timestamptz[], $4::bigint[], $5::int[], $6::timestamptz[], $7::text[], $8::uuid[])
	as n(id, state, next_run_at, run_count, failures, last_run_at, last_error, last_fire_id)
where s.id = any($1::uuid[]) and s.id = n.id`

func updateFired(ctx context.Context, tx *storage.Tx, list []*firing) error {
	var ids, states, errors []string
	var next, last, fires []*string
	var counts, failures []int64
	for _, f := range list {
		ids, states, errors = append(ids, f.ID.String()), append(states, string(f.State)), append(errors, f.LastError)
		counts, failures = append(counts, int64(f.RunCount)), append(failures, int64(f.Failures))
		next, last = append(next, instant(f.NextRunAt)), append(last, instant(f.LastRunAt))
		var fire *string
		if f.LastFire != nil {
			id := f.LastFire.String()
			fire = &id
		}
		fires = append(fires, fire)
	}
	if len(list) == 0 {
		return nil
	}
	_, err := tx.ExecContext(ctx, updateFiredRows, pq.Array(ids), pq.Array(states), pq.Array(next), pq.Array(counts),
		pq.Array(failures), pq.Array(last), pq.Array(errors), pq.Array(fires))
	return storage.Wrap(err, "update schedules that were fired")
}

// instant writes a time for an array of the database, nil for null.
func instant(at *time.Time) *string {
	if at == nil {
		return nil
	}
	text := at.UTC().Format(time.RFC3339Nano)
	return &text
}

// scheduler is who ends schedules, in the audit log.
const scheduler = "scheduler"

// auditEnds counts the schedules that ended, and writes that they did. That is once
// in the life of most.
func auditEnds(ctx context.Context, tx *storage.Tx, list []*firing, done *Fired) error {
	for _, f := range list {
		what := account.ScheduleEnded
		switch f.State {
		case ScheduleEnabled:
			continue
		case ScheduleErrored:
			what = account.ScheduleErrored
			done.Errored++
		default:
			done.Disabled++
		}
		err := account.Audit(ctx, tx, account.Event{OrganizationID: f.OrganizationID, Type: what, Actor: account.Actor{Name: scheduler},
			Subject: "test schedule " + f.ID.String(), Detail: map[string]any{"name": f.Name, "reason": f.endReason, "runs": f.RunCount}})
		if err != nil {
			return err
		}
	}
	return nil
}
