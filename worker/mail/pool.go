package mail

import (
	"context"
	"sync"
	"time"
)

const (
	// sessionMails is how many mails go over one connection: servers bound it, often
	// at a hundred.
	sessionMails = 100
	// sessionIdle is how long an idle connection is kept: servers end it after some
	// minutes, and each one is a slot of theirs.
	sessionIdle = 20 * time.Second
)

// pool keeps connections between mails.
type pool struct {
	free chan struct{} // a place for each connection that may be in use

	mu     sync.Mutex
	idle   []*session
	closed bool
}

// enter waits for a place.
func (p *pool) enter(ctx context.Context) error {
	select {
	case p.free <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (p *pool) leave() { <-p.free }

// take returns the connection that was used last, nil when there is none.
func (p *pool) take() *session {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.idle) == 0 {
		return nil
	}
	s := p.idle[len(p.idle)-1]
	p.idle = p.idle[:len(p.idle)-1]
	s.timer.Stop()
	return s
}

// put keeps a connection for the next mail, or ends it.
func (p *pool) put(s *session) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s.mails >= sessionMails || p.closed {
		go s.quit()
		return
	}
	p.idle = append(p.idle, s)
	s.timer = time.AfterFunc(sessionIdle, func() { p.drop(s) })
}

// drop ends a connection that nobody used for a while.
func (p *pool) drop(s *session) {
	p.mu.Lock()
	found := false
	for i, other := range p.idle {
		if other == s {
			p.idle = append(p.idle[:i], p.idle[i+1:]...)
			found = true
			break
		}
	}
	p.mu.Unlock()
	if found {
		s.quit()
	}
}

// close ends all connections that are idle, and each other one after its mail.
func (p *pool) close() {
	p.mu.Lock()
	idle := p.idle
	p.idle, p.closed = nil, true
	p.mu.Unlock()
	for _, s := range idle {
		s.timer.Stop()
		s.quit()
	}
}
