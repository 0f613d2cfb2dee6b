package schedule

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/quota"
)

// FireNow runs a schedule by hand, whatever its state; it counts neither as a run
// nor as a failure. While a suite run of the schedule is open the firing is recorded
// as SKIPPED. When nothing can be started it returns the cause and writes nothing:
// ErrNoJobs, ErrRunningUser, ErrNoTunnel, ErrNoEnvironment, or a *storage.InvalidError of settings or
// testSuiteIds for a schedule that has none. The runs are made for the running user.
func FireNow(ctx context.Context, tx *storage.Tx, w account.Writer, id uuid.UUID, requestID string, quotas *quota.Quotas) (*Firing,
	[]StartedRun, error) {
	var row struct {
		claimedSchedule
		Now time.Time `db:"now"`
	}
	if err := tx.GetContext(ctx, &row, claimNow, id, w.OrganizationID); err != nil {
		return nil, nil, storage.Wrap(err, "test schedule "+id.String())
	}
	s := &row.claimedSchedule
	if !w.May(s.TeamID) {
		return nil, nil, authoring.ErrForbidden
	}
	if s.Cron == "" {
		return nil, nil, storage.Invalid("settings", "the schedule has none: it cannot run")
	}
	day, err := quotas.Begin(ctx, tx, quota.RunsPerDay, s.OrganizationID)
	if err != nil {
		return nil, nil, err
	}
	if err := readClaimed(ctx, tx, []*claimedSchedule{s}, false); err != nil {
		return nil, nil, err
	}
	switch {
	case s.openRun != nil:
		s.firing = s.newFiring(row.Now, TriggerManual, FiringSkipped, s.runIsOpen())
	case len(s.suites) == 0:
		return nil, nil, storage.Invalid("testSuiteIds", "the schedule has none: it cannot run")
	default:
		if err := s.chooseSuites(); err != nil {
			return nil, nil, err
		}
		if err := day.Take(s.OrganizationID, s.startingRuns()); err != nil {
			return nil, nil, err
		}
		s.firing = s.newFiring(row.Now, TriggerManual, FiringStarted, s.notStarted())
	}
	started, err := s.startNow(ctx, tx, requestID)
	if err != nil {
		return nil, nil, err
	}
	if err := day.Store(ctx, tx); err != nil {
		return nil, nil, err
	}
	return s.firing, started, account.Audit(ctx, tx, account.Event{OrganizationID: w.OrganizationID, Type: account.ScheduleRun,
		Actor: w.Actor, Subject: "test schedule " + s.ID.String(),
		Detail: map[string]any{"name": s.Name, "firing": s.firing.ID, "outcome": s.firing.Outcome, "runs": len(started)}})
}

// startNow writes the firing with its suite runs.
func (s *claimedSchedule) startNow(ctx context.Context, tx *storage.Tx, requestID string) ([]StartedRun, error) {
	firings := newFirings{}
	firings.add(s, s.firing)
	if err := firings.insert(ctx, tx); err != nil {
		return nil, err
	}
	s.firing = firings.inserted(s.firing)
	runs := newSuiteRuns{}
	started := runs.add(s)
	if len(started) == 0 {
		return nil, nil
	}
	if err := runs.insert(ctx, tx, requestID); err != nil {
		return nil, err
	}
	s.LastRunAt, s.LastFiring = &s.firing.At, &s.firing.ID
	if s.State != Errored {
		// Else it says why the clock fires no more, until somebody enables it.
		s.LastError = s.firing.Reason
	}
	if err := updateFired(ctx, tx, []*claimedSchedule{s}); err != nil {
		return nil, err
	}
	return started, withSuiteRuns(ctx, tx, []*Firing{s.firing})
}
