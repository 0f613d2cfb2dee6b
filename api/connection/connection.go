// Package connection bounds the connections of a server, and closes them so that a sender
// reads the answer.
//
// A Listener wraps that of a server. It counts connections, in all and by remote address.
// Where all places are taken, a newcomer gets that of a connection that has waited long for
// its sender: without a request, or for the beginning of a body (Starving). It is one of an
// address that has many; where one address has its number, one of the same. So who opens
// connections and sends next to nothing (slowloris) loses them, and others connect. Under a
// flood of newcomers those of crowded addresses queue, unread, for a small number of places
// a second, the newest first; who waits long is closed (queue.go). Where all have a request
// the newcomer is closed. Addresses that stand for many, such as those of trusted proxies,
// have no bound of their own.
//
// A connection that the server closes while the sender is still sending would be reset,
// and many clients then show their user a broken connection instead of the answer. So only
// the sending side is closed; what still comes is discarded for some seconds, as long as
// something comes at all. See RFC 9112, 9.6, on closing in stages.
package connection

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/slipway-qa/slipway/api/remote"
)

const (
	// lingerTime, lingerSilence and lingerBytes bound the discarding: a client that sends
	// 100 MB before it looks for the answer gets it on a line of 10 MB/s.
	lingerTime    = 30 * time.Second
	lingerSilence = 5 * time.Second
	lingerBytes   = 256 << 20
	// lingerMost connections discard at once: each has a goroutine and its buffer.
	lingerMost = 256
)

// Config describes a Listener.
type Config struct {
	// Most bounds the connections; 0: no bound.
	Most int
	// PerAddress bounds those of one remote address (remote.Network); 0: no bound.
	PerAddress int
	// Shared reports addresses that stand for many clients; nil: none does.
	Shared func(netip.Addr) bool
}

// Stats are the figures of a Listener. Refused counts connections that were closed at once,
// and Displaced those that were closed for others, from the start of the process.
type Stats struct {
	Open, Refused, Displaced int64
}

// Listener is a net.Listener with bounds. Its State is the ConnState of the http.Server.
type Listener struct {
	net.Listener
	cfg                Config
	refused, displaced atomic.Int64
	lingering          sync.WaitGroup
	slots              chan struct{} // of those that linger

	mu        sync.Mutex
	open      int
	addresses map[netip.Prefix]map[*conn]struct{}
	queue     []*conn // the newest last
	stopped   bool

	accepting sync.Once
	accepted  chan *conn
	ended     chan struct{} // closed when the inner listener ended
	endedWith error
	closed    chan struct{} // by Close
	closing   sync.Once
}

// Listen returns a listener over another one.
func Listen(inner net.Listener, cfg Config) *Listener {
	return &Listener{Listener: inner, cfg: cfg, addresses: map[netip.Prefix]map[*conn]struct{}{},
		slots: make(chan struct{}, lingerMost), accepted: make(chan *conn), ended: make(chan struct{}), closed: make(chan struct{})}
}

// Stats returns the figures.
func (l *Listener) Stats() Stats {
	l.mu.Lock()
	defer l.mu.Unlock()
	return Stats{Open: int64(l.open), Refused: l.refused.Load(), Displaced: l.displaced.Load()}
}

// verdict is what becomes of a newcomer.
type verdict int

const (
	refused verdict = iota
	admitted
	queued
)

// admit adds a connection, for which another one may have to go.
func (l *Listener) admit(c *conn) verdict {
	l.mu.Lock()
	defer l.mu.Unlock()
	shared := false
	if at, err := netip.ParseAddrPort(c.RemoteAddr().String()); err == nil {
		c.from = remote.Network(at.Addr().String())
		shared = l.cfg.Shared != nil && l.cfg.Shared(at.Addr().Unmap())
	}
	if l.cfg.PerAddress > 0 && !shared && len(l.addresses[c.from]) >= l.cfg.PerAddress && !l.displace(c.from) {
		return refused
	}
	if l.cfg.Most > 0 && l.open >= l.cfg.Most {
		crowded := l.crowded()
		if len(l.addresses[c.from]) >= len(l.addresses[crowded])/crowdedPart {
			return l.enqueue(c)
		}
		if !l.displace(crowded) {
			return refused
		}
	}
	l.add(c)
	return admitted
}

// add counts a connection. l.mu is held.
func (l *Listener) add(c *conn) {
	l.open++
	if l.addresses[c.from] == nil {
		l.addresses[c.from] = map[*conn]struct{}{}
	}
	l.addresses[c.from][c] = struct{}{}
}

// looks is how many addresses, and connections of one, are looked at for one that has to
// go: maps are read from a random place, and under a flood most are the attacker's.
const looks = 64

// crowded returns an address that has many connections. l.mu is held.
func (l *Listener) crowded() (found netip.Prefix) {
	most, left := 0, looks
	for from, conns := range l.addresses {
		if len(conns) > most {
			found, most = from, len(conns)
		}
		if left--; left == 0 {
			break
		}
	}
	return found
}

// displace closes a connection of an address that has waited long for its sender, and
// reports whether there was one. l.mu is held.
func (l *Listener) displace(from netip.Prefix) bool {
	var found *conn
	var since time.Time
	left := looks
	for c := range l.addresses[from] {
		if at, waits := c.waiting(); waits && (found == nil || at.Before(since)) {
			found, since = c, at
		}
		if left--; left == 0 {
			break
		}
	}
	if found == nil {
		return false
	}
	l.displaced.Add(1)
	l.drop(found)
	_ = found.TCPConn.Close()
	return true
}

// drop forgets a connection. l.mu is held.
func (l *Listener) drop(c *conn) {
	conns := l.addresses[c.from]
	if _, ok := conns[c]; !ok {
		return
	}
	l.open--
	if delete(conns, c); len(conns) == 0 {
		delete(l.addresses, c.from)
	}
}

type contextKey struct{}

// Context is the ConnContext of the http.Server, for Starving.
func (l *Listener) Context(ctx context.Context, of net.Conn) context.Context {
	if c, ok := of.(*conn); ok {
		return context.WithValue(ctx, contextKey{}, c)
	}
	return ctx
}

// Starving notes that a request, whose context that is, waits for the beginning of its body,
// or that it has come.
func Starving(ctx context.Context, yes bool) {
	c, ok := ctx.Value(contextKey{}).(*conn)
	if !ok {
		return
	}
	if yes {
		c.starving.Store(time.Now().UnixNano())
	} else {
		c.starving.Store(0)
	}
}

// State notes what a connection is doing.
func (l *Listener) State(of net.Conn, state http.ConnState) {
	c, ok := of.(*conn)
	if !ok {
		return
	}
	c.busy.Store(state == http.StateActive || state == http.StateHijacked)
	c.replied.Store(state == http.StateActive)
	if state == http.StateIdle {
		c.idle.Store(time.Now().UnixNano())
	}
}

// Stop closes the connections that still discard what comes, once the server has ended.
func (l *Listener) Stop() {
	_ = l.Close()
	l.mu.Lock()
	l.stopped = true
	for _, conns := range l.addresses {
		for c := range conns {
			_ = c.TCPConn.Close()
		}
	}
	l.mu.Unlock()
	l.lingering.Wait()
}

// conn is a connection. All of net.TCPConn is there for net/http to find.
type conn struct {
	*net.TCPConn
	listener *Listener
	from     netip.Prefix
	since    time.Time
	idle     atomic.Int64 // since when, in ns; 0: it is new
	busy     atomic.Bool  // it has a request
	starving atomic.Int64 // since when, in ns, that request has waited for its body; 0: it does not
	replied  atomic.Bool  // closed now, it is closed after an answer
	ended    atomic.Bool  // the other side has closed it, or it broke
	closed   atomic.Bool
}

// waiting reports whether the connection waits for its sender, and since when.
func (c *conn) waiting() (since time.Time, yes bool) {
	if at := c.starving.Load(); at != 0 {
		return time.Unix(0, at), true
	}
	if c.busy.Load() {
		return since, false
	}
	if at := c.idle.Load(); at != 0 {
		return time.Unix(0, at), true
	}
	return c.since, true
}

// Read notes the end of what the other side sends.
func (c *conn) Read(p []byte) (int, error) {
	n, err := c.TCPConn.Read(p)
	if err != nil {
		var timeout net.Error
		if !errors.As(err, &timeout) || !timeout.Timeout() {
			c.ended.Store(true)
		}
	}
	return n, err
}

// Close ends the connection. After an answer to a sender who may still be sending it ends
// in the background.
func (c *conn) Close() error {
	if !c.closed.CompareAndSwap(false, true) {
		return net.ErrClosed
	}
	if c.replied.Load() && !c.ended.Load() && c.listener.linger(c) {
		return nil
	}
	c.listener.mu.Lock()
	c.listener.drop(c)
	c.listener.mu.Unlock()
	return c.TCPConn.Close()
}

// linger discards what comes, in the background; false when there is no slot for it.
func (l *Listener) linger(c *conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stopped {
		return false
	}
	select {
	case l.slots <- struct{}{}:
	default:
		return false
	}
	l.lingering.Go(func() {
		c.discard()
		<-l.slots
		l.mu.Lock()
		defer l.mu.Unlock()
		l.drop(c)
		_ = c.TCPConn.Close()
	})
	return true
}

func (c *conn) discard() {
	if c.CloseWrite() != nil {
		return
	}
	end := time.Now().Add(lingerTime)
	buf := make([]byte, 16<<10)
	for left := int64(lingerBytes); left > 0; {
		at := time.Now().Add(lingerSilence)
		if at.After(end) {
			at = end
		}
		_ = c.SetReadDeadline(at)
		n, err := c.TCPConn.Read(buf)
		if err != nil {
			return
		}
		left -= int64(n)
	}
}
