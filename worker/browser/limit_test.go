package browser

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A page that takes memory without end loses its browser, and says why; the browser
// beside it goes on.
func TestPageThatTakesMemoryIsEnded(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/proc/self/status"); err != nil {
		return // limits need /proc
	}
	cfg := localConfig(t, true)
	cfg.Limits = Limits{Memory: 768 << 20}
	p := newPool(t, cfg)
	greedy, other := acquire(t, p, nil), acquire(t, p, nil)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	// In steps: the script must not be what ends it.
	require.NoError(t, greedy.Session.Execute(ctx, `window.taken = [];
		setInterval(() => taken.push(new Uint8Array(32 << 20).fill(1)), 1)`, nil))
	var err error
	require.Eventually(t, func() bool {
		err = greedy.Session.Execute(ctx, "return 1", nil)
		return greedy.Exceeded() != ""
	}, time.Minute, time.Millisecond)
	require.Contains(t, greedy.Exceeded(), "the page used more than 768 MiB of memory")
	require.Eventually(t, func() bool {
		err = greedy.Session.Execute(ctx, "return 1", nil)
		return err != nil
	}, time.Minute, time.Millisecond)
	var one int
	require.NoError(t, other.Session.Execute(ctx, "return 1", &one))
	require.Equal(t, 1, one)
	require.Empty(t, other.Exceeded())
	greedy.Release(ctx, false)
	other.Release(ctx, false)
}

func TestLimits(t *testing.T) {
	t.Parallel()
	l := Limits{}.withDefaults()
	require.Empty(t, l.exceeded(100, 2<<30))
	require.Contains(t, l.exceeded(1, 2<<30+1), "2048 MiB of memory")
	require.Contains(t, l.exceeded(101, 1), "100 processes")
	require.Empty(t, (*Lease)(nil).Exceeded())
	processes, memory := usageOf(parentsOfProcesses(), os.Getpid())
	if _, err := os.Stat("/proc/self/status"); err == nil {
		require.Positive(t, processes)
		require.Positive(t, memory)
	}
}
