package schedule_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/run"
	. "github.com/slipway-qa/slipway/storage/schedule"
)

func TestFireDue(t *testing.T) {
	t.Parallel()
	w := open(t)
	w.office()
	first, second := w.smoke(2), w.smoke(1)
	id := w.plan(planned{suites: []uuid.UUID{second, first}, tunnel: "office", build: "night", failures: 3})
	later := w.plan(planned{suites: []uuid.UUID{first}, next: noon.Add(time.Second)})
	audited := w.Count(`select count(*) from audit_events`)
	at := noon.Add(300 * time.Millisecond)
	done := w.fire(at)
	require.Equal(t, 1, done.Claimed)
	require.Equal(t, []FiringSummary{{At: noon, Trigger: TriggerCron, Outcome: FiringStarted}}, utc(done.Firings))
	require.Len(t, done.Started, 2)
	require.Equal(t, w.Org.ID, done.Started[0].OrganizationID)
	require.Equal(t, 2, w.Count(`select count(*) from tasks where kind = 'suite:run'`))

	fires := w.firings(id)
	require.Len(t, fires, 1)
	fire := fires[0]
	require.Equal(t, []any{id, true, TriggerCron, FiringStarted, "", 0, (*time.Time)(nil), w.Org.Member.UUID},
		[]any{fire.ScheduleID, fire.At.Equal(noon), fire.Trigger, fire.Outcome, fire.Reason, fire.Missed, fire.MissedUntil, fire.User})
	require.WithinDuration(t, time.Now(), fire.CreatedAt, time.Minute)
	require.Len(t, fire.SuiteRuns, 2)
	for i, want := range []struct {
		suite uuid.UUID
		runs  int
	}{{second, 1}, {first, 2}} {
		got := fire.SuiteRuns[i]
		require.Equal(t, done.Started[i].ID, got.ID)
		require.Equal(t, []any{want.suite, "smoke", w.Org.Member.UUID, "night", run.Queued, want.runs, w.Org.Team.UUID},
			[]any{got.SuiteID, got.SuiteName, got.UserUUID, got.BuildName, got.Status, got.RunCount, got.TeamUUID})
		require.Equal(t, want.runs, got.Counts[run.Queued])
	}
	require.Equal(t, 2, w.Count(`select count(*) from suite_runs where tunnel = 'office' and firing_id = $1`, fire.ID))
	require.Equal(t, 2, w.Count(`select sum(run_count) from test_suites`))
	s := w.stored(id)
	require.Equal(t, []any{Enabled, 1, 0, "", fire.ID}, []any{s.State, s.Runs, s.Failures, s.Error, *s.LastFiring})
	require.True(t, s.Next.Equal(noon.AddDate(0, 0, 1)), s.Next)
	require.True(t, s.LastRun.Equal(at))
	require.Empty(t, w.firings(later))
	require.Equal(t, audited, w.Count(`select count(*) from audit_events`), "the history of fires is the record")

	require.Zero(t, w.fire(at).Claimed)
	require.Equal(t, 1, w.fire(noon.Add(time.Second)).Claimed)
	runs := w.firings(later)[0].SuiteRuns
	require.Equal(t, []any{1, "smoke"}, []any{len(runs), runs[0].BuildName})
}

func utc(fires []FiringSummary) []FiringSummary {
	for i := range fires {
		fires[i].At = fires[i].At.UTC()
	}
	return fires
}

// describe writes the firings of a schedule, the earliest first: time, trigger and
// outcome; of missed times their number and the last one.
func (w *room) describe(id uuid.UUID) (list []string) {
	const clock = "02 15:04:05"
	for _, fire := range w.firings(id) {
		text := fmt.Sprintf("%s %s %s", fire.At.UTC().Format(clock), fire.Trigger, fire.Outcome)
		if fire.Missed > 0 {
			text += fmt.Sprintf(" %d until %s", fire.Missed, fire.MissedUntil.UTC().Format(clock))
		}
		list = append([]string{text}, list...)
	}
	return list
}

func TestFireTimes(t *testing.T) {
	t.Parallel()
	w := open(t)
	suite := w.smoke(1)
	day := func(n int, d time.Duration) time.Time { return noon.AddDate(0, 0, n).Add(d) }
	for name, c := range map[string]struct {
		plan  planned
		late  time.Duration // after noon
		fires []string
		next  time.Time // zero: it is over
	}{
		"on time":        {planned{}, 0, []string{"22 12:00:00 CRON STARTED"}, day(1, 0)},
		"a minute late":  {planned{}, time.Minute, []string{"22 12:00:00 CRON STARTED"}, day(1, 0)},
		"later":          {planned{}, 61 * time.Second, []string{"22 12:00:00 CATCH_UP STARTED"}, day(1, 0)},
		"nearly an hour": {planned{}, time.Hour - time.Second, []string{"22 12:00:00 CATCH_UP STARTED"}, day(1, 0)},
		"an hour late":   {planned{}, time.Hour, []string{"22 12:00:00 CRON SKIPPED 1 until 22 12:00:00"}, day(1, 0)},
		"some missed": {planned{cron: "*/5 * * * *"}, 12 * time.Minute,
			[]string{"22 12:00:00 CRON SKIPPED 2 until 22 12:05:00", "22 12:10:00 CATCH_UP STARTED"}, day(0, 15*time.Minute)},
		"seconds missed": {planned{cron: "* * * * * *"}, 3500 * time.Millisecond,
			[]string{"22 12:00:00 CRON SKIPPED 3 until 22 12:00:02", "22 12:00:03 CATCH_UP STARTED"}, day(0, 4*time.Second)},
		"days missed": {planned{next: day(-2, 0)}, 10 * time.Minute, []string{"20 12:00:00 CRON SKIPPED 2 until 21 12:00:00",
			"22 12:00:00 CATCH_UP STARTED"}, day(1, 0)},
		"all too late": {planned{next: day(-2, 0)}, 2 * time.Hour, []string{"20 12:00:00 CRON SKIPPED 3 until 22 12:00:00"}, day(1, 0)},
		"very many missed": {planned{cron: "* * * * *", next: day(-2, 0)}, 30 * time.Second,
			[]string{"20 12:00:00 CRON SKIPPED 1000 until 22 11:59:00", "22 12:00:00 CATCH_UP STARTED"}, day(0, time.Minute)},
		"its cron says another time now": {planned{cron: "0 9 * * *", next: day(0, -time.Minute)}, 0,
			[]string{"22 11:59:00 CRON STARTED"}, day(1, -3*time.Hour)},
		"so and something was missed": {planned{next: day(0, -time.Minute)}, 0,
			[]string{"22 11:59:00 CRON SKIPPED 1 until 22 11:59:00", "22 12:00:00 CATCH_UP STARTED"}, day(1, 0)},
		"the last time":       {planned{end: noon}, time.Second, []string{"22 12:00:00 CRON STARTED"}, time.Time{}},
		"the last time, late": {planned{end: day(0, time.Second)}, 2 * time.Minute, []string{"22 12:00:00 CATCH_UP STARTED"}, time.Time{}},
		"ended long ago": {planned{cron: "*/5 * * * *", end: day(0, 6*time.Minute)}, 30 * time.Minute,
			[]string{"22 12:00:00 CRON SKIPPED 2 until 22 12:05:00"}, time.Time{}},
		"begins after what is due": {planned{start: day(0, time.Hour)}, 0, []string{"22 12:00:00 CRON STARTED"}, day(1, 0)},
		"the last run":             {planned{maxRuns: 2, runs: 1}, 0, []string{"22 12:00:00 CRON STARTED"}, time.Time{}},
		"one run less":             {planned{maxRuns: 3, runs: 1}, 0, []string{"22 12:00:00 CRON STARTED"}, day(1, 0)},
		"all runs were used":       {planned{maxRuns: 2, runs: 2}, 0, []string{"22 12:00:00 CRON SKIPPED"}, time.Time{}},
		"a missed time is no run": {planned{maxRuns: 2, runs: 1}, 2 * time.Hour,
			[]string{"22 12:00:00 CRON SKIPPED 1 until 22 12:00:00"}, day(1, 0)},
		"the hour that is repeated": {planned{cron: "30 * * * *", zone: "Europe/Berlin", next: time.Date(2026, 10, 25,
			0, 30, 0, 0, time.UTC)}, -28*24*time.Hour - 10*time.Hour - 20*time.Minute,
			[]string{"25 00:30:00 CRON SKIPPED 1 until 25 00:30:00", "25 01:30:00 CATCH_UP STARTED"},
			time.Date(2026, 10, 25, 2, 30, 0, 0, time.UTC)},
	} {
		c.plan.suites = []uuid.UUID{suite}
		id := w.plan(c.plan)
		done := w.fire(noon.Add(c.late))
		require.Equal(t, 1, done.Claimed, name)
		require.Equal(t, c.fires, w.describe(id), name)
		require.Len(t, done.Firings, len(c.fires), name)
		s := w.stored(id)
		if c.next.IsZero() {
			require.Equal(t, []any{Disabled, (*time.Time)(nil), 1}, []any{s.State, s.Next, done.Disabled}, name)
			require.Equal(t, 1, w.audits(account.ScheduleEnded, id), name)
		} else {
			require.Equal(t, Enabled, s.State, name)
			require.Equal(t, c.next.Format(time.RFC3339), s.Next.UTC().Format(time.RFC3339), name)
		}
		w.Exec(`delete from test_schedules`)
	}
}

// A wall time that passed while the service was started again was missed, however short
// that took.
func TestFireAfterARestart(t *testing.T) {
	t.Parallel()
	w := open(t)
	suite := w.smoke(1)
	berlin := planned{cron: "30 2 * * *", zone: "Europe/Berlin"}
	for name, c := range map[string]struct {
		plan    planned
		due     time.Time
		late    time.Duration
		started time.Duration // after what is due
		want    FiringTrigger
	}{
		"it was there":                 {planned{}, noon, 9 * time.Second, -time.Hour, TriggerCron},
		"just in time":                 {planned{}, noon, time.Second, 500 * time.Millisecond, TriggerCron},
		"just missed":                  {planned{}, noon, 3 * time.Second, time.Second, TriggerCatchUp},
		"missed":                       {planned{}, noon, 9 * time.Second, 5 * time.Second, TriggerCatchUp},
		"the hour that does not exist": {berlin, time.Date(2026, 3, 29, 1, 0, 0, 0, time.UTC), 4 * time.Second, time.Second, TriggerCatchUp},
		"so, and it was there":         {berlin, time.Date(2026, 3, 29, 1, 0, 0, 0, time.UTC), 4 * time.Second, -time.Second, TriggerCron},
		"the hour that is repeated":    {berlin, time.Date(2026, 10, 25, 0, 30, 0, 0, time.UTC), 4 * time.Second, time.Second, TriggerCatchUp},
	} {
		c.plan.suites, c.plan.next = []uuid.UUID{suite}, c.due
		id := w.plan(c.plan)
		w.Must(func(ctx context.Context, tx *storage.Tx) error {
			done, err := FireDue(ctx, tx, DueStep{At: c.due.Add(c.late), Limit: 10, Started: c.due.Add(c.started)})
			require.NoError(t, err)
			require.Equal(t, []FiringSummary{{At: c.due, Trigger: c.want, Outcome: FiringStarted}}, utc(done.Firings), name)
			return nil
		})
		require.Len(t, w.firings(id), 1, name)
		w.Exec(`delete from test_schedules`)
		w.endAll()
	}
}

// audits counts the audit rows of a schedule that the clock wrote.
func (w *room) audits(of account.AuditType, id uuid.UUID) int {
	return w.Count(`select count(*) from audit_events where type = $1 and subject = $2 and actor = 'scheduler'`,
		int(of), "test schedule "+id.String())
}

// A schedule of which a run is open is skipped, whatever made that run.
func TestFireWhileOpen(t *testing.T) {
	t.Parallel()
	w := open(t)
	id := w.plan(planned{cron: "*/5 * * * *", suites: []uuid.UUID{w.smoke(1), w.smoke(1)}})
	open := w.fire(noon).Started
	w.Exec(`update suite_runs set state = 'PASSED' where id = $1`, open[0].ID)
	w.Exec(`update suite_runs set state = 'RUNNING' where id = $1`, open[1].ID)
	before := w.stored(id)
	require.Empty(t, w.fire(noon.Add(5*time.Minute)).Started)
	require.Empty(t, w.fire(noon.Add(16*time.Minute)).Started)
	require.Equal(t, []string{"22 12:00:00 CRON STARTED", "22 12:05:00 CRON SKIPPED", "22 12:10:00 CRON SKIPPED 1 until 22 12:10:00",
		"22 12:15:00 CATCH_UP SKIPPED"}, w.describe(id))
	require.Contains(t, w.firings(id)[0].Reason, open[1].ID.String())
	after := w.stored(id)
	require.True(t, after.Next.Equal(noon.Add(20*time.Minute)))
	after.Next = before.Next
	require.Equal(t, before, after, "a fire that is skipped counts for nothing")
	w.endAll()
	require.Len(t, w.fire(noon.Add(20*time.Minute)).Started, 2)
	require.Equal(t, 2, w.stored(id).Runs)
}

// A suite that runs for longer than the interval does not fill the history.
func TestSkippedTimesShareARecord(t *testing.T) {
	t.Parallel()
	w := open(t)
	suite := w.smoke(1)
	id := w.plan(planned{cron: "*/10 * * * * *", suites: []uuid.UUID{suite}})
	require.Len(t, w.fire(noon).Started, 1)
	for i := 1; i <= 4; i++ {
		at := noon.Add(time.Duration(i) * 10 * time.Second)
		done := w.fire(at.Add(time.Second))
		require.Equal(t, []FiringSummary{{At: at, Trigger: TriggerCron, Outcome: FiringSkipped}}, utc(done.Firings))
	}
	require.Equal(t, []string{"22 12:00:00 CRON STARTED", "22 12:00:10 CRON SKIPPED 4 until 22 12:00:40"}, w.describe(id))
	w.endAll()
	require.Len(t, w.fire(noon.Add(50*time.Second)).Started, 1)
	w.fire(noon.Add(time.Minute))
	w.fire(noon.Add(70 * time.Second))
	require.Equal(t, []string{"22 12:00:00 CRON STARTED", "22 12:00:10 CRON SKIPPED 4 until 22 12:00:40",
		"22 12:00:50 CRON STARTED", "22 12:01:00 CRON SKIPPED 2 until 22 12:01:10"}, w.describe(id), "another run, another record")

	w.Exec(`update test_schedule_firings set missed = $1 where missed = 2`, MaxMissed)
	w.fire(noon.Add(80 * time.Second))
	require.Contains(t, w.describe(id), "22 12:01:00 CRON SKIPPED 1000 until 22 12:01:20")
	for from, want := range map[int]int{35: 3, 75: 1, 90: 0} {
		list, total, err := Firings(fixture.Context(t), w.DB, FiringFilter{OrganizationID: w.Org.ID, ScheduleID: id,
			From: noon.Add(time.Duration(from) * time.Second), Page: storage.Page{Limit: 10}})
		require.NoError(t, err)
		require.Len(t, list, want, from)
		require.Equal(t, want, total, from)
	}
}

// A step takes as many schedules as it can start runs for.
func TestStepsAreBoundedBySuites(t *testing.T) {
	t.Parallel()
	w := open(t)
	var suites []uuid.UUID
	for range MaxSuites {
		suites = append(suites, w.smoke(1))
	}
	const n = 45
	for range n {
		w.plan(planned{suites: suites})
	}
	first, second := w.fire(noon), w.fire(noon)
	require.Len(t, first.Started, 2000)
	require.Len(t, second.Started, n*MaxSuites-2000)
	require.Zero(t, w.fire(noon).Claimed)
}

func TestFireFails(t *testing.T) {
	t.Parallel()
	w := open(t)
	tester := w.Org.NewUser("tester", account.Tester)
	suite, empty := w.smoke(1), w.NewSuite(w.Org.Member.Writer, "empty").ID
	blocked := w.Org.NewUser("blocked", account.Member, w.Org.Team)
	w.block(blocked.User)
	w.Exec(`insert into webhooks (organization_id, name, url, actions, status, secret)
		values ($1, 'a', 'https://ci.example.invalid', '{schedule}', 'active', '')`, w.Org.ID)
	for name, c := range map[string]struct {
		plan   planned
		reason string
		state  State
	}{
		"no such user":        {planned{user: fixture.NoUUID}, "running user", Enabled},
		"of others":           {planned{user: w.Rival.Member.UUID}, "running user", Enabled},
		"blocked":             {planned{user: blocked.UUID}, "running user", Enabled},
		"a tester":            {planned{user: tester.UUID}, "running user", Enabled},
		"no tunnel":           {planned{tunnel: "attic"}, "tunnel does not exist: attic", Enabled},
		"no case":             {planned{suites: []uuid.UUID{empty}}, "no case of the suite", Enabled},
		"the fifth time":      {planned{suites: []uuid.UUID{empty}, failures: 4}, "no case of the suite", Errored},
		"no zone":             {planned{zone: "Europe/Atlantis"}, "name of a time zone", Enabled},
		"no suites":           {planned{suites: []uuid.UUID{}}, "no test suites", Disabled},
		"fifth and last time": {planned{user: fixture.NoUUID, failures: 4, end: noon}, "running user", Errored},
		"failed, last time":   {planned{user: fixture.NoUUID, end: noon}, "running user", Disabled},
	} {
		if c.plan.suites == nil {
			c.plan.suites = []uuid.UUID{suite}
		}
		id := w.plan(c.plan)
		done := w.fire(noon)
		require.Equal(t, []string{"22 12:00:00 CRON FAILED"}, w.describe(id), name)
		s := w.stored(id)
		require.Equal(t, []any{c.state, c.plan.failures + 1, 0}, []any{s.State, s.Failures, s.Runs}, name)
		require.Contains(t, s.Error, c.reason, name)
		require.Equal(t, s.Error, w.firings(id)[0].Reason, name)
		require.Nil(t, s.LastFiring, name)
		require.Empty(t, done.Started)
		errored, disabled := 0, 0
		switch c.state {
		case Errored:
			errored = 1
		case Disabled:
			disabled = 1
		}
		require.Equal(t, []int{errored, disabled}, []int{done.Errored, done.Disabled}, name)
		require.Equal(t, []int{errored, disabled}, []int{w.audits(account.ScheduleErrored, id), w.audits(account.ScheduleEnded, id)}, name)
		require.Equal(t, c.state == Enabled, s.Next != nil, name)
		require.Equal(t, errored, w.Count(`select count(*) from webhook_deliveries d join events e on e.id = d.event_id
			where e.action = 'schedule' and e.body->>'scheduleId' = $1 and e.body->>'status' = 'ERRORED'`, id.String()), name)
	}
	require.Zero(t, w.Count(`select count(*) from suite_runs`))
}

// What can start does, and the rest is named.
func TestFirePart(t *testing.T) {
	t.Parallel()
	w := open(t)
	suites := []uuid.UUID{w.NewSuite(w.Org.Member.Writer, "empty "+strings.Repeat("x", 200)).ID, w.smoke(1)}
	for i := range 14 {
		suites = append(suites, w.NewSuite(w.Org.Member.Writer, fmt.Sprint("e", i)).ID)
	}
	id := w.plan(planned{suites: suites, failures: 4})
	require.Len(t, w.fire(noon).Started, 1)
	fire := w.firings(id)[0]
	require.Equal(t, FiringStarted, fire.Outcome)
	require.Contains(t, fire.Reason, `"empty xxx`)
	require.Contains(t, fire.Reason, "and 5 more")
	require.Less(t, len(fire.Reason), 1000)
	s := w.stored(id)
	require.Equal(t, []any{fire.Reason, 0, 1}, []any{s.Error, s.Failures, s.Runs})
}

// A time that has a record already is not fired again: the clock was set back.
func TestFireOnce(t *testing.T) {
	t.Parallel()
	w := open(t)
	suite := w.smoke(1)
	id := w.plan(planned{suites: []uuid.UUID{suite}, maxRuns: 2})
	bad := w.plan(planned{suites: []uuid.UUID{suite}, user: fixture.NoUUID})
	require.Len(t, w.fire(noon).Started, 1)
	w.endAll()
	before, failed := w.stored(id), w.stored(bad)
	w.Exec(`update test_schedules set next_run_at = $1`, noon)
	done := w.fire(noon.Add(time.Second))
	require.Equal(t, 2, done.Claimed)
	require.Empty(t, done.Started)
	require.Empty(t, done.Firings)
	require.Equal(t, before, w.stored(id))
	require.Equal(t, failed, w.stored(bad))
	require.Equal(t, 1, w.Count(`select count(*) from suite_runs`))
	require.Equal(t, 1, w.Count(`select run_count from test_suites`))

	// The suites are gone, and the time was fired: it ends all the same.
	w.Exec(`delete from test_schedule_suites`)
	w.Exec(`update test_schedules set next_run_at = $1`, noon)
	require.Equal(t, 2, w.fire(noon).Disabled)
	require.Equal(t, Disabled, w.stored(id).State)
}

// A fan-out takes the tunnel of the suite run before those of the cases.
func TestFireTunnel(t *testing.T) {
	t.Parallel()
	w := open(t)
	w.office()
	own, named := fixture.LoginCase("own", 1), fixture.LoginCase("named", 1)
	own.Settings.SCTunnelName = fixture.Ptr("attic")
	named.Settings.RunTargets[0].Capabilities["slipway:options"] = map[string]any{"tunnelName": "cellar", "name": "kept"}
	var ids []string
	for _, n := range []authoring.NewCase{own, named, fixture.LoginCase("none", 1)} {
		c, err := w.TryCase(w.Org.Member.Writer, n)
		require.NoError(t, err)
		ids = append(ids, c.ID)
	}
	suite := w.NewSuite(w.Org.Member.Writer, "smoke", ids...).ID
	w.plan(planned{suites: []uuid.UUID{suite}, tunnel: "office"})
	w.plan(planned{suites: []uuid.UUID{suite}})
	started := w.fire(noon).Started
	require.Len(t, started, 2)
	for _, run := range started {
		_, more, err := w.NextRuns(run.ID, 10)
		require.NoError(t, err)
		require.False(t, more)
	}
	tunnels := map[string]int{}
	var rows []struct{ Tunnel, Options string }
	require.NoError(t, w.DB.SelectContext(fixture.Context(t), &rows,
		`select r.tunnel, coalesce(j.target #>> '{capabilities,slipway:options,tunnelName}', '') as options
		from test_runs r join test_jobs j on j.run_id = r.id`))
	for _, row := range rows {
		require.Equal(t, row.Tunnel, row.Options, "the capabilities name the run's tunnel")
		tunnels[row.Tunnel]++
	}
	require.Equal(t, map[string]int{"office": 3, "attic": 1, "cellar": 1, "": 1}, tunnels)
	require.Equal(t, 2, w.Count(`select count(*) from test_jobs where target #>> '{capabilities,slipway:options,name}' = 'kept'`))
}

// What a step did not commit is due again.
func TestFireRolledBack(t *testing.T) {
	t.Parallel()
	w := open(t)
	ids := w.planMany(20)
	lost := fmt.Errorf("the worker was killed")
	err := w.Do(func(ctx context.Context, tx *storage.Tx) error {
		done, err := fireWithTasks(ctx, tx, w, noon, 500)
		require.NoError(t, err)
		require.Len(t, done.Started, 20)
		return lost
	})
	require.ErrorIs(t, err, lost)
	require.Zero(t, w.Count(`select (select count(*) from test_schedule_firings) + (select count(*) from suite_runs) + (select count(*)
		from tasks)`))
	require.Len(t, w.fire(noon.Add(time.Second)).Started, 20)
	for _, id := range ids {
		require.Equal(t, []string{"22 12:00:00 CRON STARTED"}, w.describe(id))
	}
}
