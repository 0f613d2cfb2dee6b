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
	. "github.com/slipway-qa/slipway/storage/schedule"
)

func (w *room) trySchedule(by account.Writer, n NewSchedule) (s *Schedule, err error) {
	err = w.Do(func(ctx context.Context, tx *storage.Tx) error {
		s, err = Create(ctx, tx, by, n)
		return err
	})
	return s, err
}

func (w *room) newSchedule(by account.Writer, n NewSchedule) *Schedule {
	w.T.Helper()
	s, err := w.trySchedule(by, n)
	require.NoError(w.T, err)
	return s
}

func (w *room) readSchedule(id uuid.UUID) *Schedule {
	w.T.Helper()
	s, err := ByID(fixture.Context(w.T), w.DB, w.Org.ID, id)
	require.NoError(w.T, err)
	return s
}

func given[T any](value T) Member[T] { return Member[T]{Given: true, Value: &value} }

func null[T any]() Member[T] { return Member[T]{Given: true} }

// daily are settings that fire at nine o'clock UTC.
func daily(user uuid.UUID) *SettingsChange {
	return &SettingsChange{Cron: given("0 9 * * *"), Timezone: given("UTC"), RunningUser: given(user)}
}

// daily are settings of the organization, with changes to them.
func (w *room) daily(changes ...func(*SettingsChange)) *SettingsChange {
	c := daily(w.Org.Member.UUID)
	for _, change := range changes {
		change(c)
	}
	return c
}

// office makes a tunnel of that name.
func (w *room) office() {
	w.T.Helper()
	_, err := w.Tunnel(w.Org.Owner.Writer, "office", "http://proxy.example.com:3128")
	require.NoError(w.T, err)
}

func (w *room) service(username string, role account.Role) (u *account.User) {
	w.T.Helper()
	w.Must(func(ctx context.Context, tx *storage.Tx) (err error) {
		u, err = account.CreateServiceAccount(ctx, tx, account.CLI(), account.NewServiceAccount{OrganizationID: w.Org.ID,
			Username: username, Role: role, TeamID: w.Org.Team.ID})
		return err
	})
	return u
}

func (w *room) block(u *account.User) {
	w.T.Helper()
	w.Exec(`update memberships set blocked_at = now() where organization_id = $1 and user_id = $2`, w.Org.ID, u.ID)
}

func TestCreateSchedule(t *testing.T) {
	t.Parallel()
	w := open(t)
	w.office()
	robot := w.service("robot", account.Member)
	a, b := w.NewSuite(w.Org.Member.Writer, "a").ID, w.NewSuite(w.Org.Member.Writer, "b").ID
	start, end := time.Date(2035, 1, 1, 0, 0, 0, 123456789, time.FixedZone("", 3600)), time.Date(2036, 1, 1, 0, 0, 0, 0, time.UTC)
	s := w.newSchedule(w.Org.Member.Writer, NewSchedule{Name: " nightly ", Suites: []uuid.UUID{b, a, b}, Settings: &SettingsChange{
		Cron: given("0 0 3 ? * MON-FRI"), Timezone: given("Europe/Berlin"), RunningUser: given(robot.UUID), StartAt: given(start),
		EndAt: given(end), MaxRuns: given(7), Tunnel: given("office"), BuildName: given(" night ")}})
	require.EqualValues(t, 7, s.ID.Version())
	require.Equal(t, []any{"nightly", []uuid.UUID{b, a}, Enabled, 0, "", (*time.Time)(nil)},
		[]any{s.Name, s.SuiteIDs, s.State, s.RunCount, s.LastError, s.LastRunAt})
	require.Equal(t, []any{w.Org.ID, w.Org.Team.UUID, w.Org.Member.UUID, w.Org.Member.Name, w.Org.Member.Name},
		[]any{s.OrganizationID, s.TeamUUID, s.CreatorUUID, s.CreatorName, s.ModifierName})
	require.Equal(t, "2035-01-01T02:00:00Z", s.NextRunAt.UTC().Format(time.RFC3339), "a Monday")
	require.Equal(t, 7, *s.Remaining())
	require.True(t, s.Settings.StartAt.Equal(start.Truncate(time.Microsecond)))
	require.True(t, s.Settings.EndAt.Equal(end))
	s.Settings.StartAt, s.Settings.EndAt = nil, nil
	require.Equal(t, &Settings{Cron: "0 0 3 ? * MON-FRI", Timezone: "Europe/Berlin", RunningUser: robot.UUID, MaxRuns: fixture.Ptr(7),
		Tunnel: "office", BuildName: "night"}, s.Settings)
	_, err := ByID(fixture.Context(t), w.DB, w.Rival.ID, s.ID)
	require.ErrorIs(t, err, storage.ErrNotFound)

	// Nothing is needed.
	before := w.now()
	s = w.newSchedule(w.Org.Neighbor.Writer, NewSchedule{})
	require.Contains(t, []string{"Schedule " + before.Format(time.DateOnly), "Schedule " + w.now().Format(time.DateOnly)}, s.Name)
	require.Equal(t, []any{[]uuid.UUID{}, (*Settings)(nil), Disabled, (*time.Time)(nil), (*int)(nil), w.Org.Side.UUID},
		[]any{s.SuiteIDs, s.Settings, s.State, s.NextRunAt, s.Remaining(), s.TeamUUID})
	require.Equal(t, s, w.readSchedule(s.ID))

	require.Equal(t, 2, w.Audited(account.ScheduleCreated))
	require.Equal(t, 1, w.Count(`select count(*) from audit_events where subject = $1 and detail ->> 'state' = 'DISABLED'`,
		"test schedule "+s.ID.String()))
}

// now is the time of the database.
func (w *room) now() (now time.Time) {
	w.T.Helper()
	require.NoError(w.T, w.DB.GetContext(fixture.Context(w.T), &now, `select clock_timestamp()`))
	return now.UTC()
}

// What a schedule is at first, by what it has and what is asked for.
func TestStateOfNewSchedules(t *testing.T) {
	t.Parallel()
	w := open(t)
	suites := []uuid.UUID{w.NewSuite(w.Org.Member.Writer, "s").ID}
	past := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	at := func(year int) time.Time { return time.Date(year, 1, 1, 10, 0, 0, 0, time.UTC) }
	for name, row := range map[string]struct {
		suites   []uuid.UUID
		settings *SettingsChange
		obstacle string // the member that keeps it from being enabled
		says     string
	}{
		"it can run":       {suites, w.daily(), "", ""},
		"nothing":          {nil, nil, "settings", "is needed for a schedule to be enabled"},
		"no settings":      {suites, nil, "settings", "needed"},
		"settings removed": {suites, &SettingsChange{Remove: true, Cron: given("nonsense")}, "settings", "needed"},
		"no suites":        {nil, w.daily(), "testSuiteIds", "must name a test suite"},
		"begins later":     {suites, w.daily(func(c *SettingsChange) { c.StartAt = given(at(2050)) }), "", ""},
		"began":            {suites, w.daily(func(c *SettingsChange) { c.StartAt = given(past) }), "", ""},
		"ended":            {suites, w.daily(func(c *SettingsChange) { c.EndAt = given(past) }), "settings.endDate", "has passed"},
		"ends before nine": {suites, w.daily(func(c *SettingsChange) {
			c.StartAt, c.EndAt = given(at(2050)), given(at(2050).Add(22*time.Hour))
		}), "settings.endDate", "after startDate"},
		"ends at nine": {suites, w.daily(func(c *SettingsChange) {
			c.StartAt, c.EndAt = given(at(2050)), given(at(2050).Add(23*time.Hour))
		}), "", ""},
		"ends too soon": {suites, w.daily(func(c *SettingsChange) {
			c.Cron, c.EndAt = given("0 0 29 2 *"), given(w.now().Add(time.Minute))
		}), "settings.endDate", "must leave a fire time"},
		"a leap day that is far": {suites, w.daily(func(c *SettingsChange) {
			c.Cron, c.StartAt = given("0 0 29 2 *"), given(at(2097))
		}), "settings.startDate", "within five years"},
		"the end of time": {suites, w.daily(func(c *SettingsChange) {
			c.Cron, c.StartAt = given("@yearly"), given(at(9999))
		}), "settings.startDate", "within five years"},
	} {
		s := w.newSchedule(w.Org.Member.Writer, NewSchedule{Suites: row.suites, Settings: row.settings})
		require.Equal(t, row.obstacle == "", s.State == Enabled, name)
		require.Equal(t, row.obstacle == "", s.NextRunAt != nil, name)
		if s.NextRunAt != nil {
			require.True(t, s.NextRunAt.After(w.now()), name)
			require.Equal(t, 9, s.NextRunAt.UTC().Hour(), name)
		}
		s = w.newSchedule(w.Org.Member.Writer, NewSchedule{Suites: row.suites, Settings: row.settings, State: Disabled})
		require.Equal(t, Disabled, s.State, name)
		require.Nil(t, s.NextRunAt, name)
		s, err := w.trySchedule(w.Org.Member.Writer, NewSchedule{Suites: row.suites, Settings: row.settings, State: Enabled})
		if row.obstacle == "" {
			require.NoError(t, err, name)
			require.Equal(t, Enabled, s.State, name)
			continue
		}
		require.Equal(t, row.obstacle, fixture.InvalidField(t, err), name)
		require.ErrorContains(t, err, row.says, name)
	}
	for _, state := range []State{Errored, Running, "enabled", "\x00\xff"} {
		_, err := w.trySchedule(w.Org.Member.Writer, NewSchedule{Suites: suites, Settings: w.daily(), State: state})
		require.Equal(t, "stateName", fixture.InvalidField(t, err))
	}
}

func TestSuitesOfNewSchedules(t *testing.T) {
	t.Parallel()
	w := open(t)
	ours, theirs, rivals := w.NewSuite(w.Org.Member.Writer, "ours").ID, w.NewSuite(w.Org.Neighbor.Writer, "theirs").ID,
		w.NewSuite(w.Rival.Member.Writer, "rivals").ID
	var missing *MissingSuitesError
	_, err := w.trySchedule(w.Org.Member.Writer, NewSchedule{Suites: []uuid.UUID{rivals, ours, fixture.NoUUID, theirs, rivals}})
	require.ErrorAs(t, err, &missing)
	require.Equal(t, []uuid.UUID{rivals, fixture.NoUUID}, missing.IDs)
	require.EqualError(t, err, "test suites not found: "+rivals.String()+", "+fixture.NoUUID.String())
	var foreign *ForeignSuitesError
	_, err = w.trySchedule(w.Org.Member.Writer, NewSchedule{Suites: []uuid.UUID{ours, theirs}})
	require.ErrorAs(t, err, &foreign)
	require.Equal(t, []uuid.UUID{theirs}, foreign.IDs)
	s := w.newSchedule(w.Org.Owner.Writer, NewSchedule{Suites: []uuid.UUID{theirs, ours}})
	require.Equal(t, []uuid.UUID{theirs, ours}, s.SuiteIDs)

	many := make([]uuid.UUID, MaxSuites)
	for i := range many {
		many[len(many)-1-i] = w.NewSuite(w.Org.Member.Writer, "s").ID
	}
	s = w.newSchedule(w.Org.Member.Writer, NewSchedule{Suites: append(many, many...)})
	require.Equal(t, many, s.SuiteIDs)
}
