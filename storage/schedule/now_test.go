package schedule_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/authoring"
	. "github.com/slipway-qa/slipway/storage/schedule"
)

func (w *room) fireNow(by account.Writer, id uuid.UUID) (fire *Firing, started []StartedRun, err error) {
	err = w.Do(func(ctx context.Context, tx *storage.Tx) error {
		fire, started, err = FireNow(ctx, tx, by, id, "request-7", nil)
		return err
	})
	return fire, started, err
}

func TestFireNow(t *testing.T) {
	t.Parallel()
	w := open(t)
	w.office()
	suite, empty := w.smoke(2), w.NewSuite(w.Org.Member.Writer, "empty").ID
	id := w.plan(planned{suites: []uuid.UUID{suite, empty}, tunnel: "office", build: "by hand", user: w.Org.Neighbor.UUID,
		failures: 2, runs: 3})
	before := w.stored(id)
	fire, started, err := w.fireNow(w.Org.Member.Writer, id)
	require.NoError(t, err)
	require.Equal(t, []any{TriggerManual, FiringStarted, w.Org.Neighbor.UUID, 1}, []any{fire.Trigger, fire.Outcome, fire.User, len(started)})
	require.WithinDuration(t, time.Now(), fire.At, time.Minute)
	require.Contains(t, fire.Reason, `not started: "empty"`)
	require.Equal(t, []Firing{*fire}, w.firings(id))
	run := fire.SuiteRuns[0]
	require.Equal(t, []any{started[0].ID, suite, "by hand", 2, w.Org.Neighbor.UUID},
		[]any{run.ID, run.SuiteID, run.BuildName, run.RunCount, run.UserUUID})
	require.Equal(t, 1, w.Count(`select count(*) from suite_runs where request_id = 'request-7' and tunnel = 'office'`))
	require.Equal(t, 1, w.Count(`select run_count from test_suites where id = $1`, suite))
	after := w.stored(id)
	require.True(t, after.LastRun.Equal(fire.At))
	require.Equal(t, []any{before.State, before.Next, 3, 2, fire.Reason, fire.ID},
		[]any{after.State, after.Next, after.Runs, after.Failures, after.Error, *after.LastFiring})

	// While it runs neither people nor the clock start it again.
	skipped, none, err := w.fireNow(w.Org.Member.Writer, id)
	require.NoError(t, err)
	require.Equal(t, []any{FiringSkipped, 0}, []any{skipped.Outcome, len(none)})
	require.Contains(t, skipped.Reason, run.ID.String())
	require.Equal(t, after, w.stored(id))
	require.Empty(t, w.fire(noon).Started)
	require.Equal(t, 2, w.Audited(account.ScheduleRun))
	w.endAll()
	require.Len(t, w.fire(noon.AddDate(0, 0, 1)).Started, 1)
	require.Equal(t, 4, w.stored(id).Runs)
	w.endAll()

	// Whatever its state; what made it ERRORED is not forgotten.
	w.Exec(`update test_schedules set state = 'ERRORED', next_run_at = null, failures = 5, last_error = 'five times nothing'`)
	fire, started, err = w.fireNow(w.Org.Owner.Writer, id)
	require.NoError(t, err)
	require.Len(t, started, 1)
	errored := w.stored(id)
	require.Equal(t, []any{Errored, 5, "five times nothing", fire.ID},
		[]any{errored.State, errored.Failures, errored.Error, *errored.LastFiring})
	require.True(t, errored.LastRun.Equal(fire.At))
}

// The error stays while the schedule is ERRORED, though a run by hand starts all.
func TestFireNowOfErrored(t *testing.T) {
	t.Parallel()
	w := open(t)
	id := w.plan(planned{suites: []uuid.UUID{w.smoke(1)}})
	for state, want := range map[State]string{Errored: "five times nothing", Disabled: ""} {
		w.Exec(`update test_schedules set state = $1, next_run_at = null, last_error = 'five times nothing'`, string(state))
		fire, started, err := w.fireNow(w.Org.Member.Writer, id)
		require.NoError(t, err)
		require.Equal(t, []any{1, ""}, []any{len(started), fire.Reason})
		require.Equal(t, []any{state, want}, []any{w.stored(id).State, w.stored(id).Error})
		w.endAll()
	}
}

func TestFireNowRefuses(t *testing.T) {
	t.Parallel()
	w := open(t)
	suite, empty := w.smoke(1), w.NewSuite(w.Org.Member.Writer, "empty").ID
	with := func(p planned) uuid.UUID {
		if p.suites == nil {
			p.suites = []uuid.UUID{suite}
		}
		return w.plan(p)
	}
	bare := with(planned{})
	w.Exec(`update test_schedules set cron = null, timezone = null, running_user_uuid = null, state = 'DISABLED',
		next_run_at = null where id = $1`, bare)
	for name, c := range map[string]struct {
		by   account.Writer
		id   uuid.UUID
		want error
	}{
		"no schedule":          {w.Org.Member.Writer, fixture.NoUUID, storage.ErrNotFound},
		"another organization": {w.Rival.Member.Writer, with(planned{}), storage.ErrNotFound},
		"another team":         {w.Org.Neighbor.Writer, with(planned{}), authoring.ErrForbidden},
		"no user":              {w.Org.Member.Writer, with(planned{user: fixture.NoUUID}), ErrRunningUser},
		"no tunnel":            {w.Org.Member.Writer, with(planned{tunnel: "attic"}), ErrNoTunnel},
		"no cases":             {w.Org.Member.Writer, with(planned{suites: []uuid.UUID{empty}}), authoring.ErrNoJobs},
	} {
		_, _, err := w.fireNow(c.by, c.id)
		require.ErrorIs(t, err, c.want, name)
	}
	_, _, err := w.fireNow(w.Org.Member.Writer, bare)
	require.Equal(t, "settings", fixture.InvalidField(t, err))
	_, _, err = w.fireNow(w.Org.Member.Writer, with(planned{suites: []uuid.UUID{}}))
	require.Equal(t, "testSuiteIds", fixture.InvalidField(t, err))
	require.Zero(t, w.Count(`select (select count(*) from test_schedule_firings) + (select count(*) from suite_runs)`))
	require.Zero(t, w.Audited(account.ScheduleRun))
}

// Runs by hand at one time are two firings, and none takes a time of the clock.
func TestFireNowBesideOthers(t *testing.T) {
	t.Parallel()
	w := open(t)
	id := w.plan(planned{suites: []uuid.UUID{w.smoke(1)}})
	var first, second *Firing
	w.Must(func(ctx context.Context, tx *storage.Tx) (err error) {
		if first, _, err = FireNow(ctx, tx, w.Org.Member.Writer, id, "", nil); err != nil {
			return err
		}
		second, _, err = FireNow(ctx, tx, w.Org.Member.Writer, id, "", nil)
		return err
	})
	require.Equal(t, first.At, second.At)
	require.Equal(t, FiringSkipped, second.Outcome)
	require.Equal(t, []Firing{*second, *first}, w.firings(id), "the latest first")

	w.endAll()
	w.Exec(`update test_schedule_firings set fire_at = $1`, noon)
	require.Len(t, w.fire(noon).Started, 1)
	require.Equal(t, []string{"22 12:00:00 MANUAL STARTED", "22 12:00:00 MANUAL SKIPPED", "22 12:00:00 CRON STARTED"}, w.describe(id))

	// The clock itself fires a time once.
	w.endAll()
	w.Exec(`update test_schedules set next_run_at = $1`, noon)
	require.Empty(t, w.fire(noon).Firings)
	require.Len(t, w.firings(id), 3)
}
