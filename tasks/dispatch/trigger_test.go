package dispatch

import (
	"context"
	"testing"
	"time"

	"github.com/hibiken/asynq"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/tasks"
)

func TestWaitingCountsTriggers(t *testing.T) {
	t.Parallel()
	f, ctx := open(t), context.Background()
	for range 3 {
		require.NoError(t, f.redis.Trigger(ctx, asynq.NewTask("trigger:x", nil), asynq.Queue(tasks.Bulk)))
	}
	n, err := f.redis.Waiting(ctx, tasks.Bulk)
	require.NoError(t, err)
	require.EqualValues(t, 3, n)
	n, err = f.redis.Waiting(ctx, tasks.Critical)
	require.NoError(t, err)
	require.Zero(t, n)

	away, err := OpenRedis("redis://127.0.0.1:1")
	require.NoError(t, err)
	defer away.Close()
	_, err = away.Waiting(ctx, tasks.Bulk)
	require.Error(t, err)
}

// The key is asynq's own: what its scheduler noted gets an end.
func TestWaitingEndsTheHistoryOfEntries(t *testing.T) {
	t.Parallel()
	f, ctx := open(t), context.Background()
	cron := asynq.NewScheduler(f.redis.Options(), &asynq.SchedulerOpts{LogLevel: asynq.FatalLevel})
	entry, err := cron.Register("@every 1s", asynq.NewTask("trigger:x", nil), asynq.Queue(tasks.Bulk))
	require.NoError(t, err)
	require.NoError(t, cron.Start())
	defer cron.Shutdown()
	require.Eventually(t, func() bool {
		_, err := f.redis.Waiting(ctx, tasks.Bulk, entry)
		ttl := f.redis.client.TTL(ctx, historyKey(entry)).Val()
		return err == nil && ttl > time.Minute && ttl <= keepHistory
	}, 10*time.Second, 50*time.Millisecond)
}
