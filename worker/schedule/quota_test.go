package schedule

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/quota"
)

// A time that the organization's day has no room for is skipped with the reason, and the
// schedule goes on.
func TestScheduleBeyondQuota(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var err error
	w.tick.Quotas, err = quota.New(quota.Bounds{quota.RunsPerDay: 2})
	require.NoError(t, err)
	w.schedules(5, w.suite, -time.Second)
	_, claim := w.claimed(0)
	require.NoError(t, w.tick.Handle(t.Context(), claim))
	require.Equal(t, 2, w.number(`select count(*) from suite_runs`))
	require.Equal(t, 2, w.number(`select sum(amount)::int from quota_usage where resource = 'runs_per_day'`))
	require.Equal(t, 3, w.number(`select count(*) from test_schedule_firings where outcome = 'SKIPPED'
		and reason like '%runs_per_day is used up: 2 of 2 are used%midnight UTC%'`))
	require.Equal(t, 5, w.number(`select count(*) from test_schedules where state = 'ENABLED' and next_run_at > now() and failures = 0`))
}
