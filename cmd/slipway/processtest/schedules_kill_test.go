package processtest

import (
	"encoding/json"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// addDueSchedules adds schedules that are due one after another within some seconds, each
// once: in an hour it would be again.
const addDueSchedules = `
with s as (
	select gen_random_uuid() as id, n, date_trunc('second', clock_timestamp()) + interval '3 seconds'
		+ make_interval(secs => (n - 1) * $2::int / $1::int) as at
	from generate_series(1, $1::int) n),
suites as (select id, row_number() over (order by id) - 1 as place, count(*) over () as all from test_suites),
made as (
	insert into test_schedules (id, organization_id, team_id, name, cron, timezone, running_user_uuid, max_runs, state, next_run_at,
		creator_uuid, modifier_uuid)
	select s.id, t.organization_id, t.id, 'Schedule ' || s.n,
		extract(second from s.at)::int || ' ' || extract(minute from s.at)::int || ' * * * *', 'UTC', u.uuid, 1, 'ENABLED', s.at, u.uuid, u.uuid
	from s, teams t, users u),
of as (
	insert into test_schedule_suites (schedule_id, suite_id, position)
	select s.id, x.id, 0 from s join suites x on x.place = s.n % x.all)
select id, at from s`

// due is a schedule with the time at which it is due.
type due struct {
	ID string
	At time.Time
}

// addSuites creates suites with a case each, by the api, which is stopped again.
func (c *cluster) addSuites(t *testing.T, n int) {
	t.Helper()
	var key json.RawMessage
	answer(t, c.variables, &key, "admin", "key", "create", "acme", "ada@example.com", "--kind", "access")
	p, at := c.api(t, quietPort(t))
	s := &runStory{tester: tester{base: at.base, user: c.owned(t), key: secretIn(t, key)}, t: t}
	for i := range n {
		name := "Suite " + strconv.Itoa(i)
		s.ok(t, http.StatusCreated, http.MethodPost, "/testsuites",
			obj{"name": name, "testCases": []string{s.add(name, []obj{openPage("https://shop.example.com/")}, nil).ID}}, nil)
	}
	p.kill()
}

// checkFires compares the fire records with what was due.
func (c *cluster) checkFires(t *testing.T, want []due) {
	t.Helper()
	var rows []struct {
		ID      string    `db:"schedule_id"`
		At      time.Time `db:"fire_at"`
		Made    time.Time `db:"created_at"`
		Trigger string    `db:"trigger"`
		Outcome string    `db:"outcome"`
		Runs    int       `db:"runs"`
	}
	require.NoError(t, c.db.SelectContext(t.Context(), &rows, `
		select schedule_id, fire_at, created_at, trigger, outcome,
			(select count(*) from suite_runs r join tasks k on k.id = r.id and k.kind = 'suite:run' where r.firing_id = f.id) as runs
		from test_schedule_firings f`))
	require.Len(t, rows, len(want))
	at := map[string]time.Time{}
	for _, d := range want {
		at[d.ID] = d.At
	}
	var latest time.Duration
	for _, r := range rows {
		due, there := at[r.ID]
		require.True(t, there, "schedule %s fired twice", r.ID)
		delete(at, r.ID)
		require.WithinDuration(t, due, r.At, 0)
		require.Contains(t, []string{"CRON", "CATCH_UP"}, r.Trigger) // the latter when the machine is that slow
		require.Equal(t, "STARTED 1", r.Outcome+" "+strconv.Itoa(r.Runs))
		require.False(t, r.Made.Before(r.At), "a fire at %s was recorded at %s", r.At, r.Made)
		latest = max(latest, r.Made.Sub(r.At))
	}
	require.Empty(t, at, "schedules that did not fire")
	require.Equal(t, len(want), c.count(t, `select count(*) from suite_runs`))
	require.Equal(t, len(want), c.count(t, `select count(*) from test_schedules where state = 'DISABLED' and run_count = 1`))
	t.Logf("%d fires, the latest %s after its time", len(rows), latest)
}
