package ops

import (
	"context"
	"errors"
	"net/url"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/storage/quota"
	"github.com/slipway-qa/slipway/storage/webhook"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/tasks/dispatch"
)

func TestWindowOf(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]time.Duration{
		"": time.Hour, "window=hour": time.Hour, "window=day": 24 * time.Hour, "window=week": 168 * time.Hour,
		"window=": 0, "window=month": 0, "window=day&window=week": 0, "window=day&window=day": 0,
	} {
		q, err := url.ParseQuery(query)
		require.NoError(t, err)
		_, reach, err := windowOf(q)
		require.Equal(t, want, reach, query)
		var invalid *storage.InvalidError
		if want == 0 {
			require.ErrorAs(t, err, &invalid, query)
			require.Equal(t, "window", invalid.Field)
		} else {
			require.NoError(t, err, query)
		}
	}
}

// A Redis that hangs, and heeds no deadline, is waited for a second, and holds one call.
func TestRedisThatHangsIsLeftAlone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		release, calls := make(chan struct{}), 0
		q := NewQueues(func(context.Context) ([]dispatch.Standing, error) {
			calls++
			<-release
			return []dispatch.Standing{{Queue: tasks.Crash, Pending: 2, Paused: true, Latency: 1500 * time.Millisecond}}, nil
		})
		for range 3 {
			started := time.Now()
			view, err := q.cache.get(t.Context())
			require.NoError(t, err)
			require.LessOrEqual(t, time.Since(started), redisLimit)
			require.Equal(t, "timeout", *view.Error)
			require.NotNil(t, view.Queues)
			require.Empty(t, view.Queues)
			time.Sleep(2 * fresh)
		}
		require.Equal(t, 1, calls)
		close(release)
		synctest.Wait()
		view, err := q.cache.get(t.Context())
		require.NoError(t, err)
		require.Nil(t, view.Error)
		require.Equal(t, []standingView{{Queue: tasks.Crash, Size: 2, Pending: 2, Paused: true, LatencySeconds: 1.5}}, view.Queues)
	})
}

func TestRedisThatFailsIsNamedWithoutItsAddress(t *testing.T) {
	t.Parallel()
	q := NewQueues(func(context.Context) ([]dispatch.Standing, error) {
		return nil, errors.New("dial redis://:secret@10.0.0.5")
	})
	view, err := q.cache.get(t.Context())
	require.NoError(t, err)
	require.Equal(t, "failed", *view.Error)
}

func TestViewsOfOperators(t *testing.T) {
	t.Parallel()
	w := viewWebhook(&webhook.FailingWebhook{ID: 1, URL: "https://user:secret@hooks.example.com:8443/secret?token=secret",
		Status: webhook.Active})
	require.Equal(t, "hooks.example.com", w.Host)

	none, bound := viewUsage(quota.Usage{Resource: quota.CrashesPerDay}),
		viewUsage(quota.Usage{Resource: quota.CrashesPerDay, Used: 3, Bound: 5})
	require.Nil(t, none.Used, "not counted without a bound")
	require.Nil(t, none.Bound)
	require.EqualValues(t, []int64{3, 5}, []int64{*bound.Used, *bound.Bound})
	require.Equal(t, "day", bound.Period)

	made := time.Now().Add(-time.Hour)
	for _, p := range clockwork([]ledger.Success{{Kind: tasks.ObjectSweep.Name, CreatedAt: made, FinishedAt: made}}) {
		if p.Type == tasks.ObjectSweep.Name {
			require.WithinDuration(t, made.Add(tasks.ObjectSweep.Every), *p.DueAt, 0)
		} else {
			require.Nil(t, p.DueAt)
		}
	}
}
