package schedule_test

import (
	"context"
	"strings"
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

func (w *room) changeSchedule(by account.Writer, id uuid.UUID, c Change) (s *Schedule, err error) {
	err = w.Do(func(ctx context.Context, tx *storage.Tx) error {
		s, err = Update(ctx, tx, by, id, c)
		return err
	})
	return s, err
}

func (w *room) deleteSchedule(by account.Writer, id uuid.UUID) error {
	return w.Do(func(ctx context.Context, tx *storage.Tx) error { return Delete(ctx, tx, by, id) })
}

// Each change changes the members that it gives and no other.
func TestPartialUpdates(t *testing.T) {
	t.Parallel()
	w := open(t)
	w.office()
	a, b := w.NewSuite(w.Org.Member.Writer, "a").ID, w.NewSuite(w.Org.Member.Writer, "b").ID
	s := w.newSchedule(w.Org.Member.Writer, NewSchedule{Name: "s", Suites: []uuid.UUID{a, b}, State: Disabled, Settings: w.daily()})
	want := *s
	start, end := time.Date(2040, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2041, 1, 1, 0, 0, 0, 0, time.UTC)
	for i, row := range []struct {
		c     Change
		apply func()
	}{
		{Change{Name: fixture.Ptr(" new ")}, func() { want.Name = "new" }},
		{Change{Suites: &[]uuid.UUID{b, a, b}}, func() { want.SuiteIDs = []uuid.UUID{b, a} }},
		{Change{Suites: &[]uuid.UUID{a}}, func() { want.SuiteIDs = []uuid.UUID{a} }},
		{Change{Suites: &[]uuid.UUID{}}, func() { want.SuiteIDs = []uuid.UUID{} }},
		{Change{Suites: &[]uuid.UUID{b}}, func() { want.SuiteIDs = []uuid.UUID{b} }},
		{Change{Settings: &SettingsChange{Cron: given("@weekly")}}, func() { want.Settings.Cron = "@weekly" }},
		{Change{Settings: &SettingsChange{Timezone: given("Asia/Tokyo")}}, func() { want.Settings.Timezone = "Asia/Tokyo" }},
		{Change{Settings: &SettingsChange{RunningUser: given(w.Org.Owner.UUID)}}, func() { want.Settings.RunningUser = w.Org.Owner.UUID }},
		{Change{Settings: &SettingsChange{EndAt: given(end)}}, func() { want.Settings.EndAt = &end }},
		{Change{Settings: &SettingsChange{StartAt: given(start)}}, func() { want.Settings.StartAt = &start }},
		{Change{Settings: &SettingsChange{MaxRuns: given(3)}}, func() { want.Settings.MaxRuns = fixture.Ptr(3) }},
		{Change{Settings: &SettingsChange{Tunnel: given("office")}}, func() { want.Settings.Tunnel = "office" }},
		{Change{Settings: &SettingsChange{BuildName: given("night")}}, func() { want.Settings.BuildName = "night" }},
		{Change{Settings: &SettingsChange{EndAt: null[time.Time]()}}, func() { want.Settings.EndAt = nil }},
		{Change{Settings: &SettingsChange{StartAt: null[time.Time]()}}, func() { want.Settings.StartAt = nil }},
		{Change{Settings: &SettingsChange{MaxRuns: null[int]()}}, func() { want.Settings.MaxRuns = nil }},
		{Change{Settings: &SettingsChange{Tunnel: null[string]()}}, func() { want.Settings.Tunnel = "" }},
		{Change{Settings: &SettingsChange{BuildName: null[string]()}}, func() { want.Settings.BuildName = "" }},
		{Change{Settings: &SettingsChange{Remove: true}}, func() { want.Settings = nil }},
		{Change{Name: fixture.Ptr("all"), Suites: &[]uuid.UUID{a, b}, Settings: w.daily(), State: fixture.Ptr(Disabled)}, func() {
			want.Name, want.SuiteIDs = "all", []uuid.UUID{a, b}
			want.Settings = &Settings{Cron: "0 9 * * *", Timezone: "UTC", RunningUser: w.Org.Member.UUID}
		}},
	} {
		by := w.Org.Member.Writer
		by.Admin = true // else nobody may name another person
		got, err := w.changeSchedule(by, s.ID, row.c)
		require.NoError(t, err, i)
		row.apply()
		require.True(t, got.UpdatedAt.After(want.UpdatedAt), i)
		want.UpdatedAt = got.UpdatedAt
		if got.Settings != nil {
			for _, pair := range [][2]*time.Time{{want.Settings.StartAt, got.Settings.StartAt}, {want.Settings.EndAt, got.Settings.EndAt}} {
				require.Equal(t, pair[0] == nil, pair[1] == nil, i)
				require.True(t, pair[0] == nil || pair[0].Equal(*pair[1]), i)
			}
			want.Settings.StartAt, want.Settings.EndAt = got.Settings.StartAt, got.Settings.EndAt
		}
		require.Equal(t, &want, got, i)
		require.Equal(t, got, w.readSchedule(s.ID), i)
		require.Equal(t, i+1, w.Audited(account.ScheduleUpdated))
		want = *got
	}

	// What changes nothing leaves the time of update and the modifier.
	for _, c := range []Change{{}, {Settings: &SettingsChange{}}, {Settings: w.daily(), State: fixture.Ptr(Disabled),
		Name: fixture.Ptr(" all"), Suites: &[]uuid.UUID{a, b, a}}} {
		got, err := w.changeSchedule(w.Org.Owner.Writer, s.ID, c)
		require.NoError(t, err)
		require.Equal(t, &want, got)
	}
	require.Equal(t, 20, w.Audited(account.ScheduleUpdated))
	got, err := w.changeSchedule(w.Org.Owner.Writer, s.ID, Change{Name: fixture.Ptr("boss")})
	require.NoError(t, err)
	require.Equal(t, []string{w.Org.Member.Name, w.Org.Owner.Name}, []string{got.CreatorName, got.ModifierName})
	require.Equal(t, 1, w.Count(`select count(*) from audit_events where detail -> 'changed' = '["name"]' and detail ->> 'name' = 'boss'`))
}

func TestUpdatesThatAreRefused(t *testing.T) {
	t.Parallel()
	w := open(t)
	suite := w.NewSuite(w.Org.Member.Writer, "s").ID
	s := w.newSchedule(w.Org.Member.Writer, NewSchedule{Suites: []uuid.UUID{suite}, Settings: w.daily()})
	bare := w.newSchedule(w.Org.Member.Writer, NewSchedule{})
	for _, row := range badMembers() {
		c := &SettingsChange{}
		row.change(c)
		_, err := w.changeSchedule(w.Org.Member.Writer, s.ID, Change{Settings: c})
		require.Equal(t, row.field, fixture.InvalidField(t, err))
		_, err = w.changeSchedule(w.Org.Member.Writer, bare.ID, Change{Settings: w.daily(row.change)})
		require.Equal(t, row.field, fixture.InvalidField(t, err))
	}
	require.Equal(t, s, w.readSchedule(s.ID))
	at := func(year int) Member[time.Time] { return given(time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC)) }
	want, err := w.changeSchedule(w.Org.Member.Writer, s.ID, Change{Settings: &SettingsChange{StartAt: at(2040), EndAt: at(2042)}})
	require.NoError(t, err)
	many := make([]uuid.UUID, MaxSuites+1)
	for i := range many {
		many[i] = uuid.New()
	}
	for i, row := range []struct {
		id    uuid.UUID
		field string
		c     Change
	}{
		{s.ID, "name", Change{Name: fixture.Ptr("")}},
		{s.ID, "name", Change{Name: fixture.Ptr("a\x00")}},
		{s.ID, "name", Change{Name: fixture.Ptr(strings.Repeat("x", 1<<20))}},
		{s.ID, "stateName", Change{State: fixture.Ptr(Errored)}},
		{s.ID, "stateName", Change{State: fixture.Ptr(Running)}},
		{s.ID, "stateName", Change{State: fixture.Ptr(State(""))}},
		{s.ID, "testSuiteIds", Change{Suites: &many}},
		{s.ID, "settings.startDate", Change{Settings: &SettingsChange{StartAt: at(2042)}}},
		{s.ID, "settings.endDate", Change{Settings: &SettingsChange{EndAt: at(2040)}}},
		{s.ID, "settings.endDate", Change{Settings: &SettingsChange{StartAt: at(2050), EndAt: at(2045)}}},
		{bare.ID, "settings.cron", Change{Settings: &SettingsChange{Timezone: given("UTC"), RunningUser: given(w.Org.Member.UUID)}}},
		{bare.ID, "settings.timezone", Change{Settings: &SettingsChange{Cron: given("@daily"), RunningUser: given(w.Org.Member.UUID)}}},
		{bare.ID, "settings.runningUserId", Change{Settings: &SettingsChange{Cron: given("@daily"), Timezone: given("UTC")}}},
		{bare.ID, "settings.cron", Change{Settings: &SettingsChange{BuildName: given("x")}}},
	} {
		_, err := w.changeSchedule(w.Org.Member.Writer, row.id, row.c)
		require.Equal(t, row.field, fixture.InvalidField(t, err), i)
	}
	for _, c := range []Change{{}, {Name: fixture.Ptr("x")}, {Suites: &[]uuid.UUID{fixture.NoUUID}}} {
		_, err := w.changeSchedule(w.Org.Neighbor.Writer, s.ID, c)
		require.ErrorIs(t, err, authoring.ErrForbidden)
		for _, by := range []account.Writer{w.Rival.Member.Writer, w.Org.Member.Writer} {
			id := s.ID
			if by.OrganizationID == w.Org.ID {
				id = fixture.NoUUID
			}
			_, err = w.changeSchedule(by, id, c)
			require.ErrorIs(t, err, storage.ErrNotFound)
		}
	}
	require.Equal(t, want, w.readSchedule(s.ID))
	require.Equal(t, bare, w.readSchedule(bare.ID))
}

func TestSuitesOfUpdates(t *testing.T) {
	t.Parallel()
	w := open(t)
	ours, theirs, more := w.NewSuite(w.Org.Member.Writer, "ours").ID, w.NewSuite(w.Org.Neighbor.Writer, "theirs").ID,
		w.NewSuite(w.Org.Neighbor.Writer, "more").ID
	rivals := w.NewSuite(w.Rival.Member.Writer, "rivals").ID
	s := w.newSchedule(w.Org.Owner.Writer, NewSchedule{Team: &w.Org.Team.UUID, Suites: []uuid.UUID{theirs}})
	// A suite of another team may stay, and leave, but not come.
	got, err := w.changeSchedule(w.Org.Member.Writer, s.ID, Change{Suites: &[]uuid.UUID{ours, theirs}})
	require.NoError(t, err)
	require.Equal(t, []uuid.UUID{ours, theirs}, got.SuiteIDs)
	var foreign *ForeignSuitesError
	_, err = w.changeSchedule(w.Org.Member.Writer, s.ID, Change{Suites: &[]uuid.UUID{more, theirs}})
	require.ErrorAs(t, err, &foreign)
	require.Equal(t, []uuid.UUID{more}, foreign.IDs)
	_, err = w.changeSchedule(w.Org.Member.Writer, s.ID, Change{Suites: &[]uuid.UUID{ours}})
	require.NoError(t, err)
	_, err = w.changeSchedule(w.Org.Member.Writer, s.ID, Change{Suites: &[]uuid.UUID{theirs}})
	require.ErrorAs(t, err, &foreign)
	var missing *MissingSuitesError
	_, err = w.changeSchedule(w.Org.Member.Writer, s.ID, Change{Suites: &[]uuid.UUID{fixture.NoUUID, theirs, rivals}})
	require.ErrorAs(t, err, &missing)
	require.Equal(t, []uuid.UUID{fixture.NoUUID, rivals}, missing.IDs)

	// A suite that is deleted leaves its schedules.
	require.NoError(t, w.DeleteSuite(w.Org.Member.Writer, ours, false))
	require.Empty(t, w.readSchedule(s.ID).SuiteIDs)
	_, err = w.changeSchedule(w.Org.Member.Writer, s.ID, Change{Suites: &[]uuid.UUID{ours}})
	require.ErrorAs(t, err, &missing)
}

// The running user is looked at when it is new and when the schedule is to fire;
// the tunnel when it is new.
func TestRunningUserAndTunnelOfUpdates(t *testing.T) {
	t.Parallel()
	w := open(t)
	w.office()
	suites := []uuid.UUID{w.NewSuite(w.Org.Member.Writer, "s").ID}
	robot := w.service("robot", account.Member)
	c := daily(robot.UUID)
	c.Tunnel = given("office")
	s := w.newSchedule(w.Org.Member.Writer, NewSchedule{Suites: suites, Settings: c})
	w.block(robot)
	w.Exec(`delete from tunnels`)
	for i, row := range []struct {
		c   Change
		err error
	}{
		{Change{Name: fixture.Ptr("x")}, nil},
		{Change{Settings: &SettingsChange{Cron: given("@hourly")}}, nil},
		{Change{State: fixture.Ptr(Enabled)}, ErrRunningUser},
		{Change{Name: fixture.Ptr("z"), State: fixture.Ptr(Disabled)}, nil},
		{Change{Name: fixture.Ptr("y")}, nil},
		{Change{State: fixture.Ptr(Enabled)}, ErrRunningUser},
		{Change{Settings: &SettingsChange{RunningUser: given(robot.UUID), Tunnel: given("office"), BuildName: given("x")}}, nil},
		{Change{Settings: &SettingsChange{RunningUser: given(w.Rival.Member.UUID)}}, ErrRunningUser},
		{Change{Settings: &SettingsChange{Tunnel: given("home")}}, ErrNoTunnel},
		{Change{State: fixture.Ptr(Enabled), Settings: &SettingsChange{RunningUser: given(w.Org.Member.UUID)}}, ErrNoTunnel},
		{Change{State: fixture.Ptr(Enabled), Settings: &SettingsChange{RunningUser: given(w.Org.Member.UUID), Tunnel: null[string]()}}, nil},
		{Change{Settings: &SettingsChange{Tunnel: given("office")}}, ErrNoTunnel},
	} {
		_, err := w.changeSchedule(w.Org.Member.Writer, s.ID, row.c)
		require.ErrorIs(t, err, row.err, i)
	}
}

func TestDeleteSchedule(t *testing.T) {
	t.Parallel()
	w := open(t)
	suite := w.NewSuite(w.Org.Member.Writer, "s").ID
	s := w.newSchedule(w.Org.Member.Writer, NewSchedule{Name: "old", Suites: []uuid.UUID{suite}, Settings: w.daily()})
	require.ErrorIs(t, w.deleteSchedule(w.Org.Neighbor.Writer, s.ID), authoring.ErrForbidden)
	require.ErrorIs(t, w.deleteSchedule(w.Rival.Member.Writer, s.ID), storage.ErrNotFound)
	require.NoError(t, w.deleteSchedule(w.Org.Member.Writer, s.ID))
	require.ErrorIs(t, w.deleteSchedule(w.Org.Member.Writer, s.ID), storage.ErrNotFound)
	require.Zero(t, w.Count(`select count(*) from test_schedule_suites`))
	_, err := authoring.SuiteByID(fixture.Context(t), w.DB, w.Org.ID, suite)
	require.NoError(t, err)
	require.Equal(t, 1, w.Audited(account.ScheduleDeleted))
	require.Equal(t, 1, w.Count(`select count(*) from audit_events where subject = $1 and detail ->> 'name' = 'old' and type = $2`,
		"test schedule "+s.ID.String(), int(account.ScheduleDeleted)))
}
