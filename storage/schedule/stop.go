package schedule

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/webhook"
)

// FiringError is a step of firing that failed after it had claimed schedules.
type FiringError struct {
	Schedules []uuid.UUID // those that were claimed, the one that was due first in front
	Err       error
	panicked  bool
}

// Certain reports whether the schedules themselves make it fail, so that it would fail
// again: not a lost connection, a deadlock or the end of a context.
func (e *FiringError) Certain() bool { return e.panicked || storage.IsData(e.Err) }

func (e *FiringError) Error() string {
	return fmt.Sprintf("fire %d schedules, the first %s: %s", len(e.Schedules), e.Schedules[0], e.Err)
}

// Unwrap returns the cause.
func (e *FiringError) Unwrap() error { return e.Err }

const (
	// As by claimDue, the rows are locked first whose deletion waits for schedules.
	lockToStop = `
select s.id from test_schedules s join teams t on t.id = s.team_id join organizations o on o.id = s.organization_id
where s.id = $1
for key share of t, o skip locked
for no key update of s skip locked`
	stopSchedule = `
update test_schedules s set state = 'ERRORED', next_run_at = null, last_error = $2, failures = s.failures + 1
from test_schedules former
where s.id = $1 and former.id = s.id and s.next_run_at <= $3 and s.cron is not null
returning s.organization_id, s.name, s.running_user_uuid, former.next_run_at as due`
	recordStop = `
insert into test_schedule_firings (id, organization_id, schedule_id, fire_at, trigger, outcome, reason, user_uuid)
values ($1, $2, $3, $4, 'CRON', 'FAILED', $5, $6)
on conflict (schedule_id, fire_at) where trigger <> 'MANUAL' do nothing`
)

// Stop sets a schedule that is due at a time, and whose firing fails, to ERRORED: it
// would fail again every second. Its time is recorded as FAILED. A schedule that is not
// due any more, or that another transaction has locked, stays as it is.
func Stop(ctx context.Context, tx *storage.Tx, id uuid.UUID, at time.Time) error {
	const reason = "internal error: the schedule could not be fired; the log has more under its id"
	var locked []uuid.UUID
	if err := tx.SelectContext(ctx, &locked, lockToStop, id); err != nil {
		return storage.Wrap(err, "lock schedule "+id.String())
	}
	if len(locked) == 0 {
		return nil // somebody changes or deletes it
	}
	var rows []struct {
		OrganizationID int64     `db:"organization_id"`
		Name           string    `db:"name"`
		RunningUser    uuid.UUID `db:"running_user_uuid"`
		Due            time.Time `db:"due"`
	}
	if err := tx.SelectContext(ctx, &rows, stopSchedule, id, reason, at); err != nil {
		return storage.Wrap(err, "stop schedule "+id.String())
	}
	for _, row := range rows {
		_, err := tx.ExecContext(ctx, recordStop, storage.NewID(), row.OrganizationID, id, row.Due, reason, row.RunningUser)
		if err != nil {
			return storage.Wrap(err, "record the stop of schedule "+id.String())
		}
		err = account.Audit(ctx, tx, account.Event{OrganizationID: row.OrganizationID, Type: account.ScheduleErrored,
			Actor: account.Actor{Name: scheduler}, Subject: "test schedule " + id.String(),
			Detail: map[string]any{"name": row.Name, "reason": reason}})
		if err != nil {
			return err
		}
		if err := webhook.Emit(ctx, tx, erroredEvent(row.OrganizationID, id, row.Name, reason)); err != nil {
			return err
		}
	}
	return nil
}
