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
	f.redis, err = OpenRedis(RedisConfig{URL: servicetest.RedisURL(t)})
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
	f.insert(t)
	first, err := f.relay.undelivered(ctx, ledger.Backlog{Queue: tasks.Bulk, Due: 2}, 1)
	require.NoError(t, err)
	require.Len(t, first, 1)
	require.Equal(t, task.ID, first[0].TaskID, "the one due longest is the first")
	more, err := f.relay.Once(ctx)
	require.NoError(t, err)
	require.False(t, more)

	infos := f.pending(t) // in no order: they are enqueued side by side
	require.Len(t, infos, 2)
	for _, info := range infos {
		require.Equal(t, tasks.CrashPurge.Name, info.Type)
		m, err := ParseMessage(info.Payload)
		require.NoError(t, err)
		require.Equal(t, f.org, m.OrganizationID)
		require.False(t, m.Known)
		id, ok := taskOf(info.ID)
		require.True(t, ok)
		require.Equal(t, id, m.TaskID)
	}
	require.Equal(t, time.Hour+timeoutGrace, infos[0].Timeout, "that of the slowest kind of the queue")

	// The key that the enqueuer and the relay read.
	n, err := f.redis.client.LLen(ctx, pendingKey(tasks.Bulk)).Result()
	require.NoError(t, err)
	require.EqualValues(t, 2, n)

	_, err = f.relay.Once(ctx)
	require.NoError(t, err)
	require.Len(t, f.pending(t), 2, "as many deliveries as due tasks")

	// A worker that was killed has taken a delivery with it, or Redis lost it.
	require.NoError(t, f.redis.client.LPop(ctx, pendingKey(tasks.Bulk)).Err())
	_, err = f.relay.Once(ctx)
	require.NoError(t, err)
	require.EqualValues(t, 2, f.waiting(t))

	_, err = f.db.Exec(`update tasks set run_at = now() + interval '1 hour' where id = $1`, task.ID)
	require.NoError(t, err)
	require.NoError(t, f.redis.client.Del(ctx, pendingKey(tasks.Bulk)).Err())
	_, err = f.relay.Once(ctx)
	require.NoError(t, err)
	require.EqualValues(t, 1, f.waiting(t))
}

// Ids of deliveries name their task, those of other programs and of triggers none.
func TestTaskOf(t *testing.T) {
	t.Parallel()
	d := Delivery{Message: Message{TaskID: uuid.New()}}
	now := time.Now()
	require.NotEqual(t, d.asynqID(now), d.asynqID(now.Add(time.Microsecond)), "the next delivery of a task is another one")
	id, ok := taskOf(d.asynqID(now))
	require.True(t, ok)
	require.Equal(t, d.TaskID, id)
	for _, other := range []string{"", ":", uuid.NewString(), "trigger:" + uuid.NewString(), "a:b"} {
		_, ok := taskOf(other)
		require.False(t, ok, other)
	}
}

// A task whose delivery a killed worker has taken with it gets another one; those that wait
// in Redis get no second one, whatever else waits there.
func TestRelayNamesWhatHasNoDelivery(t *testing.T) {
	t.Parallel()
	f, ctx := open(t), context.Background()
	want := map[string]bool{}
	for range 5 {
		want[f.insert(t).ID.String()] = true
	}
	_, err := f.relay.Once(ctx)
	require.NoError(t, err)
	for range 2 { // the oldest is at the right end
		require.NoError(t, f.redis.client.RPop(ctx, pendingKey(tasks.Bulk)).Err())
	}
	_, err = f.relay.Once(ctx)
	require.NoError(t, err)
	got := map[string]bool{}
	for _, info := range f.pending(t) {
		id, _ := taskOf(info.ID)
		got[id.String()] = true
	}
	require.Equal(t, want, got)
}

func TestRelayDeliversAgainWhenRedisLostItsMemory(t *testing.T) {
	t.Parallel()
	f, ctx := open(t), context.Background()
	f.insert(t)
	_, err := f.relay.Once(ctx)
	require.NoError(t, err)
	require.NoError(t, f.redis.client.FlushDB(ctx).Err())
	_, err = f.relay.Once(ctx)
	require.NoError(t, err)
	require.Len(t, f.pending(t), 1)
	queues, err := asynq.NewInspector(f.redis.Options()).Queues()
	require.NoError(t, err)
	require.ElementsMatch(t, tasks.Queues(), queues, "queues are announced again")
}

func TestRelayBoundsWhatWaitsInRedis(t *testing.T) {
	t.Parallel()
	f, ctx := open(t), context.Background()
	for range 200 {
		_, err := ledger.Insert(ctx, f.db, tasks.NewCrashProcess(f.org, uuid.New(), 1000))
		require.NoError(t, err)
	}
	for range 2 {
		_, err := f.relay.Once(ctx)
		require.NoError(t, err)
		n, err := f.redis.client.LLen(ctx, pendingKey(tasks.Crash)).Result()
		require.NoError(t, err)
		require.EqualValues(t, relayKeepMerged, n)
		require.NoError(t, f.redis.client.LPop(ctx, pendingKey(tasks.Crash)).Err())
	}
}

func TestRelayLeavesTasksWhenRedisIsAway(t *testing.T) {
	t.Parallel()
	f, ctx := open(t), context.Background()
	f.insert(t)
	away, err := OpenRedis(RedisConfig{URL: "redis://127.0.0.1:1"})
	require.NoError(t, err)
	defer away.Close()
	here := f.relay.redis
	f.relay.redis = away
	_, err = f.relay.Once(ctx)
	require.Error(t, err)
	f.relay.redis = here
	_, err = f.relay.Once(ctx)
	require.NoError(t, err)
	require.Len(t, f.pending(t), 1)
}

func FuzzParseMessage(f *testing.F) {
	seed, _ := json.Marshal(Message{TaskID: uuid.Max, OrganizationID: 7, Known: true})
	f.Add(seed)
	f.Add([]byte(`{"id":null}`))
	f.Fuzz(func(t *testing.T, payload []byte) {
		if _, err := ParseMessage(payload); err == nil {
			require.True(t, json.Valid(payload))
		}
	})
}
