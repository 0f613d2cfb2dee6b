package schedule_test

import (
	"context"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/environment"
	. "github.com/slipway-qa/slipway/storage/schedule"
)

// The runs of a schedule name its environment, else that of their suite; one that is gone
// starts nothing.
func TestEnvironmentOfASchedule(t *testing.T) {
	t.Parallel()
	w := open(t)
	suite := w.smoke(1)
	id := w.plan(planned{suites: []uuid.UUID{suite}})
	_, err := w.changeSchedule(w.Org.Member.Writer, id, Change{Settings: &SettingsChange{Environment: given("staging")}})
	require.ErrorIs(t, err, ErrNoEnvironment)
	_, err = w.changeSchedule(w.Org.Member.Writer, id, Change{Settings: &SettingsChange{Environment: given("Not A Name")}})
	require.Equal(t, "settings.environment", fixture.InvalidField(t, err))
	w.Must(func(ctx context.Context, tx *storage.Tx) error {
		_, err := environment.Create(ctx, tx, w.Org.Owner.Writer, fixture.SealKey, environment.New{Name: "staging"})
		return err
	})
	changed, err := w.changeSchedule(w.Org.Member.Writer, id, Change{Settings: &SettingsChange{Environment: given("staging")}})
	require.NoError(t, err)
	require.Equal(t, "staging", changed.Settings.Environment)
	w.Exec(`update test_suites set default_environment = 'of-the-suite'`)

	_, _, err = w.fireNow(w.Org.Member.Writer, id)
	require.NoError(t, err)
	require.Equal(t, 1, w.Count(`select count(*) from suite_runs where environment = 'staging' and sealed_variables is null`))
	w.endAll()
	w.Exec(`delete from test_environments`)
	_, _, err = w.fireNow(w.Org.Member.Writer, id)
	require.ErrorIs(t, err, ErrNoEnvironment)
	w.Exec(`update test_schedules set environment = ''`)
	_, _, err = w.fireNow(w.Org.Member.Writer, id)
	require.NoError(t, err)
	require.Equal(t, 1, w.Count(`select count(*) from suite_runs where environment = 'of-the-suite'`))
}
