package egress

import (
	"context"
	"fmt"
	"net"
	"sync"

	"github.com/slipway-qa/slipway/tasks/outbound"
)

// listener accepts connections on a loopback port, a bounded number at the same time,
// and can close all of them: http.Server does not close those that were hijacked.
type listener struct {
	net.Listener
	slots  chan struct{}
	closed chan struct{}

	mu    sync.Mutex
	ended bool
	conns map[*conn]bool
}

type conn struct {
	*net.TCPConn
	from *listener
	once sync.Once
}

func listen() (*listener, error) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("egress: %w", err)
	}
	return &listener{Listener: l, slots: make(chan struct{}, maxConnections),
		closed: make(chan struct{}), conns: map[*conn]bool{}}, nil
}

// Accept waits for a free slot and then for a connection.
func (l *listener) Accept() (net.Conn, error) {
	select {
	case l.slots <- struct{}{}:
	case <-l.closed:
		return nil, net.ErrClosed
	}
	accepted, err := l.Listener.Accept()
	if err != nil {
		<-l.slots
		return nil, err
	}
	c := &conn{TCPConn: accepted.(*net.TCPConn), from: l}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		accepted.Close()
		<-l.slots
		return nil, net.ErrClosed
	}
	l.conns[c] = true
	return c, nil
}

// Close ends a connection and frees its slot.
func (c *conn) Close() error {
	c.once.Do(func() {
		c.from.mu.Lock()
		delete(c.from.conns, c)
		c.from.mu.Unlock()
		<-c.from.slots
	})
	return c.TCPConn.Close()
}

// Close stops accepting.
func (l *listener) Close() error {
	l.mu.Lock()
	if !l.ended {
		l.ended = true
		close(l.closed)
	}
	l.mu.Unlock()
	return l.Listener.Close()
}

// closeAll ends the connections that are open.
func (l *listener) closeAll() {
	l.mu.Lock()
	open := make([]*conn, 0, len(l.conns))
	for c := range l.conns {
		open = append(open, c)
	}
	l.mu.Unlock()
	for _, c := range open {
		_ = c.Close()
	}
}

// refusingItself returns a dialer that does not connect to this listener.
func (l *listener) refusingItself(through dial) dial {
	self := l.Addr().String()
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := through(ctx, network, address)
		if err != nil {
			return nil, err
		}
		if conn.RemoteAddr().String() == self {
			conn.Close()
			return nil, &outbound.ForbiddenError{Rule: outbound.RuleLoopback}
		}
		return conn, nil
	}
}
