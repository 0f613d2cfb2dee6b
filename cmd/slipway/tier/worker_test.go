package tier

import (
	"testing"

	"github.com/alecthomas/kong"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/slipway/setting"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/worker"
)

func TestDefaultPoolsServeAllQueues(t *testing.T) {
	t.Parallel()
	var s struct{ setting.Settings }
	parser, err := kong.New(&s)
	require.NoError(t, err)
	_, err = parser.Parse(nil)
	require.NoError(t, err)
	queues, err := servedQueues(s.WorkerPools)
	require.NoError(t, err)
	require.ElementsMatch(t, tasks.Queues(), queues)
	pools, err := worker.ParsePools(s.WorkerPools)
	require.NoError(t, err)
	require.Contains(t, pools, worker.Pool{Slots: 2, Queues: map[string]int{tasks.Schedule: 1}}, "nothing makes schedules wait")
}

// TestWarmBrowsers counts the slots that need browsers, and keeps no more than the processors
// can drive.
func TestWarmBrowsers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pools      string
		processors int
		want       int
	}{
		{"2:schedule=1;2:run=1;2:generate=1", 2, 2},
		{"2:schedule=1;2:run=1;2:generate=1", 1, 2},
		{"2:schedule=1;2:run=1;2:generate=1", 8, 4},
		{"16:run=1,generate=1", 8, 8},
		{"1:run=1", 8, 1},
		{"2:crash=1", 8, 0},
	} {
		pools, err := worker.ParsePools(c.pools)
		require.NoError(t, err)
		require.Equal(t, c.want, warmBrowsers(pools, c.processors), "%s on %d", c.pools, c.processors)
	}
}
