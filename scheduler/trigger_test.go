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

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/tasks/dispatch"
)

// waiting counts the triggers for ticks.
func (f fixture) waiting(t *testing.T) int64 {
	t.Helper()
	n, err := f.redis.Waiting(context.Background(), tasks.Schedule)
	require.NoError(t, err)
	return n
}

// rounds waits for n more good rounds of the loop of the triggers.
func (f fixture) rounds(t *testing.T, n int) {
	t.Helper()
	for range n {
		last := f.Marked()["triggers"]
		require.Eventually(t, func() bool { return f.Marked()["triggers"].After(last) }, 10*time.Second, 10*time.Millisecond)
	}
}

// Triggers of a queue that no worker serves do not fill Redis, and come back with the
// worker.
func TestTriggersPauseWhileNobodyTakesThem(t *testing.T) {
	t.Parallel()
	f, ctx := open(t), context.Background()
	trigger, opts := triggerOf(tasks.ScheduleTick)
	for range pauseAbove + 1 {
		require.NoError(t, f.redis.Trigger(ctx, trigger, opts...))
	}
	require.NoError(t, f.Start())
	defer f.Stop()
	f.rounds(t, 2)
	before := f.waiting(t)
	require.Less(t, before, int64(pauseAbove+30), "the one of the start, and those until the first round")
	f.rounds(t, 3)
	require.Equal(t, before, f.waiting(t), "no more of them")

	for range before {
		require.NoError(t, f.redis.Client().LPop(ctx, "asynq:{schedule}:pending").Err())
	}
	require.Eventually(t, func() bool { return f.waiting(t) > 0 }, 10*time.Second, 20*time.Millisecond)
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
	}, 30*time.Second, 50*time.Millisecond)
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
	direct, err := dispatch.OpenRedis(raw)
	require.NoError(t, err)
	defer direct.Close()
	u, err := url.Parse(raw)
	require.NoError(t, err)
	way := &link{to: u.Host, addr: "127.0.0.1:0"}
	way.join(t)
	defer way.cut()
	u.Host = way.addr
	through, err := dispatch.OpenRedis(u.String())
	require.NoError(t, err)
	defer through.Close()
	store := ledger.New(db)
	f := fixture{db: db, redis: direct, Scheduler: New(Config{Redis: through, Ledger: store,
		Relay: dispatch.NewRelay(through, store, log), Log: log})}
	require.NoError(t, f.Start())
	defer f.Stop()

	ticks := func() bool { return f.waiting(t) > 0 }
	forget := func() { require.NoError(t, direct.Client().FlushDB(context.Background()).Err()) }
	require.Eventually(t, ticks, 30*time.Second, 10*time.Millisecond)
	way.cut()
	forget()
	// Until asynq and the loops have met the outage.
	require.Eventually(t, func() bool { return time.Since(f.Marked()["triggers"]) > 2*time.Second }, 20*time.Second, 20*time.Millisecond)
	require.Zero(t, f.waiting(t))
	way.join(t)
	back := time.Now()
	require.Eventually(t, ticks, 30*time.Second, 10*time.Millisecond)
	t.Logf("a tick %s after redis came back", time.Since(back).Round(time.Millisecond))

	forget()
	back = time.Now()
	require.Eventually(t, ticks, 30*time.Second, 10*time.Millisecond)
	t.Logf("a tick %s after redis lost everything", time.Since(back).Round(time.Millisecond))
}
