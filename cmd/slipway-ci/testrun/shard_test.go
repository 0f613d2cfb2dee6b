package testrun

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/slipway-ci/client"
)

func TestParseShard(t *testing.T) {
	t.Parallel()
	s, err := ParseShard("2/4")
	require.NoError(t, err)
	require.Equal(t, Shard{2, 4}, s)
	require.Equal(t, "2/4", s.String())
	for _, text := range []string{"", "2", "0/4", "5/4", "-1/4", "a/4", "1/0", "1/257", "1/2/3", "1/"} {
		_, err := ParseShard(text)
		var usage *UsageError
		require.ErrorAs(t, err, &usage, text)
	}
}

// Only runs that were over by the instant count: so all jobs of a pipeline see the same.
func TestMedianOfRunsBeforeAnInstant(t *testing.T) {
	t.Parallel()
	ms := func(n int64) *int64 { return &n }
	runs := []client.PastRun{
		{Status: "PASSED", EndDate: "2026-11-29T08:00:01.000Z", DurationMS: ms(100_000)},
		{Status: "FAILED", EndDate: "2026-11-29T08:00:00.000Z", DurationMS: ms(3000)},
		{Status: "RUNNING"},
		{Status: "CANCELLED", EndDate: "2026-11-28T08:00:00.000Z", DurationMS: ms(1)},
		{Status: "PASSED", EndDate: "2026-11-28T08:00:00.000Z", DurationMS: ms(5000)},
		{Status: "ERROR", EndDate: "2026-11-27T08:00:00.000Z", DurationMS: ms(600_000)},
		{Status: "FLAKY", EndDate: "2026-11-27T08:00:00.000Z", DurationMS: ms(4000)},
	}
	at := time.Date(2026, 11, 29, 8, 0, 0, 0, time.UTC)
	d, ok := median(runs, at)
	require.True(t, ok)
	require.Equal(t, 4*time.Second, d)
	d, ok = median(runs, time.Time{})
	require.True(t, ok)
	require.Equal(t, 5*time.Second, d)
	_, ok = median(runs[:1], at)
	require.False(t, ok)
}
