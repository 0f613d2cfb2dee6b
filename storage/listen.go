package storage

import (
	"context"
	"crypto/rand"
	"log/slog"
	"strings"
	"time"

	"github.com/lib/pq"
)

const (
	// checkInterval is how often a Listener looks whether notifications arrive, and
	// checkTimeout how long one may take. A connection that broke silently, or a pooler
	// that shares connections between clients, delivers nothing and says nothing.
	checkInterval = 5 * time.Second
	checkTimeout  = 2 * time.Second
	// A connection that cannot be had is tried again after these pauses.
	minReconnect = 100 * time.Millisecond
	maxReconnect = 5 * time.Second
	// checkPrefix begins the payloads by which a Listener tests the way.
	checkPrefix = "check "
)

// Listening is what a Listener calls, one call at a time.
type Listening struct {
	Channel string
	// Received is called with the payload of each notification.
	Received func(payload string)
	// Connected is called when notifications arrive from now on; some may have been
	// missed before. Lost is called when they may be missed from now on.
	Connected func()
	Lost      func(reason string)
}

// Listener receives notifications (LISTEN and NOTIFY) by a connection of its own. It
// proves every few seconds that they arrive, by sending one through the pool.
type Listener struct {
	dsn      string
	pool     *DB
	to       Listening
	log      *slog.Logger
	interval time.Duration // checkInterval, shorter in tests
	timeout  time.Duration
}

// NewListener returns a listener to the database of the configuration; pool is where it
// sends its checks. Run starts it.
func NewListener(cfg Config, pool *DB, to Listening, log *slog.Logger) (*Listener, error) {
	dsn, _, err := cfg.dsn()
	if err != nil {
		return nil, err
	}
	return &Listener{dsn: dsn, pool: pool, to: to, log: log, interval: checkInterval, timeout: checkTimeout}, nil
}

// Run listens until the context ends.
func (l *Listener) Run(ctx context.Context) {
	broken := make(chan struct{}, 1)
	conn := pq.NewListener(l.dsn, minReconnect, maxReconnect, func(event pq.ListenerEventType, _ error) {
		if event == pq.ListenerEventDisconnected {
			select {
			case broken <- struct{}{}:
			default:
			}
		}
	})
	listening := make(chan struct{})
	go func() { // waits for the first connection
		defer close(listening)
		_ = conn.Listen(l.to.Channel)
	}()
	defer func() {
		_ = conn.Close()
		<-listening
	}()
	// The first check is due when there is a connection: sent before, it would be lost, and
	// every start would report a fault. Without a connection it is sent too, and says so.
	first := listening
	c := &check{listener: l, timer: time.NewTimer(l.interval)}
	defer c.timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-first:
			first, c.awaited = nil, ""
			c.timer.Reset(0)
		case <-broken:
			c.fail("the connection broke")
		case n := <-conn.Notify:
			switch {
			case n == nil: // connected again: what came meanwhile is lost
				c.fail("the connection broke")
				c.timer.Reset(0)
			case strings.HasPrefix(n.Extra, checkPrefix):
				c.arrived(n.Extra)
			default:
				l.to.Received(n.Extra)
			}
		case <-c.timer.C:
			c.send(ctx)
		}
	}
}

// check is what a Listener knows of the way from the database to it.
type check struct {
	listener  *Listener
	timer     *time.Timer // when the next one is sent
	awaited   string      // payload of the one under way; "" when it has arrived
	connected bool
	lost      bool // has been said
}

// send starts a check; one that is still under way has failed.
func (c *check) send(ctx context.Context) {
	l := c.listener
	if c.awaited != "" {
		c.fail("notifications do not arrive; a pooler in front of the database must pool by session")
	}
	c.awaited = checkPrefix + rand.Text()
	c.timer.Reset(l.timeout)
	// Beside the loop: notifications are received while the pool is busy.
	go func(payload string) {
		ctx, cancel := context.WithTimeout(ctx, l.timeout)
		defer cancel()
		_, _ = l.pool.ExecContext(ctx, `select pg_notify($1, $2)`, l.to.Channel, payload)
	}(c.awaited)
}

// arrived handles a check, which may be that of another process.
func (c *check) arrived(payload string) {
	if payload != c.awaited {
		return
	}
	c.awaited = ""
	c.timer.Reset(c.listener.interval)
	if !c.connected {
		c.connected, c.lost = true, false
		c.listener.to.Connected()
		c.listener.log.Info("notifications of the database arrive", "channel", c.listener.to.Channel, "routine", true)
	}
}

func (c *check) fail(reason string) {
	if !c.lost {
		c.connected, c.lost = false, true
		c.listener.to.Lost(reason)
		c.listener.log.Warn("notifications of the database do not arrive", "dependency", "postgres", "channel",
			c.listener.to.Channel, "reason", reason)
	}
}
