package worker

import (
	"context"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/tasks/dispatch"
)

// BenchmarkDrain works off a backlog of tasks that do nothing, of one organization and of
// five hundred: relay, Redis, claim, end.
func BenchmarkDrain(b *testing.B) {
	for name, organizations := range map[string]int{"one": 1, "many": 500} {
		b.Run(name, func(b *testing.B) { drain(b, organizations) })
	}
}

func drain(b *testing.B, organizations int) {
	const backlog = 10_000
	db := servicetest.DB(b)
	store := ledger.New(db)
	redis, err := dispatch.OpenRedis(dispatch.RedisConfig{URL: servicetest.RedisURL(b)})
	require.NoError(b, err)
	defer redis.Close()
	log := slog.New(slog.DiscardHandler)
	var done atomic.Int64
	w, err := New(Config{Redis: redis, Ledger: store, Log: log, Drain: time.Second,
		Handlers: map[string]Handler{tasks.BuildNotify.Name: handlerFunc(func(context.Context, *Claim) error { done.Add(1); return nil })},
		Pools:    []Pool{{Slots: 8, Queues: map[string]int{tasks.BuildNotify.Queue: 1}}}})
	require.NoError(b, err)
	var ids []int64
	for range organizations {
		var id int64
		require.NoError(b, db.Get(&id, `insert into organizations (uuid, slug, name) values ($1, $2, 'o') returning id`,
			uuid.New(), uuid.NewString()))
		ids = append(ids, id)
	}
	var list []*ledger.NewTask
	for n := range backlog {
		list = append(list, tasks.NewBuildNotify(ids[n%organizations], "", int64(n+1)))
	}
	_, err = ledger.InsertAll(context.Background(), db, list)
	require.NoError(b, err)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	b.ResetTimer()
	require.NoError(b, w.Start())
	defer w.Stop()
	go dispatch.NewRelay(redis, store, log).Run(ctx, func() {})
	for done.Load() < backlog {
		time.Sleep(time.Millisecond)
	}
	b.StopTimer()
	b.ReportMetric(backlog/b.Elapsed().Seconds(), "tasks/s")
}
