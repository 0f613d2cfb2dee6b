package schedule

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync/atomic"
	"time"

	"github.com/slipway-qa/slipway/cmd/bench/process"
	"github.com/slipway-qa/slipway/cmd/bench/progress"
)

// addSuite inserts suites of one case each, which could run: the target has a browser that
// nobody serves here, so the run stays open.
const addSuite = `
with u as (select uuid from users order by id limit 1), t as (select id, organization_id from teams order by id limit 1),
suites as (
	insert into test_suites (id, organization_id, team_id, name, creator_uuid, modifier_uuid)
	select ('00000000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, t.organization_id, t.id, 'Suite ' || n, u.uuid, u.uuid
	from t, u, generate_series(1, $1::int) n
	returning id),
cases as (
	insert into test_cases (id, organization_id, team_id, suite_id, name, run_settings, runnable, creator_uuid, modifier_uuid)
	select lpad(to_hex(n), 24, '0'), t.organization_id, t.id, ('00000000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, 'Case ' || n,
		'{"testUrl":"https://shop.example.com","runTargets":[{"capabilities":{"browserName":"chrome"},"isRdc":false}]}', true, u.uuid, u.uuid
	from t, u, generate_series(1, $1::int) n
	returning id)
insert into test_revisions (id, case_id, number, steps)
select lpad(to_hex(n), 24, '0'), lpad(to_hex(n), 24, '0'), 1,
	'[{"id":"s1","tool":{"type":"go_to_url","args":{"url":"https://shop.example.com/"}}}]'
from generate_series(1, $1::int) n`

func (f *Fleet) addSuites(ctx context.Context, n int) error {
	_, err := f.DB.ExecContext(ctx, addSuite, n)
	return err
}

// addSchedule inserts schedules with a suite each, or shared. $2 is the first firing of the
// first one, $3 the last that may be. With a period of zero all are due at $2 and in an hour
// again; else they are spread over a minute and fire every minute. Zones differ by whole
// hours, which such expressions do not see.
const addSchedule = `
with u as (select uuid from users order by id limit 1), t as (select id, organization_id from teams order by id limit 1),
s as (
	select n, ('00000000-0000-7000-9000-' || lpad(to_hex(n), 12, '0'))::uuid as id,
		$2::timestamptz + make_interval(secs => case when $4::boolean
			then mod(60 + (n - 1) * 60 / $1::int - extract(second from $2::timestamptz)::int, 60) else 0 end) as at
	from generate_series(1, $1::int) n),
made as (
	insert into test_schedules (id, organization_id, team_id, name, cron, timezone, running_user_uuid, end_at, state, next_run_at,
		creator_uuid, modifier_uuid)
	select s.id, t.organization_id, t.id, 'Schedule ' || n,
		extract(second from at)::int || case when $4 then ' * * * * *' else ' ' || extract(minute from at)::int || ' * * * *' end,
		(array['UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Tokyo'])[1 + n % 4], u.uuid,
		case when $4 then $3::timestamptz end, 'ENABLED', at, u.uuid, u.uuid
	from s, t, u where at <= $3
	returning id)
insert into test_schedule_suites (schedule_id, suite_id, position)
select s.id, ('00000000-0000-7000-8000-' || lpad(to_hex(1 + (s.n - 1) % (select count(*)::int from test_suites)), 12, '0'))::uuid, 0
from s where at <= $3`

// addSchedules inserts schedules, without those that would first fire after last.
func (f *Fleet) addSchedules(ctx context.Context, first, last time.Time, n int, period time.Duration) error {
	if _, err := f.DB.ExecContext(ctx, addSchedule, n, first, last, period > 0); err != nil {
		return err
	}
	_, err := f.DB.ExecContext(ctx, `analyze`)
	return err
}

const addYear = `
with u as (select uuid from users order by id limit 1), t as (select id, organization_id from teams order by id limit 1),
s as (select n, ('00000000-0000-7000-9000-' || lpad(to_hex(n), 12, '0'))::uuid as id from generate_series(1, $1::int) n),
made as (
	insert into test_schedules (id, organization_id, team_id, name, cron, timezone, running_user_uuid, state, next_run_at, creator_uuid,
		modifier_uuid)
	select s.id, t.organization_id, t.id, 'Schedule ' || n, '0 0 ' || 1 + n % 28 || ' 1 *', 'UTC', u.uuid, 'ENABLED',
		date_trunc('year', now() at time zone 'UTC', 'UTC') + interval '1 year' + make_interval(days => n % 28), u.uuid, u.uuid
	from s, t, u)
insert into test_schedule_suites (schedule_id, suite_id, position)
select s.id, ('00000000-0000-7000-8000-' || lpad(to_hex(1 + s.n % 1000), 12, '0'))::uuid, 0 from s`

// addYearly inserts schedules that are due next January.
func (f *Fleet) addYearly(ctx context.Context, n int) error {
	if _, err := f.DB.ExecContext(ctx, addYear, n); err != nil {
		return err
	}
	_, err := f.DB.ExecContext(ctx, `vacuum analyze`)
	return err
}

// firingKey is a schedule and a time at which it is due, in seconds since 1970.
type firingKey struct {
	schedule string
	at       int64
}

// expected returns the firings that are due until last. It must be called before
// the first one is due.
func (f *Fleet) expected(ctx context.Context, last time.Time) (map[firingKey]bool, error) {
	var rows []struct {
		ID string    `db:"id"`
		At time.Time `db:"next_run_at"`
	}
	if err := f.DB.SelectContext(ctx, &rows, `select id, next_run_at from test_schedules`); err != nil {
		return nil, err
	}
	want := map[firingKey]bool{}
	for _, r := range rows {
		for at := r.At; !at.After(last); at = at.Add(time.Minute) {
			want[firingKey{r.ID, at.Unix()}] = true
		}
	}
	return want, nil
}

// lateness is how late firings were, sorted.
type lateness []time.Duration

// quantile returns a quantile; of none a time that misses every target.
func (l lateness) quantile(q float64) time.Duration {
	if len(l) == 0 {
		return math.MaxInt64
	}
	return l[min(len(l)-1, int(q*float64(len(l))))]
}

const watchEvery = 20 * time.Millisecond

// newFirings counts firings by the time that was planned and the transaction: its rows have
// one created_at and become visible together.
const newFirings = `
select fire_at, created_at, count(*) as n from test_schedule_firings
where created_at >= $1 and outcome = 'STARTED' group by fire_at, created_at`

// watch queries the committed firings every 20 ms, until there are want of them
// or the time is over, and once at least. The lateness of a firing ends when the query that returned
// it has ended: it includes the time of the transaction and of the query.
func (f *Fleet) watch(ctx context.Context, want int, until time.Time) (lateness, error) {
	type group struct{ at, made int64 }
	known := map[group]int{}
	var seen lateness
	var count atomic.Int64
	defer progress.WaitsFor(ctx, func() string { return fmt.Sprintf("%d of %d firings", count.Load(), want) })()
	var newest time.Time
	if err := f.DB.GetContext(ctx, &newest, `select now()`); err != nil {
		return nil, err
	}
	for first := true; first || len(seen) < want && time.Now().Before(until); first = false {
		if err := process.Sleep(ctx, watchEvery); err != nil {
			return nil, err
		}
		var rows []struct {
			At   time.Time `db:"fire_at"`
			Made time.Time `db:"created_at"`
			N    int       `db:"n"`
		}
		// A transaction may be seen some seconds after one that began later.
		if err := f.DB.SelectContext(ctx, &rows, newFirings, newest.Add(-10*time.Second)); err != nil {
			return nil, err
		}
		now := time.Now()
		for _, r := range rows {
			g := group{r.At.UnixNano(), r.Made.UnixNano()}
			for ; known[g] < r.N; known[g]++ {
				seen = append(seen, now.Sub(r.At))
			}
			if r.Made.After(newest) {
				newest = r.Made
			}
		}
		count.Store(int64(len(seen)))
	}
	slices.Sort(seen)
	return seen, nil
}

// comparison counts firings that are not as they should be.
type comparison struct{ missing, duplicate, notDue int }

const allFirings = `
select f.schedule_id, f.fire_at, (select count(*) from suite_runs r where r.firing_id = f.id) as runs
from test_schedule_firings f where f.outcome = 'STARTED'`

// compare counts the firings that have no suite run, or not one (double: several for
// a schedule and time), and those that no schedule asked for.
func (f *Fleet) compare(ctx context.Context, want map[firingKey]bool) (comparison, error) {
	var rows []struct {
		Schedule string    `db:"schedule_id"`
		At       time.Time `db:"fire_at"`
		Runs     int       `db:"runs"`
	}
	if err := f.DB.SelectContext(ctx, &rows, allFirings); err != nil {
		return comparison{}, err
	}
	runs := map[firingKey]int{}
	for _, r := range rows {
		runs[firingKey{r.Schedule, r.At.Unix()}] += r.Runs
	}
	var c comparison
	for key := range want {
		switch n := runs[key]; {
		case n == 0:
			c.missing++
		case n > 1:
			c.duplicate++
		}
	}
	for key := range runs {
		if !want[key] {
			c.notDue++
		}
	}
	return c, nil
}

// endSuiteRuns ends the suite runs that have got their case runs, as if browsers had passed
// them; the tasks of the jobs end with them.
const endSuiteRuns = `
with ended as (
	update suite_runs set state = 'PASSED', started_at = coalesce(started_at, now()), finished_at = now()
	where state in ('QUEUED', 'RUNNING') and fanned_out returning id),
runs as (
	update test_runs r set state = 'PASSED', started_at = coalesce(started_at, now()), finished_at = now()
	from ended e where r.suite_run_id = e.id returning r.id),
jobs as (
	update test_jobs j set state = 'PASSED', started_at = coalesce(started_at, now()), finished_at = now()
	from runs r where j.run_id = r.id returning j.id)
update tasks t set state = 'succeeded', finished_at = now() from jobs j where t.id = j.id`

func (f *Fleet) endSuiteRuns(ctx context.Context) error {
	if _, err := f.DB.ExecContext(ctx, endSuiteRuns); err != nil {
		return fmt.Errorf("end suite runs: %w", err)
	}
	return nil
}
