package schedule

import (
	"os"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/bench/process"
	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
)

func TestMain(m *testing.M) { os.Exit(servicetest.Main(m)) }

// newFleet is a fleet without processes, with an organization.
func newFleet(t *testing.T) *Fleet {
	t.Helper()
	f := fixture.Empty(t)
	f.Bootstrap("")
	return &Fleet{DB: f.DB}
}

const addFirings = `
with fires as (
	insert into test_schedule_firings (id, organization_id, schedule_id, fire_at, trigger, outcome, user_uuid)
	select gen_random_uuid(), organization_id, id, next_run_at, 'CRON', 'STARTED', running_user_uuid from test_schedules
	returning id, organization_id, user_uuid)
insert into suite_runs (id, organization_id, team_id, suite_id, suite_name, user_uuid, build_name, run_count, firing_id, fanned_out)
select gen_random_uuid(), organization_id, 1, gen_random_uuid(), 'Suite', user_uuid, 'Suite', 1, id, true from fires`

func TestScheduleComparison(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	require.NoError(t, f.addSuites(t.Context(), 5))
	first := time.Now().Truncate(time.Second)
	require.NoError(t, f.addSchedules(t.Context(), first, first.Add(89*time.Second), 30, time.Minute))
	want, err := f.expected(t.Context(), first.Add(89*time.Second))
	require.NoError(t, err)
	require.Len(t, want, 45, "each once in the first minute, half of them again")
	got, err := f.compare(t.Context(), want)
	require.NoError(t, err)
	require.Equal(t, comparison{missing: 45}, got)

	_, err = f.DB.ExecContext(t.Context(), addFirings)
	require.NoError(t, err)
	got, err = f.compare(t.Context(), want)
	require.NoError(t, err)
	require.Equal(t, comparison{missing: 15}, got)
	late, err := f.watch(t.Context(), 30, time.Now().Add(time.Minute))
	require.NoError(t, err)
	require.Len(t, late, 30)
	require.True(t, slices.IsSorted(late))
	late, err = f.watch(t.Context(), 31, time.Now().Add(100*time.Millisecond))
	require.NoError(t, err)
	require.Len(t, late, 30, "each is seen once")

	require.NoError(t, f.endSuiteRuns(t.Context()))
	var open int
	require.NoError(t, f.DB.GetContext(t.Context(), &open, `select count(*) from suite_runs where state <> 'PASSED'`))
	require.Zero(t, open)
	_, err = f.DB.ExecContext(t.Context(),
		`insert into suite_runs (id, organization_id, team_id, suite_id, suite_name, user_uuid, build_name, run_count, firing_id)
		select gen_random_uuid(), organization_id, team_id, suite_id, suite_name, user_uuid, build_name, 1, firing_id from suite_runs limit 2`)
	require.NoError(t, err)
	_, err = f.DB.ExecContext(t.Context(), `update test_schedule_firings set fire_at = fire_at + interval '1 second'
		where id = (select firing_id from suite_runs group by firing_id having count(*) = 1 limit 1)`)
	require.NoError(t, err)
	got, err = f.compare(t.Context(), want)
	require.NoError(t, err)
	require.Equal(t, comparison{missing: 16, duplicate: 2, notDue: 1}, got)
}

func TestScheduleRows(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	require.NoError(t, f.addSuites(t.Context(), 1000))
	due := time.Now().Truncate(time.Second)
	require.NoError(t, f.addSchedules(t.Context(), due, due, 20, 0))
	want, err := f.expected(t.Context(), due)
	require.NoError(t, err)
	require.Len(t, want, 20)
	for key := range want {
		require.Equal(t, due.Unix(), key.at)
	}
	_, err = f.DB.ExecContext(t.Context(), `delete from test_schedules`)
	require.NoError(t, err)
	require.NoError(t, f.addYearly(t.Context(), 30))
	want, err = f.expected(t.Context(), due)
	require.NoError(t, err)
	require.Empty(t, want, "all are due next year")
	rate, err := f.measureBaseline(t.Context(), 100*time.Millisecond)
	require.NoError(t, err)
	require.Positive(t, rate)
}

func TestLateness(t *testing.T) {
	t.Parallel()
	l := lateness{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
	require.EqualValues(t, 6, l.quantile(0.5))
	require.EqualValues(t, 10, l.quantile(0.99))
	require.EqualValues(t, 10, l.quantile(1))
	require.Greater(t, lateness(nil).quantile(0.5), time.Hour, "nothing seen misses every target")
}

// The parts with real processes, short: the counts must be right; the times depend
// on the machine.
func TestScheduleBench(t *testing.T) {
	t.Parallel()
	program, err := process.Build(t.Context(), t.TempDir(), "")
	require.NoError(t, err)
	for _, part := range []string{"burst", "steady", "idle"} {
		t.Run(part, func(t *testing.T) {
			t.Parallel()
			c := &Command{Burst: 60, Suites: 20, Rate: 240, For: 4 * time.Second, Kill: time.Second, Idle: 100,
				Quiet: time.Second, Baseline: 100 * time.Millisecond, Lead: 20 * time.Second, Only: []string{part}, Binary: program}
			missed, err := c.measure(t.Context())
			require.NoError(t, err)
			for _, target := range missed {
				require.NotContains(t, target, "missing, double", "firings were lost or done twice")
			}
		})
	}
}
