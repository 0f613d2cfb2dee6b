package scheduler

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/hibiken/asynq"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/tasks/dispatch"
)

// waiting counts the triggers of ticks that wait for a worker.
func (f fixture) waiting(t *testing.T) int64 {
	t.Helper()
	n, err := f.redis.Client().LLen(context.Background(), "asynq:{"+tasks.Schedule+"}:pending").Result()
	require.NoError(t, err)
	return n
}

// another returns one more scheduler of the same installation.
func (f fixture) another() *Scheduler { return New(f.cfg) }

// Triggers of a queue that no worker serves do not fill Redis, however many schedulers
// there are.
func TestTriggersDoNotPileUp(t *testing.T) {
	t.Parallel()
	f := open(t)
	started := time.Now()
	for _, s := range []*Scheduler{f.Scheduler, f.another(), f.another()} {
		require.NoError(t, s.Start())
		defer s.Stop()
	}
	require.Eventually(t, func() bool { return f.waiting(t) > 0 }, time.Minute, 10*time.Millisecond)
	time.Sleep(time.Until(started.Add(4 * time.Second))) // twelve triggers, and three of the starts
	// The lock of five seconds may have ended on a machine that was late.
	require.LessOrEqual(t, f.waiting(t), 1+int64(time.Since(started)/(5*time.Second)))
}

// A worker that was killed in the moment in which it had the trigger in hand leaves its
// lock behind: ticks go on when that ends, long before asynq gives the trigger to
// another worker.
func TestTicksGoOnAfterAKill(t *testing.T) {
	t.Parallel()
	f := open(t)
	require.NoError(t, f.Start())
	defer f.Stop()
	taken, end := make(chan struct{}, 100), make(chan struct{})
	dead := asynq.NewServer(f.redis.Options(), asynq.Config{Concurrency: 1, Queues: map[string]int{tasks.Schedule: 1},
		TaskCheckInterval: 10 * time.Millisecond, LogLevel: asynq.FatalLevel})
	require.NoError(t, dead.Start(asynq.HandlerFunc(func(context.Context, *asynq.Task) error {
		taken <- struct{}{}
		<-end // it neither ends the task nor releases the lock
		return nil
	})))
	defer dead.Shutdown()
	defer close(end)
	<-taken
	dead.Stop()
	require.Eventually(t, func() bool { return f.waiting(t) > 0 }, time.Minute, 10*time.Millisecond)
}

// What asynq notes of the entries of a scheduler that is killed does not stay for ever.
func TestHistoryEnds(t *testing.T) {
	t.Parallel()
	f, ctx := open(t), context.Background()
	require.NoError(t, f.Start())
	defer f.Stop()
	require.Len(t, f.entries, len(periodicKinds()))
	history := func() []string {
		keys, err := f.redis.Client().Keys(ctx, "asynq:scheduler_history:*").Result()
		require.NoError(t, err)
		return keys
	}
	require.Eventually(t, func() bool { return len(history()) > 0 }, time.Minute, 10*time.Millisecond)
	known := history() // others begin theirs meanwhile
	require.NoError(t, f.expireHistory(ctx))
	for _, key := range known {
		ttl, err := f.redis.Client().TTL(ctx, key).Result()
		require.NoError(t, err)
		require.Positive(t, ttl, key)
	}
}

// link is a way to Redis that can be cut.
type link struct {
	to   string
	addr string

	mu       sync.Mutex
	listener net.Listener
	open     map[net.Conn]bool // nil while it is cut
}

// join opens the way, the second time at the address of the first, whose port
// somebody may have got meanwhile, as that of a connection.
func (l *link) join(t *testing.T) {
	t.Helper()
	var listener net.Listener
	require.Eventually(t, func() bool {
		var err error
		if listener, err = net.Listen("tcp", l.addr); err != nil {
			t.Log(err)
		}
		return err == nil
	}, time.Minute, 50*time.Millisecond)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.listener, l.addr, l.open = listener, listener.Addr().String(), map[net.Conn]bool{}
	go func() {
		for {
			from, err := listener.Accept()
			if err != nil {
				return
			}
			to, err := net.Dial("tcp", l.to)
			if err != nil {
				_ = from.Close()
				continue
			}
			if !l.add(from, to) {
				continue
			}
			go func() { _, _ = io.Copy(to, from); _ = to.Close() }()
			go func() { _, _ = io.Copy(from, to); _ = from.Close() }()
		}
	}()
}

// add keeps the two ends of a connection, or closes them when the way was cut.
func (l *link) add(from, to net.Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open == nil {
		_, _ = from.Close(), to.Close()
		return false
	}
	l.open[from], l.open[to] = true, true
	return true
}

func (l *link) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	_ = l.listener.Close()
	for c := range l.open {
		_ = c.Close()
	}
	l.open = nil
}

// Ticks come back with Redis by themselves, and those of a Redis that lost everything.
func TestTicksComeBackWithRedis(t *testing.T) {
	t.Parallel()
	raw, db, log := servicetest.RedisURL(t), servicetest.DB(t), slog.New(slog.DiscardHandler)
	direct, err := dispatch.OpenRedis(dispatch.RedisConfig{URL: raw})
	require.NoError(t, err)
	defer direct.Close()
	u, err := url.Parse(raw)
	require.NoError(t, err)
	way := &link{to: u.Host, addr: "127.0.0.1:0"}
	way.join(t)
	defer way.cut()
	u.Host = way.addr
	through, err := dispatch.OpenRedis(dispatch.RedisConfig{URL: u.String()})
	require.NoError(t, err)
	defer through.Close()
	store := ledger.New(db)
	f := fixture{db: db, redis: direct, Scheduler: New(Config{Redis: through, Ledger: store,
		Relay: dispatch.NewRelay(through, store, log), Log: log})}
	require.NoError(t, f.Start())
	defer f.Stop()

	ticks := func() bool { return f.waiting(t) > 0 }
	forget := func() { require.NoError(t, direct.Client().FlushDB(context.Background()).Err()) }
	require.Eventually(t, ticks, time.Minute, 10*time.Millisecond)
	way.cut()
	forget()
	// Until asynq and the loops have met the outage.
	require.Eventually(t, func() bool { return time.Since(f.Marked()["relay"]) > 2*time.Second }, time.Minute, 20*time.Millisecond)
	require.Zero(t, f.waiting(t))
	way.join(t)
	back := time.Now()
	require.Eventually(t, ticks, time.Minute, 10*time.Millisecond)
	t.Logf("a tick %s after redis came back", time.Since(back).Round(time.Millisecond))

	forget()
	back = time.Now()
	require.Eventually(t, ticks, time.Minute, 10*time.Millisecond)
	t.Logf("a tick %s after redis lost everything", time.Since(back).Round(time.Millisecond))
}
