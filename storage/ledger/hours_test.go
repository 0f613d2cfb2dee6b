package ledger_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/ledger"
)

// ended inserts tasks that ended so long ago, each after a wait and a run of seconds.
func (f fixture) ended(t *testing.T, n int, kind, state, ago string, waited, ran float64) {
	t.Helper()
	_, err := f.db.ExecContext(t.Context(), `insert into tasks (id, kind, queue, payload, state, max_attempts, organization_id, failures,
			run_at, started_at, finished_at)
		select gen_random_uuid(), $2::text, 'q', '{}', $3::text, 3, $4,
			case when $3::text = 'dead' then '[{"attempt":1},{"attempt":2}]'::jsonb end,
			at - make_interval(secs => $6::float8 + $7::float8), at - make_interval(secs => $7::float8), at
		from (select now() - $5::interval as at) a, generate_series(1, $1::int)`, n, kind, state, f.one, ago, waited, ran)
	require.NoError(t, err)
}

// count counts what has ended in steps, until nothing is left.
func (f fixture) count(t *testing.T, step int) (rounds int) {
	t.Helper()
	for more := true; more; rounds++ {
		var err error
		more, err = f.CountEndedBy(t.Context(), step)
		require.NoError(t, err)
		require.Less(t, rounds, 1000)
	}
	return rounds
}

func (f fixture) past(t *testing.T, reach time.Duration) map[string]ledger.Ended {
	t.Helper()
	rows, err := f.Past(t.Context(), reach)
	require.NoError(t, err)
	by := map[string]ledger.Ended{}
	for _, r := range rows {
		require.Equal(t, "q", r.Queue)
		by[r.Kind] = r
	}
	return by
}

func (f fixture) hours(t *testing.T, reach time.Duration) (h *ledger.History, ended, died int64) {
	t.Helper()
	h, err := f.History(t.Context(), reach)
	require.NoError(t, err)
	for i, hour := range h.Hours {
		ended, died = ended+hour.Ended, died+hour.Died
		require.Equal(t, h.Since.Add(time.Duration(i)*time.Hour), hour.At, "no gap")
	}
	return h, ended, died
}

// Each end is counted once, in steps of any size, and stays when its task is deleted.
func TestEndedTasksAreCountedByTheHour(t *testing.T) {
	t.Parallel()
	for _, step := range []int{1, 7, 20_000} {
		t.Run(fmt.Sprint(step), func(t *testing.T) {
			t.Parallel()
			f := open(t)
			f.ended(t, 40, "fast", "succeeded", "3 hours", 0.2, 0.0004)
			f.ended(t, 9, "fast", "succeeded", "2 hours", 40, 3)
			f.ended(t, 1, "fast", "dead", "90 minutes", 4000, 600)
			f.ended(t, 2, "slow", "cancelled", "30 hours", 1, 1)
			f.ended(t, 3, "slow", "succeeded", "100 hours", 5, 50)
			f.ended(t, 5, "slow", "succeeded", "9 days", 5, 50)    // before the first sum
			f.ended(t, 6, "slow", "succeeded", "9 minutes", 5, 50) // a transaction may still add one beside it
			rounds := f.count(t, step)
			require.Equal(t, step < 20_000, rounds > 1, "%d rounds", rounds)
			before := f.past(t, 7*24*time.Hour)
			require.Equal(t, 1, f.count(t, step), "nothing is left")
			require.Equal(t, before, f.past(t, 7*24*time.Hour))

			_, err := f.db.ExecContext(t.Context(), `delete from tasks`)
			require.NoError(t, err)
			day, week := f.past(t, 24*time.Hour), f.past(t, 7*24*time.Hour)
			require.Equal(t, before, week)
			fast := day["fast"]
			require.Equal(t, []int64{50, 1, 2, 50}, []int64{fast.Count, fast.Died, fast.Failed, fast.Measured})
			near := func(want, got float64) {
				t.Helper()
				require.InEpsilon(t, want, got, 0.1)
			}
			near(0.2, fast.Waited.P50)
			near(40, fast.Waited.P95)
			near(4000, fast.Waited.P99)
			require.Zero(t, fast.Ran.P50, "below a millisecond")
			near(3, fast.Ran.P95)
			near(600, fast.Ran.P99)
			require.NotContains(t, day, "slow")
			slow := week["slow"]
			require.Equal(t, []int64{5, 0, 0, 3}, []int64{slow.Count, slow.Died, slow.Failed, slow.Measured}, "cancelled tasks have no times")
			near(5, slow.Waited.P50)
			near(50, slow.Ran.P99)
			all := week[""]
			require.Equal(t, []int64{55, 1, 2, 53}, []int64{all.Count, all.Died, all.Failed, all.Measured})
			near(0.2, all.Waited.P50)

			h, ended, died := f.hours(t, 24*time.Hour)
			require.Len(t, h.Hours, 25)
			require.Equal(t, []int64{50, 1}, []int64{ended, died})
			require.WithinDuration(t, time.Now().Add(-10*time.Minute), h.Until, time.Minute, "up to the lag")
			h, ended, died = f.hours(t, 7*24*time.Hour)
			require.Len(t, h.Hours, 169)
			require.Equal(t, []int64{55, 1}, []int64{ended, died})
		})
	}
}

// Whoever counts at the same time counts nothing twice, and sums that nobody asks for go.
func TestEndedTasksAreCountedOnceByMany(t *testing.T) {
	t.Parallel()
	f := open(t)
	for ago := range 30 {
		f.ended(t, 10, "k", "succeeded", fmt.Sprintf("%d hours 12 minutes", ago), 1, 1)
	}
	_, err := f.db.ExecContext(t.Context(),
		`insert into task_hours values (date_trunc('hour', now() - interval '9 days', 'UTC'), 'q', 'k', 'ended', 0, 1)`)
	require.NoError(t, err)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for more := true; more; {
				var err error
				if more, err = f.CountEndedBy(context.Background(), 13); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	_, ended, _ := f.hours(t, 7*24*time.Hour)
	require.EqualValues(t, 300, ended)
	var old int
	require.NoError(t, f.db.Get(&old, `select count(*) from task_hours where hour < now() - interval '8 days'`))
	require.Zero(t, old)

	// A task that ended while nobody looked is counted by the next round.
	f.ended(t, 1, "k", "succeeded", "601 seconds", 1, 1)
	_, err = f.db.ExecContext(t.Context(), `update task_hours_until set until = now() - interval '602 seconds'`)
	require.NoError(t, err)
	f.count(t, 13)
	_, ended, _ = f.hours(t, 7*24*time.Hour)
	require.EqualValues(t, 301, ended)
}

// The bucket of the statement is read back within a tenth, from a millisecond to a week.
func TestTimesAreEstimatedWithinATenth(t *testing.T) {
	t.Parallel()
	f := open(t)
	seconds := map[string]float64{}
	for s := 0.001; s < 7*24*3600; s *= 1.31 {
		kind := fmt.Sprintf("k%d", len(seconds))
		seconds[kind] = math.Round(s*1000) / 1000
		f.ended(t, 1, kind, "succeeded", "12 minutes", seconds[kind], seconds[kind])
	}
	f.count(t, 20_000)
	past := f.past(t, 24*time.Hour)
	for kind, s := range seconds {
		require.InEpsilon(t, s, past[kind].Waited.P50, 0.0906, kind)
		require.InEpsilon(t, s, past[kind].Ran.P99, 0.0906, kind)
	}
}

// Of very many tasks a round reads those of its step, by the index of the ends.
func TestCountingReadsByTheIndex(t *testing.T) {
	t.Parallel()
	f := open(t)
	_, err := f.db.ExecContext(t.Context(), `insert into tasks (id, kind, queue, payload, state, max_attempts, run_at, started_at, finished_at)
		select gen_random_uuid(), 'k', 'q', '{}', 'succeeded', 1, at, at, at
		from (select now() - make_interval(secs => n * 6) as at from generate_series(1, 50000) n) a`)
	require.NoError(t, err)
	_, err = f.db.ExecContext(t.Context(), `analyze tasks`)
	require.NoError(t, err)
	from := time.Now().Add(-10 * time.Hour)
	for _, q := range []struct {
		query string
		args  []any
	}{{ledger.HoursEndQuery, []any{from, 600, 100}}, {ledger.CountHoursQuery, []any{from, from.Add(10 * time.Minute)}}} {
		var plan []string
		require.NoError(t, f.db.InTx(t.Context(), func(tx *storage.Tx) error {
			return tx.SelectContext(t.Context(), &plan, `explain `+q.query, q.args...)
		}))
		require.Contains(t, strings.Join(plan, "\n"), "tasks_finished")
		require.NotContains(t, strings.Join(plan, "\n"), "Seq Scan on tasks\n")
	}
}

// Attempts that failed are counted with one end of their task, however often it is retried.
func TestFailuresAreCountedOnce(t *testing.T) {
	t.Parallel()
	f := open(t)
	f.ended(t, 2, "k", "dead", "20 minutes", 1, 1)
	f.count(t, 20_000)
	require.EqualValues(t, 4, f.past(t, 24*time.Hour)["k"].Failed)
	var tasks []ledger.Task
	require.NoError(t, f.db.SelectContext(t.Context(), &tasks, `select id from tasks`))
	_, err := ledger.Retry(t.Context(), f.db, ledger.Scope{}, tasks[0].ID, 3)
	require.NoError(t, err)
	_, _, err = ledger.RetryAll(t.Context(), f.db, ledger.Filter{States: []ledger.State{ledger.Dead}, Limit: 5}, ledger.Attempts{"k": 3})
	require.NoError(t, err)
	_, err = f.db.ExecContext(t.Context(), `update tasks set state = 'dead', started_at = now(), finished_at = now() - interval '11 minutes',
		failures = failures || '[{"attempt": 3}]'`)
	require.NoError(t, err)
	_, err = f.db.ExecContext(t.Context(), `update task_hours_until set until = now() - interval '12 minutes'`)
	require.NoError(t, err)
	f.count(t, 20_000)
	require.EqualValues(t, 6, f.past(t, 24*time.Hour)["k"].Failed)
	recent, err := f.Recent(t.Context())
	require.NoError(t, err)
	for _, kind := range recent.Rows {
		require.EqualValues(t, 2, kind.Failed, "those of the last end")
	}
}
