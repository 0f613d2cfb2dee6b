package dispatch

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/tasks"
)

// purges returns tasks of the fixture's organization.
func (f *fixture) purges(n int) []*ledger.NewTask {
	list := make([]*ledger.NewTask, n)
	for i := range list {
		list[i] = tasks.NewCrashPurge(f.org, "", tasks.CrashPurgePayload{Key: "k"})
	}
	return list
}

// waiting counts what waits in Redis.
func (f *fixture) waiting(t *testing.T) int64 {
	t.Helper()
	n, err := f.redis.client.LLen(context.Background(), pendingKey(tasks.Bulk)).Result()
	require.NoError(t, err)
	return n
}

// Tasks go to Redis after the commit, as far as there is room; the rest is due for the
// relay.
func TestEnqueuerInserts(t *testing.T) {
	t.Parallel()
	f := open(t)
	ctx, cancel := context.WithCancel(context.Background())
	e := NewEnqueuer(f.redis, slog.New(slog.DiscardHandler))
	insert := func(list ...*ledger.NewTask) {
		t.Helper()
		before := len(e.deliveries)
		require.NoError(t, f.db.InTx(ctx, func(tx *storage.Tx) error {
			require.NoError(t, e.Insert(ctx, tx, list...))
			require.Len(t, e.deliveries, before, "nothing before the commit")
			return nil
		}))
	}
	insert(f.purges(1)...)
	require.Empty(t, e.deliveries, "nothing is known of Redis yet")

	e.look(ctx)
	insert(f.purges(1)...)
	insert(f.purges(organizationQuota)...)
	insert()
	require.Len(t, e.deliveries, organizationQuota, "no more than the organization may add at a time")
	require.Equal(t, organizationQuota, e.Waiting())
	done := make(chan struct{})
	go func() { e.Run(ctx); close(done) }()
	require.Eventually(t, func() bool { return f.waiting(t) == organizationQuota }, time.Minute, 5*time.Millisecond)
	require.Eventually(t, func() bool { return e.Waiting() == 0 }, time.Minute, time.Millisecond)
	cancel()
	<-done
}

func TestEnqueuerDeliversNothingOfARollback(t *testing.T) {
	t.Parallel()
	f, ctx := open(t), context.Background()
	e := NewEnqueuer(f.redis, slog.New(slog.DiscardHandler))
	e.look(ctx)
	refused := errors.New("refused")
	err := f.db.InTx(ctx, func(tx *storage.Tx) error { return errors.Join(e.Insert(ctx, tx, f.purges(2)...), refused) })
	require.ErrorIs(t, err, refused)
	require.Empty(t, e.deliveries)
}

// Without an enqueuer the relay delivers.
func TestNoEnqueuer(t *testing.T) {
	t.Parallel()
	f, ctx := open(t), context.Background()
	var e *Enqueuer
	require.NoError(t, f.db.InTx(ctx, func(tx *storage.Tx) error { return e.Insert(ctx, tx, f.purges(2)...) }))
	_, err := f.relay.Once(ctx)
	require.NoError(t, err)
	require.EqualValues(t, 2, f.waiting(t))
}

// A caller whose statement commits by itself reserves before it and delivers after it.
func TestReserve(t *testing.T) {
	t.Parallel()
	f, ctx := open(t), context.Background()
	e := NewEnqueuer(f.redis, slog.New(slog.DiscardHandler))
	task := f.purges(1)[0]
	e.Reserve(task)
	require.False(t, task.Delivered)
	e.Deliver(task)
	require.Empty(t, e.deliveries, "without room")

	e.look(ctx)
	e.Reserve(task)
	require.True(t, task.Delivered)
	e.Deliver(task)
	require.Len(t, e.deliveries, 1)

	for range organizationQuota {
		require.True(t, e.reserve(tasks.Bulk, f.org+1))
	}
	require.False(t, e.reserve(tasks.Bulk, f.org+1), "one organization cannot take all of the room")
	require.True(t, e.reserve(tasks.Bulk, f.org+2))
	e.close()
	require.False(t, e.reserve(tasks.Bulk, f.org+2))
}

func TestEnqueuerLeavesTheRowToTheRelayWhenRedisFails(t *testing.T) {
	t.Parallel()
	f := open(t)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	away, err := OpenRedis(RedisConfig{URL: "redis://127.0.0.1:1"})
	require.NoError(t, err)
	defer away.Close()
	e := NewEnqueuer(f.redis, slog.New(slog.DiscardHandler))
	e.look(ctx)
	e.redis = away
	require.NoError(t, f.db.InTx(ctx, func(tx *storage.Tx) error { return e.Insert(ctx, tx, f.purges(1)...) }))
	go e.work(ctx)
	require.Eventually(t, func() bool { return !e.reserve(tasks.Bulk, f.org) }, time.Minute, 5*time.Millisecond,
		"nothing goes to a Redis that is away")
	_, err = f.relay.Once(ctx)
	require.NoError(t, err)
	require.EqualValues(t, 1, f.waiting(t))
}
