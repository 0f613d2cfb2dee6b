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

// jobs runs n jobs of 100 ms each at once under a throttle; it returns how many ran
// at the same time at most, and how long all took.
func jobs(t *testing.T, throttle *Throttle, n int, age time.Duration) (most int32, took time.Duration) {
	t.Helper()
	var running, peak atomic.Int32
	start := time.Now()
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() {
			release, err := throttle.acquire(context.Background(), age)
			if err != nil {
				t.Error(err)
				return
			}
			defer release()
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

func TestThrottle(t *testing.T) {
	for _, tt := range []struct {
		name    string
		waiting int
		age     time.Duration
		most    int32
		took    time.Duration
	}{
		{name: "quiet: all at once", most: 3, took: 100 * time.Millisecond},
		{name: "some reports: one at a time", waiting: oneAtATime, most: 1, took: 300 * time.Millisecond},
		// The third waits 300 ms while the second pauses and works: it has to wait no longer.
		{name: "burst: with pauses until the report is old", waiting: pauseFrom, most: 1,
			took: 300*time.Millisecond + 200*time.Millisecond + 60*time.Millisecond},
		// The third is late after 40 ms of its pause.
		{name: "a long burst: short pauses", waiting: pauseFrom, age: maxLag, most: 1,
			took: 300*time.Millisecond + 60*time.Millisecond + 40*time.Millisecond},
		{name: "reports that are late: no pauses", waiting: pauseAlways - 1, age: lateLag, most: 1, took: 300 * time.Millisecond},
		{name: "flood: pauses however old", waiting: pauseAlways, age: lateLag, most: 1, took: 300*time.Millisecond + 2*900*time.Millisecond},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				most, took := jobs(t, NewThrottle(func() int { return tt.waiting }), 3, tt.age)
				require.Equal(t, tt.most, most)
				require.Equal(t, tt.took, took)
			})
		})
	}
}

func TestThrottleEndsWithTheBurst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		throttle := NewThrottle(func() int {
			if time.Since(start) < 250*time.Millisecond {
				return pauseFrom
			}
			return 0
		})
		_, took := jobs(t, throttle, 3, 0)
		require.Less(t, took, 500*time.Millisecond)
	})
}

func TestThrottleObeysTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		throttle := NewThrottle(func() int { return pauseFrom })
		release, err := throttle.acquire(t.Context(), 0)
		require.NoError(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		_, err = throttle.acquire(ctx, 0)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		time.Sleep(time.Second)
		release()
		ctx, cancel = context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		_, err = throttle.acquire(ctx, 0) // in its pause
		require.ErrorIs(t, err, context.DeadlineExceeded)
		release, err = throttle.acquire(t.Context(), 0)
		require.NoError(t, err, "a job that gave up releases its slot")
		release()
	})
}

func TestNoThrottleNeverWaits(t *testing.T) {
	var throttle *Throttle
	release, err := throttle.acquire(context.Background(), 0)
	require.NoError(t, err)
	release()
}

func TestClaimsAreSmallBesideABusyReceiver(t *testing.T) {
	t.Parallel()
	waiting := 0
	throttle := NewThrottle(func() int { return waiting })
	require.Equal(t, 16<<10, throttle.claimWeight(16<<10))
	waiting = oneAtATime
	require.Equal(t, 4<<10, throttle.claimWeight(16<<10))
	waiting = pauseAlways - 1
	require.Equal(t, 4<<10, throttle.claimWeight(16<<10))
	waiting = pauseAlways
	require.Equal(t, 1<<10, throttle.claimWeight(16<<10))
	var none *Throttle
	require.Equal(t, 4096, none.claimWeight(4096))
}
