package schedule_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/lib/pq"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/run"
	. "github.com/slipway-qa/slipway/storage/schedule"
)

func TestFirings(t *testing.T) {
	t.Parallel()
	w := open(t)
	id := w.plan(planned{cron: "*/5 * * * *", suites: []uuid.UUID{w.smoke(1), w.smoke(1)}})
	for i := range 6 {
		w.fire(noon.Add(time.Duration(i) * 5 * time.Minute))
		w.endAll()
	}
	read := func(org int64, f FiringFilter) (times []string, total int) {
		f.OrganizationID = org
		if f.ScheduleID == uuid.Nil {
			f.ScheduleID = id
		}
		list, total, err := Firings(fixture.Context(t), w.DB, f)
		require.NoError(t, err)
		require.NotNil(t, list)
		for _, fire := range list {
			require.Len(t, fire.SuiteRuns, 2)
			times = append(times, fire.At.UTC().Format("15:04"))
		}
		return times, total
	}
	times, total := read(w.Org.ID, FiringFilter{Page: storage.Page{Limit: 2, Offset: 1}})
	require.Equal(t, []any{[]string{"12:20", "12:15"}, 6}, []any{times, total})
	times, total = read(w.Org.ID, FiringFilter{From: noon.Add(5 * time.Minute), To: noon.Add(15 * time.Minute), Page: storage.Page{Limit: 10}})
	require.Equal(t, []any{[]string{"12:10", "12:05"}, 2}, []any{times, total})
	times, total = read(w.Org.ID, FiringFilter{Page: storage.Page{Limit: 2, Offset: 6}})
	require.Equal(t, []any{0, 6}, []any{len(times), total})
	times, total = read(w.Org.ID, FiringFilter{})
	require.Equal(t, []any{0, 6}, []any{len(times), total})
	for _, none := range []struct {
		org int64
		id  uuid.UUID
	}{{w.Rival.ID, id}, {w.Org.ID, fixture.NoUUID}} {
		times, total = read(none.org, FiringFilter{ScheduleID: none.id, Page: storage.Page{Limit: 10}})
		require.Equal(t, []any{0, 0}, []any{len(times), total})
	}
	w.Exec(`delete from suite_runs`)
	require.Equal(t, []run.SuiteRun{}, w.firings(id)[0].SuiteRuns, "those that were forgotten")
}

func (w *room) nextDue() (in time.Duration, some bool) {
	w.T.Helper()
	now, in, some, err := NextDue(fixture.Context(w.T), w.DB)
	require.NoError(w.T, err)
	require.WithinDuration(w.T, time.Now(), now, time.Minute)
	return in, some
}

func TestNextDue(t *testing.T) {
	t.Parallel()
	w := open(t)
	_, some := w.nextDue()
	require.False(t, some)
	now := time.Now().Truncate(time.Second)
	hour := w.plan(planned{next: now.Add(time.Hour)})
	in, some := w.nextDue()
	require.True(t, some)
	require.InDelta(t, time.Hour, in, float64(time.Minute))
	due := w.plan(planned{next: now.Add(-time.Minute)})
	in, some = w.nextDue()
	require.True(t, some)
	require.InDelta(t, -time.Minute, in, float64(30*time.Second))

	// What somebody fires is not due for others; who looks leaves no lock behind.
	w.Must(func(ctx context.Context, tx *storage.Tx) error {
		done, err := FireDue(ctx, tx, DueStep{At: now, Limit: 10})
		require.NoError(t, err)
		require.Equal(t, 1, done.Claimed)
		in, some = w.nextDue()
		require.True(t, some)
		require.InDelta(t, time.Hour, in, float64(time.Minute))
		w.Exec(`update test_schedules set state = 'DISABLED', next_run_at = null where id = $1`, hour)
		_, some = w.nextDue()
		require.False(t, some)
		return nil
	})
	require.Equal(t, []string{now.UTC().Add(-time.Minute).Format("02 15:04:05") + " CRON FAILED"}, w.describe(due))
}

// record inserts n firings of a schedule, a second apart.
func (w *room) record(schedule uuid.UUID, n int, age string) {
	w.T.Helper()
	w.Exec(`insert into test_schedule_firings (id, organization_id, schedule_id, fire_at, trigger, outcome, user_uuid, created_at)
		select gen_random_uuid(), $1, $2, now() - n * interval '1 second', 'CRON', 'STARTED', $3, now() - $4::interval
		from generate_series(1, $5) n`, w.Org.ID, schedule, w.Org.Member.UUID, age, n)
}

func TestForgetFirings(t *testing.T) {
	t.Parallel()
	w := open(t)
	kept := w.plan(planned{})
	forget := func(limit int) int64 {
		n, err := ForgetFirings(fixture.Context(t), w.DB, time.Now().Add(-24*time.Hour), limit)
		require.NoError(t, err)
		return n
	}
	w.record(kept, 5, "1 hour")
	w.record(fixture.NoUUID, 4, "1 hour")
	require.Zero(t, forget(10))
	w.Exec(`update test_schedule_firings set created_at = now() - interval '25 hours' where fire_at < now() - interval '2 seconds'`)
	old := w.Count(`select count(*) from test_schedule_firings where created_at < now() - interval '24 hours'`)
	require.EqualValues(t, 2, forget(2))
	require.EqualValues(t, old-2, forget(10))
	require.Zero(t, forget(10))
	require.Equal(t, 9-old, w.Count(`select count(*) from test_schedule_firings`))
}

// forgetOrphans goes through all firings, and returns how many each step forgot.
func (w *room) forgetOrphans(limit int) (steps []int64) {
	w.T.Helper()
	for from := (&FiringPosition{}); from != nil; {
		n, next, err := ForgetOrphanFirings(fixture.Context(w.T), w.DB, *from, limit)
		require.NoError(w.T, err)
		require.LessOrEqual(w.T, n, int64(limit))
		from, steps = next, append(steps, n)
	}
	return steps
}

func TestForgetOrphanFirings(t *testing.T) {
	t.Parallel()
	w := open(t)
	require.Equal(t, []int64{0}, w.forgetOrphans(10), "no firings at all")
	// Some schedules are there (L), others are gone; in the order of their ids.
	live := map[int]bool{0: true, 3: true, 4: true, 5: true, 9: true}
	for i, fires := range []int{2, 1, 7, 1, 1, 1, 1, 3, 1, 2} {
		id := uuid.Must(uuid.NewV7())
		if live[i] {
			id = w.plan(planned{})
		}
		w.record(id, fires, "1 hour")
	}
	all := `select string_agg(distinct schedule_id::text, ',' order by schedule_id::text) from test_schedule_firings`
	var before, after, schedules string
	require.NoError(t, w.DB.GetContext(fixture.Context(t), &schedules, `select string_agg(id::text, ',' order by id) from test_schedules`))
	require.NoError(t, w.DB.GetContext(fixture.Context(t), &before, all))
	require.NotEqual(t, schedules, before)
	// Firings: 2L 1 7 1L 1L 1L 1 3 1 2L. The first step looks at three schedules, of which
	// the third has more than enough: it is emptied before the walk goes on.
	require.Equal(t, []int64{3, 3, 2, 3, 2}, w.forgetOrphans(3))
	require.NoError(t, w.DB.GetContext(fixture.Context(t), &after, all))
	require.Equal(t, schedules, after)
	require.Equal(t, 7, w.Count(`select count(*) from test_schedule_firings`))
	for limit, steps := range map[int]int{1: 5, 2: 3, 4: 2, 5: 1, 100: 1} {
		require.Len(t, w.forgetOrphans(limit), steps, limit)
	}
	// Whatever the limit, nothing is left.
	for _, limit := range []int{1, 2, 5, 6, 100} {
		for i := range 9 {
			w.record(uuid.New(), 1+i, "1 hour")
		}
		w.forgetOrphans(limit)
		require.Equal(t, 7, w.Count(`select count(*) from test_schedule_firings`), limit)
	}
}

// explain returns the plan of a statement.
func (w *room) explain(query string, args ...any) string {
	w.T.Helper()
	var lines []string
	require.NoError(w.T, w.DB.SelectContext(fixture.Context(w.T), &lines, `explain (analyze, buffers, costs off) `+query, args...))
	return strings.Join(lines, "\n")
}

// What is asked each second touches a few rows, however many schedules there are.
func TestManySchedules(t *testing.T) {
	t.Parallel()
	w := open(t)
	const n = 20_000
	w.Exec(`insert into test_schedules (id, organization_id, team_id, name, cron, timezone, running_user_uuid, state, next_run_at,
			creator_uuid, modifier_uuid)
		select gen_random_uuid(), $1, $2, 'schedule ' || i, '*/5 * * * *', 'Europe/Berlin', $3, 'ENABLED', now() + i * interval '1 minute', $3, $3
		from generate_series(1, $4::int) i`, w.Org.ID, w.Org.Team.ID, w.Org.Member.UUID, n)
	w.Exec(`insert into test_schedule_firings (id, organization_id, schedule_id, fire_at, trigger, outcome, user_uuid)
		select gen_random_uuid(), organization_id, id, now(), 'CRON', 'STARTED', running_user_uuid from test_schedules limit 5000`)
	w.Exec(`vacuum analyze test_schedules`)
	w.Exec(`vacuum analyze test_schedule_firings`)
	plan := w.explain(NextDueStatement)
	t.Log(plan)
	require.Contains(t, plan, "Index Only Scan using test_schedules_due")
	require.NotContains(t, plan, "Seq Scan")
	require.NotContains(t, plan, "Sort")
	in, some := w.nextDue()
	require.True(t, some)
	require.Positive(t, in)

	plan = w.explain(ClaimStatement, time.Now().Add(24*time.Hour), 500, pq.Array([]string{}))
	t.Log(plan)
	require.Contains(t, plan, "Index Scan using test_schedules_due")
	require.NotContains(t, plan, "Seq Scan on test_schedules")
	require.NotContains(t, plan, "Sort")
	plan = w.explain(OrphansStatement, fixture.NoUUID, noon, 1000)
	t.Log(plan)
	require.Contains(t, plan, "Index Only Scan using test_schedule_firings_latest")
	require.Contains(t, plan, "Index Only Scan using test_schedules_pkey")
	require.NotContains(t, plan, "Seq Scan")
}
