package schedule_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/run"
	. "github.com/slipway-qa/slipway/storage/schedule"
)

// What an update makes of the state, from what the clock made of the schedule.
func TestStateAfterUpdates(t *testing.T) {
	t.Parallel()
	w := open(t)
	suite := w.NewSuite(w.Org.Member.Writer, "s").ID
	past := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	enable, disable := fixture.Ptr(Enabled), fixture.Ptr(Disabled)
	none := &[]uuid.UUID{}
	type stored struct {
		state    State
		failures int
		runs     int
		maxRuns  int
		next     time.Duration // from now, while ENABLED
		bare     bool          // without settings
		empty    bool          // without suites
	}
	enabled := stored{state: Enabled, next: -time.Minute}
	disabled := stored{state: Disabled}
	errored := stored{state: Errored, failures: MaxFailures}
	const (
		kept, counted = "kept", "counted" // the next fire time
		reset         = "reset"           // the failures
	)
	for name, row := range map[string]struct {
		from stored
		c    Change
		want State
		next string
		then string
		bad  string
	}{
		"a rename keeps a due fire": {enabled, Change{Name: fixture.Ptr("x")}, Enabled, kept, "", ""},
		"a build name keeps it":     {enabled, Change{Settings: &SettingsChange{BuildName: given("x")}}, Enabled, kept, "", ""},
		"the same times keep it":    {enabled, Change{Name: fixture.Ptr("x"), Settings: w.daily()}, Enabled, kept, "", ""},
		"other suites keep it":      {enabled, Change{Suites: &[]uuid.UUID{w.NewSuite(w.Org.Member.Writer, "o").ID}}, Enabled, kept, "", ""},
		"maxRuns keeps it":          {enabled, Change{Settings: &SettingsChange{MaxRuns: given(9)}}, Enabled, kept, "", ""},
		"ENABLED again keeps it":    {enabled, Change{State: enable}, Enabled, kept, "", ""},
		"another cron counts anew":  {enabled, Change{Settings: &SettingsChange{Cron: given("1 9 * * *")}}, Enabled, counted, "", ""},
		"another zone counts anew":  {enabled, Change{Settings: &SettingsChange{Timezone: given("Asia/Tokyo")}}, Enabled, counted, "", ""},
		"startDate counts anew":     {enabled, Change{Settings: &SettingsChange{StartAt: given(past)}}, Enabled, counted, "", ""},
		"endDate counts anew": {enabled, Change{Settings: &SettingsChange{EndAt: given(past.AddDate(90, 0, 0))}},
			Enabled, counted, "", ""},
		"DISABLED":                 {enabled, Change{State: disable}, Disabled, "", "", ""},
		"no suites":                {enabled, Change{Suites: none}, Disabled, "", "", ""},
		"no suites, but ENABLED":   {enabled, Change{Suites: none, State: enable}, "", "", "", "testSuiteIds"},
		"no settings":              {enabled, Change{Settings: &SettingsChange{Remove: true}}, Disabled, "", "", ""},
		"no settings, but ENABLED": {enabled, Change{Settings: &SettingsChange{Remove: true}, State: enable}, "", "", "", "settings"},
		"an end that passed":       {enabled, Change{Settings: &SettingsChange{EndAt: given(past)}}, Disabled, "", "", ""},
		"an end that passed, ENABLED": {enabled, Change{Settings: &SettingsChange{EndAt: given(past)}, State: enable},
			"", "", "", "settings.endDate"},
		"the suites went meanwhile": {stored{state: Enabled, next: time.Hour, empty: true}, Change{Name: fixture.Ptr("x")},
			Disabled, "", "", ""},
		"failures go with ENABLED": {stored{state: Enabled, next: -time.Minute, failures: 2}, Change{State: enable},
			Enabled, kept, reset, ""},
		"and stay without": {stored{state: Enabled, next: -time.Minute, failures: 2}, Change{Name: fixture.Ptr("x")},
			Enabled, kept, "", ""},
		"fewer runs than were made": {stored{state: Enabled, next: time.Hour, runs: 3},
			Change{Settings: &SettingsChange{MaxRuns: given(3)}}, Disabled, "", "", ""},
		"fewer runs, but ENABLED": {stored{state: Enabled, next: time.Hour, runs: 3},
			Change{Settings: &SettingsChange{MaxRuns: given(2)}, State: enable}, "", "", "", "settings.maxRuns"},
		"one run more": {stored{state: Disabled, runs: 3, maxRuns: 3},
			Change{Settings: &SettingsChange{MaxRuns: given(4)}, State: enable}, Enabled, counted, "", ""},
		"a disabled one stays so":    {disabled, Change{Settings: &SettingsChange{Cron: given("@hourly")}}, Disabled, "", "", ""},
		"and is enabled":             {disabled, Change{State: enable}, Enabled, counted, "", ""},
		"a disabled one that failed": {stored{state: Disabled, failures: 3}, Change{State: enable}, Enabled, counted, reset, ""},
		"all runs were made":         {stored{state: Disabled, runs: 3, maxRuns: 3}, Change{State: enable}, "", "", "", "settings.maxRuns"},
		"a bare one":                 {stored{state: Disabled, bare: true}, Change{State: enable}, "", "", "", "settings"},
		"an empty one":               {stored{state: Disabled, empty: true}, Change{State: enable}, "", "", "", "testSuiteIds"},
		"settings do not enable":     {stored{state: Disabled, bare: true}, Change{Settings: w.daily()}, Disabled, "", "", ""},
		"but with ENABLED they do": {stored{state: Disabled, bare: true, empty: true},
			Change{Settings: w.daily(), Suites: &[]uuid.UUID{suite}, State: enable}, Enabled, counted, "", ""},
		"an errored one stays so": {errored, Change{Name: fixture.Ptr("x"),
			Settings: &SettingsChange{Cron: given("@hourly")}}, Errored, "", "", ""},
		"an errored one without suites":  {errored, Change{Suites: none}, Disabled, "", "", ""},
		"an errored one is enabled":      {errored, Change{State: enable}, Enabled, counted, reset, ""},
		"an errored one is disabled":     {errored, Change{State: disable}, Disabled, "", "", ""},
		"an errored one loses all":       {errored, Change{Settings: &SettingsChange{Remove: true}}, Disabled, "", "", ""},
		"an errored one cannot be, bare": {errored, Change{Suites: none, State: enable}, "", "", "", "testSuiteIds"},
	} {
		n := NewSchedule{Name: "s", State: Disabled}
		if !row.from.bare {
			n.Settings = w.daily()
		}
		if !row.from.empty {
			n.Suites = []uuid.UUID{suite}
		}
		if row.from.maxRuns > 0 {
			n.Settings.MaxRuns = given(row.from.maxRuns)
		}
		id, lastError := w.newSchedule(w.Org.Member.Writer, n).ID, ""
		var next *time.Time
		if row.from.state == Enabled {
			next = fixture.Ptr(w.now().Add(row.from.next).Truncate(time.Microsecond))
		}
		if row.from.failures > 0 {
			lastError = "nobody is there"
		}
		w.Exec(`update test_schedules set state = $2, failures = $3, run_count = $4, next_run_at = $5, last_error = $6 where id = $1`,
			id, row.from.state, row.from.failures, row.from.runs, next, lastError)
		before := w.readSchedule(id)
		got, err := w.changeSchedule(w.Org.Member.Writer, id, row.c)
		if row.bad != "" {
			require.Equal(t, row.bad, fixture.InvalidField(t, err), name)
			require.Equal(t, before, w.readSchedule(id), name)
			continue
		}
		require.NoError(t, err, name)
		require.Equal(t, []any{row.want, row.from.runs}, []any{got.State, got.RunCount}, name)
		switch row.next {
		case kept:
			require.Equal(t, before.NextRunAt, got.NextRunAt, name)
			require.True(t, next.Equal(*got.NextRunAt), name)
		case counted:
			require.True(t, got.NextRunAt.After(w.now()), name)
		default:
			require.Nil(t, got.NextRunAt, name)
			require.Nil(t, got.Remaining(), name)
		}
		failures := w.Count(`select failures from test_schedules where id = $1`, id)
		if row.then == reset {
			require.Zero(t, failures, name)
			require.Empty(t, got.LastError, name)
		} else {
			require.Equal(t, row.from.failures, failures, name)
			require.Equal(t, lastError, got.LastError, name)
		}
	}
}

// A fire that is due after endDate has passed is still to be made: a rename leaves
// it.
func TestRenameAfterEnd(t *testing.T) {
	t.Parallel()
	w := open(t)
	s := w.newSchedule(w.Org.Member.Writer, NewSchedule{Suites: []uuid.UUID{w.NewSuite(w.Org.Member.Writer, "s").ID}, Settings: w.daily()})
	w.Exec(`update test_schedules set next_run_at = now() - interval '1 minute', end_at = now() - interval '1 second' where id = $1`, s.ID)
	before := w.readSchedule(s.ID)
	got, err := w.changeSchedule(w.Org.Member.Writer, s.ID, Change{Name: fixture.Ptr("x")})
	require.NoError(t, err)
	require.Equal(t, []any{Enabled, before.NextRunAt}, []any{got.State, got.NextRunAt})
}

// Next fire times are local: the clocks of these zones change at these dates.
func TestNextRunAcrossClockChanges(t *testing.T) {
	t.Parallel()
	w := open(t)
	s := w.newSchedule(w.Org.Member.Writer, NewSchedule{Suites: []uuid.UUID{w.NewSuite(w.Org.Member.Writer, "s").ID}, Settings: w.daily()})
	for _, row := range []struct{ cron, zone, start, want string }{
		{"30 2 * * *", "Europe/Berlin", "2035-03-24T12:00:00+01:00", "2035-03-25T03:00:00+02:00"},        // skipped
		{"30 2 * * *", "Europe/Berlin", "2035-03-25T03:00:00.000001+02:00", "2035-03-26T02:30:00+02:00"}, // only once
		{"30 2 * * *", "Europe/Berlin", "2035-10-28T00:00:00+02:00", "2035-10-28T02:30:00+02:00"},        // the first of two
		{"30 2 * * *", "Europe/Berlin", "2035-10-28T02:15:00+01:00", "2035-10-29T02:30:00+01:00"},
		{"0 9 * * *", "America/New_York", "2035-03-10T12:00:00-05:00", "2035-03-11T09:00:00-04:00"},
		{"0 9 * * *", "America/New_York", "2035-11-03T12:00:00-04:00", "2035-11-04T09:00:00-05:00"},
		{"15 2 * * *", "Australia/Lord_Howe", "2035-10-07T00:00:00+10:30", "2035-10-07T02:30:00+11:00"},
		{"0 9 * * *", "Asia/Kolkata", "2035-03-25T00:00:00Z", "2035-03-25T09:00:00+05:30"},
		{"0 9 * * *", "UTC", "2035-03-25T09:00:00Z", "2035-03-25T09:00:00Z"}, // startDate itself fires
		{"0 9 * * *", "UTC", "2035-03-25T09:00:00.000001Z", "2035-03-26T09:00:00Z"},
	} {
		start, err := time.Parse(time.RFC3339Nano, row.start)
		require.NoError(t, err)
		c := &SettingsChange{Cron: given(row.cron), Timezone: given(row.zone), StartAt: given(start)}
		got, err := w.changeSchedule(w.Org.Member.Writer, s.ID, Change{Settings: c})
		require.NoError(t, err)
		want, err := time.Parse(time.RFC3339, row.want)
		require.NoError(t, err)
		require.Equal(t, want.UTC(), got.NextRunAt.UTC(), "%+v", row)
	}
}

// A schedule runs while a suite run of its newest fire is open.
func TestRunningIsDerived(t *testing.T) {
	t.Parallel()
	w := open(t)
	suiteRun, jobs := w.SuiteRun(1, 1)
	s := w.newSchedule(w.Org.Member.Writer, NewSchedule{Suites: []uuid.UUID{suiteRun.SuiteID},
		Settings: w.daily(func(c *SettingsChange) { c.MaxRuns = given(3) })})
	fire := uuid.Must(uuid.NewV7())
	w.Exec(`update suite_runs set firing_id = $2 where id = $1`, suiteRun.ID, fire)
	require.Equal(t, Enabled, w.readSchedule(s.ID).State)
	w.Exec(`update test_schedules set last_firing_id = $2, run_count = 1, last_run_at = now() where id = $1`, s.ID, fire)
	got := w.readSchedule(s.ID)
	require.Equal(t, []any{Running, s.NextRunAt, 2}, []any{got.State, got.NextRunAt, *got.Remaining()})
	list, _, err := List(fixture.Context(t), w.DB, Filter{OrganizationID: w.Org.ID, Page: storage.Page{Limit: 1}})
	require.NoError(t, err)
	require.Equal(t, []Schedule{*got}, list)

	got, err = w.changeSchedule(w.Org.Member.Writer, s.ID, Change{Name: fixture.Ptr("x"), State: fixture.Ptr(Enabled)})
	require.NoError(t, err)
	require.Equal(t, []any{Running, s.NextRunAt}, []any{got.State, got.NextRunAt})
	got, err = w.changeSchedule(w.Org.Member.Writer, s.ID, Change{State: fixture.Ptr(Disabled)})
	require.NoError(t, err)
	require.Equal(t, Disabled, got.State, "its runs go on")
	_, err = w.changeSchedule(w.Org.Member.Writer, s.ID, Change{State: fixture.Ptr(Enabled)})
	require.NoError(t, err)
	w.MustEnd(jobs[0], run.Passed)
	require.Equal(t, Enabled, w.readSchedule(s.ID).State)
}
