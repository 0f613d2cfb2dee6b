package crash

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// jobs runs n jobs of 100 ms each at once under a pace; it gives how many ran at
// the same time at most, and when all were done.
func jobs(t *testing.T, p *Pace, n int, waited time.Duration) (most int32, took time.Duration) {
	t.Helper()
	var running, peak atomic.Int32
	start := time.Now()
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() {
			end, err := p.begin(context.Background(), waited)
			if err != nil {
				t.Error(err)
				return
			}
			defer end()
			if r := running.Add(1); r > peak.Load() {
				peak.Store(r)
			}
			time.Sleep(100 * time.Millisecond)
			running.Add(-1)
		})
	}
	wg.Wait()
	return peak.Load(), time.Since(start)
}

func TestPace(t *testing.T) {
	for _, tt := range []struct {
		name   string
		crowd  int
		waited time.Duration
		most   int32
		took   time.Duration
	}{
		{"quiet: all at once", 0, 0, 3, 100 * time.Millisecond},
		{"some reports: one at a time", paceTurns, 0, 1, 300 * time.Millisecond},
		{"storm: one at a time, with rests", paceStorm, 0, 1, 300*time.Millisecond + 2*900*time.Millisecond},
		{"a storm that goes on: no rests", paceStorm, paceLag, 1, 300 * time.Millisecond},
		{"flood: rests whatever waits", paceFlood, paceLag, 1, 300*time.Millisecond + 2*900*time.Millisecond},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				most, took := jobs(t, NewPace(func() int { return tt.crowd }), 3, tt.waited)
				require.Equal(t, tt.most, most)
				require.Equal(t, tt.took, took)
			})
		})
	}
}

func TestPaceGoesOnWhenTheStormEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		p := NewPace(func() int {
			if time.Since(start) < 250*time.Millisecond {
				return paceStorm
			}
			return 0
		})
		_, took := jobs(t, p, 3, 0)
		require.Less(t, took, 500*time.Millisecond)
	})
}

func TestPaceObeysTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := NewPace(func() int { return paceStorm })
		end, err := p.begin(t.Context(), 0)
		require.NoError(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		_, err = p.begin(ctx, 0)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		time.Sleep(time.Second)
		end()
		ctx, cancel = context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		_, err = p.begin(ctx, 0) // in its rest
		require.ErrorIs(t, err, context.DeadlineExceeded)
		end, err = p.begin(t.Context(), 0)
		require.NoError(t, err, "a claim that gave up leaves its turn")
		end()
	})
}

func TestNoPaceNeverWaits(t *testing.T) {
	var p *Pace
	end, err := p.begin(context.Background(), 0)
	require.NoError(t, err)
	end()
}
