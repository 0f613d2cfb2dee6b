package schedule_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/authoring"
	. "github.com/slipway-qa/slipway/storage/schedule"
)

// badMembers are changes of settings that are refused, by the member.
func badMembers() []struct {
	field  string
	change func(*SettingsChange)
} {
	texts := func(set func(*SettingsChange, string), list ...string) (changes []func(*SettingsChange)) {
		for _, text := range append(list, "a\x00b", "\xff\xfe", strings.Repeat("x", 1<<20), "💥"+strings.Repeat("\n", 300)+"x") {
			changes = append(changes, func(c *SettingsChange) { set(c, text) })
		}
		return changes
	}
	at := func(year int) time.Time { return time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC) }
	list := []struct {
		field  string
		change func(*SettingsChange)
	}{}
	for field, changes := range map[string][]func(*SettingsChange){
		"settings.cron": append(texts(func(c *SettingsChange, text string) { c.Cron = given(text) },
			"", "* * * *", "60 * * * *", "0 0 31 2 *", "0 0 30 2 ?", "@reboot", strings.Repeat("1,", 200)+"1 * * * *"),
			func(c *SettingsChange) { c.Cron = null[string]() }),
		"settings.timezone": append(texts(func(c *SettingsChange, text string) { c.Timezone = given(text) },
			"", "Local", "Mars/Olympus", "../../etc/localtime", "/etc/localtime", "+02:00"),
			func(c *SettingsChange) { c.Timezone = null[string]() }),
		"settings.runningUserId": {func(c *SettingsChange) { c.RunningUser = null[uuid.UUID]() }},
		"settings.buildName": texts(func(c *SettingsChange, text string) { c.BuildName = given(text) },
			strings.Repeat("ü", authoring.MaxBuildName+1), "two\nlines"),
		"settings.scTunnelName": texts(func(c *SettingsChange, text string) { c.Tunnel = given(text) }, "a/b", "..", " office"),
		"settings.maxRuns": {
			func(c *SettingsChange) { c.MaxRuns = given(0) },
			func(c *SettingsChange) { c.MaxRuns = given(-1) },
			func(c *SettingsChange) { c.MaxRuns = given(1_000_000_001) },
			func(c *SettingsChange) { c.MaxRuns = given(1 << 62) },
		},
		"settings.startDate": {
			func(c *SettingsChange) { c.StartAt = given(at(1969)) },
			func(c *SettingsChange) { c.StartAt = given(at(10_000)) },
			func(c *SettingsChange) { c.StartAt = given(time.Time{}) },
			func(c *SettingsChange) { c.StartAt = given(time.Unix(1<<60, 0)) },
		},
		"settings.endDate": {
			func(c *SettingsChange) { c.EndAt = given(at(1969)) },
			func(c *SettingsChange) { c.EndAt = given(at(-5000)) },
			func(c *SettingsChange) { c.EndAt = given(at(10_000)) },
			func(c *SettingsChange) { c.StartAt, c.EndAt = given(at(2050)), given(at(2050)) },
			func(c *SettingsChange) { c.StartAt, c.EndAt = given(at(2050)), given(at(2049)) },
			func(c *SettingsChange) { c.StartAt, c.EndAt = given(at(2050)), given(at(2050).Add(999)) }, // the same microsecond
		},
	} {
		for _, change := range changes {
			list = append(list, struct {
				field  string
				change func(*SettingsChange)
			}{field, change})
		}
	}
	return list
}

func TestMembersOfNewSchedules(t *testing.T) {
	t.Parallel()
	w := open(t)
	for _, row := range badMembers() {
		for _, state := range []State{"", Disabled, Enabled} {
			_, err := w.trySchedule(w.Org.Member.Writer, NewSchedule{Settings: w.daily(row.change), State: state})
			require.Equal(t, row.field, fixture.InvalidField(t, err))
			require.Less(t, len(err.Error()), 200)
		}
	}
	for field, c := range map[string]*SettingsChange{
		"settings.cron":          {Timezone: given("UTC"), RunningUser: given(w.Org.Member.UUID)},
		"settings.timezone":      {Cron: given("@daily"), RunningUser: given(w.Org.Member.UUID)},
		"settings.runningUserId": {Cron: given("@daily"), Timezone: given("UTC")},
	} {
		_, err := w.trySchedule(w.Org.Member.Writer, NewSchedule{Settings: c})
		require.Equal(t, field, fixture.InvalidField(t, err))
		require.ErrorContains(t, err, "is required")
	}
	many := make([]uuid.UUID, MaxSuites+1)
	for i := range many {
		many[i] = uuid.New()
	}
	for i, row := range []struct {
		field string
		n     NewSchedule
	}{
		{"name", NewSchedule{Name: " "}},
		{"name", NewSchedule{Name: "a\x00"}},
		{"name", NewSchedule{Name: "\xff"}},
		{"name", NewSchedule{Name: strings.Repeat("ü", authoring.MaxName+1)}},
		{"teamId", NewSchedule{Team: &w.Rival.Team.UUID}},
		{"testSuiteIds", NewSchedule{Suites: many}},
	} {
		_, err := w.trySchedule(w.Org.Member.Writer, row.n)
		require.Equal(t, row.field, fixture.InvalidField(t, err), i)
	}
	_, err := w.trySchedule(w.Org.Member.Writer, NewSchedule{Team: &w.Org.Side.UUID})
	require.ErrorIs(t, err, authoring.ErrForbidden)
	require.Zero(t, w.Count(`select count(*) from test_schedules`))
	s := w.newSchedule(w.Org.Member.Writer, NewSchedule{Name: strings.Repeat("ü", authoring.MaxName), State: Disabled,
		Settings: w.daily(func(c *SettingsChange) {
			c.BuildName, c.MaxRuns = given(strings.Repeat("ü", authoring.MaxBuildName)), given(1_000_000_000)
			c.StartAt, c.Tunnel = null[time.Time](), given("")
		})})
	require.Equal(t, 1_000_000_000, *s.Settings.MaxRuns)
}

func TestRunningUserAndTunnel(t *testing.T) {
	t.Parallel()
	w := open(t)
	w.office()
	tester := w.Org.NewUser("tester", account.Tester, w.Org.Team)
	gone := w.Org.NewUser("gone", account.Member, w.Org.Team)
	idle := w.service("idle", account.Member)
	w.block(gone.User)
	w.block(idle)
	blockedElsewhere := w.Org.NewUser("busy", account.Member, w.Org.Team)
	w.Exec(`insert into memberships (organization_id, user_id, role, blocked_at) values ($1, $2, 'member', now())`,
		w.Rival.ID, blockedElsewhere.ID)
	for name, row := range map[string]struct {
		user uuid.UUID
		err  error
	}{
		"member":                  {w.Org.Member.UUID, nil},
		"member of another team":  {w.Org.Neighbor.UUID, ErrOtherUser},
		"admin":                   {w.Org.Owner.UUID, ErrOtherUser},
		"service account":         {w.service("robot", account.Member).UUID, nil},
		"blocked elsewhere":       {blockedElsewhere.UUID, ErrOtherUser},
		"tester":                  {tester.UUID, ErrRunningUser},
		"blocked service account": {idle.UUID, ErrRunningUser},
		"blocked":                 {gone.UUID, ErrRunningUser},
		"of another organization": {w.Rival.Member.UUID, ErrRunningUser},
		"nobody":                  {fixture.NoUUID, ErrRunningUser},
	} {
		_, err := w.trySchedule(w.Org.Member.Writer, NewSchedule{Settings: daily(row.user)})
		require.ErrorIs(t, err, row.err, name)
		if errors.Is(row.err, ErrOtherUser) {
			row.err = nil // an admin may name them
		}
		_, err = w.trySchedule(w.Org.Owner.Writer, NewSchedule{Team: &w.Org.Team.UUID, Settings: daily(row.user)})
		require.ErrorIs(t, err, row.err, name)
	}
	w.newSchedule(w.Org.Member.Writer, NewSchedule{Settings: w.daily(func(c *SettingsChange) { c.Tunnel = given("office") })})
	_, err := w.trySchedule(w.Org.Member.Writer, NewSchedule{Settings: w.daily(func(c *SettingsChange) { c.Tunnel = given("Office") })})
	require.ErrorIs(t, err, ErrNoTunnel)
	c := daily(w.Rival.Member.UUID)
	c.Tunnel = given("office")
	_, err = w.trySchedule(w.Rival.Member.Writer, NewSchedule{Settings: c})
	require.ErrorIs(t, err, ErrNoTunnel, "another organization's")
}
