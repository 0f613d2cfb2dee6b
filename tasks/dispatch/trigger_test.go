package dispatch

import (
	"context"
	"testing"
	"time"

	"github.com/hibiken/asynq"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/tasks"
)

func (f *fixture) triggers(t *testing.T, k tasks.Kind) int64 {
	t.Helper()
	n, err := f.redis.client.LLen(context.Background(), pendingKey(k.Queue)).Result()
	require.NoError(t, err)
	return n
}

// A trigger waits once, until its lock ends or a worker that took it releases the lock.
func TestTriggersDoNotPileUp(t *testing.T) {
	t.Parallel()
	f, ctx := open(t), context.Background()
	for range 3 {
		require.NoError(t, f.redis.Trigger(ctx, tasks.ScheduleTick))
	}
	require.EqualValues(t, 1, f.triggers(t, tasks.ScheduleTick))
	require.NoError(t, f.redis.Trigger(ctx, tasks.LedgerRetention))
	require.EqualValues(t, 1, f.triggers(t, tasks.LedgerRetention), "each kind has a lock")

	for kind, want := range map[*tasks.Kind]time.Duration{&tasks.ScheduleTick: triggerLock,
		&tasks.LedgerRetention: tasks.LedgerRetention.Every} {
		// The key is asynq's own.
		ttl, err := f.redis.client.TTL(ctx, uniqueKey(kind.Queue, tasks.TriggerPrefix+kind.Name)).Result()
		require.NoError(t, err)
		require.LessOrEqual(t, ttl, want, kind.Name)
		require.Positive(t, ttl, kind.Name)
	}

	require.NoError(t, f.redis.ReleaseTrigger(ctx, tasks.ScheduleTick))
	require.NoError(t, f.redis.Trigger(ctx, tasks.ScheduleTick))
	require.EqualValues(t, 2, f.triggers(t, tasks.ScheduleTick))
}

// The size of a waiting trigger is what the comment of triggerLock reckons with.
func TestTriggersAreSmall(t *testing.T) {
	t.Parallel()
	f, ctx := open(t), context.Background()
	require.NoError(t, f.redis.Trigger(ctx, tasks.ScheduleTick))
	ids, err := f.redis.client.LRange(ctx, pendingKey(tasks.Schedule), 0, -1).Result()
	require.NoError(t, err)
	require.Len(t, ids, 1)
	bytes, err := f.redis.client.MemoryUsage(ctx, taskKey(tasks.Schedule, ids[0])).Result()
	require.NoError(t, err)
	t.Log("bytes", bytes)
	require.Less(t, bytes, int64(650)) // and its id in the list
}

func TestTriggeringWithoutRedisFails(t *testing.T) {
	t.Parallel()
	away, err := OpenRedis(RedisConfig{URL: "redis://127.0.0.1:1"})
	require.NoError(t, err)
	defer away.Close()
	require.Error(t, away.Trigger(t.Context(), tasks.ScheduleTick))
	require.Error(t, away.ReleaseTrigger(t.Context(), tasks.ScheduleTick))
	require.Error(t, away.ExpireHistory(t.Context(), []string{"x"}))
}

// The key is asynq's own: what its scheduler noted gets an end.
func TestHistoryOfASchedulerEnds(t *testing.T) {
	t.Parallel()
	f, ctx := open(t), context.Background()
	cron := asynq.NewScheduler(f.redis.Options(), &asynq.SchedulerOpts{LogLevel: asynq.FatalLevel})
	entry, err := RegisterTrigger(cron, tasks.ScheduleTick)
	require.NoError(t, err)
	require.NoError(t, cron.Start())
	defer cron.Shutdown()
	require.Eventually(t, func() bool {
		err := f.redis.ExpireHistory(ctx, []string{entry})
		ttl := f.redis.client.TTL(ctx, historyKey(entry)).Val()
		return err == nil && ttl > time.Minute && ttl <= keepHistory
	}, time.Minute, 50*time.Millisecond)
}
