package schedule_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
	"github.com/slipway-qa/slipway/storage"
	. "github.com/slipway-qa/slipway/storage/schedule"
)

// recount goes through all schedules, and gives how many were changed and the steps.
func (w *room) recount(limit int) (changed int64, steps int) {
	w.T.Helper()
	var after uuid.UUID
	for more := true; more; steps++ {
		var n int64
		var err error
		n, after, more, err = Recount(fixture.Context(w.T), w.DB, after, limit)
		require.NoError(w.T, err)
		changed += n
	}
	return changed, steps
}

// twelveHoursAway gives an expression that fires once a day, and its next time.
func (w *room) twelveHoursAway() (cron string, next time.Time) {
	next = w.now().Add(12 * time.Hour).Truncate(time.Hour)
	return fmt.Sprintf("0 %d * * *", next.Hour()), next
}

// The clock of the database was in another year while a schedule fired.
func TestRecountAfterAJump(t *testing.T) {
	t.Parallel()
	w := open(t)
	suite := w.smoke(1)
	cron, right := w.twelveHoursAway()
	id := w.plan(planned{cron: cron, suites: []uuid.UUID{suite}, next: right})
	jumped := right.AddDate(5, 0, 0).Add(time.Minute)
	require.Equal(t, 1, w.fire(jumped).Claimed)
	require.True(t, w.stored(id).Next.After(jumped))
	before := w.stored(id)
	changed, _ := w.recount(1000)
	require.EqualValues(t, 1, changed)
	after := w.stored(id)
	require.True(t, after.Next.Equal(right), after.Next)
	after.Next = before.Next
	require.Equal(t, before, after, "nothing else is changed")
	changed, _ = w.recount(1000)
	require.Zero(t, changed)
}

// A step is of so many schedules, whatever they are.
func TestRecountInSteps(t *testing.T) {
	t.Parallel()
	w := open(t)
	_, steps := w.recount(2)
	require.Equal(t, 1, steps)
	cron, right := w.twelveHoursAway()
	for i := range 7 {
		id := w.plan(planned{cron: cron, next: right.AddDate(1, 0, 0)})
		if i%3 == 1 {
			w.Exec(`update test_schedules set state = 'DISABLED', next_run_at = null where id = $1`, id)
		}
	}
	changed, steps := w.recount(2)
	require.Equal(t, []int{5, 4}, []int{int(changed), steps})
	require.Equal(t, 5, w.Count(`select count(*) from test_schedules where next_run_at = $1`, right))
}

func TestRecountLeaves(t *testing.T) {
	t.Parallel()
	w := open(t)
	now := w.now()
	cron, right := w.twelveHoursAway()
	start := right.AddDate(1, 0, 0)
	left := map[string]planned{
		"right":               {cron: cron, next: right},
		"right, with bounds":  {cron: cron, next: start, start: start, end: start.AddDate(1, 0, 0)},
		"due":                 {cron: cron, next: now.Add(-time.Hour)},
		"due within a minute": {cron: cron, next: now.Add(30 * time.Second)},
		"no zone":             {cron: cron, next: start, zone: "Europe/Atlantis"},
		"no expression":       {next: start, cron: "at noon"},
		"no further time":     {cron: cron, next: start, end: now.Add(time.Second)},
		"beyond what is kept": {cron: cron, next: start, start: time.Date(9999, 12, 31, 23, 59, 30, 0, time.UTC)},
	}
	ids := map[string]uuid.UUID{}
	for name, p := range left {
		ids[name] = w.plan(p)
	}
	wrong := w.plan(planned{cron: cron, next: start, zone: "Asia/Tokyo"})
	changed, _ := w.recount(1000)
	require.EqualValues(t, 1, changed)
	for name, id := range ids {
		require.WithinDuration(t, left[name].next, *w.stored(id).Next, time.Microsecond, name)
	}
	tokyo, err := time.LoadLocation("Asia/Tokyo")
	require.NoError(t, err)
	next := w.stored(wrong).Next.In(tokyo)
	require.Equal(t, right.Format(time.TimeOnly), next.Format(time.TimeOnly), "a zone has its own time")
	require.WithinDuration(t, now, next, 25*time.Hour)
}

// What happens to a schedule between the look and the change stands.
func TestRecountBesideOthers(t *testing.T) {
	t.Parallel()
	w := open(t)
	suite := w.smoke(1)
	cron, right := w.twelveHoursAway()
	wrong := right.AddDate(1, 0, 0)
	plan := func() uuid.UUID { return w.plan(planned{cron: cron, next: wrong, suites: []uuid.UUID{suite}}) }
	renamed, retimed, disabled, deleted, other := plan(), plan(), plan(), plan(), plan()
	fired := w.plan(planned{cron: cron, next: wrong.AddDate(0, 0, -1), suites: []uuid.UUID{suite}})
	changed, err := RecountLater(fixture.Context(t), w.DB, func() {
		require.Equal(t, 1, w.fire(wrong.AddDate(0, 0, -1)).Claimed)
		for id, c := range map[uuid.UUID]Change{
			renamed:  {Name: fixture.Ptr("another")},
			retimed:  {Settings: &SettingsChange{Cron: Member[string]{Given: true, Value: fixture.Ptr("0 0 1 1 *")}}},
			disabled: {State: fixture.Ptr(Disabled)},
		} {
			_, err := w.changeSchedule(w.Org.Member.Writer, id, c)
			require.NoError(t, err)
		}
		require.NoError(t, w.deleteSchedule(w.Org.Member.Writer, deleted))
	})
	require.NoError(t, err)
	require.EqualValues(t, 1, changed)
	require.True(t, w.stored(other).Next.Equal(right))
	require.True(t, w.stored(renamed).Next.Equal(wrong), "the next time mends it")
	require.Equal(t, "01-01 00:00", w.stored(retimed).Next.UTC().Format("01-02 15:04"))
	require.Equal(t, []any{Disabled, (*time.Time)(nil)}, []any{w.stored(disabled).State, w.stored(disabled).Next})
	require.True(t, w.stored(fired).Next.Equal(wrong))
	require.NotNil(t, w.stored(fired).LastFiring)

	// Who holds a schedule is not waited for.
	held := plan()
	w.Must(func(ctx context.Context, tx *storage.Tx) error {
		_, err := tx.ExecContext(ctx, `select from test_schedules where id = $1 for no key update`, held)
		require.NoError(t, err)
		changed, _ := w.recount(1000)
		require.EqualValues(t, 2, changed, "renamed and fired")
		return nil
	})
	require.True(t, w.stored(held).Next.Equal(wrong))
	changed, _ = w.recount(1000)
	require.EqualValues(t, 1, changed)
	require.True(t, w.stored(held).Next.Equal(right))
}
