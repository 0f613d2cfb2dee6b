package connection

import (
	"net"
	"time"
)

const (
	// crowdedPart of the connections of the address that has most make an address crowded.
	crowdedPart = 4
	// queueInterval is the time between two looks at the queue, and queueServed is how many
	// connections of it get a place each time: 200 in a second, so that a flood costs little.
	queueInterval = 50 * time.Millisecond
	queueServed   = 10
	// queueTime is how long a connection waits in the queue.
	queueTime = 10 * time.Second
)

// Accept returns the next connection that is within the bounds.
func (l *Listener) Accept() (net.Conn, error) {
	l.accepting.Do(func() { go l.acceptAll() })
	select {
	case c := <-l.accepted:
		return c, nil
	case <-l.ended:
		return nil, l.endedWith
	}
}

// Close ends the listener, and the connections of the queue.
func (l *Listener) Close() error {
	l.closing.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

// acceptAll accepts connections until the inner listener ends.
func (l *Listener) acceptAll() {
	go l.serveQueue()
	for {
		inner, err := l.Listener.Accept()
		if err != nil {
			l.endedWith = err
			close(l.ended)
			return
		}
		tcp, ok := inner.(*net.TCPConn)
		if !ok {
			_ = inner.Close() // what a server listens on is TCP
			continue
		}
		c := &conn{TCPConn: tcp, listener: l, since: time.Now()}
		switch l.admit(c) {
		case admitted:
			l.hand(c)
		case refused:
			l.refused.Add(1)
			_ = tcp.Close()
		case queued:
		}
	}
}

// hand hands a connection over to the server.
func (l *Listener) hand(c *conn) {
	select {
	case l.accepted <- c:
	case <-l.closed:
		_ = c.Close()
	}
}

// enqueue lets a connection wait for a place; the oldest one goes when too many do. l.mu is
// held.
func (l *Listener) enqueue(c *conn) verdict {
	if l.stopped {
		return refused
	}
	if len(l.queue) >= l.cfg.Most {
		l.refused.Add(1)
		_ = l.queue[0].TCPConn.Close()
		l.queue = l.queue[1:]
	}
	l.queue = append(l.queue, c)
	return queued
}

// serveQueue gives places to connections of the queue.
func (l *Listener) serveQueue() {
	tick := time.NewTicker(queueInterval)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			for _, c := range l.turn(time.Now()) {
				l.hand(c)
			}
		case <-l.closed:
			l.mu.Lock()
			defer l.mu.Unlock()
			for _, c := range l.queue {
				_ = c.TCPConn.Close()
			}
			l.queue = nil
			return
		}
	}
}

// turn returns the connections that have a place now, and closes those that have waited too
// long.
func (l *Listener) turn(now time.Time) (served []*conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.queue) > 0 && now.Sub(l.queue[0].since) >= queueTime {
		l.refused.Add(1)
		_ = l.queue[0].TCPConn.Close()
		l.queue = l.queue[1:]
	}
	for len(l.queue) > 0 && len(served) < queueServed {
		if l.open >= l.cfg.Most && !l.displace(l.crowded()) {
			break
		}
		last := len(l.queue) - 1
		c := l.queue[last]
		l.queue[last] = nil
		l.queue = l.queue[:last]
		l.add(c)
		served = append(served, c)
	}
	return served
}
