package schedule

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/authoring"
)

// checkState refuses states that are not for people to choose.
func checkState(state State) error {
	if state == Enabled || state == Disabled {
		return nil
	}
	return storage.Invalid("stateName", "must be %s or %s", Enabled, Disabled)
}

const insertSchedule = `
insert into test_schedules (id, organization_id, team_id, creator_uuid, modifier_uuid, name, state, next_run_at,
	cron, timezone, running_user_uuid, start_at, end_at, max_runs, tunnel, build_name, environment)
values ($1, $2, $3, $4, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)`

// Create inserts a schedule. Errors of members are *storage.InvalidError
// with the path of the body (settings.cron, stateName); besides *MissingSuitesError,
// *ForeignSuitesError, ErrRunningUser, ErrOtherUser, ErrNoTunnel.
func Create(ctx context.Context, tx *storage.Tx, w account.Writer, n NewSchedule) (*Schedule, error) {
	p, err := n.plan()
	if err != nil {
		return nil, err
	}
	of, err := authoring.TeamFor(ctx, tx, w, n.Team)
	if err != nil {
		return nil, err
	}
	locked, err := lockSuitesByID(ctx, tx, w.OrganizationID, p.suites)
	if err != nil {
		return nil, err
	}
	if err := locked.check(w, p.suites, nil); err != nil {
		return nil, err
	}
	if err := p.count(ctx, tx); err != nil {
		return nil, err
	}
	if err := p.settle(n.State); err != nil {
		return nil, err
	}
	if err := p.check(ctx, tx, w, nil); err != nil {
		return nil, err
	}
	if p.name == "" {
		if p.name, err = nameOfToday(ctx, tx); err != nil {
			return nil, err
		}
	}
	id, err := uuid.NewV7()
	if err != nil {
		return nil, err
	}
	args := []any{id, w.OrganizationID, of.ID, w.UserUUID, p.name, p.state, p.next}
	if _, err := tx.ExecContext(ctx, insertSchedule, append(args, settingsRowOf(p.settings).values()...)...); err != nil {
		return nil, storage.Wrap(err, "create test schedule")
	}
	if err := addSuites(ctx, tx, id, p.suites); err != nil {
		return nil, err
	}
	err = auditSchedule(ctx, tx, w, account.ScheduleCreated, id,
		map[string]any{"name": p.name, "suites": len(p.suites), "state": p.state})
	if err != nil {
		return nil, err
	}
	return ByID(ctx, tx, w.OrganizationID, id)
}

// plan reads what the members say by themselves. It is enabled unless it cannot
// run.
func (n NewSchedule) plan() (p *plan, err error) {
	p = &plan{state: Enabled}
	if n.Name != "" {
		if p.name, err = storage.Name("name", n.Name, authoring.MaxName); err != nil {
			return nil, err
		}
	}
	if n.State != "" {
		if err := checkState(n.State); err != nil {
			return nil, err
		}
	}
	if p.suites, err = eachOnce(n.Suites); err != nil {
		return nil, err
	}
	if n.Settings != nil {
		p.settings, err = n.Settings.merge(nil)
	}
	return p, err
}

func nameOfToday(ctx context.Context, q storage.Querier) (string, error) {
	now, err := databaseTime(ctx, q)
	return "Schedule " + now.UTC().Format(time.DateOnly), err
}

func auditSchedule(ctx context.Context, tx *storage.Tx, w account.Writer, what account.AuditType, id uuid.UUID, detail any) error {
	return account.Audit(ctx, tx, account.Event{OrganizationID: w.OrganizationID, Type: what, Actor: w.Actor,
		Subject: "test schedule " + id.String(), Detail: detail})
}

const lockSchedule = `
select c.team_id, c.name, ` + settingsColumns + `, c.state, c.run_count, c.failures, c.last_error, c.next_run_at
from test_schedules c where c.organization_id = $1 and c.id = $2 for update`

type lockedSchedule struct {
	settingsRow
	TeamID    int64      `db:"team_id"`
	Name      string     `db:"name"`
	State     State      `db:"state"`
	RunCount  int        `db:"run_count"`
	Failures  int        `db:"failures"`
	LastError string     `db:"last_error"`
	NextRunAt *time.Time `db:"next_run_at"`
}

// planLockedBy locks a schedule that the writer may change. Its suites are not
// read: their locks come later.
func planLockedBy(ctx context.Context, tx *storage.Tx, w account.Writer, id uuid.UUID) (*plan, error) {
	var s lockedSchedule
	if err := tx.GetContext(ctx, &s, lockSchedule, w.OrganizationID, id); err != nil {
		return nil, storage.Wrap(err, "test schedule "+id.String())
	}
	if !w.May(s.TeamID) {
		return nil, authoring.ErrForbidden
	}
	return &plan{name: s.Name, settings: s.settings(), state: s.State, next: s.NextRunAt,
		runCount: s.RunCount, failures: s.Failures, lastError: s.LastError}, nil
}

// clean checks what the members say by themselves.
func (c *Change) clean() (err error) {
	if c.Name != nil {
		name, err := storage.Name("name", *c.Name, authoring.MaxName)
		if err != nil {
			return err
		}
		c.Name = &name
	}
	if c.State != nil {
		if err := checkState(*c.State); err != nil {
			return err
		}
	}
	if c.Suites != nil {
		suites, err := eachOnce(*c.Suites)
		if err != nil {
			return err
		}
		c.Suites = &suites
	}
	return nil
}

// lockSuites returns the suites that a locked schedule has, and locks those that it
// will have against being deleted.
func (c *Change) lockSuites(ctx context.Context, tx *storage.Tx, w account.Writer, id uuid.UUID) ([]uuid.UUID, error) {
	if c.Suites == nil {
		return suitesOf(ctx, tx, id, false)
	}
	locked, err := lockSuitesByID(ctx, tx, w.OrganizationID, *c.Suites)
	if err != nil {
		return nil, err
	}
	already, err := suitesOf(ctx, tx, id, true)
	if err != nil {
		return nil, err
	}
	return already, locked.check(w, *c.Suites, already)
}

// apply returns the plan after a change. The next time is computed again when the
// change is about times, or enables.
func (c *Change) apply(ctx context.Context, q storage.Querier, was *plan) (*plan, error) {
	p, asked := *was, State("")
	var err error
	if c.Name != nil {
		p.name = *c.Name
	}
	if c.Suites != nil {
		p.suites = *c.Suites
	}
	if c.State != nil {
		asked = *c.State
	}
	if c.Settings != nil {
		if p.settings, err = c.Settings.merge(was.settings); err != nil {
			return nil, err
		}
	}
	retimed := p.settings != nil && (was.settings == nil || !p.settings.sameTimes(was.settings))
	if retimed || asked == Enabled && was.state != Enabled {
		if err := p.count(ctx, q); err != nil {
			return nil, err
		}
	}
	if err := p.settle(asked); err != nil {
		return nil, err
	}
	if asked == Enabled && (was.state == Errored || was.failures > 0) {
		p.failures, p.lastError = 0, ""
	}
	return &p, nil
}

const updateSchedule = `
update test_schedules set name = $2, state = $3, next_run_at = $4, failures = $5, last_error = $6, modifier_uuid = $7,
	updated_at = now(), cron = $8, timezone = $9, running_user_uuid = $10, start_at = $11, end_at = $12, max_runs = $13,
	tunnel = $14, build_name = $15, environment = $16
where id = $1`

// Update changes a schedule; errors as of Create. Whoever changes a
// schedule must be of its team, and of the teams of the suites that it gets.
// A change of when it fires is computed from now on; any other leaves a time that is
// due. One that leaves an enabled schedule unable to run disables it, unless it asks
// for ENABLED. A change of nothing leaves the time of update and the modifier.
func Update(ctx context.Context, tx *storage.Tx, w account.Writer, id uuid.UUID, c Change) (*Schedule, error) {
	if err := c.clean(); err != nil {
		return nil, err
	}
	was, err := planLockedBy(ctx, tx, w, id)
	if err != nil {
		return nil, err
	}
	if was.suites, err = c.lockSuites(ctx, tx, w, id); err != nil {
		return nil, err
	}
	if len(was.suites) == 0 {
		was.state, was.next = Disabled, nil // as everybody reads it
	}
	p, err := c.apply(ctx, tx, was)
	if err != nil {
		return nil, err
	}
	if err := p.check(ctx, tx, w, was.settings); err != nil {
		return nil, err
	}
	changed := p.differences(was)
	if len(changed) == 0 {
		return ByID(ctx, tx, w.OrganizationID, id)
	}
	args := []any{id, p.name, p.state, p.next, p.failures, p.lastError, w.UserUUID}
	if _, err := tx.ExecContext(ctx, updateSchedule, append(args, settingsRowOf(p.settings).values()...)...); err != nil {
		return nil, storage.Wrap(err, "update test schedule")
	}
	if !slices.Equal(p.suites, was.suites) {
		if err := replaceSuites(ctx, tx, id, p.suites); err != nil {
			return nil, err
		}
	}
	err = auditSchedule(ctx, tx, w, account.ScheduleUpdated, id,
		map[string]any{"name": p.name, "changed": changed, "state": p.state})
	if err != nil {
		return nil, err
	}
	return ByID(ctx, tx, w.OrganizationID, id)
}

// Delete removes a schedule; runs that it started go on.
func Delete(ctx context.Context, tx *storage.Tx, w account.Writer, id uuid.UUID) error {
	p, err := planLockedBy(ctx, tx, w, id)
	if err != nil {
		return err
	}
	if _, err := suitesOf(ctx, tx, id, true); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, `delete from test_schedules where id = $1`, id); err != nil {
		return storage.Wrap(err, "delete test schedule "+id.String())
	}
	return auditSchedule(ctx, tx, w, account.ScheduleDeleted, id, map[string]any{"name": p.name})
}
