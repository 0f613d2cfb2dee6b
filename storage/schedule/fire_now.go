package schedule

import (
	"context"
	"time"

	"github.com/slipway-qa/slipway/storage/authoring"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
)

// lockFiring locks as claimDue does, and waits.
const lockFiring = `
select ` + firingColumns + `, now() as now
from test_schedules s join teams t on t.id = s.team_id join organizations o on o.id = s.organization_id
where s.id = $1 and s.organization_id = $2
for key share of t, o
for no key update of s`

// FireNow runs a schedule by hand, whatever its state; it counts neither as a run
// nor as a failure. While a suite run of the schedule is open the fire is recorded
// as SKIPPED. When nothing could be started it gives the cause and writes nothing:
// ErrNoJobs, ErrRunningUser, ErrNoTunnel, or a *storage.InvalidError of settings or
// testSuiteIds for a schedule that has none. The runs are made for the running user.
func FireNow(ctx context.Context, tx *storage.Tx, w account.Writer, id uuid.UUID, requestID string) (*Fire, []StartedRun, error) {
	var row struct {
		firing
		Now time.Time `db:"now"`
	}
	if err := tx.GetContext(ctx, &row, lockFiring, id, w.OrganizationID); err != nil {
		return nil, nil, storage.Wrap(err, "test schedule "+id.String())
	}
	f := &row.firing
	if !w.May(f.TeamID) {
		return nil, nil, authoring.ErrForbidden
	}
	if f.Cron == "" {
		return nil, nil, storage.Invalid("settings", "the schedule has none: it cannot run")
	}
	if err := readFirings(ctx, tx, []*firing{f}, false); err != nil {
		return nil, nil, err
	}
	at := besideTheClock(row.Now)
	switch {
	case f.open != nil:
		f.fired = f.fire(at, TriggerManual, FireSkipped, f.stillOpen())
	case len(f.suites) == 0:
		return nil, nil, storage.Invalid("testSuiteIds", "the schedule has none: it cannot run")
	default:
		if err := f.chooseSuites(); err != nil {
			return nil, nil, err
		}
		f.fired = f.fire(at, TriggerManual, FireStarted, f.notStarted())
	}
	started, err := f.startNow(ctx, tx, requestID)
	if err != nil {
		return nil, nil, err
	}
	return f.fired, started, account.Audit(ctx, tx, account.Event{OrganizationID: w.OrganizationID, Type: account.ScheduleRun,
		Actor: w.Actor, Subject: "test schedule " + f.ID.String(),
		Detail: map[string]any{"name": f.Name, "fire": f.fired.ID, "outcome": f.fired.Outcome, "runs": len(started)}})
}

// besideTheClock moves a time off the whole second: those are the clock's, which
// fires nothing that has a record already.
func besideTheClock(at time.Time) time.Time {
	if at.Nanosecond() == 0 {
		return at.Add(time.Microsecond)
	}
	return at
}

// record writes the fire. Another fire of the same microsecond is moved away from.
func (f *firing) record(ctx context.Context, tx *storage.Tx) error {
	for {
		fires := newFires{}
		fires.add(f, f.fired)
		if err := fires.insert(ctx, tx); err != nil || fires.written(f.fired) != nil {
			return err
		}
		f.fired.At = besideTheClock(f.fired.At.Add(time.Microsecond))
	}
}

// startNow writes the fire with its suite runs.
func (f *firing) startNow(ctx context.Context, tx *storage.Tx, requestID string) ([]StartedRun, error) {
	if err := f.record(ctx, tx); err != nil {
		return nil, err
	}
	runs := newSuiteRuns{}
	started := runs.add(f)
	if len(started) == 0 {
		return nil, nil
	}
	if err := runs.insert(ctx, tx, requestID); err != nil {
		return nil, err
	}
	f.LastRunAt, f.LastFire = &f.fired.At, &f.fired.ID
	if f.State != ScheduleErrored {
		// Else it says why the clock fires no more, until somebody enables it.
		f.LastError = f.fired.Reason
	}
	if err := updateFired(ctx, tx, []*firing{f}); err != nil {
		return nil, err
	}
	return started, withSuiteRuns(ctx, tx, []*Fire{f.fired})
}
