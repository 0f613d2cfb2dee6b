package dispatch

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/hibiken/asynq"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/tasks"
)

func TestMain(m *testing.M) { os.Exit(servicetest.Main(m)) }

type fixture struct {
	db    *storage.DB
	store *ledger.Store
	redis *Redis
	relay *Relay
	org   int64
}

func open(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{db: servicetest.DB(t)}
	f.store = ledger.New(f.db)
	var err error
	f.redis, err = OpenRedis(servicetest.RedisURL(t))
	require.NoError(t, err)
	t.Cleanup(func() { _ = f.redis.Close() })
	f.relay = NewRelay(f.redis, f.store, slog.New(slog.DiscardHandler))
	require.NoError(t, f.db.Get(&f.org, `insert into organizations (uuid, slug, name) values ($1, 'o', 'o') returning id`, uuid.New()))
	return f
}

func (f *fixture) insert(t *testing.T) *ledger.NewTask {
	t.Helper()
	task := tasks.NewCrashPurge(f.org, "req", tasks.CrashPurgePayload{Key: "k"})
	_, err := ledger.Insert(context.Background(), f.db, task)
	require.NoError(t, err)
	return task
}

func (f *fixture) pending(t *testing.T) []*asynq.TaskInfo {
	t.Helper()
	infos, err := asynq.NewInspector(f.redis.Options()).ListPendingTasks(tasks.Bulk)
	require.NoError(t, err)
	return infos
}

func TestRelayDeliversWhatIsDue(t *testing.T) {
	t.Parallel()
	f, ctx := open(t), context.Background()
	task := f.insert(t)
	more, err := f.relay.Once(ctx)
	require.NoError(t, err)
	require.False(t, more)

	infos := f.pending(t)
	require.Len(t, infos, 1)
	require.Equal(t, task.ID.String()+":1", infos[0].ID)
	m, err := ParseMessage(infos[0].Payload)
	require.NoError(t, err)
	require.Equal(t, Message{ID: task.ID, OrganizationID: f.org, RequestID: "req"}, m)
	require.Zero(t, infos[0].Timeout%time.Second)

	// These are the keys that the enqueuer and the sweep read.
	n, err := f.redis.client.LLen(ctx, pendingKey(tasks.Bulk)).Result()
	require.NoError(t, err)
	require.EqualValues(t, 1, n)
	state, err := f.redis.client.HGet(ctx, taskKey(tasks.Bulk, infos[0].ID), "state").Result()
	require.NoError(t, err)
	require.Equal(t, "pending", state)

	_, err = f.relay.Once(ctx)
	require.NoError(t, err)
	require.Len(t, f.pending(t), 1, "an outstanding delivery is not made twice")
}

func TestRelayDeliversAgainWhenRedisLostItsMemory(t *testing.T) {
	t.Parallel()
	f, ctx := open(t), context.Background()
	task := f.insert(t)
	_, err := f.relay.Once(ctx)
	require.NoError(t, err)
	require.NoError(t, f.redis.client.FlushDB(ctx).Err())
	_, err = f.relay.Once(ctx)
	require.NoError(t, err)
	infos := f.pending(t)
	require.Len(t, infos, 1)
	require.Equal(t, task.ID.String()+":2", infos[0].ID)
	queues, err := asynq.NewInspector(f.redis.Options()).Queues()
	require.NoError(t, err)
	require.ElementsMatch(t, tasks.Queues(), queues, "queues are announced again")
}

func TestRelayCountsWhatWaitsInRedis(t *testing.T) {
	t.Parallel()
	f, ctx := open(t), context.Background()
	for range 200 {
		_, err := ledger.Insert(ctx, f.db, tasks.NewCrashProcess(f.org, uuid.New(), 1000))
		require.NoError(t, err)
	}
	waiting := func() int64 {
		_, err := f.relay.Once(ctx)
		require.NoError(t, err)
		n, err := f.redis.client.LLen(ctx, pendingKey(tasks.Crash)).Result()
		require.NoError(t, err)
		return n
	}
	require.EqualValues(t, relayKeepMerged, waiting())
	for range 2 {
		// One delivery is taken, and its claim merges 64 rows.
		require.NoError(t, f.redis.client.LPop(ctx, pendingKey(tasks.Crash)).Err())
		rows, err := f.store.Claim(ctx, ledger.ClaimRequest{ID: uuid.New(), Kind: tasks.CrashProcess.Name, OrganizationID: f.org,
			Worker: "w", Batch: 64, MaxWeight: 1000})
		require.NoError(t, err)
		require.Len(t, rows, 64)
		require.EqualValues(t, relayKeepMerged, waiting(), "the deliveries that are left behind count")
	}
}

func TestSweepFindsDeliveriesThatRedisLost(t *testing.T) {
	t.Parallel()
	f, ctx := open(t), context.Background()
	lost, stuck, standing := f.insert(t), f.insert(t), f.insert(t)
	_, err := f.relay.Once(ctx)
	require.NoError(t, err)
	_, err = f.db.Exec(`update tasks set delivered_at = now() - interval '5 seconds'`)
	require.NoError(t, err)
	key := taskKey(tasks.Bulk, lost.ID.String()+":1")
	require.NoError(t, f.redis.client.Del(ctx, key).Err())
	require.NoError(t, f.redis.client.LRem(ctx, pendingKey(tasks.Bulk), 1, lost.ID.String()+":1").Err())
	// A worker that was killed between taking the delivery and claiming the row.
	require.NoError(t, f.redis.client.HSet(ctx, taskKey(tasks.Bulk, stuck.ID.String()+":1"), "state", "active").Err())

	swept, err := f.relay.Sweep(ctx)
	require.NoError(t, err)
	require.Equal(t, 2, swept)
	_, err = f.relay.Once(ctx)
	require.NoError(t, err)
	var ids []string
	for _, info := range f.pending(t) {
		ids = append(ids, info.ID)
	}
	require.Contains(t, ids, lost.ID.String()+":2")
	require.Contains(t, ids, stuck.ID.String()+":2")
	require.Contains(t, ids, standing.ID.String()+":1")
	require.NotContains(t, ids, standing.ID.String()+":2")
}

func TestRelayGivesDeliveriesBackWhenRedisIsAway(t *testing.T) {
	t.Parallel()
	f, ctx := open(t), context.Background()
	_, err := f.relay.Once(ctx)
	require.NoError(t, err)
	f.insert(t)
	deliveries, err := f.store.TakeDue(ctx, tasks.Bulk, 10, 10)
	require.NoError(t, err)
	require.Len(t, deliveries, 1)
	away, err := OpenRedis("redis://127.0.0.1:1")
	require.NoError(t, err)
	defer away.Close()
	failed, err := away.enqueue(ctx, tasks.Kinds(), deliveries)
	require.Error(t, err)
	require.Equal(t, deliveries, failed)

	f.relay.redis = away
	_, err = f.relay.Once(ctx)
	require.Error(t, err)
	require.NoError(t, f.store.Withdraw(ctx, failed))
	due, err := f.store.DueQueues(ctx, tasks.Queues())
	require.NoError(t, err)
	require.Equal(t, []string{tasks.Bulk}, due, "the row waits in PostgreSQL")
}

func TestOpenRedisHidesThePassword(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"", "http://:sesame@x", "redis://:sesame@[::1"} {
		_, err := OpenRedis(url)
		require.Error(t, err)
		require.NotContains(t, err.Error(), "sesame")
	}
	r, err := OpenRedis("redis-sentinel://:p@127.0.0.1:26379,127.0.0.1:26380?master=main")
	require.NoError(t, err)
	require.IsType(t, asynq.RedisFailoverClientOpt{}, r.Options())
	require.NoError(t, r.Close())
}

func FuzzParseMessage(f *testing.F) {
	seed, _ := json.Marshal(Message{ID: uuid.New()})
	f.Add(seed)
	f.Add([]byte(`{"id":null}`))
	f.Fuzz(func(t *testing.T, payload []byte) {
		if m, err := ParseMessage(payload); err == nil {
			require.NotEqual(t, uuid.Nil, m.ID)
		}
	})
}
